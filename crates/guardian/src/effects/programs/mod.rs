//! What programs do with what they are given.
//!
//! Owns: the knowledge of programs, one family per file. Refuses: the shell's own words (builtins, redirections, expansions);
//! they are evaluated before a program is asked about. A program nobody knows is unknown, and says its name.

use super::act::{Act, Effort};
use super::context::Context;
use super::invocation::{Invocation, Outcome, Stream};
use crate::shell::value::Why;

/// What a program would do.
#[must_use]
pub fn outcome(invocation: &Invocation, _context: &Context) -> Outcome {
    let name = invocation.argv.first().and_then(|name| name.text()).unwrap_or("that is not known").to_owned();
    let why = Why { construct: format!("the program {name}"), span: invocation.span };
    Outcome { acts: vec![(Act::Unknown(why), Effort::Done)], next: Vec::new(), output: Stream::default() }
}
