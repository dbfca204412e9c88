//! How many sandboxes there may be: in all, per project, per agent. Whoever is one too many waits their turn.

use std::{
    collections::BTreeMap,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use belljar_domain::ProjectId;

use super::ServiceError;

/// How many sandboxes may live at once, and how long to wait for room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quotas {
    /// On this host.
    pub total: usize,
    /// In one project.
    pub project: usize,
    /// Of one agent.
    pub agent: usize,
    /// How many may wait for room at once.
    pub queue: usize,
    /// How long each may wait.
    pub patience: Duration,
}

impl Default for Quotas {
    fn default() -> Self {
        Self { total: 50, project: 50, agent: 5, queue: 256, patience: Duration::from_secs(30) }
    }
}

/// Counts sandboxes and lets no more in than there is room for.
#[derive(Debug)]
pub(super) struct Places {
    quotas: Quotas,
    counts: Mutex<Counts>,
    left: Condvar,
}

#[derive(Debug, Default)]
struct Counts {
    total: usize,
    projects: BTreeMap<ProjectId, usize>,
    agents: BTreeMap<(ProjectId, String), usize>,
    waiting: usize,
}

/// Whose sandbox it is, for the count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seat {
    pub(super) project: ProjectId,
    pub(super) agent: Option<String>,
}

impl Places {
    pub(super) fn new(quotas: Quotas) -> Self {
        Self { quotas, counts: Mutex::default(), left: Condvar::new() }
    }

    /// Takes a seat, waiting for one if none is free.
    pub(super) fn enter(&self, seat: &Seat) -> Result<(), ServiceError> {
        let deadline = Instant::now() + self.quotas.patience;
        let mut counts = self.lock();
        let Some(mut full) = self.full(&counts, seat) else {
            counts.change(seat, 1);
            return Ok(());
        };
        if counts.waiting >= self.quotas.queue {
            return Err(ServiceError::Quota(format!("{full}, and too many wait already; try again later")));
        }
        counts.waiting += 1;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            counts = self.left.wait_timeout(counts, left).unwrap_or_else(PoisonError::into_inner).0;
            match self.full(&counts, seat) {
                None => break,
                Some(still) => full = still,
            }
            if Instant::now() >= deadline {
                counts.waiting -= 1;
                let waited = self.quotas.patience.as_secs();
                return Err(ServiceError::Quota(format!(
                    "{full}, and none ended within {waited} s; end one, or raise the limit in belljar.toml"
                )));
            }
        }
        counts.waiting -= 1;
        counts.change(seat, 1);
        Ok(())
    }

    /// How many sandboxes there may be of this sort at all.
    pub(super) fn room(&self, seat: &Seat) -> usize {
        let Quotas { total, project, agent, .. } = self.quotas;
        let own = if seat.agent.is_some() { agent } else { total };
        total.min(project).min(own)
    }

    /// Takes a seat whether or not there is room: for what is alive already.
    pub(super) fn seat(&self, seat: &Seat) {
        self.lock().change(seat, 1);
    }

    pub(super) fn leave(&self, seat: &Seat) {
        self.lock().change(seat, -1);
        self.left.notify_all();
    }

    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    fn full(&self, counts: &Counts, seat: &Seat) -> Option<String> {
        let project = counts.projects.get(&seat.project).copied().unwrap_or(0);
        let agent = seat.agent.as_ref().map(|agent| {
            (agent, counts.agents.get(&(seat.project.clone(), agent.clone())).copied().unwrap_or(0))
        });
        if counts.total >= self.quotas.total {
            return Some(format!("this host has {} sandboxes, as many as it may", counts.total));
        }
        if project >= self.quotas.project {
            return Some(format!("project `{}` has {project} sandboxes, as many as it may", seat.project));
        }
        agent
            .filter(|(_, count)| *count >= self.quotas.agent)
            .map(|(agent, count)| format!("agent `{agent}` has {count} sandboxes, as many as it may"))
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn change(&mut self, seat: &Seat, by: isize) {
        self.total = self.total.saturating_add_signed(by);
        let project = self.projects.entry(seat.project.clone()).or_default();
        *project = project.saturating_add_signed(by);
        if let Some(agent) = &seat.agent {
            let agent = self.agents.entry((seat.project.clone(), agent.clone())).or_default();
            *agent = agent.saturating_add_signed(by);
        }
        self.projects.retain(|_, count| *count > 0);
        self.agents.retain(|_, count| *count > 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(agent: &str) -> Seat {
        Seat { project: ProjectId::default(), agent: Some(agent.to_owned()) }
    }

    #[test]
    fn one_too_many_waits_until_somebody_leaves() {
        let places = Places::new(Quotas { total: 2, patience: Duration::from_secs(60), ..Quotas::default() });
        places.enter(&seat("a")).unwrap();
        places.enter(&seat("b")).unwrap();
        std::thread::scope(|scope| {
            let third = scope.spawn(|| places.enter(&seat("c")));
            while places.waiting() == 0 {
                std::thread::yield_now();
            }
            places.leave(&seat("a"));
            third.join().unwrap().unwrap();
        });
        assert_eq!(places.waiting(), 0);
    }

    #[test]
    fn an_agent_at_its_limit_is_told_so_and_others_are_let_in() {
        let places = Places::new(Quotas { agent: 1, patience: Duration::ZERO, ..Quotas::default() });
        places.enter(&seat("a")).unwrap();
        let refused = places.enter(&seat("a")).unwrap_err();
        assert!(refused.to_string().contains("agent `a`"), "{refused}");
        places.enter(&seat("b")).unwrap();
        places.leave(&seat("a"));
        places.enter(&seat("a")).unwrap();
    }
}
