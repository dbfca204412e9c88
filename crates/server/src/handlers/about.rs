//! The server about itself: who calls, which version, how it is doing.

use axum::{extract::State, response::Response};
use belljar_api as api;

use crate::{
    answer::{Json, typed},
    app::App,
    extract::Caller,
    problem::{Answer, Failure},
    readiness,
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

/// Says whether requests can be carried out: a write becomes durable, the disk has room, and the provider has what every
/// sandbox needs. If not, the problem's `errors` name what is wrong.
#[utoipa::path(get, path = "/readyz", tag = "server", security(()),
    responses((status = 200, body = api::Readiness), (status = 503, body = api::Problem, content_type = "application/problem+json")))]
pub(crate) async fn readyz(State(app): State<App>) -> Answer<Json<api::Readiness>> {
    let asked = app.clone();
    app.blocking(move || match readiness::wrongs(&asked) {
        wrongs if wrongs.is_empty() => {
            Ok(Json(api::Readiness { ready: true, store: true, disk: true, provider: true }))
        }
        wrongs => Err(Failure::not_ready(wrongs)),
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
