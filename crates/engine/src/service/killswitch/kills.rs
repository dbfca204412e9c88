//! Who is killed, in a file: so that a server, a hook without one and the command line go by the same, also after a restart.
//!
//! Owns: reading and writing it. A file that cannot be read kills everything, for nobody knows whom it spares.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

use belljar_domain::Timestamp;
use serde::{Deserialize, Serialize};

/// That somebody was killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kill {
    /// By whom.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// Which agent; everything if none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Why, in their words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl Kill {
    /// What whoever is refused for it reads.
    #[must_use]
    pub fn reason(&self) -> String {
        let whom = self
            .agent
            .as_ref()
            .map_or_else(|| "everything".to_owned(), |agent| format!("the agent `{agent}`"));
        let why = self.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        format!("{whom} was killed by {} at {}{why}; stop, only a person can undo this", self.by, self.at)
    }
}

/// Who is killed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Kills {
    /// Everything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub everything: Option<Kill>,
    /// Agents, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, Kill>,
}

/// What tells one state of the file from another.
pub(super) type Stamp = (i64, i64, u64, u64);

pub(super) fn stamp(path: &Path) -> Option<Stamp> {
    let about = fs::metadata(path).ok()?;
    Some((about.mtime(), about.mtime_nsec(), about.len(), about.ino()))
}

impl Kills {
    /// What a file says; none is nobody.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let text = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Self::default(),
            read => read.ok(),
        };
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_else(|| {
            let why =
                Some(format!("`{}` cannot be read; remove it if nobody is to be killed", path.display()));
            let unread = Kill { by: "belljar".to_owned(), at: Timestamp::from_micros(0), agent: None, why };
            Self { everything: Some(unread), agents: BTreeMap::new() }
        })
    }

    /// Writes it, durable when this returns. Nobody killed is no file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(&self, path: &Path) -> io::Result<()> {
        if *self == Self::default() {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        let part = path.with_extension(format!("json.{}", std::process::id()));
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.sync_all()?;
        fs::rename(&part, path)
    }

    /// Adds somebody.
    pub fn add(&mut self, kill: Kill) {
        match kill.agent.clone() {
            Some(agent) => drop(self.agents.insert(agent, kill)),
            None => self.everything = Some(kill),
        }
    }

    /// Takes somebody out; none if they were not killed.
    pub fn take(&mut self, agent: Option<&str>) -> Option<Kill> {
        match agent {
            Some(agent) => self.agents.remove(agent),
            None => self.everything.take(),
        }
    }

    /// The kill that whoever goes by these names falls under.
    pub fn of<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Option<&Kill> {
        self.everything.as_ref().or_else(|| names.into_iter().find_map(|name| self.agents.get(name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kill(agent: Option<&str>) -> Kill {
        let at = Timestamp::from_micros(1_000_000);
        Kill { by: "ann".to_owned(), at, agent: agent.map(str::to_owned), why: None }
    }

    #[test]
    fn kills_are_kept_and_taken_back() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("killswitch.json");
        let mut kills = Kills::read(&path);
        assert_eq!(kills, Kills::default());
        kills.add(kill(Some("coder")));
        kills.keep(&path).unwrap();
        let mut kills = Kills::read(&path);
        assert!(kills.of(["writer", "coder"]).is_some() && kills.of(["writer"]).is_none());
        kills.add(kill(None));
        assert!(kills.of([]).is_some_and(|kill| kill.reason().contains("everything was killed by ann")));
        assert!(kills.take(None).is_some() && kills.take(None).is_none());
        assert!(kills.take(Some("coder")).is_some());
        kills.keep(&path).unwrap();
        assert!(!path.exists());
    }

    #[test]
    fn what_cannot_be_read_spares_nobody() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("killswitch.json");
        fs::write(&path, "{").unwrap();
        assert!(Kills::read(&path).of(["anybody"]).is_some());
    }
}
