//! Agents of the registry, as they travel.

use belljar_api as api;
use belljar_domain::{AgentRights, Role, Span, Standing};
use belljar_engine::service::{AgentOrder, AgentSelection, AgentView, Imported, Leave};

macro_rules! same_words {
    ($to:ident, $from:ident, $theirs:ident, $ours:ident { $($variant:ident),+ }) => {
        pub(crate) const fn $to(word: $ours) -> api::$theirs {
            match word {
                $($ours::$variant => api::$theirs::$variant,)+
            }
        }

        pub(crate) const fn $from(word: api::$theirs) -> $ours {
            match word {
                $(api::$theirs::$variant => $ours::$variant,)+
            }
        }
    };
}

same_words!(
    role,
    role_of,
    AgentRole,
    Role { Admin, Developer, Coordinator, Security, Database, Backend, Reviewer, Frontend, Tester, Analyst }
);
same_words!(standing, standing_of, AgentStanding, Standing { Known, Approved, Expired, Revoked, Killed });

pub(crate) fn agent(view: &AgentView) -> api::RegistryAgent {
    let entry = &view.entry;
    api::RegistryAgent {
        agent_id: entry.id.to_string(),
        name: entry.name.to_string(),
        project_id: entry.project.to_string(),
        role: role(entry.role),
        standing: standing(view.standing),
        until: entry.until.map(|time| time.to_string()),
        reason: entry.reason.clone(),
        description: entry.description.clone(),
        capabilities: entry.capabilities.clone(),
        rbac: rights(&entry.rights),
        public_key: entry.public_key.clone(),
        source: entry.source.clone(),
        changed_by: entry.by.clone(),
        changed_at: entry.changed.to_string(),
        created_at: entry.created.to_string(),
        sandboxes: view.sandboxes.iter().map(ToString::to_string).collect(),
    }
}

pub(crate) fn exported(view: &AgentView) -> api::ExportedAgent {
    let entry = &view.entry;
    api::ExportedAgent {
        agent_id: entry.id.as_uuid().to_string(),
        name: entry.name.to_string(),
        role: role(entry.role),
        description: entry.description.clone(),
        capabilities: entry.capabilities.clone(),
        rbac: rights(&entry.rights),
        public_key: entry.public_key.clone(),
    }
}

fn rights(rights: &AgentRights) -> api::AgentRights {
    let AgentRights { reads, writes, grants, denials, spawn, modify_agents, secrets, asks } = rights.clone();
    api::AgentRights {
        read_scopes: reads,
        write_scopes: writes,
        grants,
        denials,
        asks,
        can_spawn_agents: spawn,
        can_modify_agents: modify_agents,
        can_access_secrets: secrets,
    }
}

pub(crate) fn agent_order(asked: api::PutAgent) -> AgentOrder {
    let rights = |rbac: api::AgentRights| AgentRights {
        reads: rbac.read_scopes,
        writes: rbac.write_scopes,
        grants: rbac.grants,
        denials: rbac.denials,
        spawn: rbac.can_spawn_agents,
        modify_agents: rbac.can_modify_agents,
        secrets: rbac.can_access_secrets,
        asks: rbac.asks,
    };
    AgentOrder {
        role: asked.role.map(role_of),
        description: asked.description,
        capabilities: asked.capabilities,
        rights: asked.rbac.map(rights),
        public_key: asked.public_key,
    }
}

pub(crate) fn leave(asked: api::ApproveAgent) -> Leave {
    let span = asked.for_seconds.map(Span::seconds);
    Leave { role: asked.role.map(role_of), span, reason: asked.reason }
}

pub(crate) fn agent_selection(query: &api::AgentQuery) -> AgentSelection {
    AgentSelection { role: query.role.map(role_of), standing: query.standing.map(standing_of) }
}

pub(crate) fn imported(done: Imported) -> api::ImportedAgents {
    let names = |names: Vec<belljar_domain::AgentName>| names.into_iter().map(String::from).collect();
    api::ImportedAgents {
        added: names(done.added),
        changed: names(done.changed),
        unchanged: u64::try_from(done.unchanged).unwrap_or(u64::MAX),
        guessed: names(done.guessed),
    }
}
