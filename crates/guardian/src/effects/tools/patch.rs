//! Patches: which files they touch.
//!
//! Owns: the envelope of `apply_patch` and the heads of unified diffs. Refuses: applying them.

use super::super::act::{Act, Change};
use crate::shell::value::Value;

/// What a patch does to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchChange {
    /// The file as the patch names it.
    pub path: String,
    /// How: made anew, edited, removed.
    pub how: How,
}

/// How a file is touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// Made, or overwritten.
    Add,
    /// Some of it changed.
    Update,
    /// Removed.
    Delete,
}

impl PatchChange {
    /// The same as an act.
    pub fn act(&self, path: impl Fn(&str) -> Value) -> Act {
        let path = path(&self.path);
        match self.how {
            How::Add => Act::Write { path, change: Change::Replace, content: None },
            How::Update => Act::Write { path, change: Change::Edit, content: None },
            How::Delete => Act::Delete { path, deep: false, filtered: false },
        }
    }
}

/// Every file a patch touches.
#[must_use]
pub fn changes(text: &[u8]) -> Vec<PatchChange> {
    let text = String::from_utf8_lossy(text);
    let mut found: Vec<PatchChange> = Vec::new();
    let mut before = None;
    for line in text.lines() {
        let envelope = [
            ("*** Add File: ", How::Add),
            ("*** Update File: ", How::Update),
            ("*** Delete File: ", How::Delete),
            ("*** Move to: ", How::Add),
        ];
        if let Some((path, how)) =
            envelope.iter().find_map(|(head, how)| Some((line.strip_prefix(head)?, *how)))
        {
            found.push(PatchChange { path: path.trim().to_owned(), how });
        } else if let Some(path) = line.strip_prefix("--- ") {
            before = Some(bare(path));
        } else if let (Some(path), Some(old)) = (line.strip_prefix("+++ "), before.take()) {
            let new = bare(path);
            let (path, how) = match (old.as_str(), new.as_str()) {
                ("/dev/null", _) => (new, How::Add),
                (_, "/dev/null") => (old, How::Delete),
                _ => (new, How::Update),
            };
            found.push(PatchChange { path, how });
        }
    }
    found
}

/// A name of a diff's head without its time and the `a/`, `b/` in front.
fn bare(path: &str) -> String {
    let path = path.split('\t').next().unwrap_or(path).trim();
    path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")).unwrap_or(path).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_is_named() {
        let text = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: c\n@@\n*** Delete File: ../d\n";
        let found: Vec<(String, How)> =
            changes(text.as_bytes()).into_iter().map(|change| (change.path, change.how)).collect();
        let expected = [("a", How::Add), ("b", How::Update), ("c", How::Add), ("../d", How::Delete)];
        assert_eq!(found, expected.map(|(path, how)| (path.to_owned(), how)));
        let diff = "--- a/x.rs\n+++ b/x.rs\n@@\n-a\n+b\n--- /dev/null\n+++ b/new\n--- a/old\n+++ /dev/null\n";
        let found: Vec<(String, How)> =
            changes(diff.as_bytes()).into_iter().map(|change| (change.path, change.how)).collect();
        let expected = [("x.rs", How::Update), ("new", How::Add), ("old", How::Delete)];
        assert_eq!(found, expected.map(|(path, how)| (path.to_owned(), how)));
    }
}
