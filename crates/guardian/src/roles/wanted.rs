//! What a call would do, as far as a role is about it: from its effects, so that it does not matter which tool has them.
//!
//! Owns: which effects are reading and writing, and which are one of the named high-risk operations. Refuses: to say
//! whether any of it may be; that is `rights`.

use crate::{
    effects::{Act, Code, Effect, Effort, Traffic},
    policy::{Call, Explanation, resolved},
    shell::value::{Piece, Value},
};

/// High-risk operations by name. Rules put their own calls to them with `tags`.
pub mod operation {
    /// Something others rely on is changed: clusters, clouds, what is published.
    pub const PRODUCTION_DEPLOY: &str = "production_deploy";
    /// A database is changed in more than its rows.
    pub const PRODUCTION_MIGRATION: &str = "production_migration";
    /// A secret is seen.
    pub const SECRET_ACCESS: &str = "secret_access";
    /// What agents may do is changed.
    pub const AGENT_MODIFICATION: &str = "agent_modification";
    /// What agents may spend is changed.
    pub const BUDGET_OVERRIDE: &str = "budget_override";
    /// Hosts or ports are tried.
    pub const PENETRATION_TEST: &str = "penetration_test";
    /// Files are removed.
    pub const FILE_DELETE: &str = "file_delete";
}

/// What a call would do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// What it would read.
    pub reads: Vec<String>,
    /// What it would write, make, move or remove.
    pub writes: Vec<String>,
    /// It would write somewhere, and where is not known from its text.
    pub unsure: Option<String>,
    /// It would see a secret.
    pub secrets: bool,
    /// It would start another agent.
    pub spawns: bool,
    /// It would change what an agent may do.
    pub modifies_agents: bool,
    /// High-risk operations it is one of.
    pub operations: Vec<String>,
    /// Where scopes begin; without one nothing is held against them.
    pub workspace: Option<String>,
}

impl Wanted {
    /// What a call would do, by what was found out about it.
    #[must_use]
    pub fn of(call: &Call<'_>, explained: &Explanation, workspace: Option<&str>) -> Self {
        let mut wanted = Self {
            spawns: is_spawn(call.tool),
            secrets: explained.findings.iter().any(|found| found.pack == Some("secrets")),
            workspace: workspace.map(str::to_owned),
            ..Self::default()
        };
        let done = explained.effects.iter().filter(|effect| effect.effort == Effort::Done);
        done.for_each(|effect| wanted.add(effect));
        let tags = explained.findings.iter().flat_map(|found| &found.tags);
        wanted.operations.extend(tags.cloned());
        if wanted.secrets {
            wanted.is_one_of(operation::SECRET_ACCESS);
        }
        wanted
    }

    /// A file that is read or written otherwise than by a tool of an agent.
    #[must_use]
    pub fn with_file(mut self, path: &str, is_written: bool) -> Self {
        let path = resolved(path, None, None);
        let list = if is_written { &mut self.writes } else { &mut self.reads };
        list.push(path);
        self
    }

    fn add(&mut self, effect: &Effect) {
        match &effect.act {
            Act::Read { path, .. } | Act::Look { path } | Act::Run { code: Code::File(path), .. } => {
                self.reads.extend(text(path));
            }
            Act::Write { path, .. } | Act::Permit { path, .. } => self.write(path),
            Act::Delete { path, .. } => {
                self.write(path);
                self.is_one_of(operation::FILE_DELETE);
            }
            Act::Spawn { .. } => self.spawns = true,
            Act::Tamper { .. } => {
                self.modifies_agents = true;
                self.is_one_of(operation::AGENT_MODIFICATION);
            }
            Act::Infrastructure { .. } => self.is_one_of(operation::PRODUCTION_DEPLOY),
            Act::Package { operation, .. } if operation == "publish" => {
                self.is_one_of(operation::PRODUCTION_DEPLOY);
            }
            Act::Database { destroys: true, .. } => self.is_one_of(operation::PRODUCTION_MIGRATION),
            Act::Network { traffic: Traffic::Scan, .. } => self.is_one_of(operation::PENETRATION_TEST),
            _ => {}
        }
    }

    fn write(&mut self, path: &Value) {
        match (text(path), path.why()) {
            (Some(path), _) => self.writes.push(path),
            (None, why) => self.unsure = Some(why.map_or("the path", |why| &why.construct).to_owned()),
        }
    }

    fn is_one_of(&mut self, operation: &str) {
        if !self.operations.iter().any(|known| known == operation) {
            self.operations.push(operation.to_owned());
        }
    }
}

/// A path all of which is known; what a glob stands for lies where the glob does.
fn text(path: &Value) -> Option<String> {
    let piece = |piece: &Piece| match piece {
        Piece::Known(bytes) | Piece::Glob(bytes) => std::str::from_utf8(bytes).ok().map(str::to_owned),
        Piece::Unknown(_) => None,
    };
    path.pieces.iter().map(piece).collect()
}

/// Says whether a tool starts another agent.
pub(super) fn is_spawn(tool: &str) -> bool {
    matches!(tool, "Task" | "Agent" | "spawn_agent" | "task")
}
