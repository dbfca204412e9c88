//! Telling people that an agent stopped: on the desktop, by a command, aloud. Webhooks hear of it as of any event.

use std::{borrow::Cow, collections::BTreeMap, env};

use belljar_domain::{EventKind, NewEvent};
use serde_json::Value;

use super::{super::Service, commands};

/// How much of an agent's last words is told.
const LONGEST: usize = 200;

impl Service {
    pub(super) fn tell_people(&self, event: &NewEvent) {
        let settings = &self.0.settings.stop;
        let facts = self.facts(event);
        let desktop = ["notify-send", "--app-name=belljar", "--", "{title}", "{text}"].map(str::to_owned);
        let shown = (settings.desktop && is_there("notify-send")).then_some(&desktop[..]);
        let all = [shown, Some(settings.command.as_slice()), Some(settings.say.as_slice())];
        for words in all.into_iter().flatten() {
            let words: Vec<String> = words.iter().map(|word| filled(word, &facts)).collect();
            if let [program, arguments @ ..] = words.as_slice() {
                let done = commands::tell(program, arguments);
                self.note_failure(event, program, done);
            }
        }
    }

    /// What stands for what in a template, without secrets.
    pub(super) fn facts(&self, event: &NewEvent) -> BTreeMap<&'static str, String> {
        let agent = event.actor.name.clone().unwrap_or_else(|| "an agent".to_owned());
        let failed = event.kind == EventKind::TurnFailed;
        let said = event.payload.get("message").and_then(Value::as_str).unwrap_or_default();
        let said = event.error.as_deref().filter(|_| failed).unwrap_or(said);
        let clean: Cow<'_, str> = self.0.recorder.redactor().text(said);
        let line = clean.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let line: String = line.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
        let state = if failed { "could not go on" } else { "is done" };
        let text =
            if line.is_empty() { format!("{agent} {state}") } else { format!("{agent} {state}: {line}") };
        let id = |id: Option<String>| id.unwrap_or_default();
        BTreeMap::from([
            ("title", "belljar".to_owned()),
            ("text", text),
            ("agent", agent),
            ("message", line),
            ("status", if failed { "failure" } else { "success" }.to_owned()),
            ("event", event.kind.as_str().to_owned()),
            ("session", id(event.session.clone())),
            ("sandbox", id(event.sandbox.map(|id| id.to_string()))),
        ])
    }
}

/// A word with what stands in braces put in. What is put in is not looked at again.
fn filled(word: &str, facts: &BTreeMap<&'static str, String>) -> String {
    let (mut filled, mut rest) = (String::new(), word);
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let known = after.split_once('}').and_then(|(name, tail)| Some((facts.get(name)?, tail)));
        match known {
            Some((value, tail)) => {
                filled.push_str(value);
                rest = tail;
            }
            None => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled + rest
}

fn is_there(program: &str) -> bool {
    env::split_paths(&env::var_os("PATH").unwrap_or_default()).any(|dir| dir.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_filled_once() {
        let facts = BTreeMap::from([("text", "{agent} $(rm)".to_owned()), ("agent", "coder".to_owned())]);
        for (word, wanted) in [
            ("{agent}: {text}!", "coder: {agent} $(rm)!"),
            ("{nobody} {", "{nobody} {"),
            ("{{agent}}", "{coder}"),
            ("", ""),
        ] {
            assert_eq!(filled(word, &facts), wanted);
        }
    }
}
