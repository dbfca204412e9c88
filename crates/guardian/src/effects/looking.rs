//! What is worth looking at on the disk before a call is judged, and what follows from what was found.
//!
//! Owns: which paths of a call may lead elsewhere or hold code, and the same effects at the place they lead to. Refuses: to
//! look; whoever has hands does, within bounds, and hands the answers in as [`super::Facts`].

use super::act::{Act, Code, Datum, Effect};
use super::context::Context;
use crate::shell::value::{Piece, Value};

/// Something to be found out.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// The path; absolute and normal.
    pub path: Vec<u8>,
    /// Whether what is in it is of interest too: it would be run.
    pub wants_text: bool,
}

/// What would have to be known to say where the effects of a call are had, the first of it. Devices and processes are what
/// they are called.
#[must_use]
pub fn questions(effects: &[Effect], context: &Context, most: usize) -> Vec<Question> {
    let mut asked: Vec<Question> = Vec::new();
    for effect in effects {
        for (path, how) in paths(&effect.act) {
            let wants_text = how == How::Run;
            let Some(path) = place(path, how).filter(|path| is_open(path)) else { continue };
            if let Some(known) = asked.iter_mut().find(|question| question.path == path) {
                known.wants_text |= wants_text;
            } else if asked.len() < most {
                asked.push(Question { path, wants_text });
            }
        }
    }
    // Whatever is reached by them is still theirs, wherever they lead.
    if !asked.is_empty() {
        for ground in [&context.workspace, &context.home] {
            let is_asked = asked.iter().any(|question| question.path == *ground);
            if !is_asked && is_open(ground) {
                asked.push(Question { path: ground.clone(), wants_text: false });
            }
        }
    }
    asked
}

/// Puts to effects what they are where links lead.
pub(crate) fn lead(effects: &mut Vec<Effect>, context: &Context) {
    if context.facts.is_empty() {
        return;
    }
    for place in 0..effects.len() {
        let Some(mut effect) = effects.get(place).cloned() else { return };
        let mut is_led = false;
        for (path, how) in paths_mut(&mut effect.act) {
            if let Some(real) = led(path, how, context) {
                *path = real;
                is_led = true;
            }
        }
        if is_led {
            effects.push(effect);
        }
    }
}

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    /// Where it leads.
    Follow,
    /// By its own name: a link that is deleted is gone, and what it leads to is not.
    Itself,
    /// What is in it is run.
    Run,
}

fn paths(act: &Act) -> Vec<(&Value, How)> {
    match act {
        Act::Read { path, .. } | Act::Look { path } | Act::Write { path, .. } | Act::Permit { path, .. } => {
            vec![(path, How::Follow)]
        }
        Act::Delete { path, .. } => vec![(path, How::Itself)],
        Act::Run { code: Code::File(path), .. } => vec![(path, How::Run)],
        Act::Network { data, .. } => {
            let files = data.iter().filter_map(|datum| match datum {
                Datum::File(path) => Some((path, How::Follow)),
                _ => None,
            });
            files.collect()
        }
        _ => Vec::new(),
    }
}

fn paths_mut(act: &mut Act) -> Vec<(&mut Value, How)> {
    match act {
        Act::Read { path, .. } | Act::Look { path } | Act::Write { path, .. } | Act::Permit { path, .. } => {
            vec![(path, How::Follow)]
        }
        Act::Delete { path, .. } => vec![(path, How::Itself)],
        Act::Run { code: Code::File(path), .. } => vec![(path, How::Run)],
        Act::Network { data, .. } => {
            let files = data.iter_mut().filter_map(|datum| match datum {
                Datum::File(path) => Some((path, How::Follow)),
                _ => None,
            });
            files.collect()
        }
        _ => Vec::new(),
    }
}

/// The part of a path that can be looked at: all of it, or the directory of what is not known or only itself is meant.
fn place(path: &Value, how: How) -> Option<Vec<u8>> {
    match path.bytes() {
        Some(whole) if how != How::Itself => Some(whole.to_vec()),
        _ => {
            let known = path.prefix();
            let end = known.iter().rposition(|byte| *byte == b'/')?;
            known.get(..end).map(<[u8]>::to_vec)
        }
    }
}

fn is_open(path: &[u8]) -> bool {
    let is_below = |place: &[u8]| path.strip_prefix(place).is_some_and(|rest| rest.starts_with(b"/"));
    path.len() > 1 && path.starts_with(b"/") && !is_below(b"/dev") && !is_below(b"/proc")
}

/// Where a path leads; none if that is where it says.
fn led(path: &Value, how: How, context: &Context) -> Option<Value> {
    let looked_at = place(path, how)?;
    let found = at_home(context.facts.real(&looked_at), context);
    if found == looked_at {
        return None;
    }
    let mut pieces = path.pieces.iter();
    let Some(Piece::Known(first)) = pieces.next() else { return None };
    let mut real = Value::known([found.as_slice(), first.get(looked_at.len()..)?].concat());
    pieces.for_each(|piece| real.push(piece.clone()));
    Some(real)
}

/// What lies where the workspace or the home lead lies in them.
fn at_home(real: Vec<u8>, context: &Context) -> Vec<u8> {
    for ground in [&context.workspace, &context.home] {
        let led = context.facts.real(ground);
        let rest = real.strip_prefix(led.as_slice());
        if let Some(rest) = rest.filter(|rest| led.len() > 1 && (rest.is_empty() || rest.starts_with(b"/"))) {
            return [ground.as_slice(), rest].concat();
        }
    }
    real
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::{Effort, Fact, FileKind};

    fn effect(act: Act) -> Effect {
        Effect { act, by: "x".to_owned(), span: None, effort: Effort::Done }
    }

    fn read(path: &str) -> Effect {
        effect(Act::Read { path: Value::known(path), deep: false })
    }

    fn delete(path: Value) -> Effect {
        effect(Act::Delete { path, deep: true, filtered: false })
    }

    fn context(links: &[(&str, &str)]) -> Context {
        let mut context =
            Context { workspace: b"/w".to_vec(), home: b"/home/me".to_vec(), ..Context::default() };
        for (path, real) in links {
            let fact = Fact { real: (*real).into(), kind: FileKind::File, text: None };
            context.facts.insert((*path).into(), fact);
        }
        context
    }

    fn shown(effects: &[Effect], context: &Context) -> Vec<String> {
        let mut all = effects.to_vec();
        lead(&mut all, context);
        let led = all.iter().skip(effects.len());
        led.flat_map(|effect| paths(&effect.act).into_iter().map(|(path, _)| format!("{path:?}"))).collect()
    }

    #[test]
    fn what_is_read_is_read_where_it_leads() {
        let led =
            shown(&[read("/w/x"), read("/w/y")], &context(&[("/w/x", "/etc/passwd"), ("/w/y", "/w/y")]));
        assert_eq!(led, [format!("{:?}", Value::known("/etc/passwd"))]);
    }

    #[test]
    fn a_link_that_is_deleted_is_gone_and_what_is_below_it_is_elsewhere() {
        let context = context(&[("/w", "/w"), ("/w/x", "/etc")]);
        assert!(shown(&[delete(Value::known("/w/x"))], &context).is_empty());
        let led = shown(&[delete(Value::known("/w/x/a"))], &context);
        assert_eq!(led, [format!("{:?}", Value::known("/etc/a"))]);
        let mut all = Value::known("/w/x/");
        all.push(Piece::Glob(b"*".to_vec()));
        assert_eq!(questions(&[delete(all.clone())], &context, 9)[0].path, b"/w/x");
        assert_eq!(shown(&[delete(all)], &context).len(), 1);
    }

    #[test]
    fn a_workspace_that_is_a_link_is_the_workspace() {
        let context = context(&[("/w", "/data/w"), ("/w/x", "/data/w/x"), ("/w/y", "/data/y")]);
        assert!(shown(&[read("/w/x")], &context).is_empty());
        assert_eq!(shown(&[read("/w/y")], &context), [format!("{:?}", Value::known("/data/y"))]);
    }

    #[test]
    fn few_paths_are_asked_about_and_devices_never() {
        let context = context(&[]);
        let many: Vec<Effect> = (0..9).map(|n| read(&format!("/w/{n}"))).collect();
        assert_eq!(questions(&many, &context, 4).len(), 4 + 2);
        assert!(
            questions(&[read("/dev/stdin"), read("/proc/self/environ"), read("/")], &context, 9).is_empty()
        );
        let run = effect(Act::Run { code: Code::File(Value::known("/w/x")), with: "sh".to_owned() });
        let asked = questions(&[read("/w/x"), run], &context, 9);
        assert_eq!(asked[0], Question { path: b"/w/x".to_vec(), wants_text: true });
        assert_eq!(asked.len(), 3, "the workspace and the home are looked at too");
    }
}
