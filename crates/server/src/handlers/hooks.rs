//! Hooks of agents: what they say is recorded, and answered in a form their vendor reads.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, SystemTime},
};

use axum::{
    body::{Body, to_bytes},
    extract::{Extension, Request, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use belljar_api as api;
use belljar_capture::{
    Agent, Answer as Spoken, Envelope, HookEvent, HookKind, MAX_PAYLOAD, can_ask, can_defer, reply,
};
use belljar_domain::{ApprovalId, EventId, NewEvent, Principal, SandboxId, Timestamp, Verdict};
use belljar_engine::service::{
    Asked, Asker, Grounds, Passage, Request as GateRequest, TranscriptPlace, Whose,
};
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
/// The variable that says what an agent is called.
const AGENT: &str = "BELLJAR_AGENT";
/// The variables by which Claude Code says whether a person sits before it, and how it was started.
const ATTENDED: &str = "CLAUDE_CODE_SESSION_ATTENDED";
const ENTRYPOINT: &str = "CLAUDE_CODE_ENTRYPOINT";
/// The longest a person is waited for, in seconds.
const LONGEST_WAIT: u32 = 3600;

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
    Query(query): Query<api::HookQuery>,
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
    let own_name = envelope.env.get(AGENT).cloned();
    let attended = is_attended(&envelope.env);
    let env = envelope.env.clone();
    // Whoever hands it over later went by the policy of that moment.
    let ruled = envelope.ruled.take();
    let mut said = Said::default();
    let (mut event, transcript) = match envelope.into_hook() {
        Ok(hook) => {
            if !query.late {
                let patience = Duration::from_secs(query.wait.unwrap_or(0).min(LONGEST_WAIT).into());
                let workspace = hook
                    .workspace(|name| env.get(name).cloned())
                    .or_else(|| app.service.origin_of(&who, &hook));
                let grounds = Grounds { home, workspace };
                let moment = Moment { grounds, own_name, attended, patience };
                said = gate(&app, &who, &teller, &hook, moment).await?;
            }
            settled(&app, &who, &teller, &hook);
            let transcript = whose(&who, &teller, sandbox, peer).and_then(|whose| transcript(&hook, whose));
            (
                wire::hook_event(&|text| app.service.without_secrets(text), id, hook, sandbox, sent_at),
                transcript,
            )
        }
        // Even nonsense was said by somebody.
        Err(error) => (
            wire::unread_hook(
                &|text| app.service.without_secrets(text),
                id,
                sent_at,
                &error.to_string(),
                text.as_deref(),
            ),
            None,
        ),
    };
    match (&said.passage, &ruled) {
        (Some(passage), _) => wire::weighed(&mut event, passage),
        (None, Some(ruling)) => wire::ruled(&mut event, ruling),
        (None, None) => {}
    }
    wire::known(&mut event, &teller);
    record(&app, &who, event, transcript).await?;
    let verdict = said.answer.map(|said| api::HookVerdict {
        decision: said.verdict.to_string(),
        reason: said.reason,
        updated_input: said.updated_input,
        stop: said.stop,
        defer: said.defer,
    });
    let approval = said.waits.map(|(id, patience)| api::HookApproval {
        id: id.to_string(),
        wait_ms: u64::try_from(patience.as_millis()).unwrap_or(u64::MAX),
    });
    Ok(Json(api::HookAnswer { verdict, approval }))
}

/// Takes the payload of Claude Code's own `http` hooks. It takes any other answer than nothing for a hook's output. With
/// `wait` a person is waited for that long: less than the `timeout` of the hook, after which Claude Code goes on.
#[utoipa::path(post, path = "/hooks/claude-code", tag = "hooks", params(api::HookQuery),
    request_body(content = Object), responses((status = 200)))]
pub(crate) async fn claude_code(
    State(app): State<App>,
    Caller(who): Caller,
    teller: Teller,
    Query(query): Query<api::HookQuery>,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
    body: Body,
) -> Answer<Response> {
    is_json(&headers)?;
    let payload = whole(body, MAX_PAYLOAD).await?;
    let hook = HookEvent::read(Some(Agent::ClaudeCode), None, &payload).map_err(unreadable)?;
    let now = Timestamp::from(SystemTime::now());
    let transcript = whose(&who, &teller, None, peer).and_then(|whose| transcript(&hook, whose));
    let patience = Duration::from_secs(query.wait.unwrap_or(0).min(LONGEST_WAIT).into());
    let grounds = Grounds { home: None, workspace: app.service.origin_of(&who, &hook) };
    let moment = Moment { grounds, own_name: None, attended: true, patience };
    let said = gate(&app, &who, &teller, &hook, moment).await?;
    settled(&app, &who, &teller, &hook);
    let mut event = wire::hook_event(
        &|text| app.service.without_secrets(text),
        EventId::from_uuid(Uuid::now_v7()),
        hook.clone(),
        None,
        now,
    );
    if let Some(passage) = &said.passage {
        wire::weighed(&mut event, passage);
    }
    wire::known(&mut event, &teller);
    record(&app, &who, event, transcript).await?;
    let answer = match said.waits {
        Some((id, patience)) => heard(&app, &who, &teller, id, patience).await?.or(said.answer),
        None => said.answer,
    };
    let output = reply(&hook, answer.as_ref()).stdout;
    if output.is_empty() {
        return Ok(StatusCode::OK.into_response());
    }
    Ok(([(header::CONTENT_TYPE, "application/json")], output).into_response())
}

/// Whether a person sits before the agent, as far as it says. What was started by a program has nobody.
fn is_attended(env: &BTreeMap<String, String>) -> bool {
    match (env.get(ATTENDED), env.get(ENTRYPOINT)) {
        (Some(said), _) => said != "0",
        (None, Some(entry)) => !entry.starts_with("sdk"),
        (None, None) => true,
    }
}

/// What is known of the moment of a hook, beside what it says.
struct Moment {
    grounds: Grounds,
    /// What the agent is called, as it says itself.
    own_name: Option<String>,
    attended: bool,
    patience: Duration,
}

/// What a hook is told.
#[derive(Default)]
struct Said {
    passage: Option<Passage>,
    answer: Option<Spoken>,
    /// Where a person's answer will be, and how long to wait for it.
    waits: Option<(ApprovalId, Duration)>,
}

/// Passes the gate with the call a hook comes before. Where a person is to be asked, they are.
async fn gate(
    app: &App,
    who: &Arc<Principal>,
    teller: &Teller,
    hook: &HookEvent,
    moment: Moment,
) -> Answer<Said> {
    let identity = teller.identity(who);
    let Some(mut request) = GateRequest::of_hook(hook, identity, moment.grounds) else {
        return Ok(Said { answer: killed(app, teller, hook, moment.own_name), ..Said::default() });
    };
    request.claimed.extend(moment.own_name);
    let passage = app.service.weigh(&request);
    if !passage.holds || passage.verdict() != Verdict::Ask {
        let answer = spoken(&passage);
        return Ok(Said { passage: Some(passage), answer, waits: None });
    }
    let can_ask = can_ask(hook);
    let asker = Asker {
        patience: moment.patience,
        attended: moment.attended && can_ask,
        can_ask,
        can_defer: can_defer(hook),
        vendor: hook.agent.to_string(),
        tool_use_id: hook.tool_use_id.clone(),
    };
    let asked = app.ask(who, move |service, _| {
        let asked = service.ask_person(&request, &passage, &asker)?;
        Ok((asked, passage))
    });
    Ok(match asked.await? {
        (Asked::Settled(passage), _) => {
            let answer = spoken(&passage);
            Said { passage: Some(passage), answer, waits: None }
        }
        (Asked::Waits { approval, patience, otherwise, defers }, passage) => {
            let reason = format!("{}; nobody answered in time", passage.reason());
            let answer = Spoken { defer: defers, ..Spoken::new(otherwise, reason) };
            Said { passage: Some(passage), answer: Some(answer), waits: Some((approval.id, patience)) }
        }
    })
}

/// Whoever was killed hears it at everything they wait for.
fn killed(app: &App, teller: &Teller, hook: &HookEvent, own_name: Option<String>) -> Option<Spoken> {
    let pass = teller.pass.as_ref().and_then(|pass| pass.agent.clone());
    let names = [pass, own_name, hook.session_id.clone(), hook.agent_id.clone(), hook.agent_type.clone()];
    let kills = app.service.kills();
    let kill =
        hook.kind.is_guard().then(|| kills.of(names.iter().flatten().map(String::as_str))).flatten()?;
    Some(Spoken { stop: true, ..Spoken::new(Verdict::Deny, kill.reason()) })
}

/// Waits for a person in the place of an agent that cannot ask again.
async fn heard(
    app: &App,
    who: &Arc<Principal>,
    teller: &Teller,
    id: ApprovalId,
    patience: Duration,
) -> Answer<Option<Spoken>> {
    let until = tokio::time::Instant::now() + patience;
    let (asker, same) = (teller.identity(who), teller.identity(who));
    let _seat = app.ask(who, move |service, _| service.sit(&asker, id)).await?;
    let mut news = app.service.approval_news();
    loop {
        news.borrow_and_update();
        if let Some(outcome) = app.service.approval_outcome(id)? {
            // The answer stands, whether or not that it was heard can be written down.
            let _unwritten = app.ask(who, move |service, _| service.acknowledge(&same, id)).await;
            let answer = Spoken::new(outcome.verdict, outcome.reason);
            return Ok(Some(Spoken { updated_input: outcome.edited, ..answer }));
        }
        tokio::select! {
            changed = news.changed() => if changed.is_err() { return Ok(None) },
            () = tokio::time::sleep_until(until) => return Ok(None),
            () = app.closing() => return Ok(None),
        }
    }
}

/// Pays for the call a hook tells the outcome of.
fn settled(app: &App, who: &Principal, teller: &Teller, hook: &HookEvent) {
    if let Some(request) = GateRequest::of_outcome(hook, teller.identity(who)) {
        app.service.pay_for(&request);
    }
}

/// What is answered. Where nothing spoke, nothing is said: a yes would silence the agent's own rules.
fn spoken(passage: &Passage) -> Option<Spoken> {
    let is_told = passage.holds && passage.speaks();
    is_told.then(|| Spoken {
        updated_input: passage.edited.clone(),
        stop: passage.stops,
        ..Spoken::new(passage.verdict(), passage.reason())
    })
}

async fn record(
    app: &App,
    who: &Arc<Principal>,
    event: NewEvent,
    transcript: Option<TranscriptPlace>,
) -> Answer<()> {
    match transcript {
        None => app.ingest(who, vec![event]).await?,
        Some(place) => app.ask(who, move |service, who| service.ingest_following(who, event, &place)).await?,
    };
    Ok(())
}

/// Whose files a path in a hook may be one of. What is known to come from a sandbox names files there. On this machine only
/// whoever may do everything here can have a file read, and not for somebody who says to be in a sandbox.
fn whose(who: &Principal, teller: &Teller, claimed: Option<SandboxId>, peer: Peer) -> Option<Whose> {
    match (&teller.pass, peer) {
        (Some(pass), _) => Some(Whose::Sandbox(pass.sandbox)),
        (None, _) if !who.admin || !teller.is_nobody() || claimed.is_some() => None,
        (None, Peer::Unix { uid }) => Some(Whose::User(uid)),
        (None, Peer::Tcp | Peer::Keyless) => Some(Whose::User(rustix::process::geteuid().as_raw())),
    }
}

/// The transcript to be read after this hook, if it is a moment at which one grew. The service looks at whose it is.
fn transcript(hook: &HookEvent, whose: Whose) -> Option<TranscriptPlace> {
    let has_grown = match hook.kind {
        HookKind::TurnEnd
        | HookKind::TurnFailed
        | HookKind::SubagentEnd
        | HookKind::SessionEnd
        | HookKind::CompactAfter => true,
        // Between two requests: what the first cost is known while the turn goes on. Into a sandbox nobody looks that often.
        HookKind::ToolBatch => matches!(whose, Whose::User(_)),
        HookKind::ToolAfter => hook.agent == Agent::Codex && matches!(whose, Whose::User(_)),
        _ => false,
    };
    let (path, session) = (hook.transcript_path.as_deref()?, hook.session_id.clone()?);
    let is_read = has_grown && matches!(hook.agent, Agent::ClaudeCode | Agent::Codex);
    is_read.then(|| TranscriptPlace { path: path.into(), session, whose, agent: hook.agent.clone() })
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
