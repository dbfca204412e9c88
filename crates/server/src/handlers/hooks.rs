//! Hooks of agents: what they say is recorded, and answered in a form their vendor reads.

use std::{sync::Arc, time::SystemTime};

use axum::{
    body::{Body, to_bytes},
    extract::{Extension, Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use belljar_api as api;
use belljar_capture::{Agent, Answer as Spoken, Envelope, HookEvent, HookKind, MAX_PAYLOAD, reply};
use belljar_domain::{EventId, NewEvent, Principal, Timestamp};
use belljar_engine::service::{Passage, Request as GateRequest, TranscriptPlace};
use uuid::Uuid;

use crate::{
    answer::Json,
    app::App,
    extract::{Caller, Query, Teller, Vendor, is_json},
    guard::Peer,
    problem::{Answer, Failure},
    wire,
};

/// What is not JSON grows when it is quoted.
const MAX_ENVELOPE: usize = 2 * MAX_PAYLOAD + (1 << 20);
/// The variable that says in which sandbox a hook runs.
const SANDBOX: &str = "BELLJAR_SANDBOX";

/// Takes what `belljar hook` hands over: an envelope with the payload as its agent said it. The same envelope handed
/// over again is recorded once.
#[utoipa::path(post, path = "/api/v1/hooks/{agent}", tag = "hooks",
    params(("agent" = String, Path, pattern = "^[a-z0-9._-]{1,64}$"), api::HookQuery),
    request_body(content = api::HookEnvelope), responses((status = 200, body = api::HookAnswer)))]
pub(crate) async fn envelope(
    State(app): State<App>,
    Caller(who): Caller,
    teller: Teller,
    Vendor(agent): Vendor,
    Query(late): Query<api::HookQuery>,
    Extension(peer): Extension<Peer>,
    request: Request,
) -> Answer<Json<api::HookAnswer>> {
    is_json(request.headers())?;
    let body = whole(request.into_body(), MAX_ENVELOPE).await?;
    let mut envelope = Envelope::parse(&body).map_err(unreadable)?;
    envelope.agent = agent;
    let (id, sent_at) = (envelope.id, envelope.sent_at);
    let sandbox = envelope.env.get(SANDBOX).and_then(|id| id.parse().ok());
    let (text, home) = (envelope.text.clone(), envelope.env.remove("HOME"));
    // Whoever hands it over later went by the policy of that moment.
    let ruled = envelope.ruled.take();
    let mut passage = None;
    let (mut event, transcript) = match envelope.into_hook() {
        Ok(hook) => {
            if !late.late {
                passage = weighed(&app, &who, &teller, &hook, home.as_deref());
            }
            // What runs in a sandbox names files there, not here.
            let transcript =
                (sandbox.is_none() && may_read(&who, &teller)).then(|| transcript(&hook, peer)).flatten();
            (wire::hook_event(id, hook, sandbox, sent_at), transcript)
        }
        // Even nonsense was said by somebody.
        Err(error) => (wire::unread_hook(id, sent_at, &error.to_string(), text.as_deref()), None),
    };
    match (&passage, &ruled) {
        (Some(passage), _) => wire::weighed(&mut event, passage),
        (None, Some(ruling)) => wire::ruled(&mut event, ruling),
        (None, None) => {}
    }
    wire::known(&mut event, &teller);
    record(&app, &who, event, transcript).await?;
    let verdict = passage
        .as_ref()
        .and_then(spoken)
        .map(|said| api::HookVerdict { decision: said.verdict.to_string(), reason: said.reason });
    Ok(Json(api::HookAnswer { verdict }))
}

/// Takes the payload of Claude Code's own `http` hooks. It takes any other answer than nothing for a hook's output.
#[utoipa::path(post, path = "/hooks/claude-code", tag = "hooks", request_body(content = Object),
    responses((status = 200)))]
pub(crate) async fn claude_code(
    State(app): State<App>,
    Caller(who): Caller,
    teller: Teller,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Answer<Response> {
    is_json(&headers)?;
    let payload = whole(body, MAX_PAYLOAD).await?;
    let hook = HookEvent::read(Some(Agent::ClaudeCode), None, &payload).map_err(unreadable)?;
    let now = Timestamp::from(SystemTime::now());
    let transcript = may_read(&who, &teller).then(|| transcript(&hook, peer)).flatten();
    let passage = weighed(&app, &who, &teller, &hook, None);
    let answer = passage.as_ref().and_then(spoken);
    let output = reply(&hook, answer.as_ref()).stdout;
    let mut event = wire::hook_event(EventId::from_uuid(Uuid::now_v7()), hook, None, now);
    if let Some(passage) = &passage {
        wire::weighed(&mut event, passage);
    }
    wire::known(&mut event, &teller);
    record(&app, &who, event, transcript).await?;
    if output.is_empty() {
        return Ok(StatusCode::OK.into_response());
    }
    Ok(([(header::CONTENT_TYPE, "application/json")], output).into_response())
}

/// What the gate says of the call a hook comes before.
fn weighed(
    app: &App,
    who: &Principal,
    teller: &Teller,
    hook: &HookEvent,
    home: Option<&str>,
) -> Option<Passage> {
    let request = GateRequest::of_hook(hook, teller.identity(who), home)?;
    Some(app.service.weigh(&request))
}

/// What is answered. Where nothing spoke, nothing is said: a yes would silence the agent's own rules.
fn spoken(passage: &Passage) -> Option<Spoken> {
    let is_told = passage.holds && passage.speaks();
    is_told.then(|| Spoken { verdict: passage.verdict(), reason: passage.reason().to_owned() })
}

async fn record(
    app: &App,
    who: &Arc<Principal>,
    event: NewEvent,
    transcript: Option<TranscriptPlace>,
) -> Answer<()> {
    app.ingest(who, vec![event]).await?;
    let Some(place) = transcript else { return Ok(()) };
    app.ask(who, move |service, who| {
        service.follow_transcript(who, &place);
        Ok(())
    })
    .await
}

/// Whether a path in a hook may be one of this machine: only whoever may do everything here can have a file read.
fn may_read(who: &Principal, teller: &Teller) -> bool {
    who.admin && teller.is_nobody()
}

/// The transcript to be read after this hook, if it is a moment at which one grew. The service looks at whose it is.
fn transcript(hook: &HookEvent, peer: Peer) -> Option<TranscriptPlace> {
    let has_grown = matches!(
        hook.kind,
        HookKind::TurnEnd
            | HookKind::TurnFailed
            | HookKind::SubagentEnd
            | HookKind::SessionEnd
            | HookKind::CompactAfter
    );
    let owner = match peer {
        Peer::Unix { uid } => uid,
        Peer::Tcp | Peer::Keyless => rustix::process::geteuid().as_raw(),
    };
    let (path, session) = (hook.transcript_path.as_deref()?, hook.session_id.clone()?);
    let is_read = has_grown && hook.agent == Agent::ClaudeCode;
    is_read.then(|| TranscriptPlace { path: path.into(), session, owner })
}

async fn whole(body: Body, limit: usize) -> Answer<bytes::Bytes> {
    to_bytes(body, limit).await.map_err(|_too_long| Failure::too_large("the payload", limit))
}

fn unreadable(error: belljar_capture::CaptureError) -> Failure {
    match error {
        belljar_capture::CaptureError::TooLarge { limit, .. } => Failure::too_large("the payload", limit),
        other => Failure::invalid(other.to_string()),
    }
}
