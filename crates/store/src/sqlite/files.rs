//! Artifacts as rows: which content there is, and what points to it. The content itself is in files.

use std::{
    io::Read,
    sync::{Arc, Mutex, PoisonError},
};

use belljar_domain::Digest;
use belljar_ports::{
    StoreError,
    store::{Artifact, ArtifactFilter, NewArtifact, PAGE_LIMIT},
};
use rusqlite::{Connection, Row, params_from_iter, types::Value};

use super::{
    SqliteStore,
    sql::{Doing, Filter, amount, hash, maybe_parsed, maybe_text, moment, parsed, signed, text, time},
};

const READING: &str = "read what artifacts there are";

impl SqliteStore {
    /// Keeps a file and what points to it: the content is durable before the row that knows it.
    pub(super) fn keep_artifact(
        &self,
        about: &NewArtifact,
        content: &mut dyn Read,
    ) -> Result<Artifact, StoreError> {
        let staged = self.artifacts.stage(content)?;
        let (digest, bytes) = (staged.digest, staged.bytes);
        let _placing = self.artifacts.placing();
        let limit = self.config.artifacts_bytes;
        self.pool.read(|connection| room(connection, digest, bytes, limit))?;
        self.artifacts.place(&staged)?;
        let link = Arc::new(Mutex::new(0));
        let (to, values) = (Arc::clone(&link), values(digest, about));
        self.task(Box::new(move |connection| {
            let made = insert(connection, digest, bytes, &values)?;
            *to.lock().unwrap_or_else(PoisonError::into_inner) = made;
            Ok(())
        }))?;
        drop(staged);
        let link = *link.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(Artifact { link, digest, bytes, about: about.clone() })
    }
}

impl SqliteStore {
    /// Removes what a killed writer left: files that were never whole, and those no row came to know.
    pub(super) fn clear_artifacts(&self) -> Result<(), StoreError> {
        let doing = |e| StoreError::backend("remove what was left of an artifact", e);
        for (path, digest) in self.artifacts.abandoned().map_err(doing)? {
            if !self.pool.read(|connection| is_known(connection, digest))? {
                self.artifacts.remove(digest).map_err(doing)?;
            }
            std::fs::remove_file(path).map_err(doing)?;
        }
        Ok(())
    }
}

/// Refuses content that is new and does not fit any more.
fn room(connection: &Connection, digest: Digest, bytes: u64, limit: u64) -> Result<(), StoreError> {
    let sql = "SELECT coalesce(sum(bytes), 0), coalesce(max(digest = ?), 0) FROM artifacts";
    let read = |row: &Row<'_>| Ok((amount(row, 0)?, row.get::<_, bool>(1)?));
    let (total, is_known) = connection.query_row(sql, [digest.0], read).doing(READING)?;
    let found = total.saturating_add(bytes);
    if is_known || found <= limit {
        return Ok(());
    }
    Err(StoreError::TooLarge { what: "bytes of all artifacts", found, limit })
}

fn values(digest: Digest, about: &NewArtifact) -> Vec<Value> {
    vec![
        Value::Blob(digest.0.to_vec()),
        text(&about.project),
        maybe_text(about.sandbox),
        maybe_text(about.execution),
        maybe_text(about.run),
        text(&about.name),
        text(&about.media_type),
        time(about.created),
    ]
}

fn insert(connection: &Connection, digest: Digest, bytes: u64, values: &[Value]) -> Result<u64, StoreError> {
    let doing = "write down an artifact";
    let content = "INSERT OR IGNORE INTO artifacts (digest, bytes) VALUES (?, ?)";
    connection.execute(content, (digest.0, signed(bytes))).doing(doing)?;
    let link =
        "INSERT INTO artifact_links (digest, project, sandbox, execution, run, name, media_type, created)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING link";
    connection.query_row(link, params_from_iter(values), |row| amount(row, 0)).doing(doing)
}

/// Artifacts, newest first.
pub(crate) fn list(
    connection: &Connection,
    filter: &ArtifactFilter,
    below: Option<u64>,
    limit: usize,
) -> Result<Vec<Artifact>, StoreError> {
    let mut all = Filter::default();
    all.and_if("project = ?", filter.project.as_ref());
    all.and_if("sandbox = ?", filter.sandbox);
    all.and_if("execution = ?", filter.execution);
    all.and_if("run = ?", filter.run);
    if let Some(digest) = filter.digest {
        all.and("artifact_links.digest = ?", [Value::Blob(digest.0.to_vec())]);
    }
    if let Some(below) = below {
        all.and("link < ?", [Value::Integer(signed(below))]);
    }
    let sql = format!(
        "SELECT link, digest, bytes, project, sandbox, execution, run, name, media_type, created
         FROM artifact_links JOIN artifacts USING (digest){} ORDER BY link DESC LIMIT {}",
        all.clause(),
        limit.min(PAGE_LIMIT)
    );
    let mut statement = connection.prepare_cached(&sql).doing(READING)?;
    let rows = statement.query_map(params_from_iter(&all.values), artifact).doing(READING)?;
    rows.collect::<rusqlite::Result<_>>().doing(READING)
}

fn artifact(row: &Row<'_>) -> rusqlite::Result<Artifact> {
    Ok(Artifact {
        link: amount(row, 0)?,
        digest: hash(row, 1)?,
        bytes: amount(row, 2)?,
        about: NewArtifact {
            project: parsed(row, 3)?,
            sandbox: maybe_parsed(row, 4)?,
            execution: maybe_parsed(row, 5)?,
            run: maybe_parsed(row, 6)?,
            name: row.get(7)?,
            media_type: row.get(8)?,
            created: moment(row, 9)?,
        },
    })
}

/// Content nothing points to.
pub(crate) fn unlinked(connection: &Connection) -> Result<Vec<Digest>, StoreError> {
    let sql =
        "SELECT digest FROM artifacts WHERE digest NOT IN (SELECT digest FROM artifact_links) LIMIT 1000";
    let mut statement = connection.prepare_cached(sql).doing(READING)?;
    let rows = statement.query_map([], |row| hash(row, 0)).doing(READING)?;
    rows.collect::<rusqlite::Result<_>>().doing(READING)
}

/// Whether the database knows this content.
pub(crate) fn is_known(connection: &Connection, digest: Digest) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM artifacts WHERE digest = ?)";
    connection.query_row(sql, [digest.0], |row| row.get(0)).doing(READING)
}
