//! Following one command from start to end: its streams carried, its output recorded, its limits watched.

mod carry;
mod follow;
mod log;
mod monitor;

pub use follow::{Follow, FollowError, Followed, Input, Outlet, Pipes, Signals};
pub use log::{CapturedOutput, Log};
pub use monitor::{KillRule, Monitor, Observation};
