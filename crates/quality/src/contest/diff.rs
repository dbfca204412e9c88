//! What an attempt changed, file by file: how much, of what role, and which lines, for comparing attempts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::ground::{Role, role};
use crate::fingerprint::Hash;

/// How many lines are aligned, beginning and end that are the same aside: aligning takes their square.
const ALIGNED: usize = 6_000;
/// How many changed lines are remembered of an attempt.
const LINES: usize = 20_000;

/// A file an attempt touched, before and after. Nothing where it does not exist or is no text.
#[derive(Debug, Clone, Copy)]
pub struct Touched<'s> {
    /// Where it is, from the root of the workspace.
    pub path: &'s str,
    /// What it said on the base.
    pub base: Option<&'s str>,
    /// What it says now.
    pub after: Option<&'s str>,
    /// Whether it is no text, before or after.
    pub is_binary: bool,
}

/// What an attempt changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// The files, by path.
    pub files: Vec<ChangedFile>,
    /// Hashes of the lines it took out and put in, layout aside.
    pub lines: BTreeSet<u64>,
}

/// One file an attempt changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedFile {
    /// Where it is.
    pub path: String,
    /// What it is for.
    pub role: Role,
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
    /// Of both, those that differ from the other side by layout alone.
    pub layout: usize,
    /// Whether it was there on the base.
    pub existed: bool,
    /// Whether it is there now.
    pub exists: bool,
    /// Whether it is no text.
    #[serde(default)]
    pub is_binary: bool,
}

/// How much a change is, in three numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffStat {
    /// Files.
    pub files: usize,
    /// Lines that came.
    pub added: usize,
    /// Lines that went.
    pub removed: usize,
}

impl Diff {
    /// Compares both sides of every file.
    #[must_use]
    pub fn of(files: &[Touched<'_>]) -> Self {
        let mut diff = Self::default();
        for file in files.iter().filter(|file| file.base != file.after || file.is_binary) {
            diff.add(file);
        }
        diff.files.sort_by(|a, b| a.path.cmp(&b.path));
        diff
    }

    fn add(&mut self, file: &Touched<'_>) {
        let (base, after) = (file.base.unwrap_or_default(), file.after.unwrap_or_default());
        let mut changed = ChangedFile {
            path: file.path.to_owned(),
            role: role(file.path),
            added: 0,
            removed: 0,
            layout: 0,
            existed: file.base.is_some(),
            exists: file.after.is_some(),
            is_binary: file.is_binary,
        };
        if !file.is_binary {
            let (gone, came) = lines(base, after);
            changed.removed = gone.len();
            changed.added = came.len();
            changed.layout = layout(&gone, &came);
            let told = gone.iter().map(|line| ("-", line)).chain(came.iter().map(|line| ("+", line)));
            for (sign, line) in told {
                let said = squeezed(line);
                if !said.is_empty() && self.lines.len() < LINES {
                    self.lines.insert(Hash::new().text(file.path).text(sign).text(&said).value());
                }
            }
        }
        self.files.push(changed);
    }

    /// In three numbers.
    #[must_use]
    pub fn stat(&self) -> DiffStat {
        DiffStat {
            files: self.files.len(),
            added: self.files.iter().map(|file| file.added).sum(),
            removed: self.files.iter().map(|file| file.removed).sum(),
        }
    }

    /// Lines that came or went in files that hold neither tests nor what a program wrote.
    pub(super) fn churn(&self) -> usize {
        let counted = self.files.iter().filter(|file| file.role != Role::Test && file.role != Role::Lock);
        counted.map(|file| file.added + file.removed).sum()
    }

    /// How alike two changes are: the lines in both, of all lines, from 0 to 1.
    pub(super) fn likeness(&self, other: &Self) -> f64 {
        let both = self.lines.intersection(&other.lines).count();
        let all = self.lines.len() + other.lines.len() - both;
        if all == 0 { 0.0 } else { ratio(both, all) }
    }
}

pub(super) fn ratio(part: usize, whole: usize) -> f64 {
    let exact = |count: usize| u32::try_from(count).map_or(f64::from(u32::MAX), f64::from);
    if whole == 0 { 0.0 } else { exact(part) / exact(whole) }
}

/// Lines that went and lines that came.
fn lines<'s>(base: &'s str, after: &'s str) -> (Vec<&'s str>, Vec<&'s str>) {
    let (mut old, mut new): (Vec<&str>, Vec<&str>) = (base.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    old.drain(..same);
    new.drain(..same);
    let same = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    old.truncate(old.len() - same);
    new.truncate(new.len() - same);
    if old.len() + new.len() > ALIGNED {
        // What is on one side alone, in any order.
        let (known, now): (BTreeSet<&str>, BTreeSet<&str>) =
            (old.iter().copied().collect(), new.iter().copied().collect());
        old.retain(|line| !now.contains(line));
        new.retain(|line| !known.contains(line));
        return (old, new);
    }
    let (mut gone, mut came) = (Vec::new(), Vec::new());
    for op in capture_diff_slices(Algorithm::Myers, &old, &new) {
        if !matches!(op, DiffOp::Equal { .. }) {
            gone.extend(old.get(op.old_range()).unwrap_or_default());
            came.extend(new.get(op.new_range()).unwrap_or_default());
        }
    }
    (gone, came)
}

/// How many lines say the same as lines of the other side, but for blanks.
fn layout(gone: &[&str], came: &[&str]) -> usize {
    let joined = |lines: &[&str]| lines.iter().map(|line| squeezed(line)).collect::<String>();
    if !gone.is_empty() && joined(gone) == joined(came) {
        return gone.len() + came.len();
    }
    let mut left: Vec<String> = gone.iter().map(|line| squeezed(line)).collect();
    left.sort_unstable();
    let both = came.iter().filter(|line| {
        let said = squeezed(line);
        let found = left.binary_search(&said);
        found.map(|at| left.remove(at)).is_ok()
    });
    2 * both.count()
}

fn squeezed(line: &str) -> String {
    line.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(base: &str, after: &str) -> Diff {
        Diff::of(&[Touched { path: "a.py", base: Some(base), after: Some(after), is_binary: false }])
    }

    #[test]
    fn a_new_layout_is_told_from_a_change() {
        let diff = one("def f(a, b):\n  return a\n", "def f(a,\n      b):\n    return a\n");
        let file = &diff.files[0];
        assert_eq!(file.layout, file.added + file.removed);
        assert_eq!(one("a = 1\n", "a = 2\n").files[0].layout, 0);
    }

    #[test]
    fn alike_is_what_changes_the_same_lines() {
        let (a, b) = (one("a\nb\n", "a\nc\n"), one("a\nb\n", "a\n  c\n"));
        assert!((a.likeness(&b) - 1.0).abs() < f64::EPSILON);
        assert!(a.likeness(&one("a\nb\n", "x\ny\n")) < 0.5);
        assert!(Diff::default().likeness(&Diff::default()).abs() < f64::EPSILON);
    }
}
