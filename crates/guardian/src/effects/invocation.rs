//! A program about to be started, and what is known of what it does.
//!
//! Owns: what passes between the shell's evaluation and the knowledge of programs. Refuses: the shell's state; whoever
//! evaluates keeps it, and asks again for whatever a program would start.

use super::act::{Act, Datum, Effort};
use crate::shell::ast::Span;
use crate::shell::value::{Value, Why};

/// A program with all it is given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invocation {
    /// Its name as it is written, then its arguments.
    pub argv: Vec<Value>,
    /// Set when any number of further arguments may stand anywhere among them.
    pub more: Option<Why>,
    /// What its arguments are made of beside text of the command: outputs, variables of the environment.
    pub flows: Vec<Datum>,
    /// Variables set for it alone, and those exported in the command before it.
    pub environment: Vec<(Vec<u8>, Value)>,
    /// Where it runs: absolute as far as it is known.
    pub cwd: Value,
    /// What it can read from its standard input.
    pub input: Stream,
    /// Where it stands.
    pub span: Span,
}

/// What flows through a descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stream {
    /// The bytes, when all are known.
    pub text: Option<Value>,
    /// What they are made of.
    pub data: Vec<Datum>,
}

/// What a program does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// What it does itself. Redirections are the shell's and not here.
    pub acts: Vec<(Act, Effort)>,
    /// What it starts, in order.
    pub next: Vec<Next>,
    /// What it writes to its standard output; what it starts writes there too.
    pub output: Stream,
}

/// Something a program starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Another program: `sudo`, `xargs`, `find -exec`.
    Program {
        /// The program.
        invocation: Invocation,
        /// The same machine and files, or others: a container, a host over ssh. Acts elsewhere are not acts here.
        elsewhere: Option<String>,
    },
    /// Text a shell reads: `sh -c`, `ssh host '…'`, `su -c`.
    Shell {
        /// The text.
        text: Value,
        /// `$0`, `$1`, …
        arguments: Vec<Value>,
        /// What it reads from its standard input.
        input: Stream,
        /// Where it runs.
        cwd: Value,
        /// As of [`Next::Program`].
        elsewhere: Option<String>,
    },
}
