//! How many sandboxes there may be: in all, per project, per agent. Whoever is one too many waits their turn: whoever
//! came first is let in first, but for projects that have less, so that nobody's crowd keeps others out.

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
    waiting: BTreeMap<u64, Seat>,
    tickets: u64,
    closed: bool,
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
        // Nobody waits for what is free, so nobody is overtaken.
        let Some(full) = self.full(&counts, seat) else {
            counts.change(seat, 1);
            return Ok(());
        };
        if counts.waiting.len() >= self.quotas.queue {
            return Err(ServiceError::Quota(format!("{full}, and too many wait already; try again later")));
        }
        let ticket = counts.tickets;
        counts.tickets += 1;
        counts.waiting.insert(ticket, seat.clone());
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            counts = self.left.wait_timeout(counts, left).unwrap_or_else(PoisonError::into_inner).0;
            // Whoever is let in is taken off the list, and has the seat.
            if !counts.waiting.contains_key(&ticket) {
                return Ok(());
            }
            if counts.closed {
                counts.waiting.remove(&ticket);
                return Err(ServiceError::Closing);
            }
            if Instant::now() >= deadline {
                counts.waiting.remove(&ticket);
                let (full, waited) =
                    (self.full(&counts, seat).unwrap_or(full), self.quotas.patience.as_secs());
                return Err(ServiceError::Quota(format!(
                    "{full}, and none ended within {waited} s; end one, or raise the limit in belljar.toml"
                )));
            }
        }
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
        let mut counts = self.lock();
        counts.change(seat, -1);
        while let Some(ticket) = self.next(&counts)
            && let Some(seat) = counts.waiting.remove(&ticket)
        {
            counts.change(&seat, 1);
        }
        drop(counts);
        self.left.notify_all();
    }

    /// Lets nobody wait any longer.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.left.notify_all();
    }

    pub(super) fn waiting(&self) -> usize {
        self.lock().waiting.len()
    }

    /// Who is let in next, if there is room for anybody who waits.
    fn next(&self, counts: &Counts) -> Option<u64> {
        let fitting = counts.waiting.iter().filter(|(_, seat)| self.full(counts, seat).is_none());
        let first = fitting.min_by_key(|(ticket, seat)| (counts.projects.get(&seat.project), **ticket));
        first.map(|(ticket, _)| *ticket)
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
    fn whoever_came_first_is_let_in_first_and_a_project_with_less_before_that() {
        let places = Places::new(Quotas { total: 3, patience: Duration::from_secs(60), ..Quotas::default() });
        let of = |project: &str| Seat { project: project.parse().unwrap(), agent: None };
        let (crowd, modest) = (of("crowd"), of("modest"));
        (0..3).for_each(|_| places.enter(&crowd).unwrap());
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for (at, (name, seat)) in
                [("first", &crowd), ("second", &crowd), ("modest", &modest)].into_iter().enumerate()
            {
                let (places, order) = (&places, &order);
                scope.spawn(move || {
                    places.enter(seat).unwrap();
                    order.lock().unwrap().push(name);
                });
                while places.waiting() <= at {
                    std::thread::yield_now();
                }
            }
            for at in 1..=3 {
                places.leave(&crowd);
                while order.lock().unwrap().len() < at {
                    std::thread::yield_now();
                }
            }
        });
        assert_eq!(*order.lock().unwrap(), ["modest", "first", "second"]);
    }

    #[test]
    fn nobody_waits_for_a_server_that_ends() {
        let places = Places::new(Quotas { total: 0, patience: Duration::from_secs(60), ..Quotas::default() });
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| places.enter(&seat("a")));
            while places.waiting() == 0 {
                std::thread::yield_now();
            }
            places.close();
            assert!(matches!(waiting.join().unwrap(), Err(ServiceError::Closing)));
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
