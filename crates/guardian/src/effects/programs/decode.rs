//! Text that is known, turned into other text that is known: `base64 -d`, `rev`, `tr`, `xxd -r`.
//!
//! Owns: transformations a disguise is made with. Refuses: guessing; what cannot be followed keeps what it is made of and loses its text.

use super::call::Call;
use super::filters;
use super::options::Options;
use crate::effects::act::{Act, Change, Datum};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::{Piece, Value};

/// `base64`, `base32`, `tr`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.name == "tr" {
        let read = call.read(&Options::new("", "delete squeeze-repeats complement truncate-set1"));
        let text = call.invocation.input.text.as_ref().and_then(Value::bytes).and_then(|bytes| {
            let sets = read.operands.iter().map(Value::bytes).collect::<Option<Vec<_>>>()?;
            if read.has("s c C squeeze-repeats complement") {
                return None;
            }
            translate(bytes, &sets, read.has("d delete"))
        });
        return Outcome::harmless().saying(changed(call, &call.invocation.input, text));
    }
    let read = call.read(&Options::new("w:i:o:", "wrap= decode ignore-garbage input= output="));
    let file =
        read.operands.first().or_else(|| read.value("i input")).filter(|file| file.text() != Some("-"));
    if let Some(file) = file {
        let mut output = Stream::data([Datum::File(call.path(file))]);
        output.data.extend(read.has("d D decode").then(|| decoded(call)));
        return Outcome::of([call.reads(file)]).saying(output);
    }
    let bytes = call.invocation.input.text.as_ref().and_then(Value::bytes);
    let text = bytes.filter(|_| read.has("d D decode")).and_then(|bytes| match call.name {
        "base32" => base_n(bytes, b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5),
        _ => base64(bytes),
    });
    let mut output = changed(call, &call.invocation.input, text);
    if read.has("d D decode") {
        output.data.push(decoded(call));
    }
    Outcome::harmless().saying(output)
}

/// What comes out is not what one sees in a file or in the command.
fn decoded(call: &Call<'_>) -> Datum {
    Datum::Unknown(call.why("text that was decoded"))
}

/// What a filter makes of its input: text where it can be followed, and what it is made of.
pub(super) fn filtered(call: &Call<'_>, input: &Stream) -> Stream {
    let known = input.text.as_ref().and_then(Value::bytes);
    let has = |options: &[&str]| call.args.iter().filter_map(Value::text).any(|arg| options.contains(&arg));
    match call.name {
        "cat" | "less" | "more" | "pv" | "tac" | "bat" | "head" | "tail" | "sort" | "uniq" | "fold" | "fmt"
        | "column"
            // One line comes out of these as it went in.
            if known.is_none_or(|text| call.name == "cat" || !text.trim_ascii_end().contains(&b'\n'))
                && (call.name == "cat" || call.args.is_empty() || matches!(call.name, "head" | "tail") && known.is_none() && is_line(input)) =>
        {
            input.clone()
        }
        "rev" => {
            let lines = known.and_then(|bytes| std::str::from_utf8(bytes).ok()).map(|text| {
                let turned: Vec<String> = text.lines().map(|line| line.chars().rev().collect()).collect();
                turned.join("\n").into_bytes()
            });
            changed(call, input, lines)
        }
        "xxd" if has(&["-r", "-rp", "-pr", "-p", "-ps", "-plain"]) && has(&["-r", "-rp", "-pr", "-revert"]) => {
            changed(call, input, known.and_then(hexadecimal))
        }
        // Numbers and sums of it are not it.
        "wc" | "md5sum" | "sha1sum" | "sha256sum" | "sha512sum" | "b2sum" | "shasum" | "cksum" | "md5" => Stream::default(),
        _ => changed(call, input, known.and_then(|text| filters::passed(call, text))),
    }
}

/// Whether all there is to read is one line, however it goes on.
fn is_line(input: &Stream) -> bool {
    input.text.as_ref().is_some_and(|text| {
        text.pieces.iter().all(|piece| match piece {
            Piece::Known(bytes) => !bytes.contains(&b'\n'),
            Piece::Glob(_) => true,
            Piece::Unknown(_) => false,
        })
    })
}

/// The same stuff with another text, or with one nobody can say.
pub(super) fn changed(call: &Call<'_>, input: &Stream, text: Option<Vec<u8>>) -> Stream {
    let mut data = input.data.clone();
    match text {
        Some(text) => Stream { text: Some(Value::known(text)), data },
        None => {
            if input.text.is_some() {
                data.push(Datum::Unknown(call.why(format!("the output of {}", call.name))));
            }
            Stream { text: None, data }
        }
    }
}

/// `openssl`'s and others' decoding of known input.
pub(super) fn base64(bytes: &[u8]) -> Option<Vec<u8>> {
    let standard: Vec<u8> = bytes
        .iter()
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => *other,
        })
        .collect();
    base_n(&standard, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 6)
}

fn base_n(bytes: &[u8], alphabet: &[u8], bits: u32) -> Option<Vec<u8>> {
    let (mut held, mut count, mut decoded) = (0u32, 0u32, Vec::new());
    for byte in bytes.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        if *byte == b'=' {
            break;
        }
        let place = alphabet.iter().position(|letter| letter == byte)?;
        held = (held << bits) | u32::try_from(place).ok()?;
        count += bits;
        if count >= 8 {
            count -= 8;
            decoded.push(u8::try_from((held >> count) & 0xff).ok()?);
            held &= (1 << count) - 1;
        }
    }
    Some(decoded)
}

/// Digits two by two.
pub(super) fn hexadecimal(bytes: &[u8]) -> Option<Vec<u8>> {
    let digits: Vec<u8> = bytes
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect::<Option<_>>()?;
    Some(digits.chunks(2).map(|pair| pair.iter().fold(0, |sum, digit| sum * 16 + digit)).collect())
}

fn translate(bytes: &[u8], sets: &[&[u8]], deletes: bool) -> Option<Vec<u8>> {
    let from = letters(sets.first()?)?;
    if deletes {
        return Some(bytes.iter().filter(|byte| !from.contains(byte)).copied().collect());
    }
    let to = letters(sets.get(1)?)?;
    let turned = |byte: &u8| match from.iter().rposition(|letter| letter == byte) {
        Some(place) => to.get(place).or(to.last()).copied().unwrap_or(*byte),
        None => *byte,
    };
    Some(bytes.iter().map(turned).collect())
}

/// A set of `tr` with its ranges and escapes written out.
fn letters(set: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(set).ok()?;
    let text = text
        .replace("[:lower:]", "a-z")
        .replace("[:upper:]", "A-Z")
        .replace("[:digit:]", "0-9")
        .replace("[:alpha:]", "A-Za-z")
        .replace("[:space:]", " \t\n\r")
        .replace("[:blank:]", " \t")
        .replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\\\", "\\");
    if text.contains("[:") || text.contains("[=") || text.contains('\\') && text.len() > 1 {
        return None;
    }
    let bytes = text.as_bytes();
    let (mut all, mut place) = (Vec::new(), 0);
    while let Some(byte) = bytes.get(place) {
        match (bytes.get(place + 1), bytes.get(place + 2)) {
            (Some(b'-'), Some(end)) if end >= byte => {
                all.extend(*byte..=*end);
                place += 3;
            }
            _ => {
                all.push(*byte);
                place += 1;
            }
        }
    }
    Some(all)
}

/// `openssl`: decoding, and keys.
pub(super) fn openssl(call: &Call<'_>) -> Outcome {
    let options = Options::new("", "in= out= inkey= key= cert= connect= pass= passin= k= days= subj= keyout= config= newkey= \
         servername= CA= CAkey= passout= rsa_keygen_bits= algorithm= pkeyopt= signature= sign= verify= CAfile=")
    .one_dash();
    let read = options.read(call.args.get(1..).unwrap_or_default());
    let verb = call.args.first().and_then(Value::text).unwrap_or_default();
    let mut outcome = Outcome::default();
    for file in read.values("in inkey key CAkey CA cert CAfile") {
        outcome.push(call.reads(file));
        outcome.output.data.push(Datum::File(call.path(file)));
    }
    let makes_keys =
        matches!(verb, "genrsa" | "genpkey" | "gendsa" | "ecparam" | "dhparam" | "req" | "x509" | "rand");
    for file in read.values("out keyout") {
        let change = if makes_keys { Change::Make } else { Change::Replace };
        outcome.push(call.writes(file, change));
    }
    if let Some(to) = read.value("connect") {
        let data = call.invocation.input.data.clone();
        let traffic = crate::effects::act::Traffic::Send;
        outcome.push(Act::Network { traffic, to: to.clone(), data });
    }
    if verb == "s_server" {
        let to = Value::known("a port");
        outcome.push(Act::Network { traffic: crate::effects::act::Traffic::Listen, to, data: Vec::new() });
    }
    if read.has("d") && read.value("in").is_some() {
        outcome.output.data.push(decoded(call));
    }
    let decodes = verb == "base64" || (read.has("base64 a"));
    if decodes && read.value("in").is_none() {
        let known = call.invocation.input.text.as_ref().and_then(Value::bytes);
        let text = known.filter(|_| read.has("d")).and_then(base64);
        outcome.output = changed(call, &call.invocation.input, text);
    } else if read.value("in").is_none() {
        outcome.output = changed(call, &call.invocation.input, None);
    }
    if outcome.acts.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::testing::given;
    use super::*;

    #[test]
    fn disguises_are_taken_off() {
        for (line, input, text) in [
            ("base64 -d", "cm0gLXJmIC8=", Some("rm -rf /")),
            ("base64 --decode", "cm0gLXJm\nIC8K", Some("rm -rf /\n")),
            ("base32 -d", "OJWSALLSMYQC6===", Some("rm -rf /")),
            ("rev", "/ fr- mr", Some("rm -rf /")),
            ("xxd -r -p", "726d202d7266202f", Some("rm -rf /")),
            ("tr a-z n-za-m", "ez -es /", Some("rm -rf /")),
            ("tr -d x", "rxm -rxf /", Some("rm -rf /")),
            ("tr _ ' '", "rm_-rf_/", Some("rm -rf /")),
            ("cat", "rm -rf /", Some("rm -rf /")),
            ("openssl base64 -d", "cm0gLXJmIC8=", Some("rm -rf /")),
            ("openssl enc -base64 -d", "cm0gLXJmIC8=", Some("rm -rf /")),
            ("base64", "x", None),
            ("cut -c2-", "xrm", Some("rm\n")),
            ("nl", "a\nb", None),
        ] {
            let outcome = given(line, Stream::text(Value::known(input)));
            assert_eq!(outcome.output.text.as_ref().and_then(Value::text), text, "{line}");
            // What was disguised on purpose says so.
            let is_decoded = line.starts_with("base") && line.contains("-d");
            assert_eq!(outcome.output.data.is_empty(), text.is_some() && !is_decoded, "{line}");
        }
    }
}
