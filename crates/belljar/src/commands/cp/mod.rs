//! `belljar cp`: files into or out of a running sandbox; by the server where one is up, else by `tar` inside.

mod direct;
mod room;
mod served;

use std::{
    fs::File,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::SandboxPath;
use serde_json::json;

use crate::{args::Cp, context::Context, output::print_json, sandboxes::Sandboxes};

pub(crate) fn cp(context: &Context, args: &Cp) -> Result<ExitCode> {
    let ends = (Place::parse(&args.from)?, Place::parse(&args.to)?);
    let (name, way) = match ends {
        (Place::Host(from), Place::Sandbox(name, to)) => (name, Way::In(from, to)),
        (Place::Sandbox(name, from), Place::Host(to)) => (name, Way::Out(from, to)),
        (Place::Host(_), Place::Host(_)) => bail!("neither side is in a sandbox; write one as SANDBOX:PATH"),
        (Place::Sandbox(..), Place::Sandbox(..)) => {
            bail!("both sides are in a sandbox; copy through the host")
        }
    };
    let sandboxes = Sandboxes::open(context)?;
    let id = sandboxes.find(&name)?.id;
    let bytes = match (sandboxes.server(), &way) {
        (Some(server), Way::In(from, to)) => served::upload(server, id, from, to)?,
        (Some(server), Way::Out(from, to)) => served::download(server, id, from, to)?,
        (None, Way::In(from, to)) => direct::upload(&*sandboxes.own(id)?, from, to)?,
        (None, Way::Out(from, to)) => direct::download(&*sandboxes.own(id)?, from, to)?,
    };
    if context.json {
        print_json(&json!({"from": args.from, "to": args.to, "bytes": bytes}))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Which way, from and to.
enum Way {
    In(PathBuf, SandboxPath),
    Out(SandboxPath, PathBuf),
}

enum Place {
    Host(PathBuf),
    Sandbox(String, SandboxPath),
}

impl Place {
    /// A colon before the first slash separates a sandbox's name from a path inside it.
    fn parse(text: &str) -> Result<Self> {
        match text.split_once(':') {
            Some((name, path)) if !name.contains('/') && !name.is_empty() => {
                let path = SandboxPath::new(path).with_context(|| format!("in `{text}`"))?;
                Ok(Self::Sandbox(name.to_owned(), path))
            }
            _ => Ok(Self::Host(PathBuf::from(text))),
        }
    }
}

fn tempfile() -> Result<File> {
    tempfile::tempfile().context("make a temporary file")
}

/// Where something of the host lands in a sandbox: below what was named, if that is a directory there.
fn landing(from: &Path, to: &SandboxPath, is_directory: bool) -> Result<SandboxPath> {
    if !is_directory {
        return Ok(to.clone());
    }
    let real = from.canonicalize().with_context(|| format!("read `{}`", from.display()))?;
    let name =
        from.file_name().or_else(|| real.file_name()).context("the host's root has no name to copy")?;
    Ok(SandboxPath::new(to.as_path().join(name))?)
}

/// The directory of a path in a sandbox, and its name there.
fn split(path: &SandboxPath) -> Result<(String, String)> {
    let text = |part: &Path| part.to_str().map(str::to_owned);
    let parent = path.as_path().parent().and_then(text);
    let name = path.as_path().file_name().and_then(|name| name.to_str()).map(str::to_owned);
    parent.zip(name).with_context(|| format!("`{path}` has no name to copy"))
}
