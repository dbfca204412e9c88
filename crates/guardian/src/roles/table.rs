//! The ten roles, as they are unless somebody says otherwise. A table, to be read as one.

use belljar_domain::Role;

/// What a role permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolePolicy {
    /// Which role.
    pub role: Role,
    /// How much it is trusted, from 1 to 10.
    pub level: u8,
    /// The tools it may use, under the names Claude Code gives them; `*` is every tool.
    pub tools: &'static [&'static str],
    /// What it may read, as globs from the workspace. Whoever changes code must be able to read what it is about, so
    /// that reading is narrower than everything for nobody; secrets are kept by their own right.
    pub reads: &'static [&'static str],
    /// What it may write, as globs from the workspace.
    pub writes: &'static [&'static str],
    /// The MCP servers it may call; `*` is every one.
    pub apis: &'static [&'static str],
    /// Whether it may start other agents.
    pub spawn: bool,
    /// Whether it may change what other agents may do.
    pub modify_agents: bool,
    /// Whether it may see secrets.
    pub secrets: bool,
    /// Tools and high-risk operations a person is asked about.
    pub asks: &'static [&'static str],
    /// Tokens it is meant to use in one session.
    pub tokens_per_session: u64,
    /// Millionths of a dollar it is meant to spend in one day.
    pub micros_per_day: u64,
}

const DOLLAR: u64 = 1_000_000;
const EVERYTHING: &[&str] = &["**"];
const NOTHING: &[&str] = &[];
const CODE: &[&str] = &["Read", "Write", "Edit", "MultiEdit", "Bash", "Grep", "Glob", "Task"];

/// Every role, the most trusted first.
pub const ROLES: [RolePolicy; 10] = [
    RolePolicy {
        role: Role::Admin,
        level: 10,
        tools: &["*"],
        reads: EVERYTHING,
        writes: EVERYTHING,
        apis: &["*"],
        spawn: true,
        modify_agents: true,
        secrets: true,
        asks: &["KillShell", "file_delete", "production_deploy"],
        tokens_per_session: 500_000,
        micros_per_day: 100 * DOLLAR,
    },
    RolePolicy {
        role: Role::Developer,
        level: 8,
        tools: &["Read", "Write", "Edit", "MultiEdit", "Bash", "Grep", "Glob", "Task", "TodoWrite"],
        reads: EVERYTHING,
        writes: &["src/**", "tests/**", "scripts/**", "config/**"],
        apis: &["github", "gitlab", "memory-mcp"],
        spawn: true,
        modify_agents: false,
        secrets: false,
        asks: &["production_deploy"],
        tokens_per_session: 200_000,
        micros_per_day: 30 * DOLLAR,
    },
    RolePolicy {
        role: Role::Coordinator,
        level: 8,
        tools: &["Read", "Grep", "Glob", "Task", "TodoWrite"],
        reads: EVERYTHING,
        writes: NOTHING,
        apis: &["memory-mcp", "flow-nexus", "ruv-swarm"],
        spawn: true,
        modify_agents: false,
        secrets: false,
        asks: NOTHING,
        tokens_per_session: 250_000,
        micros_per_day: 40 * DOLLAR,
    },
    RolePolicy {
        role: Role::Security,
        level: 7,
        tools: &["Read", "Grep", "Glob", "Task", "WebFetch"],
        reads: EVERYTHING,
        writes: NOTHING,
        apis: &["github", "memory-mcp", "connascence-analyzer"],
        spawn: true,
        modify_agents: false,
        secrets: true,
        asks: &["penetration_test", "secret_access"],
        tokens_per_session: 180_000,
        micros_per_day: 25 * DOLLAR,
    },
    RolePolicy {
        role: Role::Database,
        level: 7,
        tools: &["Read", "Write", "Edit", "Bash", "Task"],
        reads: EVERYTHING,
        writes: &["backend/**", "database/**", "migrations/**", "schemas/**"],
        apis: &["memory-mcp"],
        spawn: false,
        modify_agents: false,
        secrets: true,
        asks: &["production_migration"],
        tokens_per_session: 150_000,
        micros_per_day: 20 * DOLLAR,
    },
    RolePolicy {
        role: Role::Backend,
        level: 7,
        tools: CODE,
        reads: EVERYTHING,
        writes: &["backend/**", "src/api/**", "src/services/**", "src/models/**", "tests/**"],
        apis: &["github", "gitlab", "memory-mcp"],
        spawn: true,
        modify_agents: false,
        secrets: false,
        asks: NOTHING,
        tokens_per_session: 180_000,
        micros_per_day: 25 * DOLLAR,
    },
    RolePolicy {
        role: Role::Reviewer,
        level: 6,
        // `Task` is among its tools in every list of old; that it starts no agents counts.
        tools: &["Read", "Grep", "Glob", "Task"],
        reads: EVERYTHING,
        writes: NOTHING,
        apis: &["github", "memory-mcp", "connascence-analyzer"],
        spawn: false,
        modify_agents: false,
        secrets: false,
        asks: NOTHING,
        tokens_per_session: 150_000,
        micros_per_day: 20 * DOLLAR,
    },
    RolePolicy {
        role: Role::Frontend,
        level: 6,
        tools: CODE,
        reads: EVERYTHING,
        writes: &["frontend/**", "src/components/**", "src/pages/**", "public/**", "styles/**"],
        apis: &["github", "memory-mcp"],
        spawn: false,
        modify_agents: false,
        secrets: false,
        asks: NOTHING,
        tokens_per_session: 150_000,
        micros_per_day: 20 * DOLLAR,
    },
    RolePolicy {
        role: Role::Tester,
        level: 6,
        tools: &["Read", "Write", "Edit", "Bash", "Grep", "Glob", "Task"],
        reads: EVERYTHING,
        writes: &["tests/**", "e2e/**", "**/*.test.*", "**/*.spec.*"],
        apis: &["github", "memory-mcp"],
        spawn: false,
        modify_agents: false,
        secrets: false,
        asks: NOTHING,
        tokens_per_session: 150_000,
        micros_per_day: 20 * DOLLAR,
    },
    RolePolicy {
        role: Role::Analyst,
        level: 5,
        tools: &["Read", "Grep", "Glob", "WebSearch", "WebFetch"],
        reads: EVERYTHING,
        writes: NOTHING,
        apis: &["github", "memory-mcp"],
        spawn: false,
        modify_agents: false,
        secrets: false,
        asks: NOTHING,
        tokens_per_session: 100_000,
        micros_per_day: 15 * DOLLAR,
    },
];

/// The role of an agent nobody has given one.
pub const DEFAULT: Role = Role::Developer;

/// What a role permits.
#[must_use]
pub fn policy(role: Role) -> &'static RolePolicy {
    // Every role is in the table; a test looks.
    ROLES.iter().find(|policy| policy.role == role).unwrap_or(&LEAST)
}

static LEAST: RolePolicy = ROLES[9];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_is_in_the_table_once() {
        for role in Role::ALL {
            assert_eq!(policy(*role).role, *role);
        }
        assert_eq!(ROLES.len(), Role::ALL.len());
    }
}
