//! Names of programs: as a person would say them, and as a glob would find them.
//!
//! Owns: the names in effects and the programs tried for a globbed name. Refuses: searching; what is tried is a short list of those
//! that do harm.

use super::items::{Item, Origin};
use super::pattern::Pattern;
use crate::shell::value::{Piece, Value};

/// Programs a glob is tried on.
const GLOBBED: [&str; 16] = [
    "rm", "dd", "sh", "bash", "cat", "curl", "wget", "nc", "mv", "chmod", "chown", "kill", "shred", "sudo",
    "python3", "mkfs",
];
/// Programs that are named with what they are told to do.
const TWO_WORDS: [&str; 8] = ["git", "docker", "kubectl", "terraform", "npm", "cargo", "systemctl", "gh"];

/// The last name of a path.
pub(super) fn basename(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A program as a person would name it.
pub(super) fn named(name: &Value, argv: &[Value]) -> String {
    let Some(text) = name.text() else {
        return match name.pieces.last() {
            Some(Piece::Known(bytes)) if bytes.contains(&b'/') => {
                basename(&String::from_utf8_lossy(bytes)).to_owned()
            }
            _ => "a program that is not known".to_owned(),
        };
    };
    let name = basename(text).to_owned();
    let second = argv.iter().skip(1).filter_map(Value::text).find(|argument| !argument.starts_with('-'));
    match second {
        Some(second) if TWO_WORDS.contains(&name.as_str()) => format!("{name} {second}"),
        _ => name,
    }
}

/// Programs a globbed name may come to.
pub(super) fn globbed(name: &Value) -> Vec<Vec<u8>> {
    let mut items = Vec::new();
    for piece in &name.pieces {
        items.push(match piece {
            Piece::Known(bytes) => Item::Text(bytes.clone(), Origin::Quoted),
            Piece::Glob(pattern) => Item::Glob(pattern.clone(), Origin::Written),
            Piece::Unknown(why) => Item::Unknown(why.clone(), Origin::Quoted),
        });
    }
    let Some(pattern) = Pattern::new(&items, false) else { return Vec::new() };
    let mut found = Vec::new();
    for directory in ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", ""] {
        for program in GLOBBED {
            let path = format!("{directory}{program}");
            if pattern.matches(path.as_bytes()) == Some(true) && !found.contains(&program) {
                found.push(program);
            }
        }
    }
    found.into_iter().take(8).map(|program| program.as_bytes().to_vec()).collect()
}
