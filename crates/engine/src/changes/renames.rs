//! Telling a move from a deletion and an addition.
//!
//! Owns: pairing files that are gone with files that are new, first by equal content, then by similar
//! text. Refuses: to work without bound, or to fail: what cannot be read is simply not paired.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hasher as _},
    io::{self, Read},
    path::{Path, PathBuf},
};

use belljar_domain::{Change, ChangeKind, Entry};
use belljar_ports::Changes;

use super::{
    content::{self, Content},
    root::Root,
};

/// How alike two texts must be, in percent.
const ALIKE: usize = 60;
/// How many pairs of texts are compared at most.
const PAIRS: usize = 10_000;
/// How many bytes are read at most to find equal files, and again to find similar ones.
const BYTES: u64 = 256 << 20;

/// Replaces each deletion and addition that belong together by one rename.
#[must_use]
pub fn find_renames(changes: Changes) -> Changes {
    let Ok(root) = Root::open(changes.base.as_path()) else { return changes };
    let mut search = Search { root, changes: &changes, origin: HashMap::new(), taken: HashSet::new() };
    search.equal();
    search.similar();
    let Search { origin, taken, .. } = search;
    let renamed = rewritten(&changes.changes, &origin, &taken);
    Changes { changes: renamed, ..changes }
}

struct Search<'a> {
    root: Root,
    changes: &'a Changes,
    /// From the index of an addition to that of the deletion it came from.
    origin: HashMap<usize, usize>,
    taken: HashSet<usize>,
}

impl Search<'_> {
    /// The files of one kind not yet paired, with their index. Empty files are all equal, so none are.
    fn open(&self, kind: &ChangeKind) -> Vec<(usize, &Path, u64)> {
        let files = self.changes.changes.iter().enumerate().filter(|(_, change)| change.kind == *kind);
        files
            .filter(|(index, _)| !self.taken.contains(index) && !self.origin.contains_key(index))
            .filter_map(|(index, change)| match change.before.as_ref().or(change.after.as_ref()) {
                Some(Entry::File { size: size @ 1.., .. }) => Some((index, change.path.as_path(), *size)),
                _ => None,
            })
            .collect()
    }

    fn equal(&mut self) {
        let (gone, new) = (self.open(&ChangeKind::Deleted), self.open(&ChangeKind::Added));
        let sizes: HashSet<u64> = new.iter().map(|(_, _, size)| *size).collect();
        let mut left = BYTES;
        let mut by_content: HashMap<(u64, u64), Vec<(usize, PathBuf)>> = HashMap::new();
        for (index, path, size) in gone.into_iter().filter(|(_, _, size)| sizes.contains(size)) {
            if let Some(hash) = self.root.file(path).ok().and_then(|file| hash(file, size, &mut left)) {
                by_content.entry((size, hash)).or_default().push((index, path.to_owned()));
            }
        }
        let gone_sizes: HashSet<u64> = by_content.keys().map(|(size, _)| *size).collect();
        let mut pairs = Vec::new();
        for (index, path, size) in new.into_iter().filter(|(_, _, size)| gone_sizes.contains(size)) {
            let opened = self.changes.files.open(path).ok();
            let Some(hash) = opened.and_then(|file| hash(file, size, &mut left)) else { continue };
            let Some(candidates) = by_content.get_mut(&(size, hash)) else { continue };
            let same_name = candidates.iter().position(|(_, old)| old.file_name() == path.file_name());
            let Some((_, old)) = candidates.get(same_name.unwrap_or(0)) else { continue };
            // A hash can be made to collide; a rename says the content is the same.
            if self.is_same(old, path).unwrap_or(false) {
                pairs.push((index, candidates.remove(same_name.unwrap_or(0)).0));
            }
        }
        self.pair(pairs);
    }

    fn similar(&mut self) {
        let (gone, new) = (self.open(&ChangeKind::Deleted), self.open(&ChangeKind::Added));
        if gone.len().saturating_mul(new.len()) > PAIRS {
            return;
        }
        let mut left = BYTES;
        let gone: Vec<_> = gone
            .into_iter()
            .filter_map(|(index, path, size)| Some((index, text(self.root.file(path), size, &mut left)?)))
            .collect();
        let mut scored = Vec::new();
        for (index, path, size) in new {
            let Some(new_text) = text(self.changes.files.open(path), size, &mut left) else { continue };
            for (old_index, old_text) in &gone {
                let (short, long) = ordered(old_text.len(), new_text.len());
                if short * 100 >= long * ALIKE {
                    let score = content::similarity(old_text, &new_text);
                    scored.push((score, index, *old_index));
                }
            }
        }
        scored.retain(|(score, _, _)| *score >= ALIKE);
        scored.sort_by_key(|(score, new, old)| (std::cmp::Reverse(*score), *new, *old));
        self.pair(scored.into_iter().map(|(_, new, old)| (new, old)));
    }

    fn pair(&mut self, pairs: impl IntoIterator<Item = (usize, usize)>) {
        for (new, old) in pairs {
            if !self.origin.contains_key(&new) && self.taken.insert(old) {
                self.origin.insert(new, old);
            }
        }
    }

    fn is_same(&self, old: &Path, new: &Path) -> io::Result<bool> {
        content::same(self.root.file(old)?, self.changes.files.open(new)?)
    }
}

fn rewritten(changes: &[Change], origin: &HashMap<usize, usize>, taken: &HashSet<usize>) -> Vec<Change> {
    let kept = changes.iter().enumerate().filter(|(index, _)| !taken.contains(index));
    kept.map(|(index, change)| match origin.get(&index).and_then(|old| changes.get(*old)) {
        Some(old) => Change {
            kind: ChangeKind::Renamed { from: old.path.clone() },
            before: old.before.clone(),
            ..change.clone()
        },
        None => change.clone(),
    })
    .collect()
}

const fn ordered(one: usize, two: usize) -> (usize, usize) {
    if one < two { (one, two) } else { (two, one) }
}

fn hash(mut from: impl Read, size: u64, left: &mut u64) -> Option<u64> {
    *left = left.checked_sub(size)?;
    let mut hasher = DefaultHasher::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer).ok()? {
            0 => return Some(hasher.finish()),
            count => hasher.write(buffer.get(..count)?),
        }
    }
}

fn text(from: io::Result<impl Read>, size: u64, left: &mut u64) -> Option<Vec<u8>> {
    if size > content::LINEWISE {
        return None;
    }
    *left = left.checked_sub(size)?;
    match Content::read(from.ok()?).ok()? {
        Content::Text(text) => Some(text),
        Content::Blob => None,
    }
}
