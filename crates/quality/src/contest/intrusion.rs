//! Code that reaches into whoever tests it: modules in the place of the runner's own, and lines that change the runner,
//! look whether they are being tested, or end the program before tests are counted.
//!
//! Owns: names and lines. Refuses: to understand a program; what hides better than this is for the results by test, and
//! for people, to see.

use super::{
    diff::Touched,
    ground::{Role, role},
    tampering::{Trace, TraceKind},
};

/// What Python's runners import by bare names. A file of that name where they are started is imported instead.
const IMPORTED: [&str; 48] = [
    "unittest",
    "pytest",
    "_pytest",
    "pluggy",
    "iniconfig",
    "doctest",
    "nose",
    "nose2",
    "coverage",
    "xdist",
    "tox",
    "nox",
    "argparse",
    "ast",
    "asyncio",
    "atexit",
    "bdb",
    "collections",
    "concurrent",
    "contextlib",
    "copy",
    "dataclasses",
    "difflib",
    "dis",
    "enum",
    "fnmatch",
    "functools",
    "getopt",
    "gettext",
    "glob",
    "importlib",
    "inspect",
    "json",
    "linecache",
    "logging",
    "pathlib",
    "pprint",
    "re",
    "runpy",
    "shutil",
    "signal",
    "subprocess",
    "tempfile",
    "textwrap",
    "tokenize",
    "traceback",
    "typing",
    "warnings",
];

/// Where Python looks first, however it is started.
const SOUGHT: [&str; 5] = ["", "src/", "lib/", "tests/", "test/"];

/// The module of Python's, or of a runner's, whose place a new file would take.
pub(super) fn shadowed(path: &str) -> Option<&'static str> {
    let at = SOUGHT.iter().rev().find_map(|dir| path.strip_prefix(dir))?;
    let module = at.split('/').next().unwrap_or_default();
    let is_package = at.contains('/');
    let name = if is_package { Some(module) } else { compiled(module) }?;
    IMPORTED.iter().copied().find(|own| *own == name)
}

fn compiled(file: &str) -> Option<&str> {
    let stem = file.split('.').next()?;
    [".py", ".pyc", ".so", ".pyd"].iter().any(|end| file.ends_with(end)).then_some(stem)
}

/// What new lines of a file do to whoever tests it.
pub(super) fn intrusions(file: &Touched<'_>) -> Vec<Trace> {
    if file.base.is_none()
        && let Some(module) = shadowed(file.path)
    {
        let what = format!("the file takes the place of the module `{module}`");
        return vec![Trace::of(TraceKind::Runner, file.path, what)];
    }
    let is_python = [".py", ".pyi", ".pyw"].iter().any(|end| file.path.ends_with(end));
    let is_script = [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs"].iter().any(|end| file.path.ends_with(end));
    let (Some(after), true) = (file.after, is_python || is_script) else { return Vec::new() };
    let is_code = role(file.path) == Role::Code;
    let base: std::collections::HashSet<&str> = file.base.unwrap_or_default().lines().collect();
    let new = after.lines().zip(1..).filter(|(line, _)| !base.contains(line));
    new.filter_map(|(line, number)| {
        let found = if is_python { python(line, is_code) } else { script(line, is_code) };
        found.map(|(kind, what)| Trace::of(kind, file.path, what).at(number))
    })
    .collect()
}

fn python(line: &str, is_code: bool) -> Option<(TraceKind, &'static str)> {
    let said = line.split('#').next().unwrap_or_default();
    let bare = said.trim_start();
    if changes_runner(bare) {
        return Some((TraceKind::Runner, "it changes the runner while it runs"));
    }
    if !is_code {
        return None;
    }
    let squeezed: String = said.chars().filter(|c| !c.is_whitespace()).collect();
    let asks = ["PYTEST_CURRENT_TEST", "\"unittest\"insys.modules", "'unittest'insys.modules"];
    if asks.iter().any(|word| squeezed.contains(word))
        || ["\"pytest\"insys.modules", "'pytest'insys.modules"].iter().any(|word| squeezed.contains(word))
    {
        return Some((TraceKind::Runner, "the code looks whether it is being tested"));
    }
    let at_import = said.starts_with(|c: char| !c.is_whitespace())
        && ["sys.exit(", "exit(", "quit(", "raise SystemExit"].iter().any(|word| bare.starts_with(word));
    (at_import || bare.contains("os._exit(")).then_some((TraceKind::Exit, "the code itself does"))
}

/// `unittest.TestCase.assertEqual = …` and its kin; how much of a difference is shown may be set.
fn changes_runner(line: &str) -> bool {
    const OWNERS: [&str; 9] = [
        "unittest.",
        "pytest.",
        "_pytest.",
        "TestCase.",
        "TestResult.",
        "TextTestRunner.",
        "builtins.",
        "__builtins__.",
        "sys.modules[",
    ];
    const SETTINGS: [&str; 3] = ["_MAX_LENGTH", "maxDiff", "longMessage"];
    let set = line.strip_prefix("setattr(").map(str::trim_start);
    if set.is_some_and(|rest| OWNERS.iter().any(|owner| rest.starts_with(owner.trim_end_matches(['.', '[']))))
    {
        return true;
    }
    let Some(owner) = OWNERS.iter().find(|owner| line.starts_with(**owner)) else { return false };
    let Some((place, value)) = line.split_once('=') else { return false };
    if value.starts_with('=') || place.ends_with(['!', '<', '>']) || place.contains('(') {
        return false;
    }
    match *owner {
        "sys.modules[" => ["unittest", "pytest"].iter().any(|name| place.contains(name)),
        _ => !SETTINGS.iter().any(|setting| place.contains(setting)),
    }
}

fn script(line: &str, is_code: bool) -> Option<(TraceKind, &'static str)> {
    let bare = line.trim_start();
    if bare.starts_with("//") || bare.starts_with('*') {
        return None;
    }
    let squeezed: String = bare.chars().filter(|c| !c.is_whitespace()).collect();
    let replaced =
        ["globalThis.expect=", "global.expect=", "globalThis.it=", "global.it=", "globalThis.test="];
    if replaced.iter().any(|word| squeezed.starts_with(word)) {
        return Some((TraceKind::Runner, "it changes the runner while it runs"));
    }
    let asks = ["JEST_WORKER_ID", "process.env.VITEST", "VITEST_WORKER_ID", "import.meta.vitest"];
    (is_code && asks.iter().any(|word| squeezed.contains(word)))
        .then_some((TraceKind::Runner, "the code looks whether it is being tested"))
}

/// Files that run by themselves where somebody builds, opens or enters the project: told, and held against nobody.
pub(super) fn runs_by_itself(path: &str) -> Option<&'static str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name {
        "build.rs" => Some("cargo runs it when it builds"),
        "setup.py" => Some("pip runs it when it installs"),
        ".envrc" => Some("direnv runs it for whoever enters"),
        "tasks.json" | "settings.json" | "launch.json" if path.starts_with(".vscode/") => {
            Some("an editor may act on it")
        }
        ".mcp.json" => Some("agents start what it names"),
        _ if path.starts_with(".claude/") || path.starts_with(".cursor/") || path.starts_with(".codex/") => {
            Some("agents act on it")
        }
        _ if path.starts_with(".husky/") || path.starts_with(".githooks/") => Some("git may run it"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_shadowed_where_they_are_looked_for() {
        assert_eq!(shadowed("unittest.py"), Some("unittest"));
        assert_eq!(shadowed("_pytest/__init__.py"), Some("_pytest"));
        assert_eq!(shadowed("tests/argparse.py"), Some("argparse"));
        assert_eq!(shadowed("src/logging/__init__.py"), Some("logging"));
        for honest in ["app/logging.py", "src/app/json.py", "docs/copy.md", "signal.ts", "tests/unit/re.py"] {
            assert_eq!(shadowed(honest), None, "{honest}");
        }
    }

    #[test]
    fn lines_that_change_the_runner_are_told_from_lines_that_use_it() {
        for line in [
            "unittest.TestCase.assertEqual = lambda *a: None",
            "TestCase.run = quiet",
            "setattr(unittest.TestCase, 'assertEqual', f)",
            "sys.modules['pytest'] = fake",
        ] {
            assert!(changes_runner(line), "{line}");
        }
        for line in [
            "unittest.main()",
            "pytest.raises(ValueError, match='=')",
            "assert unittest.mock == 1",
            "unittest.util._MAX_LENGTH = 2000",
            "sys.modules['requests'] = fake",
            "np = pytest.importorskip('numpy')",
            "pytest.approx(1) == total",
        ] {
            assert!(!changes_runner(line), "{line}");
        }
    }
}
