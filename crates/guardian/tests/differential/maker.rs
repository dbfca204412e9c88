//! Scripts nobody wrote: the shell's constructs put together at random, the same for the same seed.
//!
//! The programs in them are markers (`c0` … `c9`, which only note that they ran) and a few that touch the small world they run in.

use super::dice::Dice;

/// A script of this seed.
pub(crate) fn script(seed: u64) -> String {
    let mut maker = Maker { dice: Dice::new(seed), depth: 0, quoted: 0, documents: 0 };
    let mut text = String::new();
    text.push_str("v=a; w='b c'; x=f0; arr=(p 'q r' s)\n");
    if maker.dice.is_one_in(5) {
        text.push_str("set -- 1 'two 2' c3\n");
    }
    for _ in 0..=maker.dice.roll(4) {
        text.push_str(&maker.statement());
        text.push('\n');
    }
    text
}

/// What is being put together.
#[derive(Debug)]
pub(crate) struct Maker {
    pub(crate) dice: Dice,
    pub(crate) depth: u32,
    /// How many quotes a text will be put into; here-documents and new lines are left out there.
    pub(crate) quoted: u32,
    /// Here-documents so far, so that each has an end of its own.
    pub(crate) documents: u32,
}

impl Maker {
    pub(crate) fn deeper(&mut self, make: impl FnOnce(&mut Self) -> String) -> String {
        self.depth += 1;
        let text = make(self);
        self.depth -= 1;
        text
    }

    /// Text that stands in quotes of some kind.
    pub(crate) fn within_quotes(&mut self, make: impl FnOnce(&mut Self) -> String) -> String {
        self.quoted += 1;
        let text = self.deeper(make);
        self.quoted -= 1;
        text
    }

    pub(crate) fn marker(&mut self) -> String {
        format!("c{}", self.dice.roll(10))
    }

    pub(crate) fn name(&mut self) -> &'static str {
        self.dice.pick(&["v", "w", "x"])
    }

    pub(crate) fn pick(&mut self, all: &[&str]) -> String {
        self.dice.pick(all).to_owned()
    }
}

/// Text between single quotes.
pub(crate) fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Text between double quotes, so that nothing in it is expanded.
pub(crate) fn double(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        if matches!(character, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted + "\""
}

/// Text in `$'…'`, some of it by number.
pub(crate) fn dollar_single(text: &str) -> String {
    let mut quoted = String::from("$'");
    for (place, byte) in text.bytes().enumerate() {
        match (byte, place % 4) {
            (b'\n', _) => quoted.push_str("\\n"),
            (b'\'' | b'\\', _) => quoted.extend(['\\', char::from(byte)]),
            (_, 0) => quoted.push_str(&format!("\\x{byte:02x}")),
            (_, 2) => quoted.push_str(&format!("\\{byte:03o}")),
            _ => quoted.push(char::from(byte)),
        }
    }
    quoted + "'"
}
