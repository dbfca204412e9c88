//! The small static program that builds a sandbox, keeps it, and is PID 1 inside it.
//!
//! Three roles in one image, told apart by fork, never by argument: the *keeper* stays outside, holds the sandbox's
//! private disk and its clock, and cleans up whoever dies; its child builds the root, gives everything up and becomes
//! *PID 1*; PID 1 forks one *shepherd* per execution. Owns: carrying out a plan. Refuses: deciding anything.
#![no_std]
#![no_main]
#![warn(missing_docs)]

extern crate alloc;

mod errand;
mod keeper;
mod lockdown;
mod pid1;
mod root;
mod rt;
mod scribe;
mod shepherd;
mod spare;
mod sys;
mod tree;

use alloc::string::String;

use belljar_init::wire::{Failure, FromKeeper, Stage, encode};

/// The lifeline: whoever starts this program passes it as standard input.
const LIFELINE: i32 = 0;

fn main() {
    keeper::keep();
}

/// A step that failed, on its way to the host.
struct Broken(Failure);

/// Names the step and the thing a failed call was about.
trait At<T> {
    fn at(self, stage: Stage, about: &str) -> Result<T, Broken>;
}

impl<T> At<T> for sys::Sys<T> {
    fn at(self, stage: Stage, about: &str) -> Result<T, Broken> {
        self.map_err(|error| Broken(Failure { stage, errno: error.0, about: String::from(about) }))
    }
}

/// Tells the supervisor what went wrong and ends this process.
fn give_up(Broken(failure): Broken) -> ! {
    let _nobody_listens = sys::send(LIFELINE, &encode(&FromKeeper::Failed(failure)), None);
    sys::exit(125)
}
