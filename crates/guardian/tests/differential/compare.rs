//! What bash did beside what the guardian said it may do.

use belljar_guardian::effects::{Act, Change, Code, Context, Effect, Effort, Invocation};
use belljar_guardian::shell::eval::trace;
use belljar_guardian::shell::value::{Piece, Value};

use super::sandbox::{Deeds, Started};

/// How a script came out.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// All bash did was named.
    Named,
    /// It was said that not everything can be known: the first construct.
    Unknown(String),
    /// Bash did this, and nobody said so.
    Missed(Vec<String>),
    /// Bash had to be stopped, or went on where a `cd` had failed: the guardian takes it that one succeeds unless that is asked.
    Passed,
}

/// What is known of where a script runs.
fn context(deeds: &Deeds) -> Context {
    let home = deeds.cwd.replace("/p", "/home").into_bytes();
    Context {
        cwd: deeds.cwd.clone().into_bytes(),
        home: home.clone(),
        user: "me".to_owned(),
        workspace: deeds.cwd.clone().into_bytes(),
        environment: [(b"HOME".to_vec(), home), (b"PATH".to_vec(), b"/stubs".to_vec())].into_iter().collect(),
        ..Context::default()
    }
}

/// Both sides of one script, for a person.
pub(crate) fn told(script: &str, deeds: &Deeds) -> String {
    let (invocations, effects) = trace(script.trim_end_matches('\n').as_bytes(), &context(deeds));
    let mut lines = vec![format!("{:?}", compare(script, deeds)), "bash started:".to_owned()];
    lines.extend(deeds.started.iter().map(|started| {
        let words: Vec<String> = started.argv.iter().map(|word| format!("{:?}", shown(word))).collect();
        format!("  {}", words.join(" "))
    }));
    for (verb, paths) in [("wrote", &deeds.written), ("removed", &deeds.removed), ("read", &deeds.read)] {
        lines.extend(paths.iter().map(|path| format!("bash {verb} {}", shown(path))));
    }
    lines.push("guardian says:".to_owned());
    lines.extend(invocations.iter().map(|invocation| {
        let words: Vec<String> = invocation.argv.iter().map(|word| format!("{:?}", word.pieces)).collect();
        format!("  {}{}", words.join(" "), if invocation.more.is_some() { " and more" } else { "" })
    }));
    lines.extend(effects.iter().map(|effect| format!("  {:?} by {}", effect.act, effect.by)));
    lines.join("\n")
}

/// Compares one script.
pub(crate) fn compare(script: &str, deeds: &Deeds) -> Outcome {
    // Nobody sees a `cd` fail that is told to be no function.
    let is_unseen = ["command cd", "builtin cd", "command pushd"].iter().any(|words| script.contains(words));
    if deeds.stopped || deeds.astray || is_unseen {
        return Outcome::Passed;
    }
    let (invocations, effects) = trace(script.trim_end_matches('\n').as_bytes(), &context(deeds));
    let unknown = effects.iter().find_map(|effect| match &effect.act {
        Act::Unknown(why) => Some(why.construct.clone()),
        // What is in it is not in the script, and that it is run is said.
        Act::Run { code: Code::File(_), with } if matches!(with.as_str(), "source" | "bash" | "sh") => {
            Some(format!("a file that {with} runs"))
        }
        _ => None,
    });
    if let Some(construct) = unknown {
        return Outcome::Unknown(construct);
    }
    let finds = deeds.started.iter().any(|started| started.argv.first().is_some_and(|name| name == b"find"));
    let mut missed = Vec::new();
    for started in &deeds.started {
        if !invocations.iter().any(|invocation| starts(invocation, started, finds)) {
            let words: Vec<String> = started.argv.iter().map(|word| format!("{:?}", shown(word))).collect();
            missed.push(format!("started {} in {}", words.join(" "), shown(&started.cwd)));
        }
    }
    for (verb, paths, is_named) in [
        ("wrote", &deeds.written, writes as fn(&Effect, &[u8]) -> bool),
        ("removed", &deeds.removed, removes),
        ("read", &deeds.read, reads),
    ] {
        for path in paths {
            let is_done = |effect: &&Effect| effect.effort == Effort::Done;
            if !effects.iter().filter(is_done).any(|effect| is_named(effect, path)) {
                missed.push(format!("{verb} {}", shown(path)));
            }
        }
    }
    if missed.is_empty() { Outcome::Named } else { Outcome::Missed(missed) }
}

fn shown(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn starts(invocation: &Invocation, started: &Started, finds: bool) -> bool {
    let Some((name, arguments)) = invocation.argv.split_first() else { return false };
    let Some((real, words)) = started.argv.split_first() else { return false };
    // A name of which nothing is known would have to be said to be unknown.
    let is_named = name.pieces.iter().any(|piece| matches!(piece, Piece::Known(_)));
    let is_name = is_named && (may_be(name, real) || may_be(name, &[b"/stubs/", real.as_slice()].concat()));
    let reading = Reading { more: invocation.more.is_some(), found: finds.then_some(&started.cwd) };
    // A directory that is gone has no name any more.
    let is_there = started.cwd.is_empty() || may_be(&invocation.cwd, &started.cwd);
    is_name && is_there && reading.fits(arguments, words)
}

/// How words are held against the guardian's.
struct Reading<'a> {
    /// Any number of words may stand anywhere.
    more: bool,
    /// Where `find` looks: what it finds is named by its place from the root on, and all below a directory by the directory.
    found: Option<&'a Vec<u8>>,
}

impl Reading<'_> {
    /// Whether these words may come of these arguments; a glob is any number of names.
    fn fits(&self, values: &[Value], words: &[Vec<u8>]) -> bool {
        let Some((value, rest)) = values.split_first() else { return words.is_empty() || self.more };
        let many = value.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)))
            || self.found.is_some() && (value.prefix().starts_with(b"/") || value.why().is_some());
        (0..=words.len()).any(|count| {
            let (taken, left) = words.split_at(count);
            let is_it = match taken {
                [word] => self.is(value, word) || self.more,
                // What stands beside a glob that came out of a variable is beside its first or last name.
                [first, .., last] => self.more || many && (self.is(value, first) || self.is(value, last)),
                [] => self.more || many,
            };
            is_it && self.fits(rest, left)
        })
    }

    fn is(&self, value: &Value, word: &[u8]) -> bool {
        if may_be(value, word) {
            return true;
        }
        let Some(cwd) = self.found else { return false };
        // What is found may stand behind other text in its word.
        let text = value.prefix();
        let same = text.iter().zip(word).take_while(|(ours, theirs)| ours == theirs).count();
        (0..=same).any(|cut| {
            let mut value = value.clone();
            if let (1.., Some(Piece::Known(bytes))) = (cut, value.pieces.first_mut()) {
                bytes.drain(..cut);
            }
            let word = word[cut..].strip_prefix(b"./").unwrap_or(&word[cut..]);
            let path = [cwd, b"/".as_slice(), word].concat();
            is_path(&value, &path, true) || is_found(&value, &path)
        })
    }
}

/// Whether a value may be this text.
fn may_be(value: &Value, text: &[u8]) -> bool {
    fn fits(pieces: &[Piece], text: &[u8]) -> bool {
        match pieces {
            [] => text.is_empty(),
            [Piece::Known(bytes), rest @ ..] => {
                text.strip_prefix(bytes.as_slice()).is_some_and(|text| fits(rest, text))
            }
            [Piece::Unknown(_) | Piece::Glob(_), rest @ ..] => {
                (0..=text.len()).any(|at| fits(rest, &text[at..]))
            }
        }
    }
    let mut value = value.clone();
    for piece in &mut value.pieces {
        if let Piece::Known(bytes) = piece {
            *bytes = undescribed(bytes);
        }
    }
    fits(&value.pieces, &undescribed(text))
}

/// Text without the numbers of descriptors: which one a process substitution gets is of no interest.
fn undescribed(text: &[u8]) -> Vec<u8> {
    const AT: &[u8] = b"/dev/fd/";
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.windows(AT.len()).position(|window| window == AT) {
        let (before, after) = rest.split_at(place + AT.len());
        out.extend_from_slice(before);
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        rest = &after[digits..];
    }
    out.extend_from_slice(rest);
    out
}

/// Whether a path is this one; with what is below it, or in it.
fn is_path(value: &Value, path: &[u8], deep: bool) -> bool {
    may_be(value, path) || deep && parents(path).any(|parent| may_be(value, parent))
}

/// Whether a path may be what `find` comes upon: of this name, in this place or anywhere below.
fn is_found(value: &Value, path: &[u8]) -> bool {
    let Some(value) = value.bytes() else { return false };
    let split = |path: &[u8]| {
        path.iter().rposition(|byte| *byte == b'/').map(|at| (path[..at].to_vec(), path[at..].to_vec()))
    };
    match (split(value), split(path)) {
        (Some((place, name)), Some((below, found))) => name == found && below.starts_with(&place),
        _ => false,
    }
}

fn parents(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[..at])
}

fn writes(effect: &Effect, path: &[u8]) -> bool {
    match &effect.act {
        // What is put into a directory may be named by it.
        Act::Write { path: written, change, .. } => {
            is_path(written, path, true)
                || *change == Change::Make && is_parent(path, written)
                || is_filled(path, written)
        }
        Act::Permit { path: permitted, deep, .. } => is_path(permitted, path, *deep),
        _ => false,
    }
}

/// Whether a directory is one that something is unpacked into.
fn is_filled(directory: &[u8], written: &Value) -> bool {
    let is_all = |piece: &Piece| matches!(piece, Piece::Glob(all) if all == b"**");
    written.pieces.last().is_some_and(is_all) && may_be(written, &[directory, b"/"].concat())
}

/// Whether a directory is one that `mkdir -p` would make on the way.
fn is_parent(directory: &[u8], made: &Value) -> bool {
    let mut made = made.clone();
    while let Some(piece) = made.pieces.pop() {
        let Piece::Known(bytes) = piece else { continue };
        for parent in parents(&bytes) {
            let mut above = made.clone();
            above.push(Piece::Known(parent.to_vec()));
            if may_be(&above, directory) {
                return true;
            }
        }
    }
    false
}

fn removes(effect: &Effect, path: &[u8]) -> bool {
    matches!(&effect.act, Act::Delete { path: removed, deep, .. } if is_path(removed, path, *deep) || is_found(removed, path))
}

fn reads(effect: &Effect, path: &[u8]) -> bool {
    match &effect.act {
        Act::Read { path: read, deep } => is_path(read, path, *deep) || is_found(read, path),
        Act::Run { code: Code::File(read), .. } => is_path(read, path, false),
        // Who edits a file reads it.
        Act::Write { path: written, change, .. } if *change == Change::Edit || effect.by == "sed" => {
            is_path(written, path, false)
        }
        _ => false,
    }
}
