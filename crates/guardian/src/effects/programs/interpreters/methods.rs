//! Methods of values all languages have by some name.
//!
//! Owns: what is done to text, lists and open files. Refuses: what only does something when it is known where it is from.

use super::super::decode;
use super::fold::{LARGEST, decoded, join, letters, rot13, slice};
use super::walk::{Args, Walk};
use super::worth::{Kind, Worth};
use crate::effects::act::{Change, Datum};

/// A method of a text, a list or a file.
pub(super) fn method(walk: &mut Walk<'_>, object: &Worth, member: &str, args: &Args) -> Option<Worth> {
    match &object.kind {
        Kind::File(_) => of_file(walk, object, member, &args.get(0)),
        Kind::Text(_) => kept(walk, object, member, args)
            .or_else(|| of_text(walk, object, member, args))
            .or_else(|| of_list(walk, object, member, args)),
        _ => kept(walk, object, member, args).or_else(|| of_list(walk, object, member, args)),
    }
}

/// A method that gives what it is called on, nearly.
fn kept(walk: &Walk<'_>, object: &Worth, member: &str, args: &Args) -> Option<Worth> {
    let first = args.get(0);
    let known = object.known().map(<[u8]>::to_vec);
    let same = || Some(object.clone().with(&args.flows()));
    match (member, &object.kind) {
        (
            "decode" | "read" | "readline" | "readlines" | "gets" | "encode" | "strip" | "trim" | "rstrip"
            | "lstrip" | "toString" | "to_s" | "str" | "chomp" | "resolve" | "absolute" | "as_posix"
            | "expanduser" | "freeze" | "dup" | "to_string" | "chop" | "valueOf" | "text" | "iter" | "values"
            | "to_a" | "to_str" | "removesuffix" | "getvalue" | "__str__" | "concat" | "as_uri" | "b"
            | "copy" | "slice" | "substring" | "toPath" | "trimEnd" | "squeeze",
            Kind::Text(_) | Kind::List(_),
        ) => {
            let slices = matches!(member, "slice" | "substring") && !args.all.is_empty();
            if slices {
                let mut keys = vec![first];
                keys.extend(args.all.get(1).cloned().into_iter().flat_map(|to| [Worth::default(), to]));
                if keys.len() == 1 {
                    keys.push(Worth::default());
                }
                return slice(object, &keys).or_else(same);
            }
            match (member, args.all.is_empty()) {
                ("concat", _) => {
                    Some(args.all.iter().fold(object.clone(), |whole, part| walk.joined(&whole, part)))
                }
                ("decode", false) if first.str() == Some("rot13") => Some(rot13(object)),
                ("decode", false) if matches!(first.str(), Some("base64" | "hex")) => {
                    Some(decoded(object, first.str().unwrap_or_default()))
                }
                ("toString", false) if matches!(first.str(), Some("base64" | "hex")) => {
                    Some(Worth::unknown(walk.why("encoded text")).with(&object.data))
                }
                ("strip" | "trim" | "chomp" | "rstrip" | "trimEnd", _) => known
                    .map(|bytes| Worth::text(bytes.trim_ascii().to_vec()).with(&object.data))
                    .or_else(same),
                _ => same(),
            }
        }
        _ => None,
    }
}

/// A method of a text.
fn of_text(walk: &Walk<'_>, object: &Worth, member: &str, args: &Args) -> Option<Worth> {
    let first = args.get(0);
    let known = object.known().map(<[u8]>::to_vec);
    let same = || Some(object.clone().with(&args.flows()));
    match member {
        "lower" | "toLowerCase" | "downcase" | "lc" => {
            known.map(|bytes| Worth::text(bytes.to_ascii_lowercase()).with(&object.data)).or_else(same)
        }
        "upper" | "toUpperCase" | "upcase" => {
            known.map(|bytes| Worth::text(bytes.to_ascii_uppercase()).with(&object.data)).or_else(same)
        }
        "reverse" => known
            .map(|bytes| Worth::text(bytes.into_iter().rev().collect::<Vec<u8>>()).with(&object.data))
            .or_else(same),
        "replace" | "gsub" | "sub" | "replaceAll" | "tr" | "replace!" => {
            let with = args.get(1);
            match (object.str(), first.str(), with.str()) {
                (Some(text), Some(from), Some(to)) if !from.is_empty() && text.len() < LARGEST => {
                    Some(Worth::text(text.replace(from, to).into_bytes()).with(&object.data))
                }
                _ => Some(
                    Worth::unknown(walk.why("a text that is changed"))
                        .with(&object.flows())
                        .with(&args.flows()),
                ),
            }
        }
        "split" | "splitlines" | "chars" | "lines" | "words" | "split_whitespace" => {
            let text = object.str()?;
            let parts: Vec<Worth> = match (member, first.str()) {
                ("chars", _) | (_, Some("")) => {
                    text.chars().map(|letter| Worth::text(letter.to_string())).collect()
                }
                ("splitlines" | "lines", _) => text.lines().map(Worth::text).collect(),
                (_, Some(between)) => text.split(between).map(Worth::text).collect(),
                (_, None) if args.all.is_empty() => text.split_whitespace().map(Worth::text).collect(),
                (_, None) => return None,
            };
            Some(Worth::list(parts.into_iter().take(4096).collect()).with(&object.data))
        }
        // `' '.join(list)` and `list.join(' ')`.
        _ => None,
    }
}

/// A method of a list, or of what is made of one.
fn of_list(walk: &Walk<'_>, object: &Worth, member: &str, args: &Args) -> Option<Worth> {
    let first = args.get(0);
    let known = object.known().map(<[u8]>::to_vec);
    match (member, &object.kind) {
        ("reverse" | "reversed", Kind::List(all)) => Some(Worth::list(all.iter().rev().cloned().collect())),
        ("join", Kind::Text(_)) if first.is_list() => Some(join(walk, object, &first)),
        ("join", Kind::List(_)) => {
            let comma = if walk.language.name == "javascript" { "," } else { "" };
            let between = if args.all.is_empty() { Worth::text(comma) } else { first };
            Some(join(walk, &between, object))
        }
        ("format" | "%", Kind::Text(_)) => Some(walk.formatted(object, &args.all)),
        ("push" | "append" | "add" | "<<" | "extend" | "unshift", Kind::List(_)) => None,
        ("shift" | "pop" | "first", Kind::List(all)) if args.all.is_empty() => {
            Some(if member == "pop" { all.last() } else { all.first() }.cloned().unwrap_or_default())
        }
        ("get" | "fetch", Kind::Table(_)) => first.str().and_then(|key| object.field(key)),
        ("unpack" | "unpack1" | "pack", _) => {
            let bytes = match (&object.kind, member) {
                (Kind::List(all), "pack") => letters(all),
                _ => known.clone(),
            };
            match (first.str().unwrap_or_default().get(..1), bytes) {
                (Some("m"), Some(bytes)) => Some(Worth::text(decode::base64(&bytes)?)),
                (Some("H"), Some(bytes)) => Some(Worth::text(decode::hexadecimal(&bytes)?)),
                (Some("c" | "C" | "U"), Some(bytes)) => Some(Worth::text(bytes)),
                _ => None,
            }
        }
        ("chr", Kind::Number(number)) => {
            Some(Worth::text(char::from_u32(u32::try_from(*number).ok()?)?.to_string()))
        }
        _ => None,
    }
}

/// A method of an open file.
fn of_file(walk: &mut Walk<'_>, object: &Worth, member: &str, first: &Worth) -> Option<Worth> {
    match (member, &object.kind) {
        (
            "write" | "puts" | "print" | "printf" | "<<" | "writelines" | "end" | "append" | "fwrite",
            Kind::File(path),
        ) => {
            let why = |what: &str| walk.why(what);
            let content = first.as_text(&why);
            let path = path.clone();
            walk.written(&path, Change::Replace, Some(content));
            Some(Worth::default())
        }
        ("truncate", Kind::File(path)) => {
            let path = path.clone();
            walk.written(&path, Change::Empty, None);
            Some(Worth::default())
        }
        (
            "read" | "readlines" | "readline" | "text" | "gets" | "each_line" | "lines" | "json",
            Kind::File(path),
        ) => Some(Worth::unknown(walk.why("the contents of a file")).with(&[Datum::File(path.clone())])),
        ("close" | "flush" | "seek" | "__enter__", Kind::File(_)) => Some(object.clone()),
        _ => None,
    }
}
