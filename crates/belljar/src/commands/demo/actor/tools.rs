//! What an agent can do: run a line, read, look for, write and change files. Really done, where it runs.

use std::{
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The most of an output an agent reads.
const READS: usize = 12 << 10;

/// One use of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tool {
    Run(String),
    Read(String),
    Search { pattern: String, path: String },
    Write { file: String, text: String },
    Edit { file: String, old: String, new: String },
}

/// What came of it.
#[derive(Debug)]
pub(super) struct Worked {
    /// What the tool gave back.
    pub(super) response: Value,
    /// Why it failed, and with which code.
    pub(super) failed: Option<(String, i32)>,
    pub(super) took: Duration,
    size: usize,
}

impl Worked {
    pub(super) const fn ok(response: Value, size: usize, took: Duration) -> Self {
        Self { response, failed: None, took, size }
    }

    pub(super) fn failed(why: &str, took: Duration) -> Self {
        Self { response: Value::Null, failed: Some((why.to_owned(), 1)), took, size: why.len() }
    }

    pub(super) const fn size(&self) -> usize {
        self.size
    }
}

impl Tool {
    /// In one line.
    pub(super) fn described(&self) -> String {
        match self {
            Self::Run(line) => line.clone(),
            Self::Read(file) => format!("read {file}"),
            Self::Search { pattern, path } => format!("look for `{pattern}` in {path}"),
            Self::Write { file, .. } => format!("write {file}"),
            Self::Edit { file, .. } => format!("edit {file}"),
        }
    }

    /// The same with what a person put in the place of a command.
    pub(super) fn with(&self, input: &Value) -> Option<Self> {
        let line = input.get("command").and_then(Value::as_str)?;
        matches!(self, Self::Run(_)).then(|| Self::Run(line.to_owned()))
    }

    /// Does it.
    pub(super) fn work(&self, cwd: &Path) -> Worked {
        let begun = Instant::now();
        let done = match self {
            Self::Run(line) => return run(line, cwd),
            Self::Search { pattern, path } => {
                return run(&format!("grep -rn -e '{}' {path}", pattern.replace('\'', "")), cwd);
            }
            Self::Read(file) => fs::read_to_string(cwd.join(file)).map(|text| {
                let lines = text.lines().count();
                let about = json!({ "filePath": cwd.join(file), "content": text, "numLines": lines });
                (json!({ "type": "text", "file": about }), text.len())
            }),
            Self::Write { file, text } => {
                let path = cwd.join(file);
                let made = path.parent().map_or(Ok(()), fs::create_dir_all);
                made.and_then(|()| fs::write(&path, text))
                    .map(|()| (json!({ "type": "create", "filePath": path }), text.len()))
            }
            Self::Edit { file, old, new } => edit(&cwd.join(file), old, new),
        };
        match done {
            Ok((response, size)) => Worked::ok(response, size, begun.elapsed()),
            Err(error) => Worked::failed(&format!("{}: {error}", self.described()), begun.elapsed()),
        }
    }
}

fn edit(path: &Path, old: &str, new: &str) -> std::io::Result<(Value, usize)> {
    let text = fs::read_to_string(path)?;
    if !text.contains(old) {
        return Err(std::io::Error::other("the text to be changed is not there"));
    }
    fs::write(path, text.replacen(old, new, 1))?;
    Ok((json!({ "filePath": path, "oldString": old, "newString": new }), new.len()))
}

fn run(line: &str, cwd: &Path) -> Worked {
    let begun = Instant::now();
    // Bash for its `time`, where there is one.
    let shell = if Path::new("/bin/bash").exists() { "/bin/bash" } else { "/bin/sh" };
    let ran = Command::new(shell).args(["-c", line]).current_dir(cwd).stdin(Stdio::null()).output();
    let took = begun.elapsed();
    let output = match ran {
        Ok(output) => output,
        Err(error) => return Worked::failed(&error.to_string(), took),
    };
    let (out, err) = (head(&output.stdout), head(&output.stderr));
    let size = out.len() + err.len();
    let code = output.status.code().unwrap_or(137);
    let failed = (code != 0).then(|| (format!("Exit code {code}\n{out}{err}").trim_end().to_owned(), code));
    Worked { response: json!({ "stdout": out, "stderr": err, "interrupted": false }), failed, took, size }
}

fn head(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().take(READS).collect()
}
