//! The ground attempts stand on: which files are tests, and which settle how tests and linters run.
//!
//! Before gates are tried, the base's version of these is put back. What is shared between code and settings, such as
//! `package.json`, stays; `settings` compares the parts of it that matter.

use serde::{Deserialize, Serialize};

use super::intrusion::shadowed;
use crate::{classify::is_test, lang::Lang};

/// What a file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Source of the product.
    Code,
    /// Tests, and what only tests use.
    Test,
    /// Settles how tests are found and run.
    Runner,
    /// Settles what linters and type checkers say.
    Lint,
    /// Holds settings of runners or linters beside other things.
    Shared,
    /// Which versions are used; made by a program.
    Lock,
    /// Documents and everything else.
    Other,
}

impl Role {
    /// What it is called in reports.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Test => "test",
            Self::Runner => "test runner's settings",
            Self::Lint => "linter's settings",
            Self::Shared => "settings",
            Self::Lock => "lock file",
            Self::Other => "other",
        }
    }
}

const RUNNER: [&str; 20] = [
    "conftest.py",
    "pytest.ini",
    ".pytest.ini",
    "tox.ini",
    "noxfile.py",
    ".coveragerc",
    "nextest.toml",
    "sitecustomize.py",
    "usercustomize.py",
    ".mocharc.json",
    ".mocharc.yml",
    ".mocharc.js",
    ".mocharc.cjs",
    "karma.conf.js",
    "jest.setup.js",
    "jest.setup.ts",
    "vitest.setup.ts",
    "setupTests.ts",
    "setupTests.js",
    "junit-platform.properties",
];

/// Names before `.config.` that belong to runners.
const RUNNER_CONFIGS: [&str; 6] = ["jest", "vitest", "playwright", "cypress", "ava", "wdio"];

const LINT: [&str; 23] = [
    "ruff.toml",
    ".ruff.toml",
    ".flake8",
    ".pylintrc",
    "pylintrc",
    "mypy.ini",
    ".mypy.ini",
    "pyrightconfig.json",
    "clippy.toml",
    ".clippy.toml",
    "rustfmt.toml",
    ".rustfmt.toml",
    "deny.toml",
    "biome.json",
    "biome.jsonc",
    ".prettierrc",
    ".prettierignore",
    "checkstyle.xml",
    "pmd.xml",
    "spotbugs-exclude.xml",
    "staticcheck.conf",
    ".editorconfig",
    ".pre-commit-config.yaml",
];

const SHARED: [&str; 16] = [
    "package.json",
    "pyproject.toml",
    "setup.cfg",
    "Cargo.toml",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "config.toml",
    "Taskfile.yml",
    "deno.json",
    "setup.py",
];

const LOCKS: [&str; 12] = [
    "Cargo.lock",
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "poetry.lock",
    "uv.lock",
    "Pipfile.lock",
    "go.sum",
    "gradle.lockfile",
];

/// What a file is for, by its path from the root of the workspace.
#[must_use]
pub fn role(path: &str) -> Role {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_settled = RUNNER.contains(&name) || is_config_of(name, &RUNNER_CONFIGS) || is_pipeline(path);
    if is_settled || is_vendored_runner(path) {
        return Role::Runner;
    }
    let is_eslint = name.starts_with(".eslintrc") || is_config_of(name, &["eslint", "prettier", "stylelint"]);
    let is_golangci = name.starts_with(".golangci.");
    if LINT.contains(&name) || is_eslint || is_golangci || name == ".eslintignore" {
        return Role::Lint;
    }
    // Cargo's own settings are called config.toml, and so are many other things.
    let is_tsconfig = name.starts_with("tsconfig.") && name.ends_with(".json");
    let is_shared = SHARED.contains(&name) && (name != "config.toml" || path.ends_with(".cargo/config.toml"));
    if is_shared || is_tsconfig || is_config_of(name, &["vite"]) {
        return Role::Shared;
    }
    if LOCKS.contains(&name) {
        return Role::Lock;
    }
    if is_test(path) || is_support(path) {
        return Role::Test;
    }
    if Lang::of(path).is_some() { Role::Code } else { Role::Other }
}

fn is_config_of(name: &str, tools: &[&str]) -> bool {
    let end = [".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".json", ".yml", ".yaml"];
    let Some(stem) = end.iter().find_map(|end| name.strip_suffix(end)) else { return false };
    let Some(tool) = stem.strip_suffix(".config").or_else(|| stem.strip_suffix(".workspace")) else {
        return false;
    };
    tools.contains(&tool)
}

/// What a forge runs.
fn is_pipeline(path: &str) -> bool {
    path.starts_with(".github/workflows/") || matches!(path, ".gitlab-ci.yml" | ".circleci/config.yml")
}

/// A runner that is kept with the code.
fn is_vendored_runner(path: &str) -> bool {
    let below = |dir: &str| path.split_once(dir).map(|(_, rest)| rest);
    let own = [".bin/", "jest", "vitest/", "mocha/", "ava/", "@jest/", "@vitest/", "chai/"];
    below("node_modules/").is_some_and(|rest| own.iter().any(|name| rest.starts_with(name)))
        || below("vendor/github.com/stretchr/testify/").is_some()
}

/// What only tests use, beside them.
fn is_support(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "__snapshots__" | "fixtures" | "__fixtures__" | "golden"))
        || path.ends_with(".snap")
}

/// Whether the base's state of a file is put back before gates are tried. Settings of runners and linters are, also if the
/// base has none of that name, and so are the check's own scripts and new modules in the place of a runner's; tests are,
/// if the base has them: new ones are the attempt's own.
#[must_use]
pub fn is_restored(path: &str, existed: bool, harness: &[String]) -> bool {
    if harness.iter().any(|own| own == path) || (!existed && shadowed(path).is_some()) {
        return true;
    }
    match role(path) {
        Role::Runner | Role::Lint => true,
        Role::Test => existed,
        Role::Code | Role::Shared | Role::Lock | Role::Other => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_follow_names() {
        let cases = [
            ("src/app.py", Role::Code),
            ("tests/test_app.py", Role::Test),
            ("src/app.test.ts", Role::Test),
            ("pkg/app_test.go", Role::Test),
            ("src/test/java/AppTest.java", Role::Test),
            ("tests/conftest.py", Role::Runner),
            ("jest.config.cjs", Role::Runner),
            ("web/vitest.config.ts", Role::Runner),
            (".config/nextest.toml", Role::Runner),
            (".github/workflows/ci.yml", Role::Runner),
            (".eslintrc.json", Role::Lint),
            ("eslint.config.mjs", Role::Lint),
            ("tsconfig.build.json", Role::Shared),
            ("vite.config.ts", Role::Shared),
            (".golangci.yml", Role::Lint),
            ("package.json", Role::Shared),
            (".cargo/config.toml", Role::Shared),
            ("deploy/config.toml", Role::Other),
            ("Cargo.lock", Role::Lock),
            ("src/__snapshots__/a.snap", Role::Test),
            ("README.md", Role::Other),
            ("src/conf.config.ts", Role::Code),
        ];
        for (path, expected) in cases {
            assert_eq!(role(path), expected, "{path}");
        }
    }

    #[test]
    fn settings_go_back_even_if_there_were_none() {
        let own = ["check.sh".to_owned()];
        let is_restored = |path, existed| is_restored(path, existed, &own);
        assert!(is_restored("conftest.py", false) && is_restored("ruff.toml", true));
        assert!(is_restored("tests/test_a.py", true) && !is_restored("tests/test_new.py", false));
        assert!(!is_restored("src/a.py", true) && !is_restored("package.json", true));
        assert!(is_restored("check.sh", true) && !is_restored("deploy.sh", true));
        assert!(is_restored("unittest.py", false) && !is_restored("unittest.py", true));
    }
}
