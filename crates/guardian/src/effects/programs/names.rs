//! What a program is, by the name it is started with.
//!
//! Owns: directories programs are installed in, and names that are patterns. Refuses: trust in the last part of a path: `./rm` is
//! a file of that name and nothing else.

use super::call::Call;
use crate::effects::act::Act;
use crate::effects::context::Context;
use crate::effects::invocation::{Invocation, Next, Outcome};
use crate::shell::value::{Piece, Value, Why};

/// What a name comes to.
pub(super) enum Name {
    /// A program that is installed, by its bare name.
    Known(String),
    /// A file by its path.
    File,
    /// A pattern that these match.
    Pattern(Vec<String>),
    /// It cannot be known.
    Unknown(Why),
}

/// Where programs are installed.
const INSTALLED: [&str; 14] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/snap/bin",
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/games",
];
/// Where a project or a user keeps programs others made.
const LOCAL: [&str; 7] =
    ["node_modules/.bin", "venv/bin", "vendor/bin", ".cargo/bin", ".local/bin", ".bun/bin", "go/bin"];
/// What a pattern is tried on.
const TRIED: &[&str] = &[
    "rm", "sh", "bash", "cat", "dd", "mv", "cp", "chmod", "chown", "curl", "wget", "nc", "python3", "python",
    "perl", "find", "shred", "kill", "head", "tail", "base64", "less", "more", "grep", "sudo", "su", "tee",
    "xxd", "ls", "echo",
];

/// Says what a name is.
pub(super) fn of(name: &Value, invocation: &Invocation, context: &Context) -> Name {
    let Some(text) = name.text() else {
        return match name.why() {
            Some(why) => Name::Unknown(why.clone()),
            None => pattern(name, invocation),
        };
    };
    if !text.contains('/') {
        return Name::Known(text.to_owned());
    }
    let path = context.resolve(name, &invocation.cwd);
    let Some((directory, base)) = path.text().and_then(|path| path.rsplit_once('/')) else {
        return Name::File;
    };
    let loader = base.starts_with("ld-") && base.contains(".so");
    let installed = INSTALLED.contains(&directory)
        || directory.starts_with("/nix/store/")
        || loader
        || LOCAL.iter().any(|place| directory.ends_with(place)) && super::knows(base)
        || directory.ends_with("/bin") && matches!(base, "rails" | "rake" | "artisan");
    if installed { Name::Known(base.to_owned()) } else { Name::File }
}

fn pattern(name: &Value, invocation: &Invocation) -> Name {
    let pattern: Vec<u8> = name
        .pieces
        .iter()
        .flat_map(|piece| match piece {
            Piece::Known(bytes) | Piece::Glob(bytes) => bytes.clone(),
            Piece::Unknown(_) => Vec::new(),
        })
        .collect();
    let tried = TRIED.iter().flat_map(|name| ["/bin/", "/usr/bin/"].map(|place| format!("{place}{name}")));
    let found: Vec<String> = tried.filter(|path| matches(&pattern, path.as_bytes())).collect();
    if found.is_empty() || found.len() > 24 {
        return Name::Unknown(Why {
            construct: "a program named by a pattern".to_owned(),
            span: invocation.span,
        });
    }
    Name::Pattern(found)
}

/// Whether a glob matches; a slash only matches itself.
fn matches(pattern: &[u8], path: &[u8]) -> bool {
    match (pattern.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            matches(rest, path)
                || path.split_first().is_some_and(|(first, tail)| *first != b'/' && matches(pattern, tail))
        }
        (Some((b'?', rest)), Some((byte, tail))) => *byte != b'/' && matches(rest, tail),
        (Some((b'[', rest)), Some((byte, tail))) => {
            let Some(end) = rest.iter().skip(1).position(|byte| *byte == b']').map(|place| place + 1) else {
                return false;
            };
            let set = rest.get(..end).unwrap_or_default();
            let (not, set) = match set.split_first() {
                Some((b'!' | b'^', set)) => (true, set),
                _ => (false, set),
            };
            let ranges = set
                .windows(3)
                .any(|window| matches!(window, [low, b'-', high] if (low..=high).contains(&byte)));
            (set.contains(byte) || ranges) != not && matches(rest.get(end + 1..).unwrap_or_default(), tail)
        }
        (Some((byte, rest)), Some((other, tail))) => byte == other && matches(rest, tail),
        _ => false,
    }
}

/// All that a pattern may name is started, for all that is known.
pub(super) fn each(invocation: &Invocation, candidates: &[String]) -> Outcome {
    let mut outcome = Outcome::default();
    for name in candidates {
        let mut invocation = invocation.clone();
        if let Some(first) = invocation.argv.first_mut() {
            *first = Value::known(name.as_str());
        }
        outcome.next.push(Next::Program { invocation, elsewhere: None });
    }
    outcome
}

/// No word is left; that is a program only if there may be more.
pub(super) fn missing(invocation: &Invocation) -> Outcome {
    match &invocation.more {
        Some(why) => unknown(why.clone()),
        None => Outcome::harmless(),
    }
}

/// A program nobody can name.
pub(super) fn unknown(why: Why) -> Outcome {
    Outcome::of([Act::Unknown(why)])
}

/// Whether a word names a program that is dangerous behind an unknown one.
pub(super) fn is_telling(call: &Call<'_>, word: &Value) -> bool {
    const TELLING: &[&str] = &[
        "rm",
        "shred",
        "dd",
        "mkfs",
        "sh",
        "bash",
        "zsh",
        "dash",
        "sudo",
        "chmod",
        "chown",
        "wipefs",
        "find",
        "shutdown",
        "reboot",
        "truncate",
        "unlink",
        "mv",
        "python3",
        "python",
        "perl",
        "ruby",
        "node",
        "curl",
        "wget",
        "git",
        "docker",
        "kubectl",
        "terraform",
        "systemctl",
        "pkill",
        "killall",
    ];
    word.text().is_some_and(|text| {
        let base = text.strip_prefix("/bin/").or_else(|| text.strip_prefix("/usr/bin/")).unwrap_or(text);
        base != call.name && TELLING.contains(&base)
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;

    #[test]
    fn a_name_is_where_it_is() {
        check(&[
            ("/usr/bin/rm x", "delete /home/dev/project/x"),
            ("/bin/../bin/rm x", "delete /home/dev/project/x"),
            ("./rm x", "run rm /home/dev/project/rm"),
            ("/tmp/rm x", "run rm /tmp/rm"),
            ("?x -rf /", "unknown the variable x"),
        ]);
    }

    #[test]
    fn a_pattern_may_be_a_program() {
        for (pattern, path, yes) in [
            ("/bin/r?", "/bin/rm", true),
            ("/???/rm", "/bin/rm", true),
            ("/b*/[r]m", "/bin/rm", true),
            ("/b*", "/bin/rm", false),
            ("/bin/[!a-q]m", "/bin/rm", true),
            ("/bin/[a-q]m", "/bin/rm", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), path.as_bytes()), yes, "{pattern}");
        }
    }
}
