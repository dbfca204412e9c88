//! What one file gives: its own findings, and what it contributes to those that need several files.

use crate::{
    classify::{Skip, is_test, skip_by_path, skip_by_text},
    complexity::{self, Excess},
    facts::Facts,
    file::File,
    finding::{Draft, Finding},
    lang::Lang,
    rules,
    suppress::{self, Suppression},
};

/// A file's text, under its path from the root of what is judged, with `/` between names.
#[derive(Debug, Clone, Copy)]
pub struct Source<'s> {
    /// Where it is.
    pub path: &'s str,
    /// What it says.
    pub text: &'s str,
}

/// One file, read.
#[derive(Debug)]
pub struct Sheet {
    pub(crate) path: String,
    pub(crate) lang: Option<Lang>,
    /// Lines that say something.
    pub(crate) lines: usize,
    pub(crate) is_test: bool,
    pub(crate) skip: Option<Skip>,
    /// Functions or parts that do not parse, and were left out.
    pub(crate) broken: bool,
    pub(crate) findings: Vec<Finding>,
    pub(crate) excesses: Vec<Excess>,
    pub(crate) suppressions: Vec<Suppression>,
    pub(crate) facts: Facts,
}

/// How a file is to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Class {
    pub(crate) skip: Option<Skip>,
    pub(crate) is_test: bool,
}

impl Class {
    /// What its path and its text say.
    pub(crate) fn of(source: &Source<'_>) -> Self {
        let skip = skip_by_path(source.path).or_else(|| skip_by_text(source.text));
        Self { skip, is_test: is_test(source.path) }
    }
}

impl Sheet {
    /// Reads a file. There is no text it fails on: what cannot be read is left out, and says so.
    #[must_use]
    pub fn read(source: &Source<'_>) -> Self {
        Self::read_as(source, Class::of(source))
    }

    /// Reads a file somebody asked for by its name: where it lies does not say what it is, its own name does.
    #[must_use]
    pub fn read_named(source: &Source<'_>) -> Self {
        let name = source.path.rsplit('/').next().unwrap_or(source.path);
        Self::read_as(source, Class::of(&Source { path: name, ..*source }))
    }

    /// A file that is left out without a look at its text.
    #[must_use]
    pub fn skipped(path: &str, skip: Skip) -> Self {
        Self {
            path: path.to_owned(),
            lang: Lang::of(path),
            lines: 0,
            is_test: false,
            skip: Some(skip),
            broken: false,
            findings: Vec::new(),
            excesses: Vec::new(),
            suppressions: Vec::new(),
            facts: Facts::default(),
        }
    }

    pub(crate) fn read_as(source: &Source<'_>, class: Class) -> Self {
        if let Some(skip) = class.skip {
            return Self::skipped(source.path, skip);
        }
        let lang = Lang::of(source.path);
        let read = lang.and_then(|lang| File::read(lang, source.path, source.text, class.is_test).ok());
        let Some(file) = read else { return Self::skipped(source.path, Skip::Unreadable) };
        let mut findings: Vec<Finding> = rules::find(&file).into_iter().map(Draft::finish).collect();
        findings.sort_by_key(|finding| (finding.line(), finding.rule, finding.fingerprint));
        Self {
            path: source.path.to_owned(),
            lang,
            lines: source.text.lines().filter(|line| !line.trim().is_empty()).count(),
            is_test: class.is_test,
            skip: None,
            broken: !file.tree.all(crate::tree::Kind::Broken).is_empty(),
            findings,
            excesses: if class.is_test { Vec::new() } else { complexity::find(&file) },
            suppressions: suppress::all(&file),
            facts: Facts::of(&file),
        }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}
