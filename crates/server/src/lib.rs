//! The HTTP edge: REST, live streams, terminals, previews, metrics, the OpenAPI document.
//!
//! Owns: routes (all of them in `router.rs`), who may call them, how bodies and answers travel. Refuses: logic of
//! sandboxes, which is `belljar_engine::service`; databases and providers, which it never names.
#![forbid(unsafe_code)]

mod answer;
mod app;
mod dashboard;
mod edge;
mod extract;
mod guard;
mod handlers;
mod idempotency;
mod listen;
mod live;
mod mcp;
mod metrics;
mod observability;
mod openapi;
mod preview;
mod problem;
mod readiness;
mod router;
mod table;
mod wire;

pub use app::{Look, Settings};
pub use guard::KeyError;
pub use listen::{ServeError, Server};
pub use mcp::{Session, SessionError};
