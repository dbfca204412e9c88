//! Whether an agent may act: approved, revoked, run out; and what that means for what it is doing.

use std::sync::Arc;

use belljar_domain::{AgentEntry, Principal, Standing};
use belljar_guardian::policy::Mode;

use super::{
    super::{Result, Service, live::LiveSandbox, now},
    AgentView, Hold, Leave, OnRevoke,
    register::{brief, named},
};

impl Service {
    /// Lets an agent act, in its role, for a while or until it is revoked. One nobody knows is entered by that.
    ///
    /// # Errors
    /// When it cannot be called so.
    pub fn approve_agent(&self, who: &Principal, name: &str, leave: &Leave) -> Result<AgentView> {
        let name = named(name)?;
        let view = self.edit_agent(who, &name, "approved", |known| {
            let mut entry = known.unwrap_or_else(|| self.new_entry(who, &name, None));
            entry.role = leave.role.unwrap_or(entry.role);
            entry.standing = Standing::Approved;
            entry.until = leave.span.map(|span| now().plus(span.as_duration()));
            entry.reason = leave.reason.as_deref().map(brief);
            Ok(entry)
        })?;
        self.thaw_agent(&view.entry, &who.name);
        Ok(self.agent_view(view.entry))
    }

    /// Takes an agent's leave to act back: its next call is refused, and its sandboxes stop now.
    ///
    /// # Errors
    /// When it cannot be called so, or a sandbox does not stop.
    pub fn revoke_agent(&self, who: &Principal, name: &str, reason: Option<&str>) -> Result<AgentView> {
        let name = named(name)?;
        let view = self.edit_agent(who, &name, "revoked", |known| {
            let mut entry = known.unwrap_or_else(|| self.new_entry(who, &name, None));
            (entry.standing, entry.until) = (Standing::Revoked, None);
            entry.reason = reason.map(brief);
            Ok(entry)
        })?;
        self.stop_agent(&view.entry, &who.name)?;
        Ok(self.agent_view(view.entry))
    }

    /// Stops what an agent does that may act no more.
    fn stop_agent(&self, entry: &AgentEntry, by: &str) -> Result<()> {
        let who = Principal { project: entry.project.clone(), name: by.to_owned(), admin: true };
        let mut outcome = Ok(());
        for live in self.sandboxes_of(entry) {
            let stopped = match self.0.settings.on_revoke {
                OnRevoke::Freeze => self.freeze(&live, Hold::Agent, by),
                OnRevoke::End => self.stop(&who, live.view().id).map(drop),
            };
            // One that does not stop keeps no other from it.
            outcome = outcome.and(stopped);
        }
        outcome
    }

    fn thaw_agent(&self, entry: &AgentEntry, by: &str) {
        for live in self.sandboxes_of(entry) {
            self.thaw(&live, &Hold::Agent, by);
        }
    }

    /// The sandboxes of an agent that are alive.
    pub(in crate::service) fn sandboxes_of(&self, entry: &AgentEntry) -> Vec<Arc<LiveSandbox>> {
        let is_theirs = |live: &Arc<LiveSandbox>| {
            let view = live.view();
            view.project == entry.project && view.spec.agent.as_deref() == Some(entry.name.as_str())
        };
        self.0.registry.sandboxes().into_iter().filter(is_theirs).collect()
    }

    /// Writes down approvals that ran out, and stops whatever runs for an agent that may act no more: also what was begun
    /// while that was decided, or without this service. Where rules only observe, running out stops nobody.
    pub(in crate::service) fn see_to_agents(&self) {
        let time = now();
        let has_run_out = |entry: &Arc<AgentEntry>| {
            entry.standing == Standing::Approved && entry.standing_at(time) == Standing::Expired
        };
        for entry in self.0.roster.all(None) {
            if has_run_out(&entry) {
                let who = Principal { project: entry.project.clone(), ..Principal::admin("belljar") };
                // What could not be written is tried again in the next round.
                let _again = self.edit_agent(&who, &entry.name, "expired", |known| {
                    let mut entry = known.unwrap_or_else(|| (*entry).clone());
                    // Somebody may have approved it again meanwhile.
                    if entry.standing_at(time) == Standing::Expired {
                        entry.standing = Standing::Expired;
                    }
                    Ok(entry)
                });
            }
        }
        let is_observing = self.policy().mode == Mode::Observe;
        for live in self.0.registry.sandboxes() {
            let view = live.view();
            let agent = view.spec.agent.as_deref();
            let Some(entry) = agent.and_then(|agent| self.0.roster.find(&view.project, agent)) else {
                continue;
            };
            let is_over = match entry.standing_at(time) {
                Standing::Expired => !is_observing,
                standing => standing.is_stopped(),
            };
            if is_over && !self.0.holds.of(view.id).contains(&Hold::Agent) {
                let _again = self.stop_agent(&entry, "belljar");
            }
        }
    }
}
