-- Tasks given to several sandboxes at once.
CREATE TABLE runs (
    id      TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    state   TEXT NOT NULL,
    task    TEXT NOT NULL,
    winner  INTEGER,
    created INTEGER NOT NULL,
    ended   INTEGER,
    record  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_project ON runs (project, id);
CREATE INDEX runs_state ON runs (state, id);
CREATE INDEX runs_task ON runs (task, id);
