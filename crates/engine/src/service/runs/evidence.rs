//! What can be said of an attempt by looking at its changes: how much, what of tests and settings, what policy forbids,
//! and what it does to the code.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use belljar_guardian::redact::Redactor;
use belljar_quality::{
    Source,
    contest::{Breach, QualityNote, Touched},
    delta,
};

use super::{glob::matches, record::Run};
use crate::changes::{Bundle, Held, Omission, Thing};

/// The largest file that is no text an attempt may bring.
const LARGEST: usize = 1 << 20;

/// Both sides of every file, as texts.
pub(super) fn touched(bundle: &Bundle) -> Vec<Touched<'_>> {
    let each = bundle.files.iter().map(|held| {
        let (base, after) = (text(&held.before), text(&held.after));
        let is_binary =
            (base.is_none() && held.before.is_some()) || (after.is_none() && held.after.is_some());
        Touched { path: &held.path, base, after, is_binary }
    });
    each.collect()
}

fn text(thing: &Option<Thing>) -> Option<&str> {
    thing.as_ref().and_then(|thing| std::str::from_utf8(thing.bytes()).ok())
}

/// What policy forbids and the attempt did.
pub(super) fn breaches(bundle: &Bundle, protected: &[String], redactor: &Redactor) -> Vec<Breach> {
    let mut found = Vec::new();
    let mut say = |path: &str, what: String| found.push(Breach { path: path.to_owned(), what });
    for held in &bundle.files {
        if let Some(pattern) = protected.iter().find(|pattern| matches(pattern, &held.path)) {
            say(&held.path, format!("a protected path ({pattern})"));
        }
        if brings_secret(held, redactor) {
            say(&held.path, "a secret in plain text".to_owned());
        }
        let size = held.after.as_ref().map_or(0, |thing| thing.bytes().len());
        let grew = size > held.before.as_ref().map_or(0, |thing| thing.bytes().len());
        if text(&held.after).is_none() && size > LARGEST && grew {
            say(&held.path, format!("a binary file of {size} bytes"));
        }
    }
    for left in &bundle.left_out {
        match left.why {
            Omission::Submodule => say(&left.path, "a submodule, which is read-only".to_owned()),
            Omission::TooMuch => say(&left.path, "more than can be kept of one attempt".to_owned()),
            Omission::Name => say(&left.path, "a name that is not UTF-8".to_owned()),
            Omission::Repository | Omission::Ignored | Omission::Special => {}
        }
    }
    found
}

/// Whether a secret is in what is new; what was there before is somebody else's.
fn brings_secret(held: &Held, redactor: &Redactor) -> bool {
    let is_secret = |text: &str| matches!(redactor.text(text), std::borrow::Cow::Owned(_));
    let Some(after) = text(&held.after) else { return false };
    let Some(before) = text(&held.before) else { return is_secret(after) };
    if !is_secret(after) {
        return false;
    }
    let known: HashSet<&str> = before.lines().collect();
    let new: Vec<&str> = after.lines().filter(|line| !known.contains(line)).collect();
    is_secret(&new.join("\n"))
}

/// The files any attempt touched, as they were: all attempts are measured on the same ground.
pub(super) struct Field<'b> {
    base: BTreeMap<&'b str, Option<&'b str>>,
}

impl<'b> Field<'b> {
    pub(super) fn of(bundles: &'b [Option<Bundle>]) -> Self {
        let all = bundles.iter().flatten().flat_map(|bundle| &bundle.files);
        Self { base: all.map(|held| (held.path.as_str(), text(&held.before))).collect() }
    }

    /// What an attempt does to how hard the code is to change.
    pub(super) fn quality(&self, bundle: &Bundle) -> QualityNote {
        let own: BTreeMap<&str, &Held> = bundle.files.iter().map(|held| (held.path.as_str(), held)).collect();
        let base: Vec<Source<'_>> =
            self.base.iter().filter_map(|(path, text)| text.map(|text| Source { path, text })).collect();
        let after = self.base.iter().filter_map(|(path, before)| {
            let text = own.get(path).map_or(*before, |held| text(&held.after))?;
            Some(Source { path, text })
        });
        QualityNote::from(&delta(&base, &after.collect::<Vec<_>>()))
    }
}

/// Paths of a bundle whose base's state is put back before its gates are tried.
pub(super) fn restored<'b>(view: &Run, bundle: &'b Bundle) -> BTreeSet<&'b str> {
    let is_restored = |held: &&Held| view.restores(&held.path, held.before.is_some());
    bundle.files.iter().filter(is_restored).map(|held| held.path.as_str()).collect()
}
