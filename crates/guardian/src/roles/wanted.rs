//! What a call would do, as far as a role is about it: handed in by whoever knows, be it from the effects of a command
//! or, where those are not known, from the tool and the paths it names.

use crate::policy::{Call, resolved};

/// What a call would do. Paths are whole, with links and `..` worked out by whoever can.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wanted<'a> {
    /// What it would read.
    pub reads: &'a [String],
    /// What it would write, make, move or remove.
    pub writes: &'a [String],
    /// It would see a secret.
    pub secrets: bool,
    /// It would start another agent.
    pub spawns: bool,
    /// It would change what an agent may do.
    pub modifies_agents: bool,
    /// High-risk operations it is one of, such as `production_deploy`.
    pub operations: &'a [String],
    /// Where scopes begin.
    pub workspace: Option<&'a str>,
}

/// The files a call names, told apart by its tool: what can be known of a call without its effects.
#[derive(Debug, Clone, Default)]
pub struct Named {
    /// What it would read.
    pub reads: Vec<String>,
    /// What it would write.
    pub writes: Vec<String>,
    /// It would start another agent.
    pub spawns: bool,
}

impl Named {
    /// Looks at a call's tool and paths.
    #[must_use]
    pub fn of(call: &Call<'_>) -> Self {
        let paths = || call.paths().into_iter().map(|path| resolved(path, call.cwd, call.home)).collect();
        let mut named = Self { spawns: is_spawn(call.tool), ..Self::default() };
        if call.is_of("Edit") || call.is_of("Write") {
            named.writes = paths();
        } else if call.is_of("Read") || call.is_of("Grep") {
            named.reads = paths();
        }
        named
    }

    /// What it would do, within a workspace.
    #[must_use]
    pub fn wanted<'a>(&'a self, workspace: Option<&'a str>) -> Wanted<'a> {
        Wanted {
            reads: &self.reads,
            writes: &self.writes,
            spawns: self.spawns,
            workspace,
            ..Wanted::default()
        }
    }
}

/// Says whether a tool starts another agent.
pub(super) fn is_spawn(tool: &str) -> bool {
    matches!(tool, "Task" | "Agent" | "spawn_agent" | "task")
}
