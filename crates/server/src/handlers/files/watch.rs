//! Watching a directory by looking at it again and again: slow, and right on every file system and provider.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use axum::{extract::State, response::Response};
use belljar_api as api;
use belljar_domain::{Principal, SandboxId, SandboxPath, Timestamp};
use belljar_engine::service::{FileKind, FileView};

use super::MOST;
use crate::{
    app::App,
    extract::{Caller, Query, Sandbox, path_inside},
    live::sse::{self, Said, Source},
    problem::{Answer, Failure},
    wire,
};

/// Follows what is created, modified and deleted below a path, as server-sent events.
#[utoipa::path(get, path = "/api/v1/sandboxes/{id}/watch", tag = "files", params(("id" = String, Path, pattern = "^sbx_[0-9a-f]{32}$"), api::WatchQuery),
    responses((status = 200, body = String, content_type = "text/event-stream")))]
pub(crate) async fn watch(
    State(app): State<App>,
    Caller(who): Caller,
    Sandbox(id): Sandbox,
    Query(query): Query<api::WatchQuery>,
) -> Answer<Response> {
    let path = path_inside("path", query.path.as_deref().unwrap_or_default())?;
    let (depth, interval) = (query.depth.unwrap_or(4), query.interval_ms.unwrap_or(1000));
    if !(1..=16).contains(&depth) || !(200..=60_000).contains(&interval) {
        return Err(Failure::invalid("`depth` must be from 1 to 16, `interval_ms` from 200 to 60000"));
    }
    let client = app.clients.enter()?;
    let mut watch = Watch {
        app: app.clone(),
        who,
        id,
        path,
        depth,
        interval: Duration::from_millis(interval),
        seen: BTreeMap::new(),
    };
    watch.seen = watch.look().await?.into_iter().map(|view| (view.path.clone(), mark(&view))).collect();
    Ok(sse::respond(&app, client, sse::greeting(), watch))
}

/// What tells two versions of a path apart.
type Mark = (FileKind, u64, Timestamp, u32);

fn mark(view: &FileView) -> Mark {
    (view.kind, view.size, view.modified, view.mode)
}

struct Watch {
    app: App,
    who: Arc<Principal>,
    id: SandboxId,
    path: SandboxPath,
    depth: u32,
    interval: Duration,
    seen: BTreeMap<String, Mark>,
}

impl Watch {
    async fn look(&self) -> Answer<Vec<FileView>> {
        let (id, path, depth) = (self.id, self.path.clone(), self.depth);
        self.app.ask(&self.who, move |service, who| service.list(who, id, &path, depth, None, MOST)).await
    }

    fn compare(&mut self, now: Vec<FileView>) -> Vec<api::FileChange> {
        let mut changes = Vec::new();
        let mut gone = std::mem::take(&mut self.seen);
        for view in now {
            let (path, mark) = (view.path.clone(), mark(&view));
            let change = match gone.remove(&path) {
                None => Some(api::FileChangeKind::Created),
                Some(before) if before != mark => Some(api::FileChangeKind::Modified),
                Some(_) => None,
            };
            if let Some(change) = change {
                changes.push(api::FileChange { change, path: path.clone(), file: Some(wire::file(view)) });
            }
            self.seen.insert(path, mark);
        }
        let deleted = |path| api::FileChange { change: api::FileChangeKind::Deleted, path, file: None };
        changes.extend(gone.into_keys().map(deleted));
        changes
    }
}

impl Source for Watch {
    async fn next(&mut self) -> Said {
        loop {
            tokio::time::sleep(self.interval).await;
            match self.look().await {
                Ok(now) => {
                    let changes = self.compare(now);
                    if !changes.is_empty() {
                        return Said::Text(
                            changes.iter().map(|change| sse::block("change", None::<u64>, change)).collect(),
                        );
                    }
                }
                Err(failure) => return Said::Last(sse::failed(&failure)),
            }
        }
    }
}
