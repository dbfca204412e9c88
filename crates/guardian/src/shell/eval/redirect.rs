//! Redirections: what they open, read and write, whether or not a command stands before them.
//!
//! Owns: opening channels and their effects. Refuses: treating a device as a file: `/dev/null` is nothing, `/dev/tcp` a network.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::channel::Channel;
use super::device::{device, network};
use super::files::key;
use super::machine::Machine;
use super::state::State;
use super::variables::Index;
use super::worlds::{Worlds, settle};
use crate::effects::{Act, Change, Datum, Effort, Stream, Traffic, path};
use crate::shell::ast::{Descriptor, Redirect, Span, Target, Word};
use crate::shell::value::{Piece, Value, Why};

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Read,
    Write(Change),
    Both,
}

impl Machine<'_> {
    /// Runs something with redirections, and puts the descriptors back.
    pub(super) fn with_redirects(
        &mut self,
        redirects: &[Redirect],
        mut state: State,
        by: &str,
        run: impl FnOnce(&mut Self, State) -> Worlds,
    ) -> Worlds {
        if redirects.is_empty() && self.feeds.is_empty() {
            return run(self, state);
        }
        let before = state.descriptors.clone();
        let length = state.buffers.len();
        self.open_all(redirects, &mut state, by);
        // More than one name, none, or an empty one: bash says so and does not start the command.
        if std::mem::take(&mut self.refused) {
            let span = redirects.first().map_or_else(Span::default, |redirect| redirect.span);
            self.write(&mut state, 2, Stream::default(), "bash", span);
            state.descriptors = before;
            state.status = Some(1);
            // What stands in its words was started by then.
            return self.fed(vec![state]);
        }
        // Whether what is opened is one name at all, or there to be read, may only be known when it runs.
        let is_doubted = std::mem::take(&mut self.doubted);
        let (is_over, gone) = self.left_off();
        let kept: BTreeMap<u32, Channel> = self
            .named_descriptors(redirects, &state)
            .into_iter()
            .filter_map(|number| state.descriptors.get(&number).map(|channel| (number, channel.clone())))
            .collect();
        let feeds = std::mem::take(&mut self.feeds);
        let mut worlds = gone;
        if !is_over {
            // What cannot be opened keeps the command from being started, and so does what is there already under `set -C`.
            let mut kept = is_doubted.then(|| state.clone());
            let ran = run(self, state);
            if let Some(kept) = &mut kept {
                kept.status = Some(1);
                // Of what is only written it is taken that it can be.
                if let (false, Some(first)) = (redirects.iter().any(reads), ran.first()) {
                    kept.written = Rc::clone(&first.written);
                }
            }
            worlds.extend(kept);
            worlds.extend(ran);
        }
        self.feeds = feeds;
        worlds = self.fed(worlds);
        for state in &mut worlds {
            let replaced = std::mem::replace(&mut state.descriptors, before.clone());
            state.descriptors.extend(kept.iter().map(|(number, channel)| (*number, channel.clone())));
            // What an `exec` inside has opened above these stays open.
            for (number, channel) in replaced {
                let touched = redirects
                    .iter()
                    .any(|redirect| descriptor_of(redirect).is_none_or(|descriptor| descriptor == number));
                if !touched && number > 2 && !matches!(channel, Channel::Source(_) | Channel::Capture(_)) {
                    state.descriptors.entry(number).or_insert(channel);
                }
            }
            let used = state.descriptors.values().any(|channel| match channel {
                Channel::Capture(buffer) | Channel::File { buffer, .. } => *buffer >= length,
                Channel::Given
                | Channel::Closed
                | Channel::Null
                | Channel::Source(_)
                | Channel::Network { .. } => false,
            });
            if !used {
                state.buffers.truncate(length);
            }
        }
        settle(worlds)
    }

    /// Opens redirections that stay: `exec >file`.
    pub(super) fn open_all(&mut self, redirects: &[Redirect], state: &mut State, by: &str) {
        for redirect in redirects {
            self.redirect(redirect, state, by);
        }
    }

    fn named_descriptors(&self, redirects: &[Redirect], state: &State) -> Vec<u32> {
        redirects
            .iter()
            .filter_map(|redirect| match &redirect.descriptor {
                Some(Descriptor::Variable(name)) => self.scalar(state, name)?.text()?.parse().ok(),
                Some(Descriptor::Number(_)) | None => None,
            })
            .collect()
    }

    /// Runs what reads at the other end of `>(…)`.
    pub(super) fn fed(&mut self, worlds: Worlds) -> Worlds {
        let feeds = std::mem::take(&mut self.feeds);
        let mut worlds = worlds;
        for feed in feeds {
            worlds = worlds
                .into_iter()
                .map(|state| {
                    let stream = state.buffers.get(feed.buffer).cloned().unwrap_or_default();
                    let mut inner = feed.before.clone();
                    inner.buffers.clone_from(&state.buffers);
                    inner.descriptors.insert(0, Channel::Source(stream));
                    let inner = self.isolated(feed.span, |machine| {
                        machine.subshell(inner, |machine, state| machine.script(&feed.script, state))
                    });
                    let status = state.status;
                    let mut state = state.after(inner);
                    state.status = status;
                    state
                })
                .collect();
        }
        worlds
    }

    /// What reads at the other end of `exec > >(…)` hears all that is still to come.
    pub(super) fn fed_for_good(&mut self, state: State) -> Worlds {
        let mut state = state;
        for feed in &self.feeds {
            if let Some(buffer) = state.buffers.get_mut(feed.buffer) {
                let why = Why { construct: "what is written from then on".to_owned(), span: feed.span };
                *buffer = Stream { text: Some(Value::unknown(why.clone())), data: vec![Datum::Unknown(why)] };
            }
        }
        self.fed(vec![state])
    }

    fn redirect(&mut self, redirect: &Redirect, state: &mut State, by: &str) {
        let span = redirect.span;
        let standard = match &redirect.target {
            Target::Read(_) | Target::ReadWrite(_) | Target::HereDocument(_) | Target::HereString(_) => 0,
            Target::Duplicate(_, input) => u32::from(!*input),
            Target::Write(..) | Target::Append(_) | Target::Both(..) => 1,
        };
        let number = match &redirect.descriptor {
            None => standard,
            Some(Descriptor::Number(number)) => *number,
            Some(Descriptor::Variable(name)) => self.fresh(name, &redirect.target, span, state),
        };
        let channel = match &redirect.target {
            Target::Read(word) => self.open(word, Mode::Read, number, by, span, state),
            Target::Write(word, forced) => {
                let channel = self.open(word, Mode::Write(Change::Empty), number, by, span, state);
                if let (Channel::File { path, .. }, true, false) =
                    (&channel, state.options.noclobber, *forced)
                {
                    self.files.doubt(path);
                    self.doubted = true;
                }
                channel
            }
            Target::Append(word) => self.open(word, Mode::Write(Change::Append), number, by, span, state),
            Target::ReadWrite(word) => self.open(word, Mode::Both, number, by, span, state),
            Target::Both(word, append) => {
                let change = if *append { Change::Append } else { Change::Empty };
                let channel = self.open(word, Mode::Write(change), number, by, span, state);
                state.descriptors.insert(2, channel.clone());
                channel
            }
            Target::Duplicate(word, input) => self.duplicate(word, *input, number, by, span, state),
            Target::HereDocument(document) => Channel::Source(Stream {
                text: Some(self.single(&document.body, state)),
                data: self.flows.clone(),
            }),
            Target::HereString(word) => {
                let mut text = self.single(word, state);
                text.push(Piece::Known(b"\n".to_vec()));
                Channel::Source(Stream { text: Some(text), data: self.flows.clone() })
            }
        };
        state.descriptors.insert(number, channel);
    }

    /// `{name}>`: a descriptor bash picks, or closes.
    fn fresh(&mut self, name: &[u8], target: &Target, span: Span, state: &mut State) -> u32 {
        let closes =
            matches!(target, Target::Duplicate(word, _) if self.single(word, state).bytes() == Some(b"-"));
        if closes {
            return self
                .scalar(state, name)
                .and_then(|value| value.text().and_then(|text| text.parse().ok()))
                .unwrap_or(10);
        }
        let number = (10..60).find(|number| !state.descriptors.contains_key(number)).unwrap_or(60);
        let (name, index) = match super::variables::subscripted(name) {
            Some((name, inner)) => (name, self.index_text(&inner, span, state)),
            None => (name.to_vec(), Index::None),
        };
        self.assign(state, &name, &index, Value::known(number.to_string()), false, span);
        number
    }

    fn duplicate(
        &mut self,
        word: &Word,
        input: bool,
        number: u32,
        by: &str,
        span: Span,
        state: &mut State,
    ) -> Channel {
        let arguments = self.arguments([word], state);
        let value = match (arguments.fields.as_slice(), arguments.more) {
            ([value], None) => value.clone(),
            (_, Some(why)) => Value::unknown(why),
            _ => {
                self.refused = true;
                return Channel::Closed;
            }
        };
        let Some(text) = value.bytes().map(<[u8]>::to_vec) else {
            if value.why().is_some_and(crate::shell::value::Why::is_number) {
                return Channel::Given;
            }
            return self.opened(
                &value,
                if input { Mode::Read } else { Mode::Write(Change::Replace) },
                number,
                by,
                span,
                state,
            );
        };
        let (digits, moved) = match text.strip_suffix(b"-") {
            Some(digits) => (digits.to_vec(), true),
            None => (text.clone(), false),
        };
        if digits.is_empty() {
            return Channel::Closed;
        }
        match std::str::from_utf8(&digits).ok().and_then(|digits| digits.parse::<u32>().ok()) {
            Some(from) => {
                let channel = state.descriptors.get(&from).cloned();
                // What is not open cannot be opened again; whether the shell was given more than three nobody knows.
                self.refused |= channel == Some(Channel::Closed);
                self.doubted |= channel.is_none() && from > 2;
                let channel = channel.unwrap_or(Channel::Given);
                if moved && from != number {
                    state.descriptors.insert(from, Channel::Closed);
                }
                channel
            }
            None if input => Channel::Closed,
            None => {
                // Bash reads the name once more, and takes quotes off that were never meant as such.
                let is_read_again = text.iter().any(|byte| matches!(byte, b'\'' | b'"' | b'\\'));
                let why = Why { construct: "a name bash reads twice".to_owned(), span };
                let value = if is_read_again { Value::unknown(why) } else { value };
                let channel = self.opened(&value, Mode::Write(Change::Empty), number, by, span, state);
                state.descriptors.insert(2, channel.clone());
                channel
            }
        }
    }

    fn open(
        &mut self,
        word: &Word,
        mode: Mode,
        number: u32,
        by: &str,
        span: Span,
        state: &mut State,
    ) -> Channel {
        let arguments = self.arguments([word], state);
        let (mut fields, is_sure) = (arguments.fields, arguments.more.is_none());
        self.doubted |= !is_sure || fields.iter().any(Value::has_glob);
        match (fields.pop(), fields.is_empty()) {
            (Some(target), true) if target.bytes() != Some(b"") => {
                self.opened(&target, mode, number, by, span, state)
            }
            (Some(_), _) => {
                self.refused = true;
                Channel::Closed
            }
            // None: bash refuses too, where it is sure that there is none.
            _ => {
                self.refused |= is_sure;
                Channel::Closed
            }
        }
    }

    fn opened(
        &mut self,
        target: &Value,
        mode: Mode,
        number: u32,
        by: &str,
        span: Span,
        state: &mut State,
    ) -> Channel {
        if let Some(to) = network(target) {
            return self.connected(to, mode, by, span);
        }
        let climbed = target.bytes().zip(state.cwd.bytes());
        let path = climbed
            .and_then(|(target, cwd)| self.files.climbed(target, cwd))
            .unwrap_or_else(|| path::resolve(target, &state.cwd));
        if let Some(channel) = device(&path, state) {
            return channel;
        }
        if !matches!(mode, Mode::Write(_)) {
            self.record(Act::Read { path: path.clone(), deep: false }, by, span, Effort::Done);
        }
        // A directory may be missing, or be of that name.
        self.doubted |= !matches!(mode, Mode::Read);
        let base = match mode {
            Mode::Write(Change::Append) | Mode::Both => self.base(&path, state),
            Mode::Read | Mode::Write(_) => Value::default(),
        };
        match mode {
            Mode::Write(Change::Append) => self.files.lengthen(&path),
            // What is written there takes the place of some of it.
            Mode::Both => self.files.doubt(&path),
            Mode::Read | Mode::Write(_) => {}
        }
        let change = match mode {
            Mode::Read => {
                self.doubted |= !self.surely_holds(&path, state);
                return Channel::Source(self.file_stream(&path, state));
            }
            // What programs say about their errors is not known.
            Mode::Write(Change::Empty) if number == 2 => Change::Replace,
            Mode::Write(change) => change,
            Mode::Both => Change::Edit,
        };
        let effect =
            self.record(Act::Write { path: path.clone(), change, content: None }, by, span, Effort::Done);
        if matches!(mode, Mode::Write(_)) && change != Change::Append {
            Rc::make_mut(&mut state.written).remove(&key(&path));
        }
        state.buffers.push(Stream { text: Some(Value::default()), data: Vec::new() });
        Channel::File { path, base, buffer: state.buffers.len() - 1, effect }
    }

    /// What reading a file gives, as far as it is known.
    pub(super) fn file_stream(&self, path: &Value, state: &State) -> Stream {
        let mut stream = self.held(path, state);
        if stream.text.is_none() && self.files.contents(path).is_empty() {
            stream.text = path
                .bytes()
                .and_then(|path| self.context.facts.get(path))
                .and_then(|fact| fact.text.clone())
                .map(Value::known);
        }
        if stream.text.is_none() {
            let construct = format!("what is in {}", String::from_utf8_lossy(path.prefix()));
            stream.text = Some(Value::unknown(crate::shell::value::Why { construct, span: Span::default() }));
        }
        stream
    }

    fn connected(&mut self, to: Value, mode: Mode, by: &str, span: Span) -> Channel {
        let traffic = if mode == Mode::Read { Traffic::Fetch } else { Traffic::Send };
        let effect =
            self.record(Act::Network { traffic, to: to.clone(), data: Vec::new() }, by, span, Effort::Done);
        Channel::Network { to, effect }
    }
}

/// Whether a redirection opens a file that has to be there.
fn reads(redirect: &Redirect) -> bool {
    matches!(redirect.target, Target::Read(_))
}

/// The descriptor a redirection names; none when only bash knows.
fn descriptor_of(redirect: &Redirect) -> Option<u32> {
    match (&redirect.descriptor, &redirect.target) {
        (Some(Descriptor::Number(number)), _) => Some(*number),
        (Some(Descriptor::Variable(_)), _) => None,
        (None, Target::Read(_) | Target::ReadWrite(_) | Target::HereDocument(_) | Target::HereString(_)) => {
            Some(0)
        }
        (None, Target::Duplicate(_, true)) => Some(0),
        (None, Target::Duplicate(_, false) | Target::Write(..) | Target::Append(_) | Target::Both(..)) => {
            Some(1)
        }
    }
}
