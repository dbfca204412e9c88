//! The ledger in the shapes of older audit logs.

use belljar_domain::{Actor, EventKind, EventStatus, NewEvent, SandboxId, Verdict};
use belljar_ports::store::{Batch, Store};
use rusqlite::{Connection, types::Value};
use uuid::Uuid;

use crate::support::{event, open};

fn rows(db: &Connection, sql: &str) -> Vec<Vec<String>> {
    let mut statement = db.prepare(sql).unwrap();
    let width = statement.column_count();
    let rows = statement.query_map([], |row| (0..width).map(|at| row.get(at).map(shown)).collect());
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn shown(value: Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Text(text) => text,
        Value::Blob(bytes) => format!("{bytes:?}"),
    }
}

fn columns(db: &Connection, view: &str) -> String {
    db.prepare(&format!("SELECT * FROM {view}")).unwrap().column_names().collect::<Vec<_>>().join(" ")
}

#[test]
fn older_audit_logs_find_their_columns_and_words() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let by =
        Actor { id: Some("a-1".to_owned()), name: Some("Ann".to_owned()), role: Some("coder".to_owned()) };
    let ran = NewEvent {
        actor: by.clone(),
        sandbox: Some(SandboxId::from_uuid(Uuid::from_u128(7))),
        target: Some("cargo test".to_owned()),
        target_type: Some("command".to_owned()),
        status: Some(EventStatus::Timeout),
        error: Some("too slow".to_owned()),
        duration_ms: Some(300_000),
        cost_micros: Some(250_000),
        payload: serde_json::json!({ "usage": { "memory": 5 } }),
        ..event(EventKind::ExecutionEnded)
    };
    let denied = NewEvent {
        actor: by,
        tool: Some("Write".to_owned()),
        target: Some("/etc/passwd".to_owned()),
        target_type: Some("file".to_owned()),
        decision: Some(Verdict::Deny),
        reason: Some("outside the workspace".to_owned()),
        ..event(EventKind::GuardianDenied)
    };
    store.append(Batch::of_events(vec![ran, denied, event(EventKind::SandboxState)])).wait().unwrap();
    store.flush().unwrap();
    let db = Connection::open(home.path().join("belljar.db")).unwrap();
    assert_eq!(
        columns(&db, "agent_audit_log"),
        "audit_id agent_id agent_name agent_role operation_type operation_detail target_resource target_type \
         rbac_decision rbac_reason cost_usd tokens_used context timestamp"
    );
    assert_eq!(
        columns(&db, "agent_audit_log_hook"),
        "id timestamp agent_id agent_role operation tool_name file_path api_name allowed denied_reason budget_impact \
         session_id metadata created_at"
    );
    assert_eq!(
        columns(&db, "audit_logs"),
        "id timestamp agent_id sandbox_id operation_type status details resource_usage duration_ms error_message metadata"
    );
    let sql = "SELECT operation_type, target_type, rbac_decision, rbac_reason, cost_usd FROM agent_audit_log";
    assert_eq!(
        rows(&db, sql),
        [
            vec!["command_execute", "command", "-", "-", "0.25"],
            vec!["guardian_denial", "file", "denied", "outside the workspace", "-"],
            vec!["sandbox.state", "unknown", "-", "-", "-"],
        ]
    );
    let sql = "SELECT id, operation, tool_name, file_path, denied_reason FROM denied_operations";
    assert_eq!(rows(&db, sql), [["2", "guardian_denial", "Write", "/etc/passwd", "outside the workspace"]]);
    let sql =
        "SELECT agent_id, operation_count, total_budget_impact, denied_count FROM budget_impact_summary";
    assert_eq!(rows(&db, sql), [["a-1", "2", "0.25", "1"]]);
    assert_eq!(rows(&db, "SELECT id, allowed FROM recent_activity"), [["3", "1"], ["2", "0"], ["1", "1"]]);
    let sql = "SELECT sandbox_id, operation_type, status, details, resource_usage, duration_ms, error_message
               FROM audit_logs";
    let sandbox = "sbx_00000000000000000000000000000007";
    assert_eq!(
        rows(&db, sql),
        [
            [sandbox, "command_execute", "timeout", "cargo test", "{\"memory\":5}", "300000", "too slow"],
            ["-", "guardian_denial", "denied", "/etc/passwd", "-", "-", "-"],
        ]
    );
    let timestamp = &rows(&db, "SELECT timestamp FROM audit_logs")[0][0];
    assert!(timestamp.ends_with('Z') && timestamp.starts_with("20") && timestamp.len() == 24, "{timestamp}");
}
