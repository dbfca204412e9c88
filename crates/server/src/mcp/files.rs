//! Files of a sandbox, what it changed, and snapshots of it.

use std::io::{Read as _, Seek as _, SeekFrom, Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use belljar_engine::{
    changes::{self, Look, RenderError},
    service::{FileKind, FileView, ServiceError},
};

use super::{
    arguments::{Encoding, ListFiles, ReadFile, Snapshot, Target, Upload, WriteFile},
    failure::{Outcome, ToolFailure},
    results::{Diff, File, Files, Read, Snapshotted, Written},
    sandboxes::{path, sandbox},
    tools::Call,
};

/// The most entries of a listing.
const MOST_FILES: usize = 500;
/// The most bytes read at one time, and of a patch.
const MOST_BYTES: u64 = 256 * 1024;
/// Permissions of a file that is written.
const MODE: u32 = 0o644;

impl Call {
    pub(super) async fn upload(&self, asked: Upload) -> Outcome<Written> {
        let Upload { sandbox_id, file_path, content, encoding } = asked;
        self.write_file(WriteFile { sandbox_id, path: file_path, content, encoding }).await
    }

    pub(super) async fn write_file(&self, asked: WriteFile) -> Outcome<Written> {
        let (id, path) = (sandbox(&asked.sandbox_id)?, path(&asked.path)?);
        let bytes = match asked.encoding {
            Encoding::Text => asked.content.into_bytes(),
            Encoding::Base64 => STANDARD
                .decode(asked.content.trim())
                .map_err(|error| ToolFailure::invalid(format!("`content` is not base64: {error}")))?,
        };
        let view = self
            .ask(move |service, who| {
                let mut writer = service.write_file(who, id, &path, MODE, true)?;
                writer.write_all(&bytes).map_err(|error| ServiceError::TooLarge(error.to_string()))?;
                writer.commit()
            })
            .await?;
        Ok(Written { success: true, sandbox_id: id.to_string(), path: view.path, size: view.size })
    }

    pub(super) async fn read_file(&self, asked: ReadFile) -> Outcome<Read> {
        let (id, path) = (sandbox(&asked.sandbox_id)?, path(&asked.path)?);
        let (offset, most) = (asked.offset, asked.max_bytes.clamp(1, MOST_BYTES));
        let (view, bytes) = self
            .ask(move |service, who| {
                let (mut file, view) = service.open_file(who, id, &path)?;
                let mut bytes = Vec::new();
                file.seek(SeekFrom::Start(offset))
                    .and_then(|_| file.take(most).read_to_end(&mut bytes))
                    .map_err(|error| ServiceError::Conflict(format!("`{path}` cannot be read: {error}")))?;
                Ok((view, bytes))
            })
            .await?;
        let next = offset.saturating_add(u64::try_from(bytes.len()).unwrap_or(u64::MAX));
        let (content, encoding) = match String::from_utf8(bytes) {
            Ok(text) => (text, "text"),
            Err(error) => (STANDARD.encode(error.into_bytes()), "base64"),
        };
        Ok(Read {
            path: view.path,
            content,
            encoding: encoding.to_owned(),
            size: view.size,
            next_offset: (next < view.size).then_some(next),
        })
    }

    pub(super) async fn list_files(&self, asked: ListFiles) -> Outcome<Files> {
        let (id, path) = (sandbox(&asked.sandbox_id)?, path(&asked.path)?);
        let (shown, depth) = (path.to_string(), asked.depth.clamp(1, 8));
        let found =
            self.ask(move |service, who| service.list(who, id, &path, depth, None, MOST_FILES + 1)).await?;
        let truncated = found.len() > MOST_FILES;
        let files = found.into_iter().take(MOST_FILES).map(described).collect();
        Ok(Files { path: shown, files, truncated })
    }

    pub(super) async fn diff(&self, asked: Target) -> Outcome<Diff> {
        let id = sandbox(&asked.sandbox_id)?;
        let (summary, patch) = self
            .ask(move |service, who| {
                let found = changes::find_renames(service.changes(who, id)?);
                let unreadable = |error: RenderError| ServiceError::Conflict(crate::problem::chain(&error));
                let summary = changes::stat(&found, Look::Patch).map_err(unreadable)?;
                let mut patch = Vec::new();
                changes::diff(&found, &mut patch, Look::Patch).map_err(unreadable)?;
                Ok((summary, patch))
            })
            .await?;
        let most = usize::try_from(MOST_BYTES).unwrap_or(usize::MAX);
        let truncated = patch.len() > most;
        let patch = String::from_utf8_lossy(patch.get(..most).unwrap_or(&patch)).into_owned();
        Ok(Diff { sandbox_id: id.to_string(), summary, patch, truncated })
    }

    pub(super) async fn snapshot(&self, asked: Snapshot) -> Outcome<Snapshotted> {
        let id = sandbox(&asked.sandbox_id)?;
        let name = asked.name;
        if name.as_ref().is_some_and(|name| name.is_empty() || name.chars().count() > 128) {
            return Err(ToolFailure::invalid("`name` must have 1 to 128 characters"));
        }
        let taken = self.ask(move |service, who| service.snapshot(who, id, name.as_deref())).await?;
        Ok(Snapshotted {
            snapshot_id: taken.id.to_string(),
            sandbox_id: id.to_string(),
            name: taken.name,
            size: taken.bytes,
            created_at: taken.created.to_string(),
        })
    }
}

fn described(view: FileView) -> File {
    let kind = match view.kind {
        FileKind::File => "file",
        FileKind::Directory => "directory",
        FileKind::Symlink => "symlink",
        FileKind::Other => "other",
    };
    File {
        path: view.path,
        kind: kind.to_owned(),
        size: view.size,
        mode: format!("{:o}", view.mode),
        modified_at: view.modified.to_string(),
        target: view.target,
    }
}
