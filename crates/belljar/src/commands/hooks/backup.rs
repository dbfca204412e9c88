//! Settings files as they were before belljar came, kept in belljar's home; and the one way such a file is written.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt, chown},
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result};

use super::plan::{Plan, has_ours, read};

/// How a new file may be read.
const MODE: u32 = 0o644;

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
        None => fs::remove_file(&plan.path).with_context(doing),
    }
}

/// Writes a file whole or not at all, through a link, with the owner and the mode it had.
fn write(path: &Path, text: &str, mode: u32) -> Result<()> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
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
