//! The workspace's crates as `cargo metadata` tells of them.

use anyhow::Context as _;
use serde::Deserialize;

/// What a dependency is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Normal,
    Build,
    Dev,
}

/// One line of a crate's dependencies.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Cargo leaves the kind out for ordinary dependencies.
    kind: Option<Kind>,
    /// Only local dependencies have a path.
    path: Option<String>,
}

impl Dependency {
    /// What it is for.
    pub(crate) fn kind(&self) -> Kind {
        self.kind.unwrap_or(Kind::Normal)
    }

    /// Says whether it is a crate of this workspace.
    pub(crate) fn is_ours(&self) -> bool {
        self.path.is_some()
    }
}

/// One crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// The manifest, relative to the repository's root.
    #[serde(rename = "manifest_path")]
    pub(crate) manifest: String,
    pub(crate) dependencies: Vec<Dependency>,
}

impl Package {
    /// The crate's folder with a closing slash, relative to the repository's root.
    pub(crate) fn folder(&self) -> &str {
        self.manifest.strip_suffix("Cargo.toml").unwrap_or(&self.manifest)
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: String,
}

/// Reads what `cargo metadata --no-deps --format-version 1` wrote.
pub(crate) fn parse(json: &str) -> anyhow::Result<Vec<Package>> {
    let Metadata { mut packages, workspace_root } =
        serde_json::from_str(json).context("cargo metadata wrote something else than expected")?;
    for package in &mut packages {
        let inside = package.manifest.strip_prefix(&workspace_root).map(|path| path.trim_start_matches('/'));
        package.manifest = inside.unwrap_or(&package.manifest).to_owned();
    }
    Ok(packages)
}

/// The name the tables use: without the prefix that every crate but the binary shares.
pub(crate) fn short(name: &str) -> &str {
    name.strip_prefix("belljar-").unwrap_or(name)
}

#[cfg(test)]
pub(crate) mod samples {
    //! Crates for the tests of the gates.

    use super::{Dependency, Kind, Package};

    /// A crate in its usual folder.
    pub(crate) fn package(name: &str, dependencies: Vec<Dependency>) -> Package {
        let manifest = format!("crates/{}/Cargo.toml", super::short(name));
        Package { name: name.to_owned(), manifest, dependencies }
    }

    /// A dependency on a crate of the workspace.
    pub(crate) fn ours(name: &str, kind: Kind) -> Dependency {
        Dependency { name: name.to_owned(), kind: Some(kind), path: Some("/somewhere".to_owned()) }
    }

    /// A dependency on a published crate.
    pub(crate) fn theirs(name: &str, kind: Kind) -> Dependency {
        Dependency { name: name.to_owned(), kind: Some(kind), path: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_read() {
        let json = r#"{"workspace_root": "/clone", "version": 1, "packages": [{
            "name": "belljar-ports", "manifest_path": "/clone/crates/ports/Cargo.toml", "dependencies": [
                {"name": "belljar-domain", "kind": null, "path": "/somewhere", "req": "*"},
                {"name": "tempfile", "kind": "dev", "req": "^3"}]}]}"#;
        let packages = parse(json).unwrap();
        let expected = Package {
            name: "belljar-ports".to_owned(),
            manifest: "crates/ports/Cargo.toml".to_owned(),
            dependencies: vec![
                Dependency { kind: None, ..samples::ours("belljar-domain", Kind::Normal) },
                samples::theirs("tempfile", Kind::Dev),
            ],
        };
        assert_eq!(packages, [expected]);
        assert_eq!(packages[0].folder(), "crates/ports/");
        assert_eq!(packages[0].dependencies[0].kind(), Kind::Normal);
    }

    #[test]
    fn anything_else_is_an_error() {
        assert!(parse("{}").is_err());
    }
}
