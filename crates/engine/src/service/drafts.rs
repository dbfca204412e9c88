//! Notes of files that are on their way into sandboxes, kept outside of them: a service that is killed meanwhile leaves
//! its drafts where commands would find them, and the next one removes them.
//!
//! Owns: the notes, each locked as long as its writer lives. Refuses: to be more than help: without one, only a killed
//! service leaves something.

use std::{
    fs::{self, File, OpenOptions},
    io::{Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};

use belljar_domain::{SandboxId, SandboxPath, SandboxState};
use belljar_ports::{FileChange, SandboxError};
use rustix::fs::{FlockOperation, flock};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Service;

const SUFFIX: &str = "upload";

#[derive(Debug, Serialize, Deserialize)]
struct Said {
    sandbox: SandboxId,
    path: SandboxPath,
}

/// One that speaks for a draft.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    _lock: File,
}

impl Note {
    /// Says where a draft will be.
    pub(super) fn write(dir: &Path, sandbox: SandboxId, draft: &SandboxPath) -> Option<Self> {
        let path = dir.join(format!("{}.{SUFFIX}", Uuid::now_v7().simple()));
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
        let note = Self { path, _lock: file.try_clone().ok()? };
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        file.write_all(&serde_json::to_vec(&Said { sandbox, path: draft.clone() }).ok()?).ok()?;
        Some(note)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.path);
    }
}

impl Service {
    /// Removes drafts whose writers are dead. Those in a sandbox that stands still wait until it goes on.
    pub(super) fn clear_drafts(&self) {
        for entry in fs::read_dir(&self.0.runtime_dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|end| end != SUFFIX) {
                continue;
            }
            let Ok(mut file) = File::open(&path) else { continue };
            if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
                continue;
            }
            let mut text = Vec::new();
            let said =
                file.read_to_end(&mut text).ok().and_then(|_| serde_json::from_slice::<Said>(&text).ok());
            // One that says nothing was cut short before there was a draft.
            if said.is_none_or(|said| self.clear_draft(&said)) {
                let _gone = fs::remove_file(&path);
            }
        }
    }

    /// Says whether there is nothing left to remove.
    fn clear_draft(&self, said: &Said) -> bool {
        let Some(live) = self.0.registry.sandbox(said.sandbox) else { return true };
        if live.view().state == SandboxState::Paused {
            return false;
        }
        let removed = live.sandbox.change(&FileChange::Remove { path: said.path.clone(), recursive: false });
        match removed {
            // It was put into its place, or never made.
            Ok(()) | Err(SandboxError::File { .. }) => true,
            Err(_) => !live.sandbox.info().state.is_live(),
        }
    }
}
