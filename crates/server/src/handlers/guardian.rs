//! The policy: its rules and how often they spoke, and a call tried on it; what is known of this machine.

use std::time::Instant;

use axum::extract::State;
use belljar_api as api;
use belljar_engine::service::{RuleView, Rulebook, Service, ServiceError, TrialCall, Tried, TriedFinding};
use serde_json::{Value, json};

use crate::{
    answer::Json,
    app::App,
    extract::{Caller, JsonBody},
    problem::{Answer, Failure},
};

/// The longest command that is looked at.
const LONGEST: usize = 65_536;

/// Shows the policy in force, with how often each rule decided since yesterday.
#[utoipa::path(get, path = "/api/v1/guardian", tag = "guardian", responses((status = 200, body = api::Guardian)))]
pub(crate) async fn show(State(app): State<App>, Caller(who): Caller) -> Answer<Json<api::Guardian>> {
    let Rulebook { mode, wait_ms, rules, acl, is_bounded } = app.ask(&who, Service::rulebook).await?;
    let acl = acl.into_iter().map(|acl| api::GuardianAcl {
        path: acl.path,
        access: word(&json!(acl.access)),
        agent: acl.agent,
    });
    Ok(Json(api::Guardian {
        mode: word(&json!(mode)),
        wait_seconds: wait_ms / 1000,
        rules: rules.into_iter().map(rule).collect(),
        acl: acl.collect(),
        hits_bounded: is_bounded,
    }))
}

/// Says what the policy would say of a call. Nothing is run, nothing is written down.
#[utoipa::path(post, path = "/api/v1/guardian/check", tag = "guardian", request_body = api::CheckCall,
    responses((status = 200, body = api::CheckedCall)))]
pub(crate) async fn check(
    State(app): State<App>,
    Caller(who): Caller,
    JsonBody(asked): JsonBody<api::CheckCall>,
) -> Answer<Json<api::CheckedCall>> {
    let trial = trial(asked)?;
    let begun = Instant::now();
    let tried = app.ask(&who, move |service, _| Ok::<_, ServiceError>(service.try_call(&trial))).await?;
    let Tried { verdict, risk, rule, reason, effects, findings } = tried;
    Ok(Json(api::CheckedCall {
        verdict: verdict.to_string(),
        risk: risk.map(|risk| risk.to_string()),
        rule,
        reason,
        effects,
        findings: findings.into_iter().map(finding).collect(),
        took_us: u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX),
    }))
}

/// Says what this host can enforce, and where agents' hooks are.
#[utoipa::path(get, path = "/api/v1/host", tag = "server", responses((status = 200, body = api::HostReport)))]
pub(crate) async fn host(State(app): State<App>, Caller(who): Caller) -> Answer<Json<api::HostReport>> {
    if !who.admin {
        return Err(ServiceError::Denied(
            "what there is to know of this machine is for its admin".to_owned(),
        )
        .into());
    }
    let look = app.settings.host.clone();
    let (doctor, hooks) = app.ask(&who, move |_, _| Ok::<_, ServiceError>(look.look())).await?;
    Ok(Json(api::HostReport { doctor, hooks }))
}

fn trial(asked: api::CheckCall) -> Answer<TrialCall> {
    let (tool, input) = match (asked.command, asked.tool, asked.input) {
        (Some(command), None, None) => ("Bash".to_owned(), json!({ "command": command })),
        (None, Some(tool), input) => (tool, input.unwrap_or_default()),
        _ => return Err(Failure::field("command", "give either a `command`, or a `tool` with its `input`")),
    };
    let size = input.to_string().len();
    if size > LONGEST {
        return Err(Failure::field("command", format!("{size} bytes are more than {LONGEST}")));
    }
    let is_inside = asked.place == api::CheckPlace::Sandbox;
    Ok(TrialCall { tool, input, cwd: asked.cwd, home: asked.home, is_inside, agent: asked.agent })
}

fn rule(view: RuleView) -> api::GuardianRule {
    let RuleView { rule, pack, verdict, hits, last } = view;
    api::GuardianRule {
        written: serde_json::to_value(&rule).unwrap_or_default(),
        risk: rule.risk().to_string(),
        name: rule.name,
        pack: pack.map(str::to_owned),
        verdict: verdict.map_or_else(|| "off".to_owned(), |verdict| verdict.to_string()),
        reason: rule.reason,
        instead: rule.instead,
        hits,
        last_hit: last.map(|time| time.to_string()),
    }
}

fn finding(finding: TriedFinding) -> api::CheckedFinding {
    api::CheckedFinding {
        rule: finding.rule,
        pack: finding.pack.map(str::to_owned),
        verdict: finding.verdict.to_string(),
        risk: finding.risk.to_string(),
        effect: finding.effect.map(|place| place + 1),
        certain: finding.is_certain,
        relieved_by: finding.relieved_by,
        reason: finding.reason,
        instead: finding.instead,
    }
}

fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
