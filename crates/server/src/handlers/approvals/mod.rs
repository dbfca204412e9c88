//! Calls that wait for a person: shown, answered, waited for; and the page behind a link.

mod page;

use std::time::{Duration, SystemTime};

use axum::extract::State;
use belljar_api as api;
use belljar_domain::{ApprovalState, Timestamp};
use belljar_engine::service::{Answering, Link, ServiceError, Word};
use belljar_ports::store::ApprovalFilter;
use tokio::time::{Instant, sleep_until};

pub(crate) use page::{__path_answer_page, __path_page, answer_page, page};

use crate::{
    answer::{Json, page as paged},
    app::App,
    extract::{Approval, Caller, OptionalJson, Query, Teller, cursor, limit, parsed},
    problem::{Answer, Failure},
    wire,
};

/// The longest wait of one request, and the usual one.
const LONGEST: u8 = 50;
const USUAL: u8 = 25;

/// Lists approvals, newest first.
#[utoipa::path(get, path = "/api/v1/approvals", tag = "approvals", params(api::ApprovalQuery),
    responses((status = 200, body = api::Page<api::Approval>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::ApprovalQuery>,
) -> Answer<Json<api::Page<api::Approval>>> {
    let (limit, below) = (limit(query.limit)?, cursor(query.cursor.as_deref())?);
    let filter = ApprovalFilter {
        states: query.state.map(wire::approvals::state).into_iter().collect(),
        agent: query.agent_id,
        session: query.session_id,
        sandbox: parsed("sandbox_id", query.sandbox_id.as_deref())?,
        ..ApprovalFilter::default()
    };
    let found = app.ask(&who, move |service, who| service.approvals(who, filter, below, limit)).await?;
    Ok(paged(found, limit, |view| view.id.to_string(), wire::approvals::shown))
}

/// Shows an approval.
#[utoipa::path(get, path = "/api/v1/approvals/{id}", tag = "approvals",
    params(("id" = String, Path, pattern = "^apr_[0-9a-f]{32}$")), responses((status = 200, body = api::Approval)))]
pub(crate) async fn get(
    State(app): State<App>,
    Caller(who): Caller,
    Approval(id): Approval,
) -> Answer<Json<api::Approval>> {
    let view = app.ask(&who, move |service, who| service.approval(who, id)).await?;
    Ok(Json(wire::approvals::shown(view)))
}

/// Says yes: once, for the session, or always, and perhaps to something else than was asked. Of two answers the first
/// counts; the second is told whose that was.
#[utoipa::path(post, path = "/api/v1/approvals/{id}/allow", tag = "approvals",
    params(("id" = String, Path, pattern = "^apr_[0-9a-f]{32}$")), request_body = api::AllowRequest,
    responses((status = 200, body = api::Approval)))]
pub(crate) async fn allow(
    State(app): State<App>,
    Caller(who): Caller,
    Approval(id): Approval,
    OptionalJson(said): OptionalJson<api::AllowRequest>,
) -> Answer<Json<api::Approval>> {
    let word = Word::Allow { scope: wire::approvals::scope(said.scope), input: said.input };
    let said = Answering { word, reason: said.reason, how: "api" };
    let answered = app.ask(&who, move |service, who| service.answer(who, id, said)).await?;
    Ok(Json(wire::approvals::answered(answered)))
}

/// Says no; the agent reads the reason.
#[utoipa::path(post, path = "/api/v1/approvals/{id}/deny", tag = "approvals",
    params(("id" = String, Path, pattern = "^apr_[0-9a-f]{32}$")), request_body = api::DenyRequest,
    responses((status = 200, body = api::Approval)))]
pub(crate) async fn deny(
    State(app): State<App>,
    Caller(who): Caller,
    Approval(id): Approval,
    OptionalJson(said): OptionalJson<api::DenyRequest>,
) -> Answer<Json<api::Approval>> {
    let said = Answering { word: Word::Deny, reason: said.reason, how: "api" };
    let answered = app.ask(&who, move |service, who| service.answer(who, id, said)).await?;
    Ok(Json(wire::approvals::answered(answered)))
}

/// Waits for an answer. A sandbox waits for what it asked itself. As long as somebody waits, a hook's call stays open.
#[utoipa::path(post, path = "/api/v1/approvals/{id}/wait", tag = "approvals",
    params(("id" = String, Path, pattern = "^apr_[0-9a-f]{32}$"), api::ApprovalWaitQuery),
    responses((status = 200, body = api::ApprovalOutcome)))]
pub(crate) async fn wait(
    State(app): State<App>,
    Caller(who): Caller,
    teller: Teller,
    Approval(id): Approval,
    Query(query): Query<api::ApprovalWaitQuery>,
) -> Answer<Json<api::ApprovalOutcome>> {
    let seconds = query.seconds.unwrap_or(USUAL);
    if seconds > LONGEST {
        return Err(Failure::field("seconds", format!("must be at most {LONGEST}; ask again after that")));
    }
    let until = Instant::now() + Duration::from_secs(seconds.into());
    let asker = teller.identity(&who);
    let _seat = app.ask(&who, move |service, _| service.sit(&asker, id)).await?;
    let mut news = app.service.approval_news();
    loop {
        news.borrow_and_update();
        if let Some(outcome) = app.service.approval_outcome(id)? {
            return Ok(Json(api::ApprovalOutcome {
                pending: false,
                verdict: Some(wire::approvals::told(outcome)),
            }));
        }
        tokio::select! {
            changed = news.changed() => changed.map_err(|_gone| Failure::from(ServiceError::Closing))?,
            () = sleep_until(until) => return Ok(Json(api::ApprovalOutcome { pending: true, verdict: None })),
            () = app.closing() => return Err(ServiceError::Closing.into()),
        }
    }
}

/// Says that whoever asked has the answer, and goes by it.
#[utoipa::path(post, path = "/api/v1/approvals/{id}/delivered", tag = "approvals",
    params(("id" = String, Path, pattern = "^apr_[0-9a-f]{32}$")), responses((status = 200, body = api::Approval)))]
pub(crate) async fn delivered(
    State(app): State<App>,
    Caller(who): Caller,
    teller: Teller,
    Approval(id): Approval,
) -> Answer<Json<api::Approval>> {
    let asker = teller.identity(&who);
    let view = app.ask(&who, move |service, _| service.acknowledge(&asker, id)).await?;
    Ok(Json(wire::approvals::shown(view)))
}

/// Makes a link that shows one call to whoever has it, and takes their answer once.
#[utoipa::path(post, path = "/api/v1/approvals/{id}/link", tag = "approvals",
    params(("id" = String, Path, pattern = "^apr_[0-9a-f]{32}$")), responses((status = 200, body = api::ApprovalLink)))]
pub(crate) async fn link(
    State(app): State<App>,
    Caller(who): Caller,
    Approval(id): Approval,
) -> Answer<Json<api::ApprovalLink>> {
    if !who.admin {
        return Err(ServiceError::Denied("only who may answer may hand the answer on".to_owned()).into());
    }
    let view = app.ask(&who, move |service, who| service.approval(who, id)).await?;
    let now = Timestamp::from(SystemTime::now());
    if view.state != ApprovalState::Pending || view.expires <= now {
        return Err(
            ServiceError::Conflict(format!("{id} is {}; there is nothing to answer", view.state)).into()
        );
    }
    let token = Link { approval: id, until: view.expires }.seal(&app.settings.pass_key);
    let host = app.settings.hosts.first().cloned().unwrap_or_else(|| format!("127.0.0.1:{}", app.port));
    Ok(Json(api::ApprovalLink {
        url: format!("http://{host}/a/{token}"),
        expires_at: view.expires.to_string(),
    }))
}
