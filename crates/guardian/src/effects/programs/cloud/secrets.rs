//! Stores of secrets: what they show, and what they only list.

use super::super::call::Call;
use super::super::options::Options;
use super::{destroys, or_harmless};
use crate::effects::act::{Act, Change, Datum, Effort};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

/// `gpg`, `pass`, `op`, `vault`, keyrings.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() && call.name != "history" {
        return Outcome::harmless();
    }
    let words: Vec<&str> = call.words().collect();
    let verb = words.iter().find(|word| !word.starts_with('-')).copied().unwrap_or_default();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    match call.name {
        "gpg" | "gpg2" => return gpg(call),
        "getent" => {
            let shows = matches!(verb, "shadow" | "gshadow");
            let path = Value::known(format!("/etc/{verb}"));
            return if shows { Outcome::of([Act::Read { path, deep: false }]) } else { Outcome::harmless() };
        }
        "history" => return history(call),
        "vault" | "bao" => return vault(call, verb),
        // These run a program with secrets in its environment.
        "aws-vault" | "chamber" | "doppler" | "infisical" | "op" if matches!(verb, "exec" | "run") => {
            let at = words
                .iter()
                .position(|word| *word == "--")
                .or_else(|| words.iter().position(|word| *word == verb));
            let rest = call.args.get(at.map_or(0, |at| at + 1)..).unwrap_or_default();
            let rest: Vec<Value> =
                rest.iter().skip_while(|arg| arg.prefix().starts_with(b"-")).cloned().collect();
            return if rest.is_empty() {
                Outcome::harmless()
            } else {
                Outcome::default().then(call.next(rest))
            };
        }
        "sops" | "age" => return decrypted(call, &words),
        "gcore" => return revealed("all a process has in memory".to_owned()),
        _ => {}
    }
    let shows = shows(call.name, verb, &words);
    if shows {
        return revealed(format!("a secret in {}", call.name));
    }
    let loses = matches!(verb, "rm" | "delete" | "purge" | "clear" | "del")
        || verb.starts_with("delete-")
        || has(&["delete"]) && call.name == "op";
    if loses {
        Outcome::of([destroys(format!("{} {}", call.name, words.join(" ")))])
    } else {
        Outcome::harmless()
    }
}

/// Whether a command of a store shows what it keeps.
fn shows(name: &str, verb: &str, words: &[&str]) -> bool {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    match name {
        "pass" | "gopass" => !matches!(
            verb,
            "ls" | "list"
                | "find"
                | "search"
                | "version"
                | "init"
                | "git"
                | "insert"
                | "generate"
                | "edit"
                | "rm"
                | "mv"
                | "cp"
                | "grep"
                | ""
        ),
        "op" => {
            matches!(verb, "read" | "inject")
                || has(&["item"]) && has(&["get"])
                || has(&["document"]) && has(&["get"])
        }
        "bw" => matches!(verb, "get" | "export") || verb == "list" && has(&["items"]),
        "rbw" | "lpass" => matches!(verb, "get" | "export" | "show" | "code"),
        "security" => {
            // Letters stand together: `-wa login`.
            let shown = |word: &&str| word.starts_with('-') && word.contains(['w', 'g']);
            verb.starts_with("find-") && words.iter().any(shown)
                || verb.starts_with("dump-")
                || verb == "export"
        }
        "secret-tool" => matches!(verb, "lookup" | "search"),
        "keyring" => verb == "get",
        "doppler" => has(&["secrets"]) && !has(&["--only-names", "set", "upload"]),
        "infisical" => has(&["secrets", "export"]),
        "chamber" => matches!(verb, "read" | "export" | "env"),
        "aws-vault" => matches!(verb, "export"),
        "keepassxc-cli" => matches!(verb, "show" | "clip" | "export"),
        "kwallet-query" => has(&["-r"]),
        "berglas" => verb == "access",
        "ansible-vault" => matches!(verb, "view" | "decrypt"),
        _ => false,
    }
}

fn revealed(what: String) -> Outcome {
    let output = Stream::data([Datum::Secret(what.clone())]);
    Outcome::of([Act::Reveal { what }]).saying(output)
}

fn gpg(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new(
        "o:r:u:",
        "output= recipient= local-user= homedir= passphrase= passphrase-file= keyserver= default-key= batch yes armor decrypt",
    ));
    if call.words().any(|word| word.starts_with("--export-secret")) {
        return revealed("secret keys of gpg".to_owned());
    }
    if call.words().any(|word| word.starts_with("--delete-")) {
        return Outcome::of([Act::Delete { path: call.at_home(".gnupg"), deep: true, filtered: true }]);
    }
    if read.has("d decrypt") && !read.has("o output") {
        let mut outcome = revealed("what gpg decrypts".to_owned());
        outcome.acts.extend(read.operands.iter().map(|file| (call.reads(file), Effort::Done)));
        return outcome;
    }
    let mut outcome = Outcome::default();
    for file in read.values("o output") {
        outcome.push(call.writes(file, Change::Replace));
    }
    for file in &read.operands {
        outcome.push(call.reads(file));
        outcome.output.data.push(Datum::File(call.path(file)));
    }
    if read.operands.is_empty() {
        outcome.output.data.clone_from(&call.invocation.input.data);
    }
    or_harmless(outcome)
}

/// What was typed before: it may hold anything.
fn history(call: &Call<'_>) -> Outcome {
    if call.says(&["-c", "-d", "-w", "-r", "-a"]) {
        let path = call.at_home(".bash_history");
        return Outcome::of([Act::Write { path, change: Change::Empty, content: None }]);
    }
    Outcome::harmless().saying(Stream::data([Datum::Secret("the history of commands".to_owned())]))
}

fn vault(call: &Call<'_>, verb: &str) -> Outcome {
    let words: Vec<&str> = call.words().filter(|word| !word.starts_with('-')).collect();
    let said = format!("{} {}", call.name, words.join(" "));
    match words.as_slice() {
        ["read" | "unwrap", ..] | ["kv", "get", ..] | ["print", "token", ..] | ["token", "create", ..] => {
            revealed("a secret in vault".to_owned())
        }
        ["kv", "destroy" | "delete" | "metadata", ..]
        | ["secrets" | "auth" | "audit", "disable" | "move", ..]
        | ["delete", ..]
        | ["lease", "revoke", ..]
        | ["operator", "seal" | "step-down", ..]
        | ["namespace", "delete", ..]
        | ["policy", "delete", ..] => {
            let looks = words.get(1) == Some(&"metadata") && words.get(2) == Some(&"get");
            if looks { Outcome::harmless() } else { Outcome::of([destroys(said)]) }
        }
        _ if verb == "ssh" => Outcome::of([call.unknown("what runs over vault ssh")]),
        _ => Outcome::harmless(),
    }
}

fn decrypted(call: &Call<'_>, words: &[&str]) -> Outcome {
    let opens =
        words.iter().any(|word| matches!(*word, "-d" | "--decrypt" | "decrypt" | "exec-env" | "exec-file"));
    let mut outcome = Outcome::default();
    if opens {
        outcome.push(Act::Reveal { what: format!("what {} decrypts", call.name) });
        outcome.output = Stream::data([Datum::Secret(format!("what {} decrypts", call.name))]);
    }
    or_harmless(outcome)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn showing_is_told_from_listing() {
        check(&[
            ("gpg --export-secret-keys -a", "reveal secret keys of gpg"),
            ("gpg --verify a.sig a", "read /home/dev/project/a.sig; read /home/dev/project/a"),
            ("gpg --list-keys", "compute"),
            ("gpg -d a.gpg", "reveal what gpg decrypts; read /home/dev/project/a.gpg"),
            ("gpg -o a -d a.gpg", "write:Replace /home/dev/project/a; read /home/dev/project/a.gpg"),
            ("pass show work/db", "reveal a secret in pass"),
            ("pass ls", "compute"),
            ("op read op://v/i/p", "reveal a secret in op"),
            ("vault status", "compute"),
            ("vault kv get secret/app", "reveal a secret in vault"),
            ("vault kv destroy -versions=1 secret/app", "infra! vault kv destroy secret/app"),
            ("getent passwd", "compute"),
            ("getent shadow", "read /etc/shadow"),
            ("secret-tool lookup service x", "reveal a secret in secret-tool"),
            ("aws-vault exec prod -- rm -rf /", "> rm -rf /"),
        ]);
    }
}
