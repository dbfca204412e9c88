//! Questions about calls, sessions, errors and events, within what the asker may see.

use belljar_domain::{
    Event, EventKind, Principal, Timestamp,
    eye::{Call, ErrorGroup, ErrorGroupState, Session},
};
use belljar_ports::{
    lens::{AgentFilter, CallFilter, ErrorFilter, EventSearch, Handoff, Period, SessionFilter, ToolUsage},
    store::PAGE_LIMIT,
};

use super::super::{Result, Service, ServiceError, now};

/// Events looked at for one page, since some may be gone or of another time.
const MOST: usize = 5_000;
/// Microseconds: as long as the ledger goes back, and how far clocks may be ahead.
const REACH: i64 = 98 * 86_400_000_000;
const AHEAD: i64 = 86_400_000_000;
/// Characters of a reason.
const REASON: usize = 1_000;

/// A page of events, and where the next begins.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundEvents {
    /// The events.
    pub events: Vec<Event>,
    /// The place to go on from, unless there is nothing more.
    pub next: Option<u64>,
}

/// What somebody says of errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Whether they are dealt with.
    pub state: ErrorGroupState,
    /// Who says so; the caller, if nobody is named.
    pub by: Option<String>,
    /// Why.
    pub reason: String,
}

impl Service {
    /// Events from wherever they are found fastest: newest first before a place, or oldest first after one.
    ///
    /// # Errors
    /// When there is no word to look for, or only what is still being put together could answer.
    pub fn search_events(
        &self,
        who: &Principal,
        search: EventSearch,
        place: u64,
        is_up: bool,
        limit: usize,
    ) -> Result<FoundEvents> {
        let mut filter = search.filter.clone();
        let needs = [&search.tool, &search.app, &search.prompt, &search.tool_use_id, &search.text];
        let needs_records = needs.iter().any(|condition| condition.is_some());
        // The ledger has an index for one of these at a time, and goes through its end for the rest.
        let is_slow = !filter.kinds.is_empty()
            || filter.run.is_some()
            || filter.operation.is_some()
            || filter.status.is_some()
            || filter.from.is_some()
            || filter.until.is_some();
        if needs_records || is_slow {
            match self.find_events(who, search, place, is_up, limit) {
                Err(ServiceError::Behind(_)) if !needs_records => {}
                answer => return answer,
            }
        }
        filter.project = who.scope().or(filter.project);
        let events = if is_up {
            self.store().events(&filter, place, limit)?
        } else {
            self.store().events_before(&filter, place, limit)?
        };
        let next = events.last().map(|event| event.seq).filter(|_| events.len() >= limit);
        Ok(FoundEvents { events, next })
    }

    /// Events by more than the ledger has indexes for: newest first before a place, or oldest first after one.
    ///
    /// # Errors
    /// When there is no word to look for, or what is to be searched is still being put together.
    pub fn find_events(
        &self,
        who: &Principal,
        mut search: EventSearch,
        place: u64,
        is_up: bool,
        limit: usize,
    ) -> Result<FoundEvents> {
        search.filter.project = who.scope().or(search.filter.project);
        let (from, until) = (search.filter.from, search.filter.until);
        let (lens, is_complete) = self.lens();
        if !is_complete {
            return Err(ServiceError::Behind(self.eye_lag()));
        }
        bound(&mut search);
        let limit = limit.min(PAGE_LIMIT);
        let (mut found, mut at, mut seen) = (Vec::new(), place, 0);
        loop {
            let places =
                if is_up { lens.events_after(&search, at, limit)? } else { lens.events(&search, at, limit)? };
            let Some(last) = places.last().copied() else {
                return Ok(FoundEvents { events: found, next: None });
            };
            let wanted = |event: &Event| {
                from.is_none_or(|from| event.what.time >= from)
                    && until.is_none_or(|until| event.what.time < until)
            };
            for event in self.store().events_at(&places)?.into_iter().filter(wanted) {
                at = event.seq;
                found.push(event);
                if found.len() >= limit {
                    return Ok(FoundEvents { events: found, next: Some(at) });
                }
            }
            (at, seen) = (last, seen + places.len());
            if places.len() < limit {
                return Ok(FoundEvents { events: found, next: None });
            }
            if seen >= MOST {
                return Ok(FoundEvents { events: found, next: Some(at) });
            }
        }
    }

    /// Calls, newest first, from just below one of them.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn calls(
        &self,
        who: &Principal,
        mut filter: CallFilter,
        below: u64,
        limit: usize,
    ) -> Result<Vec<Call>> {
        filter.project = who.scope().or(filter.project);
        Ok(self.lens().0.calls(&filter, below, limit)?)
    }

    /// One call, by its identity or by what its agent calls it.
    ///
    /// # Errors
    /// When there is no such call.
    pub fn call(&self, who: &Principal, name: &str) -> Result<Call> {
        let (lens, _) = self.lens();
        let by_id = match name.parse() {
            Ok(id) => lens.call(id)?,
            Err(_) => None,
        };
        let found = match by_id {
            Some(call) => Some(call),
            None => {
                let filter = CallFilter {
                    project: who.scope(),
                    tool_use_id: Some(name.to_owned()),
                    ..CallFilter::default()
                };
                lens.calls(&filter, u64::MAX, 1)?.into_iter().next()
            }
        };
        found.filter(|call| who.sees(&call.project)).ok_or_else(|| missing("call", name))
    }

    /// Sessions, newest first, from just below one of them.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn sessions(
        &self,
        who: &Principal,
        mut filter: SessionFilter,
        below: u64,
        limit: usize,
    ) -> Result<Vec<Session>> {
        filter.project = who.scope().or(filter.project);
        Ok(self.lens().0.sessions(&filter, below, limit)?)
    }

    /// Errors that look alike, the last seen first.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn error_groups(
        &self,
        who: &Principal,
        mut filter: ErrorFilter,
        below: Option<(Timestamp, u64)>,
        limit: usize,
    ) -> Result<Vec<ErrorGroup>> {
        filter.project = who.scope().or(filter.project);
        Ok(self.lens().0.errors(&filter, below, limit)?)
    }

    /// Says that errors are dealt with, or are not. The ledger keeps who said so and why.
    ///
    /// # Errors
    /// When there are no such errors, or no reason is given.
    pub fn judge_errors(&self, who: &Principal, fingerprint: &str, said: Judgement) -> Result<ErrorGroup> {
        let reason: String = said.reason.trim().chars().take(REASON).collect();
        if reason.is_empty() {
            return Err(ServiceError::Invalid("say why: `reason` must not be empty".to_owned()));
        }
        let scope = who.scope();
        let find = || {
            let found = self.lens().0.error_group(scope.as_ref(), fingerprint)?;
            found.ok_or_else(|| missing("error", fingerprint))
        };
        let group = find()?;
        if group.state == said.state {
            return Err(ServiceError::Conflict(format!("error {fingerprint} is {} already", group.state)));
        }
        let kind = match said.state {
            ErrorGroupState::Resolved => EventKind::ErrorGroupResolved,
            ErrorGroupState::Open => EventKind::ErrorGroupReopened,
        };
        let mut event = self.event(who, kind);
        event.project = group.project;
        event.target = Some(fingerprint.to_owned());
        event.target_type = Some("error".to_owned());
        event.reason = Some(reason);
        let by = said.by.filter(|by| !by.trim().is_empty()).unwrap_or_else(|| who.name.clone());
        event.payload = serde_json::json!({ "by": by, "caller": who.name });
        self.record(event).wait()?;
        find()
    }

    /// How tools were used, the most used first.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn tool_usage(&self, who: &Principal, mut period: Period) -> Result<Vec<ToolUsage>> {
        period.project = who.scope().or(period.project);
        Ok(self.lens().0.tool_usage(&period)?)
    }

    /// Who handed work to whom.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub fn handoffs(&self, who: &Principal, mut filter: AgentFilter) -> Result<Vec<Handoff>> {
        filter.project = who.scope().or(filter.project);
        Ok(self.lens().0.handoffs(&filter)?)
    }
}

pub(super) fn missing(what: &str, name: &str) -> ServiceError {
    ServiceError::NotFound(format!("{what} `{}`", name.chars().take(128).collect::<String>()))
}

/// Gives a time without an end one the ledger cannot go beyond, so that the index can be asked for it.
fn bound(search: &mut EventSearch) {
    let (from, until) = (search.filter.from, search.filter.until);
    search.odd_clocks = from.is_some() != until.is_some();
    if let (Some(_), None) = (from, until) {
        search.filter.until = Some(Timestamp::from_micros(now().as_micros().saturating_add(AHEAD)));
    }
    if let (None, Some(until)) = (from, until) {
        search.filter.from = Some(Timestamp::from_micros(until.as_micros().saturating_sub(REACH)));
    }
}
