//! `belljar cp`: files into or out of a running sandbox, by `tar` inside it, so that every path is the sandbox's own
//! and no link of its making is ever followed on the host.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{ExecSpec, SandboxPath, Span};
use belljar_ports::{Sandbox, Streams};
use serde_json::json;

use crate::{args::Cp, context::Context, output::print_json};

pub(crate) fn cp(context: &Context, args: &Cp) -> Result<ExitCode> {
    let provider = context.provider()?;
    let (bytes, from, to) = match (Place::parse(&args.from)?, Place::parse(&args.to)?) {
        (Place::Host(from), Place::Sandbox(name, to)) => {
            (upload(&*context.find(&provider, &name)?, &from, &to)?, args.from.clone(), args.to.clone())
        }
        (Place::Sandbox(name, from), Place::Host(to)) => {
            (download(&*context.find(&provider, &name)?, &from, &to)?, args.from.clone(), args.to.clone())
        }
        (Place::Host(_), Place::Host(_)) => bail!("neither side is in a sandbox; write one as SANDBOX:PATH"),
        (Place::Sandbox(..), Place::Sandbox(..)) => {
            bail!("both sides are in a sandbox; copy through the host")
        }
    };
    if context.json {
        print_json(&json!({"from": from, "to": to, "bytes": bytes}))?;
    }
    Ok(ExitCode::SUCCESS)
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

/// Packs on the host, unpacks inside.
fn upload(sandbox: &dyn Sandbox, from: &Path, to: &SandboxPath) -> Result<u64> {
    let (parent, name) = split(to)?;
    let mut packed = tempfile()?;
    {
        let mut archive = tar::Builder::new(&mut packed);
        archive.follow_symlinks(false);
        let meta = fs::symlink_metadata(from).with_context(|| format!("read `{}`", from.display()))?;
        if meta.is_dir() {
            archive.append_dir_all(&name, from)
        } else {
            archive.append_path_with_name(from, &name)
        }
        .with_context(|| format!("read `{}`", from.display()))?;
        archive.finish()?;
    }
    io::Seek::rewind(&mut packed)?;
    let bytes = packed.metadata()?.len();
    let argv = ["tar", "--extract", "--no-same-owner", "--file=-", &format!("--directory={parent}")];
    run(sandbox, &argv, packed, File::create("/dev/null")?)?;
    Ok(bytes)
}

/// Packs inside, unpacks on the host into a directory nobody else writes to, then puts the one thing asked for in place.
fn download(sandbox: &dyn Sandbox, from: &SandboxPath, to: &Path) -> Result<u64> {
    let (parent, name) = split(from)?;
    let mut packed = tempfile()?;
    let argv = ["tar", "--create", "--file=-", &format!("--directory={parent}"), "--", &name];
    run(sandbox, &argv, File::open("/dev/null")?, packed.try_clone()?)?;
    io::Seek::rewind(&mut packed)?;
    let bytes = packed.metadata()?.len();
    let target = if to.is_dir() { to.join(&name) } else { to.to_path_buf() };
    let beside = target.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let room = tempfile::Builder::new()
        .prefix(".belljar-cp")
        .tempdir_in(beside)
        .context("make room for the copy")?;
    let mut archive = tar::Archive::new(packed);
    // The crate refuses to leave the directory, be it by `..`, by absolute names or through links.
    archive.set_preserve_permissions(false);
    archive.set_overwrite(false);
    archive.unpack(room.path()).context("unpack what the sandbox sent")?;
    let got = room.path().join(&name);
    if fs::symlink_metadata(&target).is_ok_and(|meta| meta.is_dir()) {
        bail!("`{}` exists already", target.display());
    }
    fs::rename(&got, &target).with_context(|| format!("put `{}` in place", target.display()))?;
    Ok(bytes)
}

fn tempfile() -> Result<File> {
    tempfile::tempfile().context("make a temporary file")
}

fn split(path: &SandboxPath) -> Result<(String, String)> {
    let text = |part: &Path| part.to_str().map(str::to_owned);
    let parent = path.as_path().parent().and_then(text);
    let name = path.as_path().file_name().and_then(|name| name.to_str()).map(str::to_owned);
    parent.zip(name).with_context(|| format!("`{path}` has no name to copy"))
}

/// Runs `tar` in the sandbox between two files; what it complains about is the error.
fn run(sandbox: &dyn Sandbox, argv: &[&str], stdin: File, stdout: File) -> Result<()> {
    let mut complaints = tempfile()?;
    let streams =
        Streams { stdin: stdin.into(), stdout: stdout.into(), stderr: complaints.try_clone()?.into() };
    let spec = ExecSpec {
        argv: argv.iter().map(|&word| word.to_owned()).collect(),
        cwd: Some(SandboxPath::new("/")?),
        env: BTreeMap::new(),
        user: None,
        terminal: None,
        timeout: Some(Span::seconds(600)),
    };
    let report = sandbox.exec(&spec, streams)?.wait()?;
    if report.is_success() {
        return Ok(());
    }
    io::Seek::rewind(&mut complaints)?;
    let said: String = io::read_to_string(complaints)
        .unwrap_or_default()
        .chars()
        .filter(|c| !c.is_control())
        .take(500)
        .collect();
    io::stderr().flush()?;
    bail!("tar in the sandbox failed: {said}")
}
