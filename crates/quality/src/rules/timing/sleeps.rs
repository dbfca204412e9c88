//! Sleeps that stand for waiting.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    rules::is_locked,
    tree::{Id, Kind},
    words::{has_word, number},
};

/// Functions that are about waiting in steps.
const PACED: [&str; 13] = [
    "retry",
    "retries",
    "backoff",
    "poll",
    "polling",
    "rate",
    "throttle",
    "debounce",
    "jitter",
    "throttled",
    "debounced",
    "limiter",
    "ratelimit",
];

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let calls = tree.all(Kind::Call).iter().chain(tree.all(Kind::New)).copied();
    calls.filter(|call| is_sleep(file, *call)).filter_map(|call| draft(file, call)).collect()
}

fn draft(file: &File<'_>, call: Id) -> Option<Draft> {
    let tree = &file.tree;
    let function = file.function_of(call);
    let is_paced = function.is_some_and(|function| {
        has_word(function.name, &PACED) || function.name.to_lowercase().contains("retry")
    });
    let in_loop = tree
        .ancestors(call)
        .take_while(|up| !tree.is(*up, Kind::Function))
        .any(|up| matches!(tree.kind(up), Kind::Loop | Kind::Comprehension));
    let before = what_precedes(file, call);
    // All that a helper of that name does is to let time pass.
    let is_helper = before.is_none()
        && function.is_some_and(|function| has_word(function.name, &["sleep", "delay", "pause"]));
    if is_helper || is_paced || in_loop || is_locked(file, call) || is_zero(file, call) {
        return None;
    }
    let message = match before {
        Some(before) => format!("`{}` hopes that `{}` is done by then", file.quote(call), file.quote(before)),
        None => format!("`{}` waits a fixed time", file.quote(call)),
    };
    let element = |id: Id| file.element(id, "what is waited for");
    Some(
        Draft::new(Rule::SleepSync, message)
            .about("sleep")
            .open_ended()
            .element(file.element(call, "the guess"))
            .elements(before.map(element)),
    )
}

/// The statement before the one a call is in.
fn what_precedes(file: &File<'_>, call: Id) -> Option<Id> {
    let tree = &file.tree;
    let statement = tree.ancestors(call).find(|up| {
        tree.parent(*up).is_some_and(|outer| matches!(tree.kind(outer), Kind::Block | Kind::Module))
    })?;
    tree.parts(tree.parent(statement)?).take_while(|sibling| *sibling < statement).last()
}

/// Whether a call sleeps: the standard library's, or a helper of that name that is waited for.
pub(crate) fn is_sleep(file: &File<'_>, call: Id) -> bool {
    let tree = &file.tree;
    let Some(callee) = tree.callee(call) else { return false };
    if tree.lang.is_script() {
        return is_script_sleep(file, call, callee.name);
    }
    matches!(callee.name, "sleep" | "Sleep" | "sleep_ms")
        && !tree.arguments(call).is_empty()
        && !is_kept(file, call)
}

/// Whether the sleep is a value somebody keeps: a timer to wait for later, or beside something else.
fn is_kept(file: &File<'_>, call: Id) -> bool {
    let keeps = [Kind::Args, Kind::Pair, Kind::Declarator, Kind::Assign, Kind::List, Kind::Tuple];
    file.tree.parent(call).is_some_and(|up| keeps.contains(&file.tree.kind(up)))
}

/// `await sleep(100)`, `await new Promise(r => setTimeout(r, 100))`. A timer with a handler waits for nothing.
fn is_script_sleep(file: &File<'_>, call: Id, name: &str) -> bool {
    let tree = &file.tree;
    if tree.is(call, Kind::New) {
        return name == "Promise"
            && tree.parent(call).is_some_and(|up| tree.is(up, Kind::Await))
            && is_bare_timer(file, call);
    }
    let is_waited = tree.parent(call).is_some_and(|up| tree.is(up, Kind::Await));
    let is_helper = matches!(name, "sleep" | "delay" | "wait" | "pause" | "setTimeout" | "waitForTimeout");
    is_waited && is_helper && !tree.arguments(call).is_empty() || name == "sleepSync"
}

/// Whether all a promise does is to let time pass.
fn is_bare_timer(file: &File<'_>, promise: Id) -> bool {
    let tree = &file.tree;
    let calls = tree.below_of(promise, Kind::Call);
    let timer = calls
        .iter()
        .copied()
        .find(|call| tree.callee(*call).is_some_and(|callee| callee.name == "setTimeout"));
    timer.is_some_and(|timer| {
        let handler = tree.arguments(timer).first().copied();
        let is_resolve = handler.is_some_and(|handler| {
            tree.is(handler, Kind::Ident)
                || tree.is(handler, Kind::Lambda) && tree.below_of(handler, Kind::Call).len() <= 1
        });
        is_resolve && calls.len() <= 2
    })
}

/// Sleeping for nothing only lets others run.
fn is_zero(file: &File<'_>, call: Id) -> bool {
    let first = file.tree.arguments(call).first().copied();
    first.and_then(|first| number(file.tree.text(first)).filter(|_| file.tree.is(first, Kind::Number)))
        == Some(0.0)
}
