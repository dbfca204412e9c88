//! Which files there are: what git would ignore is not, and of folders nobody here writes only the name is taken.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use belljar_quality::{Lang, Skip, skip_by_path};
use ignore::{DirEntry, WalkBuilder};

/// What was found below a path.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Files to read: where they are, and what they are called in the report.
    pub(super) files: Vec<(PathBuf, String)>,
    /// One file was asked for, by its name.
    pub(super) is_one: bool,
    /// Folders that were not entered, and why.
    pub(super) folders: Vec<(String, Skip)>,
    /// Files in languages that are not known, by the end of their names.
    pub(super) unknown: BTreeMap<String, usize>,
}

pub(super) fn walk(root: &Path) -> Result<Found> {
    let about = std::fs::metadata(root).with_context(|| {
        format!("cannot judge `{}`; name a file or a directory that is there", root.display())
    })?;
    if about.is_file() {
        let name = root.to_string_lossy().trim_start_matches("./").to_owned();
        if Lang::of(&name).is_none() {
            bail!(
                "`{name}` is in no language that can be judged: Python, JavaScript, TypeScript, Rust, Go, Java"
            );
        }
        return Ok(Found { files: vec![(root.to_owned(), name)], is_one: true, ..Found::default() });
    }
    let mut found = Found::default();
    let entries = WalkBuilder::new(root)
        .hidden(false)
        .ignore(false)
        .require_git(false)
        .follow_links(false)
        .sort_by_file_name(std::cmp::Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    let mut entered: Vec<String> = Vec::new();
    // What cannot be listed is as good as not there.
    for entry in entries.flatten() {
        let Some(name) = name(root, &entry) else { continue };
        if entered.iter().any(|folder| name.starts_with(folder.as_str())) {
            continue;
        }
        match entry.file_type() {
            Some(kind) if kind.is_dir() => {
                if let Some(skip) = skip_by_path(&format!("{name}/x")).filter(|skip| *skip == Skip::Vendored)
                {
                    entered.push(format!("{name}/"));
                    found.folders.push((name, skip));
                }
            }
            Some(kind) if kind.is_file() => take(&mut found, entry.path(), name),
            _ => {}
        }
    }
    Ok(found)
}

fn take(found: &mut Found, path: &Path, name: String) {
    if Lang::of(&name).is_some() {
        found.files.push((path.to_owned(), name));
        return;
    }
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    *found.unknown.entry(extension.unwrap_or_else(|| "no extension".to_owned())).or_default() += 1;
}

/// Its path from the root, with `/` between names.
fn name(root: &Path, entry: &DirEntry) -> Option<String> {
    let inside = entry.path().strip_prefix(root).ok()?;
    Some(inside.to_string_lossy().into_owned()).filter(|name| !name.is_empty())
}
