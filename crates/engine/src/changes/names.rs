//! Names and lines as they are written: exact for a patch, harmless for a terminal.

use std::{os::unix::ffi::OsStrExt as _, path::Path};

use belljar_domain::deceives;

/// Writes a path behind `prefix` the way git does: in quotes with escapes if it holds anything that a
/// line-based reader could trip over.
pub(super) fn quoted(prefix: &str, path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if bytes.iter().all(plain) {
        return format!("{prefix}{}", path.display());
    }
    let mut quoted = format!("\"{prefix}");
    for byte in bytes {
        match byte {
            b'"' => quoted.push_str("\\\""),
            b'\\' => quoted.push_str("\\\\"),
            b'\t' => quoted.push_str("\\t"),
            b'\n' => quoted.push_str("\\n"),
            b'\r' => quoted.push_str("\\r"),
            byte if plain(byte) => quoted.push(char::from(*byte)),
            byte => quoted.push_str(&format!("\\{byte:03o}")),
        }
    }
    quoted.push('"');
    quoted
}

/// Makes a line from a sandbox safe to show: what would move the cursor, colour, hide or reorder text
/// on the terminal of the one who reviews it is spelled out.
pub(super) fn visible(line: &[u8]) -> String {
    let mut shown = String::with_capacity(line.len());
    for character in String::from_utf8_lossy(line).chars() {
        match character {
            '\t' => shown.push('\t'),
            '\0'..='\u{1f}' => {
                shown.push('^');
                shown.push(char::from_u32(u32::from(character) + 0x40).unwrap_or('?'));
            }
            character if character.is_control() || deceives(character) => {
                shown.extend(character.escape_unicode());
            }
            character => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn odd_names_are_quoted_as_git_does() {
        let cases: [(&[u8], &str); 5] = [
            (b"plain/name.rs", "a/plain/name.rs"),
            (b"with space", "a/with space"),
            (b"caf\xc3\xa9", "\"a/caf\\303\\251\""),
            (b"q\"b\\t\t", "\"a/q\\\"b\\\\t\\t\""),
            (b"\x01\xff\n", "\"a/\\001\\377\\n\""),
        ];
        for (name, expected) in cases {
            assert_eq!(quoted("a/", Path::new(OsStr::from_bytes(name))), expected);
        }
    }

    #[test]
    fn escapes_are_shown_not_obeyed() {
        assert_eq!(visible("\x1b[2Kok\ta\r\u{202e}\u{9b}é".as_bytes()), "^[[2Kok\ta^M\\u{202e}\\u{9b}é");
    }
}
