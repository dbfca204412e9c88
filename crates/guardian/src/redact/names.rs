//! Names that tell: what stands next to them is a secret.
//!
//! Owns: taking a name apart (`dbPassword`, `X-Api-Key`, `AWS_SECRET_ACCESS_KEY`) and how much its last words
//! betray. Refuses: names that only speak about secrets, such as `max_tokens`, `token_type`, `password_file`.

/// How much a name tells about the value beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tells {
    /// Whatever stands there is secret.
    Password,
    /// Secret unless it is a plain word or a number.
    Token,
    /// Secret if it looks random.
    Maybe,
}

impl Tells {
    /// What the marker calls it.
    pub(super) fn kind(self) -> &'static str {
        match self {
            Self::Password => "password",
            Self::Token => "token",
            Self::Maybe => "random",
        }
    }
}

/// Ends of words that tell, also where words are written together.
const PASSWORDS: [&str; 8] =
    ["password", "passwd", "passphrase", "passcode", "pwd", "secret", "credential", "credentials"];
const TOKENS: [&str; 11] = [
    "token",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "accountkey",
    "authkey",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "sessionid",
];
/// A `key` is a secret one after these.
const KEYS: [&str; 26] = [
    "api",
    "access",
    "secret",
    "private",
    "account",
    "auth",
    "signing",
    "encryption",
    "master",
    "storage",
    "shared",
    "subscription",
    "license",
    "deploy",
    "service",
    "ssh",
    "webhook",
    "app",
    "application",
    "admin",
    "client",
    "consumer",
    "integration",
    "role",
    "anon",
    "hmac",
];
const MAYBES: [&str; 8] = ["key", "auth", "signature", "sig", "salt", "dsn", "cookie", "authorization"];
/// Words at the end that change nothing: `SECRET_KEY_BASE`, `password_prod`, `TOKEN_2`.
const QUALIFIERS: [&str; 20] = [
    "prod",
    "production",
    "dev",
    "test",
    "staging",
    "live",
    "base",
    "base64",
    "b64",
    "value",
    "raw",
    "plain",
    "string",
    "str",
    "new",
    "old",
    "current",
    "default",
    "main",
    "hash",
];
/// Words in a name that are looked at.
const WORD_LIMIT: usize = 16;

/// How much a name tells, if anything.
pub(super) fn tells(name: &[u8]) -> Option<Tells> {
    let words = words(name);
    let mut words = words.as_slice();
    while let [rest @ .., last] = words {
        let is_qualifier =
            last.iter().all(u8::is_ascii_digit) || QUALIFIERS.iter().any(|word| last == word.as_bytes());
        if !is_qualifier {
            break;
        }
        words = rest;
    }
    let [before @ .., last] = words else { return None };
    let ends = |known: &[&str]| known.iter().any(|word| last.ends_with(word.as_bytes()));
    let is = |known: &[&str]| known.iter().any(|word| last == word.as_bytes());
    let after_telling =
        || before.last().is_some_and(|word| KEYS.iter().any(|known| word.ends_with(known.as_bytes())));
    match () {
        () if ends(&PASSWORDS) || is(&["pass"]) => Some(Tells::Password),
        () if ends(&TOKENS) || (is(&["key"]) && after_telling()) => Some(Tells::Token),
        () if is(&MAYBES) => Some(Tells::Maybe),
        () => None,
    }
}

/// The words of a name in lower case, at humps and at everything that is no letter or digit.
fn words(name: &[u8]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = vec![Vec::new()];
    let mut previous = b'_';
    for (at, byte) in name.iter().copied().enumerate() {
        let next_is_lower = name.get(at + 1).is_some_and(u8::is_ascii_lowercase);
        let is_hump = byte.is_ascii_uppercase()
            && (previous.is_ascii_lowercase() || (previous.is_ascii_uppercase() && next_is_lower));
        if (is_hump || !byte.is_ascii_alphanumeric()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(Vec::new());
        }
        if let Some(word) = words.last_mut().filter(|_| byte.is_ascii_alphanumeric()) {
            word.push(byte.to_ascii_lowercase());
        }
        previous = byte;
    }
    words.retain(|word| !word.is_empty());
    let drop = words.len().saturating_sub(WORD_LIMIT);
    words.split_off(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_by_their_last_words() {
        for (name, told) in [
            ("password", Tells::Password),
            ("DB_PASSWORD", Tells::Password),
            ("PGPASSWORD", Tells::Password),
            ("dbPassword", Tells::Password),
            ("smtp_pass", Tells::Password),
            ("client-secret", Tells::Password),
            ("password_prod", Tells::Password),
            ("accessToken", Tells::Token),
            ("AWS_SECRET_ACCESS_KEY", Tells::Token),
            ("SECRET_KEY_BASE", Tells::Token),
            ("X-Api-Key", Tells::Token),
            ("apikey", Tells::Token),
            ("APIKey", Tells::Token),
            ("DD_APP_KEY", Tells::Token),
            ("_authToken", Tells::Token),
            ("TOKEN_2", Tells::Token),
            ("key", Tells::Maybe),
            ("X-Amz-Signature", Tells::Maybe),
        ] {
            assert_eq!(tells(name.as_bytes()), Some(told), "{name}");
        }
    }

    #[test]
    fn names_that_speak_about_secrets_tell_nothing() {
        for name in [
            "max_tokens",
            "input_tokens",
            "token_type",
            "tokenizer",
            "password_file",
            "secret_name",
            "passed",
            "compass",
            "author",
            "session_id",
            "keyboard",
            "monkey",
            "turkey",
            "tool_use_id",
            "secretary",
            "",
        ] {
            assert_eq!(tells(name.as_bytes()), None, "{name}");
        }
    }
}
