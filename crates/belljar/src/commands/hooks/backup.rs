//! Settings files as they were before belljar came, kept in belljar's home; and the one way such a file is written.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt, chown},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, ensure};
use rustix::fs::{Access, access};

use super::plan::{Plan, has_ours, read};

/// How a new file may be read.
const MODE: u32 = 0o644;
/// Links that are followed to a file that is not there.
const LINKS: usize = 16;

/// The kept text of one file.
#[derive(Debug)]
pub(super) struct Backup {
    pub(super) path: PathBuf,
}

impl Backup {
    pub(super) fn of(home: &Path, file: &Path) -> Self {
        let name = file.display().to_string().replace('%', "%25").replace('/', "%2F");
        Self { path: home.join("backups").join(name) }
    }

    pub(super) fn read(&self) -> Result<Option<String>> {
        read(&self.path)
    }

    fn keep(&self, text: &str) -> Result<()> {
        write(&self.path, text, 0o600).with_context(|| format!("keep a backup in `{}`", self.path.display()))
    }

    fn drop(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Carries out an installation; the file as it was is kept first.
pub(super) fn install(plan: &Plan, home: &Path) -> Result<()> {
    let backup = Backup::of(home, &plan.path);
    match &plan.before {
        Some(before) if has_ours(&plan.agent, before) => {}
        Some(before) => backup.keep(before)?,
        None => backup.drop()?,
    }
    change(plan)
}

/// Carries out an uninstallation; the backup has served.
pub(super) fn uninstall(plan: &Plan, home: &Path) -> Result<()> {
    change(plan)?;
    Backup::of(home, &plan.path).drop()
}

fn change(plan: &Plan) -> Result<()> {
    let doing = || format!("write `{}`", plan.path.display());
    match &plan.after {
        Some(text) => write(&plan.path, text, MODE).with_context(doing),
        // A link leads to nothing again, as it did.
        None => fs::remove_file(real(&plan.path)).with_context(doing),
    }
}

/// Refuses to change a file whose owner or whose directory says that it is not to be changed: it could be replaced all the
/// same, but was not made read-only for nothing.
pub(super) fn check_writable(path: &Path) -> Result<()> {
    let real = real(path);
    let Ok(about) = fs::metadata(&real) else { return Ok(()) };
    let is_open = about.mode() & 0o222 != 0 && access(&real, Access::WRITE_OK).is_ok();
    ensure!(is_open, "it is read-only; make it writable first, nothing was changed");
    Ok(())
}

/// The file a path leads to, through links, also if it is not there yet.
fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let Ok(target) = fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| target.clone(), |dir| dir.join(&target));
    }
    path
}

/// Writes a file whole or not at all, through a link, with the owner and the mode it had.
fn write(path: &Path, text: &str, mode: u32) -> Result<()> {
    let real = real(path);
    let dir = real.parent().context("a file is in a directory")?;
    fs::create_dir_all(dir)?;
    let mut draft = tempfile::Builder::new().prefix(".belljar-").tempfile_in(dir)?;
    draft.write_all(text.as_bytes())?;
    let there = fs::metadata(&real).ok();
    let mode = there.as_ref().map_or(mode, |file| file.mode() & 0o7777);
    fs::set_permissions(draft.path(), PermissionsExt::from_mode(mode))?;
    if let Some(file) = there {
        // Only root can give files away, and only root needs to.
        let _not_root = chown(draft.path(), Some(file.uid()), Some(file.gid()));
    }
    draft.as_file().sync_all()?;
    draft.persist(&real)?;
    Ok(())
}
