//! The ledger, asked in the protocol's terms.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
};

use belljar_domain::{Digest, Event, Principal, Timestamp};
use belljar_engine::service::{Service, ServiceError};
use belljar_ports::store::{EventFilter, PAGE_LIMIT};
use serde_json::{Map, Value, json};

use super::{answers::ANSWERED, events::shown};

/// Events hooks tell of; others are told apart by what is in them.
const FAMILIES: [&str; 8] = ["session", "prompt", "tool", "permission", "agent", "turn", "context", "hook"];
/// The most events that are looked through, whatever is asked for.
const MOST: usize = 10_000;
/// The most bytes of conversations in one answer.
const CHATS: u64 = 32 << 20;

/// Every event of a hook.
pub(super) fn filter() -> EventFilter {
    EventFilter { kinds: FAMILIES.map(str::to_owned).to_vec(), ..EventFilter::default() }
}

/// The last so many events, oldest first.
pub(super) fn recent(
    service: &Service,
    who: &Principal,
    count: usize,
    now: Timestamp,
) -> Result<Vec<Value>, ServiceError> {
    let mut found = Vec::new();
    scan(service, who, |event| {
        found.extend(shown(event).map(|fields| (event.clone(), fields)));
        found.len() < count.min(MOST)
    })?;
    found.reverse();
    found.sort_by_key(|(event, _)| event.what.time);
    let asked = found.iter().any(|(_, fields)| fields.contains_key("humanInTheLoop"));
    let answers = if asked { answers(service, who)? } else { BTreeMap::new() };
    let mut room = CHATS;
    let whole = found.into_iter().map(|(event, fields)| {
        let fields = with_status(fields, answers.get(&event.seq), now);
        Value::Object(with_chat(service, fields, &mut room))
    });
    Ok(whole.collect())
}

/// One event by its number.
pub(super) fn one(service: &Service, who: &Principal, seq: u64) -> Result<Option<Event>, ServiceError> {
    let Some(before) = seq.checked_sub(1) else { return Ok(None) };
    let found = service.events(who, filter(), before, 1)?;
    Ok(found.into_iter().find(|event| event.seq == seq))
}

/// One event in the protocol's form, whole.
pub(super) fn whole(
    service: &Service,
    who: &Principal,
    event: &Event,
    now: Timestamp,
) -> Result<Option<Value>, ServiceError> {
    let Some(fields) = shown(event) else { return Ok(None) };
    let asks = fields.contains_key("humanInTheLoop");
    let answers = if asks { answers(service, who)? } else { BTreeMap::new() };
    let fields = with_status(fields, answers.get(&event.seq), now);
    Ok(Some(Value::Object(with_chat(service, fields, &mut CHATS.clone()))))
}

/// What there is to choose from.
pub(super) fn options(service: &Service, who: &Principal) -> Result<Value, ServiceError> {
    const SESSIONS: usize = 300;
    let (mut apps, mut sessions, mut kinds) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut seen = 0;
    scan(service, who, |event| {
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        if let Some(fields) = shown(event) {
            apps.extend(text(fields.get("source_app")));
            sessions.extend(text(fields.get("session_id")));
            kinds.extend(text(fields.get("hook_event_type")));
        }
        seen += 1;
        seen < MOST
    })?;
    let sessions: Vec<_> = sessions.into_iter().rev().take(SESSIONS).collect();
    Ok(json!({"source_apps": apps, "session_ids": sessions, "hook_event_types": kinds}))
}

/// Goes through events, newest first, until it is told to stop or has seen enough.
fn scan(
    service: &Service,
    who: &Principal,
    mut look: impl FnMut(&Event) -> bool,
) -> Result<(), ServiceError> {
    let mut before = u64::MAX;
    for _ in 0..MOST.div_ceil(PAGE_LIMIT) {
        let page = service.events_before(who, filter(), before, PAGE_LIMIT)?;
        if !page.iter().all(&mut look) || page.len() < PAGE_LIMIT {
            break;
        }
        before = page.last().map_or(0, |event| event.seq);
    }
    Ok(())
}

/// The last answer to each event that got one.
fn answers(service: &Service, who: &Principal) -> Result<BTreeMap<u64, Value>, ServiceError> {
    let filter = EventFilter { kinds: vec![ANSWERED.to_owned()], ..EventFilter::default() };
    let given = service.events_before(who, filter, u64::MAX, PAGE_LIMIT)?;
    // Newest first: what was said last stays.
    let pairs = given.into_iter().rev().filter_map(|event| {
        let to = event.what.payload.get("to")?.as_u64()?;
        Some((to, event.what.payload.get("response")?.clone()))
    });
    Ok(pairs.collect())
}

fn with_status(mut fields: Map<String, Value>, answer: Option<&Value>, now: Timestamp) -> Map<String, Value> {
    let status = match (answer, fields.get("humanInTheLoop")) {
        (Some(answer), _) => {
            json!({"status": "responded", "respondedAt": answer.get("respondedAt"), "response": answer})
        }
        (None, Some(asked)) if is_late(asked, fields.get("timestamp"), now) => json!({"status": "timeout"}),
        (None, Some(_)) => json!({"status": "pending"}),
        (None, None) => return fields,
    };
    fields.insert("humanInTheLoopStatus".to_owned(), status);
    fields
}

fn is_late(asked: &Value, timestamp: Option<&Value>, now: Timestamp) -> bool {
    let seconds = asked.get("timeout").and_then(Value::as_i64).unwrap_or(300).max(0);
    let began = timestamp.and_then(Value::as_i64).unwrap_or_default();
    began.saturating_add(seconds.saturating_mul(1000)) < now.as_micros() / 1000
}

/// Puts the conversation back where it was, as far as there is room.
fn with_chat(service: &Service, mut fields: Map<String, Value>, room: &mut u64) -> Map<String, Value> {
    let digest: Option<Digest> = fields
        .get("chat")
        .and_then(|chat| chat.get("artifact"))
        .and_then(Value::as_str)
        .and_then(|digest| digest.parse().ok());
    let Some(digest) = digest else { return fields };
    let mut json = Vec::new();
    let read = service
        .store()
        .open_artifact(digest, 0)
        .ok()
        .and_then(|content| content.take(*room + 1).read_to_end(&mut json).ok());
    let bytes = read.and_then(|bytes| u64::try_from(bytes).ok()).filter(|bytes| bytes <= room);
    let chat = bytes.and_then(|_| serde_json::from_slice::<Value>(&json).ok());
    *room -= bytes.unwrap_or_default();
    match chat {
        Some(chat) => fields.insert("chat".to_owned(), chat),
        None => fields.remove("chat"),
    };
    fields
}
