//! The state of a shell while it is read: variables, functions, directory, descriptors.
//!
//! Owns: the shapes, and how two states become one. Refuses: the rules of bash; they are in the files that change the state.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use super::channel::Channel;
use crate::effects::{Datum, Stream};
use crate::shell::ast::{Command, Redirect, Span};
use crate::shell::value::{Value, Why};

/// The status of what surely failed, nobody knows how.
pub(super) const FAILED: i32 = -1;

/// One of the states a shell can be in at some place of a script. Many hold it at once and few change it, so that a copy is
/// made when it is first changed and no sooner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct State(Rc<Shell>);

/// What a shell is like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shell {
    pub(super) variables: Rc<BTreeMap<Vec<u8>, Variable>>,
    /// Each name with every body it may have.
    pub(super) functions: Rc<BTreeMap<Vec<u8>, Vec<Rc<Function>>>>,
    pub(super) aliases: Rc<BTreeMap<Vec<u8>, Vec<u8>>>,
    /// What runs at the end or at a signal.
    pub(super) traps: Rc<BTreeMap<Vec<u8>, Value>>,
    /// `hash -p`: names that stand for another program.
    pub(super) hashed: Rc<BTreeMap<Vec<u8>, Value>>,
    /// `readonly -f`
    pub(super) kept: Rc<BTreeSet<Vec<u8>>>,
    /// `export -f`
    pub(super) exported: Rc<BTreeSet<Vec<u8>>>,
    /// `enable -n`: builtins that may be switched off.
    pub(super) disabled: Rc<BTreeSet<Vec<u8>>>,
    pub(super) positional: Vec<Value>,
    /// Set when any number of further positional parameters may be there.
    pub(super) more: Option<Why>,
    pub(super) zero: Rc<Value>,
    pub(super) cwd: Rc<Value>,
    pub(super) stack: Vec<Value>,
    /// The exit status of the last command, when it is certain.
    pub(super) status: Option<i32>,
    pub(super) hint: Hint,
    pub(super) flow: Flow,
    pub(super) descriptors: BTreeMap<u32, Channel>,
    pub(super) buffers: Vec<Stream>,
    pub(super) options: Options,
    /// What `local` has hidden, function by function.
    pub(super) locals: Vec<Hidden>,
    /// Loops around the command at hand, in this shell and function.
    pub(super) loops: u32,
    /// `$_`
    pub(super) last: Rc<Value>,
    /// What files surely hold that were written on the way here.
    pub(super) written: Rc<BTreeMap<Vec<u8>, Value>>,
    /// This shell has surely started something it does not wait for, so that `$!` is set.
    pub(super) has_left: bool,
}

/// What a function hides while it runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hidden {
    /// `local NAME`: what the name was before.
    pub(super) variables: Vec<(Vec<u8>, Option<Variable>)>,
    /// `local -`
    pub(super) options: Option<Options>,
}

/// What would also be so, once the status of the last command is decided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hint {
    /// The directory, if it failed.
    pub(super) stayed: Option<Value>,
    /// The stack of directories, if it failed.
    pub(super) stack: Option<Vec<Value>>,
    /// Variables that are not empty, if it succeeded.
    pub(super) filled: Vec<Vec<u8>>,
    /// Variables that are not empty, if it failed.
    pub(super) unfilled: Vec<Vec<u8>>,
}

/// Where control goes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Flow {
    Normal,
    Break(u32),
    Continue(u32),
    Return,
    /// Bash gives up the line at hand and goes on with the next.
    Discard,
    Exit,
}

/// Options that change what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of bash by its own name")]
pub(super) struct Options {
    pub(super) expand_aliases: bool,
    pub(super) noglob: bool,
    /// A glob that finds nothing may be nothing: `nullglob`, `failglob`.
    pub(super) nullglob: bool,
    pub(super) allexport: bool,
    pub(super) lastpipe: bool,
    /// `set -P`: directories are what links lead to.
    pub(super) physical: bool,
    /// `echo` reads escapes.
    pub(super) xpg_echo: bool,
    /// `set -m`: every command of a pipeline has a process of its own.
    pub(super) monitor: bool,
    pub(super) nocasematch: bool,
    pub(super) extglob: bool,
    pub(super) xtrace: bool,
    /// `set +B`: braces are only letters.
    pub(super) plain_braces: bool,
    pub(super) posix: bool,
    pub(super) pipefail: bool,
    /// `set -u`: a variable that is not set ends the shell.
    pub(super) nounset: bool,
    /// Letters of globs stand for both cases.
    pub(super) nocaseglob: bool,
    /// A glob that finds nothing may keep the command from being started.
    pub(super) failglob: bool,
    /// `set -e` and `set -u`: it may end where something fails.
    pub(super) hasty: bool,
    /// `set -e` as it is now.
    pub(super) errexit: bool,
    /// `$(…)` keeps `set -e`.
    pub(super) inherit_errexit: bool,
    /// `set -C`: what is there is not overwritten.
    pub(super) noclobber: bool,
}

/// A variable the script has touched.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Variable {
    pub(super) content: Content,
    pub(super) exported: bool,
    /// `declare -i`
    pub(super) integer: bool,
    /// `readonly`
    pub(super) readonly: bool,
    /// `declare -n`
    pub(super) reference: bool,
    /// `declare -l` and `-u`
    pub(super) letters: Option<Letters>,
    /// `declare -A`, also before anything is in it.
    pub(super) named: bool,
    /// What its value is made of.
    pub(super) data: Vec<Datum>,
}

/// What letters become when a variable is assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    Lower,
    Upper,
}

/// What a variable holds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum Content {
    /// Nothing, for certain.
    #[default]
    Unset,
    Scalar(Value),
    Indexed(BTreeMap<i64, Value>),
    Named(BTreeMap<Vec<u8>, Value>),
    /// An array of which nothing is known.
    Any(Why),
}

/// A function.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) body: Command,
    pub(super) redirects: Vec<Redirect>,
    pub(super) source: Rc<[u8]>,
}

impl Variable {
    pub(super) fn scalar(value: Value) -> Self {
        Self { content: Content::Scalar(value), ..Self::default() }
    }
}

impl Deref for State {
    type Target = Shell;

    fn deref(&self) -> &Shell {
        &self.0
    }
}

impl DerefMut for State {
    fn deref_mut(&mut self) -> &mut Shell {
        Rc::make_mut(&mut self.0)
    }
}

impl State {
    pub(super) fn new(cwd: Value) -> Self {
        Self(Rc::new(Shell {
            variables: Rc::default(),
            functions: Rc::default(),
            aliases: Rc::default(),
            traps: Rc::default(),
            hashed: Rc::default(),
            kept: Rc::default(),
            exported: Rc::default(),
            disabled: Rc::default(),
            positional: Vec::new(),
            more: None,
            zero: Rc::new(Value::known("bash")),
            cwd: Rc::new(cwd),
            stack: Vec::new(),
            status: Some(0),
            hint: Hint::default(),
            flow: Flow::Normal,
            descriptors: BTreeMap::new(),
            buffers: Vec::new(),
            options: Options::default(),
            locals: Vec::new(),
            loops: 0,
            last: Rc::new(Value::unknown(Why {
                construct: "the variable _".to_owned(),
                span: Span::default(),
            })),
            written: Rc::default(),
            has_left: false,
        }))
    }

    /// Makes the status, `$_` and what files hold those of either.
    pub(super) fn blur(&mut self, other: &Self) {
        self.keep_written(other);
        self.has_left &= other.has_left;
        if self.status != other.status {
            self.status = None;
        }
        if self.last != other.last {
            self.last = Rc::new(Value::unknown(differs("the variable _")));
        }
    }

    /// Forgets of files what another does not say of them as well.
    pub(super) fn keep_written(&mut self, other: &Self) {
        if self.written != other.written {
            Rc::make_mut(&mut self.written).retain(|path, text| other.written.get(path) == Some(text));
        }
    }

    /// Whether both are the same, whatever the status of the last command, its last word and what files hold.
    pub(super) fn is_but_for_status(&self, other: &Self) -> bool {
        let (ours, theirs): (&Shell, &Shell) = (self, other);
        Rc::ptr_eq(&self.0, &other.0)
            || ours.flow == theirs.flow
                && ours.hint == theirs.hint
                && ours.cwd == theirs.cwd
                && ours.variables == theirs.variables
                && ours.positional == theirs.positional
                && ours.more == theirs.more
                && ours.zero == theirs.zero
                && ours.descriptors == theirs.descriptors
                && ours.buffers == theirs.buffers
                && ours.options == theirs.options
                && ours.loops == theirs.loops
                && ours.stack == theirs.stack
                && ours.locals == theirs.locals
                && ours.functions == theirs.functions
                && ours.aliases == theirs.aliases
                && ours.traps == theirs.traps
                && ours.hashed == theirs.hashed
                && ours.kept == theirs.kept
                && ours.exported == theirs.exported
                && ours.disabled == theirs.disabled
    }

    pub(super) fn set(&mut self, name: &[u8], variable: Variable) {
        Rc::make_mut(&mut self.variables).insert(name.to_vec(), variable);
    }

    /// The same, in which what is only set later surely is unset.
    pub(super) fn before(mut self, later: &Self) -> Self {
        let variables = Rc::make_mut(&mut self.variables);
        for name in later.variables.keys() {
            variables.entry(name.clone()).or_default();
        }
        self.traps = Rc::default();
        self
    }

    /// Takes over what a subshell leaves behind: what it wrote, not what it remembers.
    pub(super) fn after(mut self, inner: Vec<Self>) -> Self {
        let Some(first) = inner.first() else { return self };
        self.status =
            if inner.iter().all(|state| state.status == first.status) { first.status } else { None };
        let length = self.buffers.len();
        let mut buffers: Option<Vec<Stream>> = None;
        self.written = Rc::clone(&first.written);
        for mut state in inner {
            self.keep_written(&state);
            state.buffers.truncate(length);
            let after = std::mem::take(&mut state.buffers);
            buffers = Some(match buffers {
                None => after,
                Some(before) => joined_buffers(before, after),
            });
        }
        self.buffers = buffers.unwrap_or_default();
        self.hint = Hint::default();
        self
    }

    /// One state that may be either: what differs is not known.
    pub(super) fn join(mut self, other: &Self) -> Self {
        let variables = Rc::make_mut(&mut self.variables);
        for (name, theirs) in other.variables.iter() {
            match variables.get_mut(name) {
                Some(ours) if ours == theirs => {}
                Some(ours) => ours.blur(theirs, name),
                None => {
                    let mut variable = theirs.clone();
                    variable.blur(&Variable::default(), name);
                    variables.insert(name.clone(), variable);
                }
            }
        }
        for (name, ours) in variables.iter_mut() {
            if !other.variables.contains_key(name) {
                ours.blur(&Variable::default(), name);
            }
        }
        let functions = Rc::make_mut(&mut self.functions);
        for (name, bodies) in other.functions.iter() {
            let ours = functions.entry(name.clone()).or_default();
            for body in bodies {
                if !ours.contains(body) && ours.len() < 4 {
                    ours.push(Rc::clone(body));
                }
            }
        }
        Rc::make_mut(&mut self.aliases)
            .extend(other.aliases.iter().map(|(name, text)| (name.clone(), text.clone())));
        Rc::make_mut(&mut self.traps)
            .extend(other.traps.iter().map(|(name, text)| (name.clone(), text.clone())));
        Rc::make_mut(&mut self.hashed)
            .extend(other.hashed.iter().map(|(name, to)| (name.clone(), to.clone())));
        Rc::make_mut(&mut self.disabled).extend(other.disabled.iter().cloned());
        if self.positional != other.positional || self.more != other.more {
            self.positional.clear();
            self.more = Some(differs("positional parameters"));
        }
        if self.cwd != other.cwd {
            self.cwd = Rc::new(Value::unknown(differs("the directory")));
        }
        if self.stack != other.stack {
            self.stack = vec![Value::unknown(differs("the stack of directories"))];
        }
        if self.status != other.status {
            self.status = None;
        }
        self.keep_written(other);
        self.has_left &= other.has_left;
        self.hint = Hint::default();
        self.buffers = joined_buffers(std::mem::take(&mut self.buffers), other.buffers.clone());
        for (number, channel) in &other.descriptors {
            self.descriptors.entry(*number).or_insert_with(|| channel.clone());
        }
        self
    }
}

fn differs(what: &str) -> Why {
    Why { construct: format!("{what}, which may be one or another"), span: Span::default() }
}

impl Variable {
    /// Makes it one that may be either.
    pub(super) fn blur(&mut self, other: &Self, name: &[u8]) {
        let numbers = self.is_number() && (other.is_number() || other.content == Content::Unset);
        let name = String::from_utf8_lossy(name);
        let construct = if numbers {
            format!("a number in the variable {name}")
        } else {
            format!("the variable {name}, which may be one or another")
        };
        let why = Why { construct, span: Span::default() };
        self.content = match (&self.content, &other.content) {
            (Content::Scalar(_) | Content::Unset, Content::Scalar(_) | Content::Unset) => {
                Content::Scalar(Value::unknown(why))
            }
            _ => Content::Any(why),
        };
        self.exported |= other.exported;
        self.integer |= other.integer;
        for datum in &other.data {
            if !self.data.contains(datum) {
                self.data.push(datum.clone());
            }
        }
    }

    /// Whether it holds a number, whichever.
    pub(super) fn is_number(&self) -> bool {
        match &self.content {
            Content::Scalar(value) => match value.bytes() {
                Some(bytes) => !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit),
                None => value.pieces.iter().all(|piece| match piece {
                    crate::shell::value::Piece::Known(bytes) => bytes.iter().all(u8::is_ascii_digit),
                    crate::shell::value::Piece::Unknown(why) => why.is_number(),
                    crate::shell::value::Piece::Glob(_) => false,
                }),
            },
            Content::Unset | Content::Indexed(_) | Content::Named(_) | Content::Any(_) => false,
        }
    }
}

fn joined_buffers(before: Vec<Stream>, other: Vec<Stream>) -> Vec<Stream> {
    let (mut longer, shorter) = if before.len() >= other.len() { (before, other) } else { (other, before) };
    for (ours, theirs) in longer.iter_mut().zip(shorter) {
        join_streams(ours, theirs);
    }
    longer
}

/// Makes a stream one that may be either.
pub(super) fn join_streams(ours: &mut Stream, theirs: Stream) {
    if ours.text != theirs.text {
        ours.text = Some(Value::unknown(differs("output")));
    }
    for datum in theirs.data {
        if !ours.data.contains(&datum) {
            ours.data.push(datum);
        }
    }
}
