//! A file on its way into a sandbox: written beside its place, and put there when it is whole. A note outside says where
//! the draft is, so that the next service removes it if this one is killed.

use std::{
    fs::File,
    io::{self, Write},
    sync::Arc,
};

use belljar_domain::SandboxPath;
use belljar_ports::{FileChange, Open, SandboxError};
use uuid::Uuid;

use super::{FileView, Result, Service, ServiceError, drafts::Note, files, live::LiveSandbox};

/// Longest name of a file on Linux.
const MAX_NAME: usize = 255;

/// A file being written. Dropped without [`FileWriter::commit`], it was never there.
#[derive(Debug)]
pub struct FileWriter {
    live: Arc<LiveSandbox>,
    file: File,
    draft: SandboxPath,
    path: SandboxPath,
    mode: u32,
    is_done: bool,
    /// Goes last: it speaks for the draft.
    _note: Option<Note>,
}

impl FileWriter {
    pub(super) fn begin(
        service: &Service,
        live: Arc<LiveSandbox>,
        path: &SandboxPath,
        mode: u32,
    ) -> Result<Self> {
        let invalid = || ServiceError::Invalid(format!("`{path}` cannot name a file"));
        let (parent, name) = files::split(path).ok_or_else(invalid)?;
        if name.len() > MAX_NAME {
            return Err(ServiceError::Invalid(format!("a name has at most {MAX_NAME} bytes")));
        }
        let base = parent.to_string();
        let draft = format!("{}/.belljar-{}", base.trim_end_matches('/'), Uuid::now_v7().simple());
        let draft = SandboxPath::new(&draft).map_err(|error| ServiceError::Invalid(error.to_string()))?;
        let note = Note::write(&service.0.runtime_dir, live.view().id, &draft);
        let file = live.sandbox.open(&draft, Open::Create { mode: mode | 0o200 });
        let file = file.map_err(|error| about(path, error))?;
        Ok(Self { live, file: file.into(), draft, path: path.clone(), mode, is_done: false, _note: note })
    }

    /// Puts the file into its place.
    ///
    /// # Errors
    /// When a directory is in its way, or the sandbox has ended.
    pub fn commit(mut self) -> Result<FileView> {
        let sandbox = &self.live.sandbox;
        let put =
            sandbox.change(&FileChange::Mode { path: self.draft.clone(), mode: self.mode & 0o777 }).and_then(
                |()| sandbox.change(&FileChange::Rename { from: self.draft.clone(), to: self.path.clone() }),
            );
        put.map_err(|error| about(&self.path, error))?;
        self.is_done = true;
        files::look(&*self.live.sandbox, &self.path, false)
    }
}

/// What went wrong with the draft went wrong with the file: nobody who asked for one knows of the other.
fn about(path: &SandboxPath, error: SandboxError) -> SandboxError {
    match error {
        SandboxError::File { errno, .. } => SandboxError::File { what: path.to_string(), errno },
        other => other,
    }
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        if !self.is_done {
            // With the sandbox gone, so is the draft.
            let _gone =
                self.live.sandbox.change(&FileChange::Remove { path: self.draft.clone(), recursive: false });
        }
    }
}
