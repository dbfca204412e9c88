//! Events told from outside, into those of the ledger. What cannot be meant is named by its path.

use belljar_api as api;
use belljar_domain::{
    Actor, EventId, EventKind, EventStatus, NewEvent, ProjectId, SandboxId, Timestamp, Verdict,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    extract::{parse, parsed},
    problem::{Answer, Failure},
};

/// Milliseconds since 1970 that are certainly no mistake: up to the year 9999.
const LAST_MILLISECOND: i64 = 253_402_300_799_999;
const LONGEST_KIND: usize = 64;

/// One event, several, or several under `events`; each in our own form or the older one.
pub(crate) fn told(body: &[u8], now: Timestamp) -> Answer<Vec<NewEvent>> {
    let Some(events) = plainly(body) else { return said(parse(body)?, now) };
    let place = |at: usize| if is_list(body) { format!("[{at}].") } else { String::new() };
    events.into_iter().enumerate().map(|(at, event)| own(event, now, &place(at))).collect()
}

/// Events that are in our own form and right. Almost all are; for the others, where they are wrong has to be found out.
fn plainly(body: &[u8]) -> Option<Vec<api::ToldEvent>> {
    let events: Vec<api::ToldEvent> = if is_list(body) {
        serde_json::from_slice(body).ok()?
    } else {
        vec![serde_json::from_slice(body).ok()?]
    };
    let is_other = |event: &api::ToldEvent| {
        event.rest.contains_key("operation_type") || event.rest.contains_key("events")
    };
    (!events.iter().any(is_other)).then_some(events)
}

fn is_list(body: &[u8]) -> bool {
    body.trim_ascii_start().first() == Some(&b'[')
}

fn said(body: Value, now: Timestamp) -> Answer<Vec<NewEvent>> {
    let each = |items: Vec<Value>, at: &str| {
        let one = |(index, item)| one(item, now, &format!("{at}[{index}]."));
        items.into_iter().enumerate().map(one).collect()
    };
    match body {
        Value::Array(items) => each(items, ""),
        Value::Object(mut fields) if matches!(fields.get("events"), Some(Value::Array(_))) => {
            match fields.remove("events") {
                Some(Value::Array(items)) => each(items, "events"),
                _ => Ok(Vec::new()),
            }
        }
        Value::Object(_) => Ok(vec![one(body, now, "")?]),
        _ => Err(Failure::invalid("the body must be an event, a list of events, or `{\"events\": [...]}`")),
    }
}

fn one(item: Value, now: Timestamp, at: &str) -> Answer<NewEvent> {
    if item.get("operation_type").is_some() {
        visible(read(item, at)?, now, at)
    } else {
        own(read(item, at)?, now, at)
    }
}

fn read<T: DeserializeOwned>(item: Value, at: &str) -> Answer<T> {
    serde_path_to_error::deserialize(item).map_err(|error| {
        let (path, said) = (error.path().to_string(), error.inner().to_string());
        let place = if matches!(path.as_str(), "." | "?") { at.to_owned() } else { format!("{at}{path}.") };
        // What is missing has no place of its own to be wrong at.
        match said.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
            Some(field) => Failure::field(format!("{place}{field}"), "is missing"),
            None => Failure::field(place.trim_end_matches('.'), said),
        }
    })
}

fn own(event: api::ToldEvent, now: Timestamp, at: &str) -> Answer<NewEvent> {
    let place = |field: &str| format!("{at}{field}");
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if event.kind.is_empty() || event.kind.len() > LONGEST_KIND || !event.kind.bytes().all(plain) {
        let said = format!("must be dotted words of at most {LONGEST_KIND} letters, such as `tool.finished`");
        return Err(Failure::field(place("kind"), said));
    }
    let mut told = begin(event.id.as_deref(), event.time.as_ref(), now, at, EventKind::from(event.kind))?;
    told.actor = Actor { id: event.agent_id, name: event.agent_name, role: event.agent_role };
    told.session = event.session_id;
    told.sandbox = parsed::<SandboxId>(&place("sandbox_id"), event.sandbox_id.as_deref())?;
    told.tool = event.tool;
    told.target = event.target;
    told.target_type = event.target_type;
    told.decision = parsed::<Verdict>(&place("decision"), event.decision.as_deref())?;
    told.reason = event.reason;
    told.status = parsed::<EventStatus>(&place("status"), event.status.as_deref())?;
    told.error = event.error;
    told.cost_micros = event.cost_usd.map(|usd| micros(usd, &place("cost_usd"))).transpose()?;
    told.tokens = sane(event.tokens, NewEvent::MOST_TOKENS, &place("tokens"))?;
    told.duration_ms = sane(event.duration_ms, NewEvent::MOST_MILLIS, &place("duration_ms"))?;
    told.payload = with_rest(event.payload, event.rest.into_iter().collect());
    Ok(told)
}

/// That something was allowed does not say that it succeeded: the older form knows only the first.
fn visible(event: api::VisibilityEvent, now: Timestamp, at: &str) -> Answer<NewEvent> {
    let place = |field: &str| format!("{at}{field}");
    let kind = if event.operation_type == "tool_use" { "tool.finished" } else { "agent.operation" };
    let mut told = begin(event.id.as_deref(), event.timestamp.as_ref(), now, at, EventKind::from(kind))?;
    let text = |field: &str| event.context.get(field).and_then(Value::as_str).map(str::to_owned);
    told.actor = Actor { id: event.agent_id, name: event.agent_name, role: event.agent_role };
    told.session = text("session_id");
    told.tool = text("tool_name");
    told.duration_ms = event.context.get("execution_time_ms").and_then(Value::as_f64).and_then(whole);
    told.operation = Some(event.operation_type);
    told.target = event.target_resource;
    told.target_type = event.target_type;
    told.decision = match event.rbac_decision.as_deref() {
        None => None,
        Some("allowed" | "allow") => Some(Verdict::Allow),
        Some("denied" | "deny") => Some(Verdict::Deny),
        Some(_) => return Err(Failure::field(place("rbac_decision"), "must be `allowed` or `denied`")),
    };
    told.status = (told.decision == Some(Verdict::Deny)).then_some(EventStatus::Denied);
    told.reason = event.rbac_reason;
    told.cost_micros = event.cost_usd.map(|usd| micros(usd, &place("cost_usd"))).transpose()?;
    told.tokens = sane(event.tokens_used, NewEvent::MOST_TOKENS, &place("tokens_used"))?;
    let mut payload = Map::new();
    payload.insert("detail".to_owned(), json!(event.operation_detail));
    payload.insert("context".to_owned(), event.context);
    told.payload = with_rest(Value::Object(payload), event.rest.into_iter().collect());
    Ok(told)
}

fn begin(
    id: Option<&str>,
    time: Option<&Value>,
    now: Timestamp,
    at: &str,
    kind: EventKind,
) -> Answer<NewEvent> {
    let id = match id {
        None => EventId::from_uuid(Uuid::now_v7()),
        // Others number their events by plain UUIDs.
        Some(id) => match id.parse::<Uuid>() {
            Ok(plain) => EventId::from_uuid(plain),
            Err(_) => {
                parsed::<EventId>(&format!("{at}id"), Some(id))?.unwrap_or(EventId::from_uuid(Uuid::now_v7()))
            }
        },
    };
    let time = match time {
        None | Some(Value::Null) => now,
        Some(Value::String(text)) => parsed::<Timestamp>(&format!("{at}time"), Some(text))?.unwrap_or(now),
        Some(Value::Number(number)) => number
            .as_i64()
            .filter(|millis| (0..=LAST_MILLISECOND).contains(millis))
            .map(|millis| if millis == 0 { now } else { Timestamp::from_micros(millis * 1000) })
            .ok_or_else(|| Failure::field(format!("{at}time"), "must be milliseconds since 1970"))?,
        Some(_) => {
            let said = "must be a time as in RFC 3339, or milliseconds since 1970";
            return Err(Failure::field(format!("{at}time"), said));
        }
    };
    // Whose it is is not theirs to say.
    Ok(NewEvent::new(id, time, ProjectId::default(), kind))
}

fn with_rest(payload: Value, rest: Map<String, Value>) -> Value {
    if rest.is_empty() {
        return payload;
    }
    match payload {
        Value::Null => json!({ "rest": rest }),
        Value::Object(mut fields) => {
            fields.entry("rest").or_insert(Value::Object(rest));
            Value::Object(fields)
        }
        other => json!({ "value": other, "rest": rest }),
    }
}

/// Dollars as millionths of one.
fn micros(usd: f64, field: &str) -> Answer<u64> {
    let most = NewEvent::MOST_MICROS / 1_000_000;
    whole(usd * 1e6)
        .filter(|micros| *micros <= NewEvent::MOST_MICROS)
        .ok_or_else(|| Failure::field(field, format!("must be a sum of dollars, from 0 to {most}")))
}

/// A number somebody can mean.
fn sane(number: Option<u64>, most: u64, field: &str) -> Answer<Option<u64>> {
    let is_sane = number.is_none_or(|number| number <= most);
    is_sane.then_some(number).ok_or_else(|| Failure::field(field, format!("must be at most {most}")))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
fn whole(number: f64) -> Option<u64> {
    (number.is_finite() && (0.0..=9e15).contains(&number)).then(|| number.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_micros(5)
    }

    #[test]
    fn the_older_form_keeps_decision_and_outcome_apart() {
        let body = json!({
            "agent_id": "a1", "operation_type": "tool_use", "operation_detail": "Tool: Write",
            "target_resource": "/x", "target_type": "file", "rbac_decision": "allowed", "cost_usd": 0.0125,
            "tokens_used": 7, "context": {"session_id": "s", "tool_name": "Write", "execution_time_ms": 12.4},
        });
        let told = told(body.to_string().as_bytes(), now()).unwrap().remove(0);
        assert_eq!(
            (told.kind.as_str(), told.decision, told.status),
            ("tool.finished", Some(Verdict::Allow), None)
        );
        assert_eq!((told.cost_micros, told.tokens, told.duration_ms), (Some(12_500), Some(7), Some(12)));
        assert_eq!((told.session.as_deref(), told.tool.as_deref()), (Some("s"), Some("Write")));
    }

    #[test]
    fn both_spellings_and_unknown_fields_are_taken() {
        let body = json!([
            {"type": "tool.finished", "sessionId": "s", "timestamp": 1_700_000_000_000_i64, "colour": "red"},
            {"kind": "tool.finished", "session_id": "s", "time": "2023-11-14T22:13:20Z", "payload": {"a": 1}},
        ]);
        let told = told(body.to_string().as_bytes(), now()).unwrap();
        assert_eq!(told[0].time, told[1].time);
        assert_eq!(told[0].session, told[1].session);
        assert_eq!(told[0].payload, json!({"rest": {"colour": "red"}}));
        assert_eq!(told[1].payload, json!({"a": 1}));
    }

    #[test]
    fn what_is_wrong_is_named_by_its_path() {
        for (body, path) in [
            (json!({"events": [{"kind": "a.b"}, {"kind": 7}]}), "events[1].kind"),
            (json!([{"kind": "a.b", "time": "noon"}]), "[0].time"),
            (json!({"kind": "a b"}), "kind"),
            (json!({"kind": "a.b", "cost_usd": -1}), "cost_usd"),
            (json!({"operation_type": "x", "rbac_decision": "maybe"}), "rbac_decision"),
            (json!({"kind": "a.b", "id": "evt_1"}), "id"),
            (json!({}), "`kind`: is missing"),
            (json!({"events": [{"kind": "a.b"}, {}]}), "`events[1].kind`: is missing"),
            (json!({"kind": "a.b", "tokens": u64::MAX}), "tokens"),
            (json!({"kind": "a.b", "duration_ms": u64::MAX}), "duration_ms"),
            (json!({"kind": "a.b", "cost_usd": 1e9}), "cost_usd"),
            (json!({"operation_type": "x", "tokens_used": u64::MAX}), "tokens_used"),
        ] {
            let failure = told(body.to_string().as_bytes(), now()).unwrap_err();
            assert!(failure.detail().contains(path), "{body}: {}", failure.detail());
        }
    }
}
