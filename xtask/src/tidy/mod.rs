//! `cargo xtask tidy`: the rules of this repository as code.
//!
//! Each gate is a pure function over a path and a text, or over the list of crates; reading happens here alone.

mod arrows;
mod finding;
mod header;
mod lexer;
mod names;
mod packages;
mod paths;
mod purity;
mod scope;
mod size;
mod unfinished;
mod unsafety;

use std::{collections::BTreeMap, fs, process::Command};

use anyhow::{Context as _, bail};

use self::{
    finding::{Finding, Level},
    packages::Package,
};
use crate::shell::{self, Workspace};

/// Gates that look at one file at a time.
const FILE_GATES: [fn(&str, &str) -> Vec<Finding>; 6] =
    [header::check, size::check, unsafety::check, unfinished::check, paths::check, purity::text];

/// Everything the gates look at.
#[derive(Debug, Default)]
struct Tree {
    /// Text files by path, relative to the repository's root.
    files: BTreeMap<String, String>,
    packages: Vec<Package>,
}

/// Reads the repository, passes it through every gate, and fails on any error.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let tree = read(workspace)?;
    let findings = judge(&tree);
    for finding in &findings {
        println!("{finding}");
    }
    let errors = findings.iter().filter(|finding| finding.level == Level::Error).count();
    if errors > 0 {
        bail!("{errors} broken rules in {} files", tree.files.len());
    }
    println!("tidy: {} files, {} crates, no rule broken", tree.files.len(), tree.packages.len());
    Ok(())
}

fn judge(tree: &Tree) -> Vec<Finding> {
    let mut findings = arrows::check(&tree.packages);
    findings.extend(names::check(&tree.packages));
    findings.extend(purity::dependencies(&tree.packages));
    findings.extend(purity::locks(&tree.packages, |path| tree.files.get(path).map(String::as_str)));
    for (path, text) in &tree.files {
        findings.extend(FILE_GATES.iter().flat_map(|gate| gate(path, text)));
    }
    findings.sort_by(|a, b| (&a.path, a.line, a.gate).cmp(&(&b.path, b.line, b.gate)));
    findings
}

/// Reads every text file that git tracks or would track, so that a rule is heard before the commit.
fn read(workspace: &Workspace) -> anyhow::Result<Tree> {
    let mut git = Command::new("git");
    // A clone of another user, as with sudo, is trusted for listing its files.
    let trust = format!("safe.directory={}", workspace.root.display());
    git.current_dir(&workspace.root).args(["-c", &trust]);
    git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = shell::read(&mut git).context("tidy looks at the files that git knows of")?;
    let mut tree = Tree::default();
    for path in listed.split('\0').filter(|path| !path.is_empty()) {
        let full = workspace.root.join(path);
        // Deleted but not yet committed; or a link to a directory, whose files are listed themselves.
        if !full.is_file() {
            continue;
        }
        let bytes = fs::read(&full).with_context(|| format!("could not read {path}"))?;
        // What is not UTF-8 is a picture or an archive; no gate reads those.
        if let Ok(text) = String::from_utf8(bytes) {
            tree.files.insert(path.to_owned(), text);
        }
    }
    let metadata = shell::read(&mut workspace.cargo(&["metadata", "--no-deps", "--format-version", "1"]))?;
    tree.packages = packages::parse(&metadata)?;
    Ok(tree)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::finding::Gate;
    use super::packages::{
        Kind,
        samples::{ours, package, theirs},
    };
    use super::*;

    fn tree(files: &[(&str, &str)], packages: Vec<Package>) -> Tree {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        Tree { files, packages }
    }

    #[test]
    fn every_gate_is_in_place() {
        let long = format!("//! One file too long.\n{}", "fn a() {}\n".repeat(700));
        let outside = format!("see {}a", concat!("/wo", "rk/"));
        let seeded = tree(
            &[
                ("crates/store/src/lib.rs", "fn a() {}\n"),
                ("crates/store/src/long.rs", &long),
                ("crates/store/src/raw.rs", "//! Holds raw memory.\nunsafe fn a() {}\n"),
                ("crates/store/src/later.rs", "//! Comes later on.\nfn a() { todo!() }\n"),
                ("docs/a.md", &outside),
            ],
            vec![
                package("belljar-core", Vec::new()),
                package("belljar-domain", vec![ours("belljar-store", Kind::Normal)]),
            ],
        );
        let gates: BTreeSet<Gate> = judge(&seeded).into_iter().map(|finding| finding.gate).collect();
        let all = [
            Gate::Arrows,
            Gate::Purity,
            Gate::Size,
            Gate::Unsafe,
            Gate::Header,
            Gate::Unfinished,
            Gate::Paths,
            Gate::Names,
        ];
        assert_eq!(gates, all.into_iter().collect());
    }

    #[test]
    fn purity_has_three_locks() {
        let seeded = tree(
            &[("crates/domain/src/lib.rs", "//! The words of it.\nuse std::fs;\n")],
            vec![package("belljar-domain", vec![theirs("tokio", Kind::Normal)])],
        );
        let places: Vec<String> = judge(&seeded).into_iter().map(|finding| finding.path).collect();
        let expected = [
            "crates/domain/Cargo.toml",
            "crates/domain/clippy.toml",
            "crates/domain/src/lib.rs",
            "crates/domain/src/lib.rs",
        ];
        assert_eq!(places, expected);
    }

    #[test]
    fn a_clean_tree_passes() {
        let clean = tree(
            &[
                ("crates/store/src/lib.rs", "//! Keeps what happened.\nfn a() {}\n"),
                ("README.md", "Hello.\n"),
            ],
            vec![package("belljar-store", vec![ours("belljar-domain", Kind::Normal)])],
        );
        assert_eq!(judge(&clean), []);
    }
}
