//! Subcommands that move data: to others, from others, or onto the screen.

use super::super::options::{Options, after};
use super::{Command, config, makes, object};
use crate::effects::act::{Act, Change, Datum, Traffic};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

/// Says what moves where.
pub(super) fn outcome(command: &Command<'_>) -> Outcome {
    match command.verb {
        "push" | "send-pack" | "http-push" => push(command),
        "fetch" | "pull" | "ls-remote" | "fetch-pack" => fetch(command),
        "clone" => clone(command),
        "remote" => remote(command),
        "config" => config::outcome(command),
        "init" => {
            let read = command
                .read(&Options::new("b:", "initial-branch= template= separate-git-dir= object-format="));
            let here = Value::known(".");
            Outcome::of([makes(command, read.operands.first().unwrap_or(&here))])
        }
        "send-email" | "imap-send" => {
            let data = command.call.args.iter().map(|path| Datum::File(command.call.path(path))).collect();
            Outcome::of([Act::Network { traffic: Traffic::Send, to: Value::known("mail"), data }])
        }
        "daemon" | "instaweb" | "upload-pack" | "receive-pack" => {
            let to = Value::known("a port");
            Outcome::of([Act::Network { traffic: Traffic::Listen, to, data: Vec::new() }])
        }
        "credential" | "credential-store" | "credential-cache" if command.call.says(&["fill", "get"]) => {
            let what = "what git keeps to log in".to_owned();
            Outcome::of([Act::Reveal { what: what.clone() }]).saying(Stream::data([Datum::Secret(what)]))
        }
        "credential" | "credential-store" | "credential-cache" => Outcome::of([command.act("", false, None)])
            .saying(Stream::data([Datum::Secret("git credential".to_owned())])),
        "archive" | "bundle" | "format-patch" => {
            let read = command.read(&Options::new("o:", "output= output-directory= remote= format= prefix="));
            let mut outcome = command.benign();
            for file in read.values("o output output-directory") {
                // Patches are put into it, each by its own name.
                outcome.push(if command.verb == "format-patch" {
                    command.call.fills(file)
                } else {
                    command.call.writes(file, Change::Replace)
                });
            }
            if command.verb == "bundle" && read.verb() == "create" {
                let here = command.call.path(&Value::known("."));
                outcome.push(Act::Read { path: here, deep: true });
                outcome.acts.extend(read.operands.get(1).map(|file| {
                    (command.call.writes(file, Change::Replace), crate::effects::act::Effort::Done)
                }));
            }
            if command.verb == "archive" {
                for file in read.operands.iter().skip(1) {
                    outcome.push(command.call.reads(file));
                }
            }
            let here = Datum::File(command.call.path(&Value::known(".")));
            outcome.saying(Stream::data([here]))
        }
        "difftool" | "mergetool" => {
            let read = command.read(&Options::new("x:t:", "extcmd= tool="));
            let mut outcome = command.benign();
            outcome.next.extend(read.values("x extcmd").map(|line| command.call.shell(line.clone())));
            outcome
        }
        _ => shows(command),
    }
}

/// `show`, `diff`, `log`, `cat-file`, `blame`, `grep`: contents are shown.
fn shows(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new(
        "n:L:S:G:O:U:e:f:",
        "format= pretty= since= until= after= before= author= committer= grep= max-count= skip= output= date= unified= \
         diff-filter= word-diff? color? stat? batch? ignore-revs-file= no-index max-depth= open-files-in-pager= \
         contents= exclude= decorate? relative? abbrev=",
    ));
    let mut outcome = command.benign();
    let operands = read.operands.iter().skip(usize::from(command.verb == "grep" && !read.has("e f")));
    for operand in operands {
        if let Some(act) = object(command, operand) {
            outcome.push(act);
        } else if !matches!(command.verb, "log" | "cat-file")
            || operand.prefix().contains(&b'/')
            || operand.prefix().starts_with(b".")
        {
            outcome.push(command.call.reads(operand));
        }
    }
    for line in read.values("O open-files-in-pager") {
        outcome.next.push(command.call.shell(line.clone()));
    }
    if let Some(file) = read.value("output") {
        outcome.push(command.call.writes(file, Change::Replace));
    }
    let data: Vec<Datum> = outcome
        .acts
        .iter()
        .filter_map(|(act, _)| match act {
            Act::Read { path, .. } => Some(Datum::File(path.clone())),
            _ => None,
        })
        .collect();
    outcome.saying(Stream { text: None, data })
}

/// Whether a remote is a place and no name.
fn is_place(remote: &Value) -> bool {
    let prefix = remote.prefix();
    prefix.windows(3).any(|window| window == b"://")
        || prefix.contains(&b'@')
        || prefix.starts_with(b"ext::")
        || remote.why().is_some()
        || prefix
            .iter()
            .position(|byte| *byte == b':')
            .is_some_and(|colon| colon > 0 && !prefix.contains(&b'/'))
}

fn is_path(remote: &Value) -> bool {
    let prefix = remote.prefix();
    [b"/".as_slice(), b"./", b"../", b"file://"].iter().any(|start| prefix.starts_with(start))
}

/// `ext::` runs a command to connect.
fn transport(command: &Command<'_>, remote: &Value, outcome: &mut Outcome) {
    if remote.prefix().starts_with(b"ext::") {
        outcome.next.push(command.call.shell(after(remote, 5)));
    }
}

fn push(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new(
        "o:",
        "repo= receive-pack= exec= push-option= force-with-lease? force force-if-includes delete mirror all prune tags \
         follow-tags set-upstream dry-run no-verify signed? atomic recurse-submodules=",
    ));
    let remote = read.operands.first().or_else(|| read.value("repo"));
    let specs = read.operands.get(1..).unwrap_or_default();
    let forced = specs.iter().any(|spec| spec.prefix().starts_with(b"+"));
    let deletes = read.has("d delete") || specs.iter().any(|spec| spec.prefix().starts_with(b":"));
    let vague = specs.iter().any(|spec| spec.prefix().is_empty() && spec.why().is_some());
    let what = match () {
        () if read.has("f force forc") || forced => "--force",
        () if deletes => "--delete",
        () if read.has("mirror") => "--mirror",
        () if read.has("prune") => "--prune",
        () if vague => "of an unknown name",
        () if read.has("force-with-lease") => "--force-with-lease",
        () => "",
    };
    let loses = !matches!(what, "" | "--force-with-lease" | "of an unknown name");
    let target = specs.first().or(remote);
    let mut outcome = Outcome::of([command.act(what, loses, target)]);
    let whole = read.has("all mirror");
    let known = |remote: &Value| matches!(remote.text(), None | Some("origin" | "upstream"));
    if let Some(remote) = remote.filter(|remote| is_place(remote) || whole && !known(remote)) {
        let here = Datum::File(command.call.path(&Value::known(".")));
        let data = if whole || !is_forge(remote) { vec![here] } else { Vec::new() };
        outcome.push(Act::Network { traffic: Traffic::Send, to: remote.clone(), data });
        transport(command, remote, &mut outcome);
    }
    for line in read.values("receive-pack exec") {
        outcome.next.push(command.call.shell(line.clone()));
    }
    outcome.rehearsed_if(read.has("n dry-run"))
}

/// Whether a place is one where projects are kept.
fn is_forge(remote: &Value) -> bool {
    let text = String::from_utf8_lossy(remote.prefix()).into_owned();
    remote.why().is_some()
        || text.starts_with("git@")
        || ["github.com", "gitlab.com", "bitbucket.org", "codeberg.org", "git.sr.ht", "dev.azure.com"]
            .iter()
            .any(|host| text.contains(&format!("//{host}/")) || text.contains(&format!("@{host}")))
}

fn fetch(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new(
        "j:o:X:s:",
        "upload-pack= depth= deepen= shallow-since= refmap= jobs= server-option= strategy= strategy-option= exec= \
         rebase? force prune tags all",
    ));
    let remote = read.operands.first().cloned().unwrap_or_else(|| Value::known("origin"));
    let mut outcome = Outcome::of([command.act("", false, Some(&remote))]);
    if is_place(&remote) {
        outcome.push(Act::Network {
            traffic: Traffic::Fetch,
            to: remote.clone(),
            data: command.call.invocation.flows.clone(),
        });
        transport(command, &remote, &mut outcome);
    }
    for line in read.values("upload-pack exec") {
        outcome.next.push(command.call.shell(line.clone()));
    }
    outcome
}

fn clone(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new(
        "b:c:o:u:j:",
        "branch= config= origin= upload-pack= depth= jobs= reference= reference-if-able= template= separate-git-dir= filter= \
         shallow-since= shallow-exclude= server-option= bundle-uri= recurse-submodules?",
    ));
    let Some(from) = read.operands.first() else { return Outcome::harmless() };
    let mut outcome = Outcome::default();
    if is_path(from) {
        outcome.push(Act::Read { path: command.call.path(from), deep: true });
    } else {
        outcome.push(Act::Network {
            traffic: Traffic::Fetch,
            to: from.clone(),
            data: command.call.invocation.flows.clone(),
        });
    }
    let to = read.operands.get(1).cloned().unwrap_or_else(|| {
        let text = from.text().unwrap_or("clone").trim_end_matches('/').trim_end_matches(".git");
        Value::known(text.rsplit(['/', ':']).next().unwrap_or("clone"))
    });
    outcome.push(makes(command, &to));
    outcome.push(command.call.fills(&to));
    transport(command, from, &mut outcome);
    for line in read.values("u upload-pack") {
        outcome.next.push(command.call.shell(line.clone()));
    }
    // Hooks of the template are run with the checkout.
    for template in read.values("template").filter(|place| !place.pieces.is_empty()) {
        let code = crate::effects::act::Code::File(command.call.inside(template, &Value::known("hooks")));
        outcome.push(Act::Run { code, with: "git".to_owned() });
    }
    for setting in read.values("c config") {
        if let Some((key, value)) = super::split(setting, b'=') {
            config::once(&command.call, &key, &value, &mut outcome);
        }
    }
    outcome
}

fn remote(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new("t:m:", "tags mirror?"));
    let verb = read.verb();
    let mut outcome = Outcome::of([command.act(verb, false, read.operands.last())]);
    if matches!(verb, "add" | "set-url")
        && let Some(place) = read.operands.get(2)
    {
        transport(command, place, &mut outcome);
    }
    if outcome.next.is_empty() && verb.is_empty() {
        outcome = Outcome::harmless();
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn pushes_say_whether_they_overwrite() {
        check(&[
            ("git push", "git push"),
            ("git push origin main", "git push"),
            ("git push -u origin HEAD", "git push"),
            ("git push --force-with-lease", "git push --force-with-lease"),
            ("git push --force-with-lease=main:abc --force origin main", "git! push --force"),
            ("git push origin +main", "git! push --force"),
            ("git push origin :main", "git! push --delete"),
            ("git push --mirror", "git! push --mirror"),
            ("git push -n -f", "~git! push --force"),
            ("git push https://x.test/r main", "git push; send https://x.test/r </home/dev/project>"),
        ]);
    }

    #[test]
    fn code_in_settings_runs() {
        check(&[
            ("git -c core.pager='rm -rf /' log", "git log; $ rm -rf /"),
            ("git -c alias.x='!rm -rf /' x", "$ rm -rf /"),
            ("git -c user.name=x commit", "git commit"),
            ("git config --global alias.x '!rm -rf /'", "git config alias.x; persist git config alias.x"),
            (
                "git config core.hooksPath /tmp/h",
                "git config core.hooksPath; persist git config core.hooksPath",
            ),
            ("git config user.email a@b.c", "git config user.email"),
            ("git config --get user.email", "compute"),
            (
                "git clone ext::sh x",
                "fetch ext::sh; write:Make /home/dev/project/x; write:Replace /home/dev/project/x/[**]; $ sh",
            ),
        ]);
    }

    #[test]
    fn contents_are_read() {
        check(&[
            ("git show HEAD:.env", "git show; read /home/dev/project/.env"),
            ("git diff a.rs", "git diff; read /home/dev/project/a.rs"),
            ("git log --oneline -5", "git log"),
            ("git status", "compute"),
            (
                "git clone https://x.test/a/b.git",
                "fetch https://x.test/a/b.git; write:Make /home/dev/project/b; write:Replace /home/dev/project/b/[**]",
            ),
        ]);
    }
}
