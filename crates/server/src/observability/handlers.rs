//! The protocol's routes, each also below `/t/TOKEN`, for programs that know no keys.

use std::{sync::Arc, time::SystemTime};

use axum::{
    body::{Body, to_bytes},
    extract::{
        RawPathParams, State,
        ws::{WebSocketUpgrade, rejection::WebSocketUpgradeRejection},
    },
    http::{StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use belljar_domain::{EventId, Principal, Timestamp};
use belljar_engine::service::Service;
use belljar_ports::store::NewArtifact;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{answers, cors, events::Told, ledger, stream};
use crate::{
    answer::Json,
    app::App,
    extract::{Caller, Teller},
    problem::{Answer, Failure},
    wire,
};

/// A whole conversation may come with an event.
const MAX_EVENT: usize = 64 << 20;
const MAX_ANSWER: usize = 4 << 20;
/// How many recent events are answered with, unless asked otherwise.
const RECENT: usize = 300;

/// Takes one event. The answer is the event as it was told, with its number and time. With an `id` it is recorded once,
/// however often it is told; what was there already has no number in the answer.
#[utoipa::path(post, path = "/events", tag = "observability",
    params(("id" = Option<String>, Query, pattern = "^evt_[0-9a-f]{32}$")), request_body(content = Object),
    responses((status = 200, body = Object),
        (status = 400, content((Object = "application/json"), (belljar_api::Problem = "application/problem+json")))))]
pub(crate) async fn told(
    State(app): State<App>,
    Caller(who): Caller,
    teller: Teller,
    uri: Uri,
    body: Body,
) -> Answer<Response> {
    let id = own_id(&uri)?;
    let Some(body) = json_of(body, MAX_EVENT).await else { return Ok(wrong("Invalid request")) };
    let Some(told) = Told::read(body.clone()) else { return Ok(wrong("Missing required fields")) };
    let now = Timestamp::from(SystemTime::now());
    let (millis, asks) = (told.millis(now), told.asks());
    let mut told = told;
    let chat = match told.take_chat() {
        None => None,
        Some(chat) => {
            let items = chat.as_array().map_or(1, Vec::len);
            let keep =
                move |service: &Service, who: &Principal| service.keep_clean(&conversation(who, now), chat);
            let kept = app.ask(&who, keep).await?;
            Some(json!({"artifact": kept.digest.to_string(), "items": items}))
        }
    };
    let mut event = told.event(&|text| app.service.without_secrets(text), id, now, chat);
    wire::known(&mut event, &teller);
    let seq = app.ingest(&who, vec![event]).await?.last;
    // To whom told it, it is shown as it was told.
    let Value::Object(mut shown) = body else { return Ok(wrong("Missing required fields")) };
    shown.insert("id".to_owned(), json!(seq));
    shown.insert("timestamp".to_owned(), json!(millis));
    if asks {
        shown.insert("humanInTheLoopStatus".to_owned(), json!({"status": "pending"}));
    }
    Ok(Json(shown).into_response())
}

/// The id an event is told under, else a new one.
fn own_id(uri: &Uri) -> Answer<EventId> {
    let query = uri.query().unwrap_or_default();
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "id");
    asked.map_or(Ok(EventId::from_uuid(Uuid::now_v7())), |(_, id)| {
        id.parse().map_err(|_wrong| Failure::field("id", "must be an event's id, such as evt_ and 32 digits"))
    })
}

fn conversation(who: &Principal, now: Timestamp) -> NewArtifact {
    NewArtifact {
        project: who.project.clone(),
        sandbox: None,
        execution: None,
        run: None,
        name: "chat.json".to_owned(),
        media_type: "application/json".to_owned(),
        created: now,
    }
}

/// The newest events hooks told of, oldest first; `limit` says how many, -1 as many as are shown at all.
#[utoipa::path(get, path = "/events/recent", tag = "observability",
    params(("limit" = Option<i64>, Query)), responses((status = 200, body = Vec<Object>)))]
pub(crate) async fn recent(
    State(app): State<App>,
    Caller(who): Caller,
    uri: Uri,
) -> Answer<Json<Vec<Value>>> {
    let query = uri.query().unwrap_or_default();
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "limit");
    // What is no number gets what is usual.
    let asked = asked.and_then(|(_, value)| value.parse::<i64>().ok());
    let count = match asked {
        Some(number) if number < 0 => usize::MAX,
        Some(number) => usize::try_from(number).unwrap_or(RECENT),
        None => RECENT,
    };
    let found = app.ask(&who, move |service, who| match count {
        0 => Ok(Vec::new()),
        count => ledger::recent(service, who, count, Timestamp::from(SystemTime::now())),
    });
    Ok(Json(found.await?))
}

/// The names, sessions and kinds there are, among the newest 10,000 events.
#[utoipa::path(get, path = "/events/filter-options", tag = "observability", responses((status = 200, body = Object)))]
pub(crate) async fn options(State(app): State<App>, Caller(who): Caller) -> Answer<Json<Value>> {
    Ok(Json(app.ask(&who, ledger::options).await?))
}

/// Answers an agent that asks. It is told so where it waits, on its own loopback.
#[utoipa::path(post, path = "/events/{seq}/respond", tag = "observability",
    params(("seq" = String, Path)), request_body(content = Object),
    responses((status = 200, body = Object), (status = 400, body = Object), (status = 404, body = Object)))]
pub(crate) async fn respond(
    State(app): State<App>,
    Caller(who): Caller,
    params: RawPathParams,
    body: Body,
) -> Answer<Response> {
    let number =
        params.iter().find(|(name, _)| *name == "seq").and_then(|(_, text)| text.parse::<u64>().ok());
    let Some(Value::Object(answer)) = json_of(body, MAX_ANSWER).await else {
        return Ok(wrong("Invalid request"));
    };
    let found = match number {
        Some(seq) => app.ask(&who, move |service, who| ledger::one(service, who, seq)).await?,
        None => None,
    };
    match found {
        Some(event) => Ok(Json(answers::take(&app, &who, &event, answer).await?).into_response()),
        None => Ok((StatusCode::NOT_FOUND, Json(json!({"error": "Event not found"}))).into_response()),
    }
}

/// The events as they come, over WebSocket: first what happened lately, then one frame for each.
#[utoipa::path(get, path = "/stream", tag = "observability",
    responses((status = 101, description = "Text frames are JSON: `initial` with a list, then `event`."),
        (status = 200, body = String, content_type = "text/plain; charset=utf-8")))]
pub(crate) async fn socket(
    State(app): State<App>,
    Caller(who): Caller,
    asked: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Answer<Response> {
    let Ok(asked) = asked else { return Ok(cors::greeting()) };
    let client = app.clients.enter()?;
    let who: Arc<Principal> = who;
    Ok(asked.on_upgrade(move |socket| stream::serve(socket, app, who, client)))
}

/// Whatever else is asked below a token is answered alike.
#[utoipa::path(get, path = "/t/{token}/{rest}", tag = "observability",
    params(("token" = String, Path), ("rest" = String, Path)),
    responses((status = 200, body = String, content_type = "text/plain; charset=utf-8")))]
pub(crate) async fn anything(Caller(_who): Caller) -> Response {
    cors::greeting()
}

pub(super) async fn json_of(body: Body, limit: usize) -> Option<Value> {
    let bytes = to_bytes(body, limit).await.ok()?;
    serde_json::from_slice(&bytes).ok()
}

pub(super) fn wrong(why: &str) -> Response {
    (StatusCode::BAD_REQUEST, Json(json!({ "error": why }))).into_response()
}

/// The same routes below a token, for the document.
macro_rules! below_token {
    ($($(#[$doc:meta])* $name:ident = $handler:path, ($($argument:ident: $kind:ty),*) -> $answer:ty;)+) => {
        $($(#[$doc])*
        pub(crate) async fn $name($($argument: $kind),*) -> $answer { $handler($($argument),*).await })+
    };
}

type Asked = Result<WebSocketUpgrade, WebSocketUpgradeRejection>;

below_token! {
    /// As `/events`.
    #[utoipa::path(post, path = "/t/{token}/events", tag = "observability", params(("token" = String, Path)),
        request_body(content = Object), responses((status = 200, body = Object),
            (status = 400, content((Object = "application/json"), (belljar_api::Problem = "application/problem+json")))))]
    told_below = told, (app: State<App>, who: Caller, teller: Teller, uri: Uri, body: Body) -> Answer<Response>;
    /// As `/events/recent`.
    #[utoipa::path(get, path = "/t/{token}/events/recent", tag = "observability",
        params(("token" = String, Path), ("limit" = Option<i64>, Query)), responses((status = 200, body = Vec<Object>)))]
    recent_below = recent, (app: State<App>, who: Caller, uri: Uri) -> Answer<Json<Vec<Value>>>;
    /// As `/events/filter-options`.
    #[utoipa::path(get, path = "/t/{token}/events/filter-options", tag = "observability",
        params(("token" = String, Path)), responses((status = 200, body = Object)))]
    options_below = options, (app: State<App>, who: Caller) -> Answer<Json<Value>>;
    /// As `/events/{seq}/respond`.
    #[utoipa::path(post, path = "/t/{token}/events/{seq}/respond", tag = "observability",
        params(("token" = String, Path), ("seq" = String, Path)), request_body(content = Object),
        responses((status = 200, body = Object), (status = 400, body = Object), (status = 404, body = Object)))]
    respond_below = respond, (app: State<App>, who: Caller, params: RawPathParams, body: Body) -> Answer<Response>;
    /// As `/stream`.
    #[utoipa::path(get, path = "/t/{token}/stream", tag = "observability", params(("token" = String, Path)),
        responses((status = 101, description = "As `/stream`."),
            (status = 200, body = String, content_type = "text/plain; charset=utf-8")))]
    socket_below = socket, (app: State<App>, who: Caller, asked: Asked) -> Answer<Response>;
}
