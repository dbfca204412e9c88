-- Calls that wait for a person, or waited.
CREATE TABLE approvals (
    id        TEXT PRIMARY KEY,
    project   TEXT NOT NULL,
    state     TEXT NOT NULL,
    call      TEXT NOT NULL,
    agent     TEXT,
    session   TEXT,
    sandbox   TEXT,
    created   INTEGER NOT NULL,
    expires   INTEGER NOT NULL,
    answered  INTEGER,
    delivered INTEGER,
    record    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- At one time one call waits once.
CREATE UNIQUE INDEX approvals_waiting ON approvals (project, call) WHERE state = 'pending';
CREATE INDEX approvals_call ON approvals (call, id);
CREATE INDEX approvals_state ON approvals (state, id);
CREATE INDEX approvals_session ON approvals (session, id) WHERE session IS NOT NULL;
CREATE INDEX approvals_sandbox ON approvals (sandbox, id) WHERE sandbox IS NOT NULL;
