//! Subcommands that can lose work or history, told from their harmless forms.

use super::super::options::{Options, Read};
use super::Command;
use crate::effects::act::{Act, Effort};
use crate::effects::invocation::{Next, Outcome};
use crate::shell::value::{Piece, Value};

const ANY: Options = Options::new(
    "m:F:C:c:b:B:t:s:S?e:x:u:d:n:o:X:",
    "message= file= reuse-message= fixup= squash= author= date= cleanup= source= pathspec-from-file= conflict= orphan= \
     exec= onto= strategy= strategy-option= expire= expire-unreachable= prune? exclude= format= sort= contains= merged? \
     no-merged? points-at= set-upstream-to= reference= branch= depth= name= index-output= prefix= directory= \
     hard soft mixed merge keep force staged worktree ours theirs patch dry-run delete remotes all cached abort \
     continue skip quit interactive autosquash autostash detach track no-track create= force-create= recursive quiet \
     reason= lock root",
);
/// Of `restore` no letter takes a value but the source.
const RESTORE: Options = Options::new(
    "s:",
    "source= pathspec-from-file= conflict= staged worktree ours theirs merge patch quiet progress overlay",
);
/// Of `clean`, `branch` and others a letter takes no value.
const FLAGS: Options = Options::new(
    "e:u:",
    "hard soft mixed merge keep stdin create-reflog reset cached recursive force dry-run exclude= quiet interactive delete remotes all move copy list set-upstream-to= contains= \
     no-contains= merged? no-merged? format= sort= points-at= color? column? show-current edit-description unset-upstream",
);

/// Says which form it is.
pub(super) fn outcome(command: &Command<'_>) -> Outcome {
    match command.verb {
        "clean" => clean(command),
        "branch" => branch(command),
        "checkout" | "switch" | "restore" => checkout(command),
        "stash" => {
            let mut outcome = words(command, &["drop", "clear"]);
            outcome.acts.extend(super::named_files(command).map(|act| (act, Effort::Done)));
            outcome
        }
        "reflog" => words(command, &["expire", "delete"]),
        "lfs" => words(command, &["prune", "migrate"]),
        "svn" => words(command, &["reset"]),
        "submodule" => submodule(command),
        "bisect" => bisect(command),
        "rebase" => rebase(command),
        "rm" => rm(command),
        "filter-branch" | "filter-repo" | "prune" | "obliterate" => filter(command),
        "update-ref" => update_ref(command),
        "symbolic-ref" => flags(command, "d delete", "-d"),
        "tag" => flags(command, "d delete f force", "-d"),
        "replace" => flags(command, "d delete f force", "-d"),
        "read-tree" => flags(command, "reset u", "--reset"),
        "checkout-index" => flags(command, "f force", "-f"),
        "reset" => flags(command, "hard merge keep", "--hard"),
        "notes" => words(command, &["remove", "prune"]),
        "gc" => gc(command),
        "worktree" => worktree(command),
        "merge" | "cherry-pick" | "revert" | "am" => code(command),
        "commit" => commit(command),
        "mv" => command.benign(),
        "apply" => {
            let read = command
                .read(&Options::new("p:C:", "exclude= include= directory= whitespace= check stat numstat"));
            let mut outcome = command.benign();
            outcome.acts.extend(
                read.operands
                    .iter()
                    .map(|path| (command.call.reads(path), crate::effects::act::Effort::Done)),
            );
            outcome.rehearsed_if(read.has("check stat numstat"))
        }
        "delete-branch" | "delete-merged-branches" | "undo" | "reset-file" => {
            Outcome::of([command.act("", true, None)])
        }
        _ => command.benign(),
    }
}

/// Loses when one of these options is there.
fn flags(command: &Command<'_>, losing: &str, shown: &str) -> Outcome {
    let read = command.read(&FLAGS);
    let vague = read.vague.is_some() && read.operands.len() > 1;
    let loses = read.has(losing) || vague || command.call.invocation.more.is_some();
    Outcome::of([command.act(if loses { shown } else { "" }, loses, read.operands.first())])
}

/// Loses when its first word is one of these.
fn words(command: &Command<'_>, losing: &[&str]) -> Outcome {
    let read = command.read(&Options::new("m:", "message="));
    let verb = read.verb();
    let loses = losing.contains(&verb) || read.operands.first().is_some_and(|verb| verb.text().is_none());
    Outcome::of([command.act(verb, loses, None)]).rehearsed_if(read.has("n dry-run"))
}

fn clean(command: &Command<'_>) -> Outcome {
    let read = command.read(&FLAGS);
    let force = read.has("f force") || read.vague.is_some();
    let letters: String =
        ['f', 'd', 'x', 'X'].iter().filter(|letter| read.has(&letter.to_string())).collect();
    let act = command.act(&format!("-{letters}"), true, read.operands.first());
    let outcome = Outcome::of([act]);
    if read.has("n dry-run") || !force {
        return outcome.rehearsed();
    }
    let mut outcome = outcome;
    let here = Value::known(".");
    let paths = if read.operands.is_empty() { std::slice::from_ref(&here) } else { read.operands.as_slice() };
    for path in paths {
        let path = command.call.path(path);
        outcome.push(Act::Delete { path, deep: true, filtered: true });
    }
    outcome
}

/// A branch is put somewhere else, whatever it held.
fn update_ref(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new("m:", "stdin no-deref create-reflog"));
    let moves = read.operands.len() == 2 && read.word(0).starts_with("refs/heads/");
    let loses = read.has("d delete stdin") || moves;
    Outcome::of([command.act(if loses { "-d" } else { "" }, loses, read.operands.first())])
}

fn branch(command: &Command<'_>) -> Outcome {
    let read = command.read(&FLAGS);
    let deletes = read.has("d delete");
    let force = read.has("D M C") || read.has("f force");
    let what = match (read.has("D") || deletes && force, force, deletes) {
        (true, _, _) => "-D",
        (_, true, _) => "-f",
        (_, _, true) => "-d",
        _ => "",
    };
    // Behind `-d` what is not known is a name.
    Outcome::of([command.act(
        what,
        force || read.vague.is_some() && !deletes && read.has("m move c copy"),
        read.operands.first(),
    )])
}

fn checkout(command: &Command<'_>) -> Outcome {
    let read = if command.verb == "restore" { command.read(&RESTORE) } else { command.read(&ANY) };
    let staged = read.has("S staged") && !read.has("W worktree");
    let moves = if command.verb == "switch" { "C force-create" } else { "B" };
    let force = read.has("f force discard-changes") || command.verb != "restore" && read.has(moves);
    let dashes = command.call.args.iter().any(|arg| arg.text() == Some("--"));
    let paths = match command.verb {
        "restore" => !staged && !read.has("p patch"),
        "checkout" => {
            let makes = read.has("b B orphan t track");
            let names = read.operands.iter().any(is_path);
            !makes && (dashes && ends(command) || names || read.has("ours theirs pathspec-from-file"))
        }
        _ => false,
    };
    let loses = force || paths;
    let what = match (force, paths, command.verb) {
        (true, _, _) => "--force",
        (_, true, "checkout") => "-- paths",
        (_, true, _) => "--worktree",
        _ => "",
    };
    Outcome::of([command.act(what, loses, read.operands.first())])
}

/// Whether something stands behind `--`.
fn ends(command: &Command<'_>) -> bool {
    let at = command.call.args.iter().position(|arg| arg.text() == Some("--"));
    at.is_some_and(|at| at + 1 < command.call.args.len()) || command.call.invocation.more.is_some()
}

/// Whether an operand of `checkout` is surely a path and no branch.
fn is_path(operand: &Value) -> bool {
    let Some(text) = operand.text() else { return false };
    matches!(text, "." | ".." | "*")
        || text.starts_with("./")
        || text.starts_with("../")
        || text.starts_with(":/")
        || text.ends_with('/')
        || operand.pieces.iter().any(|piece| matches!(piece, crate::shell::value::Piece::Glob(_)))
        || text.rsplit_once('.').is_some_and(|(_, end)| {
            [
                "rs", "py", "js", "ts", "tsx", "jsx", "go", "md", "txt", "json", "toml", "yaml", "yml", "c",
                "h", "cpp", "java", "rb", "lock", "css", "html", "sh",
            ]
            .contains(&end)
        })
}

fn submodule(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new("b:", "branch= reference= depth= name= recursive").stops());
    let verb = read.verb();
    let rest = read.operands.get(1..).unwrap_or_default();
    if verb == "foreach" {
        let words: Vec<Value> =
            rest.iter().skip_while(|arg| arg.prefix().starts_with(b"--")).cloned().collect();
        let line = super::super::call::joined(&words);
        return Outcome::of([command.act(verb, false, None)]).then(command.call.shell(line));
    }
    let forced = rest.iter().any(|arg| matches!(arg.text(), Some("-f" | "--force")));
    // Changes in a submodule that nobody committed are thrown away.
    Outcome::of([command.act(verb, matches!(verb, "deinit" | "update") && forced, None)])
}

fn bisect(command: &Command<'_>) -> Outcome {
    let mut outcome = command.benign();
    if let [first, rest @ ..] = command.call.args
        && first.text() == Some("run")
    {
        outcome.next.push(command.call.next(rest.to_vec()));
    }
    outcome
}

fn rebase(command: &Command<'_>) -> Outcome {
    let read = command.read(&ANY);
    let mut outcome = Outcome::of([command.act(
        if read.has("onto") { "--onto" } else { "" },
        read.has("root"),
        read.operands.first(),
    )]);
    outcome.next.extend(read.values("x exec").map(|line| command.call.shell(line.clone())));
    outcome
}

fn rm(command: &Command<'_>) -> Outcome {
    let read: Read = command.read(&FLAGS);
    if read.has("cached") {
        return command.benign();
    }
    let deep = read.has("r");
    let mut acts: Vec<Act> =
        command.call.targets(&read).iter().map(|path| command.call.deletes(&tracked(path), deep)).collect();
    if read.has("f force") && deep {
        acts.push(command.act("--force", true, read.operands.first()));
    }
    Outcome::of(acts).rehearsed_if(read.has("n dry-run"))
}

/// Whatever is named, git removes only what it keeps: files of the repository.
fn tracked(path: &Value) -> Value {
    let is_open = |piece: &Piece| matches!(piece, Piece::Unknown(_));
    if path.pieces.iter().all(is_open) && !path.pieces.is_empty() {
        return Value { pieces: vec![Piece::Glob(b"*".to_vec())] };
    }
    path.clone()
}

fn filter(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new(
        "d:",
        "env-filter= tree-filter= index-filter= msg-filter= commit-filter= tag-name-filter= parent-filter= setup= \
         subdirectory-filter= original= path= expire= force",
    ));
    let mut outcome = Outcome::of([command.act("", true, None)]);
    let lines =
        read.values("env-filter tree-filter index-filter msg-filter commit-filter setup parent-filter");
    let next: Vec<Next> = lines.map(|line| command.call.shell(line.clone())).collect();
    outcome.next = next;
    outcome.rehearsed_if(read.has("n dry-run analyze"))
}

fn gc(command: &Command<'_>) -> Outcome {
    let read = command.read(&ANY);
    let now = read.value("prune").and_then(Value::text).is_some_and(|when| matches!(when, "now" | "all"));
    Outcome::of([command.act(if now { "--prune=now" } else { "" }, now, None)])
}

fn worktree(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new("b:B:", "force reason= lock detach checkout orphan expire="));
    let many = command.call.invocation.more.is_some();
    match (read.verb(), read.operands.get(1)) {
        // Which, is read from somewhere.
        ("remove", None) if many && read.has("f force") => {
            Outcome::of([command.act("remove --force", true, None)])
        }
        ("remove", Some(path)) => {
            let forced = read.has("f force");
            let mut outcome =
                Outcome::of([command.act(if forced { "remove --force" } else { "remove" }, forced, None)]);
            if forced {
                outcome.push(command.call.deletes(path, true));
            }
            outcome
        }
        // Another checkout of the same repository; what is written there later is seen then.
        ("add", Some(path)) => {
            let mut outcome = command.benign();
            outcome.push(Act::Look { path: command.call.path(path) });
            outcome
        }
        _ => command.benign(),
    }
}

/// Merges and the like: a strategy is a program, an abort throws away what was resolved.
fn code(command: &Command<'_>) -> Outcome {
    let read = command.read(&ANY);
    let what = if read.has("abort") { "--abort" } else { "" };
    let mut outcome = Outcome::of([command.act(what, false, read.operands.first())]);
    if let Some(file) = read.value("F file") {
        outcome.push(command.call.reads(file));
    }
    outcome
}

fn commit(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new(
        "m:F:C:c:t:S?u?",
        "message= file= reuse-message= reedit-message= template= author= date= cleanup= fixup= squash= trailer= \
         gpg-sign? untracked-files? amend no-verify all allow-empty pathspec-from-file=",
    ));
    let what = if read.has("amend") { "--amend" } else { "" };
    let mut outcome = Outcome::of([command.act(what, false, None)]);
    for file in read.values("F file t template").filter(|file| file.text() != Some("-")) {
        outcome.push(command.call.reads(file));
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn what_loses_work_is_told_from_what_does_not() {
        check(&[
            ("git reset --hard origin/main", "git! reset --hard"),
            ("git reset --soft HEAD~1", "git reset"),
            ("git reset HEAD a.txt", "git reset"),
            ("git checkout main", "git checkout"),
            ("git checkout -b feature/x", "git checkout"),
            ("git checkout -- .", "git! checkout -- paths"),
            ("git checkout .", "git! checkout -- paths"),
            ("git checkout HEAD -- a.rs", "git! checkout -- paths"),
            ("git checkout -f main", "git! checkout --force"),
            ("git restore a.rs", "git! restore --worktree"),
            ("git restore --staged a.rs", "git restore"),
            ("git switch -c x", "git switch"),
            ("git switch --discard-changes x", "git! switch --force"),
            ("git clean -fdx", "git! clean -fdx; delete/% /home/dev/project"),
            ("git clean -n", "~git! clean -"),
            ("git clean -nfd", "~git! clean -fd"),
            ("git branch -D x", "git! branch -D"),
            ("git branch -d x", "git branch -d"),
            ("git branch -a", "git branch"),
            ("git stash push -m wip", "git stash push"),
            ("git stash drop", "git! stash drop"),
            ("git stash clear", "git! stash clear"),
            ("git tag v1", "git tag"),
            ("git tag -d v1", "git! tag -d"),
            ("git reflog expire --expire=now --all", "git! reflog expire"),
            ("git gc --prune=now", "git! gc --prune=now"),
            ("git gc", "git gc"),
            ("git filter-branch --index-filter 'rm -rf x' HEAD", "git! filter-branch; $ rm -rf x"),
            ("git update-ref -d refs/heads/x", "git! update-ref -d"),
            ("git worktree remove --force ../x", "git! worktree remove --force; delete/ /home/dev/x"),
            ("git rebase main", "git rebase"),
            ("git rebase -i --exec 'make test' main", "git rebase; $ make test"),
            ("git bisect run ./t.sh", "git bisect; > ./t.sh"),
            ("git submodule foreach 'rm -rf /'", "git submodule foreach; $ rm -rf /"),
            ("git rm -r --cached x", "git rm"),
            ("git rm -rf x", "delete/ /home/dev/project/x; git! rm --force"),
            ("git commit -m 'rm -rf /'", "git commit"),
            ("git -C ../other reset --hard", "git! reset --hard"),
        ]);
    }
}
