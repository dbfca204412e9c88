//! A control group, tried: made, limited, joined by a process, frozen, thawed, removed.

use std::{io, process::Child};

use belljar_domain::Limits;

use super::Prober;
use crate::cgroup::{Group, GroupError, Hierarchy};

/// What a group made for the trial could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupTrial {
    /// Whether a process in it was frozen and thawed.
    pub froze: bool,
}

/// Why a group that looked usable is not.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// It could not be made or used.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// A process could not be moved into it.
    #[error("a process may not be moved into a group made for it: {0}")]
    Join(io::Error),
    /// No process could be started for the trial.
    #[error("the trial's process could not be started: {0}")]
    Start(io::Error),
}

/// Makes a group in the seats found, with a sandbox's limits, and uses it. Nothing of it is left.
///
/// # Errors
/// When something a sandbox needs does not work.
pub fn try_group(prober: &Prober, hierarchy: &Hierarchy, limits: &Limits) -> Result<GroupTrial, TrialError> {
    let group = Group::named(hierarchy, &format!("belljar-doctor-{}", std::process::id()));
    group.create(limits)?;
    let tried = prober.sitter().map_err(TrialError::Start).and_then(|mut member| {
        let tried = use_group(&group, &member);
        end(&mut member);
        tried
    });
    group.remove();
    tried
}

fn use_group(group: &Group, member: &Child) -> Result<GroupTrial, TrialError> {
    let pid = member.id().to_string();
    for door in group.doors()? {
        rustix::io::write(&door, pid.as_bytes()).map_err(|error| TrialError::Join(error.into()))?;
    }
    if !group.can_freeze() {
        return Ok(GroupTrial { froze: false });
    }
    // Thawed whatever happened: version 1 does not even let a frozen process die.
    let (frozen, thawed) = (group.set_frozen(true), group.set_frozen(false));
    frozen.and(thawed)?;
    Ok(GroupTrial { froze: true })
}

fn end(member: &mut Child) {
    drop(member.stdin.take());
    // It ends by itself, but need not be waited for.
    let _ended = member.kill();
    let _status = member.wait();
}
