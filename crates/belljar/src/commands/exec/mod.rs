//! `belljar exec`: a further command in a running sandbox, by the server where one is up, else by itself.

pub(super) mod served;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::{Result, bail};
use belljar_domain::{ExecSpec, SandboxId};
use serde_json::json;

use super::follow::{self, Done, View};
use crate::{
    args::{Exec, Named},
    context::{Context, variables},
    killswitch,
    output::explain,
    sandboxes::Sandboxes,
};

pub(crate) fn exec(context: &Context, args: Exec) -> Result<ExitCode> {
    let sandboxes = Sandboxes::open(context)?;
    let id = match Named::from(args.id.as_str()) {
        Named::Id(id) => id,
        Named::Last | Named::Tail(_) => sandboxes.find(&args.id)?.id,
    };
    if args.direct && sandboxes.is_remote() {
        bail!("--direct works on sandboxes of this machine only; unset BELLJAR_URL");
    }
    let spec = ExecSpec {
        argv: args.command,
        cwd: args.workdir,
        env: variables(&args.env, &context.env)?,
        user: args.user,
        terminal: None,
        timeout: Some(args.timeout.unwrap_or(context.config.clocks.exec_timeout)),
    };
    let view = View::choose(context, args.tty);
    let done = match sandboxes.server().filter(|_| !args.direct) {
        Some(server) => served::follow(server, id, (None, spec), view)?,
        None => {
            let sandbox = sandboxes.own(id)?;
            killswitch::spares(&context.home, sandbox.info().spec.agent.as_deref())?;
            follow::follow(context, &*sandbox, spec, view)?
        }
    };
    tell(&sandboxes, id, &done, view)
}

/// The last words: why it was killed, and whether anything it wrote is missing.
fn tell(sandboxes: &Sandboxes, id: SandboxId, done: &Done, view: View) -> Result<ExitCode> {
    if view == View::Json {
        follow::print_done(id, done, json!({}))?;
        return Ok(ExitCode::from(done.report.exit_code()));
    }
    if let Some(cause) = done.report.cause {
        let limits = sandboxes.look(id)?.spec.limits;
        writeln!(io::stderr(), "belljar: killed ({cause}): {}", explain(cause, &limits))?;
    }
    Ok(ExitCode::from(follow::told_whole(done, view)?))
}
