//! Effects: what a call would do, whichever tool does it.
//!
//! Owns: the acts a policy judges, and how a program's arguments become acts. Refuses: verdicts; an act is neither good
//! nor bad here. Not to know is an act of its own and names what is not known.

mod act;
mod context;
mod invocation;
mod looking;
pub mod path;
pub mod programs;
mod rows;
pub mod tools;

pub use act::{Act, Change, Code, Datum, Effect, Effort, Power, Traffic};
pub use context::{Context, Fact, Facts, FileKind};
pub use invocation::{Invocation, Next, Outcome, Stream};
pub(crate) use looking::lead;
pub use looking::{Question, questions};
pub(crate) use rows::rows;
