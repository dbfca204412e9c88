//! Words to fields: splitting by IFS, globs, removal of quotes.
//!
//! Owns: what a word comes to as arguments, as one value, and as a pattern. Refuses: looking for files; a glob stays one.

use std::borrow::Cow;

use super::braces;
use super::items::{Item, Origin, globbed};
use super::machine::Machine;
use super::pattern::bracket_length;
use super::state::{Options, State};
use crate::shell::ast::{Part, Span, Word};
use crate::shell::value::{Piece, Value, Why};

/// Programs whose output is one word, so that it is not split.
const WORDS: [&str; 10] =
    ["date", "nproc", "id", "whoami", "hostname", "uname", "mktemp", "uuidgen", "git rev-parse", "arch"];
/// Fields one command may have.
const LARGEST: usize = 4096;

/// The fields of words, and why there may be others among them.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments {
    pub(super) fields: Vec<Value>,
    pub(super) more: Option<Why>,
}

impl Machine<'_> {
    /// What words come to as arguments.
    pub(super) fn arguments<'w>(
        &mut self,
        words: impl IntoIterator<Item = &'w Word>,
        state: &mut State,
    ) -> Arguments {
        let mut arguments = Arguments::default();
        self.argue(words, state, &mut arguments);
        arguments
    }

    /// The same, behind others.
    pub(super) fn argue<'w>(
        &mut self,
        words: impl IntoIterator<Item = &'w Word>,
        state: &mut State,
        arguments: &mut Arguments,
    ) {
        for word in words {
            self.argument(word, state, arguments);
            if arguments.fields.len() > LARGEST {
                self.unknown("more arguments than are read", word.span);
                arguments.fields.truncate(LARGEST);
                arguments.more =
                    Some(Why { construct: "more arguments than are read".to_owned(), span: word.span });
                break;
            }
        }
    }

    fn argument(&mut self, word: &Word, state: &mut State, arguments: &mut Arguments) {
        // Most words are only letters.
        if let [Part::Literal { text, quoted }] = word.parts.as_slice()
            && self.is_plain(text)
        {
            if self.step(word.span) && (*quoted || !text.is_empty()) {
                self.pay(text.len(), word.span);
                arguments.fields.push(Value::known(text.as_slice()));
            }
            return;
        }
        if state.options.plain_braces || !braces::are_in(word) {
            return self.fields(Cow::Borrowed(word), state, arguments);
        }
        let Some(words) = braces::expanded(word) else {
            self.unknown("braces that stand for too many words", word.span);
            arguments.more =
                Some(Why { construct: "braces that stand for too many words".to_owned(), span: word.span });
            return;
        };
        for word in words {
            self.fields(Cow::Owned(word), state, arguments);
        }
    }

    /// What a word without braces comes to.
    fn fields(&mut self, mut word: Cow<'_, Word>, state: &mut State, arguments: &mut Arguments) {
        if state.options.posix {
            plain_tildes(&mut word);
        }
        let items = self.items(&word, state);
        let separators = self.separators(state);
        let mut splitter = Splitter::new(&separators, &state.options);
        for item in items {
            splitter.item(item);
        }
        let (mut fields, mut more) = splitter.finish();
        if state.options.nocaseglob && fields.iter().any(Value::has_glob) {
            // What stands beside it is not as it is written either.
            more = Some(globbed());
            fields.retain(|field| !field.has_glob());
        }
        if state.options.failglob && fields.iter().any(Value::has_glob) {
            self.may_give_up(state);
        }
        self.pay(fields.iter().map(Value::len_known).sum(), word.span);
        arguments.fields.extend(fields);
        arguments.more = more.or(arguments.more.take());
    }

    /// What a word comes to where it is not split: assignments, here-strings, `case`.
    pub(super) fn single(&mut self, word: &Word, state: &mut State) -> Value {
        let items = self.items(word, state);
        let value = one(items);
        self.pay(value.len_known(), word.span);
        value
    }

    /// What is compared by `case` and `[[`: not split, but where it holds `"$@"`.
    pub(super) fn compared_word(&mut self, word: &Word, state: &mut State) -> Value {
        let is_list = |part: &Part| matches!(part, Part::Parameter { name, index, quoted: true, .. } if name == b"@" || index.as_deref().is_some_and(is_at));
        let is_split = |part: &Part| {
            let (Part::Parameter { quoted, .. }
            | Part::Command { quoted, .. }
            | Part::Arithmetic { quoted, .. }) = part
            else {
                return false;
            };
            !quoted
        };
        if !word.parts.iter().any(is_list) || !word.parts.iter().any(is_split) {
            return self.single(word, state);
        }
        let items = self.items(word, state);
        let separators = self.separators(state);
        let options = Options { noglob: true, ..state.options };
        let mut splitter = Splitter::new(&separators, &options);
        for item in items {
            match item {
                Item::Glob(pattern, Origin::Written) => splitter.put(Piece::Known(pattern)),
                item => splitter.item(item),
            }
        }
        let mut value = Value::default();
        for (place, field) in splitter.finish().0.into_iter().enumerate() {
            if place > 0 {
                value.push(Piece::Known(b" ".to_vec()));
            }
            value.append(field);
        }
        self.pay(value.len_known(), word.span);
        value
    }

    /// An argument that is an assignment (`export a=$b`): not split.
    pub(super) fn assignment_argument(&mut self, word: &Word, state: &mut State) -> Value {
        let scalar = Word {
            parts: word.parts.iter().filter(|part| !matches!(part, Part::Array(_))).cloned().collect(),
            span: word.span,
        };
        self.single(&scalar, state)
    }

    /// The bytes that separate fields.
    pub(super) fn separators(&self, state: &State) -> Cow<'static, [u8]> {
        if !state.variables.contains_key(b"IFS".as_slice())
            && !self.context.environment.contains_key(b"IFS".as_slice())
        {
            return Cow::Borrowed(b" \t\n");
        }
        let found = match self.scalar(state, b"IFS") {
            Some(value) => value.bytes().map_or_else(|| b" \t\n".to_vec(), <[u8]>::to_vec),
            None => b" \t\n".to_vec(),
        };
        Cow::Owned(found)
    }
}

fn is_at(index: &Word) -> bool {
    matches!(index.parts.as_slice(), [Part::Literal { text, .. }] if text == b"@")
}

/// In POSIX mode a tilde within an argument is only a letter, also behind `=`.
fn plain_tildes(word: &mut Cow<'_, Word>) {
    let is_inner = |(place, part): (usize, &Part)| place > 0 && matches!(part, Part::Tilde(_));
    if !word.parts.iter().enumerate().any(is_inner) {
        return;
    }
    for part in word.to_mut().parts.iter_mut().skip(1) {
        if let Part::Tilde(name) = part {
            let text = [b"~", name.as_slice()].concat();
            *part = Part::Literal { text, quoted: false };
        }
    }
}

/// Items as one value.
pub(super) fn one(items: Vec<Item>) -> Value {
    let mut value = Value::default();
    for item in items {
        match item {
            Item::Text(bytes, _) => value.push(Piece::Known(bytes)),
            Item::Unknown(why, _) | Item::Any(why) => value.push(Piece::Unknown(why)),
            // Where nothing is globbed a glob is only its letters, but one that a variable holds stands for a file.
            Item::Glob(pattern, Origin::Written) => value.push(Piece::Known(pattern)),
            Item::Glob(pattern, Origin::Quoted) => value.push(Piece::Glob(pattern)),
            Item::Glob(_, Origin::Expanded) => value.push(Piece::Unknown(globbed())),
            Item::Ext(operator, alternatives) => value.push(Piece::Glob(written(operator, alternatives))),
            Item::Break(between) => value.push(Piece::Known(between)),
        }
    }
    value
}

fn written(operator: u8, alternatives: Vec<Vec<Item>>) -> Vec<u8> {
    let mut text = vec![operator, b'('];
    for (place, items) in alternatives.into_iter().enumerate() {
        if place > 0 {
            text.push(b'|');
        }
        for piece in one(items).pieces {
            match piece {
                Piece::Known(bytes) | Piece::Glob(bytes) => text.extend(bytes),
                Piece::Unknown(_) => text.push(b'*'),
            }
        }
    }
    text.push(b')');
    text
}

/// Splits items into fields the way bash does.
struct Splitter<'s> {
    separators: &'s [u8],
    noglob: bool,
    extglob: bool,
    /// A bracket has begun in the field at hand.
    is_open: bool,
    fields: Vec<Value>,
    current: Option<Value>,
    /// The last field ended at white space, to which one other separator may still belong.
    blank: bool,
    more: Option<Why>,
}

impl<'s> Splitter<'s> {
    fn new(separators: &'s [u8], options: &Options) -> Self {
        Self {
            separators,
            noglob: options.noglob,
            extglob: options.extglob,
            is_open: false,
            fields: Vec::new(),
            current: None,
            blank: false,
            more: None,
        }
    }

    fn item(&mut self, item: Item) {
        match item {
            Item::Text(bytes, Origin::Quoted) => self.put(Piece::Known(bytes)),
            Item::Text(bytes, Origin::Written) => {
                if !bytes.is_empty() {
                    self.brackets(&bytes);
                    self.put(Piece::Known(bytes));
                }
            }
            Item::Text(bytes, Origin::Expanded) => self.split(&bytes),
            Item::Unknown(why, Origin::Quoted) => self.put(Piece::Unknown(why)),
            Item::Unknown(why, Origin::Written | Origin::Expanded) => {
                let is_whole = if why.is_number() {
                    !self.separators.iter().any(|byte| byte.is_ascii_digit() || *byte == b'-')
                } else {
                    is_word(&why) && self.separators.iter().all(u8::is_ascii_whitespace)
                };
                if !is_whole {
                    self.more = Some(why.clone());
                }
                self.put(Piece::Unknown(why));
            }
            Item::Glob(pattern, Origin::Written) if self.noglob => self.put(Piece::Known(pattern)),
            Item::Glob(pattern, origin) => {
                // One that ends in another part of the word.
                self.is_open |= origin == Origin::Written && pattern == b"[";
                self.put(Piece::Glob(pattern));
            }
            Item::Ext(operator, alternatives) => self.put(Piece::Glob(written(operator, alternatives))),
            // Where they are no blanks, separators keep a field that is empty.
            Item::Break(_) => match self.separators.first() {
                Some(byte) if !matches!(byte, b' ' | b'\t' | b'\n') => self.separator(*byte),
                _ => self.end(),
            },
            Item::Any(why) => {
                self.more = Some(why.clone());
                self.put(Piece::Unknown(why));
            }
        }
    }

    fn put(&mut self, piece: Piece) {
        self.blank = false;
        self.current.get_or_insert_with(Value::default).push(piece);
    }

    /// A bracket may be put together of several parts of a word, and what it holds is first known then.
    fn brackets(&mut self, text: &[u8]) {
        if self.noglob {
            return;
        }
        let closed = text.iter().position(|byte| *byte == b']');
        if self.is_open && closed.is_some() {
            let why = Why { construct: "a glob put together of parts".to_owned(), span: Span::default() };
            self.more = Some(why.clone());
            self.put(Piece::Unknown(why));
            self.is_open = false;
        }
        if let Some(open) = text.iter().rposition(|byte| *byte == b'[') {
            self.is_open = closed.is_none_or(|closed| closed < open);
        }
    }

    fn end(&mut self) {
        self.is_open = false;
        if let Some(field) = self.current.take() {
            self.fields.push(field);
        }
        self.blank = false;
    }

    fn split(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((byte, after)) = rest.split_first() {
            if self.separators.contains(byte) {
                self.separator(*byte);
                rest = after;
                continue;
            }
            let length = rest.iter().position(|byte| self.separators.contains(byte)).unwrap_or(rest.len());
            let (run, after) = rest.split_at(length);
            self.globbed(run);
            rest = after;
        }
    }

    fn separator(&mut self, byte: u8) {
        let white = matches!(byte, b' ' | b'\t' | b'\n');
        match (self.current.take(), white) {
            (Some(field), _) => {
                self.fields.push(field);
                self.is_open = false;
                self.blank = white;
            }
            (None, true) => {}
            (None, false) if self.blank => self.blank = false,
            (None, false) => self.fields.push(Value::default()),
        }
    }

    /// Text of an expansion, in which globs are globs.
    fn globbed(&mut self, text: &[u8]) {
        if self.noglob {
            return self.put(Piece::Known(text.to_vec()));
        }
        self.brackets(text);
        let is_group = |pair: &[u8]| matches!(pair, [b'@' | b'?' | b'*' | b'+' | b'!', b'(']);
        if self.extglob && text.windows(2).any(is_group) {
            return self.put(Piece::Glob(text.to_vec()));
        }
        // A backslash there keeps the letter behind it: `\\f*` stands for what `f*` stands for.
        if text.contains(&b'\\') && text.iter().any(|byte| matches!(byte, b'*' | b'?' | b'[')) {
            return self.put(Piece::Glob(text.to_vec()));
        }
        let mut rest = text;
        while let Some(place) = rest.iter().position(|byte| matches!(byte, b'*' | b'?' | b'[')) {
            let (before, from) = rest.split_at(place);
            if !before.is_empty() {
                self.put(Piece::Known(before.to_vec()));
            }
            let length = match from.first() {
                // No bracket reaches over a slash.
                Some(b'[') => {
                    bracket_length(from).filter(|length| !from.iter().take(*length).any(|byte| *byte == b'/'))
                }
                _ => Some(1),
            };
            let (piece, after) = from.split_at(length.unwrap_or(1));
            self.put(if length.is_some() {
                Piece::Glob(piece.to_vec())
            } else {
                Piece::Known(piece.to_vec())
            });
            rest = after;
        }
        if !rest.is_empty() {
            self.put(Piece::Known(rest.to_vec()));
        }
    }

    fn finish(mut self) -> (Vec<Value>, Option<Why>) {
        self.end();
        (self.fields, self.more)
    }
}

fn is_word(why: &Why) -> bool {
    why.construct.strip_prefix("the output of ").is_some_and(|program| WORDS.contains(&program))
}
