-- The ledger, what exists now, logs, measurements, artifacts. Times are microseconds since 1970 in UTC.

-- One row: which ledger this is, and where it ends. `head_mac` is keyed with a secret that is not in this file.
CREATE TABLE ledger (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    id        BLOB NOT NULL,
    head_seq  INTEGER NOT NULL,
    head_hash BLOB NOT NULL,
    head_mac  BLOB NOT NULL
) STRICT;

-- What happened. Columns from `id` to `payload` are hashed in this order (ledger/columns.rs).
CREATE TABLE events (
    seq         INTEGER PRIMARY KEY,
    received    INTEGER NOT NULL,
    prev_hash   BLOB NOT NULL,
    hash        BLOB NOT NULL,
    id          BLOB NOT NULL,
    time        INTEGER NOT NULL,
    project     TEXT NOT NULL,
    kind        TEXT NOT NULL,
    class       TEXT NOT NULL,
    agent_id    TEXT,
    agent_name  TEXT,
    agent_role  TEXT,
    session     TEXT,
    sandbox     TEXT,
    execution   TEXT,
    run         TEXT,
    operation   TEXT,
    tool        TEXT,
    target      TEXT,
    target_type TEXT,
    decision    TEXT,
    reason      TEXT,
    risk        TEXT,
    status      TEXT,
    error       TEXT,
    cost_micros INTEGER,
    tokens      INTEGER,
    duration_ms INTEGER,
    payload     TEXT
) STRICT;

-- One column each: an index ends with the place, so a page of a filtered list is read in order without sorting.
CREATE UNIQUE INDEX events_id ON events (id);
CREATE INDEX events_time ON events (time);
CREATE INDEX events_project ON events (project);
CREATE INDEX events_agent ON events (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX events_session ON events (session) WHERE session IS NOT NULL;
CREATE INDEX events_sandbox ON events (sandbox) WHERE sandbox IS NOT NULL;
CREATE INDEX events_execution ON events (execution) WHERE execution IS NOT NULL;
CREATE INDEX events_decision ON events (decision) WHERE decision IS NOT NULL;

-- Stands for the events from `first` to `last` that retention removed: the hash before them, and the hash of the last.
CREATE TABLE checkpoints (
    first     INTEGER PRIMARY KEY,
    last      INTEGER NOT NULL,
    made      INTEGER NOT NULL,
    prev_hash BLOB NOT NULL,
    hash      BLOB NOT NULL,
    mac       BLOB NOT NULL
) STRICT;

CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TRIGGER events_never_vanish BEFORE DELETE ON events
WHEN NOT EXISTS (SELECT 1 FROM checkpoints WHERE first <= OLD.seq AND last >= OLD.seq)
BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;

CREATE TABLE sandboxes (
    id       TEXT PRIMARY KEY,
    project  TEXT NOT NULL,
    name     TEXT NOT NULL,
    state    TEXT NOT NULL,
    agent    TEXT,
    template TEXT NOT NULL,
    labels   TEXT NOT NULL,
    created  INTEGER NOT NULL,
    ended    INTEGER,
    record   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sandboxes_project ON sandboxes (project, id);
CREATE INDEX sandboxes_agent ON sandboxes (agent, id) WHERE agent IS NOT NULL;
CREATE INDEX sandboxes_state ON sandboxes (state, id);

CREATE TABLE executions (
    id        TEXT PRIMARY KEY,
    sandbox   TEXT NOT NULL,
    project   TEXT NOT NULL,
    command   TEXT NOT NULL,
    status    TEXT,
    exit_code INTEGER,
    started   INTEGER NOT NULL,
    ended     INTEGER,
    record    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX executions_sandbox ON executions (sandbox, id);
CREATE INDEX executions_project ON executions (project, id);

CREATE TABLE snapshots (
    id      TEXT PRIMARY KEY,
    sandbox TEXT NOT NULL,
    project TEXT NOT NULL,
    name    TEXT,
    created INTEGER NOT NULL,
    bytes   INTEGER NOT NULL,
    record  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE documents (
    collection TEXT NOT NULL,
    id         TEXT NOT NULL,
    project    TEXT NOT NULL,
    updated    INTEGER NOT NULL,
    record     TEXT NOT NULL,
    PRIMARY KEY (collection, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
    project     TEXT NOT NULL,
    key         TEXT NOT NULL,
    fingerprint BLOB NOT NULL,
    status      INTEGER,
    media_type  TEXT,
    body        BLOB,
    created     INTEGER NOT NULL,
    expires     INTEGER NOT NULL,
    PRIMARY KEY (project, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_expires ON idempotency (expires);

CREATE TABLE deliveries (
    id          TEXT PRIMARY KEY,
    webhook     TEXT NOT NULL,
    project     TEXT NOT NULL,
    event       TEXT NOT NULL,
    attempt     INTEGER NOT NULL,
    time        INTEGER NOT NULL,
    status      TEXT,
    code        INTEGER,
    error       TEXT,
    duration_ms INTEGER,
    retry       INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_webhook ON deliveries (webhook, id);
CREATE INDEX deliveries_retry ON deliveries (retry) WHERE retry IS NOT NULL;
CREATE INDEX deliveries_time ON deliveries (time);

-- No `seq` is ever used twice, since the search index and readers go by it. `execution` is empty for what concerns the sandbox as a whole; `stream` is 0 stdout, 1 stderr, 2 system.
CREATE TABLE logs (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    sandbox   TEXT NOT NULL,
    execution TEXT NOT NULL,
    stream    INTEGER NOT NULL,
    offset    INTEGER NOT NULL,
    time      INTEGER NOT NULL,
    cut       INTEGER NOT NULL,
    bytes     BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX logs_place ON logs (sandbox, execution, stream, offset);
CREATE INDEX logs_execution ON logs (execution, stream, offset) WHERE execution <> '';

CREATE TABLE samples (
    sandbox TEXT NOT NULL,
    time    INTEGER NOT NULL,
    cpu     INTEGER,
    memory  INTEGER,
    disk    INTEGER,
    rx      INTEGER,
    tx      INTEGER,
    pids    INTEGER,
    PRIMARY KEY (sandbox, time)
) STRICT, WITHOUT ROWID;

CREATE INDEX samples_time ON samples (time);

-- An hour of samples each.
CREATE TABLE rollups (
    sandbox    TEXT NOT NULL,
    time       INTEGER NOT NULL,
    samples    INTEGER NOT NULL,
    cpu        INTEGER,
    memory     INTEGER,
    memory_max INTEGER,
    disk       INTEGER,
    rx         INTEGER,
    tx         INTEGER,
    pids       INTEGER,
    PRIMARY KEY (sandbox, time)
) STRICT, WITHOUT ROWID;

-- Files, by the SHA-256 of their content, and what points to them.
CREATE TABLE artifacts (
    digest BLOB PRIMARY KEY,
    bytes  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE artifact_links (
    link       INTEGER PRIMARY KEY AUTOINCREMENT,
    digest     BLOB NOT NULL,
    project    TEXT NOT NULL,
    sandbox    TEXT,
    execution  TEXT,
    run        TEXT,
    name       TEXT NOT NULL,
    media_type TEXT NOT NULL,
    created    INTEGER NOT NULL
) STRICT;
CREATE INDEX artifact_links_digest ON artifact_links (digest);
CREATE INDEX artifact_links_sandbox ON artifact_links (sandbox) WHERE sandbox IS NOT NULL;
CREATE INDEX artifact_links_execution ON artifact_links (execution) WHERE execution IS NOT NULL;
