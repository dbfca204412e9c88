//! Sandboxes as rows of the store, and back.

use belljar_domain::{Principal, SandboxSpec, Span, Timestamp};
use belljar_ports::{SandboxInfo, store::SandboxRow};
use serde_json::Value;

use super::SandboxView;

/// How a sandbox looks that nothing but its provider knows of.
pub(super) fn view_of(info: &SandboxInfo, who: &Principal) -> SandboxView {
    let created = Timestamp::from(info.created);
    SandboxView {
        id: info.id,
        name: info.name.clone(),
        project: who.project.clone(),
        state: info.state,
        provider: info.provider.clone(),
        isolation: info.isolation,
        expires: expiry(created, info.spec.clocks.ttl),
        spec: info.spec.clone(),
        levels: info.levels.clone(),
        metadata: Value::Null,
        created,
        last_activity: created,
        ended: info.ended.map(Timestamp::from),
        cause: info.cause,
    }
}

pub(super) fn expiry(from: Timestamp, ttl: Span) -> Option<Timestamp> {
    let millis = ttl.as_millis();
    (millis > 0).then(|| from.plus(std::time::Duration::from_millis(millis)))
}

pub(super) fn row(view: &SandboxView) -> SandboxRow {
    SandboxRow {
        id: view.id,
        project: view.project.clone(),
        name: view.name.clone(),
        state: view.state,
        agent: view.spec.agent.clone(),
        template: view.spec.template.to_string(),
        labels: view.spec.labels.clone(),
        created: view.created,
        ended: view.ended,
        record: serde_json::to_value(view).unwrap_or_default(),
    }
}

/// What the store remembers. A record of another belljar that cannot be read still has its columns.
pub(super) fn from_row(row: &SandboxRow) -> SandboxView {
    serde_json::from_value(row.record.clone()).unwrap_or_else(|_unreadable| SandboxView {
        id: row.id,
        name: row.name.clone(),
        project: row.project.clone(),
        state: row.state,
        provider: "unknown".to_owned(),
        isolation: belljar_domain::Isolation::Namespaces,
        spec: SandboxSpec { labels: row.labels.clone(), agent: row.agent.clone(), ..SandboxSpec::default() },
        levels: Vec::new(),
        metadata: Value::Null,
        created: row.created,
        last_activity: row.created,
        expires: None,
        ended: row.ended,
        cause: None,
    })
}
