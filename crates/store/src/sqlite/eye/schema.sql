-- Records of what agents did, made from the ledger. `record` is the whole record as JSON; columns are what it is found by.
-- Where there are many, it is in a table of its own, so that looking through the columns does not read it.
-- Times are microseconds since 1970 in UTC, money is in billionths of a dollar, days are counted since 1970.

CREATE TABLE IF NOT EXISTS done (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    seq     INTEGER NOT NULL,
    ledger  BLOB NOT NULL,
    version INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS calls (
    id          INTEGER PRIMARY KEY,
    project     TEXT NOT NULL,
    session     TEXT NOT NULL,
    agent       TEXT NOT NULL,
    tool        TEXT,
    tool_use    TEXT,
    prompt      TEXT,
    sandbox     TEXT,
    execution   TEXT,
    run         TEXT,
    decision    TEXT,
    outcome     TEXT,
    fingerprint TEXT,
    time        INTEGER NOT NULL,
    last        INTEGER NOT NULL,
    duration    INTEGER
) STRICT;
CREATE TABLE IF NOT EXISTS call_records (
    id     INTEGER PRIMARY KEY,
    record TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS calls_session ON calls (session);
CREATE INDEX IF NOT EXISTS calls_use ON calls (tool_use) WHERE tool_use IS NOT NULL;
CREATE INDEX IF NOT EXISTS calls_agent ON calls (agent) WHERE agent <> '';
CREATE INDEX IF NOT EXISTS calls_tool ON calls (tool);
CREATE INDEX IF NOT EXISTS calls_tool_outcome ON calls (tool, outcome);
CREATE INDEX IF NOT EXISTS calls_outcome ON calls (outcome);
CREATE INDEX IF NOT EXISTS calls_decision ON calls (decision) WHERE decision IS NOT NULL;
CREATE INDEX IF NOT EXISTS calls_fingerprint ON calls (fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX IF NOT EXISTS calls_prompt ON calls (prompt) WHERE prompt IS NOT NULL;
CREATE INDEX IF NOT EXISTS calls_sandbox ON calls (sandbox) WHERE sandbox IS NOT NULL;
CREATE INDEX IF NOT EXISTS calls_execution ON calls (execution) WHERE execution IS NOT NULL;
CREATE INDEX IF NOT EXISTS calls_run ON calls (run) WHERE run IS NOT NULL;
CREATE INDEX IF NOT EXISTS calls_time ON calls (time);
CREATE INDEX IF NOT EXISTS calls_project ON calls (project);
CREATE INDEX IF NOT EXISTS calls_duration ON calls (duration) WHERE duration IS NOT NULL;

CREATE TABLE IF NOT EXISTS sessions (
    id       INTEGER PRIMARY KEY,
    project  TEXT NOT NULL,
    session  TEXT NOT NULL,
    vendor   TEXT,
    model    TEXT,
    state    TEXT NOT NULL,
    cwd      TEXT,
    parent   TEXT,
    sandbox  TEXT,
    run      TEXT,
    began    INTEGER NOT NULL,
    received INTEGER NOT NULL,
    record   TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS sessions_name ON sessions (session, project);
CREATE INDEX IF NOT EXISTS sessions_state ON sessions (state);
CREATE INDEX IF NOT EXISTS sessions_received ON sessions (received);

CREATE TABLE IF NOT EXISTS agents (
    id              INTEGER PRIMARY KEY,
    project         TEXT NOT NULL,
    session         TEXT NOT NULL,
    agent           TEXT NOT NULL,
    vendor          TEXT,
    agent_type      TEXT,
    parent          TEXT,
    state           TEXT NOT NULL,
    began           INTEGER NOT NULL,
    last            INTEGER NOT NULL,
    ended           INTEGER,
    repeats         INTEGER NOT NULL,
    events          INTEGER NOT NULL,
    prompts         INTEGER NOT NULL,
    turns           INTEGER NOT NULL,
    turns_failed    INTEGER NOT NULL,
    calls           INTEGER NOT NULL,
    succeeded       INTEGER NOT NULL,
    failed          INTEGER NOT NULL,
    denied          INTEGER NOT NULL,
    cancelled       INTEGER NOT NULL,
    requests_failed INTEGER NOT NULL,
    compactions     INTEGER NOT NULL,
    requests        INTEGER NOT NULL,
    input           INTEGER NOT NULL,
    output          INTEGER NOT NULL,
    cache_read      INTEGER NOT NULL,
    cache_write_5m  INTEGER NOT NULL,
    cache_write_1h  INTEGER NOT NULL,
    cost            INTEGER NOT NULL,
    estimated       INTEGER NOT NULL,
    at_list_price   INTEGER NOT NULL,
    unpriced        INTEGER NOT NULL,
    duration_ms     INTEGER NOT NULL,
    durations       TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS agent_records (
    id     INTEGER PRIMARY KEY,
    record TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS agents_name ON agents (session, agent, project);
CREATE INDEX IF NOT EXISTS agents_own ON agents (agent) WHERE agent <> '';
CREATE INDEX IF NOT EXISTS agents_repeats ON agents (repeats) WHERE repeats > 1;
CREATE INDEX IF NOT EXISTS agents_last ON agents (last);
CREATE INDEX IF NOT EXISTS agents_calls ON agents (calls);

CREATE TABLE IF NOT EXISTS requests (
    id      INTEGER PRIMARY KEY,
    project TEXT NOT NULL,
    session TEXT NOT NULL,
    name    TEXT,
    message TEXT,
    counted INTEGER NOT NULL,
    time    INTEGER NOT NULL,
    record  TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS requests_session ON requests (session);
CREATE INDEX IF NOT EXISTS requests_name ON requests (name) WHERE name IS NOT NULL;
CREATE INDEX IF NOT EXISTS requests_message ON requests (message) WHERE message IS NOT NULL;
CREATE INDEX IF NOT EXISTS requests_time ON requests (time);

-- Sums of requests by everything money is asked for by. Never removed.
CREATE TABLE IF NOT EXISTS spend (
    project        TEXT NOT NULL,
    day            INTEGER NOT NULL,
    session        TEXT NOT NULL,
    agent          TEXT NOT NULL,
    model          TEXT NOT NULL,
    run            TEXT NOT NULL,
    sandbox        TEXT NOT NULL,
    requests       INTEGER NOT NULL,
    input          INTEGER NOT NULL,
    output         INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    cache_write_5m INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    cost           INTEGER NOT NULL,
    estimated      INTEGER NOT NULL,
    at_list_price  INTEGER NOT NULL,
    unpriced       INTEGER NOT NULL,
    PRIMARY KEY (day, session, agent, model, run, sandbox, project)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS spend_session ON spend (session);

-- Sums of calls by tool and day. Never removed.
CREATE TABLE IF NOT EXISTS tool_days (
    project      TEXT NOT NULL,
    day          INTEGER NOT NULL,
    tool         TEXT NOT NULL,
    calls        INTEGER NOT NULL,
    succeeded    INTEGER NOT NULL,
    failed       INTEGER NOT NULL,
    denied       INTEGER NOT NULL,
    cancelled    INTEGER NOT NULL,
    duration_ms  INTEGER NOT NULL,
    input_bytes  INTEGER NOT NULL,
    output_bytes INTEGER NOT NULL,
    cost         INTEGER NOT NULL,
    durations    TEXT NOT NULL,
    PRIMARY KEY (day, tool, project)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS errors (
    id          INTEGER PRIMARY KEY,
    project     TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    state       TEXT NOT NULL,
    what        TEXT NOT NULL,
    tool        TEXT,
    first       INTEGER NOT NULL,
    last        INTEGER NOT NULL,
    record      TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS errors_name ON errors (fingerprint, project);
CREATE INDEX IF NOT EXISTS errors_last ON errors (last);

CREATE TABLE IF NOT EXISTS series (
    project TEXT NOT NULL,
    name    TEXT NOT NULL,
    labels  TEXT NOT NULL,
    session TEXT,
    latest  INTEGER NOT NULL,
    record  TEXT NOT NULL,
    PRIMARY KEY (name, labels, project)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS series_session ON series (session) WHERE session IS NOT NULL;

-- Where events are, by their words and by their fields; a field with its value is a word of its own (words.rs).
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (body, content = '', contentless_delete = 1, detail = none);
