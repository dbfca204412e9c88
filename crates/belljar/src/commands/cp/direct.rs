//! Copies without a server: by `tar` inside the sandbox, so that every path is the sandbox's own and no link of its making
//! is ever followed on the host.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{ExecSpec, SandboxPath, Span};
use belljar_ports::{Open, Sandbox, Streams};

use super::{landing, room::Room, split, tempfile};

/// Packs on the host, unpacks inside.
pub(super) fn upload(sandbox: &dyn Sandbox, from: &Path, to: &SandboxPath) -> Result<u64> {
    let there = sandbox.open(to, Open::Look { follow: true });
    let is_directory = there.is_ok_and(|there| File::from(there).metadata().is_ok_and(|meta| meta.is_dir()));
    let (parent, name) = split(&landing(from, to, is_directory)?)?;
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
pub(super) fn download(sandbox: &dyn Sandbox, from: &SandboxPath, to: &Path) -> Result<u64> {
    let (parent, name) = split(from)?;
    let mut packed = tempfile()?;
    let argv = ["tar", "--create", "--file=-", &format!("--directory={parent}"), "--", &name];
    run(sandbox, &argv, File::open("/dev/null")?, packed.try_clone()?)?;
    io::Seek::rewind(&mut packed)?;
    let bytes = packed.metadata()?.len();
    let room = Room::beside(to, &name)?;
    room.unpack(packed, "")?;
    room.put_in_place()?;
    Ok(bytes)
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
