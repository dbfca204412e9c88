//! The server about itself: who calls, which version, how it is doing.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use belljar_api as api;

use crate::{
    answer::{Json, typed},
    app::App,
    extract::Caller,
    problem::{Answer, Failure},
};

/// Says whom the server takes the caller for.
#[utoipa::path(get, path = "/api/v1/whoami", tag = "server", responses((status = 200, body = api::WhoAmI)))]
pub(crate) async fn whoami(Caller(who): Caller) -> Json<api::WhoAmI> {
    Json(api::WhoAmI { name: who.name.clone(), project_id: who.project.to_string(), admin: who.admin })
}

/// Says which belljar this is.
#[utoipa::path(get, path = "/api/v1/version", tag = "server", security(()), responses((status = 200, body = api::Version)))]
pub(crate) async fn version(State(app): State<App>) -> Json<api::Version> {
    let version = app.settings.version.to_owned();
    Json(api::Version { name: "belljar".to_owned(), version, api: "v1".to_owned() })
}

/// Says that the server is alive.
#[utoipa::path(get, path = "/healthz", tag = "server", security(()), responses((status = 200, body = api::Health)))]
pub(crate) async fn healthz() -> Json<api::Health> {
    Json(api::Health { status: "ok".to_owned() })
}

/// Says whether requests can be carried out: the store takes writes and the provider makes sandboxes.
#[utoipa::path(get, path = "/readyz", tag = "server", security(()),
    responses((status = 200, body = api::Readiness), (status = 503, body = api::Readiness)))]
pub(crate) async fn readyz(State(app): State<App>) -> Answer<Response> {
    let (store, provider) = (Arc::clone(app.service.store()), Arc::clone(&app.provider));
    let closing = *app.closing.borrow();
    app.blocking(move || {
        // Flushing waits for the writer, so it fails or hangs exactly when writes do.
        let store = store.flush().is_ok();
        let provider = !provider.capabilities().is_empty();
        let ready = store && provider && !closing;
        let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        Ok((status, Json(api::Readiness { ready, store, provider })).into_response())
    })
    .await
}

/// What Prometheus reads.
#[utoipa::path(get, path = "/metrics", tag = "server", responses((status = 200, body = String, content_type = "application/openmetrics-text")))]
pub(crate) async fn metrics(State(app): State<App>, _who: Caller) -> Answer<Response> {
    let counting = app.clone();
    let text = app
        .blocking(move || {
            counting.metrics.catch_up(&counting.service)?;
            let health = counting.service.health();
            let text = counting.metrics.write(&health, counting.clients.open());
            text.map_err(|error| Failure::internal("write the metrics", &error))
        })
        .await?;
    Ok(typed("application/openmetrics-text; version=1.0.0; charset=utf-8", text))
}
