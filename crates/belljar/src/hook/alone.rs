//! What a hook says by itself, where no server did: none is there, or its words are not understood.
//!
//! Owns: judging one call by the policy that was kept, or the shipped one where nothing is. Refuses: to let through a call
//! that cannot be read, unless the policy only observes.

use std::{env, path::Path};

use belljar_capture::{Agent, Answer, HookEvent, HookKind, Peek};
use belljar_domain::{Ruling, Verdict};
use belljar_engine::service::{Grounds, Kills, judge};
use belljar_guardian::policy::{Mode, Policy};

use crate::{killswitch::KILLSWITCH, policy, secrets};

/// The name of the field an event is called by in what most agents say.
const EVENT: &[u8] = b"\"hook_event_name\"";

/// What is said to a call nobody else judged.
#[derive(Debug, Default)]
pub(super) struct Alone {
    /// What the policy says of it, as it may be written down.
    pub(super) ruling: Option<Ruling>,
    /// What the agent hears; none if nothing holds it up.
    pub(super) answer: Option<Answer>,
}

impl Alone {
    /// Judges what came in.
    pub(super) fn rule(home: Option<&Path>, agent: &Agent, event: Option<&str>, said: &[u8]) -> Self {
        let killed = home.and_then(|home| killed(home, agent, event, said));
        let ruled = ruling(home, agent, event, said);
        let held = ruled.as_ref().filter(|ruled| ruled.1);
        let held = held.map(|(ruled, _)| Answer::new(ruled.verdict, ruled.reason.clone()));
        let answer = killed.or(held).or_else(|| unreadable(home, agent, event, said));
        Self { ruling: ruled.map(|(ruled, _)| ruled), answer }
    }
}

/// The no to a call that cannot be read.
pub(super) fn unreadable(
    home: Option<&Path>,
    agent: &Agent,
    event: Option<&str>,
    said: &[u8],
) -> Option<Answer> {
    let is_call = matches!(Peek::kind(agent, event?), HookKind::ToolBefore | HookKind::Permission);
    if !is_call || HookEvent::read(Some(agent.clone()), event, said).is_ok() {
        return None;
    }
    let observes = in_force(home).mode == Mode::Observe;
    let reason = "what this call would do cannot be read: it is too long or no JSON; make it shorter";
    (!observes).then(|| Answer::new(Verdict::Deny, reason.to_owned()))
}

/// The event's name in what is not whole.
pub(super) fn event_in(said: &[u8]) -> Option<String> {
    let at = said.windows(EVENT.len()).position(|piece| piece == EVENT)?;
    let rest = said.get(at + EVENT.len()..)?.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let name = rest.strip_prefix(b"\"")?;
    let end = name.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')?;
    String::from_utf8(name.get(..end)?.to_vec()).ok().filter(|name| !name.is_empty())
}

fn in_force(home: Option<&Path>) -> Policy {
    home.map(policy::in_force).unwrap_or_default()
}

/// What the policy says of a call, and whether that holds it up.
fn ruling(home: Option<&Path>, agent: &Agent, event: Option<&str>, said: &[u8]) -> Option<(Ruling, bool)> {
    let policy = in_force(home);
    let variable = |name: &str| env::var(name).ok();
    let judged = |said: &[u8]| {
        let hook = HookEvent::read(Some(agent.clone()), event, said).ok()?;
        let grounds = Grounds { home: variable("HOME"), workspace: hook.workspace(variable) };
        judge(&policy, &hook, &grounds, None)
    };
    let (ruling, holds) = judged(said)?;
    // Its words quote the call in part, and they are written down: where there are secrets in the call, those of the
    // same ruling on the call without them. Without a home nothing is.
    let Some(home) = home else { return Some((ruling, holds)) };
    let clean = secrets::line(home, said).ok();
    if clean.as_deref() == Some(said) {
        return Some((ruling, holds));
    }
    let is_same =
        |(again, _): &(Ruling, bool)| (again.verdict, &again.rule) == (ruling.verdict, &ruling.rule);
    let reason = clean.and_then(|clean| judged(&clean)).filter(is_same).map_or_else(
        || format!("`{}` says so of a call with secrets in it", ruling.rule),
        |(again, _)| again.reason,
    );
    Some((Ruling { reason, ..ruling }, holds))
}

/// What whoever was killed is told, also while there is no server.
fn killed(home: &Path, agent: &Agent, event: Option<&str>, said: &[u8]) -> Option<Answer> {
    let kills = Kills::read(&home.join(KILLSWITCH));
    if kills == Kills::default() {
        return None;
    }
    let hook = HookEvent::read(Some(agent.clone()), event, said).ok();
    let own_name = env::var("BELLJAR_AGENT").ok();
    let hook = hook.map(|hook| [hook.session_id, hook.agent_id, hook.agent_type]).unwrap_or_default();
    let kill = kills.of(own_name.iter().chain(hook.iter().flatten()).map(String::as_str))?;
    Some(Answer { stop: true, ..Answer::new(Verdict::Deny, kill.reason()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_is_found_in_what_was_cut() {
        let cut = br#"{"session_id":"s","hook_event_name" : "PreToolUse","tool_input":{"content":"xx"#;
        assert_eq!(event_in(cut).as_deref(), Some("PreToolUse"));
        assert_eq!(event_in(b"nonsense"), None);
        assert_eq!(event_in(br#"{"hook_event_name":"Pre"#), None);
    }
}
