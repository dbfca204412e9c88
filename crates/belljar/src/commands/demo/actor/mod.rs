//! An agent that follows a script: in place of a model there are words written beforehand; everything else is real.
//!
//! Owns: the order of things, as the programs it stands for have it (a prompt, a model that is asked, a hook before each
//! tool, the tool, a hook after it). It runs commands, changes files, asks the guard by `belljar hook` and goes by the
//! answer. Refuses: to know how things come out, and to run what the script itself calls perilous.

mod meter;
mod tools;
mod voice;

use std::{
    env,
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use uuid::Uuid;

use self::{
    meter::Meter,
    tools::{Tool, Worked},
    voice::{Heard, Voice},
};
use super::cast::{self, Helper, Part, Step};
use crate::args::DemoAgent;

/// How long an agent thinks at least and at most before it does something, at the speed of people.
const THINKS: (f64, f64) = (1.2, 4.5);
/// How fast it speaks, in letters a second.
const LETTERS: f64 = 60.0;

/// Plays a part from its first prompt to its last.
pub(super) fn play(args: &DemoAgent) -> Result<ExitCode> {
    let part = cast::part(&args.name)?;
    let cwd = env::current_dir().context("find the workspace")?;
    let session = Uuid::now_v7().to_string();
    let mut actor = Actor::main(&part, session, cwd, args.speed);
    actor.voice.session_began(&part.model);
    for turn in &part.turns {
        actor.turn(&turn.prompt, &turn.steps);
        actor.pause(3.0);
    }
    actor.voice.session_ended();
    Ok(ExitCode::SUCCESS)
}

/// One who acts: a session's own agent, or a helper.
struct Actor {
    name: String,
    voice: Voice,
    meter: Meter,
    cwd: PathBuf,
    speed: f64,
}

impl Actor {
    fn main(part: &Part, session: String, cwd: PathBuf, speed: f64) -> Self {
        let voice = Voice::new(part.vendor, session, &cwd);
        let meter = Meter::new(&part.name, &part.model);
        Self { name: part.name.clone(), voice, meter, cwd, speed }
    }

    fn helper(&self, helper: &Helper) -> Self {
        Self {
            name: helper.name.clone(),
            voice: self.voice.of_helper(&helper.name, &helper.kind),
            meter: Meter::new(&helper.name, self.meter.model()),
            cwd: self.cwd.clone(),
            speed: self.speed,
        }
    }

    fn turn(&mut self, prompt: &str, steps: &[Step]) {
        self.log(&format!("is asked: {prompt}"));
        self.voice.prompted(prompt);
        let last = self.steps(steps);
        self.voice.turn_ended(&last);
        self.log("has answered");
    }

    /// Does what the script says; the answer is what was said last.
    fn steps(&mut self, steps: &[Step]) -> String {
        let mut last = String::new();
        for step in steps {
            if let Step::Say(text) = step {
                self.ask_model(text.len());
                self.voice.says(text);
                last.clone_from(text);
                self.pause(letters(text) / LETTERS);
            } else {
                self.act(step);
            }
        }
        last
    }

    fn act(&mut self, step: &Step) {
        match step {
            // Said in `steps`.
            Step::Say(_) => {}
            Step::Run(line) => self.call(&Tool::Run(line.clone()), true),
            Step::Perilous(line) => self.call(&Tool::Run(line.clone()), false),
            Step::Read(file) => self.call(&Tool::Read(file.clone()), true),
            Step::Search { pattern, path } => {
                self.call(&Tool::Search { pattern: pattern.clone(), path: path.clone() }, true);
            }
            Step::Write { file, text } => {
                self.call(&Tool::Write { file: file.clone(), text: text.clone() }, true);
            }
            Step::Edit { file, old, new } => {
                let tool = Tool::Edit { file: file.clone(), old: old.clone(), new: new.clone() };
                self.call(&tool, true);
            }
            Step::Agents(helpers) => self.hand_out(helpers),
            Step::Compact(_) => {
                self.pause(2.0);
                self.voice.compacted();
                self.meter.shorten();
            }
        }
    }

    /// One call of a tool: the guard is asked, then it is made, or not.
    fn call(&mut self, tool: &Tool, may_run: bool) {
        let request = self.ask_model(tool.described().len());
        let id = call_id();
        let (name, input) = self.voice.named(tool);
        let done = match self.voice.before(&id, name, &input) {
            Heard::Denied(why) => {
                self.log(&format!("! denied: {}: {why}", tool.described()));
                return;
            }
            // What the guard should have refused and did not is still not run.
            Heard::Allowed(_) if !may_run => {
                self.log(&format!("! {} was not denied, and is not run", tool.described()));
                Worked::failed("the script does not let this be run", Duration::ZERO)
            }
            Heard::Allowed(changed) => {
                let tool = changed.and_then(|input| tool.with(&input)).unwrap_or_else(|| tool.clone());
                self.log(&tool.described());
                tool.work(&self.cwd)
            }
        };
        self.voice.after(&id, name, &input, &done);
        self.voice.measured(&id, name, &request, &done);
        self.meter.read(done.size());
    }

    /// Has helpers work at the same time, and waits for all of them.
    fn hand_out(&mut self, helpers: &[Helper]) {
        let request = self.ask_model(200);
        thread::scope(|scope| {
            for (place, helper) in (0_u32..).zip(helpers) {
                let mut other = self.helper(helper);
                let (voice, request) = (&self.voice, &request);
                scope.spawn(move || {
                    // One is asked for after the other.
                    other.pause(f64::from(place) * 0.8);
                    let begun = Instant::now();
                    let id = call_id();
                    let input = json!({
                        "description": helper.task, "prompt": helper.task, "subagent_type": helper.kind,
                    });
                    if let Heard::Denied(_) = voice.before(&id, "Agent", &input) {
                        return;
                    }
                    other.voice.helper_began();
                    other.steps(&helper.steps);
                    let found = format!("{} is done: {}", helper.name, helper.task);
                    other.ask_model(found.len());
                    other.voice.helper_ended(&found);
                    let response = json!({ "status": "completed", "agentId": helper.name, "content": found });
                    let done = Worked::ok(response, found.len(), begun.elapsed());
                    voice.after(&id, "Agent", &input, &done);
                    voice.measured(&id, "Agent", request, &done);
                });
            }
        });
        self.meter.read(2000);
    }

    /// The model is asked and thinks; the answer names the request.
    fn ask_model(&mut self, writes: usize) -> String {
        let seconds = self.meter.between(THINKS);
        let begun = Instant::now();
        self.pause(seconds);
        let used = self.meter.request(writes);
        self.voice.paid(&used, begun.elapsed());
        used.request_id
    }

    fn pause(&self, seconds: f64) {
        thread::sleep(Duration::from_secs_f64((seconds / self.speed).clamp(0.0, 60.0)));
    }

    /// A line for whoever reads the sandbox's log.
    fn log(&self, line: &str) {
        let _unread = writeln!(io::stdout(), "{}: {}", self.name, line.replace('\n', " "));
    }
}

#[expect(clippy::cast_precision_loss, reason = "a text is short")]
fn letters(text: &str) -> f64 {
    text.len() as f64
}

fn call_id() -> String {
    let id = Uuid::now_v7().simple().to_string();
    format!("toolu_{}", id.get(12..).unwrap_or(&id))
}

/// An object with more fields.
fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut object, more) {
        fields.extend(more);
    }
    object
}
