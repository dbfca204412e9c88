//! Calls that pass bare literals, and what they call.

use std::collections::{BTreeMap, HashMap};

use super::role;
use crate::{
    catalogue::Rule,
    facts::{Argument, COORDINATES, Call, Facts, Maker},
    finding::Draft,
};

/// A parameter of a function: its file, its line, what it is called by, and which one.
type Place<'m> = (&'m str, u32, &'m str, usize);

pub(super) fn find(all: &[&Facts]) -> Vec<Draft> {
    let mut makers: HashMap<&str, Vec<&Maker>> = HashMap::new();
    for maker in all.iter().flat_map(|facts| &facts.makers) {
        makers.entry(maker.key.as_str()).or_default().push(maker);
    }
    let mut found = Vec::new();
    let mut passed: BTreeMap<Place<'_>, Vec<(&Call, Argument)>> = BTreeMap::new();
    for call in all.iter().flat_map(|facts| &facts.calls) {
        let Some(maker) = reached(&makers, call) else { continue };
        found.extend(swappable(call, maker));
        for (place, argument) in
            call.arguments.iter().copied().enumerate().filter(|(_, argument)| *argument != Argument::Other)
        {
            let is_open = maker.params.get(place).is_some_and(|(_, ty)| ty.is_none());
            if is_open && maker.at.file.ends_with(".py") {
                let key = (maker.at.file.as_str(), maker.at.line, maker.key.as_str(), place);
                passed.entry(key).or_default().push((call, argument));
            }
        }
    }
    found.extend(passed.iter().filter_map(|(key, calls)| mixed(*key, calls)));
    found
}

/// What a call reaches: the one of its own file, or the only one there is.
fn reached<'m>(makers: &HashMap<&str, Vec<&'m Maker>>, call: &Call) -> Option<&'m Maker> {
    let named = makers.get(call.key.as_str())?;
    let mut here = named.iter().filter(|maker| maker.at.file == call.at.file);
    match (here.next(), here.next(), named.as_slice()) {
        (Some(only), None, _) => Some(only),
        (None, _, [only]) => Some(only),
        _ => None,
    }
}

/// Three literals of one sort in a row, into three parameters of one type.
fn swappable(call: &Call, maker: &Maker) -> Option<Draft> {
    let alike = |one: usize, two: usize| {
        let (a, b) = (call.arguments.get(one), call.arguments.get(two));
        let types = (maker.params.get(one), maker.params.get(two));
        let is_one_type = matches!(types, (Some((_, a)), Some((_, b))) if a == b);
        a == b && is_one_type && a.is_some_and(|sort| *sort != Argument::Other)
    };
    let mut best = (0, 0);
    let mut start = 0;
    for at in 0..call.arguments.len() {
        if at > start && !alike(at - 1, at) {
            start = at;
        }
        let is_literal =
            call.arguments.get(at).is_some_and(|sort| *sort != Argument::Other) && at < maker.params.len();
        if is_literal && at + 1 - start > best.1 {
            best = (start, at + 1 - start);
        }
    }
    let (start, length) = best;
    if length < 3 {
        return None;
    }
    let params: Vec<&(String, Option<String>)> = maker.params.iter().skip(start).take(length).collect();
    let is_space = params.iter().all(|(name, _)| COORDINATES.contains(&name.as_str())) && length < 4;
    if is_space {
        return None;
    }
    let is_typed = params.iter().all(|(_, ty)| ty.is_some());
    let message = format!("`{}`: {length} values of one type in a row", call.text);
    Some(
        Draft::new(Rule::SwappableCall, message)
            .sure(if is_typed { 1000 } else { 600 })
            .about(format!("swap {length}"))
            .element(role(&call.at, "a swap here goes unnoticed"))
            .element(role(&maker.at, "takes them by place")),
    )
}

/// Different sorts of literals at one place.
fn mixed((_, _, key, place): Place<'_>, calls: &[(&Call, Argument)]) -> Option<Draft> {
    let (first, sort) = calls.first()?;
    let (other, _) = calls.iter().find(|(_, other)| other != sort)?;
    let message = format!("argument {} of `{key}` is sometimes one type, sometimes another", place + 1);
    Some(
        Draft::new(Rule::MixedArguments, message)
            .hint()
            .about(format!("mixed {place}"))
            .element(role(&first.at, "one type"))
            .element(role(&other.at, "another type")),
    )
}
