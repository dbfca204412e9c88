//! `git`: what loses work, what others see, what runs code, and all the rest, which is harmless.

mod config;
mod lose;
mod move_data;

use super::call::Call;
use super::options::{Options, Read, after, split};
use crate::effects::act::{Act, Change};
use crate::effects::invocation::{Invocation, Outcome, Stream};
use crate::shell::value::{Piece, Value};

const GLOBAL: Options = Options::new(
    "c:C:",
    "git-dir= work-tree= namespace= config-env= exec-path? super-prefix= paginate no-pager bare no-replace-objects \
     literal-pathspecs no-optional-locks version help html-path",
)
.stops();

/// One subcommand, with what stands before it.
pub(super) struct Command<'a> {
    /// The call with git's directory as its own and only the subcommand's arguments.
    pub call: Call<'a>,
    /// The subcommand.
    pub verb: &'a str,
}

impl Command<'_> {
    /// Reads the subcommand's options.
    fn read(&self, options: &Options) -> Read {
        self.call.read(options)
    }

    /// An act of git's own kind.
    fn act(&self, what: &str, loses: bool, target: Option<&Value>) -> Act {
        let operation = if what.is_empty() { self.verb.to_owned() } else { format!("{} {what}", self.verb) };
        let target = target.and_then(Value::text).map(str::to_owned);
        Act::Git { operation, loses, target }
    }

    /// Nothing is lost and nobody else sees it.
    fn benign(&self) -> Outcome {
        Outcome::of([self.act("", false, None)])
    }
}

/// `git` with whatever follows.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&GLOBAL);
    let mut invocation: Invocation = call.invocation.clone();
    for directory in read.values("C") {
        invocation.cwd = call.context.resolve(directory, &invocation.cwd);
    }
    if let Some(place) = read.value("exec-path") {
        let why = call.why(format!("programs of git in {}", place.text().unwrap_or("a place")));
        return Outcome::of([Act::Unknown(why)]);
    }
    let tree = read.value("work-tree").cloned().or_else(|| {
        let set = call.invocation.environment.iter().rev().find(|(name, _)| name == b"GIT_WORK_TREE");
        set.map(|(_, tree)| tree.clone())
    });
    if let Some(tree) = &tree {
        invocation.cwd = call.context.resolve(tree, &invocation.cwd);
    }
    let mut before = Outcome::default();
    for setting in read.values("c") {
        let (key, value) = split(setting, b'=')
            .unwrap_or_else(|| (setting.text().unwrap_or_default().to_owned(), Value::default()));
        config::once(call, &key, &value, &mut before);
    }
    config::environment(call, &mut before);
    let rest = read.operands.get(1..).unwrap_or_default();
    let Some(first) = read.operands.first() else {
        if let Some(why) = &call.invocation.more {
            before.push(Act::Unknown(why.clone()));
        } else {
            before.push(Act::Compute);
        }
        return before;
    };
    let Some(verb) = first.text() else {
        before.push(call.unknown("a subcommand of git"));
        return before;
    };
    let inner = Call { args: rest, invocation: &invocation, ..*call };
    // An alias given in the same command is what it says.
    let alias = format!("alias.{verb}=");
    if let Some(text) = read.values("c").find(|setting| setting.prefix().starts_with(alias.as_bytes())) {
        let text = after(text, alias.len());
        if text.prefix().starts_with(b"!") {
            before.next.push(call.shell(after(&text, 1)));
        } else {
            let mut argv = vec![Value::known("git")];
            let words = super::xargs::words(text.bytes().unwrap_or_default());
            argv.extend(words.into_iter().map(Value::known));
            argv.extend(rest.iter().cloned());
            before.next.push(call.next(argv));
        }
        return before;
    }
    let mut outcome = command(&Command { call: inner, verb });
    // Another directory is laid over with what the repository holds.
    let is_overlaid =
        matches!(verb, "checkout" | "restore" | "reset" | "switch" | "read-tree" | "checkout-index")
            && outcome.acts.iter().any(|(act, _)| matches!(act, Act::Git { loses: true, .. }));
    if let (Some(_), true) = (&tree, is_overlaid) {
        outcome.push(Act::Delete { path: invocation.cwd.clone(), deep: true, filtered: true });
    }
    outcome.acts.splice(0..0, before.acts);
    outcome.next.splice(0..0, before.next);
    outcome
}

fn command(command: &Command<'_>) -> Outcome {
    if command.call.args.iter().any(|arg| matches!(arg.text(), Some("--help"))) {
        return Outcome::harmless();
    }
    match command.verb {
        "reset"
        | "checkout"
        | "switch"
        | "restore"
        | "clean"
        | "branch"
        | "stash"
        | "tag"
        | "reflog"
        | "gc"
        | "prune"
        | "update-ref"
        | "filter-branch"
        | "filter-repo"
        | "worktree"
        | "read-tree"
        | "checkout-index"
        | "rebase"
        | "rm"
        | "mv"
        | "submodule"
        | "bisect"
        | "commit"
        | "replace"
        | "symbolic-ref"
        | "lfs"
        | "sparse-checkout"
        | "notes"
        | "merge"
        | "cherry-pick"
        | "revert"
        | "am"
        | "apply"
        | "pull-request"
        | "fast-import"
        | "repack"
        | "maintenance"
        | "rerere"
        | "annex"
        | "svn"
        | "flow"
        | "obliterate"
        | "delete-branch"
        | "delete-merged-branches"
        | "reset-file"
        | "undo" => lose::outcome(command),
        "push" | "fetch" | "pull" | "clone" | "remote" | "ls-remote" | "send-email" | "archive"
        | "bundle" | "show" | "diff" | "log" | "cat-file" | "blame" | "annotate" | "grep"
        | "format-patch" | "daemon" | "instaweb" | "upload-pack" | "receive-pack" | "hash-object"
        | "difftool" | "mergetool" | "request-pull" | "init" | "send-pack" | "http-push" | "fetch-pack"
        | "imap-send" | "credential" | "credential-store" | "credential-cache" | "config" => {
            move_data::outcome(command)
        }
        "add" | "stage" => add(command),
        "ls-files" => listed(command),
        "status" | "describe" | "rev-parse" | "rev-list" | "shortlog" | "whatchanged" | "ls-tree"
        | "name-rev" | "merge-base" | "for-each-ref" | "show-ref" | "show-branch" | "count-objects"
        | "fsck" | "check-ignore" | "check-attr" | "check-ref-format" | "diff-tree" | "diff-files"
        | "diff-index" | "cherry" | "range-diff" | "var" | "version" | "help" | "verify-commit"
        | "verify-tag" | "verify-pack" | "mktree" | "write-tree" | "commit-tree" | "update-index"
        | "merge-tree" | "merge-file" | "stripspace" | "interpret-trailers" | "column"
        | "get-tar-commit-id" | "patch-id" | "bugreport" | "diagnose" | "gui" | "gitk" | "citool"
        | "pack-refs" | "commit-graph" | "multi-pack-index" | "unpack-objects" | "index-pack"
        | "backfill" | "absorb" | "standup" | "summary" | "extras" | "cliff" | "town" | "who" | "effort" => {
            Outcome::harmless()
        }
        // An alias or a program of its own: what it does is written elsewhere.
        other => Outcome::of([Act::Run {
            code: crate::effects::act::Code::Program(format!("git-{other}")),
            with: "git".to_owned(),
        }]),
    }
}

/// `ls-files`: names that are held to a pattern are names of files here.
fn listed(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new(
        "x:X:",
        "exclude= exclude-from= exclude-per-directory= with-tree= abbrev? format= others ignored modified deleted \
         cached stage exclude-standard error-unmatch full-name directory",
    ));
    let plain = !read.operands.is_empty() && !read.has("s stage format full-name u t v directory");
    let patterns: Option<Vec<&str>> = read.operands.iter().map(Value::text).collect();
    let Some(patterns) = patterns.filter(|_| plain) else {
        return Outcome::harmless();
    };
    let is_inside = |pattern: &&str| {
        pattern.contains('.') && !pattern.starts_with(['/', ':', '~']) && !pattern.contains("..")
    };
    if !patterns.iter().all(is_inside) {
        return Outcome::harmless();
    }
    let end = if read.has("z") { b"\0" } else { b"\n" };
    let mut names = Value::default();
    for (place, pattern) in patterns.iter().enumerate() {
        if place > 0 {
            names.push(Piece::Known(end.to_vec()));
        }
        // Hidden files are not what an open pattern means.
        names.push(if pattern.contains(['*', '?', '[']) {
            Piece::Glob(pattern.as_bytes().to_vec())
        } else {
            Piece::Known(pattern.as_bytes().to_vec())
        });
    }
    Outcome::harmless().saying(Stream::text(names))
}

fn add(command: &Command<'_>) -> Outcome {
    let read = command.read(&Options::new("", "chmod= pathspec-from-file="));
    let mut outcome = command.benign();
    if let Some(file) = read.value("pathspec-from-file") {
        outcome.push(command.call.reads(file));
    }
    // What is named is kept for everybody who has the repository.
    for file in read.operands.iter().filter(|file| !matches!(file.text(), Some("." | "*" | ":/"))) {
        outcome.push(command.call.reads(file));
    }
    outcome
}

/// A file of the repository, behind `:` or as it is.
fn object(command: &Command<'_>, arg: &Value) -> Option<Act> {
    let (_, path) = split(arg, b':')?;
    (!path.pieces.is_empty()).then(|| command.call.reads(&path))
}

/// The files behind `--`: what is shown or kept of them is read.
fn named_files<'a>(command: &'a Command<'_>) -> impl Iterator<Item = Act> + 'a {
    command
        .call
        .args
        .iter()
        .skip_while(|arg| arg.text() != Some("--"))
        .skip(1)
        .map(|path| command.call.reads(path))
}

/// A file that is made anew.
fn makes(command: &Command<'_>, path: &Value) -> Act {
    command.call.writes(path, Change::Make)
}
