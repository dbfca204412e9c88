//! Whether an agent may do what it wants: its role, what it was granted besides, what it was denied, its scopes.
//!
//! Owns: the order in which these count: a denial first, then a grant, then the role; and a person is asked about
//! high-risk operations whatever permits them. Refuses: to know who the agent is; that was found out before.

use belljar_domain::{AgentEntry, Risk, Role, Ruling, Verdict};

use super::{
    table::{RolePolicy, policy},
    wanted::{Wanted, is_spawn, operation},
};
use crate::policy::{Call, Pattern, is_covered, is_like};

/// Tools that change nothing and see nothing beyond the conversation; they need no right.
const FREE: [&str; 16] = [
    "TodoWrite",
    "TodoRead",
    "TaskCreate",
    "TaskUpdate",
    "TaskList",
    "TaskGet",
    "TaskOutput",
    "BashOutput",
    "ExitPlanMode",
    "EnterPlanMode",
    "AskUserQuestion",
    "ToolSearch",
    "update_plan",
    "StructuredOutput",
    "SendUserMessage",
    "ListMcpResourcesTool",
];
/// What a person is asked about whoever wants it.
const HIGH_RISK: [&str; 5] = [
    operation::PRODUCTION_DEPLOY,
    operation::PRODUCTION_MIGRATION,
    operation::SECRET_ACCESS,
    operation::AGENT_MODIFICATION,
    operation::BUDGET_OVERRIDE,
];
/// Rules about secrets; whoever may see secrets is asked about instead of refused by them.
const SECRET_RULES: [&str; 2] = ["secret-read", "secret-write"];
/// Where everybody may write: nothing stays there.
const SCRATCH: [&str; 5] = ["/tmp/**", "/var/tmp/**", "/dev/null", "/dev/std*", "/dev/fd/*"];

/// What an agent may do.
#[derive(Debug, Clone, Copy)]
pub struct Rights<'a> {
    role: &'static RolePolicy,
    entry: Option<&'a AgentEntry>,
}

impl<'a> Rights<'a> {
    /// Of an agent that is in the registry.
    #[must_use]
    pub fn of(entry: &'a AgentEntry) -> Self {
        Self { role: policy(entry.role), entry: Some(entry) }
    }

    /// Of one that is not, in a role.
    #[must_use]
    pub fn in_role(role: Role) -> Self {
        Self { role: policy(role), entry: None }
    }

    /// What stands against a call; nothing, or to deny it, or to ask a person.
    #[must_use]
    pub fn judge(&self, call: &Call<'_>, wanted: &Wanted) -> Option<Ruling> {
        if let Some(pattern) = self.denials().find(|pattern| is_match(pattern, call)) {
            return Some(self.refused("denial", &format!("`{pattern}` is denied to this agent")));
        }
        self.against_tool(call, wanted).or_else(|| self.judge_effects(call, wanted))
    }

    /// As [`Rights::judge`], whichever tool it is: what an act would do, and what was denied.
    #[must_use]
    pub fn judge_effects(&self, call: &Call<'_>, wanted: &Wanted) -> Option<Ruling> {
        if let Some(pattern) = self.denials().find(|pattern| is_match(pattern, call)) {
            return Some(self.refused("denial", &format!("`{pattern}` is denied to this agent")));
        }
        let against = self.against_effects(wanted).filter(|_| !self.is_given_file(call));
        against.or_else(|| self.asked(call, wanted))
    }

    /// Whether all of a call was granted: of a command line, each command.
    fn is_granted(&self, call: &Call<'_>) -> bool {
        is_covered(&self.grants().collect::<Vec<_>>(), call)
    }

    /// Whether the one file a call names was granted by its name, beyond the scopes. A tool that is granted is not thereby
    /// granted everywhere, and a command may do more than its words say.
    fn is_given_file(&self, call: &Call<'_>) -> bool {
        let mut named = self.grants().filter(Pattern::names_files);
        call.command().is_none() && call.paths().len() == 1 && named.any(|pattern| pattern.matches(call))
    }

    fn against_tool(&self, call: &Call<'_>, wanted: &Wanted) -> Option<Ruling> {
        if (wanted.spawns || is_spawn(call.tool)) && !self.may_spawn() {
            return Some(self.refused("spawn", "it may not start other agents"));
        }
        if self.is_granted(call) {
            return None;
        }
        if let Some((server, _)) = mcp(call.tool) {
            let is_open = self.role.apis.iter().any(|api| *api == "*" || is_server(api, server));
            let reason = || format!("the MCP server `{server}` is not open to it");
            return (!is_open).then(|| self.refused("api", &reason()));
        }
        let may_use = FREE.contains(&call.tool)
            || self.role.tools.iter().any(|tool| *tool == "*" || call.is_of(tool))
            || (is_spawn(call.tool) && self.may_spawn());
        (!may_use).then(|| self.refused("tool", &format!("the tool `{}` is not among its own", call.tool)))
    }

    fn against_effects(&self, wanted: &Wanted) -> Option<Ruling> {
        if wanted.modifies_agents && !self.may_modify_agents() {
            return Some(self.refused("agents", "it may not change what agents may do"));
        }
        if wanted.secrets && !self.may_see_secrets() {
            return Some(self.refused("secrets", "it may not see secrets"));
        }
        let workspace = wanted.workspace.as_deref()?;
        let (reads, writes) = (self.reads(), self.writes());
        if let Some(path) = wanted.writes.iter().find(|path| !is_within(&writes, path, workspace, true)) {
            let scopes = listed(&writes);
            return Some(self.refused("write", &format!("it may not write `{path}`; it may write {scopes}")));
        }
        if let Some(path) = wanted.reads.iter().find(|path| !is_within(&reads, path, workspace, false)) {
            let scopes = listed(&reads);
            return Some(self.refused("read", &format!("it may not read `{path}`; it may read {scopes}")));
        }
        let what = wanted.unsure.as_ref().filter(|_| !writes.contains(&"**"))?;
        Some(Ruling {
            verdict: Verdict::Ask,
            ..self.refused("write", &format!("where it would write depends on {what}, which is not known"))
        })
    }

    /// What a person is asked about.
    fn asked(&self, call: &Call<'_>, wanted: &Wanted) -> Option<Ruling> {
        let own = self.entry.map(|entry| entry.rights.asks.as_slice()).unwrap_or_default();
        let mut asks = self.role.asks.iter().chain(&HIGH_RISK).copied().chain(own.iter().map(String::as_str));
        let found = asks.find(|what| {
            wanted.operations.iter().any(|operation| operation == what)
                || call.tool == *what
                || (what.contains('(') && is_match(what, call))
        })?;
        Some(Ruling {
            verdict: Verdict::Ask,
            risk: Risk::High,
            rule: format!("role.{}.asks", self.role.role),
            reason: format!(
                "`{found}` is a high-risk operation for the role {}; a person decides",
                self.role.role
            ),
        })
    }

    fn refused(&self, what: &str, why: &str) -> Ruling {
        let role = self.role.role;
        let who = self
            .entry
            .map_or_else(|| format!("role {role}"), |entry| format!("agent {} ({role})", entry.name));
        Ruling {
            verdict: Verdict::Deny,
            risk: Risk::Medium,
            rule: format!("role.{role}.{what}"),
            reason: format!("{who}: {why}. Do what the role allows, or ask a person to grant it"),
        }
    }

    /// What a rule about secrets says to whoever may see them: a person decides.
    #[must_use]
    pub fn eased(&self, ruling: &Ruling) -> Option<Ruling> {
        let is_theirs = ruling.verdict == Verdict::Deny
            && SECRET_RULES.contains(&ruling.rule.as_str())
            && self.may_see_secrets();
        let reason =
            format!("{} The role {} may see secrets, if a person agrees.", ruling.reason, self.role.role);
        is_theirs.then(|| Ruling { verdict: Verdict::Ask, reason, ..ruling.clone() })
    }

    fn may_modify_agents(&self) -> bool {
        self.entry.and_then(|entry| entry.rights.modify_agents).unwrap_or(self.role.modify_agents)
    }

    fn may_see_secrets(&self) -> bool {
        self.entry.and_then(|entry| entry.rights.secrets).unwrap_or(self.role.secrets)
    }

    fn may_spawn(&self) -> bool {
        self.entry.and_then(|entry| entry.rights.spawn).unwrap_or(self.role.spawn)
    }

    fn denials(&self) -> impl Iterator<Item = &'a str> {
        self.entry.into_iter().flat_map(|entry| entry.rights.denials.iter().map(String::as_str))
    }

    /// A pattern that cannot be read grants nothing; such a one is not let into the registry.
    fn grants(&self) -> impl Iterator<Item = Pattern> {
        let own = self.entry.into_iter().flat_map(|entry| &entry.rights.grants);
        own.filter_map(|text| Pattern::parse(text).ok())
    }

    fn reads(&self) -> Vec<&str> {
        let own = self.entry.and_then(|entry| entry.rights.reads.as_ref());
        own.map_or_else(|| self.role.reads.to_vec(), |own| own.iter().map(String::as_str).collect())
    }

    fn writes(&self) -> Vec<&str> {
        let own = self.entry.and_then(|entry| entry.rights.writes.as_ref());
        own.map_or_else(|| self.role.writes.to_vec(), |own| own.iter().map(String::as_str).collect())
    }
}

fn is_match(pattern: &str, call: &Call<'_>) -> bool {
    Pattern::parse(pattern).is_ok_and(|pattern| pattern.matches(call))
}

/// The server and the tool of an MCP call. A server's name may hold single underscores, so the first double one ends it.
fn mcp(tool: &str) -> Option<(&str, &str)> {
    tool.strip_prefix("mcp__")?.split_once("__").filter(|(server, _)| !server.is_empty())
}

/// Servers are written with `-` in one place and `_` in the other.
fn is_server(api: &str, server: &str) -> bool {
    let plain = |c: char| if c == '_' { '-' } else { c.to_ascii_lowercase() };
    api.chars().map(plain).eq(server.chars().map(plain))
}

fn is_within(scopes: &[&str], path: &str, workspace: &str, is_write: bool) -> bool {
    let inside = path.strip_prefix(workspace.trim_end_matches('/'));
    let is_inside = inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    // A workspace may lie among scratch paper; it is none for that.
    if is_write && !is_inside && SCRATCH.iter().any(|scope| is_like(scope, path, Some('/'))) {
        // Whoever may write nothing at all has no use for scratch paper either; it is not worth refusing.
        return true;
    }
    scopes.iter().any(|scope| {
        if *scope == "**" || scope.starts_with('/') {
            return is_like(scope, path, Some('/'));
        }
        let scope = scope.strip_prefix("./").unwrap_or(scope);
        let whole = format!("{}/{scope}", workspace.trim_end_matches('/'));
        // Everything in a directory is the directory.
        is_like(&whole, path, Some('/')) || whole.strip_suffix("/**") == Some(path)
    })
}

fn listed(scopes: &[&str]) -> String {
    if scopes.is_empty() { "nothing".to_owned() } else { scopes.join(", ") }
}
