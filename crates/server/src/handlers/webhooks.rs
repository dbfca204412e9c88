//! Webhooks: subscribe, list, unsubscribe, try one, see how deliveries went.

use axum::{extract::State, http::StatusCode, response::Response};
use belljar_api as api;
use belljar_engine::service::{NewWebhook, Service, WebhookView};
use belljar_ports::store::DeliveryRow;

use crate::{
    answer::{Json, created, page},
    app::App,
    extract::{Caller, JsonBody, Query, Webhook, cursor, limit},
    problem::Answer,
};

/// Subscribes an address to events. Deliveries are signed; the secret is shown in this answer alone.
#[utoipa::path(post, path = "/api/v1/webhooks", tag = "webhooks", request_body = api::NewWebhook,
    params(("Idempotency-Key" = Option<String>, Header, description = "Carries the request out once, however often it is made.", max_length = 255)),
    responses((status = 201, body = api::Webhook)))]
pub(crate) async fn create(
    State(app): State<App>,
    Caller(who): Caller,
    JsonBody(asked): JsonBody<api::NewWebhook>,
) -> Answer<Response> {
    let asked = NewWebhook { url: asked.url, events: asked.events, secret: asked.secret };
    let (view, secret) = app.ask(&who, move |service, who| service.subscribe(who, asked)).await?;
    let place = format!("/api/v1/webhooks/{}", view.id);
    Ok(created(&place, api::Webhook { secret: Some(secret), ..shown(view) }))
}

/// Lists webhooks.
#[utoipa::path(get, path = "/api/v1/webhooks", tag = "webhooks", responses((status = 200, body = api::Page<api::Webhook>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Caller(who): Caller,
) -> Answer<Json<api::Page<api::Webhook>>> {
    let all = app.ask(&who, Service::webhooks).await?;
    Ok(Json(api::Page { items: all.into_iter().map(shown).collect(), next_cursor: None }))
}

/// Removes a webhook. What was not delivered yet is not.
#[utoipa::path(delete, path = "/api/v1/webhooks/{id}", tag = "webhooks", params(("id" = String, Path, pattern = "^whk_[0-9a-f]{32}$")),
    responses((status = 204)))]
pub(crate) async fn delete(
    State(app): State<App>,
    Caller(who): Caller,
    Webhook(id): Webhook,
) -> Answer<StatusCode> {
    app.ask(&who, move |service, who| service.unsubscribe(who, &id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists attempts to tell a webhook, newest first.
#[utoipa::path(get, path = "/api/v1/webhooks/{id}/deliveries", tag = "webhooks",
    params(("id" = String, Path, pattern = "^whk_[0-9a-f]{32}$"), api::PageQuery),
    responses((status = 200, body = api::Page<api::Delivery>)))]
pub(crate) async fn deliveries(
    State(app): State<App>,
    Caller(who): Caller,
    Webhook(id): Webhook,
    Query(query): Query<api::PageQuery>,
) -> Answer<Json<api::Page<api::Delivery>>> {
    let (limit, below) = (limit(query.limit)?, cursor(query.cursor.as_deref())?);
    let rows = app.ask(&who, move |service, who| service.deliveries(who, &id, below, limit)).await?;
    Ok(page(rows, limit, |row| row.id.to_string(), delivery))
}

/// Posts a test event to a webhook now, and answers with how that went.
#[utoipa::path(post, path = "/api/v1/webhooks/{id}/test", tag = "webhooks", params(("id" = String, Path, pattern = "^whk_[0-9a-f]{32}$")),
    responses((status = 200, body = api::Delivery)))]
pub(crate) async fn test(
    State(app): State<App>,
    Caller(who): Caller,
    Webhook(id): Webhook,
) -> Answer<Json<api::Delivery>> {
    let row = app.dwell(&who, move |service, who| service.test_webhook(who, &id)).await?;
    Ok(Json(delivery(row)))
}

fn shown(view: WebhookView) -> api::Webhook {
    api::Webhook {
        id: view.id,
        project_id: view.project.to_string(),
        url: view.url,
        events: view.events,
        created_at: view.created.to_string(),
        secret: None,
    }
}

fn delivery(row: DeliveryRow) -> api::Delivery {
    api::Delivery {
        id: row.id.to_string(),
        webhook_id: row.webhook,
        event_id: row.event.to_string(),
        attempt: row.attempt,
        time: row.time.to_string(),
        status: row.status.map(|status| status.to_string()),
        code: row.code,
        error: row.error,
        duration_ms: row.duration_ms,
        due_at: row.retry.map(|time| time.to_string()),
    }
}
