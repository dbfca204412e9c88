//! Templates: roots with a name that sandboxes start from, the same for all projects.

use std::path::Path;

use belljar_domain::Principal;
use belljar_ports::TemplateInfo;

use super::{Result, Service, ServiceError};

impl Service {
    /// Templates that were imported, by name.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn templates(&self) -> Result<Vec<TemplateInfo>> {
        Ok(self.0.provider.templates()?)
    }

    /// Gives a directory, an archive or an image of this host a name.
    ///
    /// # Errors
    /// When it is not theirs to do, or it is none of these.
    pub fn import_template(&self, who: &Principal, name: &str, source: &Path) -> Result<TemplateInfo> {
        is_theirs(who)?;
        Ok(self.0.provider.import_template(name, source)?)
    }

    /// Takes a name away.
    ///
    /// # Errors
    /// When it is not theirs to do, there is none, or a sandbox stands on it.
    pub fn remove_template(&self, who: &Principal, name: &str) -> Result<()> {
        is_theirs(who)?;
        if !self.templates()?.iter().any(|template| template.name == name) {
            return Err(ServiceError::NotFound(format!("template `{name}` that was imported")));
        }
        Ok(self.0.provider.remove_template(name)?)
    }
}

/// They are files of the host, and every project starts from them.
fn is_theirs(who: &Principal) -> Result<()> {
    if who.admin {
        return Ok(());
    }
    Err(ServiceError::Denied("only an admin may change templates".to_owned()))
}
