//! Counters of one group, each opened when it is first looked at and looked at again through the same descriptor: opening
//! costs eight times as much as reading. Refuses: to hold descriptors for a sandbox nobody uses; see [`Gauges::close`].

use std::{
    collections::HashMap,
    fs::File,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

/// More than any counter has to say.
const LONGEST: usize = 4096;

/// The open counters.
#[derive(Debug, Default)]
pub struct Gauges(Mutex<HashMap<PathBuf, File>>);

impl Gauges {
    /// Lets go of every descriptor; the next look opens what it needs again.
    pub fn close(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// What a file of the group says; nothing when it is gone, or the group is.
    pub(super) fn text(&self, dir: &Path, file: &str) -> Option<String> {
        let path = dir.join(file);
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = [0; LONGEST];
        let count = match open.get(&path).and_then(|counter| counter.read_at(&mut buffer, 0).ok()) {
            Some(count) => count,
            // A group of the same name may have been made since; the descriptor is of the one that is gone.
            None => {
                open.remove(&path);
                let counter = File::open(&path).ok()?;
                let count = counter.read_at(&mut buffer, 0).ok()?;
                open.insert(path, counter);
                count
            }
        };
        drop(open);
        String::from_utf8(buffer.get(..count)?.to_vec()).ok()
    }

    pub(super) fn number(&self, dir: &Path, file: &str) -> Option<u64> {
        self.text(dir, file)?.trim().parse().ok()
    }

    pub(super) fn keyed(&self, dir: &Path, file: &str, key: &str) -> Option<u64> {
        let content = self.text(dir, file)?;
        content.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_read_anew_and_found_again_after_it_was_closed() {
        let dir = tempfile::tempdir().unwrap();
        let gauges = Gauges::default();
        assert_eq!(gauges.number(dir.path(), "count"), None);
        for (count, close) in [(1, false), (2, true), (3, false)] {
            std::fs::write(dir.path().join("count"), format!("{count}\n")).unwrap();
            assert_eq!(gauges.number(dir.path(), "count"), Some(count));
            if close {
                gauges.close();
            }
        }
    }
}
