//! Names as words, and numbers as values.

/// The words of a name, lower case: `HTTPStatusCode` and `http_status_code` are the same three.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut word = String::new();
    let letters: Vec<char> = name.chars().collect();
    for (at, letter) in letters.iter().copied().enumerate() {
        let before = at.checked_sub(1).and_then(|at| letters.get(at)).copied();
        let after = letters.get(at + 1).copied();
        let begins = letter.is_uppercase()
            && (before.is_some_and(|b| b.is_lowercase() || b.is_ascii_digit())
                || before.is_some_and(char::is_uppercase) && after.is_some_and(char::is_lowercase));
        if !letter.is_alphanumeric() || begins {
            found.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
        }
    }
    found.extend((!word.is_empty()).then_some(word));
    found
}

/// The last of a name's words.
pub(crate) fn last_word(name: &str) -> String {
    words(name).pop().unwrap_or_default()
}

/// Whether any of a name's words is one of these.
pub(crate) fn has_word(name: &str, any: &[&str]) -> bool {
    words(name).iter().any(|word| any.contains(&word.as_str()))
}

/// A name that says of itself that it never changes.
pub(crate) fn is_upper(name: &str) -> bool {
    let mut letters = name.chars().filter(|letter| letter.is_alphabetic()).peekable();
    letters.peek().is_some() && letters.all(char::is_uppercase)
}

/// The value of a number as any of the languages writes it.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|c| *c != '_').collect::<String>().to_ascii_lowercase();
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let digits: String = digits.chars().take_while(|c| c.is_digit(radix)).collect();
            return u32::from_str_radix(&digits, radix).ok().map(f64::from);
        }
    }
    // What follows the digits says the type: `10u8`, `1.5f`, `3L`, `4n`.
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | 'e' | '+' | '-')));
    text.get(..end.unwrap_or(text.len()))?.trim_end_matches('e').parse().ok()
}

/// A number in one form, however it is written.
pub(crate) fn canonical(text: &str) -> String {
    number(text).map_or_else(|| text.to_ascii_lowercase(), |value| format!("{value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        assert_eq!(words("HTTPStatusCode"), ["http", "status", "code"]);
        assert_eq!(words("get_user_role"), ["get", "user", "role"]);
        assert_eq!(words("CONFIG_TIMEOUT"), ["config", "timeout"]);
        assert_eq!(last_word("paymentStatus"), "status");
    }

    #[test]
    fn numbers_of_all_languages_have_values() {
        let cases = [("10.50", 10.5), ("0xFF", 255.0), ("1_000u64", 1000.0), ("3L", 3.0), ("1e3", 1000.0)];
        for (text, value) in cases {
            assert!(number(text).is_some_and(|found| (found - value).abs() < 1e-9), "{text}");
        }
        assert_eq!(canonical("10.50"), canonical("10.5"));
    }
}
