//! `belljar man`: manual pages, made from the command line's own description.

use std::{fs, io, process::ExitCode};

use anyhow::{Context as _, Result};
use clap::CommandFactory;

use crate::args::{Cli, Man};

pub(crate) fn man(args: &Man) -> Result<ExitCode> {
    let command = Cli::command();
    match &args.dir {
        None => clap_mangen::Man::new(command).render(&mut io::stdout().lock())?,
        Some(dir) => {
            let doing = || format!("write manual pages to `{}`", dir.display());
            fs::create_dir_all(dir).with_context(doing)?;
            clap_mangen::generate_to(command, dir).with_context(doing)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
