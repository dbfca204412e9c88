//! Settings of git that run code, and the setting of them.

use super::super::call::Call;
use super::super::options::{Options, after};
use super::Command;
use crate::effects::act::{Act, Change, Code};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// What a setting does when git reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Power {
    /// Nothing but change how git looks and works.
    None,
    /// Its value is a line for a shell.
    Line,
    /// Its value is a directory or file of code.
    File,
}

fn power(key: &str) -> Power {
    let key = key.to_ascii_lowercase();
    let (section, name) = key.split_once('.').unwrap_or((&key, ""));
    let last = name.rsplit('.').next().unwrap_or(name);
    match (section, last) {
        (
            "core",
            "pager" | "editor" | "sshcommand" | "fsmonitor" | "askpass" | "gitproxy" | "alternaterefscommand",
        )
        | ("sequence", "editor")
        | ("diff", "external" | "textconv" | "command")
        | ("merge", "driver")
        | ("filter", "clean" | "smudge" | "process")
        | ("difftool" | "mergetool" | "man" | "browser", "cmd" | "path")
        | ("gpg", "program")
        | ("interactive", "difffilter")
        | ("web", "browser")
        | ("remote", "uploadpack" | "receivepack" | "vcs")
        | ("uploadpack", "packobjectshook")
        | ("sendemail", "smtpserver" | "sendmailcmd" | "tocmd" | "cccmd")
        | ("trailer", "command" | "cmd")
        | ("credential", "helper")
        | ("submodule", "update")
        | ("pager" | "alias", _) => Power::Line,
        ("core", "hookspath" | "worktree" | "attributesfile")
        | ("init", "templatedir")
        | ("include" | "includeif", "path")
        | ("protocol", "allow")
        | ("safe", "directory")
        | ("url", "insteadof" | "pushinsteadof")
        | ("http", "proxy" | "sslverify") => Power::File,
        _ => Power::None,
    }
}

/// `git -c key=value`: it holds for this one command, so its code runs now.
pub(super) fn once(call: &Call<'_>, key: &str, value: &Value, outcome: &mut Outcome) {
    let known = value.text().unwrap_or("?");
    match power(key) {
        Power::None => {}
        Power::Line if key.to_ascii_lowercase().starts_with("alias.") => {}
        // Switches and names git knows itself.
        Power::Line
            if matches!(
                known,
                "" | "true" | "false" | "store" | "cache" | "manager" | "osxkeychain" | "libsecret"
            ) => {}
        Power::Line if key.eq_ignore_ascii_case("core.sshCommand") => {
            outcome.next.push(call.shell(value.clone()));
        }
        Power::Line => {
            let text = if value.prefix().starts_with(b"!") { after(value, 1) } else { value.clone() };
            outcome.next.push(call.shell(text));
        }
        Power::File if key.eq_ignore_ascii_case("core.hooksPath") => {
            if known != "/dev/null" {
                outcome.push(Act::Run { code: Code::File(call.path(value)), with: "git hooks".to_owned() });
            }
        }
        Power::File => {
            let operation = format!("config {key}");
            outcome.push(Act::Git { operation, loses: false, target: Some(known.to_owned()) });
        }
    }
}

/// Variables set for this command that name programs git starts.
pub(super) fn environment(call: &Call<'_>, outcome: &mut Outcome) {
    const RUN: [&[u8]; 10] = [
        b"GIT_SSH_COMMAND",
        b"GIT_SSH",
        b"GIT_PAGER",
        b"PAGER",
        b"GIT_EDITOR",
        b"GIT_SEQUENCE_EDITOR",
        b"EDITOR",
        b"VISUAL",
        b"GIT_EXTERNAL_DIFF",
        b"GIT_PROXY_COMMAND",
    ];
    for (name, value) in &call.invocation.environment {
        if RUN.contains(&name.as_slice()) && !value.pieces.is_empty() {
            outcome.next.push(call.shell(value.clone()));
        }
    }
}

/// `git config`.
pub(super) fn outcome(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new(
        "f:",
        "global system local worktree file= blob= get get-all get-regexp get-urlmatch list unset unset-all add replace-all \
         edit remove-section rename-section type= default= name-only show-origin show-scope fixed-value null",
    ));
    let mut operands = read.operands.as_slice();
    let verb = read.verb();
    if matches!(verb, "get" | "list" | "get-all" | "get-color" | "get-regexp")
        || read.has("get get-all get-regexp get-urlmatch list l")
    {
        let shows =
            |key: &str| ["extraheader", "token", "password", "secret"].iter().any(|word| key.contains(word));
        let keys = operands.iter().filter_map(Value::text).map(str::to_ascii_lowercase);
        return match keys.into_iter().find(|key| shows(key)) {
            Some(key) => Outcome::of([Act::Reveal { what: format!("git config {key}") }]),
            None => Outcome::harmless(),
        };
    }
    let unsets = verb == "unset" || read.has("unset unset-all remove-section");
    if matches!(verb, "set" | "unset" | "remove-section" | "rename-section") {
        operands = operands.get(1..).unwrap_or_default();
    }
    let Some(key) = operands.first() else { return Outcome::harmless() };
    // One word alone asks.
    if operands.len() < 2 && !unsets && !read.has("add replace-all edit e") {
        return Outcome::harmless();
    }
    let key = key.text().unwrap_or("?");
    let value = operands.get(1);
    let mut outcome = Outcome::of([command.act(key, false, value)]);
    let scope = if read.has("system") {
        Some(Value::known("/etc/gitconfig"))
    } else {
        read.value("f file").map(|file| command.call.path(file))
    };
    if let Some(path) = scope {
        outcome.push(Act::Write { path, change: Change::Edit, content: None });
    }
    let runs = match power(key) {
        Power::None => key == "?",
        Power::Line if key.starts_with("alias.") => {
            value.is_some_and(|value| value.prefix().starts_with(b"!") || value.text().is_none())
        }
        Power::Line => !value.and_then(Value::text).is_some_and(is_usual),
        Power::File => !matches!(key.to_ascii_lowercase().as_str(), "safe.directory" | "http.proxy"),
    };
    // What an alias stands for is what it will do, by a name nobody here will know.
    if key.starts_with("alias.")
        && let Some(words) = value.and_then(Value::text).filter(|words| !words.starts_with('!'))
    {
        let argv = std::iter::once("git").chain(words.split_whitespace()).map(Value::known);
        outcome.next.push(command.call.next(argv.collect()));
    }
    if runs && !unsets {
        outcome.push(Act::Persist { how: format!("git config {key}") });
    }
    outcome
}

/// Editors, pagers and helpers people really set.
fn is_usual(value: &str) -> bool {
    const USUAL: &[&str] = &[
        "vim",
        "vi",
        "nvim",
        "nano",
        "emacs",
        "code",
        "true",
        "false",
        "cat",
        "less",
        "delta",
        "bat",
        "more",
        "hx",
        "micro",
        "diff-so-fancy",
        "store",
        "cache",
        "manager",
        "osxkeychain",
        "libsecret",
        "gpg",
        "gpg2",
        "git-lfs",
        "meld",
        "",
        "subl",
        "kdiff3",
        "vimdiff",
        "nvimdiff",
        "opendiff",
    ];
    let first = value.split_ascii_whitespace().next().unwrap_or_default();
    USUAL.contains(&first) && !value.contains([';', '|', '&', '`', '$', '>', '\n'])
}
