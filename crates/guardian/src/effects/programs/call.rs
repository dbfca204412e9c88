//! A program as its family sees it: a name, arguments, and short words for what they mean.
//!
//! Owns: paths, reads, writes and starts in the way all families say them. Refuses: any one program's options.

use super::options::{Options, Read};
use crate::effects::act::{Act, Change, Datum, Effort, Traffic};
use crate::effects::context::{Context, FileKind};
use crate::effects::invocation::{Invocation, Next, Outcome, Stream};
use crate::shell::value::{Piece, Value, Why};

/// A program by its bare name, with its arguments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// The name without its directory.
    pub name: &'a str,
    /// The arguments.
    pub args: &'a [Value],
    /// All it is given.
    pub invocation: &'a Invocation,
    /// Where the call is made.
    pub context: &'a Context,
}

impl Call<'_> {
    /// Reads the options.
    pub(super) fn read(&self, options: &Options) -> Read {
        options.read(self.args)
    }

    /// The operands, and one that stands for those nobody can count.
    pub(super) fn targets(&self, read: &Read) -> Vec<Value> {
        let more = self.invocation.more.iter().cloned().map(Value::unknown);
        read.operands.iter().cloned().chain(more).collect()
    }

    /// An argument as a path.
    pub(super) fn path(&self, path: &Value) -> Value {
        self.context.resolve(path, &self.invocation.cwd)
    }

    /// A reason that stands where the program does.
    pub(super) fn why(&self, construct: impl Into<String>) -> Why {
        Why { construct: construct.into(), span: self.invocation.span }
    }

    /// An effect nobody can name.
    pub(super) fn unknown(&self, construct: impl Into<String>) -> Act {
        Act::Unknown(self.why(construct))
    }

    /// Another program, with everything else as it is here.
    pub(super) fn next(&self, argv: Vec<Value>) -> Next {
        Next::Program { invocation: Invocation { argv, ..self.invocation.clone() }, elsewhere: None }
    }

    /// Another program that runs on other files.
    pub(super) fn elsewhere(&self, argv: Vec<Value>, place: impl Into<String>) -> Next {
        let invocation = Invocation { argv, ..self.invocation.clone() };
        Next::Program { invocation, elsewhere: Some(place.into()) }
    }

    /// Text a shell reads.
    pub(super) fn shell(&self, text: Value) -> Next {
        Next::Shell {
            text,
            arguments: Vec::new(),
            input: self.invocation.input.clone(),
            cwd: self.invocation.cwd.clone(),
            elsewhere: None,
        }
    }

    /// Text a shell reads that is elsewhere.
    pub(super) fn shell_elsewhere(&self, text: Value, place: impl Into<String>) -> Next {
        Next::Shell {
            text,
            arguments: Vec::new(),
            input: self.invocation.input.clone(),
            cwd: self.invocation.cwd.clone(),
            elsewhere: Some(place.into()),
        }
    }

    /// The arguments that are known.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.args.iter().filter_map(Value::text)
    }

    /// Whether one of these is among the arguments.
    pub(super) fn says(&self, wanted: &[&str]) -> bool {
        self.words().any(|word| wanted.contains(&word))
    }

    /// Whether it is only asked about itself.
    pub(super) fn is_asked(&self) -> bool {
        let is_question = |arg: Option<&Value>| {
            arg.and_then(Value::text)
                .is_some_and(|arg| matches!(arg, "--help" | "--version" | "-help" | "-version"))
        };
        // Behind many words it may be meant for another program, or be a word a shell passes on.
        let few = self.args.len() <= 3;
        is_question(self.args.first())
            || is_question(self.args.last()) && (few || !self.says(&["-c", "exec", "run", "--"]))
            || matches!(self.args, [only] if matches!(only.text(), Some("-h" | "-V" | "-v" | "help" | "version")))
    }

    /// A path below the home.
    pub(super) fn at_home(&self, below: &str) -> Value {
        let mut path = Value::known(self.context.home.clone());
        path.push(Piece::Known(format!("/{below}").into_bytes()));
        path
    }

    /// What it reads from its standard input, as something that is sent.
    pub(super) fn input_data(&self) -> Vec<Datum> {
        let input = &self.invocation.input;
        let text = input.text.iter().filter(|text| !text.pieces.is_empty()).cloned().map(Datum::Text);
        input.data.iter().cloned().chain(text).collect()
    }

    /// The network is used.
    pub(super) fn network(&self, traffic: Traffic, to: &Value, data: Vec<Datum>) -> Act {
        Act::Network { traffic, to: to.clone(), data }
    }

    /// A directory is shown to whoever asks for it over the network; that of the work is what such servers are for, and so
    /// is the one it is started in, if nobody said which that is.
    pub(super) fn serves(&self, directory: Option<&Value>) -> Outcome {
        if directory.is_none() && self.context.cwd.is_empty() {
            return Outcome::harmless();
        }
        let here = Value::known(".");
        let path = self.path(directory.unwrap_or(&here));
        let is_below = |place: &[u8]| {
            let rest = path.prefix().strip_prefix(place);
            !place.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
        };
        if is_below(&self.context.workspace) || is_below(b"/tmp") || path.prefix().is_empty() {
            return Outcome::harmless();
        }
        Outcome::of([self.network(Traffic::Send, &Value::known("whoever asks"), vec![Datum::File(path)])])
    }

    /// The contents of a file are read.
    pub(super) fn reads(&self, path: &Value) -> Act {
        Act::Read { path: self.path(path), deep: false }
    }

    /// A file is written; a device is a disk.
    pub(super) fn writes(&self, path: &Value, change: Change) -> Act {
        write(self.path(path), change, None)
    }

    /// Files nobody can name come into a directory: out of an archive, with a clone.
    pub(super) fn fills(&self, directory: &Value) -> Act {
        let mut path = self.path(directory);
        path.push(Piece::Known(b"/".to_vec()));
        path.push(Piece::Glob(b"**".to_vec()));
        write(path, Change::Replace, None)
    }

    /// A file or all below a directory is removed.
    pub(super) fn deletes(&self, path: &Value, deep: bool) -> Act {
        Act::Delete { path: self.path(path), deep, filtered: false }
    }

    /// Whether a path names a directory for all that is known.
    pub(super) fn is_directory(&self, path: &Value) -> bool {
        let found = self.path(path);
        let Some(found) = found.bytes() else {
            return path.bytes().is_some_and(|bytes| bytes.ends_with(b"/"));
        };
        let holds = |whole: &[u8]| {
            whole == found || whole.strip_prefix(found).is_some_and(|rest| rest.starts_with(b"/"))
        };
        path.bytes().is_some_and(|bytes| bytes.ends_with(b"/"))
            || found == b"/"
            || [&self.context.home, &self.context.cwd, &self.context.workspace]
                .iter()
                .any(|whole| holds(whole))
            || [b"/tmp".as_slice(), b"/etc", b"/usr", b"/usr/bin", b"/usr/local/bin", b"/bin", b"/var"]
                .contains(&found)
            || self.context.facts.get(found).is_some_and(|fact| fact.kind == FileKind::Directory)
    }

    /// Where a file of a name lands in a directory.
    pub(super) fn inside(&self, directory: &Value, source: &Value) -> Value {
        let mut path = self.path(directory);
        path.push(Piece::Known(b"/".to_vec()));
        let source = self.path(source);
        match source.pieces.last() {
            Some(Piece::Known(bytes)) => {
                let name = bytes.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
                path.push(Piece::Known(name.to_vec()));
            }
            Some(piece) => path.push(piece.clone()),
            None => {}
        }
        self.path(&path)
    }
}

/// A write; to a raw device it is one of its own kind.
pub(in crate::effects) fn write(path: Value, change: Change, content: Option<Value>) -> Act {
    if is_device(&path) { Act::Disk { device: path } } else { Act::Write { path, change, content } }
}

/// Whether a path is a device that holds data.
pub(super) fn is_device(path: &Value) -> bool {
    const HARMLESS: [&[u8]; 15] = [
        b"null", b"zero", b"full", b"random", b"urandom", b"tty", b"stdin", b"stdout", b"stderr", b"fd",
        b"shm", b"pts", b"ptmx", b"tcp", b"udp",
    ];
    let Some(rest) = path.prefix().strip_prefix(b"/dev/") else { return false };
    let name = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
    !HARMLESS.contains(&name)
}

impl Outcome {
    /// These acts, done.
    pub(super) fn of(acts: impl IntoIterator<Item = Act>) -> Self {
        Self { acts: acts.into_iter().map(|act| (act, Effort::Done)).collect(), ..Self::default() }
    }

    /// Nothing that matters.
    pub(super) fn harmless() -> Self {
        Self::of([Act::Compute])
    }

    /// Puts an act behind.
    pub(super) fn push(&mut self, act: Act) {
        self.acts.push((act, Effort::Done));
    }

    /// The same with something it starts.
    pub(super) fn then(mut self, next: Next) -> Self {
        self.next.push(next);
        self
    }

    /// The same with an output.
    pub(super) fn saying(mut self, output: Stream) -> Self {
        self.output = output;
        self
    }

    /// All of it only tried.
    pub(super) fn rehearsed(mut self) -> Self {
        for (_, effort) in &mut self.acts {
            *effort = Effort::Rehearsed;
        }
        self
    }

    /// All of it only tried, if so.
    pub(super) fn rehearsed_if(self, rehearsed: bool) -> Self {
        if rehearsed { self.rehearsed() } else { self }
    }
}

impl Stream {
    /// What is made of this.
    pub(super) fn data(data: impl IntoIterator<Item = Datum>) -> Self {
        Self { text: None, data: data.into_iter().collect() }
    }

    /// Known text.
    pub(super) fn text(text: Value) -> Self {
        Self { text: Some(text), data: Vec::new() }
    }
}

/// Arguments as one line, as `ssh` and `watch` put them together.
pub(super) fn joined(args: &[Value]) -> Value {
    let mut line = Value::default();
    for (place, arg) in args.iter().enumerate() {
        if place > 0 {
            line.push(Piece::Known(b" ".to_vec()));
        }
        for piece in &arg.pieces {
            line.push(piece.clone());
        }
    }
    line
}
