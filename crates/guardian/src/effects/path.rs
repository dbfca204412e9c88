//! Paths as the shell and programs find them: absolute, without `.` and `..`, as far as that is known.
//!
//! Owns: resolving and normalising by the letters alone. Refuses: symlinks (they are facts), and knowing more than is written: a
//! path that begins with something unknown stays so, because that may be empty and `"$d"/` then is the root.

use crate::shell::value::{Piece, Value, Why};

/// A path as it is found from a directory.
///
/// What begins with an unknown piece may be absolute, relative, or, when the piece is empty, exactly what follows it. So it
/// keeps that piece first, and no directory is put before it.
#[must_use]
pub fn resolve(path: &Value, cwd: &Value) -> Value {
    if let (Some(path), Some(cwd)) = (path.bytes(), cwd.bytes())
        && (path.starts_with(b"/") || cwd.starts_with(b"/"))
    {
        return known(path, cwd);
    }
    match path.pieces.first() {
        Some(Piece::Known(bytes)) if bytes.first() == Some(&b'/') => normal(path),
        Some(Piece::Unknown(_)) => normal(path),
        Some(Piece::Known(_) | Piece::Glob(_)) | None => {
            let mut whole = cwd.clone();
            whole.push(Piece::Known(b"/".to_vec()));
            whole.append(path.clone());
            normal(&whole)
        }
    }
}

/// The same where all of it is known and nothing has to be kept apart.
fn known(path: &[u8], cwd: &[u8]) -> Value {
    let mut found: Vec<u8> = Vec::with_capacity(cwd.len() + path.len() + 1);
    let before: &[u8] = if path.starts_with(b"/") { b"" } else { cwd };
    for name in before.split(|byte| *byte == b'/').chain(path.split(|byte| *byte == b'/')) {
        match name {
            b"" | b"." => {}
            b".." => found.truncate(found.iter().rposition(|byte| *byte == b'/').unwrap_or(0)),
            name => {
                found.push(b'/');
                found.extend_from_slice(name);
            }
        }
    }
    if found.is_empty() {
        found.push(b'/');
    }
    Value::known(found)
}

/// One name of a path, between two slashes: pieces that hold no known slash.
type Name = Vec<Piece>;

/// Takes `.`, `..` and doubled slashes out. `..` behind something unknown makes all before it unknown.
#[must_use]
pub fn normal(path: &Value) -> Value {
    let (names, absolute) = names(path);
    let mut kept: Vec<Name> = Vec::new();
    for name in names {
        match name.as_slice() {
            [Piece::Known(bytes)] if bytes == b"." => {}
            [Piece::Known(bytes)] if bytes == b".." => parent(&mut kept, absolute),
            [] => {}
            _ => kept.push(name),
        }
    }
    let mut value = Value::default();
    for (place, name) in kept.into_iter().enumerate() {
        if place > 0 || absolute {
            value.push(Piece::Known(b"/".to_vec()));
        }
        for piece in name {
            value.push(piece);
        }
    }
    if value.pieces.is_empty() {
        return Value::known(if absolute { "/" } else { "." });
    }
    // `"$d"/` is the root when d is empty: the slash is all that says so.
    let slashed = matches!(path.pieces.last(), Some(Piece::Known(bytes)) if bytes.last() == Some(&b'/'));
    if slashed && matches!(value.pieces.as_slice(), [Piece::Unknown(_)]) {
        value.push(Piece::Known(b"/".to_vec()));
    }
    value
}

fn names(path: &Value) -> (Vec<Name>, bool) {
    let mut names: Vec<Name> = vec![Vec::new()];
    for piece in &path.pieces {
        match piece {
            Piece::Known(bytes) => {
                for (place, part) in bytes.split(|byte| *byte == b'/').enumerate() {
                    if place > 0 {
                        names.push(Vec::new());
                    }
                    if let (false, Some(last)) = (part.is_empty(), names.last_mut()) {
                        last.push(Piece::Known(part.to_vec()));
                    }
                }
            }
            Piece::Unknown(_) | Piece::Glob(_) => {
                if let Some(last) = names.last_mut() {
                    last.push(piece.clone());
                }
            }
        }
    }
    let absolute = path.prefix().first() == Some(&b'/');
    (names, absolute)
}

fn parent(kept: &mut Vec<Name>, absolute: bool) {
    let unknown = kept.last().and_then(|name| {
        name.iter().find_map(|piece| match piece {
            Piece::Unknown(why) => Some(why.clone()),
            Piece::Known(_) | Piece::Glob(_) => None,
        })
    });
    let relative = !absolute
        && kept.iter().all(|name| matches!(name.as_slice(), [Piece::Known(bytes)] if bytes == b".."));
    match unknown {
        Some(why) => {
            kept.clear();
            kept.push(vec![Piece::Unknown(above(why))]);
        }
        None if relative => kept.push(vec![Piece::Known(b"..".to_vec())]),
        None => {
            kept.pop();
        }
    }
}

fn above(why: Why) -> Why {
    if why.construct.starts_with("what is above ") {
        return why;
    }
    Why { construct: format!("what is above {}", why.construct), span: why.span }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `?` in a pattern stands for something unknown, `*` for a glob.
    fn value(written: &str) -> Value {
        let mut value = Value::default();
        for character in written.chars() {
            value.push(match character {
                '?' => Piece::Unknown(Why { construct: "x".to_owned(), span: Default::default() }),
                '*' => Piece::Glob(b"*".to_vec()),
                other => Piece::Known(other.to_string().into_bytes()),
            });
        }
        value
    }

    fn shown(value: &Value) -> String {
        value
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Known(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Piece::Unknown(_) => "?".to_owned(),
                Piece::Glob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            })
            .collect()
    }

    #[test]
    fn a_path_is_found_from_where_one_stands() {
        for (path, cwd, found) in [
            ("a", "/w", "/w/a"),
            ("./a/../b", "/w", "/w/b"),
            ("../../..", "/w/x", "/"),
            ("/a//b/./c/", "/w", "/a/b/c"),
            ("/..", "/w", "/"),
            ("//", "/w", "/"),
            ("", "/w", "/w"),
            ("*/x", "/w", "/w/*/x"),
            ("*/../x", "/w", "/w/x"),
            ("/etc/?", "/w", "/etc/?"),
            ("/etc/?/../x", "/w", "/?/x"),
            ("?/", "/w", "?/"),
            ("?/*", "/w", "?/*"),
            ("?/usr", "/w", "?/usr"),
            ("?", "/w", "?"),
            ("a", "?", "?/a"),
            ("..", "?", "?"),
            ("..", "/w/?", "/?"),
        ] {
            assert_eq!(shown(&resolve(&value(path), &value(cwd))), found, "{path} from {cwd}");
        }
    }
}
