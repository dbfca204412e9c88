//! Entering agents, one or many at once, showing and removing them.

use std::sync::Arc;

use belljar_domain::{
    AgentEntry, AgentId, AgentName, AgentRights, BudgetPeriod, BudgetScope, EventKind, Limit, Principal,
    Role, budget_id,
};
use belljar_guardian::{
    policy::Pattern,
    roles::{self, Draft},
};
use belljar_ports::store::{Batch, Removal};
use serde_json::json;
use uuid::Uuid;

use super::{
    super::{BudgetOrder, Result, Service, ServiceError, now},
    AgentOrder, AgentSelection, AgentView, Imported,
    roster::{COLLECTION, document, document_id},
};

/// The most agents there may be, and the most of a list and of a text of one.
const MOST: usize = 10_000;
const MOST_LISTED: usize = 256;
const LONGEST: usize = 1024;

impl Service {
    /// Agents of the registry, by name, after one of them.
    ///
    /// # Errors
    /// Never, as it is; a registry elsewhere might not answer.
    pub fn agents(
        &self,
        who: &Principal,
        which: AgentSelection,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<AgentView>> {
        let all = self.0.roster.all(who.scope().as_ref());
        let views = all.into_iter().map(|entry| self.agent_view(entry)).filter(|view| {
            which.role.is_none_or(|role| view.entry.role == role)
                && which.standing.is_none_or(|standing| view.standing == standing)
        });
        let later = views.filter(|view| after.is_none_or(|after| place(&view.entry).as_str() > after));
        Ok(later.take(limit).collect())
    }

    /// One agent.
    ///
    /// # Errors
    /// When there is none of that name.
    pub fn agent(&self, who: &Principal, name: &str) -> Result<AgentView> {
        let found = self.0.roster.find(&who.project, name);
        found.map(|entry| self.agent_view(entry)).ok_or_else(|| missing(name))
    }

    /// Enters an agent, or changes what is known of one; whether it may act stays as it is.
    ///
    /// # Errors
    /// When something about it cannot be.
    pub fn enter_agent(&self, who: &Principal, name: &str, order: AgentOrder) -> Result<AgentView> {
        let name = named(name)?;
        if let Some(key) = order.public_key.as_deref().filter(|key| !roles::is_key(key)) {
            return Err(ServiceError::Invalid(format!("`{key}` is no Ed25519 key of 64 hex digits")));
        }
        check(order.rights.as_ref(), order.capabilities.as_deref())?;
        self.edit_agent(who, &name, "entered", |known| {
            let mut entry = known.unwrap_or_else(|| self.new_entry(who, &name, None));
            entry.role = order.role.unwrap_or(entry.role);
            entry.description = order.description.map_or(entry.description, |text| brief(&text));
            entry.capabilities = order.capabilities.unwrap_or(entry.capabilities);
            entry.rights = order.rights.unwrap_or(entry.rights);
            entry.public_key = order.public_key.or(entry.public_key);
            Ok(entry)
        })
    }

    /// Enters every agent a file describes: a registry in JSON, or the head of an agent's own file. Nobody is approved by
    /// that.
    ///
    /// # Errors
    /// The first thing that is wrong; then nothing is changed.
    pub fn import_agents(&self, who: &Principal, text: &str, source: Option<&str>) -> Result<Imported> {
        let drafts = roles::read(text).map_err(|error| ServiceError::Invalid(error.to_string()))?;
        for draft in &drafts {
            check(Some(&draft.rights), Some(&draft.capabilities))?;
        }
        let one = self.0.roster.change();
        let mut done = Imported::default();
        let (mut entries, mut events) = (Vec::new(), Vec::new());
        let mut limits = Vec::new();
        for draft in drafts {
            limits.extend(limits_of(&draft));
            if draft.guessed {
                done.guessed.push(draft.name.clone());
            }
            let known = self.0.roster.find(&who.project, draft.name.as_str());
            let entry = self.drafted(who, known.as_deref(), draft, source);
            match &known {
                None => done.added.push(entry.name.clone()),
                Some(known) if is_same(known, &entry) => {
                    done.unchanged += 1;
                    continue;
                }
                Some(_) => done.changed.push(entry.name.clone()),
            }
            events.push(self.registry_event(who, &entry, "imported"));
            entries.push(Arc::new(entry));
        }
        if self.0.roster.all(None).len() + done.added.len() > MOST {
            return Err(ServiceError::Quota(format!("the registry has room for {MOST} agents")));
        }
        let documents = entries.iter().map(|entry| document(entry)).collect();
        self.0.recorder.commit(Batch { documents, events, ..Batch::default() })?;
        entries.iter().for_each(|entry| self.0.roster.put(entry));
        drop(one);
        let is_set = |id: &str, limit: Limit| {
            self.budgets_set(who).iter().any(|known| known.id() == id && known.limit == limit)
        };
        for (budget, limit) in limits.into_iter().filter(|(id, limit)| !is_set(id, *limit)) {
            self.set_budget(who, &budget, BudgetOrder { limit, steps: None })?;
        }
        Ok(done)
    }

    /// Takes an agent out of the registry: from then on nobody knows it.
    ///
    /// # Errors
    /// When there is none of that name, or it was stopped: forgetting that would let it act again.
    pub fn remove_agent(&self, who: &Principal, name: &str) -> Result<()> {
        let _one = self.0.roster.change();
        let entry = self.0.roster.find(&who.project, name).ok_or_else(|| missing(name))?;
        if entry.standing.is_stopped() {
            return Err(ServiceError::Conflict(format!(
                "agent `{name}` is {}; to be forgotten it must be approved first, so that this is no way around it",
                entry.standing
            )));
        }
        let removals = vec![Removal::Document(COLLECTION.to_owned(), document_id(&entry))];
        let events = vec![self.registry_event(who, &entry, "removed")];
        self.0.recorder.commit(Batch { removals, events, ..Batch::default() })?;
        self.0.roster.remove(&entry);
        Ok(())
    }

    /// Changes one entry: read, changed, durable and in force as one step.
    pub(super) fn edit_agent(
        &self,
        who: &Principal,
        name: &AgentName,
        act: &str,
        edit: impl FnOnce(Option<AgentEntry>) -> Result<AgentEntry>,
    ) -> Result<AgentView> {
        let one = self.0.roster.change();
        let before = self.0.roster.find(&who.project, name.as_str());
        if before.is_none() && self.0.roster.all(None).len() >= MOST {
            return Err(ServiceError::Quota(format!("the registry has room for {MOST} agents")));
        }
        let mut entry = edit(before.as_deref().cloned())?;
        entry.by.clone_from(&who.name);
        entry.changed = now();
        let entry = Arc::new(entry);
        // Whoever is stopped is so from now on, and not only once the disk has heard of it.
        if entry.standing.is_stopped() {
            self.0.roster.put(&entry);
        }
        let (documents, events) = (vec![document(&entry)], vec![self.registry_event(who, &entry, act)]);
        if let Err(error) = self.0.recorder.commit(Batch { documents, events, ..Batch::default() }) {
            match &before {
                Some(before) => self.0.roster.put(before),
                None => self.0.roster.remove(&entry),
            }
            return Err(error.into());
        }
        self.0.roster.put(&entry);
        drop(one);
        Ok(self.agent_view(entry))
    }

    pub(super) fn new_entry(&self, who: &Principal, name: &AgentName, id: Option<AgentId>) -> AgentEntry {
        let id = id.unwrap_or_else(|| AgentId::from_uuid(Uuid::now_v7()));
        AgentEntry::new(id, name.clone(), who.project.clone(), roles::DEFAULT, &who.name, now())
    }

    fn drafted(
        &self,
        who: &Principal,
        known: Option<&AgentEntry>,
        draft: Draft,
        source: Option<&str>,
    ) -> AgentEntry {
        let mut entry = known.cloned().unwrap_or_else(|| self.new_entry(who, &draft.name, draft.id));
        // A role somebody gave it counts more than one that was concluded.
        if known.is_none() || !draft.guessed {
            entry.role = draft.role;
        }
        entry.description = draft.description;
        entry.capabilities = draft.capabilities;
        entry.rights = draft.rights;
        entry.public_key = draft.public_key.or(entry.public_key);
        entry.source = source.map(brief).or(entry.source);
        (entry.by, entry.changed) = (who.name.clone(), now());
        entry
    }

    fn registry_event(&self, who: &Principal, entry: &AgentEntry, act: &str) -> belljar_domain::NewEvent {
        let mut event = self.event(who, EventKind::RegistryChanged);
        event.target = Some(entry.name.to_string());
        event.target_type = Some("agent".to_owned());
        event.reason.clone_from(&entry.reason);
        event.payload = json!({
            "by": who.name, "act": act, "agent": entry.name, "role": entry.role, "standing": entry.standing,
            "until": entry.until,
        });
        event
    }

    pub(super) fn agent_view(&self, entry: Arc<AgentEntry>) -> AgentView {
        let live = self.sandboxes_of(&entry).iter().map(|live| live.view().id).collect();
        AgentView { standing: entry.standing_at(now()), sandboxes: live, entry }
    }
}

/// The budgets an agent's file names.
fn limits_of(draft: &Draft) -> Vec<(String, Limit)> {
    let id = |period| budget_id(BudgetScope::Agent, Some(draft.name.as_str()), period);
    let tokens = draft.tokens_per_session.map(|tokens| Limit { tokens: Some(tokens), micros: None });
    let money = draft.micros_per_day.map(|micros| Limit { tokens: None, micros: Some(micros) });
    let session = tokens.map(|limit| (id(BudgetPeriod::Session), limit));
    session.into_iter().chain(money.map(|limit| (id(BudgetPeriod::Day), limit))).collect()
}

/// The role that would fit an agent, and how much speaks for it in percent.
#[must_use]
pub fn suggest_role(capabilities: &[String], category: Option<&str>, description: &str) -> (Role, u8) {
    let found = roles::suggest(capabilities, category, description);
    (found.role, found.confidence)
}

/// Where an agent is in a list.
pub(super) fn place(entry: &AgentEntry) -> String {
    document_id(entry)
}

impl AgentView {
    /// Where it is in a list: what the next page begins after.
    #[must_use]
    pub fn place(&self) -> String {
        place(&self.entry)
    }
}

pub(super) fn named(name: &str) -> Result<AgentName> {
    name.parse().map_err(|error: belljar_domain::AgentNameError| ServiceError::Invalid(error.to_string()))
}

pub(super) fn missing(name: &str) -> ServiceError {
    ServiceError::NotFound(format!("agent `{}` in the registry", name.chars().take(80).collect::<String>()))
}

pub(super) fn brief(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// Refuses what could never be matched, and what is too much.
fn check(rights: Option<&AgentRights>, capabilities: Option<&[String]>) -> Result<()> {
    let rights = rights.cloned().unwrap_or_default();
    for pattern in rights.grants.iter().chain(&rights.denials) {
        Pattern::parse(pattern)
            .map_err(|error| ServiceError::Invalid(format!("the pattern `{pattern}`: {error}")))?;
    }
    let scopes = [rights.reads.unwrap_or_default(), rights.writes.unwrap_or_default()];
    let lists = scopes
        .iter()
        .chain([&rights.grants, &rights.denials, &rights.asks])
        .map(Vec::as_slice)
        .chain(capabilities);
    for list in lists {
        if list.len() > MOST_LISTED || list.iter().any(|item| item.len() > LONGEST) {
            return Err(ServiceError::TooLarge(format!(
                "an agent's lists have at most {MOST_LISTED} entries of {LONGEST} bytes"
            )));
        }
    }
    Ok(())
}

fn is_same(known: &AgentEntry, entry: &AgentEntry) -> bool {
    let mut other = entry.clone();
    (other.by, other.changed) = (known.by.clone(), known.changed);
    other.source.clone_from(&known.source);
    *known == other
}
