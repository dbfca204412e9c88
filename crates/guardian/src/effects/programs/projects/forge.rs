//! `gh`, `glab`: what a forge is told.

use super::super::call::Call;
use super::super::options::{Options, Read};
use crate::effects::act::{Act, Change, Datum, Effort, Traffic};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

const GH: Options = Options::new(
    "R:X:f:F:H:q:t:T:b:B:c:C:l:L:a:r:s:S:m:p:n:u:e:o:k:d?",
    "repo= method= field= raw-field= header= jq= template= input= title= body= body-file= base= head= label= assignee= \
     reviewer= milestone= project= limit= state= search= author= json= hostname= cache= notes= notes-file= target= \
     subject= match-head-commit= env= org= visibility= dir= pattern= output= remote= branch= cleanup-tag? paginate yes \
     confirm delete-branch silent web force",
);

/// `gh`.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() || call.args.is_empty() {
        return Outcome::harmless();
    }
    let read = call.read(&GH);
    let words: Vec<&str> = read.operands.iter().map(|word| word.text().unwrap_or("?")).collect();
    let (object, verb) =
        (words.first().copied().unwrap_or_default(), words.get(1).copied().unwrap_or_default());
    let said = format!("{} {}", call.name, words.join(" "));
    let lost = || Act::Git { operation: said.clone(), loses: true, target: None };
    let mut outcome = Outcome::default();
    posted(call, &read, object, &mut outcome);
    match (object, verb) {
        ("auth", "token") => {
            let what = "the token of a forge".to_owned();
            outcome.output = Stream::data([Datum::Secret(what.clone())]);
            outcome.push(Act::Reveal { what });
        }
        ("auth", "status") if call.says(&["-t", "--show-token"]) => {
            outcome.push(Act::Reveal { what: "the token of a forge".to_owned() });
        }
        ("api", _) => api(call, &read, &said, &mut outcome),
        ("alias" | "extension" | "ext", "set" | "install" | "import")
            if verb != "install"
                && read.operands.get(3).is_some_and(|line| line.prefix().starts_with(b"!"))
                || verb == "import"
                || call.says(&["--shell"]) =>
        {
            outcome.push(Act::Persist { how: format!("gh {object}") });
        }
        ("gist" | "snippet", "create" | "edit") => gist(call, &read, &mut outcome),
        ("release", "upload" | "create") => {
            for file in read.operands.iter().skip(3) {
                outcome.push(call.reads(file));
            }
        }
        ("release", "download") => {
            outcome.push(call.network(Traffic::Fetch, &Value::known("https://github.com"), Vec::new()));
            for file in read.values("output O") {
                outcome.push(call.writes(file, Change::Replace));
            }
        }
        ("repo", "clone") => {
            let from = read.operands.get(2).cloned().unwrap_or_default();
            let name = words.get(2).and_then(|name| name.rsplit('/').next()).unwrap_or("clone");
            let to =
                read.operands.get(3).cloned().unwrap_or_else(|| Value::known(name.trim_end_matches(".git")));
            outcome.push(call.network(Traffic::Fetch, &from, Vec::new()));
            outcome.push(call.fills(&to));
        }
        ("repo", "edit")
            if call
                .words()
                .any(|word| word.starts_with("--visibility") || word.starts_with("--accept-visibility")) =>
        {
            outcome.push(lost());
        }
        ("repo", "sync") if read.has("force") => outcome.push(lost()),
        ("cache", "delete") if call.says(&["--all", "-a"]) => outcome.push(lost()),
        ("workflow", "disable") | ("label", "delete") => outcome.push(lost()),
        ("pr" | "mr", "close") if read.has("d delete-branch") => outcome.push(lost()),
        ("codespace" | "cs", "ssh") | ("ssh-key" | "gpg-key", "add") => {
            let acts = if verb == "add" {
                Act::Persist { how: said.clone() }
            } else {
                call.network(Traffic::Remote, &Value::known("a codespace"), Vec::new())
            };
            outcome.push(acts);
        }
        (_, "delete" | "remove" | "archive" | "delete-asset" | "destroy" | "transfer" | "unpublish")
            if !matches!(object, "alias" | "extension" | "cache" | "ext") =>
        {
            outcome.push(lost());
        }
        _ => {}
    }
    if outcome.acts.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// Files whose text goes to the forge.
fn posted(call: &Call<'_>, read: &Read, object: &str, outcome: &mut Outcome) {
    let is_body = matches!(object, "pr" | "mr" | "issue" | "release" | "discussion");
    let bodies =
        read.values(if is_body { "F body-file notes-file input" } else { "body-file notes-file input" });
    let files: Vec<&Value> = bodies.filter(|file| file.text() != Some("-")).collect();
    if !files.is_empty() {
        outcome.acts.extend(files.iter().map(|file| (call.reads(file), Effort::Done)));
        let data = files.iter().map(|file| Datum::File(call.path(file))).collect();
        outcome.push(call.network(Traffic::Send, &Value::known("https://github.com"), data));
    }
}

/// Files, or what is read, on a page everybody may see.
fn gist(call: &Call<'_>, read: &Read, outcome: &mut Outcome) {
    let mut data = call.input_data();
    // An edit names its page first, and what is added by an option.
    let edits = read.operands.get(1).and_then(Value::text) == Some("edit");
    let named =
        read.operands.iter().skip(if edits { 3 } else { 2 }).chain(read.values("a").filter(|_| edits));
    for file in named.filter(|file| file.text() != Some("-")) {
        outcome.push(call.reads(file));
        data.push(Datum::File(call.path(file)));
    }
    outcome.push(call.network(Traffic::Send, &Value::known("https://gist.github.com"), data));
}

/// Calls of the forge's own interface.
fn api(call: &Call<'_>, read: &Read, said: &str, outcome: &mut Outcome) {
    let method = read.value("X method").and_then(Value::text).unwrap_or_default().to_ascii_uppercase();
    let fields = || read.values("f F field raw-field").filter_map(Value::text);
    let forced = fields().any(|field| field == "force=true") && said.contains("refs");
    let mutation =
        fields().any(|field| field.contains("mutation") && field.to_ascii_lowercase().contains("delete"));
    if method == "DELETE"
        || forced
        || mutation
        || method == "PATCH" && fields().any(|field| field == "archived=true" || field == "private=false")
    {
        outcome.push(Act::Git { operation: format!("{said} {method}"), loses: true, target: None });
    }
    for field in read
        .values("F field")
        .filter_map(|field| super::super::options::split(field, b'=').map(|(_, value)| value))
    {
        if field.prefix().starts_with(b"@") {
            outcome.push(call.reads(&super::super::options::after(&field, 1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn forges_are_asked_told_and_emptied() {
        check(&[
            ("gh pr list", "compute"),
            ("gh issue create --title 'rm -rf /' --body x", "compute"),
            ("gh repo delete o/r --yes", "git! gh repo delete o/r"),
            ("gh release delete v1.0 -y", "git! gh release delete v1.0"),
            ("gh api -X DELETE repos/o/r", "git! gh api repos/o/r DELETE"),
            ("gh api repos/o/r", "compute"),
            ("gh pr close 5 --delete-branch", "git! gh pr close 5"),
            ("gh pr close 5", "compute"),
            ("gh repo clone o/r", "fetch o/r; write:Replace /home/dev/project/r/[**]"),
            ("gh auth token", "reveal the token of a forge"),
            (
                "gh gist create .env",
                "read /home/dev/project/.env; send https://gist.github.com </home/dev/project/.env>",
            ),
            ("glab repo delete g/r", "git! glab repo delete g/r"),
        ]);
    }
}
