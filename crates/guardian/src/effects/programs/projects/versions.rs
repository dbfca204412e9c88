//! Version control that is not git: what loses work or history.

use super::super::call::{Call, joined};
use crate::effects::act::Act;
use crate::effects::invocation::Outcome;

/// `hg`, `svn`, `jj` and tools that rewrite history.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let words: Vec<&str> = call.words().collect();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
    let plain: Vec<&str> = words.iter().filter(|word| !word.starts_with('-')).copied().collect();
    let verb = plain.first().copied().unwrap_or_default();
    let loses = match call.name {
        "bfg" | "git-filter-repo" => true,
        "hg" | "sl" => match verb {
            "strip" | "purge" | "clean" | "rollback" | "prune" | "hide" => true,
            "update" | "up" | "checkout" | "co" | "goto" => has(&["-C", "--clean"]),
            "revert" => has(&["-a", "--all", "-C", "--no-backup"]),
            "push" => has(&["-f", "--force"]),
            _ => false,
        },
        "svn" => match verb {
            "revert" => true,
            "cleanup" => has(&["--remove-unversioned", "--remove-ignored"]),
            "delete" | "del" | "rm" | "remove" => plain.iter().any(|word| word.contains("://")),
            _ => false,
        },
        "jj" => match verb {
            "abandon" | "restore" => true,
            "op" | "operation" => has(&["restore", "undo", "abandon"]),
            "git" => has(&["push"]) && has(&["--deleted"]),
            "bookmark" | "branch" => has(&["delete", "forget"]),
            _ => false,
        },
        "p4" => matches!(verb, "obliterate" | "revert" | "delete" | "clean"),
        "fossil" => matches!(verb, "revert" | "clean" | "scrub" | "purge"),
        "bzr" => matches!(verb, "revert" | "uncommit" | "clean-tree"),
        "cvs" => verb == "release" && has(&["-d"]) || verb == "update" && has(&["-C"]),
        "repo" => verb == "sync" && has(&["--force-sync", "--force-remove-dirty"]) || verb == "prune",
        "gt" | "spr" | "git-town" => {
            has(&["--force", "-f"]) && matches!(verb, "submit" | "ss" | "sync" | "push" | "delete")
        }
        "darcs" | "pijul" => matches!(verb, "revert" | "unrecord" | "obliterate" | "unpull" | "reset"),
        _ => false,
    };
    let act = if loses {
        Act::Git { operation: format!("{} {}", call.name, words.join(" ")), loses: true, target: None }
    } else {
        Act::Compute
    };
    let outcome = Outcome::of([act]).rehearsed_if(has(&["-n", "--dry-run"]));
    // `repo forall -c 'line'`: in each of the repositories.
    let at = call.args.iter().position(|arg| matches!(arg.text(), Some("-c" | "--command")));
    match (call.name, verb, at.and_then(|at| call.args.get(at + 1..))) {
        ("repo", "forall", Some(line @ [_, ..])) => outcome.then(call.shell(joined(line))),
        _ => outcome,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn others_lose_work_too() {
        check(&[
            ("hg status", "compute"),
            ("hg update -C", "git! hg update -C"),
            ("svn revert -R .", "git! svn revert -R ."),
            ("svn up", "compute"),
            ("repo sync", "compute"),
            ("repo forall -c 'git reset --hard'", "compute; $ git reset --hard"),
            ("jj abandon @", "git! jj abandon @"),
            ("bfg --delete-files id_rsa", "git! bfg --delete-files id_rsa"),
        ]);
    }
}
