//! Events by words and fields, in one index: a field with its value is hashed into a word nobody writes.
//!
//! Owns: the language of the index. Several conditions are met by walking the lists of their words together, so that a
//! page of what is rare is found as fast as one of what is common.

use belljar_domain::{Timestamp, eye::IndexEntry};
use belljar_ports::{StoreError, lens::EventSearch};

const HOUR: i64 = 3_600_000_000;
const DAY: i64 = 24 * HOUR;
/// Hours, or days, that are looked for one by one; a longer time is looked through instead.
const MOST: i64 = 100;

/// What is written for an event.
pub(super) fn body(entry: &IndexEntry) -> String {
    let mut body = String::with_capacity(entry.words.len() + entry.tags.len() * 17);
    for (name, value) in &entry.tags {
        body.push_str(&tag(name, value));
        body.push(' ');
    }
    body.push_str(&entry.words);
    body
}

fn tag(name: &str, value: &str) -> String {
    let bytes = name.bytes().chain([0]).chain(value.bytes());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("zq{hash:016x}")
}

/// A search in the index's own language; nothing when there is no condition. Words are quoted, so that none is a command.
pub(super) fn query(search: &EventSearch) -> Result<Option<String>, StoreError> {
    let filter = &search.filter;
    let each = [
        ("project", filter.project.as_ref().map(|project| project.as_str().to_owned())),
        ("session", filter.session.clone()),
        ("agent", filter.agent.clone()),
        ("operation", filter.operation.clone()),
        ("sandbox", filter.sandbox.map(|id| id.to_string())),
        ("execution", filter.execution.map(|id| id.to_string())),
        ("run", filter.run.map(|id| id.to_string())),
        ("status", filter.status.map(|status| status.to_string())),
        ("decision", filter.decision.map(|decision| decision.to_string())),
        ("tool", search.tool.clone()),
        ("app", search.app.clone()),
        ("prompt", search.prompt.clone()),
        ("tool_use", search.tool_use_id.clone()),
    ];
    let mut all: Vec<String> =
        each.into_iter().filter_map(|(name, value)| Some(format!("\"{}\"", tag(name, &value?)))).collect();
    if !filter.kinds.is_empty() {
        all.push(any(filter.kinds.iter().map(|kind| tag("kind", kind))));
    }
    all.extend(times(filter.from, filter.until, search.odd_clocks));
    if let Some(text) = &search.text {
        let before = all.len();
        // The index keeps no order of words, so what a word falls apart into is looked for piece by piece.
        for word in text.split_whitespace().take(32) {
            let ending = if word.ends_with('*') { " *" } else { "" };
            let pieces: Vec<&str> =
                word.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty()).collect();
            let last = pieces.len().saturating_sub(1);
            let spelled =
                |(at, piece): (usize, &&str)| format!("\"{piece}\"{}", if at == last { ending } else { "" });
            all.extend(pieces.iter().enumerate().map(spelled));
        }
        if all.len() == before {
            return Err(StoreError::Invalid("there is no word to look for".to_owned()));
        }
    }
    Ok((!all.is_empty()).then(|| all.join(" AND ")))
}

/// The hours or days of a stretch of time, if there are not too many.
fn times(from: Option<Timestamp>, until: Option<Timestamp>, odd_clocks: bool) -> Option<String> {
    let (from, until) = (from?.as_micros(), until?.as_micros());
    if from >= until {
        return None;
    }
    let span = |unit: i64| (from.div_euclid(unit), (until - 1).div_euclid(unit));
    [("hour", HOUR), ("day", DAY)].into_iter().find_map(|(name, unit)| {
        let (first, last) = span(unit);
        let odd = odd_clocks.then(|| tag("clock", "odd"));
        (last - first < MOST)
            .then(|| any((first..=last).map(|number| tag(name, &number.to_string())).chain(odd)))
    })
}

fn any(tags: impl Iterator<Item = String>) -> String {
    let each: Vec<String> = tags.map(|tag| format!("\"{tag}\"")).collect();
    format!("({})", each.join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_never_commands_and_fall_apart_as_in_the_index() {
        let search =
            |text: &str| query(&EventSearch { text: Some(text.to_owned()), ..EventSearch::default() });
        assert_eq!(search("a\"b NEAR(x)").unwrap().unwrap(), r#""a" AND "b" AND "NEAR" AND "x""#);
        assert_eq!(search("no-suc*").unwrap().unwrap(), r#""no" AND "suc" *"#);
        assert!(search(" * \"").is_err());
        assert_eq!(query(&EventSearch::default()).unwrap(), None);
    }

    #[test]
    fn a_time_is_hours_or_days_or_neither() {
        let at = |hours: i64| Some(Timestamp::from_micros(hours * HOUR));
        assert_eq!(times(at(1), at(3), false).unwrap().matches("zq").count(), 2);
        assert_eq!(times(at(0), at(24 * 30), false).unwrap().matches("zq").count(), 30);
        assert_eq!(times(at(0), at(24 * 1000), false), None);
        assert_eq!(times(at(3), at(1), false), None);
        assert_eq!(times(at(3), None, false), None);
    }
}
