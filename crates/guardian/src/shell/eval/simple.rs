//! Simple commands: words, redirections, assignments, and who gets them: a function, a builtin or a program.
//!
//! Owns: that order, which is bash's. Refuses: a program's meaning.

use std::borrow::Cow;
use std::rc::Rc;

use super::braces;
use super::fields::Arguments;
use super::machine::Machine;
use super::names::named;
use super::state::{State, Variable};
use super::variables::is_opaque;
use super::worlds::{Worlds, settle};
use crate::effects::Datum;
use crate::shell::ast::{Assigned, Assignment, Part, Redirect, Span, Word};
use crate::shell::value::{Piece, Value, Why};

/// The elements of an array.
#[derive(Debug, Clone, Default)]
pub(super) struct Elements {
    /// With the indexes that were written.
    pub(super) known: Vec<(Option<Value>, Value)>,
    /// Set when there may be any number of others.
    pub(super) more: Option<Why>,
}

/// A command whose words are expanded.
#[derive(Debug, Clone, Default)]
pub(super) struct Job {
    pub(super) argv: Vec<Value>,
    pub(super) more: Option<Why>,
    /// `NAME=value` before it.
    pub(super) environment: Vec<(Vec<u8>, Value)>,
    /// Arrays among the arguments of `declare`, by the place of the argument.
    pub(super) arrays: Vec<(usize, Elements)>,
    pub(super) flows: Vec<Datum>,
    pub(super) span: Span,
}

/// Whether a name may be a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lookup {
    All,
    /// `command`, `builtin`, `exec`: not functions.
    NoFunctions,
    /// What another program starts: only programs.
    Programs,
}

/// Builtins whose arguments are assignments.
const DECLARATIONS: [&[u8]; 6] = [b"declare", b"typeset", b"local", b"export", b"readonly", b"alias"];

impl Machine<'_> {
    pub(super) fn simple(
        &mut self,
        assignments: &[Assignment],
        words: &[Word],
        redirects: &[Redirect],
        span: Span,
        state: State,
    ) -> Worlds {
        if assignments.is_empty()
            && redirects.is_empty()
            && words.iter().all(is_settled)
            && !state.options.xtrace
        {
            return self.isolated(span, |machine| machine.simple_once(&[], words, &[], span, state));
        }
        self.forked(&state, span, |machine, state| {
            machine.isolated(span, |machine| machine.simple_once(assignments, words, redirects, span, state))
        })
    }

    fn simple_once(
        &mut self,
        assignments: &[Assignment],
        words: &[Word],
        redirects: &[Redirect],
        span: Span,
        mut state: State,
    ) -> Worlds {
        if !self.former.is_empty() {
            self.formerly(words, span, &state);
        }
        if let Some(text) = self.aliased(words, span, &state) {
            let inner = self.text_known(&text, state.clone());
            self.aliases.pop();
            // Whether the alias was there when the line was read is not always certain.
            self.simple_plain(assignments, words, redirects, span, state);
            return inner;
        }
        self.traced(span, &mut state);
        self.substituted = None;
        self.flows.clear();
        self.simple_plain(assignments, words, redirects, span, state)
    }

    fn simple_plain(
        &mut self,
        assignments: &[Assignment],
        words: &[Word],
        redirects: &[Redirect],
        span: Span,
        mut state: State,
    ) -> Worlds {
        let job = self.expanded(words, span, &mut state);
        self.onward(state, |machine, state| machine.simple_expanded(assignments, job, redirects, state))
    }

    /// A command whose words are expanded, and nothing else of it yet.
    fn simple_expanded(
        &mut self,
        assignments: &[Assignment],
        mut job: Job,
        redirects: &[Redirect],
        mut state: State,
    ) -> Worlds {
        let span = job.span;
        let descriptors = state.descriptors.keys().copied().filter(|number| *number > 9).collect::<Vec<_>>();
        if !redirects.is_empty() && !assignments.is_empty() && !job.argv.is_empty() {
            // A redirection that fails keeps the command from running, not its assignments from being expanded.
            self.temporary(assignments, &mut state.clone());
        }
        if job.argv.is_empty() && job.more.is_none() {
            return self.nothing(assignments, redirects, state);
        }
        if only_exec(&job) {
            let before = state.descriptors.clone();
            self.open_all(redirects, &mut state, "exec");
            let is_refused = std::mem::take(&mut self.refused);
            if is_refused {
                state.descriptors = before;
            }
            let is_doubted = std::mem::take(&mut self.doubted);
            return self.onward(state, |machine, mut state| {
                state.status = if is_doubted { None } else { Some(i32::from(is_refused)) };
                machine.fed_for_good(state)
            });
        }
        let by = match job.argv.first() {
            Some(name) if !redirects.is_empty() => Cow::Owned(named(name, &job.argv)),
            _ => Cow::Borrowed("bash"),
        };
        // A program's redirections are read in its own process: what is set or given up there is so for it alone.
        let is_program =
            !redirects.is_empty() && job.argv.first().is_some_and(|name| is_program(name, &state));
        let before = is_program.then(|| (Rc::clone(&state.variables), state.flow));
        let mut worlds = self.with_redirects(redirects, state, &by, |machine, mut state| {
            job.environment = machine.temporary(assignments, &mut state);
            job.flows = std::mem::take(&mut machine.flows);
            let last = job.argv.last().filter(|_| machine.keeps_last).cloned().map(Rc::new);
            let feeds = std::mem::take(&mut machine.feeds);
            let worlds = machine.onward(state, |machine, state| machine.perform_job(job, Lookup::All, state));
            machine.feeds = feeds;
            let mut worlds = machine.fed(worlds);
            for state in &mut worlds {
                machine.complained(state, span);
                if let Some(last) = &last {
                    state.last = Rc::clone(last);
                }
                if state.descriptors.keys().any(|number| *number > 9) {
                    state.descriptors.retain(|number, channel| {
                        *number <= 9
                            || descriptors.contains(number)
                            || !matches!(channel, super::channel::Channel::Source(_))
                    });
                }
            }
            worlds
        });
        if let Some((variables, flow)) = before {
            for state in &mut worlds {
                state.variables = Rc::clone(&variables);
                state.flow = flow;
            }
        }
        settle(worlds)
    }

    /// No command at all: assignments stay, and then redirections are made and taken back.
    fn nothing(&mut self, assignments: &[Assignment], redirects: &[Redirect], mut state: State) -> Worlds {
        for assignment in assignments {
            self.perform(assignment, &mut state);
        }
        let status = self.substituted.take().unwrap_or(Some(0));
        self.onward(state, |machine, mut state| {
            if !assignments.is_empty() {
                state.last = Rc::default();
            }
            machine.with_redirects(redirects, state, "bash", |machine, mut state| {
                state.status = status;
                machine.fed(vec![state])
            })
        })
    }

    fn expanded(&mut self, words: &[Word], span: Span, state: &mut State) -> Job {
        let mut arguments = Arguments::default();
        let mut arrays = Vec::new();
        let mut declares = false;
        for word in words {
            let written = declares && assignment_like(word);
            if let (true, Some(Part::Array(elements))) = (declares, word.parts.last()) {
                let elements = self.elements(elements, state);
                arrays.push((arguments.fields.len(), elements));
                arguments.fields.push(self.assignment_argument(word, state));
                continue;
            }
            if written {
                let several = (!state.options.plain_braces && braces::are_in(word))
                    .then(|| braces::expanded(word))
                    .flatten();
                for word in several.as_deref().unwrap_or(std::slice::from_ref(word)) {
                    arguments.fields.push(self.assignment_argument(word, state));
                }
                continue;
            }
            self.argue([word], state, &mut arguments);
            declares = arguments
                .fields
                .iter()
                .find(|field| !matches!(field.bytes(), Some(b"command" | b"builtin")))
                .and_then(Value::bytes)
                .is_some_and(|name| DECLARATIONS.contains(&name));
        }
        Job { argv: arguments.fields, more: arguments.more, arrays, span, ..Job::default() }
    }

    /// Assignments for one command alone.
    fn temporary(&mut self, assignments: &[Assignment], state: &mut State) -> Vec<(Vec<u8>, Value)> {
        let mut environment = Vec::new();
        let mut hidden = Vec::new();
        for assignment in assignments {
            // One that is readonly stays as it is, for the command as well; that is said, and the command runs.
            let is_kept = state.variables.get(&assignment.name).is_some_and(|variable| variable.readonly);
            match &assignment.value {
                Assigned::Scalar(word) => {
                    let mut value = self.single(word, state);
                    if assignment.append {
                        let mut before = self.scalar(state, &assignment.name).unwrap_or_default();
                        before.append(value);
                        value = before;
                    }
                    if !is_kept {
                        // Those behind it see it.
                        hidden
                            .push((assignment.name.clone(), state.variables.get(&assignment.name).cloned()));
                        state.set(&assignment.name, Variable::scalar(value.clone()));
                        environment.push((assignment.name.clone(), value));
                    }
                }
                Assigned::Array(elements) => {
                    for (_, word) in elements {
                        self.arguments([word], state);
                    }
                    let why =
                        Why { construct: "an array in the environment".to_owned(), span: assignment.span };
                    if !is_kept {
                        environment.push((assignment.name.clone(), Value::unknown(why)));
                    }
                }
            }
        }
        for (name, variable) in hidden.into_iter().rev() {
            match variable {
                Some(variable) => state.set(&name, variable),
                None => {
                    Rc::make_mut(&mut state.variables).remove(&name);
                }
            }
        }
        environment
    }

    /// Hands a command to whoever has its name.
    pub(super) fn perform_job(&mut self, job: Job, lookup: Lookup, state: State) -> Worlds {
        let Some(first) = job.argv.first() else {
            if let Some(why) = &job.more {
                self.unknown(format!("a program named by {}", why.construct), job.span);
            }
            let mut state = state;
            state.status = None;
            return vec![state];
        };
        let Some(name) = first.bytes() else {
            return self.perform_unknown(job, lookup, state);
        };
        if name.is_empty() {
            let mut state = state;
            state.status = Some(127);
            return vec![state];
        }
        if lookup == Lookup::All
            && let Some(functions) = state.functions.get(name).cloned()
        {
            return self.call(name, &functions, &job, state);
        }
        if lookup != Lookup::Programs
            && let Some(builtin) = super::builtin::Builtin::named(name)
        {
            // One that may be switched off is a program too.
            let mut worlds = match state.disabled.contains(name) {
                true => self.program(job.clone(), state.clone()),
                false => Vec::new(),
            };
            worlds.extend(
                self.with_environment(&job, state, |machine, state| machine.builtin(builtin, &job, state)),
            );
            return super::worlds::settle(worlds);
        }
        self.program(job, state)
    }

    /// Runs something with variables that are set for it alone.
    pub(super) fn with_environment(
        &mut self,
        job: &Job,
        mut state: State,
        run: impl FnOnce(&mut Self, State) -> Worlds,
    ) -> Worlds {
        if job.environment.is_empty() {
            return run(self, state);
        }
        let before: Vec<_> = job
            .environment
            .iter()
            .filter(|(name, _)| !outlives(name, job, &state))
            .map(|(name, _)| (name.clone(), state.variables.get(name).cloned()))
            .collect();
        for (name, value) in &job.environment {
            state.set(name, Variable { exported: true, ..Variable::scalar(value.clone()) });
        }
        let is_named = |(name, _): &(Vec<u8>, Option<Variable>)| {
            let names = |argument: &Value| argument.bytes().is_some_and(|bytes| holds(bytes, name));
            job.argv.iter().skip(1).any(names)
        };
        let sets = job.argv.first().and_then(Value::bytes).is_some_and(|name| SETTING.contains(&name));
        let outer = self.temporaries.len();
        self.temporaries.extend(job.environment.iter().map(|(name, _)| name.clone()));
        let mut worlds = run(self, state);
        self.temporaries.truncate(outer);
        // Whether what a builtin sets is the one for it alone is told differently by each.
        let kept = if sets && before.iter().any(is_named) { worlds.clone() } else { Vec::new() };
        for state in &mut worlds {
            for (name, variable) in &before {
                match variable {
                    Some(variable) => state.set(name, variable.clone()),
                    None => {
                        Rc::make_mut(&mut state.variables).remove(name);
                    }
                }
            }
        }
        worlds.extend(kept);
        worlds
    }

    /// A command whose name is not known.
    fn perform_unknown(&mut self, mut job: Job, lookup: Lookup, state: State) -> Worlds {
        let Some(first) = job.argv.first().cloned() else { return vec![state] };
        let globbed = first.pieces.iter().any(|piece| matches!(piece, Piece::Glob(_)));
        if globbed || is_opaque(&first) {
            let named = match first.why() {
                Some(why) => why.construct.clone(),
                None => "a glob".to_owned(),
            };
            let invocation = self.invocation(job.clone(), &state);
            self.noted(&invocation);
            self.unknown(format!("a program named by {named}"), job.span);
            // It may be nothing, or something that runs the rest: `$SUDO rm …`.
            let mut worlds = vec![];
            if is_opaque(&first) && job.argv.len() > 1 {
                job.argv.remove(0);
                worlds = self
                    .deeper(job.span, |machine| machine.perform_job(job, lookup, state.clone()))
                    .unwrap_or_default();
            } else if globbed {
                for name in super::names::globbed(&first) {
                    let mut job = job.clone();
                    if let Some(first) = job.argv.first_mut() {
                        *first = Value::known(name);
                    }
                    worlds.extend(self.program(job, state.clone()));
                }
            }
            let mut state = state;
            state.status = None;
            self.write(
                &mut state,
                1,
                crate::effects::Stream::default(),
                "a program that is not known",
                Span::default(),
            );
            worlds.push(state);
            return super::worlds::settle(worlds);
        }
        self.program(job, state)
    }
}

/// Builtins that set variables.
const SETTING: [&[u8]; 5] = [b"getopts", b"let", b"mapfile", b"printf", b"read"];

fn holds(text: &[u8], name: &[u8]) -> bool {
    text.windows(name.len().max(1)).any(|window| window == name)
}

/// Whether what is assigned before a command stays: `export` and `readonly` keep what they name, and in POSIX mode all that are
/// called special keep everything.
fn outlives(name: &[u8], job: &Job, state: &State) -> bool {
    let is_named = |argument: &Value| {
        argument.bytes().is_some_and(|bytes| bytes == name || bytes.starts_with(&[name, b"="].concat()))
    };
    match job.argv.first().and_then(Value::bytes) {
        Some(b"export" | b"readonly") if job.argv.iter().skip(1).any(is_named) => true,
        Some(b":" | b"." | b"source" | b"eval" | b"exec" | b"export" | b"readonly" | b"set" | b"shift") => {
            state.options.posix
        }
        Some(b"times" | b"trap" | b"unset" | b"break" | b"continue" | b"return" | b"exit") => {
            state.options.posix
        }
        _ => false,
    }
}

/// Whether a command's name is known and is a program's.
fn is_program(name: &Value, state: &State) -> bool {
    name.bytes().is_some_and(|name| {
        !state.functions.contains_key(name) && super::builtin::Builtin::named(name).is_none()
    })
}

/// `exec` without a command: its redirections are the shell's own from then on.
fn only_exec(job: &Job) -> bool {
    let mut words = job
        .argv
        .iter()
        .map(Value::bytes)
        .skip_while(|word| matches!(word, Some(b"command" | b"builtin" | b"--")));
    words.next() == Some(Some(b"exec")) && words.next().is_none() && job.more.is_none()
}

/// Whether a word comes to one thing only, and holds nothing that a builtin would expand once more.
fn is_settled(word: &Word) -> bool {
    let is_open = |byte: &u8| matches!(byte, b'$' | b'`' | b'[');
    word.parts.iter().all(|part| matches!(part, Part::Literal { text, .. } if !text.iter().any(is_open)))
}

/// Whether an argument of `declare` and its kin is an assignment: then it is not split.
fn assignment_like(word: &Word) -> bool {
    match word.parts.first() {
        Some(Part::Literal { text, quoted: false }) => {
            text.iter().position(|byte| *byte == b'=').is_some_and(|place| {
                let name = text.get(..place).unwrap_or_default();
                let name = name.strip_suffix(b"+").unwrap_or(name);
                super::variables::is_name(name) || super::variables::subscripted(name).is_some()
            })
        }
        _ => false,
    }
}
