//! Where a call is made: on the host or behind a sandbox's walls, and by whom.
//!
//! Owns: what is known of the surroundings before a call is judged. Refuses: to find any of it out.

use crate::effects::Context;

/// Where a call is made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Scene {
    /// Directories, variables and facts.
    pub context: Context,
    /// The sandbox around it; none on the host.
    pub walls: Option<Walls>,
    /// The agent, where it is known and not only claimed.
    pub agent: Option<String>,
}

/// What a sandbox holds in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Walls {
    /// How far its network reaches.
    pub network: Reach,
}

/// How far a sandbox's network reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// Nowhere.
    #[default]
    Nowhere,
    /// To a list of hosts.
    Listed,
    /// Anywhere the host reaches.
    Anywhere,
}

impl Scene {
    /// A call on the host, as its user. Without a workspace of its own, the directory it is made in is one.
    #[must_use]
    pub fn on_host(cwd: Option<&str>, home: Option<&str>, workspace: Option<&str>) -> Self {
        let bytes = |text: Option<&str>| text.unwrap_or_default().trim_end_matches('/').as_bytes().to_vec();
        let home_bytes = bytes(home);
        let user = home.and_then(|home| home.rsplit('/').next()).unwrap_or_default().to_owned();
        let context = Context {
            cwd: bytes(cwd),
            home: home_bytes,
            user,
            workspace: bytes(workspace.or(cwd)),
            ..Context::default()
        };
        Self { context, ..Self::default() }
    }

    /// The same call, behind a sandbox's walls.
    #[must_use]
    pub fn behind(self, walls: Walls) -> Self {
        Self { walls: Some(walls), ..self }
    }
}
