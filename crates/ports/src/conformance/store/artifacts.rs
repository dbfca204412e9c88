//! Artifacts: content once, links many, caps held.

use std::io::Read;

use super::{Bench, DAY, append, fresh, noon, ok, project};
use crate::{
    conformance::{Verdict, expect},
    store::{ArtifactFilter, Batch, NewArtifact, Removal, Store, StoreError},
};

fn about(name: &str) -> Result<NewArtifact, String> {
    Ok(NewArtifact {
        project: project("default")?,
        sandbox: Some(fresh("sbx_")?),
        execution: Some(fresh("exe_")?),
        run: None,
        name: name.to_owned(),
        media_type: "text/plain".to_owned(),
        created: noon(),
    })
}

fn read(store: &dyn Store, digest: belljar_domain::Digest, offset: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    ok(store.open_artifact(digest, offset))?.read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

pub(super) fn are_kept_once(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let first = ok(store.put_artifact(&about("a.txt")?, &mut &b"hello"[..]))?;
    let second = ok(store.put_artifact(&about("b.txt")?, &mut &b"hello"[..]))?;
    let hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
    expect("hash", &first.digest.to_string(), &hash.to_owned())?;
    expect("the same content", &(second.digest, second.bytes), &(first.digest, 5))?;
    expect("counted once", &ok(store.stats(None))?.artifact_bytes, &5)?;
    expect("whole", &read(&*store, first.digest, 0)?, &b"hello".to_vec())?;
    expect("from an offset", &read(&*store, first.digest, 3)?, &b"lo".to_vec())?;
    let all = ok(store.artifacts(&ArtifactFilter::default(), None, 9))?;
    expect("newest first", &all, &vec![second.clone(), first.clone()])?;
    let of = ArtifactFilter { sandbox: first.about.sandbox, ..ArtifactFilter::default() };
    expect("of a sandbox", &ok(store.artifacts(&of, None, 9))?, &vec![first.clone()])?;
    expect(
        "below",
        &ok(store.artifacts(&ArtifactFilter::default(), Some(second.link), 9))?,
        &vec![first.clone()],
    )?;
    append(&*store, Batch { removals: vec![Removal::Artifact(first.link)], ..Batch::default() })?;
    ok(store.prune(noon()))?;
    expect("still pointed to", &read(&*store, first.digest, 0)?, &b"hello".to_vec())?;
    append(&*store, Batch { removals: vec![Removal::Artifact(second.link)], ..Batch::default() })?;
    expect("removed", &ok(store.prune(noon()))?.artifacts, &1)?;
    match store.open_artifact(first.digest, 0) {
        Err(StoreError::Unknown(_)) => Ok(()),
        Err(other) => Err(other.to_string()),
        Ok(_) => Err("an artifact nothing pointed to is still there".to_owned()),
    }
}

pub(super) fn are_capped(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let put = |byte: u8, count: usize| {
        store.put_artifact(&about("x").unwrap_or_default(), &mut vec![byte; count].as_slice())
    };
    match put(0, 1_001) {
        Err(StoreError::TooLarge { limit: 1_000, .. }) => {}
        other => return Err(format!("a giant was not refused: {other:?}")),
    }
    ok(put(1, 1_000))?;
    ok(put(2, 1_000))?;
    match put(3, 1_000) {
        Err(StoreError::TooLarge { limit: 2_500, .. }) => {}
        other => return Err(format!("too many were not refused: {other:?}")),
    }
    ok(put(1, 1_000))?;
    ok(put(4, 500))?;
    expect("links expire", &ok(store.prune(noon().plus(DAY * 31)))?.artifacts, &3)?;
    ok(put(3, 1_000)).map(drop)
}
