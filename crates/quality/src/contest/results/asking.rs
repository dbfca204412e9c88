//! How to have a runner write a report: by its environment, or by a flag where there is no other way.

/// What is added to a command so that its results can be read by test.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asking {
    /// The command, with flags where the runner takes no other hint.
    pub command: String,
    /// Variables to set.
    pub env: Vec<(String, String)>,
    /// Reports to read afterwards, if they are there: patterns with `*`, absolute or from the workspace.
    pub files: Vec<String>,
}

/// What to add to a command, with a directory for reports that is writable where it runs.
#[must_use]
pub fn asking(command: &str, reports: &str) -> Asking {
    let reports = reports.trim_end_matches('/');
    let mut asking = Asking { command: command.trim().to_owned(), ..Asking::default() };
    // The runner reads these wherever in a script it is started.
    let junit = format!("{reports}/pytest.xml");
    asking.env.push(("PYTEST_ADDOPTS".to_owned(), format!("-rA --junitxml={junit}")));
    asking.files.push(junit);
    asking.env.push(("GOFLAGS".to_owned(), if is_simple(command) { "-json" } else { "-v" }.to_owned()));
    asking.env.push(("CARGO_TERM_COLOR".to_owned(), "never".to_owned()));
    asking.env.push(("NO_COLOR".to_owned(), "1".to_owned()));
    asking.env.push(("CI".to_owned(), "1".to_owned()));
    asking.env.push(("JEST_JUNIT_OUTPUT_FILE".to_owned(), format!("{reports}/jest-junit.xml")));
    asking.files.push(format!("{reports}/jest-junit.xml"));
    // Where Java's builds leave theirs.
    for place in ["target/surefire-reports/TEST-*.xml", "build/test-results/*/TEST-*.xml"] {
        asking.files.push(place.to_owned());
        asking.files.push(format!("*/{place}"));
    }
    if is_simple(command) {
        flags(&mut asking, reports);
    }
    asking.command = verbose_unittest(&asking.command);
    asking
}

/// Whether a command is one program and its arguments, so that an argument can be added at its end.
fn is_simple(command: &str) -> bool {
    !command.contains(['|', ';', '&', '>', '<', '`', '$', '(', '\n', '#'])
}

fn flags(asking: &mut Asking, reports: &str) {
    let words: Vec<&str> = asking.command.split_whitespace().collect();
    let started = match words.as_slice() {
        ["npx" | "pnpm" | "yarn" | "bunx", "exec" | "dlx", rest @ ..] => rest,
        ["npx" | "pnpm" | "yarn" | "bunx", rest @ ..] => rest,
        all => all,
    };
    let program = started.first().map(|first| first.rsplit('/').next().unwrap_or(first));
    match program {
        Some("jest") => {
            let file = format!("{reports}/jest.json");
            asking.command.push_str(&format!(" --json --outputFile={file}"));
            asking.files.push(file);
        }
        Some("vitest") => {
            let file = format!("{reports}/vitest.json");
            asking.command.push_str(&format!(" --reporter=default --reporter=json --outputFile.json={file}"));
            asking.files.push(file);
        }
        _ => {}
    }
}

/// Python's unittest names its tests only if it is asked to, right behind its own name.
fn verbose_unittest(command: &str) -> String {
    const MODULE: &str = "-m unittest";
    let mut asked = String::with_capacity(command.len() + 8);
    let mut rest = command;
    while let Some(at) = rest.find(MODULE) {
        let (before, after) = rest.split_at(at + MODULE.len());
        asked.push_str(before);
        rest = after;
        if let Some(found) = rest.strip_prefix(" discover") {
            asked.push_str(" discover");
            rest = found;
        }
        if rest.is_empty() || rest.starts_with([' ', ';', '&', '|', '>', ')', '\n', '\'', '"']) {
            asked.push_str(" -v");
        }
    }
    asked + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_are_asked_in_their_own_way() {
        let pytest = asking("python -m pytest -q", "/tmp/r/");
        assert_eq!(pytest.command, "python -m pytest -q");
        assert!(pytest.env.contains(&("PYTEST_ADDOPTS".into(), "-rA --junitxml=/tmp/r/pytest.xml".into())));
        assert_eq!(asking("npx vitest run", "/r").files.last().unwrap(), "/r/vitest.json");
        assert!(asking("npx jest", "/r").command.ends_with("--json --outputFile=/r/jest.json"));
        assert_eq!(asking("python3 -m unittest", "/r").command, "python3 -m unittest -v");
        let both = asking("cd x && python3 -m unittest discover -s t && ./more.sh", "/r").command;
        assert_eq!(both, "cd x && python3 -m unittest discover -v -s t && ./more.sh");
        assert_eq!(asking("python -m unittest; ls", "/r").command, "python -m unittest -v; ls");
        assert_eq!(asking("python -m unittest_more", "/r").command, "python -m unittest_more");
        assert_eq!(asking("jest | tee log", "/r").command, "jest | tee log");
        assert!(asking("go test ./... | tee log", "/r").env.contains(&("GOFLAGS".into(), "-v".into())));
    }
}
