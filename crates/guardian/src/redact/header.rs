//! Credentials in HTTP headers and in the options that make them.
//!
//! Owns: `Authorization`, `Cookie` and their kin up to the end of the line, a bare `Bearer …`, `curl -u`.

use super::{
    bytes::{before, from, is_blank, is_token, is_word, run, run_within},
    scan::Found,
    value,
};

/// Schemes that are said; what follows them is not.
const SCHEMES: [&str; 7] = ["bearer", "basic", "token", "digest", "apikey", "negotiate", "aws4-hmac-sha256"];

/// The value of an `Authorization` or `Cookie` header whose name holds this anchor.
pub(super) fn at(text: &[u8], start: usize, end: usize) -> Option<Found> {
    let is_cookie = text.get(start..end)?.eq_ignore_ascii_case(b"cookie");
    let mut at = value_after(text, end)?;
    let kind = if is_cookie { "cookie" } else { "authorization" };
    if !is_cookie {
        let word = run_within(from(text, at), 24, |byte| is_word(byte) || byte == b'-');
        let scheme = text.get(at..at + word)?;
        let is_scheme = SCHEMES.iter().any(|known| scheme.eq_ignore_ascii_case(known.as_bytes()));
        let after = at + word + run_within(from(text, at + word), 8, is_blank);
        if is_scheme && after > at + word {
            at = after;
        } else if !value::is_random(token(text, at), 12) {
            return None;
        }
    }
    let rest = from(text, at);
    let judged = rest.get(..value::JUDGED).unwrap_or(rest);
    let judged = judged.get(..run(judged, is_inside)).unwrap_or_default().trim_ascii_end();
    let hides = !judged.is_empty()
        && !value::is_placeholder(judged)
        && !value::is_reference(judged)
        && (!is_cookie || judged.contains(&b'='));
    let full = || rest.get(..run(rest, is_inside)).unwrap_or_default().trim_ascii_end().len();
    hides.then(|| Found { kind, context: start, start: at, end: at + full(), is_open: false })
}

/// Where the value of a header begins whose name ends here.
fn value_after(text: &[u8], end: usize) -> Option<usize> {
    let mut at = end + run_within(from(text, end), 3, |byte| b"\\\"'".contains(&byte));
    at += run_within(from(text, at), 8, is_blank);
    at += from(text, at).first().filter(|byte| b":=".contains(byte)).map(|_| 1)?;
    Some(at + run_within(from(text, at), 8, |byte| is_blank(byte) || b"\\\"'[".contains(&byte)))
}

fn is_inside(byte: u8) -> bool {
    !b"\"'\r\n\\`<".contains(&byte)
}

/// Where the value of a header begins that reaches the end of the text.
pub(super) fn growing(text: &[u8], end: usize) -> Option<usize> {
    value_after(text, end).filter(|at| from(text, *at).iter().all(|byte| is_inside(*byte)))
}

/// Whether the token that begins here reaches the end of the text.
pub(super) fn is_growing_bearer(text: &[u8], at: usize) -> bool {
    from(text, at).iter().all(|byte| is_token(*byte))
}

/// Whether the word after the blanks that begin here reaches the end of the text.
pub(super) fn is_growing_word(text: &[u8], end: usize) -> bool {
    let at = end + run_within(from(text, end), 8, |byte| is_blank(byte) || byte == b'=');
    let at = at + run_within(from(text, at), 1, |byte| b"\"'".contains(&byte));
    from(text, at).iter().all(|byte| is_inside_word(*byte))
}

fn is_inside_word(byte: u8) -> bool {
    !byte.is_ascii_whitespace() && !b"\"'`;|&\\".contains(&byte)
}

/// `Bearer TOKEN` without its header.
pub(super) fn bearer(text: &[u8], start: usize, end: usize) -> Option<Found> {
    if before(text, start).is_some_and(is_word) {
        return None;
    }
    let body = token(text, end);
    let is_secret = value::is_random(body, 12);
    is_secret.then(|| Found {
        kind: "bearer",
        context: start,
        start: end,
        end: end + full(text, end),
        is_open: false,
    })
}

/// `-u user:password`, `--user user:password`.
pub(super) fn user(text: &[u8], start: usize, end: usize) -> Option<Found> {
    let mut at = end + run_within(from(text, end), 8, |byte| is_blank(byte) || byte == b'=');
    if at == end && !text.get(start..end)?.ends_with(b" ") {
        return None;
    }
    at += from(text, at).first().filter(|byte| b"\"'".contains(byte)).map_or(0, |_| 1);
    let stop = run(from(text, at), is_inside_word);
    let pair = text.get(at..at + stop)?;
    let colon = pair.iter().take(128).position(|byte| *byte == b':')?;
    let (name, password) = (pair.get(..colon)?, pair.get(colon + 1..)?);
    // `docker run -u 1000:1000` names ids, not secrets.
    let is_ids = password.len() < 8 && password.iter().all(u8::is_ascii_digit) || name == password;
    let hides = !is_ids && !password.is_empty() && !value::is_placeholder(password);
    let found =
        || Found { kind: "password", context: start, start: at + colon + 1, end: at + stop, is_open: false };
    (hides && !value::is_reference(password)).then(found)
}

/// Programs whose `-p` is a password, and whether a blank may follow it.
const PASSWORD_OPTIONS: [(&[u8], bool); 5] = [
    (b"sshpass", true),
    (b"docker login", true),
    (b"podman login", true),
    (b"mysql", false),
    (b"mariadb", false),
];
/// How far before the option its program is looked for.
const LOOK_BACK: usize = 80;

/// `sshpass -p PASSWORD`, `mysql -pPASSWORD`, `IDENTIFIED BY 'PASSWORD'`.
pub(super) fn option(text: &[u8], start: usize, end: usize) -> Option<Found> {
    let at = option_value(text, start, end)?;
    let length = run(from(text, at), is_inside_word);
    let password = text.get(at..at + length)?;
    let hides = length >= 3 && !value::is_placeholder(password) && !value::is_reference(password);
    hides.then(|| Found { kind: "password", context: start, start: at, end: at + length, is_open: false })
}

/// Where the value of such an option begins that reaches the end of the text.
pub(super) fn growing_option(text: &[u8], start: usize, end: usize) -> Option<usize> {
    option_value(text, start, end).filter(|at| from(text, *at).iter().all(|byte| is_inside_word(*byte)))
}

fn option_value(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let blanks = run_within(from(text, end), 8, is_blank);
    let line = text.get(start.saturating_sub(LOOK_BACK)..start)?;
    let line = line.rsplit(|byte| b"\n;|&".contains(byte)).next().unwrap_or_default();
    let is_named = |(program, may_blank): &(&[u8], bool)| {
        (*may_blank || blanks == 0) && line.windows(program.len()).any(|part| part == *program)
    };
    let is_sql = text.get(start..end)?.eq_ignore_ascii_case(b"identified by ");
    let mut at = end + blanks;
    let is_quoted = from(text, at).first().is_some_and(|byte| b"\"'".contains(byte));
    at += usize::from(is_quoted);
    let is_one = if is_sql { is_quoted } else { PASSWORD_OPTIONS.iter().any(is_named) };
    is_one.then_some(at)
}

/// The beginning of a token, enough to judge it by.
fn token(text: &[u8], at: usize) -> &[u8] {
    let rest = from(text, at);
    let rest = rest.get(..value::JUDGED).unwrap_or(rest);
    rest.get(..run(rest, is_token)).unwrap_or_default()
}

fn full(text: &[u8], at: usize) -> usize {
    run(from(text, at), is_token)
}
