//! `belljar discard`: throw a sandbox and its changes away.

use std::process::ExitCode;

use anyhow::Result;
use belljar_ports::SandboxProvider;
use serde_json::json;

use crate::{args::Discard, context::Context, output::print_json};

pub(crate) fn discard(context: &Context, args: &Discard) -> Result<ExitCode> {
    let provider = context.provider()?;
    let mut gone = Vec::new();
    if args.all {
        for info in provider.list()?.into_iter().filter(|info| !info.state.is_live()) {
            provider.find(info.id)?.destroy()?;
            gone.push(info.id);
        }
    } else {
        let sandbox = context.find(&provider, &args.id)?;
        sandbox.destroy()?;
        gone.push(sandbox.info().id);
    }
    if context.json {
        print_json(&json!({"discarded": gone}))?;
    } else {
        for id in &gone {
            std::io::Write::write_fmt(&mut std::io::stdout(), format_args!("discarded {}\n", id.short()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
