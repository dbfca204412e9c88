//! Best of N: what is known about each attempt at a task, which of them may win, and which one does.
//!
//! Owns: reading test results and lints, what attempts may not touch, the gates, the composite score, the ranking and the
//! sentence that says why, and a run's report. Refuses: to run anything. Whoever runs attempts fills in [`Evidence`],
//! which is kept as it is; [`judge`] makes a [`Judgement`] of it, today and again in a year.

mod cases;
mod diff;
mod evidence;
mod gates;
mod ground;
mod intrusion;
mod judgement;
mod judging;
mod lints;
mod measures;
mod reason;
mod recipes;
mod report;
mod results;
mod rules;
mod settings;
mod tampering;

pub use diff::{ChangedFile, Diff, DiffStat, Touched};
pub use evidence::{
    Boundary, Breach, Check, CheckEnd, Cross, Ending, Evidence, FindingNote, Place, QualityNote, Trial,
};
pub use gates::{Gate, GateOutcome, GateResult, gates};
pub use ground::{Role, is_restored, role};
pub use judgement::{CloseCall, Judgement, Mover, Part, Pick, Standing, Status};
pub use judging::{Contest, JudgeAnswer, Pairing, judge};
pub use lints::{Lint, LintLevel, Lints, lints};
pub use report::{AttemptPage, Page, html, markdown};
pub use results::{Asking, Format, Origin, Outcome, Results, TestCounts, Transcript, asking, results};
pub use rules::{Dimension, Rules, Weights};
pub use tampering::{Tampering, Trace, TraceKind, inspect};
