//! Copies by the server, which records them and may be another machine's: a file as it is, a directory as a tar.

use std::{
    fs::{self, File},
    io::{self, Seek as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::Path,
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{SandboxId, SandboxPath};

use super::{landing, room::Room, split, tempfile};
use crate::client::Client;

pub(super) fn upload(server: &Client, id: SandboxId, from: &Path, to: &SandboxPath) -> Result<u64> {
    let is_directory = server.stat(id, to)?.is_some_and(|there| there.is_directory);
    let to = &landing(from, to, is_directory)?;
    let reading = || format!("read `{}`", from.display());
    let meta = fs::symlink_metadata(from).with_context(reading)?;
    if meta.is_file() {
        let mode = format!("{:03o}", meta.permissions().mode() & 0o777);
        let file = File::open(from).with_context(reading)?;
        server.upload(id, to, &[("mode", &mode)], "application/octet-stream", file)?;
        return Ok(meta.len());
    }
    if !meta.is_dir() {
        bail!("`{}` is neither a file nor a directory", from.display());
    }
    let mut packed = tempfile()?;
    {
        let mut archive = tar::Builder::new(&mut packed);
        archive.follow_symlinks(false);
        archive.append_dir_all(".", from).with_context(reading)?;
        archive.finish()?;
    }
    packed.rewind()?;
    let bytes = packed.metadata()?.len();
    server.upload(id, to, &[("unpack", "true")], "application/x-tar", packed)?;
    Ok(bytes)
}

pub(super) fn download(server: &Client, id: SandboxId, from: &SandboxPath, to: &Path) -> Result<u64> {
    let (_, name) = split(from)?;
    let about = server.stat(id, from)?.with_context(|| format!("there is no `{from}` in the sandbox"))?;
    let mut content = server.download(id, from, about.is_directory)?;
    let mut received = tempfile()?;
    let bytes = io::copy(&mut content, &mut received).context("hear from the server")?;
    received.rewind()?;
    let room = Room::beside(to, &name)?;
    if about.is_directory {
        room.unpack(received, &name)?;
    } else {
        let mut options = File::options();
        let options = options.write(true).create_new(true).mode(about.mode);
        let mut file = options.open(room.inside()).context("make room for the copy")?;
        io::copy(&mut received, &mut file).context("write the copy")?;
    }
    room.put_in_place()?;
    Ok(bytes)
}
