//! Settings of runners and linters inside of files that hold other things, too.
//!
//! A dependency more in `package.json` is a change like any other; another `scripts.test` is not. Each protected part of a
//! file is taken out as text, and the texts of two versions are compared.

use std::collections::BTreeMap;

use super::recipes;

/// Whose settings they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whose {
    Runner,
    Linter,
}

pub(super) type Parts = BTreeMap<String, (Whose, String)>;

/// What differs: the name of each part that was changed, removed, or came and has an effect by itself.
pub(super) fn changed(path: &str, base: Option<&str>, after: Option<&str>) -> Vec<(Whose, String)> {
    let (before, now) = (parts(path, base.unwrap_or_default()), parts(path, after.unwrap_or_default()));
    let names: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let differs =
        |name: &&&String| before.get(**name).map(|(_, text)| text) != now.get(**name).map(|(_, text)| text);
    // A project that is new has settings that are new.
    let is_new = base.is_none();
    let found = names.iter().filter(differs).filter(|_| !is_new);
    found
        .filter_map(|name| {
            let (whose, _) = before.get(*name).or_else(|| now.get(*name))?;
            let verb = match (before.contains_key(*name), now.contains_key(*name)) {
                (true, true) => "changed",
                (true, false) => "removed",
                _ => "added",
            };
            Some((*whose, format!("{verb} `{name}`")))
        })
        .collect()
}

fn parts(path: &str, text: &str) -> Parts {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name {
        "package.json" | "deno.json" => package_json(text),
        "tsconfig.json" => tsconfig(text),
        _ if name.starts_with("tsconfig.") => tsconfig(text),
        "pyproject.toml" | "Cargo.toml" | "config.toml" => toml_tables(text),
        "setup.cfg" => ini_sections(text),
        "Makefile" | "makefile" | "GNUmakefile" | "justfile" | "Justfile" => recipes::makefile(text),
        "Taskfile.yml" => recipes::tasks(text),
        "setup.py" => setup_py(text),
        "pom.xml" | "build.gradle" | "build.gradle.kts" => java_build(text),
        _ if name.starts_with("vite.config.") => block_of(text, "test"),
        _ => Parts::new(),
    }
}

fn package_json(text: &str) -> Parts {
    let mut parts = Parts::new();
    let Ok(serde_json::Value::Object(fields)) = serde_json::from_str(text) else { return parts };
    for name in ["jest", "vitest", "mocha", "ava", "nyc", "c8", "tap"] {
        if let Some(value) = fields.get(name) {
            parts.insert(name.to_owned(), (Whose::Runner, value.to_string()));
        }
    }
    for name in ["eslintConfig", "prettier", "stylelint", "eslintIgnore"] {
        if let Some(value) = fields.get(name) {
            parts.insert(name.to_owned(), (Whose::Linter, value.to_string()));
        }
    }
    let scripts = fields.get("scripts").or_else(|| fields.get("tasks"));
    for (name, value) in scripts.and_then(|scripts| scripts.as_object()).into_iter().flatten() {
        if let Some(whose) = script(name) {
            parts.insert(format!("scripts.{name}"), (whose, value.to_string()));
        }
    }
    parts
}

/// Scripts that run tests or linters, or run by themselves before and after them. Another `test:unit` beside them changes
/// nothing that was there, but what is called by `test` may be such a one.
pub(super) fn script(name: &str) -> Option<Whose> {
    let bare = name.trim_start_matches("pre").trim_start_matches("post");
    let first = bare.split([':', '-', '_']).next().unwrap_or_default();
    match first {
        "test" | "tests" | "check" | "coverage" | "e2e" | "unit" | "spec" | "ci" => Some(Whose::Runner),
        "install" | "prepare" if name != bare || name == "prepare" => Some(Whose::Runner),
        "lint" | "typecheck" | "format" | "fmt" => Some(Whose::Linter),
        _ => None,
    }
}

fn tsconfig(text: &str) -> Parts {
    let mut parts = Parts::new();
    // Comments are allowed in these files; one that cannot be read as it is, is compared by lines.
    let Ok(value) = serde_json::from_str::<serde_json::Value>(text) else {
        let strict =
            text.lines().map(str::trim).filter(|line| line.contains("strict") || line.contains("\"no"));
        let said: Vec<&str> = strict.collect();
        if !said.is_empty() {
            parts.insert("strictness".to_owned(), (Whose::Linter, said.join("\n")));
        }
        return parts;
    };
    let options = value.get("compilerOptions").and_then(|options| options.as_object());
    for (name, value) in options.into_iter().flatten() {
        if name.starts_with("strict")
            || name.starts_with("no")
            || matches!(name.as_str(), "skipLibCheck" | "checkJs")
        {
            parts.insert(format!("compilerOptions.{name}"), (Whose::Linter, value.to_string()));
        }
    }
    parts
}

/// Tables by their names, without a need to understand what is in them.
fn toml_tables(text: &str) -> Parts {
    let Ok(table) = text.parse::<toml::Table>() else { return Parts::new() };
    let mut parts = Parts::new();
    let mut keep = |whose: Whose, path: &[&str]| {
        let first = path.first().and_then(|first| table.get(*first));
        let found = path.iter().skip(1).try_fold(first, |value, key| value.map(|value| value.get(*key)));
        if let Some(value) = found.flatten() {
            parts.insert(path.join("."), (whose, value.to_string()));
        }
    };
    for tool in ["pytest", "tox", "coverage", "nox", "hatch", "pdm", "poe", "taskipy"] {
        keep(Whose::Runner, &["tool", tool]);
    }
    for tool in ["ruff", "mypy", "pylint", "flake8", "black", "isort", "pyright", "basedpyright", "ty"] {
        keep(Whose::Linter, &["tool", tool]);
    }
    for name in ["test", "bench"] {
        keep(Whose::Runner, &[name]);
        keep(Whose::Runner, &["profile", name]);
    }
    for path in [["lib", "test"], ["lib", "doctest"], ["package", "autotests"], ["build", "rustflags"]] {
        keep(Whose::Runner, &path);
    }
    for name in ["alias", "target", "env"] {
        keep(Whose::Runner, &[name]);
    }
    keep(Whose::Linter, &["lints"]);
    keep(Whose::Linter, &["workspace", "lints"]);
    parts
}

fn ini_sections(text: &str) -> Parts {
    let mut parts = Parts::new();
    let mut section: Option<(String, Whose)> = None;
    for line in text.lines() {
        let line = line.trim_end();
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let first = name.split([':', '-', '.']).next().unwrap_or_default();
            let whose = match first {
                "tool" | "pytest" | "tox" | "testenv" | "coverage" | "aliases" => Some(Whose::Runner),
                "flake8" | "mypy" | "pylint" | "isort" | "pycodestyle" => Some(Whose::Linter),
                _ => None,
            };
            section = whose.map(|whose| (name.to_owned(), whose));
        } else if let Some((name, whose)) = section.as_ref().filter(|_| !line.trim().is_empty()) {
            let part = parts.entry(name.clone()).or_insert((*whose, String::new()));
            part.1.push_str(line);
            part.1.push('\n');
        }
    }
    parts
}

/// What `setup.py` says about tests.
fn setup_py(text: &str) -> Parts {
    let telling =
        ["test_suite", "test_loader", "test_runner", "cmdclass", "TestCommand", "pytest", "unittest"];
    let lines = text.lines().map(str::trim).filter(|line| telling.iter().any(|word| line.contains(word)));
    let said: Vec<&str> = lines.collect();
    let mut parts = Parts::new();
    if !said.is_empty() {
        parts.insert("how tests are run".to_owned(), (Whose::Runner, said.join("\n")));
    }
    parts
}

/// What a build says about tests: whether they are skipped, and how they are run.
fn java_build(text: &str) -> Parts {
    let telling =
        ["skipTests", "maven.test.skip", "testFailureIgnore", "ignoreFailures", "excludeTestsMatching"];
    let lines = text.lines().map(str::trim).filter(|line| telling.iter().any(|word| line.contains(word)));
    let said: Vec<&str> = lines.collect();
    let mut parts = Parts::new();
    if !said.is_empty() {
        parts.insert("how tests are run".to_owned(), (Whose::Runner, said.join("\n")));
    }
    if let Some(at) = text.find("surefire").and_then(|at| text.get(at..)) {
        let block = at.split("</plugin>").next().unwrap_or_default();
        parts.insert("maven-surefire-plugin".to_owned(), (Whose::Runner, block.split_whitespace().collect()));
    }
    parts
}

/// `test: { … }` in a program that exports settings.
fn block_of(text: &str, name: &str) -> Parts {
    let mut parts = Parts::new();
    let starts = [format!("{name}: {{"), format!("{name}:{{"), format!("{name} : {{")];
    let Some(from) = starts.iter().find_map(|start| text.find(start.as_str())) else { return parts };
    let rest = text.get(from..).unwrap_or_default();
    let mut depth = 0_usize;
    let mut end = rest.len();
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    end = at + 1;
                    break;
                }
            }
            _ => {}
        }
    }
    let block: String = rest.get(..end).unwrap_or_default().split_whitespace().collect();
    parts.insert(name.to_owned(), (Whose::Runner, block));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, base: &str, after: &str) -> Vec<String> {
        changed(path, Some(base), Some(after)).into_iter().map(|(_, what)| what).collect()
    }

    #[test]
    fn a_dependency_is_no_setting_and_a_script_is() {
        let base = r#"{"scripts": {"test": "jest", "build": "tsc"}}"#;
        let more = r#"{"scripts": {"test": "jest", "build": "tsc -p ."}, "dependencies": {"a": "1"}}"#;
        assert!(found("package.json", base, more).is_empty());
        let cheat = r#"{"scripts": {"test": "jest || true", "build": "tsc"}}"#;
        assert_eq!(found("package.json", base, cheat), ["changed `scripts.test`"]);
        let before = r#"{"scripts": {"test": "jest", "pretest": "rm -r tests", "build": "tsc"}}"#;
        assert_eq!(found("web/package.json", base, before), ["added `scripts.pretest`"]);
    }

    #[test]
    fn settings_are_found_in_every_sort_of_file() {
        let pyproject = "[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-q'\n";
        let edited = "[project]\nname = 'b'\n[tool.pytest.ini_options]\naddopts = '-q --deselect a'\n";
        assert_eq!(found("pyproject.toml", pyproject, edited), ["changed `tool.pytest`"]);
        let cargo = "[package]\nname = 'a'\n[lib]\ntest = true\n[dependencies]\n";
        let no_tests = "[package]\nname = 'a'\n[lib]\ntest = false\n[dependencies]\nserde = '1'\n";
        assert_eq!(found("Cargo.toml", cargo, no_tests), ["changed `lib.test`"]);
        let make = "build:\n\tcc a.c\ntest: build\n\t./run\n";
        assert_eq!(found("Makefile", make, "build:\n\tcc b.c\ntest: build\n\ttrue\n"), ["changed `test`"]);
        assert_eq!(
            found("setup.cfg", "[tool:pytest]\na = 1\n", "[metadata]\nb = 1\n"),
            ["removed `tool:pytest`"]
        );
        let make = "PY = python3\nRUN = $(PY) -m pytest\nCC = cc\ntest:\n\t$(RUN)\n";
        assert_eq!(
            found("Makefile", make, &make.replace("PY = python3", "PY = true")),
            ["changed `variable PY`"]
        );
        assert!(found("Makefile", make, &make.replace("CC = cc", "CC = clang")).is_empty());
        assert_eq!(found("Makefile", make, &format!("{make}include more.mk\n")), ["added `include`"]);
        let tasks = "version: '3'\ntasks:\n  test:\n    cmds:\n      - pytest\n  run:\n    cmds: [app]\n";
        assert_eq!(found("Taskfile.yml", tasks, &tasks.replace("pytest", "true")), ["changed `test`"]);
        assert!(found("Taskfile.yml", tasks, &tasks.replace("[app]", "[app2]")).is_empty());
        let setup = "setup(name='a', test_suite='tests')\n";
        assert_eq!(
            found("setup.py", setup, &setup.replace("'tests'", "'none'")),
            ["changed `how tests are run`"]
        );
        let vite = "export default { plugins: [], test: { globals: true } }";
        let other = "export default { plugins: [vue()], test: { globals: true, exclude: ['a'] } }";
        assert_eq!(found("vite.config.ts", vite, other), ["changed `test`"]);
        let pom = "<a><skipTests>false</skipTests></a>";
        assert_eq!(found("pom.xml", pom, "<a><skipTests>true</skipTests></a>").len(), 1);
    }
}
