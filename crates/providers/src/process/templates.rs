//! Templates with a name, as the port offers them: kept below the home, and not taken away from under a sandbox.

use std::path::Path;

use belljar_ports::{SandboxError, TemplateInfo};

use super::record::Record;
use crate::template::{Listed, TemplateError, TemplateStore};

fn open(home: &Path) -> Result<TemplateStore, SandboxError> {
    TemplateStore::open(home).map_err(|e| SandboxError::provider("open the template store", e))
}

pub(super) fn all(home: &Path) -> Result<Vec<TemplateInfo>, SandboxError> {
    let listed = open(home)?.list().map_err(|e| SandboxError::provider("list templates", e))?;
    Ok(listed.into_iter().map(info).collect())
}

pub(super) fn import(home: &Path, name: &str, source: &Path) -> Result<TemplateInfo, SandboxError> {
    let store = open(home)?;
    store.import_as(name, source).map_err(refused)?;
    let listed = store.list().map_err(|e| SandboxError::provider("list templates", e))?;
    let made = listed.into_iter().find(|listed| listed.name == name).map(info);
    made.ok_or_else(|| SandboxError::Invalid(format!("template `{name}` was taken away meanwhile")))
}

/// Takes one away, unless a sandbox that may still run stands on it.
pub(super) fn remove(home: &Path, name: &str) -> Result<(), SandboxError> {
    let store = open(home)?;
    let listed = store.list().map_err(|e| SandboxError::provider("list templates", e))?;
    if let Some(found) = listed.iter().find(|listed| listed.name == name) {
        let records = Record::all(home)?.into_iter();
        let users = records.filter(|record| record.init.is_alive() && record.layers.contains(&found.root));
        let by: Vec<_> = users.map(|record| record.id.to_string()).collect();
        if !by.is_empty() {
            return Err(SandboxError::InUse { what: format!("template {name}"), by });
        }
    }
    store.remove(name).map_err(refused)
}

fn info(listed: Listed) -> TemplateInfo {
    TemplateInfo { name: listed.name, source: listed.source, bytes: listed.bytes }
}

/// What the caller can mend is told as such; the rest is ours.
pub(super) fn refused(error: TemplateError) -> SandboxError {
    match error {
        TemplateError::Store { .. } => SandboxError::provider("use the template store", error),
        other => {
            let mut text = other.to_string();
            let mut cause = std::error::Error::source(&other);
            while let Some(error) = cause {
                text = format!("{text}: {error}");
                cause = error.source();
            }
            SandboxError::Invalid(text)
        }
    }
}
