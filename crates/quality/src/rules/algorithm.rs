//! Connascence of algorithm: words for halves of one method. Bodies are compared across files, in `project`.

/// Names of functions that undo each other.
const HALVES: [(&str, &str); 13] = [
    ("encode", "decode"),
    ("serialize", "deserialize"),
    ("sign", "verify"),
    ("pack", "unpack"),
    ("dump", "load"),
    ("dumps", "loads"),
    ("encrypt", "decrypt"),
    ("compress", "decompress"),
    ("marshal", "unmarshal"),
    ("encipher", "decipher"),
    ("escape", "unescape"),
    ("write", "read"),
    ("save", "load"),
];

/// Which pair a name is a half of, and which half: its place in the list, and whether it comes second.
pub(crate) fn twins(name: &str) -> Vec<(usize, bool)> {
    let words = crate::words::words(name);
    let half = |word: &str| words.iter().any(|known| known == word);
    let found = HALVES.iter().enumerate().flat_map(|(at, (one, two))| {
        [half(one).then_some((at, false)), half(two).then_some((at, true))].into_iter().flatten()
    });
    found.collect()
}

/// Whether two functions undo each other, by their names.
pub(crate) fn is_inverse(one: &str, two: &str) -> bool {
    let other = twins(two);
    twins(one).iter().any(|(at, second)| other.contains(&(*at, !second)))
}
