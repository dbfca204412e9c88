//! Who asks: everything a use case does is done for somebody.

use serde::{Deserialize, Serialize};

use crate::ProjectId;

/// The one on whose behalf something is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// The project it acts in; what it makes belongs there.
    pub project: ProjectId,
    /// Its name in the ledger, such as `admin` or `uid:1000`.
    pub name: String,
    /// Whether every project is open to it.
    pub admin: bool,
}

impl Principal {
    /// The operator of this machine.
    #[must_use]
    pub fn admin(name: &str) -> Self {
        Self { project: ProjectId::default(), name: name.to_owned(), admin: true }
    }

    /// Says whether it may know of something that belongs to this project.
    #[must_use]
    pub fn sees(&self, project: &ProjectId) -> bool {
        self.admin || self.project == *project
    }

    /// The project its lists are narrowed to; `None` for all of them.
    #[must_use]
    pub fn scope(&self) -> Option<ProjectId> {
        (!self.admin).then(|| self.project.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_admin_looks_over_the_fence() {
        let theirs: ProjectId = "theirs".parse().unwrap();
        let guest = Principal { admin: false, ..Principal::admin("guest") };
        assert!(!guest.sees(&theirs) && guest.sees(&ProjectId::default()));
        assert!(Principal::admin("root").sees(&theirs) && Principal::admin("root").scope().is_none());
    }
}
