//! Removing what killed makers and keepers left behind.

use std::{ffi::OsString, fs, path::Path};

use belljar_domain::SandboxId;
use belljar_jail::{
    cgroup::{Group, Hierarchy},
    disk,
};
use belljar_ports::{Sandbox, SandboxError};
use rustix::fs::{FlockOperation, flock};

use super::{
    changes, handle::ProcessSandbox, making, nest::Nest, record::Record, sandboxes, snapshot, still,
};

/// Removes every half-made sandbox whose maker is dead, the control groups of dead sandboxes, and half-written files; lets
/// those go on that somebody held still who is dead.
pub(super) fn sweep(home: &Path, cgroups: &Hierarchy) -> Result<usize, SandboxError> {
    let mut removed = half_made(home, cgroups, None)?;
    for record in Record::all(home)? {
        let dead = !record.keeper.is_alive() && !record.init.is_alive();
        if dead && record.group.dirs().iter().any(|dir| dir.exists()) {
            record.group.remove();
            removed += 1;
        }
        removed += usize::from(still::release_left(&record, &record.dir(home)));
        let held = record.ended.is_none() && record.keeper.is_alive() && !record.init.is_alive();
        if held && record.dir(home).join("ended").exists() {
            // Its time was over with nobody there: what it changed is copied out of memory, and its keeper let go.
            ProcessSandbox::adopt(home, record).stop(None)?;
            removed += 1;
        }
    }
    removed += forgotten(home, cgroups);
    removed += unclaimed(home, cgroups)?;
    snapshot::remove_drafts(home);
    disk::remove_drafts(&home.join("cache"));
    Ok(removed)
}

/// Directories of sandboxes that were let go and whose keepers died before they could remove them: neither a record nor
/// a marker speaks for them.
fn forgotten(home: &Path, cgroups: &Hierarchy) -> usize {
    let names = fs::read_dir(sandboxes(home)).into_iter().flatten().flatten();
    let ids = names.filter_map(|entry| entry.file_name().to_str()?.parse::<SandboxId>().ok());
    let nobodys = |id: &SandboxId| {
        let marked = making(home).join(id.to_string()).exists();
        !marked && matches!(Record::load(home, *id), Err(SandboxError::Unknown(_)))
    };
    let left: Vec<_> = ids.filter(nobodys).collect();
    for id in &left {
        Group::named(cgroups, &format!("belljar-{id}")).remove();
        // Its keeper may be at it as well.
        let _gone = changes::remove_tree(&sandboxes(home).join(id.to_string()));
    }
    left.len()
}

/// The cheap part, done before every new sandbox: the directory of markers is empty unless a maker was killed.
/// But for that of whoever asks.
pub(super) fn half_made(
    home: &Path,
    cgroups: &Hierarchy,
    own: Option<SandboxId>,
) -> Result<usize, SandboxError> {
    let Ok(entries) = fs::read_dir(making(home)) else { return Ok(0) };
    let own = own.map(|id| OsString::from(id.to_string()));
    let is_sandbox = |name: &OsString| name.to_str().is_some_and(|name| name.parse::<SandboxId>().is_ok());
    let entries: Vec<_> = entries
        .flatten()
        .filter(|entry| own.as_ref() != Some(&entry.file_name()) && is_sandbox(&entry.file_name()))
        .collect();
    if entries.is_empty() {
        return Ok(0);
    }
    // A marker just made is not locked yet; its maker holds the gate until it is.
    let _gate = gate(home, FlockOperation::LockExclusive)?;
    let mut removed = 0;
    for entry in entries {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<SandboxId>().ok()) else {
            continue;
        };
        let Ok(marker) = fs::File::open(entry.path()) else { continue };
        // A maker that is done removes its marker, then lets go of the lock.
        if flock(&marker, FlockOperation::NonBlockingLockExclusive).is_err() || !entry.path().exists() {
            continue;
        }
        // Nobody was told of it, whether or not a record was written before its maker was killed.
        if let Ok(record) = Record::load(home, id) {
            if ProcessSandbox::adopt(home, record).destroy().is_err() {
                // Its keeper may be at it as well; what is left then is removed by the next sweep.
                continue;
            }
        } else {
            Group::named(cgroups, &format!("belljar-{id}")).remove();
            let _gone = fs::remove_dir_all(sandboxes(home).join(id.to_string()));
        }
        removed += 1;
        let _gone = fs::remove_file(entry.path());
    }
    Ok(removed)
}

/// Directories and control groups that waited for a sandbox when their maker was killed.
fn unclaimed(home: &Path, cgroups: &Hierarchy) -> Result<usize, SandboxError> {
    let Ok(entries) = fs::read_dir(making(home)) else { return Ok(0) };
    let _gate = gate(home, FlockOperation::LockExclusive)?;
    let mut removed = 0;
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let bed = name.strip_prefix(Nest::MARK);
        if bed.is_none() && !name.starts_with(Nest::SPARE) {
            continue;
        }
        let Ok(marker) = fs::File::open(entry.path()) else { continue };
        // One that was given another name has a maker who lives.
        if flock(&marker, FlockOperation::NonBlockingLockExclusive).is_err() || !entry.path().exists() {
            continue;
        }
        if let Some(id) = bed {
            Group::named(cgroups, &format!("belljar-{id}")).remove();
            let _gone = changes::remove_tree(&Nest::dir(home, id));
            removed += 1;
        }
        let _gone = fs::remove_file(entry.path());
    }
    Ok(removed)
}

/// Takes the lock on the directory of markers, shared by makers and exclusive for sweepers.
pub(super) fn gate(home: &Path, lock: FlockOperation) -> Result<fs::File, SandboxError> {
    let failed = |e| SandboxError::provider("lock the directory of sandboxes being made", e);
    let gate = fs::File::open(making(home)).map_err(failed)?;
    flock(&gate, lock).map_err(|e| failed(e.into()))?;
    Ok(gate)
}
