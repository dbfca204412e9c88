//! belljar: run coding agents under glass.
//!
//! Owns: the command line, the composition of providers and use cases. Refuses: logic; every command is a few calls.
#![forbid(unsafe_code)]

mod args;
mod client;
mod commands;
mod config;
mod context;
mod hook;
mod keys;
mod killswitch;
mod observe;
mod output;
mod policy;
mod prices;
mod replay;
mod runtime;
mod sandboxes;
mod secrets;
mod spending;
mod spool;
mod terminal;

use std::{env, process::ExitCode};

use belljar_domain::EXIT_BELLJAR_FAILED;
use clap::Parser;

use crate::{args::Cli, context::Context, output::Failure};

fn main() -> ExitCode {
    // An agent waits for its hooks, many times a minute: they go before everything that takes time.
    if hook::is_meant(env::args_os()) {
        return hook::run(env::args_os().skip(2));
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli.settle(),
        Err(answer) => {
            // Help that cannot be printed helps nobody.
            let _unheard = answer.print();
            return if answer.use_stderr() { ExitCode::from(EXIT_BELLJAR_FAILED) } else { ExitCode::SUCCESS };
        }
    };
    let json = cli.json;
    let done = Context::new(&cli).and_then(|context| commands::run(&context, cli.command));
    done.unwrap_or_else(|error| {
        if output::is_unread(&error) {
            return ExitCode::from(output::EXIT_UNREAD);
        }
        Failure::from(error).tell(json)
    })
}
