//! Programs: asked about, and what they do taken into the state.
//!
//! Owns: the flow from a command to a program's outcome, to what it starts in turn, and to the files it leaves. Refuses: knowing any
//! program's options; `effects::programs` does.

use super::builtin::settings::{set_named_option, set_option};
use super::channel::{Channel, presentable};
use super::device::device;
use super::machine::Machine;
use super::names::{basename, named};
use super::simple::Job;
use super::state::{Options, State, Variable};
use super::worlds::Worlds;
use crate::effects::{Act, Code, Datum, Effort, Invocation, Next, Outcome, Stream, path, programs};
use crate::shell::ast::Span;
use crate::shell::value::{Piece, Value};

impl Machine<'_> {
    /// A command as programs are asked about it.
    pub(super) fn invocation(&self, job: Job, state: &State) -> Invocation {
        let mut environment: Vec<(Vec<u8>, Value)> = state
            .variables
            .iter()
            .filter(|(_, variable)| variable.exported)
            .filter_map(|(name, variable)| {
                Some((name.clone(), super::variables::scalar_of(variable.content.clone())?))
            })
            .collect();
        environment.retain(|(name, _)| !job.environment.iter().any(|(other, _)| other == name));
        environment.extend(job.environment);
        Invocation {
            argv: job.argv,
            more: job.more,
            flows: self.files.followed(&job.flows),
            environment,
            cwd: Value::clone(&state.cwd),
            input: self.input(state, 0),
            span: self.anchor.unwrap_or(job.span),
        }
    }

    /// Starts a program.
    pub(super) fn program(&mut self, mut job: Job, mut state: State) -> Worlds {
        if let Some(first) = job.argv.first_mut()
            && let Some(target) = first.bytes().and_then(|name| state.hashed.get(name))
        {
            *first = target.clone();
        }
        let handlers = state.functions.get(b"command_not_found_handle".as_slice()).cloned();
        let call = handlers.map(|handlers| (handlers, job.clone()));
        let invocation = self.invocation(job, &state);
        self.start(&invocation, &mut state);
        state.status = None;
        if let Some((handlers, mut call)) = call {
            call.argv.insert(0, Value::known("command_not_found_handle"));
            return self.call(b"command_not_found_handle", &handlers, &call, state);
        }
        vec![state]
    }

    /// Asks about a program and takes in what it does.
    pub(super) fn start(&mut self, invocation: &Invocation, state: &mut State) {
        if self.step(invocation.span) {
            self.deeper(invocation.span, |machine| machine.started(invocation, state));
        }
    }

    fn started(&mut self, invocation: &Invocation, state: &mut State) {
        self.noted(invocation);
        let by = invocation
            .argv
            .first()
            .map_or_else(|| "a program".to_owned(), |name| named(name, &invocation.argv));
        if self.own_file(invocation, &by, state) {
            return;
        }
        self.own_project(invocation, &by, state);
        let invocation = &self.climbing(invocation);
        let outcome = programs::outcome(invocation, self.context);
        self.remember(&outcome, invocation, &by, state);
        for (act, effort) in &outcome.acts {
            self.take_in(act, *effort, invocation, &by, state);
        }
        if by == "ln" && self.elsewhere.is_none() {
            self.linked(&outcome, invocation);
        }
        let quiet = !outcome.next.is_empty() && outcome.output == Stream::default();
        if !quiet {
            let output = self.output(&outcome, &by, invocation, state);
            self.write(state, 1, output, &by, invocation.span);
        }
        for next in outcome.next {
            self.next(next, invocation, &by, state);
        }
    }

    /// Says that something that came from elsewhere is run.
    pub(super) fn run_origins(&mut self, path: &Value, by: &str, span: Span) {
        for datum in self.files.followed(&[Datum::File(path.clone())]) {
            if let Datum::Download(from) = datum {
                self.record(
                    Act::Run { code: Code::Download(from), with: by.to_owned() },
                    by,
                    span,
                    Effort::Done,
                );
            }
        }
    }

    /// Runs text that is known, with the interpreter its first line or the command names.
    pub(super) fn run_content(
        &mut self,
        content: &Value,
        name: &Value,
        with: Option<&str>,
        invocation: &Invocation,
        state: &mut State,
    ) {
        let first = content.prefix().split(|byte| *byte == b'\n').next().unwrap_or_default();
        let first = String::from_utf8_lossy(first).into_owned();
        let shebang = first
            .strip_prefix("#!")
            .and_then(|line| line.split_whitespace().map(basename).rfind(|word| !word.starts_with('-')));
        let interpreter = with.map(basename).or(shebang).unwrap_or("bash").to_owned();
        if matches!(interpreter.as_str(), "bash" | "sh" | "dash" | "zsh" | "ksh" | "ash" | "source" | ".") {
            let place = invocation
                .argv
                .iter()
                .position(|argument| same_file(argument, name, invocation))
                .unwrap_or(0);
            let arguments = invocation.argv.iter().skip(place).cloned().collect();
            self.shell(
                content,
                arguments,
                invocation.input.clone(),
                invocation.cwd.clone(),
                invocation,
                state,
            );
        } else if interpreter == "just" {
            self.run_lines("just", content, &[], invocation, state);
        } else if matches!(interpreter.as_str(), "make" | "gmake") {
            let argv = ["make", "-f", "-"].map(Value::known).to_vec();
            let input = Stream { text: Some(content.clone()), data: Vec::new() };
            self.start(&Invocation { argv, input, ..invocation.clone() }, state);
        } else if matches!(interpreter.as_str(), "awk" | "gawk" | "mawk" | "nawk" | "sed" | "gsed") {
            // These read their data where others read their code.
            let inner =
                Invocation { argv: vec![Value::known(interpreter), content.clone()], ..invocation.clone() };
            self.start(&inner, state);
        } else {
            let inner = Invocation {
                argv: vec![Value::known(interpreter)],
                input: Stream { text: Some(content.clone()), data: Vec::new() },
                ..invocation.clone()
            };
            self.start(&inner, state);
        }
    }

    fn take_in(&mut self, act: &Act, effort: Effort, invocation: &Invocation, by: &str, state: &mut State) {
        let span = invocation.span;
        match act {
            Act::Run { code: Code::File(path), with } if self.elsewhere.is_none() => {
                let contents = match device(path, state) {
                    Some(Channel::Source(stream)) => {
                        for datum in self.files.followed(&stream.data) {
                            if let Datum::Download(from) = datum {
                                self.record(
                                    Act::Run { code: Code::Download(from), with: with.clone() },
                                    by,
                                    span,
                                    effort,
                                );
                            }
                        }
                        if stream.text.as_ref().is_none_or(|text| text.why().is_some()) {
                            self.unknown(format!("the code {with} is given"), span);
                        }
                        stream
                            .text
                            .filter(|text| text.pieces.iter().any(|piece| matches!(piece, Piece::Known(_))))
                            .into_iter()
                            .collect()
                    }
                    Some(_) => Vec::new(),
                    None => {
                        self.run_origins(path, by, span);
                        self.run_doubted(path, span);
                        let contents = self.files.contents(path).to_vec();
                        if !self.surely_holds(path, state) || path.why().is_some() {
                            self.record(act.clone(), by, span, effort);
                            self.run_found(path, with, invocation, state);
                        }
                        contents
                    }
                };
                for content in contents {
                    self.run_content(&content, path, Some(with), invocation, state);
                }
            }
            Act::Read { path, .. } if device(path, state).is_some() => {}
            Act::Write { path, content, .. } if device(path, state).is_some() => {
                if let Some(Channel::Capture(buffer)) = device(path, state)
                    && let Some(buffer) = state.buffers.get_mut(buffer)
                {
                    let stream = content.clone().map_or_else(
                        || invocation.input.clone(),
                        |text| Stream { text: Some(text), data: Vec::new() },
                    );
                    super::channel::pour(buffer, stream, by, span);
                }
            }
            Act::Network { traffic, to, data } => {
                let data = self.seen(data, state);
                self.record(Act::Network { traffic: *traffic, to: to.clone(), data }, by, span, effort);
            }
            other => {
                self.record(other.clone(), by, span, effort);
            }
        }
    }

    /// Data with descriptors replaced by what flows through them, and files followed to their origins.
    fn seen(&self, data: &[Datum], state: &State) -> Vec<Datum> {
        let mut all = Vec::new();
        for datum in data {
            match datum {
                Datum::File(path) => match device(path, state) {
                    Some(Channel::Source(stream)) => {
                        let stream = presentable(stream);
                        all.extend(stream.text.map(Datum::Text));
                        all.extend(stream.data);
                    }
                    Some(_) => {}
                    None => all.push(datum.clone()),
                },
                other => all.push(other.clone()),
            }
        }
        self.files.followed(&all)
    }

    fn output(&self, outcome: &Outcome, by: &str, invocation: &Invocation, state: &State) -> Stream {
        let mut output = outcome.output.clone();
        if output.text.is_none() && by == "cat" && invocation.argv.len() > 1 {
            output.text = self.concatenated(outcome, state);
        }
        output.data = self.seen(&output.data, state);
        output
    }

    /// What `cat` writes, when every file it reads is known.
    fn concatenated(&self, outcome: &Outcome, state: &State) -> Option<Value> {
        let mut whole = Value::default();
        let mut any = false;
        for (act, _) in &outcome.acts {
            let Act::Read { path, .. } = act else { continue };
            any = true;
            match device(path, state) {
                Some(Channel::Source(stream)) => whole.append(stream.text?),
                Some(_) => return None,
                None => whole.append(self.held(path, state).text?),
            }
        }
        any.then_some(whole)
    }

    fn next(&mut self, next: Next, invocation: &Invocation, by: &str, state: &mut State) {
        let (Next::Program { elsewhere, .. } | Next::Shell { elsewhere, .. }) = &next;
        let before = self.elsewhere.clone();
        if before.is_none() {
            self.elsewhere.clone_from(elsewhere);
        }
        match next {
            Next::Program { invocation: inner, .. } => {
                if inner.argv.first().is_none_or(super::variables::is_opaque) {
                    self.noted(&inner);
                    self.unknown(format!("a program {by} is told to start"), invocation.span);
                } else {
                    self.start(&inner, state);
                }
            }
            Next::Shell { text, arguments, input, cwd, .. } => {
                self.shell(&text, arguments, input, cwd, invocation, state);
            }
        }
        self.elsewhere = before;
    }

    /// What bash reads before anything else: the file `BASH_ENV` names.
    fn greeting(&mut self, invocation: &Invocation) -> Option<Value> {
        let is_bash = invocation.argv.first().and_then(Value::text).map(basename) == Some("bash");
        let file =
            invocation.environment.iter().find(|(name, _)| name == b"BASH_ENV").map(|(_, file)| file)?;
        if !is_bash || file.bytes() == Some(b"") || self.elsewhere.is_some() {
            return None;
        }
        let path = path::resolve(file, &invocation.cwd);
        let content = self.files.contents(&path).last().cloned();
        if content.is_none() {
            let act = Act::Run { code: Code::File(path), with: "bash".to_owned() };
            self.record(act, "bash", invocation.span, Effort::Done);
        }
        content
    }

    /// A shell of its own that reads text.
    pub(super) fn shell(
        &mut self,
        text: &Value,
        arguments: Vec<Value>,
        input: Stream,
        cwd: Value,
        invocation: &Invocation,
        state: &mut State,
    ) {
        let mut inner = State::new(cwd);
        if self.elsewhere.is_none() {
            for (name, value) in &invocation.environment {
                inner.set(name, Variable { exported: true, ..Variable::scalar(value.clone()) });
            }
            inner.functions = std::rc::Rc::clone(&state.functions);
            std::rc::Rc::make_mut(&mut inner.functions).retain(|name, _| state.exported.contains(name));
        }
        inner.written = std::rc::Rc::clone(&state.written);
        inner.descriptors.clone_from(&state.descriptors);
        inner.buffers.clone_from(&state.buffers);
        if input != Stream::default() {
            inner.descriptors.insert(0, Channel::Source(input));
        }
        let mut arguments = arguments.into_iter();
        let named = invocation.argv.first().and_then(Value::text).map(basename);
        // Without a name of its own it has that of the shell; what others start for a line is `sh`.
        let is_shell = matches!(named, Some("sh" | "bash" | "rbash" | "dash" | "zsh" | "ksh" | "ash"));
        let own = invocation.argv.first().filter(|_| is_shell).cloned();
        let zero = arguments.next().or(own).unwrap_or_else(|| Value::known("sh"));
        inner.zero = std::rc::Rc::new(zero);
        inner.positional = arguments.collect();
        if is_shell {
            self.told(invocation, &mut inner.options);
        }
        if matches!(named, Some("sh" | "dash")) {
            inner.options.posix = true;
            inner.options.expand_aliases = true;
        }
        inner.more.clone_from(&invocation.more);
        let calls = std::mem::take(&mut self.calls);
        let temporaries = std::mem::take(&mut self.temporaries);
        let conditions = std::mem::take(&mut self.conditions);
        let span = invocation.span;
        let greeting = self.greeting(invocation);
        let worlds = self.isolated(span, |machine| {
            machine.subshell(inner, |machine, state| {
                let nested = std::mem::take(&mut machine.nested);
                let greeted = match &greeting {
                    Some(first) => machine.text(first, span, "a script", state),
                    None => vec![state],
                };
                let worlds =
                    machine.each(greeted, |machine, state| machine.text(text, span, "a script", state));
                machine.nested = nested;
                worlds
            })
        });
        self.calls = calls;
        self.temporaries = temporaries;
        self.conditions = conditions;
        *state = state.clone().after(worlds);
    }

    /// What a shell is told about itself where it is started: `bash -ex +B -o pipefail -O extglob`.
    fn told(&mut self, invocation: &Invocation, options: &mut Options) {
        let mut words = invocation.argv.iter().skip(1).map_while(Value::bytes);
        while let Some((sign @ (b'-' | b'+'), letters)) = words.next().and_then(<[u8]>::split_first) {
            if letters.first() == Some(&b'-') {
                options.posix |= letters == b"-posix";
                continue;
            }
            for letter in letters {
                let is_on = *sign == b'-';
                match (letter, matches!(letter, b'o' | b'O').then(|| words.next()).flatten()) {
                    (_, Some(name)) => set_named_option(options, name, is_on),
                    (b'k', None) if is_on => {
                        self.unknown("assignments behind the name of a command", invocation.span);
                    }
                    (letter, None) => set_option(options, *letter, is_on),
                }
            }
        }
    }
}

fn same_file(argument: &Value, path: &Value, invocation: &Invocation) -> bool {
    path::resolve(argument, &invocation.cwd) == *path
}
