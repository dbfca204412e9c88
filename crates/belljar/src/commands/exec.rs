//! `belljar exec`: a further command in a running sandbox.

use std::process::ExitCode;

use anyhow::Result;
use belljar_domain::ExecSpec;
use serde_json::json;

use super::follow::{self, View};
use crate::{
    args::Exec,
    context::{Context, variables},
    output::explain,
};

pub(crate) fn exec(context: &Context, args: Exec) -> Result<ExitCode> {
    let provider = context.provider()?;
    let sandbox = context.find(&provider, &args.id)?;
    let spec = ExecSpec {
        argv: args.command,
        cwd: args.workdir,
        env: variables(&args.env, &context.env)?,
        user: args.user,
        terminal: None,
        timeout: Some(args.timeout.unwrap_or(context.config.clocks.exec_timeout)),
    };
    let view = View::choose(context, args.tty);
    let done = follow::follow(context, &*sandbox, spec, view)?;
    if view == View::Json {
        follow::print_done(sandbox.info().id, &done, json!({}))?;
    } else if let Some(cause) = done.report.cause {
        let limits = sandbox.info().spec.limits;
        std::io::Write::write_fmt(
            &mut std::io::stderr(),
            format_args!("belljar: killed ({cause}): {}\n", explain(cause, &limits)),
        )?;
    }
    Ok(ExitCode::from(done.report.exit_code()))
}
