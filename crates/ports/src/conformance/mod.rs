//! One suite for each port: what an implementation declares must work, what it does not declare must be refused.
//!
//! Each check is a function from a fresh bench to a verdict, so that an implementation's tests can run them one by one.

pub mod lens;
mod sandbox;
pub mod store;

pub use sandbox::{Bench, CHECKS};

/// What went against a promise.
pub type Verdict = Result<(), String>;

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, wanted: &T) -> Verdict {
    if found == wanted { Ok(()) } else { Err(format!("{what}: found {found:?}, wanted {wanted:?}")) }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
