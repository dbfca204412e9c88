//! The check's own scripts: what a command of the trial runs that lies in the workspace, and what that runs in turn.
//!
//! Whoever could rewrite these would be their own judge, so the base's are used. Owns: which they are, found once, before
//! anybody has worked. Refuses: to take the program that is worked on for one of them: a script is named for judging, or it
//! is a shell's, its exit code is what counts, and the task does not speak of it.

use std::{
    collections::BTreeSet,
    fs,
    path::{Component, Path},
};

use belljar_guardian::shell::{
    ast::{Command, Kind, Part, Redirect, Script, Target, Word},
    parse,
};

use super::order::Trial;

/// The most scripts, and the largest that is read.
const MOST: usize = 64;
const LARGEST: u64 = 256 * 1024;

/// Programs that run what they are given.
const SHELLS: [&str; 5] = ["sh", "bash", "dash", "zsh", "ksh"];
const INTERPRETERS: [&str; 8] = ["node", "deno", "bun", "ruby", "perl", "php", "tsx", "ts-node"];
/// Programs that run what comes after them.
const WRAPPERS: [&str; 14] = [
    "env", "exec", "time", "nice", "nohup", "timeout", "command", "sudo", "xvfb-run", "stdbuf", "setsid",
    "uv", "poetry", "run",
];
/// Programs that hand on what they read; of all others what is piped to them is judged by them.
const CONDUITS: [&str; 2] = ["tee", "cat"];
/// What scripts that judge are called.
const NAMED: [&str; 12] =
    ["test", "check", "verif", "valid", "spec", "harness", "lint", "ci", "accept", "suite", "e2e", "smoke"];

/// A file that a script may run.
struct Program {
    path: String,
    /// A shell is to run it.
    by_shell: bool,
    /// What it prints is looked at, so it is what is judged.
    is_read: bool,
}

/// Finds them.
pub(super) fn harness(workspace: &Path, trial: &Trial, prompt: &str) -> Vec<String> {
    let commands = [&trial.check, &trial.lint, &trial.build];
    let mut open: Vec<String> = commands.into_iter().flatten().cloned().collect();
    let mut found = BTreeSet::new();
    while let Some(text) = open.pop() {
        for program in programs(&text) {
            let Some(path) = within(&program.path) else { continue };
            if found.contains(&path) || found.len() >= MOST {
                continue;
            }
            let Some(script) = read(&workspace.join(&path)) else { continue };
            let is_shell = program.by_shell || is_shell_script(&path, &script);
            let is_subject = program.is_read || speaks_of(prompt, &path);
            if is_named(&path) || (is_shell && !is_subject) {
                found.insert(path);
                open.extend(is_shell.then_some(script));
            }
        }
    }
    found.into_iter().collect()
}

fn read(path: &Path) -> Option<String> {
    let meta = fs::symlink_metadata(path).ok().filter(|meta| meta.is_file() && meta.len() <= LARGEST);
    meta.and_then(|_| fs::read(path).ok()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// A path from the top of the workspace; nothing for one that leads out of it.
fn within(path: &str) -> Option<String> {
    let mut names = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => names.push(name.to_str()?),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    (!names.is_empty()).then(|| names.join("/"))
}

fn is_shell_script(path: &str, text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    let by_name = [".sh", ".bash", ".zsh"].iter().any(|end| path.ends_with(end));
    by_name || (first.starts_with("#!") && SHELLS.iter().any(|shell| first.trim_end().ends_with(shell)))
}

fn is_named(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let stem = name.split('.').next().unwrap_or_default();
    let words = stem.split(['-', '_']);
    words
        .into_iter()
        .any(|word| NAMED.iter().any(|own| word == *own || (own.len() > 3 && word.starts_with(own))))
}

/// Whether the task names a file, by its path or by its own name.
fn speaks_of(prompt: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    prompt
        .split(|c: char| !(c.is_alphanumeric() || "._-/".contains(c)))
        .map(|word| word.trim_start_matches("./").trim_end_matches(['.', '/']))
        .any(|word| word == path || (name.contains('.') && word == name))
}

fn programs(text: &str) -> Vec<Program> {
    let mut found = Vec::new();
    visit(&parse(text.as_bytes()), false, &mut |words, is_read| {
        let words: Vec<String> = words.iter().filter_map(literal).collect();
        found.extend(program(&words).map(|(path, by_shell)| Program { path, by_shell, is_read }));
    });
    found
}

/// The file a command runs, and whether a shell is to run it.
fn program(words: &[String]) -> Option<(String, bool)> {
    let mut rest = words.iter().map(String::as_str);
    let first = loop {
        let word = rest.next()?;
        let is_aside = WRAPPERS.contains(&word) || word.starts_with('-') || word.contains('=');
        if !is_aside && !word.starts_with(|c: char| c.is_ascii_digit()) {
            break word;
        }
    };
    let name = first.rsplit('/').next().unwrap_or(first);
    let by_shell = SHELLS.contains(&name) || first == "." || first == "source";
    let interprets = by_shell || INTERPRETERS.contains(&name) || name.starts_with("python");
    if !interprets {
        return Some((first.to_owned(), false));
    }
    // What comes after these is no file; to a shell `-e` means something else.
    let is_text = |word: &str| matches!(word, "-c" | "-m") || (word == "-e" && !by_shell);
    let operand = rest.find(|word| !word.starts_with('-') || is_text(word))?;
    (!operand.starts_with('-')).then(|| (operand.to_owned(), by_shell))
}

/// A word, if nothing in it is put in later.
fn literal(word: &Word) -> Option<String> {
    let mut text = Vec::new();
    for part in &word.parts {
        match part {
            Part::Literal { text: part, .. } => text.extend_from_slice(part),
            _ => return None,
        }
    }
    String::from_utf8(text).ok()
}

fn visit(script: &Script, is_read: bool, see: &mut impl FnMut(&[Word], bool)) {
    for command in &script.commands {
        visit_command(command, is_read, see);
    }
}

fn visit_command(command: &Command, is_read: bool, see: &mut impl FnMut(&[Word], bool)) {
    let is_read = is_read || command.redirects.iter().any(is_kept);
    match &command.kind {
        Kind::Simple { words, .. } => see(words, is_read),
        Kind::Pipeline { stages, .. } => {
            for (at, stage) in stages.iter().enumerate() {
                let is_piped = stages.iter().skip(at + 1).any(|next| !hands_on(next));
                visit_command(stage, is_read || is_piped, see);
            }
        }
        Kind::List(all) => all.iter().for_each(|(one, _)| visit_command(one, is_read, see)),
        Kind::Group(body) | Kind::Subshell(body) => visit(body, is_read, see),
        Kind::If { arms, otherwise } => {
            for (condition, body) in arms {
                visit(condition, is_read, see);
                visit(body, is_read, see);
            }
            if let Some(body) = otherwise {
                visit(body, is_read, see);
            }
        }
        Kind::While { condition, body, .. } => {
            visit(condition, is_read, see);
            visit(body, is_read, see);
        }
        Kind::For { body, .. } | Kind::ForArithmetic { body, .. } => visit(body, is_read, see),
        Kind::Case { arms, .. } => arms.iter().for_each(|arm| visit(&arm.body, is_read, see)),
        Kind::Function { body, .. } | Kind::Coprocess { body, .. } => visit_command(body, is_read, see),
        Kind::Condition(_) | Kind::Arithmetic(_) => {}
    }
}

fn hands_on(stage: &Command) -> bool {
    let Kind::Simple { words, .. } = &stage.kind else { return false };
    words.first().and_then(literal).is_some_and(|name| CONDUITS.contains(&name.as_str()))
}

/// Whether what is printed goes to a file somebody will look into: a log is for people.
fn is_kept(redirect: &Redirect) -> bool {
    let (Target::Write(to, _) | Target::Append(to)) = &redirect.target else { return false };
    let is_log = |path: &str| path.starts_with("/dev/") || path.ends_with(".log");
    redirect.descriptor.is_none() && !literal(to).is_some_and(|path| is_log(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)], check: &str) -> Vec<String> {
        found_for("Make it right.", files, check)
    }

    fn found_for(prompt: &str, files: &[(&str, &str)], check: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let trial = Trial { check: Some(check.to_owned()), ..Trial::default() };
        harness(dir.path(), &trial, prompt)
    }

    #[test]
    fn what_a_check_runs_is_its_own_and_what_it_is_about_is_not() {
        let files = [
            ("check.sh", "set -e\n. scripts/lib.sh\npython3 tools/verify_all.py app.py\n"),
            ("scripts/lib.sh", "say() { echo; }\n"),
            ("tools/verify_all.py", "print(1)\n"),
            ("app.py", "print(1)\n"),
            ("run", "#!/bin/sh\npytest\n"),
        ];
        let all = ["check.sh", "scripts/lib.sh", "tools/verify_all.py"];
        assert_eq!(found(&files, "./check.sh"), all);
        assert_eq!(found(&files, "cd . && timeout 60 bash -e check.sh || exit 1"), all);
        assert_eq!(found(&files, "sh -c ./check.sh; python3 app.py"), Vec::<String>::new());
        assert_eq!(found(&files, "if ./run; then true; fi"), ["run"]);
        assert_eq!(found(&files, "pytest app.py ../check.sh /etc/check.sh"), Vec::<String>::new());
    }

    #[test]
    fn a_script_whose_output_is_judged_or_that_the_task_names_is_what_is_worked_on() {
        let files = [
            ("check.sh", "set -e\nbin/report 3 | grep -q total\n"),
            ("bin/report", "#!/bin/sh\necho total\n"),
            ("greet.sh", "echo hello\n"),
        ];
        let nothing = Vec::<String>::new();
        assert_eq!(found(&files, "./check.sh"), ["check.sh"]);
        assert_eq!(found(&files, "bin/report | awk '{ print $1 }' | tee log"), nothing);
        assert_eq!(found(&files, "bin/report 2>&1 | tee log | cat"), ["bin/report"]);
        assert_eq!(found(&files, "sh greet.sh > said && diff said wanted"), nothing);
        assert_eq!(found(&files, "sh greet.sh > said.log"), ["greet.sh"]);
        assert_eq!(found(&files, "./greet.sh && bin/report"), ["bin/report", "greet.sh"]);
        let task = "Let `greet.sh` say hello, and bin/report. Do not break ./check.sh.";
        assert_eq!(found_for(task, &files, "./check.sh && ./greet.sh && bin/report"), ["check.sh"]);
        assert_eq!(found_for("Make a report.", &files, "bin/report"), ["bin/report"]);
    }
}
