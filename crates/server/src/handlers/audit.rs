//! The ledger as auditors read it.

use std::sync::Arc;

use axum::extract::State;
use belljar_api as api;
use belljar_ports::store::{EventFilter, Head};

use crate::{
    answer::{Json, page},
    app::App,
    extract::{Caller, Query, cursor, limit, parsed},
    problem::{Answer, Failure},
    wire,
};

/// Lists entries of the audit log, newest first.
#[utoipa::path(get, path = "/api/v1/events/audit", tag = "audit", params(api::AuditQuery),
    responses((status = 200, body = api::Page<api::AuditEntry>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::AuditQuery>,
) -> Answer<Json<api::Page<api::AuditEntry>>> {
    let limit = limit(query.limit)?;
    let before = cursor(query.cursor.as_deref())?.unwrap_or(u64::MAX);
    let filter = EventFilter {
        agent: wire::short("agent_id", query.agent_id.as_deref(), 128)?,
        sandbox: parsed("sandbox_id", query.sandbox_id.as_deref())?,
        operation: wire::short("operation_type", query.operation_type.as_deref(), 128)?,
        decision: parsed("rbac_decision", query.rbac_decision.as_deref())?,
        status: parsed("status", query.status.as_deref())?,
        from: parsed("from", query.from.as_deref())?,
        until: parsed("until", query.until.as_deref())?,
        ..EventFilter::default()
    };
    let events = app.ask(&who, move |service, who| service.events_before(who, filter, before, limit)).await?;
    Ok(page(events, limit, |event| event.seq.to_string(), wire::audit))
}

/// Counts entries by decision, type, role, status and agent.
#[utoipa::path(get, path = "/api/v1/events/audit/stats", tag = "audit", responses((status = 200, body = api::AuditStats)))]
pub(crate) async fn stats(State(app): State<App>, Caller(who): Caller) -> Answer<Json<api::AuditStats>> {
    let store = Arc::clone(app.service.store());
    let stats = app.blocking(move || Ok(store.stats(who.scope().as_ref())?)).await?;
    Ok(Json(wire::stats(stats)))
}

/// Computes the whole ledger again and says whether anything was changed, dropped or reordered.
#[utoipa::path(get, path = "/api/v1/audit/verify", tag = "audit", params(api::AuditVerifyQuery), responses((status = 200, body = api::Verification)))]
pub(crate) async fn verify(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::AuditVerifyQuery>,
) -> Answer<Json<api::Verification>> {
    if !who.admin {
        return Err(belljar_engine::service::ServiceError::Denied(
            "only an admin may verify the ledger".to_owned(),
        )
        .into());
    }
    let noted = match (query.head_seq, parsed("head_hash", query.head_hash.as_deref())?) {
        (Some(seq), Some(hash)) => Some(Head { seq, hash }),
        (None, None) => None,
        _ => return Err(Failure::field("head_seq", "goes with `head_hash`")),
    };
    let store = Arc::clone(app.service.store());
    let found = app.blocking(move || Ok(store.verify(noted)?)).await?;
    Ok(Json(wire::verification(found)))
}
