//! Records told apart by places, and records whose keys several files spell out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::role;
use crate::{
    catalogue::Rule,
    facts::{Access, Facts, Reading, RecordKeys, Returner},
    finding::Draft,
    words::words,
};

pub(super) fn find(all: &[&Facts]) -> Vec<Draft> {
    let mut found = positional(all);
    found.extend(shapes(all));
    found
}

fn positional(all: &[&Facts]) -> Vec<Draft> {
    let mut by_key: HashMap<&str, Vec<&Reading>> = HashMap::new();
    let mut by_file: HashMap<&str, Vec<&Reading>> = HashMap::new();
    for reading in all.iter().flat_map(|facts| &facts.readings) {
        match &reading.key {
            Some(key) => by_key.entry(key.as_str()).or_default().push(reading),
            None => by_file.entry(reading.at.file.as_str()).or_default().push(reading),
        }
    }
    let mut names: HashMap<&str, usize> = HashMap::new();
    for returner in all.iter().flat_map(|facts| &facts.returners) {
        *names.entry(returner.name.as_str()).or_default() += 1;
    }
    let mut found = Vec::new();
    for returner in all.iter().flat_map(|facts| &facts.returners) {
        let is_only = names.get(returner.name.as_str()) == Some(&1);
        let reached = by_key.get(returner.key.as_str()).into_iter().flatten();
        let loose = format!("?.{}", returner.name);
        let loosely = by_key.get(loose.as_str()).into_iter().flatten().filter(|_| is_only);
        let near = by_file
            .get(returner.at.file.as_str())
            .into_iter()
            .flatten()
            .filter(|reading| is_of(reading, returner));
        let used: Vec<&&Reading> =
            reached.chain(loosely).chain(near).filter(|reading| relies(reading, returner)).collect();
        let Some(first) = used.first() else { continue };
        let message = match first.access {
            Access::At(place) => format!(
                "`{}` returns {} things by place, and somebody reads number {place}",
                returner.name, returner.length
            ),
            Access::Apart(_) => format!(
                "`{}` returns {} things by place, and somebody takes them apart",
                returner.name, returner.length
            ),
        };
        let readers = used.iter().take(6).map(|reading| role(&reading.at, "read by place"));
        found.push(
            Draft::new(Rule::PositionalRecord, message)
                .about(format!("record {}", returner.length))
                .element(role(&returner.at, "made here"))
                .elements(readers),
        );
    }
    found
}

/// Whether a variable is what a function returns, by their names: `user` of `get_user`.
fn is_of(reading: &Reading, returner: &Returner) -> bool {
    let of = words(&returner.name);
    let named = words(&reading.name);
    !named.is_empty() && named.iter().all(|word| word.len() > 2 && of.contains(word))
}

/// Two values are a value and its error, or an index and its item; more are a record.
fn relies(reading: &Reading, returner: &Returner) -> bool {
    match reading.access {
        Access::At(place) => {
            let is_inside = usize::try_from(place).is_ok_and(|place| place < returner.length);
            is_inside && (returner.length > 2 || !returner.is_tuple)
        }
        Access::Apart(names) => returner.length > 2 && names > 2 && names <= returner.length,
    }
}

fn shapes(all: &[&Facts]) -> Vec<Draft> {
    let mut by_name: BTreeMap<&str, Vec<&RecordKeys>> = BTreeMap::new();
    for record in all.iter().flat_map(|facts| &facts.records) {
        by_name.entry(record.name.as_str()).or_default().push(record);
    }
    let mut found = Vec::new();
    for (name, records) in by_name {
        let Some((first, rest)) = records.split_first() else { continue };
        let shared = |other: &&&RecordKeys| {
            other.keys.intersection(&first.keys).count() >= 3 && other.at.file != first.at.file
        };
        let others: Vec<_> = rest.iter().filter(shared).collect();
        let Some(second) = others.first() else { continue };
        let keys: BTreeSet<&String> = first.keys.intersection(&second.keys).collect();
        let listed: Vec<String> = keys.iter().take(3).map(|key| format!("\"{key}\"")).collect();
        let message =
            format!("`{name}` is read by the keys {} in {} files", listed.join(", "), others.len() + 1);
        let places = others.iter().map(|record| role(&record.at, "and here"));
        let draft = Draft::new(Rule::RecordShape, message).hint().about(format!("keys {}", listed.join(",")));
        found.push(draft.element(role(&first.at, "keys spelled out here")).elements(places));
    }
    found
}
