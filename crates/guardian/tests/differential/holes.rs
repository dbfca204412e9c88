//! Statements and words that are written down with holes in them, in `statements.txt` (an empty line between two, `##` before a
//! heading) and `words.txt` (one a line): the corners of the shell that scripts have and grammars forget.
//!
//! A hole is `<M>` for a marker, `<N>` a name, `<L>` a literal, `<W>` a word, `<WS>` words, `<T>` a file to write to, `<S>` a simple
//! command, `<B>` a statement, `<C>` a condition, `<A>` arithmetic, `<Q>` commands in single quotes.

use std::sync::LazyLock;

use super::maker::{Maker, single};

static STATEMENTS: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let all = include_str!("statements.txt").split("\n\n").map(str::trim);
    all.filter(|statement| !statement.starts_with("##")).collect()
});

static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("words.txt").lines().collect());

impl Maker {
    pub(crate) fn filled(&mut self) -> String {
        let statement = self.dice.pick(&STATEMENTS);
        self.deeper(|maker| maker.fill(statement))
    }

    pub(crate) fn filled_word(&mut self) -> String {
        let word = self.dice.pick(&WORDS);
        let text = self.deeper(|maker| maker.fill(word));
        if self.dice.is_one_in(3) && !text.contains(['"', '~', '{']) { format!("\"{text}\"") } else { text }
    }

    fn fill(&mut self, written: &str) -> String {
        let mut text = String::new();
        let mut rest = written;
        while let Some((before, after)) = rest.split_once('<') {
            text.push_str(before);
            match after.split_once('>').and_then(|(hole, behind)| Some((self.filling(hole)?, behind))) {
                Some((filling, behind)) => {
                    text.push_str(&filling);
                    rest = behind;
                }
                None => {
                    text.push('<');
                    rest = after;
                }
            }
        }
        text + rest
    }

    fn filling(&mut self, hole: &str) -> Option<String> {
        Some(match hole {
            "M" => self.marker(),
            "N" => self.name().to_owned(),
            "L" => self.literal(),
            "W" => self.deeper(Self::word),
            "WS" => self.words(),
            "T" => self.target(),
            "S" => self.simple(),
            "B" => self.statement(),
            "C" => self.condition(),
            "A" => self.arithmetic(),
            "Q" => single(&self.nested()),
            _ => return None,
        })
    }
}
