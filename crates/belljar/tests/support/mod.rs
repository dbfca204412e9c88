//! What the tests of the real program share: where the programs are, who runs them, and a model to talk to.
#![expect(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "each test program uses a part of this, and a test that cannot be set up must fail"
)]

pub(crate) mod groups;
pub(crate) mod jar;
pub(crate) mod model;
pub(crate) mod place;

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

/// The program under test.
pub(crate) const BELLJAR: &str = env!("CARGO_BIN_EXE_belljar");

/// The program that tries to get out. It belongs to another package, so cargo builds it for whole-workspace runs
/// only; asking it to is quick when there is nothing to do.
pub(crate) fn probe_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let beside = Path::new(BELLJAR).with_file_name("belljar-probe");
        let profile_dir = beside.parent().unwrap();
        let profile = match profile_dir.file_name().unwrap().to_str().unwrap() {
            "debug" => "dev",
            other => other,
        };
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args(["build", "--quiet", "--package", "belljar-probe", "--profile", profile, "--target-dir"])
            .arg(profile_dir.parent().unwrap())
            .status()
            .expect("cargo builds the probe");
        assert!(built.success(), "the probe did not build: cargo build -p belljar-probe");
        beside
    })
}

/// Fails with the remedy when a program is missing.
pub(crate) fn require(program: &str, package: &str) {
    let found = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .any(|dir| dir.join(program).is_file());
    assert!(found, "{program} is missing: apt-get install {package}");
}

/// The real agent: the one the caller names, else the one `cargo xtask test` keeps in its cache.
pub(crate) fn claude() -> PathBuf {
    if let Some(named) = std::env::var_os("BELLJAR_TEST_CLAUDE") {
        return named.into();
    }
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache =
        cache.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache"))).unwrap_or_default();
    let version = include_str!("../../../../xtask/claude-code.version").trim_ascii();
    let home = cache.join(format!("belljar/claude-code-{version}"));
    let modules = home.join("node_modules/@anthropic-ai");
    let programs = ["x64", "arm64"].map(|cpu| modules.join(format!("claude-code-linux-{cpu}/claude")));
    let found = programs.into_iter().find(|program| program.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "Claude Code {version} is missing: run `npm install --prefix {} @anthropic-ai/claude-code@{version}`, or set BELLJAR_TEST_CLAUDE",
            home.display()
        )
    })
}
