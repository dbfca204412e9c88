//! The literals that wake a rule, found in one pass.
//!
//! Owns: the automaton and what each of its words stands for. Case does not matter here; rules look again.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};

use super::tokens::{EMBEDDED, Embedded, TOKENS, Token};

/// What an anchor may be the beginning of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Token(&'static Token),
    Embedded(&'static Embedded),
    /// What an earlier redaction left; its own words must not wake anything.
    Marker,
    Jwt,
    Pem,
    Url,
    Bearer,
    Header,
    User,
    Option,
    Name,
}

/// Anchors that are no prefix of a token.
const OTHERS: [(&str, Anchor); 25] = [
    ("[redacted:", Anchor::Marker),
    ("eyJ", Anchor::Jwt),
    ("-----BEGIN ", Anchor::Pem),
    ("://", Anchor::Url),
    ("bearer ", Anchor::Bearer),
    ("authorization", Anchor::Header),
    ("cookie", Anchor::Header),
    (" -u ", Anchor::User),
    ("--user", Anchor::User),
    (" -p", Anchor::Option),
    ("identified by ", Anchor::Option),
    ("password", Anchor::Name),
    ("passwd", Anchor::Name),
    ("pass", Anchor::Name),
    ("pwd", Anchor::Name),
    ("secret", Anchor::Name),
    ("token", Anchor::Name),
    ("key", Anchor::Name),
    ("credential", Anchor::Name),
    ("auth", Anchor::Name),
    ("signature", Anchor::Name),
    ("sig=", Anchor::Name),
    ("sessionid", Anchor::Name),
    ("dsn", Anchor::Name),
    ("salt", Anchor::Name),
];

/// The automaton over all anchors.
#[derive(Debug)]
pub(super) struct Anchors {
    automaton: Option<AhoCorasick>,
    meanings: Vec<Anchor>,
}

impl Anchors {
    /// For whoever reads much: quick to go through text, and slow to make.
    pub(super) fn new() -> Self {
        Self::of(AhoCorasickKind::DFA)
    }

    /// For whoever reads little, and finds the same: made in a third of the time.
    pub(super) fn brief() -> Self {
        Self::of(AhoCorasickKind::NoncontiguousNFA)
    }

    fn of(kind: AhoCorasickKind) -> Self {
        let (mut words, mut meanings) = (Vec::new(), Vec::new());
        for token in &TOKENS {
            words.push(token.prefix);
            meanings.push(Anchor::Token(token));
        }
        for embedded in &EMBEDDED {
            words.push(embedded.middle);
            meanings.push(Anchor::Embedded(embedded));
        }
        for (word, meaning) in OTHERS {
            words.push(word);
            meanings.push(meaning);
        }
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(kind))
            .build(words);
        // Building fails only for more words than 32 bits count; a test holds that it does not.
        Self { automaton: automaton.ok(), meanings }
    }

    /// The next anchor at or after `from`, with where it begins and ends.
    pub(super) fn next(&self, text: &[u8], from: usize) -> Option<(Anchor, usize, usize)> {
        let found = self.automaton.as_ref()?.find(Input::new(text).range(from.min(text.len())..))?;
        let anchor = self.meanings.get(found.pattern().as_usize())?;
        Some((*anchor, found.start(), found.end()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_automaton_is_there_and_finds_the_same_however_it_was_made() {
        let (whole, brief) = (Anchors::new(), Anchors::brief());
        assert!(whole.automaton.is_some() && brief.automaton.is_some());
        let words = TOKENS.iter().map(|token| token.prefix).chain(OTHERS.iter().map(|(word, _)| *word));
        let text =
            words.collect::<Vec<_>>().join("x") + &"API_KEY=passwordauthorizationhttps://a:b@c".repeat(3);
        let all = |anchors: &Anchors| {
            let mut found = Vec::new();
            while let Some((_, begin, end)) =
                anchors.next(text.as_bytes(), found.last().map_or(0, |(_, end): &(usize, usize)| *end))
            {
                found.push((begin, end));
            }
            found
        };
        assert_eq!(all(&whole), all(&brief));
        assert!(all(&whole).len() > 20);
    }
}
