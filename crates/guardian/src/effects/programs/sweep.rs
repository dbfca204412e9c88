//! Programs that find by themselves what they delete: duplicates, what is old, what is not on the other side.
//!
//! Owns: where they look, and which of their words make them delete. Refuses: guessing which files; all below may be meant.

use super::call::Call;
use super::options::Options;
use crate::effects::act::{Act, Change};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `fdupes -d`, `bleachbit --clean`, `unison`, `logrotate -f` and their kin.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let read = call.read(&Options::new("o:x:X:s:l:", "order= size= exclude= log= output= config= prefix="));
    let rehearsed = call.says(&["-n", "--dry-run", "--dryrun", "-p", "--preview", "/L", "-debug", "-d"])
        && !matches!(call.name, "fdupes" | "jdupes");
    let letters = |wanted: char| {
        call.words().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(wanted))
    };
    let starts =
        |wanted: &[&str]| call.words().any(|word| wanted.iter().any(|start| word.starts_with(start)));
    let paths: Vec<Value> = read
        .operands
        .iter()
        .filter(|path| path.prefix().contains(&b'/') || matches!(path.text(), Some("." | "..")))
        .map(|path| match path.prefix().strip_prefix(b"file://") {
            Some(rest) => Value::known(rest),
            None => path.clone(),
        })
        .collect();
    let swept = |filtered: bool| {
        Outcome::of(paths.iter().map(|path| Act::Delete { path: call.path(path), deep: true, filtered }))
    };
    let outcome = match call.name {
        "fdupes" | "jdupes" if letters('d') || call.says(&["--delete"]) => swept(true),
        "rdfind" if call.says(&["-deleteduplicates", "-makehardlinks", "-makesymlinks"]) => swept(true),
        "unison" | "lsyncd" | "bsync" => copied(call, &paths),
        "robocopy" if starts(&["/MIR", "/mir", "/PURGE", "/purge", "/MOV", "/mov"]) => copied(call, &paths),
        "rdiff-backup" if starts(&["--remove", "remove"]) => swept(true),
        "duplicity" if starts(&["remove-", "cleanup"]) => swept(true),
        "bleachbit"
            if letters('c') || call.says(&["--clean", "--shred", "-s", "-w", "--wipe-free-space"]) =>
        {
            let mut outcome = swept(false);
            outcome.push(Act::Delete { path: call.at_home(".config"), deep: true, filtered: true });
            outcome
        }
        "systemd-tmpfiles" if call.says(&["--remove", "--clean", "--purge"]) => {
            let path = read.value("prefix").cloned().unwrap_or_else(|| Value::known("/var"));
            Outcome::of([Act::Delete { path: call.path(&path), deep: true, filtered: true }])
        }
        "logrotate" if letters('f') || call.says(&["--force"]) => {
            Outcome::of([Act::Write { path: Value::known("/var/log"), change: Change::Edit, content: None }])
        }
        _ => Outcome::of(paths.iter().map(|path| Act::Look { path: call.path(path) })),
    };
    let mut outcome = outcome.rehearsed_if(rehearsed);
    if outcome.acts.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// Each side may lose what the other has not.
fn copied(call: &Call<'_>, paths: &[Value]) -> Outcome {
    let acts =
        paths.iter().skip(1).map(|path| Act::Delete { path: call.path(path), deep: true, filtered: true });
    Outcome::of(acts)
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn what_sweeps_is_told_from_what_lists() {
        check(&[
            ("fdupes -rdN /srv", "delete/% /srv"),
            ("fdupes -r /srv", "look /srv"),
            ("rdfind -deleteduplicates true /srv", "delete/% /srv"),
            ("unison -batch /tmp/empty /srv", "delete/% /srv"),
            ("logrotate -f /etc/logrotate.conf", "write:Edit /var/log"),
            ("logrotate -d /etc/logrotate.conf", "~look /etc/logrotate.conf"),
            ("systemd-tmpfiles --create", "compute"),
        ]);
    }
}
