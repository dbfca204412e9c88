//! Files of a sandbox, by the server.

use std::{fs::File, io::Read};

use belljar_domain::{SandboxId, SandboxPath};
use serde_json::Value;

use super::{
    Client, QUICK, Result, SLOW,
    http::{escaped, target},
};

/// What is at a path.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stat {
    /// Whether it is a directory.
    pub(crate) is_directory: bool,
    /// Who may do what with it.
    pub(crate) mode: u32,
}

impl Client {
    /// Sends a file, or a tar that is to be unpacked, to a path.
    pub(crate) fn upload(
        &self,
        id: SandboxId,
        path: &SandboxPath,
        query: &[(&str, &str)],
        kind: &str,
        content: File,
    ) -> Result<()> {
        self.server.send_file(&target(&place(id, path), query), kind, content, SLOW).map(drop)
    }

    /// Says what is at a path, if anything is; links are followed.
    pub(crate) fn stat(&self, id: SandboxId, path: &SandboxPath) -> Result<Option<Stat>> {
        let asked = self.server.send("GET", &target(&place(id, path), &[("stat", "true")]), None, QUICK);
        let about: Value = match asked {
            Err(error) if error.code() == Some("NOT_FOUND") => return Ok(None),
            answer => answer?.json()?,
        };
        let word = |name: &str| about.get(name).and_then(Value::as_str).unwrap_or_default();
        let mode = u32::from_str_radix(word("mode"), 8).unwrap_or(0o600);
        Ok(Some(Stat { is_directory: word("type") == "directory", mode: mode & 0o777 }))
    }

    /// Reads a file, or a directory as a tar.
    pub(crate) fn download(
        &self,
        id: SandboxId,
        path: &SandboxPath,
        is_directory: bool,
    ) -> Result<impl Read + use<>> {
        let query: &[(&str, &str)] = if is_directory { &[("archive", "tar")] } else { &[] };
        self.server.send("GET", &target(&place(id, path), query), None, SLOW)
    }
}

fn place(id: SandboxId, path: &SandboxPath) -> String {
    let path = path.to_string();
    let parts: Vec<_> = path.trim_start_matches('/').split('/').map(escaped).collect();
    format!("/api/v1/sandboxes/{id}/files/{}", parts.join("/"))
}
