//! `belljar hooks`: agents' hooks, one file per act.

mod replay;

use std::process::ExitCode;

use anyhow::Result;

use crate::{args::Hooks, context::Context};

pub(crate) fn hooks(context: &Context, args: &Hooks) -> Result<ExitCode> {
    match args {
        Hooks::Replay => replay::replay(context),
    }
}
