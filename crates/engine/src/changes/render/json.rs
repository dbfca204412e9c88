//! The changes as a value for programs.

use belljar_domain::{Change, ChangeKind, Entry, Node, Timestamp};
use belljar_ports::Changes;
use serde_json::{Value, json};

use super::{
    RenderError,
    delta::{self, Delta},
    workspace,
};

/// Returns `{files: [...], totals: {files, additions, deletions}}`.
///
/// Every change is in it, directories and pipes too; those do not count in the totals. `additions` and
/// `deletions` are null, and `binary` is true, for what is binary or too long to compare line by line. Modes are octal strings. Names that are
/// not UTF-8 are written lossily. `changed_at` is when the kernel last changed a file, null where that is not known.
///
/// # Errors
/// When either side cannot be read.
pub fn json(changes: &Changes) -> Result<Value, RenderError> {
    let (root, until) = (workspace(changes)?, delta::deadline());
    let (mut files, mut additions, mut deletions, mut counted) = (Vec::new(), 0, 0, 0);
    for change in &changes.changes {
        let deltas = delta::of(change, &root, changes.files.as_ref(), until)?;
        let counts = sum(&deltas);
        if let Some((added, removed)) = counts {
            additions += added;
            deletions += removed;
        }
        counted += usize::from(!deltas.is_empty());
        let changed = changes.files.changed(&change.path).map(Timestamp::from);
        files.push(file(change, counts, changed));
    }
    let totals = json!({ "files": counted, "additions": additions, "deletions": deletions });
    Ok(json!({ "files": files, "totals": totals }))
}

fn sum(deltas: &[Delta<'_>]) -> Option<(usize, usize)> {
    deltas.iter().try_fold((0, 0), |(added, removed), delta| {
        delta.counts().map(|(more, less)| (added + more, removed + less))
    })
}

fn file(change: &Change, counts: Option<(usize, usize)>, changed: Option<Timestamp>) -> Value {
    let (kind, from) = match &change.kind {
        ChangeKind::Added => ("added", None),
        ChangeKind::Modified => ("modified", None),
        ChangeKind::Deleted => ("deleted", None),
        ChangeKind::ModeChanged => ("mode_changed", None),
        ChangeKind::TypeChanged => ("type_changed", None),
        ChangeKind::Renamed { from } => ("renamed", Some(from.to_string_lossy())),
    };
    let entry = change.after.as_ref().or(change.before.as_ref());
    let mut value = json!({
        "path": change.path.to_string_lossy(),
        "kind": kind,
        "type": entry.map(type_of),
        "additions": counts.map(|(added, _)| added),
        "deletions": counts.map(|(_, removed)| removed),
        "binary": counts.is_none(),
        "old_mode": mode(change.before.as_ref()),
        "new_mode": mode(change.after.as_ref()),
        "changed_at": changed.map(|time| time.to_string()),
    });
    if let (Some(from), Value::Object(fields)) = (from, &mut value) {
        fields.insert("from".to_owned(), from.into());
    }
    value
}

const fn type_of(entry: &Entry) -> &'static str {
    match entry {
        Entry::File { .. } => "file",
        Entry::Symlink { .. } => "symlink",
        Entry::Directory { .. } => "directory",
        Entry::Other { node: Node::Fifo, .. } => "fifo",
        Entry::Other { node: Node::Socket, .. } => "socket",
        Entry::Other { node: Node::CharacterDevice, .. } => "character_device",
        Entry::Other { node: Node::BlockDevice, .. } => "block_device",
    }
}

fn mode(entry: Option<&Entry>) -> Option<String> {
    let kind = match entry? {
        Entry::File { .. } => 0o100_000,
        Entry::Symlink { .. } => 0o120_000,
        Entry::Directory { .. } => 0o040_000,
        Entry::Other { node: Node::Fifo, .. } => 0o010_000,
        Entry::Other { node: Node::Socket, .. } => 0o140_000,
        Entry::Other { node: Node::CharacterDevice, .. } => 0o020_000,
        Entry::Other { node: Node::BlockDevice, .. } => 0o060_000,
    };
    Some(format!("{:06o}", kind | entry.and_then(Entry::mode).unwrap_or(0)))
}
