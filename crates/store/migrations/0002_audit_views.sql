-- The ledger in the shapes of older audit logs, for those who query the file directly.

-- The audit log of the visibility API.
CREATE VIEW agent_audit_log AS
SELECT
    'evt_' || lower(hex(id)) AS audit_id,
    agent_id,
    agent_name,
    agent_role,
    coalesce(operation, kind) AS operation_type,
    coalesce('Tool: ' || tool, kind) AS operation_detail,
    target AS target_resource,
    coalesce(target_type, 'unknown') AS target_type,
    CASE decision WHEN 'allow' THEN 'allowed' WHEN 'deny' THEN 'denied' ELSE decision END AS rbac_decision,
    reason AS rbac_reason,
    cost_micros / 1e6 AS cost_usd,
    tokens AS tokens_used,
    json_object(
        'session_id', session,
        'tool_name', tool,
        'execution_time_ms', duration_ms,
        'metadata', json(coalesce(payload, '{}'))
    ) AS context,
    strftime('%Y-%m-%dT%H:%M:%fZ', time / 1e6, 'unixepoch') AS timestamp
FROM events;

-- The audit log of the post-audit-trail hook. What was never judged was not refused either.
CREATE VIEW agent_audit_log_hook AS
SELECT
    seq AS id,
    strftime('%Y-%m-%dT%H:%M:%fZ', time / 1e6, 'unixepoch') AS timestamp,
    agent_id,
    agent_role,
    coalesce(operation, kind) AS operation,
    tool AS tool_name,
    CASE target_type WHEN 'file' THEN target END AS file_path,
    CASE target_type WHEN 'api' THEN target END AS api_name,
    decision IS NOT 'deny' AS allowed,
    CASE decision WHEN 'deny' THEN reason END AS denied_reason,
    coalesce(cost_micros, 0) / 1e6 AS budget_impact,
    session AS session_id,
    payload AS metadata,
    strftime('%Y-%m-%dT%H:%M:%fZ', received / 1e6, 'unixepoch') AS created_at
FROM events;

CREATE VIEW denied_operations AS
SELECT id, timestamp, agent_id, agent_role, operation, tool_name, file_path, api_name, denied_reason, session_id
FROM agent_audit_log_hook
WHERE allowed = 0
ORDER BY id DESC;

CREATE VIEW budget_impact_summary AS
SELECT
    agent_id,
    agent_role,
    count(*) AS operation_count,
    sum(budget_impact) AS total_budget_impact,
    avg(budget_impact) AS average_budget_impact,
    sum(allowed) AS allowed_count,
    sum(1 - allowed) AS denied_count
FROM agent_audit_log_hook
WHERE agent_id IS NOT NULL
GROUP BY agent_id, agent_role;

CREATE VIEW recent_activity AS
SELECT id, timestamp, agent_id, agent_role, operation, tool_name, allowed, budget_impact, session_id
FROM agent_audit_log_hook
ORDER BY id DESC
LIMIT 100;

-- The audit log of the sandbox manager, with its nine operation types alone.
CREATE VIEW audit_logs AS
SELECT
    seq AS id,
    strftime('%Y-%m-%dT%H:%M:%fZ', time / 1e6, 'unixepoch') AS timestamp,
    agent_id,
    sandbox AS sandbox_id,
    operation AS operation_type,
    coalesce(status, CASE decision WHEN 'deny' THEN 'denied' ELSE 'success' END) AS status,
    coalesce(target, tool, kind) AS details,
    json_extract(payload, '$.usage') AS resource_usage,
    duration_ms,
    error AS error_message,
    payload AS metadata
FROM events
WHERE operation IN (
    'sandbox_create', 'sandbox_delete', 'command_execute', 'file_read', 'file_write', 'resource_exceeded',
    'guardian_approval', 'guardian_denial', 'kill_switch'
);
