//! `belljar exec`: a further command in a running sandbox, by the server where one is up, else by itself.

mod served;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use anyhow::{Result, bail};
use belljar_domain::{EXIT_BELLJAR_FAILED, ExecSpec, SandboxId};
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
        Some(server) => served::follow(server, id, spec, view)?,
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
    let code = done.report.exit_code();
    if view == View::Json {
        follow::print_done(id, done, json!({}))?;
        return Ok(ExitCode::from(code));
    }
    if let Some(cause) = done.report.cause {
        let limits = sandboxes.look(id)?.spec.limits;
        writeln!(io::stderr(), "belljar: killed ({cause}): {}", explain(cause, &limits))?;
    }
    if done.stdout.truncated && view == View::Streams {
        writeln!(
            io::stderr(),
            "belljar: the server keeps no more of a command's output, so what is above is not all of it\n  \
             hint: --direct carries output of any length"
        )?;
        // Whoever works with this output must not take it for all there was.
        return Ok(ExitCode::from(if code == 0 { EXIT_BELLJAR_FAILED } else { code }));
    }
    Ok(ExitCode::from(code))
}
