//! A person's answer to an agent that asks: recorded, then delivered, and the delivery recorded as well.

use std::{sync::Arc, time::SystemTime};

use belljar_domain::{Event, EventId, EventKind, EventStatus, NewEvent, Principal, ProjectId, Timestamp};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{dial::Agent, events::shown, ledger};
use crate::{app::App, problem::Answer};

/// The kind of an answer, and of what became of it.
pub(super) const ANSWERED: &str = "permission.answered";
const DELIVERED: &str = "permission.delivered";

/// Takes an answer. The asking agent hears it as it was given, with the time it was given at; the ledger keeps it
/// without the copy of the event that comes with it.
pub(super) async fn take(
    app: &App,
    who: &Arc<Principal>,
    event: &Event,
    mut answer: Map<String, Value>,
) -> Answer<Value> {
    let now = Timestamp::from(SystemTime::now());
    answer.insert("respondedAt".to_owned(), json!(now.as_micros() / 1000));
    let said = Value::Object(answer.clone()).to_string();
    answer.remove("hookEvent");
    let payload = json!({"to": event.seq, "response": answer, "by": who.name});
    record(app, who, about(event, ANSWERED, now, payload)).await?;
    deliver(app, who, event, said).await?;
    let event = event.clone();
    let whole = app.ask(who, move |service, who| {
        ledger::whole(service, who, &event, Timestamp::from(SystemTime::now()))
    });
    Ok(whole.await?.unwrap_or_default())
}

/// Calls the agent, if it said where it waits. That nobody was there is recorded and no failure: the answer stands.
async fn deliver(app: &App, who: &Arc<Principal>, event: &Event, said: String) -> Answer<()> {
    let fields = shown(event).unwrap_or_default();
    let url = fields.get("humanInTheLoop").and_then(|asked| asked.get("responseWebSocketUrl"));
    let Some(url) = url.and_then(Value::as_str) else { return Ok(()) };
    let told = match Agent::at(url, app.port) {
        Ok(agent) => agent.tell(app, event.what.sandbox, said).await,
        Err(why) => Err(why.to_owned()),
    };
    let payload = json!({"to": event.seq, "url": url});
    let mut news = about(event, DELIVERED, Timestamp::from(SystemTime::now()), payload);
    news.status = Some(if told.is_ok() { EventStatus::Success } else { EventStatus::Failure });
    news.error = told.err();
    record(app, who, news).await
}

fn about(event: &Event, kind: &str, now: Timestamp, payload: Value) -> NewEvent {
    let id = EventId::from_uuid(Uuid::now_v7());
    NewEvent {
        actor: event.what.actor.clone(),
        session: event.what.session.clone(),
        sandbox: event.what.sandbox,
        execution: event.what.execution,
        payload,
        ..NewEvent::new(id, now, ProjectId::default(), EventKind::from(kind))
    }
}

async fn record(app: &App, who: &Arc<Principal>, event: NewEvent) -> Answer<()> {
    app.ingest(who, vec![event]).await.map(drop)
}
