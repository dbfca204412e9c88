//! The machine that reads a script: what it has found so far, and how much work it may still do.
//!
//! Owns: the effects and the budget. Refuses: state that belongs to one of the shells; that is in `State`.

use std::rc::Rc;

use super::files::Files;
use super::giving::GivenUp;
use super::state::State;
use super::worlds::Choices;
use crate::effects::{Act, Code, Context, Datum, Effect, Effort, Invocation, Power, Traffic};
use crate::shell::ast::{Script, Span};
use crate::shell::value::{Piece, Value, Why};

/// Commands, words and iterations before it is too much.
const STEPS: u32 = 20_000;
/// Bytes of text that are one step.
const TEXT: usize = 1024;
/// Invocations that are kept for whoever wants to see them.
const TRACED: usize = 10_000;
/// Effects before it is too much.
const EFFECTS: usize = 4_000;
/// How deep commands, words, functions and scripts within scripts may nest.
const DEPTH: u32 = 120;
#[derive(Debug)]
pub(super) struct Machine<'a> {
    pub(super) context: &'a Context,
    pub(super) effects: Vec<Effect>,
    /// The programs that were started, where somebody wants to see them.
    pub(super) invocations: Option<Vec<Invocation>>,
    pub(super) files: Files,
    /// Where nested text stands in the script that was given.
    pub(super) anchor: Option<Span>,
    /// Set while what runs does not run on this machine.
    pub(super) elsewhere: Option<String>,
    /// The pieces that are not text, of text that is read again.
    pub(super) placeholders: Vec<Piece>,
    /// What the words of the command at hand are made of.
    pub(super) flows: Vec<Datum>,
    /// What runs at the other end of `>(…)` in the command at hand.
    pub(super) feeds: Vec<Feed>,
    /// Whether anything asks for `$_`.
    pub(super) keeps_last: bool,
    /// The text of the script at hand.
    pub(super) source: Rc<[u8]>,
    /// The functions that are being called.
    pub(super) calls: Vec<Vec<u8>>,
    /// The aliases that are being put in, so that none stands for itself for ever.
    pub(super) aliases: Vec<Vec<u8>>,
    /// Aliases that were something else before: a line or a group that was read earlier still has them.
    pub(super) former: Vec<(Vec<u8>, Vec<u8>)>,
    /// The status of the last command substitution in a command.
    pub(super) substituted: Option<Option<i32>>,
    /// Scripts that are being sourced.
    pub(super) sourcing: u32,
    /// The innermost of them that was given arguments has set others.
    pub(super) reset: bool,
    /// A redirection at hand names more than one file.
    pub(super) refused: bool,
    /// A redirection may be refused.
    pub(super) doubted: bool,
    /// Where bash gives up what it is about, in the middle of the words at hand.
    pub(super) given_up: Vec<GivenUp>,
    /// Variables that are set for the commands at hand alone.
    pub(super) temporaries: Vec<Vec<u8>>,
    /// A trap is running, and no other interrupts it.
    pub(super) is_trapping: bool,
    /// Something was started and not waited for.
    pub(super) has_left: bool,
    /// Shells within the shell that reads the text at hand.
    pub(super) nested: u32,
    /// Files whose lines were run in a shell of the command, so that what they set is in its environment.
    pub(super) sourced: Vec<Value>,
    /// The shell at hand wherever it may have ended early.
    pub(super) endings: Vec<State>,
    /// The shell within a shell at hand wherever `set -e` may have ended it.
    pub(super) stops: Vec<State>,
    /// Conditions around the command at hand: what fails in one ends nothing.
    pub(super) conditions: u32,
    pub(super) choices: Choices,
    steps: u32,
    /// Steps that were taken in scripts that lie on the disk.
    found_steps: u32,
    depth: u32,
    spent: bool,
}

/// What runs at the other end of a `>(…)`.
#[derive(Debug)]
pub(super) struct Feed {
    /// The buffer it reads.
    pub(super) buffer: usize,
    pub(super) script: Script,
    pub(super) span: Span,
    /// The shell as it was when the word was expanded.
    pub(super) before: State,
}

impl<'a> Machine<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self {
            context,
            effects: Vec::new(),
            invocations: None,
            files: Files::default(),
            anchor: None,
            elsewhere: None,
            placeholders: Vec::new(),
            flows: Vec::new(),
            feeds: Vec::new(),
            keeps_last: false,
            source: Rc::from(Vec::new()),
            calls: Vec::new(),
            aliases: Vec::new(),
            former: Vec::new(),
            substituted: None,
            sourcing: 0,
            reset: false,
            refused: false,
            doubted: false,
            given_up: Vec::new(),
            temporaries: Vec::new(),
            is_trapping: false,
            has_left: false,
            nested: 0,
            sourced: Vec::new(),
            endings: Vec::new(),
            stops: Vec::new(),
            conditions: 0,
            choices: Choices::default(),
            steps: 0,
            found_steps: 0,
            depth: 0,
            spent: false,
        }
    }

    /// Notes an effect; says where, so that more can be told of it later.
    pub(super) fn record(&mut self, act: Act, by: &str, span: Span, effort: Effort) -> Option<usize> {
        if self.elsewhere.is_some() && !reaches_from_elsewhere(&act) {
            return None;
        }
        if self.effects.len() >= EFFECTS {
            self.exhaust(span);
            return None;
        }
        let span = Some(self.anchor.unwrap_or(span));
        let act = if self.elsewhere.is_some() { seen_from_here(act) } else { self.followed(act) };
        self.effects.push(Effect { act, by: by.to_owned(), span, effort });
        Some(self.effects.len() - 1)
    }

    /// An act with links of the command itself followed.
    fn followed(&self, mut act: Act) -> Act {
        let (path, is_itself) = match &mut act {
            Act::Delete { path, .. } => (path, false),
            Act::Read { path, .. } | Act::Write { path, .. } | Act::Permit { path, .. } => (path, true),
            Act::Run { code: Code::File(path), .. } => (path, true),
            _ => return act,
        };
        if let Some(real) = self.files.real(path, is_itself) {
            *path = real;
        }
        act
    }

    /// Notes a program, where somebody wants to see them.
    pub(super) fn noted(&mut self, invocation: &Invocation) {
        if let Some(invocations) = &mut self.invocations
            && invocations.len() < TRACED
        {
            let mut invocation = invocation.clone();
            if let Some(real) = self.files.real(&invocation.cwd, true) {
                invocation.cwd = real;
            }
            invocations.push(invocation);
        }
    }

    /// Notes that something cannot be known.
    pub(super) fn unknown(&mut self, construct: impl Into<String>, span: Span) {
        let why = Why { construct: construct.into(), span: self.anchor.unwrap_or(span) };
        self.record(Act::Unknown(why), "bash", span, Effort::Done);
    }

    /// Takes a step of the budget; says whether there was one.
    pub(super) fn step(&mut self, span: Span) -> bool {
        self.steps += 1;
        if self.steps > STEPS {
            self.exhaust(span);
        }
        !self.spent
    }

    /// Pays for text that is put together: long text is more work than short text.
    pub(super) fn pay(&mut self, bytes: usize, span: Span) {
        self.steps = self.steps.saturating_add(u32::try_from(bytes / TEXT).unwrap_or(u32::MAX));
        if self.steps > STEPS {
            self.exhaust(span);
        }
    }

    /// Does something that is not paid for by the command itself; none if nothing is left for that.
    pub(super) fn budgeted<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.spent || self.found_steps >= STEPS {
            return None;
        }
        let own = std::mem::replace(&mut self.steps, self.found_steps);
        let result = run(self);
        self.found_steps = std::mem::replace(&mut self.steps, own);
        self.spent = false;
        Some(result)
    }

    /// How many steps were taken.
    pub(super) fn steps(&self) -> u32 {
        self.steps
    }

    fn exhaust(&mut self, span: Span) {
        if !self.spent {
            self.spent = true;
            let why = Why { construct: "more work than a command should be".to_owned(), span };
            self.effects.push(Effect {
                act: Act::Unknown(why),
                by: "bash".to_owned(),
                span: Some(span),
                effort: Effort::Done,
            });
        }
    }

    /// Does something one level deeper, unless that is too deep.
    pub(super) fn deeper<R>(&mut self, span: Span, run: impl FnOnce(&mut Self) -> R) -> Option<R> {
        if self.depth >= DEPTH {
            self.unknown("commands nested too deep", span);
            return None;
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        Some(result)
    }

    /// Whether the budget is used up.
    pub(super) fn is_spent(&self) -> bool {
        self.spent
    }
}

/// What happens in another place and still is of interest here.
fn reaches_from_elsewhere(act: &Act) -> bool {
    match act {
        Act::Network { .. }
        | Act::Infrastructure { .. }
        | Act::Database { .. }
        | Act::Reveal { .. }
        | Act::Spawn { .. }
        | Act::Tool { .. } => true,
        Act::Read { path, .. } => is_telling(path),
        // What nobody has seen, and the kernel, are the same in a container.
        Act::Run { code: Code::Download(_), .. } | Act::Power(Power::Kernel(_)) => true,
        Act::Git { operation, .. } => operation.starts_with("push"),
        Act::Package { operation, .. } => operation == "publish",
        Act::Look { .. }
        | Act::Write { .. }
        | Act::Delete { .. }
        | Act::Permit { .. }
        | Act::Disk { .. }
        | Act::Signal { .. }
        | Act::Power(_)
        | Act::Privilege { .. }
        | Act::Run { .. }
        | Act::Persist { .. }
        | Act::Tamper { .. }
        | Act::Compute
        | Act::Unknown(_) => false,
    }
}

/// Names under which credentials lie wherever they lie.
const TELLING: [&str; 14] = [
    ".env",
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
    "shadow",
    "credentials",
    "token",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".git-credentials",
    "secrets.yml",
    "secrets.json",
];

/// What a path in another place tells by its name.
fn is_telling(path: &Value) -> bool {
    let Some(name) = path.text().and_then(|path| path.rsplit('/').next()) else { return false };
    let is_example = ["example", "sample", "template", "dist"].iter().any(|word| name.contains(word));
    !is_example
        && (TELLING.contains(&name)
            || name.starts_with(".env.")
            || name.ends_with(".pem")
            || name.ends_with(".key"))
}

/// The same without this machine's files in it.
fn seen_from_here(act: Act) -> Act {
    match act {
        Act::Read { path, .. } => {
            Act::Reveal { what: format!("`{}` of another place", path.text().unwrap_or_default()) }
        }
        Act::Network { traffic, to, data } if traffic != Traffic::Remote => {
            let data = data
                .into_iter()
                .filter(|datum| !matches!(datum, Datum::File(_) | Datum::Environment(_)))
                .collect();
            Act::Network { traffic, to, data }
        }
        other => other,
    }
}
