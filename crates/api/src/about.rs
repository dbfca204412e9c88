//! What the server says about itself and whom it takes the caller for.

use serde::Serialize;
use utoipa::ToSchema;

/// Whom the server takes the caller for.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WhoAmI {
    /// The name in the ledger, such as `admin` or `uid:1000`.
    pub name: String,
    /// The project the caller acts in.
    pub project_id: String,
    /// Whether every project is open to the caller.
    pub admin: bool,
}

/// Which belljar this is.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Version {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The version of the API.
    pub api: String,
}

/// That the server is alive.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Health {
    /// `ok`.
    pub status: String,
}

/// That requests can be carried out.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Readiness {
    /// Whether all of it is well.
    pub ready: bool,
    /// Whether the store takes writes.
    pub store: bool,
    /// Whether there is room on the disk.
    pub disk: bool,
    /// Whether the provider can make sandboxes.
    pub provider: bool,
}

/// How a sandbox is doing.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct SandboxHealth {
    /// Which one.
    pub id: String,
    /// Whether it can run commands now.
    pub healthy: bool,
    /// Where it is in its life.
    pub state: super::SandboxState,
    /// What is in the way, if something is.
    pub reason: Option<String>,
    /// Promises that do not hold on this host.
    pub degraded: Vec<super::Level>,
}
