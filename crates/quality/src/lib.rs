//! How hard code is to change: connascence and complexity, of one state of it or between two.
//!
//! Owns: what each rule finds in source text, what it weighs, and the scores made of it. Refuses: the world. Text comes
//! in, a [`Scorecard`] or a [`Delta`] goes out; the same text always gives the same answer. Which files there are, what
//! git says and how it looks on a terminal is for whoever asks.
#![forbid(unsafe_code)]

mod catalogue;
mod classify;
mod complexity;
pub mod contest;
mod delta;
mod facts;
mod file;
mod finding;
mod fingerprint;
mod gate;
mod lang;
mod outline;
mod project;
mod rules;
mod scorecard;
mod sheet;
mod suppress;
mod tree;
mod words;

pub use catalogue::{Kind, Rule};
pub use classify::{MAX_BYTES, Skip, is_test, skip_by_path, skip_by_text};
pub use complexity::{Excess, Measure};
pub use delta::{Delta, delta};
pub use finding::{Confidence, Element, Finding, Points, Severity};
pub use gate::Gate;
pub use lang::Lang;
pub use scorecard::{FileScore, Grade, Scorecard, score};
pub use sheet::{Sheet, Source};
pub use suppress::Suppression;
