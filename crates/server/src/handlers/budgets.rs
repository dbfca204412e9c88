//! Budgets: ask for room, set aside, pay, give back; set limits, see how far they are used.

use std::time::Duration;

use axum::{extract::State, http::StatusCode, response::Response};
use belljar_api as api;
use belljar_engine::service::{Spender, SpendingFilter};

use crate::{
    answer::{Json, created, page},
    app::App,
    extract::{Caller, JsonBody, Named, Query, cursor, limit, parsed},
    problem::{Answer, Failure},
    wire,
};

/// The most seconds something may be set aside for.
const LONGEST: u32 = 86_400;

/// Lists budgets with how far each is used.
#[utoipa::path(get, path = "/api/v1/budgets", tag = "budgets", params(api::BudgetQuery),
    responses((status = 200, body = api::Budgets)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::BudgetQuery>,
) -> Answer<Json<api::Budgets>> {
    let is_named = query.agent.is_some() || query.session_id.is_some();
    let agent = parsed("agent", query.agent.as_deref())?;
    let spender = is_named.then(|| Spender { agent, session: query.session_id, ..Spender::default() });
    let views = app.ask(&who, move |service, who| service.budgets(who, spender.as_ref())).await?;
    Ok(Json(api::Budgets { items: views.into_iter().map(wire::budget).collect() }))
}

/// Sets a budget by its name, such as `agent:coder:day` or `session:*:total`. What it had paused goes on, if there is
/// room now.
#[utoipa::path(put, path = "/api/v1/budgets/{id}", tag = "budgets", params(("id" = String, Path, max_length = 256)),
    request_body = api::PutBudget, responses((status = 200, body = api::Budgets)))]
pub(crate) async fn put(
    State(app): State<App>,
    Caller(who): Caller,
    Named(id): Named,
    JsonBody(asked): JsonBody<api::PutBudget>,
) -> Answer<Json<api::Budgets>> {
    let order = wire::budget_order(&asked)?;
    let views = app.ask(&who, move |service, who| service.set_budget(who, &id, order)).await?;
    Ok(Json(api::Budgets { items: views.into_iter().map(wire::budget).collect() }))
}

/// Removes a budget. What the configuration or a role says stays.
#[utoipa::path(delete, path = "/api/v1/budgets/{id}", tag = "budgets", params(("id" = String, Path, max_length = 256)),
    responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(who): Caller,
    Named(id): Named,
) -> Answer<StatusCode> {
    app.ask(&who, move |service, who| service.remove_budget(who, &id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Begins a budget anew, and lets go on what it had paused.
#[utoipa::path(post, path = "/api/v1/budgets/{id}/reset", tag = "budgets",
    params(("id" = String, Path, max_length = 256)), responses((status = 200, body = api::Budgets)))]
pub(crate) async fn reset(
    State(app): State<App>,
    Caller(who): Caller,
    Named(id): Named,
) -> Answer<Json<api::Budgets>> {
    let views = app.ask(&who, move |service, who| service.reset_budget(who, &id)).await?;
    Ok(Json(api::Budgets { items: views.into_iter().map(wire::budget).collect() }))
}

/// Says whether there is room for an amount, and sets nothing aside; 429 where there is not.
#[utoipa::path(post, path = "/api/v1/budgets/check", tag = "budgets", request_body = api::CheckBudget,
    responses((status = 200, body = api::CheckedBudget)))]
pub(crate) async fn check(
    State(app): State<App>,
    Caller(who): Caller,
    JsonBody(asked): JsonBody<api::CheckBudget>,
) -> Answer<Json<api::CheckedBudget>> {
    let (spender, amount) = (wire::spender(&asked.spender)?, wire::amount_of("amount", asked.amount)?);
    app.ask(&who, move |service, who| service.check_budget(who, &spender, amount)).await?;
    Ok(Json(api::CheckedBudget { allowed: true }))
}

/// Sets an amount aside, so that nobody else spends it; 429 where there is no room.
#[utoipa::path(post, path = "/api/v1/budgets/reserve", tag = "budgets", request_body = api::ReserveBudget,
    responses((status = 201, body = api::Reservation)))]
pub(crate) async fn reserve(
    State(app): State<App>,
    Caller(who): Caller,
    JsonBody(asked): JsonBody<api::ReserveBudget>,
) -> Answer<Response> {
    let (spender, amount) = (wire::spender(&asked.spender)?, wire::amount_of("amount", asked.amount)?);
    if asked.ttl_seconds.is_some_and(|seconds| !(1..=LONGEST).contains(&seconds)) {
        return Err(Failure::field("ttl_seconds", format!("must be from 1 to {LONGEST}")));
    }
    let span = asked.ttl_seconds.map(|seconds| Duration::from_secs(seconds.into()));
    let reserved = app.ask(&who, move |service, who| service.reserve(who, &spender, amount, span)).await?;
    let place = format!("/api/v1/budgets/reservations/{}", reserved.id);
    Ok(created(&place, wire::reservation(reserved)))
}

/// Gives back what was set aside.
#[utoipa::path(delete, path = "/api/v1/budgets/reservations/{id}", tag = "budgets",
    params(("id" = String, Path, max_length = 64)), responses((status = 204)))]
pub(crate) async fn release(
    State(app): State<App>,
    Caller(who): Caller,
    Named(id): Named,
) -> Answer<StatusCode> {
    app.ask(&who, move |service, who| service.release(who, &id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Pays what was really spent, whether or not there is room; what was set aside for it is given back.
#[utoipa::path(post, path = "/api/v1/budgets/deduct", tag = "budgets", request_body = api::DeductBudget,
    responses((status = 200, body = api::Payment)))]
pub(crate) async fn deduct(
    State(app): State<App>,
    Caller(who): Caller,
    JsonBody(asked): JsonBody<api::DeductBudget>,
) -> Answer<Json<api::Payment>> {
    let (spender, amount) = (wire::spender(&asked.spender)?, wire::amount_of("amount", asked.amount)?);
    let held = asked.reservation_id;
    let paid =
        app.ask(&who, move |service, who| service.deduct(who, &spender, amount, held.as_deref())).await?;
    Ok(Json(wire::payment(paid)))
}

/// Lists what was spent, refused and changed, newest first, each with what it was before and after.
#[utoipa::path(get, path = "/api/v1/budgets/history", tag = "budgets", params(api::SpendingQuery),
    responses((status = 200, body = api::Page<api::Event>)))]
pub(crate) async fn history(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::SpendingQuery>,
) -> Answer<Json<api::Page<api::Event>>> {
    let (limit, before) = (limit(query.limit)?, cursor(query.cursor.as_deref())?.unwrap_or(u64::MAX));
    let filter = SpendingFilter {
        agent: query.agent,
        session: query.session_id,
        blocked: query.blocked.unwrap_or_default(),
    };
    let events = app.ask(&who, move |service, who| service.spending(who, &filter, before, limit)).await?;
    Ok(page(events, limit, |event| event.seq.to_string(), wire::event))
}
