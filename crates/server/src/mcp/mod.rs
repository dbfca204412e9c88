//! Sandboxes as tools of the Model Context Protocol, over HTTP at `/mcp` and over standard input and output.
//!
//! Owns: the tools, their schemas and error codes, and how the protocol is carried. Refuses: keys as arguments, since
//! what is said in a tool call ends up in transcripts; logic of sandboxes, which is `belljar_engine::service`.

mod arguments;
mod catalogue;
mod clip;
pub(crate) mod endpoint;
mod execute;
mod failure;
mod files;
mod logs;
mod results;
mod sandboxes;
mod session;
mod tools;

pub(crate) use endpoint::Endpoint;
pub use session::{Session, SessionError};
