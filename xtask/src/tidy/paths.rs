//! Gate: the repository stands on its own. Nothing in it points at one person's machine.

use super::finding::{Finding, Gate};

/// Places of a developer's machine. Split, so that this file does not name them either.
const FOREIGN: [&str; 2] = [concat!("/wo", "rk/"), concat!("../sha", "red")];

/// Files that may name them, each with the reason: recorded test data, for example.
const EXCEPTIONS: [(&str, &str); 0] = [];

/// Judges one text file.
pub(crate) fn check(path: &str, text: &str) -> Vec<Finding> {
    check_with(path, text, &EXCEPTIONS)
}

fn check_with(path: &str, text: &str, exceptions: &[(&str, &str)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_exempt = exceptions.iter().any(|(exempt, _)| *exempt == path);
    let is_manifest = path == "Cargo.toml" || path.ends_with("/Cargo.toml");
    for (at, line) in text.lines().enumerate() {
        if let Some(place) = FOREIGN.into_iter().find(|place| !is_exempt && names(line, place)) {
            let message = format!("names `{place}`, a place outside this repository");
            findings.push(Finding::error(Gate::Paths, path, message).at(at + 1));
        }
        if let Some(target) = local_paths(line).find(|target| is_manifest && escapes(path, target)) {
            let message = format!("the path `{target}` leads out of the workspace");
            findings.push(Finding::error(Gate::Paths, path, message).at(at + 1));
        }
    }
    findings
}

/// Says whether a line names a place from the root; a directory of the same name below another is another place.
fn names(line: &str, place: &str) -> bool {
    let is_absolute = place.starts_with('/');
    line.match_indices(place).any(|(at, _)| {
        let before = line.get(..at).and_then(|head| head.chars().next_back());
        !(is_absolute && before.is_some_and(|c| c.is_alphanumeric() || "_-.}])~$*".contains(c)))
    })
}

/// The values of `path = "…"` in one line of a manifest.
fn local_paths(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split('#').next().unwrap_or_default();
    code.match_indices("path").filter_map(move |(at, key)| {
        let is_key = code.get(..at)?.chars().next_back().is_none_or(|c| " {,.\t".contains(c));
        let value = code.get(at + key.len()..)?.trim_start().strip_prefix('=')?.trim_start();
        let quote = value.chars().next().filter(|c| is_key && matches!(c, '"' | '\''))?;
        value.get(1..)?.split(quote).next()
    })
}

/// Says whether a path written in this manifest ends outside the repository.
fn escapes(manifest: &str, target: &str) -> bool {
    if target.starts_with(['/', '~']) {
        return true;
    }
    let mut depth = manifest.matches('/').count();
    for part in target.split('/') {
        depth = match part {
            "" | "." => depth,
            ".." if depth == 0 => return true,
            ".." => depth - 1,
            _ => depth + 1,
        };
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_one_machine_are_rejected() {
        let [home, beside] = FOREIGN;
        for seed in [
            format!("see {home}notes"),
            format!("\"{home}a\""),
            format!("file://{home}a"),
            format!("{home}a"),
            format!("cat {beside}/a.md"),
        ] {
            assert_eq!(check("docs/a.md", &seed).len(), 1, "{seed}");
        }
    }

    #[test]
    fn folders_of_the_same_name_are_accepted() {
        let [home, _] = FOREIGN;
        for clean in [
            format!("overlay{home}a"),
            format!("{{upper}}{home}a"),
            format!("$HOME{home}a"),
            "workspace /workspace/a /root/.ssh".to_owned(),
        ] {
            assert!(check("docs/a.md", &clean).is_empty(), "{clean}");
        }
        let seed = format!("{home}a");
        assert!(check_with("fixtures/a.json", &seed, &[("fixtures/a.json", "recorded")]).is_empty());
    }

    #[test]
    fn dependencies_outside_the_workspace_are_rejected() {
        for seed in [
            "a = { path = \"/opt/a\" }",
            "a = { path = \"../../../a\" }",
            "a = { version = \"1\", path='../../../a' }",
            "path = \"x/../../../../a\"",
            "a.path = \"~/a\"",
        ] {
            assert_eq!(check("crates/b/Cargo.toml", seed).len(), 1, "{seed}");
        }
        assert_eq!(check("Cargo.toml", "a = { path = \"../a\" }").len(), 1);
    }

    #[test]
    fn dependencies_inside_the_workspace_are_accepted() {
        assert!(check("Cargo.toml", "belljar-domain = { path = \"crates/domain\" }").is_empty());
        assert!(check("crates/jail/init/Cargo.toml", "a = { path = \"../../../xtask\" }").is_empty());
        assert!(check("crates/b/Cargo.toml", "# path = \"/opt/a\"\nmypath = \"/opt/a\"").is_empty());
        assert!(check("crates/b/config.toml", "path = \"/opt/a\"").is_empty(), "not a manifest");
    }
}
