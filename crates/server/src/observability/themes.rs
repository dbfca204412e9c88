//! Colours of the protocol's dashboard that are shared: listed and kept. Its own are in the browser.

use std::time::SystemTime;

use axum::{
    body::Body,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use belljar_domain::Timestamp;
use belljar_ports::store::{Batch, Document, PAGE_LIMIT};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::handlers::json_of;
use crate::{answer::Json, app::App, extract::Caller, problem::Answer};

const COLLECTION: &str = "observability_theme";
const MAX_THEME: usize = 64 << 10;
/// Every colour a theme has.
const COLOURS: [&str; 24] = [
    "primary",
    "primaryHover",
    "primaryLight",
    "primaryDark",
    "bgPrimary",
    "bgSecondary",
    "bgTertiary",
    "bgQuaternary",
    "textPrimary",
    "textSecondary",
    "textTertiary",
    "textQuaternary",
    "borderPrimary",
    "borderSecondary",
    "borderTertiary",
    "accentSuccess",
    "accentWarning",
    "accentError",
    "accentInfo",
    "shadow",
    "shadowLg",
    "hoverBg",
    "activeBg",
    "focusRing",
];

/// Lists the themes that are for everybody.
#[utoipa::path(get, path = "/t/{token}/api/themes", tag = "observability", params(("token" = String, Path)),
    responses((status = 200, body = Object)))]
pub(crate) async fn list(State(app): State<App>, Caller(who): Caller) -> Answer<Json<Value>> {
    let found = app.ask(&who, |service, who| {
        let rows = service.store().documents(COLLECTION, who.scope().as_ref(), "", PAGE_LIMIT)?;
        Ok(rows.into_iter().map(|row| row.record).collect::<Vec<_>>())
    });
    let mut themes = found.await?;
    themes.retain(|theme| theme.get("isPublic") == Some(&json!(true)));
    Ok(Json(json!({"success": true, "data": themes})))
}

/// Keeps a theme.
#[utoipa::path(post, path = "/t/{token}/api/themes", tag = "observability", params(("token" = String, Path)),
    request_body(content = Object), responses((status = 201, body = Object), (status = 400, body = Object)))]
pub(crate) async fn create(State(app): State<App>, Caller(who): Caller, body: Body) -> Answer<Response> {
    let theme = json_of(body, MAX_THEME).await;
    let Some(Value::Object(mut theme)) = theme else { return Ok(invalid(&[problem("", "is no object")])) };
    let wrong = problems(&theme);
    if !wrong.is_empty() {
        return Ok(invalid(&wrong));
    }
    let now = Timestamp::from(SystemTime::now());
    let id = Uuid::now_v7().simple().to_string();
    for (name, value) in [("id", json!(id)), ("createdAt", json!(now.as_micros() / 1000))] {
        theme.insert(name.to_owned(), value);
    }
    let record = Value::Object(theme);
    let shown = json!({"success": true, "data": record, "message": "Theme created successfully"});
    app.ask(&who, move |service, who| {
        let project = who.project.clone();
        let document = Document { collection: COLLECTION.to_owned(), id, project, updated: now, record };
        let batch = Batch { documents: vec![document], ..Batch::default() };
        service.store().append(batch).wait().map(drop).map_err(Into::into)
    })
    .await?;
    Ok((StatusCode::CREATED, Json(shown)).into_response())
}

/// As below a token.
#[utoipa::path(get, path = "/api/themes", tag = "observability", operation_id = "themes",
    responses((status = 200, body = Object)))]
pub(crate) async fn list_here(app: State<App>, who: Caller) -> Answer<Json<Value>> {
    list(app, who).await
}

/// As below a token.
#[utoipa::path(post, path = "/api/themes", tag = "observability", operation_id = "new_theme",
    request_body(content = Object), responses((status = 201, body = Object), (status = 400, body = Object)))]
pub(crate) async fn create_here(app: State<App>, who: Caller, body: Body) -> Answer<Response> {
    create(app, who, body).await
}

fn problems(theme: &Map<String, Value>) -> Vec<Value> {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let named = ["name", "displayName"].into_iter().filter(|name| !text(theme.get(*name)));
    let mut wrong: Vec<_> = named.map(|name| problem(name, "is required")).collect();
    let colours = theme.get("colors").and_then(Value::as_object).cloned().unwrap_or_default();
    let missing = COLOURS.into_iter().filter(|name| !text(colours.get(*name)));
    wrong.extend(missing.map(|name| problem(&format!("colors.{name}"), "is required")));
    wrong
}

fn problem(field: &str, what: &str) -> Value {
    json!({"field": field, "message": format!("{field} {what}").trim(), "code": "REQUIRED"})
}

fn invalid(wrong: &[Value]) -> Response {
    let body = json!({"success": false, "error": "Validation failed", "validationErrors": wrong});
    (StatusCode::BAD_REQUEST, Json(body)).into_response()
}
