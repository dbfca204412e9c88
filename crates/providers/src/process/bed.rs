//! Where a sandbox is born, which can be made before anybody asks for one.
//!
//! Owns: id range, namespaces, disk, control group and the ground of the root, made ahead. Refuses: to be used for a
//! sandbox it was not made for; what does not fit is made anew.

use std::{mem, os::fd::OwnedFd, path::Path};

use belljar_domain::{Limits, SandboxId, SandboxSpec};
use belljar_jail::{
    Cradle, Prelude,
    cgroup::{Group, Hierarchy},
    disk::{self, DiskKind},
};
use belljar_ports::SandboxError;

use super::{blueprint, create, facts::HostFacts, ids, nest::Nest, sandboxes};

/// Where a sandbox is born: its id range, what must be held for its life, and its keeper. Can be made in advance.
#[derive(Debug)]
pub(super) struct Bed {
    pub(super) base: Option<u32>,
    pub(super) held: Vec<OwnedFd>,
    pub(super) cradle: Cradle,
    pub(super) group: Option<ReadyGroup>,
    /// Goes last: its marker speaks for the group as well.
    pub(super) nest: Option<Nest>,
    prelude: Prelude,
    disk: Option<(Limits, disk::Ready)>,
}

impl Bed {
    /// Makes one before anybody needs it, with the disk that takes longest, and the part of the root that is the same for
    /// all that are like this one.
    pub(super) fn ahead(
        home: &Path,
        facts: &HostFacts,
        id: SandboxId,
        spec: &SandboxSpec,
    ) -> Result<Self, SandboxError> {
        let mut bed = Self::make(facts, id, spec)?;
        let roots = create::resolve(home, facts, spec)?;
        let nowhere = sandboxes(home).join(id.to_string());
        let drawn = blueprint::draw(facts, id, spec, &roots, &nowhere, bed.base.unwrap_or(0))?;
        // The group drawn here is the one made ahead below.
        let groups = drawn.plan.life.cgroup_dirs.clone();
        bed.cradle.lay(drawn.plan.groundwork(), groups).map_err(create::start_error)?;
        let disk = (facts.disk == DiskKind::Image)
            .then(|| disk::Ready::make(&home.join("cache"), &spec.limits))
            .transpose()
            .map_err(|e| SandboxError::provider("make a disk in advance", e))?;
        let nest = Nest::make(home, id)?;
        let group = ReadyGroup::make(&facts.cgroups, id, &spec.limits)?;
        Ok(Self { disk: disk.map(|disk| (spec.limits, disk)), group, nest: Some(nest), ..bed })
    }

    /// Says whether a sandbox of this kind can be born in it.
    pub(super) fn suits(&self, facts: &HostFacts, spec: &SandboxSpec) -> bool {
        self.prelude == blueprint::prelude(facts, spec, self.base.unwrap_or(0))
    }

    pub(super) fn take_disk(&mut self, spec: &SandboxSpec) -> Option<disk::Ready> {
        self.disk.take().filter(|(limits, _)| *limits == spec.limits).map(|(_, disk)| disk)
    }

    pub(super) fn make(facts: &HostFacts, id: SandboxId, spec: &SandboxSpec) -> Result<Self, SandboxError> {
        let (base, held) = if facts.root {
            let (base, guard) =
                ids::take(id).map_err(|e| SandboxError::provider("take a range of user ids", e))?;
            (Some(base), vec![guard])
        } else {
            (None, Vec::new())
        };
        let prelude = blueprint::prelude(facts, spec, base.unwrap_or(0));
        let cradle = Cradle::prepare(prelude).map_err(create::start_error)?;
        Ok(Self { base, held, cradle, group: None, nest: None, prelude, disk: None })
    }
}

/// A control group that waits for a sandbox. Dropped, it vanishes; if its maker is killed, the nest's marker speaks for it.
#[derive(Debug)]
pub(super) struct ReadyGroup {
    limits: Limits,
    group: Group,
    doors: Vec<OwnedFd>,
    waiting: bool,
}

impl ReadyGroup {
    /// Makes one, where it can be given another name later.
    fn make(hierarchy: &Hierarchy, id: SandboxId, limits: &Limits) -> Result<Option<Self>, SandboxError> {
        if !hierarchy.renames() {
            return Ok(None);
        }
        let group = Group::named(hierarchy, &format!("belljar-{id}"));
        let mut ready = Self { limits: *limits, group, doors: Vec::new(), waiting: true };
        let failed = |e| SandboxError::provider("make a control group in advance", e);
        ready.group.create(limits).map_err(failed)?;
        ready.doors = ready.group.doors().map_err(failed)?;
        Ok(Some(ready))
    }

    /// Gives it the name and place of a sandbox's own; the answer is what it is joined by. None if it is another kind, or
    /// the kernel will not.
    pub(super) fn become_group(mut self, group: &Group, limits: &Limits) -> Option<Vec<OwnedFd>> {
        if self.limits != *limits || self.group.rename(group).is_err() {
            return None;
        }
        self.waiting = false;
        Some(mem::take(&mut self.doors))
    }
}

impl Drop for ReadyGroup {
    fn drop(&mut self) {
        if self.waiting {
            self.group.remove();
        }
    }
}
