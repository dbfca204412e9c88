//! What records come to: how agents do, how tools are used, who hands work to whom, what it costs, who gets nowhere.

use std::time::Duration;

use axum::extract::State;
use belljar_api as api;
use belljar_engine::service::Patience;

use crate::{
    answer::Json,
    app::App,
    extract::{Caller, Query, limit},
    problem::Answer,
    wire::{self, reports::Step},
};

/// What agents did and how well, the busiest first.
#[utoipa::path(get, path = "/api/v1/agents/metrics", tag = "reports", params(api::AgentMetricsQuery),
    responses((status = 200, body = api::AgentReport)))]
pub(crate) async fn agents(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::AgentMetricsQuery>,
) -> Answer<Json<api::AgentReport>> {
    let filter = wire::reports::agent_filter(&query)?;
    let (by, limit) = (wire::reports::group_by(query.by.as_deref())?, limit(query.limit)?);
    let found = app.ask(&who, move |service, who| service.agent_metrics(who, filter, by, limit)).await?;
    Ok(Json(api::AgentReport { items: found.into_iter().map(wire::reports::agent_metrics).collect() }))
}

/// How tools were used, the most used first, with a trend.
#[utoipa::path(get, path = "/api/v1/tools/usage", tag = "reports", params(api::ToolUsageQuery),
    responses((status = 200, body = api::ToolReport)))]
pub(crate) async fn tools(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::ToolUsageQuery>,
) -> Answer<Json<api::ToolReport>> {
    let step = Step::of(query.step.as_deref())?;
    let mut period = wire::reports::period(query.from.as_deref(), query.until.as_deref())?;
    period.tool = wire::short("tool", query.tool.as_deref(), 128)?;
    let found = app.ask(&who, move |service, who| service.tool_usage(who, period)).await?;
    let items = found.iter().map(|usage| wire::reports::tool_usage(usage, step)).collect();
    Ok(Json(api::ToolReport { items }))
}

/// Who handed work to whom, by kind of agent.
#[utoipa::path(get, path = "/api/v1/handoffs", tag = "reports", params(api::HandoffQuery),
    responses((status = 200, body = api::HandoffGraph)))]
pub(crate) async fn handoffs(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::HandoffQuery>,
) -> Answer<Json<api::HandoffGraph>> {
    let filter = wire::reports::handoff_filter(&query)?;
    let edges = app.ask(&who, move |service, who| service.handoffs(who, filter)).await?;
    Ok(Json(wire::reports::handoffs(edges)))
}

/// What was spent on models, by something. Each request counts once, whoever told of it.
#[utoipa::path(get, path = "/api/v1/cost", tag = "reports", params(api::CostQuery),
    responses((status = 200, body = api::CostReport)))]
pub(crate) async fn cost(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::CostQuery>,
) -> Answer<Json<api::CostReport>> {
    let (name, by) = wire::reports::cost_by(query.by.as_deref())?;
    let mut period = wire::reports::period(query.from.as_deref(), query.until.as_deref())?;
    period.session = wire::short("session_id", query.session_id.as_deref(), 256)?;
    let lines = app.ask(&who, move |service, who| service.cost(who, period, by)).await?;
    Ok(Json(wire::reports::cost(name, app.service.prices_as_of(), lines)))
}

/// Agents that get nowhere: the same call over and over, or work without a word.
#[utoipa::path(get, path = "/api/v1/detections", tag = "reports", params(api::DetectionQuery),
    responses((status = 200, body = api::Detections)))]
pub(crate) async fn detections(
    State(app): State<App>,
    Caller(who): Caller,
    Query(query): Query<api::DetectionQuery>,
) -> Answer<Json<api::Detections>> {
    let usual = Patience::default();
    let silence = query.silence_seconds.map_or(usual.silence, |seconds| Duration::from_secs(seconds.into()));
    let patience = Patience { repeats: query.repeats.map_or(usual.repeats, u64::from), silence };
    let found = app.ask(&who, move |service, who| service.detections(who, patience)).await?;
    Ok(Json(api::Detections { items: found.into_iter().map(wire::reports::detection).collect() }))
}
