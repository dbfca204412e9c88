//! The page behind a link: one call, and two buttons. No script; looking at it answers nothing.

use std::{sync::Arc, time::SystemTime};

use axum::{
    extract::State,
    http::{HeaderValue, header},
    response::Response,
};
use belljar_domain::{ApprovalScope, ApprovalState, Principal, Timestamp};
use belljar_engine::service::{Answering, ApprovalView, Link, ServiceError, Word};
use serde::Deserialize;

use crate::{
    answer::typed,
    app::App,
    extract::{Named, RawBody},
    openapi::page::escaped,
    problem::{Answer, Failure},
};

/// The page's own style and its own form, and nothing else.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// Shows the call behind a link.
#[utoipa::path(get, path = "/a/{id}", tag = "approvals", security(()), params(("id" = String, Path)),
    responses((status = 200, body = String, content_type = "text/html")))]
pub(crate) async fn page(State(app): State<App>, Named(link): Named) -> Answer<Response> {
    let (link, who) = (opened(&app, &link)?, guest());
    let view = app.ask(&who, move |service, who| service.approval(who, link.approval)).await?;
    Ok(show(&view, None))
}

/// What the page's form sends.
#[derive(Debug, Deserialize)]
struct Form {
    answer: String,
    #[serde(default)]
    reason: String,
}

/// Takes the answer of whoever has the link: `answer` is `allow` or `deny`, `reason` is for the agent.
#[utoipa::path(post, path = "/a/{id}", tag = "approvals", security(()), params(("id" = String, Path)),
    request_body(content = String, content_type = "application/x-www-form-urlencoded"),
    responses((status = 200, body = String, content_type = "text/html")))]
pub(crate) async fn answer_page(
    State(app): State<App>,
    Named(link): Named,
    RawBody(body): RawBody,
) -> Answer<Response> {
    let (link, who) = (opened(&app, &link)?, guest());
    let form: Form =
        serde_urlencoded::from_bytes(&body).map_err(|error| Failure::invalid(error.to_string()))?;
    let word = match form.answer.as_str() {
        "allow" => Word::Allow { scope: ApprovalScope::Once, input: None },
        "deny" => Word::Deny,
        _ => return Err(Failure::field("answer", "is `allow` or `deny`")),
    };
    let said = Answering { word, reason: Some(form.reason).filter(|reason| !reason.is_empty()), how: "link" };
    let answered = app.ask(&who, move |service, who| service.answer(who, link.approval, said)).await;
    let (view, trouble) = match answered {
        Ok(answered) => (answered.approval, None),
        // Somebody was quicker, or nobody waits any more: what became of it is shown.
        Err(failure) => {
            let detail = failure.detail().to_owned();
            (app.ask(&who, move |service, who| service.approval(who, link.approval)).await?, Some(detail))
        }
    };
    Ok(show(&view, trouble.as_deref()))
}

/// Whoever has the link answers for its approval, and for nothing else.
fn guest() -> Arc<Principal> {
    Arc::new(Principal::admin("link"))
}

fn opened(app: &App, text: &str) -> Answer<Link> {
    let link = Link::read(text, &app.settings.pass_key, Timestamp::from(SystemTime::now()));
    link.map_err(|error| ServiceError::NotFound(format!("call behind this link: {error}")).into())
}

fn show(view: &ApprovalView, trouble: Option<&str>) -> Response {
    let input = serde_json::to_string_pretty(&view.input).unwrap_or_default();
    let mut rows = vec![("why", view.reason.clone()), ("risk", view.risk.to_string())];
    let maybe = [
        ("rule", view.rule.clone()),
        ("agent", view.agent.clone().or_else(|| view.vendor.clone())),
        ("in", view.cwd.clone()),
        ("sandbox", view.sandbox.map(|id| id.to_string())),
        ("session", view.session.clone()),
    ];
    rows.extend(maybe.into_iter().filter_map(|(name, value)| Some((name, value?))));
    rows.push(("until", view.expires.to_string()));
    let table: String = rows
        .iter()
        .map(|(name, value)| format!("<tr><th>{name}</th><td>{}</td></tr>", escaped(value)))
        .collect();
    let effects: String = view
        .effects
        .iter()
        .enumerate()
        .map(|(place, effect)| match view.rulings.get(place) {
            Some(said) => format!("<li>{} <small>{} risk</small></li>", escaped(effect), said.risk),
            None => format!("<li>{}</li>", escaped(effect)),
        })
        .collect();
    let end = if view.state == ApprovalState::Pending {
        "<form method=\"post\"><p><input name=\"reason\" maxlength=\"4096\" placeholder=\"reason, for the agent\" \
         aria-label=\"reason\"></p><p><button name=\"answer\" value=\"allow\">Allow once</button> \
         <button name=\"answer\" value=\"deny\">Deny</button></p></form>"
            .to_owned()
    } else {
        let by = view.answer.as_ref().map(|said| format!(" by {}", escaped(&said.by))).unwrap_or_default();
        format!("<p><strong>{}{by}</strong></p>", view.state)
    };
    let trouble = trouble.map(|text| format!("<p>{}</p>", escaped(text))).unwrap_or_default();
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>belljar: {tool}</title>\
         <link rel=\"stylesheet\" href=\"/docs/style.css\"></head><body><main><h1>May {who} use {tool}?</h1>\
         <pre>{}</pre><table>{table}</table><ul>{effects}</ul>{trouble}{end}</main></body></html>",
        escaped(&input),
        tool = escaped(&view.tool),
        who = escaped(view.agent.as_deref().or(view.vendor.as_deref()).unwrap_or(&view.asked_by)),
    );
    let mut response = typed("text/html; charset=utf-8", html);
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}
