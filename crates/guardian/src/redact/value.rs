//! Whether a value can be a secret.
//!
//! Owns: what is only a placeholder, a reference or a type, and what looks random.

use super::marker::is_marker;

/// How much of a value is looked at; a longer one is judged by its beginning.
pub(super) const JUDGED: usize = 256;

/// Words that stand where a secret would.
const PLACEHOLDERS: [&str; 57] = [
    "",
    "null",
    "none",
    "nil",
    "undefined",
    "true",
    "false",
    "string",
    "str",
    "&str",
    "number",
    "bool",
    "boolean",
    "int",
    "bytes",
    "any",
    "object",
    "required",
    "optional",
    "string?",
    "redacted",
    "[redacted]",
    "<redacted>",
    "hidden",
    "masked",
    "removed",
    "password",
    "passwd",
    "pass",
    "pwd",
    "secret",
    "token",
    "key",
    "apikey",
    "api_key",
    "your_password",
    "your-password",
    "yourpassword",
    "option",
    "argument",
    "value",
    "flag",
    "field",
    "and",
    "the",
    "for",
    "not",
    "with",
    "from",
    "was",
    "are",
    "has",
    "is",
    "to",
    "or",
    "in",
    "of",
];

/// Whether a value only stands in for a secret.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    // The last four are the bytes of a bullet and of an ellipsis.
    let is_filler = |byte: &u8| b"*.xX-_#\xE2\x80\xA2\xA6".contains(byte);
    is_marker(value)
        || PLACEHOLDERS.iter().any(|known| value.eq_ignore_ascii_case(known.as_bytes()))
        || value.iter().all(is_filler)
        || [(b'<', b'>'), (b'{', b'}')]
            .iter()
            .any(|(open, close)| value.first() == Some(open) && value.last() == Some(close))
}

/// Whether a value names where the secret is instead of being it.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let starts = |known: &[&[u8]]| known.iter().any(|known| value.starts_with(known));
    starts(&[
        b"$",
        b"{",
        b"%(",
        b"%{",
        b"#{",
        b"<",
        b"process.env",
        b"os.environ",
        b"os.getenv",
        b"env.",
        b"env::",
    ]) || starts(&[b"self.", b"this.", b"secrets.", b"vault:", b"op://", b"arn:aws:", b"await ", b"&"])
}

/// Whether a value reads like code that computes it: `get_token(…)`, `config.token`, `Option<String>`.
pub(super) fn is_code(value: &[u8]) -> bool {
    let ident = value
        .iter()
        .position(|byte| !(byte.is_ascii_alphabetic() || b"_.:".contains(byte)))
        .unwrap_or(value.len());
    let next = value.get(ident);
    ident > 0 && (matches!(next, Some(b'(' | b'<' | b'[')) || value.windows(2).any(|pair| pair == b"::"))
}

/// Whether a value is a plain word or a path of words, with nothing random about it.
pub(super) fn is_words(value: &[u8]) -> bool {
    let is_lower = value.iter().all(|byte| byte.is_ascii_lowercase() || b"_.-/ ".contains(byte));
    let is_title = value.split_first().is_some_and(|(first, rest)| {
        first.is_ascii_uppercase() && rest.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'.')
    });
    let is_constant =
        value.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'_') && value.contains(&b'_');
    is_lower || is_title || is_constant
}

/// Whether a value of at least this many bytes looks drawn at random.
pub(super) fn is_random(value: &[u8], least: usize) -> bool {
    let value = value.get(..JUDGED).unwrap_or(value);
    if value.len() < least || !value.iter().all(|byte| super::bytes::is_token(*byte) || b":%".contains(byte))
    {
        return false;
    }
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let upper = value.iter().any(u8::is_ascii_uppercase);
    let lower = value.iter().any(u8::is_ascii_lowercase);
    let is_mixed = (digits > 0 && (upper || lower)) || (upper && lower && value.len() >= 24);
    is_mixed && bits_per_byte(value) >= 3.0
}

/// Random in digits and in letters of both cases, as keys are and digests, commits and UUIDs are not.
pub(super) fn is_dense(value: &[u8], least: usize) -> bool {
    let longest_lower =
        value.split(|byte| !byte.is_ascii_lowercase()).map(<[u8]>::len).max().unwrap_or_default();
    let counts = |is: fn(&u8) -> bool| value.iter().filter(|byte| is(byte)).count();
    let is_mixed = counts(u8::is_ascii_digit) > 1 && counts(u8::is_ascii_uppercase) > 2 && longest_lower < 8;
    is_mixed && is_random(value, least)
}

/// Shannon's entropy of the bytes of a value.
fn bits_per_byte(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let total = f64::from(u32::try_from(value.len()).unwrap_or(u32::MAX));
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total);
    shares.map(|share| -share * share.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn randomness_is_told_from_words() {
        for random in ["q7Rk2mZp0WxV9sLt", "3f9a1c0b7d2e4856", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"] {
            assert!(is_random(random.as_bytes(), 16), "{random}");
        }
        for plain in ["aaaaaaaa11111111", "this-is-a-plain-name", "short1", "has space 12 in it now"] {
            assert!(!is_random(plain.as_bytes(), 16), "{plain}");
        }
    }

    #[test]
    fn stand_ins_are_not_secrets() {
        for value in ["****", "<your key>", "null", "xxxxxxxx", "[redacted:token:00112233]", "Required"] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
        for value in ["$TOKEN", "${{ secrets.X }}", "process.env.TOKEN", "op://vault/item"] {
            assert!(is_reference(value.as_bytes()), "{value}");
        }
        assert!(is_code(b"get_token(x)") && is_code(b"Option<String>") && !is_code(b"hunter2("));
    }
}
