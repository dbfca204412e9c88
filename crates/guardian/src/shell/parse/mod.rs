//! Reading a script the way bash 5.2 reads it.
//!
//! Owns: the way from bytes to the tree, within limits of length, depth and work. Refuses: failing as a whole (what came
//! before an error would run, so it is kept), running anything, and expanding anything.
//!
//! Bash reads in two steps, and so does this: first a word is cut out of its line (`skip`, `lexer`), then what lies
//! between its ends is read by the rules of expansion (`word`, `dollar`, `parameter`). Only `$(…)` is read whole at
//! once. A line is read before any of it runs, so [`Reader`] gives one line at a time to whoever keeps state.

mod assignment;
mod braces;
mod command;
mod compound;
mod condition;
mod cursor;
mod dollar;
mod heredoc;
mod lexer;
mod parameter;
mod pattern;
mod quote;
mod reader;
mod redirect;
mod skip;
mod word;

#[cfg(test)]
mod tests;

pub use reader::{LONGEST, Options, Reader, parse};
