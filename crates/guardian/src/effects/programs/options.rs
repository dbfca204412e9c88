//! How programs read their options.
//!
//! Owns: short clusters, glued values, long names and their abbreviations, `--`. Refuses: to know any program; a table says
//! which options take a value, and whatever it does not name is a flag.

use crate::shell::value::{Piece, Value, Why};

/// What a program's options look like.
#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    /// Letters that take a value: `o:` the next argument or what is glued to it, `i?` only what is glued.
    short: &'static str,
    /// Long names: `name=` takes a value, `name?` only one behind `=`, `name` none.
    long: &'static str,
    /// Whether the first operand ends the options: wrappers.
    stops: bool,
    /// Whether long names stand behind one dash: `terraform apply -auto-approve`.
    one_dash: bool,
}

/// What was read.
#[derive(Debug, Clone, Default)]
pub(super) struct Read {
    /// Options by their letter or full long name, in order.
    pub options: Vec<(String, Option<Value>)>,
    /// What is no option.
    pub operands: Vec<Value>,
    /// Set when an argument that is not known may have been an option.
    pub vague: Option<Why>,
}

impl Options {
    /// Letters and long names; options and operands may be mixed.
    pub(super) const fn new(short: &'static str, long: &'static str) -> Self {
        Self { short, long, stops: false, one_dash: false }
    }

    /// Ends at the first operand.
    pub(super) const fn stops(mut self) -> Self {
        self.stops = true;
        self
    }

    /// Long names behind one dash.
    pub(super) const fn one_dash(mut self) -> Self {
        self.one_dash = true;
        self
    }

    /// Reads arguments, the program's name not among them.
    pub(super) fn read(&self, args: &[Value]) -> Read {
        let mut read = Read::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let prefix = arg.prefix();
            if prefix.is_empty() && arg.why().is_some() {
                read.vague = read.vague.or_else(|| arg.why().cloned());
            }
            if arg.bytes() == Some(b"--") {
                read.operands.extend(args.cloned());
                break;
            }
            if prefix.first() != Some(&b'-') || arg.bytes() == Some(b"-") {
                read.operands.push(arg.clone());
                if self.stops {
                    read.operands.extend(args.cloned());
                    break;
                }
            } else if prefix.starts_with(b"--") || self.one_dash {
                self.long(arg, &mut args, &mut read);
            } else {
                self.cluster(arg, &mut args, &mut read);
            }
        }
        read
    }

    fn long<'a>(&self, arg: &Value, args: &mut impl Iterator<Item = &'a Value>, read: &mut Read) {
        let prefix = arg.prefix();
        let dashes = if prefix.starts_with(b"--") { 2 } else { 1 };
        let end = prefix.iter().position(|byte| *byte == b'=').unwrap_or(prefix.len());
        let written = String::from_utf8_lossy(prefix.get(dashes..end).unwrap_or_default()).into_owned();
        let (name, kind) = self.resolve(&written);
        let value = if end < prefix.len() {
            Some(after(arg, end + 1))
        } else {
            if let Some(why) = arg.why() {
                read.vague.get_or_insert_with(|| why.clone());
            }
            (kind == Some('=')).then(|| args.next().cloned()).flatten()
        };
        read.options.push((name, value));
    }

    /// The full name of a long option, and whether it takes a value.
    fn resolve(&self, written: &str) -> (String, Option<char>) {
        let names = || {
            self.long.split_ascii_whitespace().map(|entry| {
                let name = entry.trim_end_matches(['=', '?']);
                (name, entry.chars().nth(name.chars().count()))
            })
        };
        if let Some((name, kind)) = names().find(|(name, _)| *name == written) {
            return (name.to_owned(), kind);
        }
        let short = self.one_dash || written.is_empty();
        let mut close = names().filter(|(name, _)| !short && name.starts_with(written));
        match (close.next(), close.next()) {
            (Some((name, kind)), None) => (name.to_owned(), kind),
            _ => (written.to_owned(), None),
        }
    }

    fn cluster<'a>(&self, arg: &Value, args: &mut impl Iterator<Item = &'a Value>, read: &mut Read) {
        let prefix = arg.prefix();
        for (place, byte) in prefix.iter().enumerate().skip(1) {
            let letter = char::from(*byte);
            let rest = after(arg, place + 1);
            match self.takes(letter) {
                Some(':') if rest.pieces.is_empty() => {
                    read.options.push((letter.to_string(), args.next().cloned()));
                    return;
                }
                Some(_) => {
                    let value = Some(rest).filter(|rest| !rest.pieces.is_empty());
                    read.options.push((letter.to_string(), value));
                    return;
                }
                None => read.options.push((letter.to_string(), None)),
            }
        }
        if let Some(why) = arg.why() {
            read.vague.get_or_insert_with(|| why.clone());
        }
    }

    fn takes(&self, letter: char) -> Option<char> {
        let mut letters = self.short.chars().peekable();
        while let Some(known) = letters.next() {
            let mark = letters.peek().copied().filter(|mark| matches!(mark, ':' | '?'));
            if known == letter {
                return mark;
            }
        }
        None
    }
}

impl Read {
    /// Whether one of these is among the options: letters and long names, separated by blanks.
    pub(super) fn has(&self, names: &str) -> bool {
        self.options.iter().any(|(name, _)| names.split(' ').any(|wanted| wanted == name))
    }

    /// The last value of one of these.
    pub(super) fn value(&self, names: &str) -> Option<&Value> {
        self.values(names).last()
    }

    /// All values of these.
    pub(super) fn values(&self, names: &str) -> impl DoubleEndedIterator<Item = &Value> {
        self.options.iter().filter_map(move |(name, value)| {
            value.as_ref().filter(|_| names.split(' ').any(|wanted| wanted == name))
        })
    }

    /// The first operand's text.
    pub(super) fn verb(&self) -> &str {
        self.word(0)
    }

    /// The text of an operand; empty when there is none or it is not known.
    pub(super) fn word(&self, place: usize) -> &str {
        self.operands.get(place).and_then(Value::text).unwrap_or_default()
    }
}

/// What stands behind so many known bytes of a value.
pub(super) fn after(value: &Value, count: usize) -> Value {
    let mut rest = Value::default();
    for (place, piece) in value.pieces.iter().enumerate() {
        match piece {
            Piece::Known(bytes) if place == 0 => {
                rest.push(Piece::Known(bytes.get(count..).unwrap_or_default().to_vec()));
            }
            piece => rest.push(piece.clone()),
        }
    }
    rest
}

/// Splits a value at the first such byte among those it begins with.
pub(super) fn split(value: &Value, byte: u8) -> Option<(String, Value)> {
    let place = value.prefix().iter().position(|found| *found == byte)?;
    let before = String::from_utf8_lossy(value.prefix().get(..place)?).into_owned();
    Some((before, after(value, place + 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &Options, line: &str) -> (Vec<String>, Vec<String>) {
        let args: Vec<Value> = line.split_ascii_whitespace().map(Value::known).collect();
        let read = options.read(&args);
        let shown = |value: &Value| value.text().unwrap_or("?").to_owned();
        let named = |(name, value): &(String, Option<Value>)| match value {
            Some(value) => format!("{name}={}", shown(value)),
            None => name.clone(),
        };
        (read.options.iter().map(named).collect(), read.operands.iter().map(shown).collect())
    }

    #[test]
    fn options_are_read_as_getopt_does() {
        let options = Options::new("n:i?", "recursive force lines= color? reference=");
        for (line, named, operands) in [
            ("-rf a", vec!["r", "f"], vec!["a"]),
            ("-rn5 a -f", vec!["r", "n=5", "f"], vec!["a"]),
            ("-n 5 -i a -i.bak", vec!["n=5", "i", "i=.bak"], vec!["a"]),
            ("--rec --li 3 --lines=4 x", vec!["recursive", "lines=3", "lines=4"], vec!["x"]),
            ("--re x", vec!["re"], vec!["x"]),
            ("--color x --color=always", vec!["color", "color=always"], vec!["x"]),
            ("-f -- -r - --force", vec!["f"], vec!["-r", "-", "--force"]),
            ("- -f", vec!["f"], vec!["-"]),
        ] {
            let (found, rest) = read(&options, line);
            assert_eq!((found, rest.iter().map(String::as_str).collect()), (to(&named), operands), "{line}");
        }
        let (found, rest) = read(&Options::new("n:", "").stops(), "-n 5 rm -rf /");
        assert_eq!((found, rest), (to(&["n=5"]), to(&["rm", "-rf", "/"])));
        let (found, _) = read(&Options::new("", "target= destroy").one_dash(), "apply -target x -destroy");
        assert_eq!(found, to(&["target=x", "destroy"]));
    }

    fn to(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn what_is_not_known_may_be_an_option() {
        let why = Why { construct: "the variable x".to_owned(), span: crate::shell::ast::Span::default() };
        let mut glued = Value::known("-r");
        glued.push(Piece::Unknown(why.clone()));
        for arg in [Value::unknown(why.clone()), glued] {
            assert_eq!(Options::new("", "").read(&[arg]).vague, Some(why.clone()));
        }
        let mut path = Value::known("/etc/");
        path.push(Piece::Unknown(why));
        assert_eq!(Options::new("", "").read(&[path]).vague, None);
    }
}
