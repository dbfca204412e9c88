//! The sandboxes a person sees and acts on: those of this home, with its server where one is up; or another machine's.
//!
//! Owns: putting together what the provider has and what the server knows, so that every command gives the same answer
//! either way. The provider is right about what lives; the server knows names, and remembers what is gone. Refuses:
//! words for people; those are the commands' own.

mod acts;
mod meter;
mod seen;

use std::{
    collections::{BTreeMap, HashMap},
    env,
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{SandboxId, SandboxState, Usage};
use belljar_ports::{Sandbox, SandboxError, SandboxProvider, Store, store::SandboxFilter};
use belljar_providers::process::ProcessProvider;
use belljar_store::{SqliteStore, StoreConfig};

pub(crate) use acts::{Listening, order};
pub(crate) use meter::{Measured, Meter, tenths};
pub(crate) use seen::Seen;

use crate::{args::Named, client::Client, context::Context};

/// The label of sandboxes that wait in a server's pool. They are nobody's yet.
const POOLED: &str = "belljar.pool";
/// The most rows of the past shown.
const MOST: usize = 100_000;

/// Where sandboxes are.
#[derive(Debug)]
pub(crate) struct Sandboxes {
    /// This home's, unless another machine's were asked for.
    provider: Option<ProcessProvider>,
    server: Option<Client>,
    /// What the past is read from when no server can tell it.
    home: std::path::PathBuf,
}

/// Which sandboxes.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// Ended ones too.
    pub(crate) all: bool,
    /// Of this agent.
    pub(crate) agent: Option<String>,
    /// With these tags.
    pub(crate) labels: BTreeMap<String, String>,
}

impl Wanted {
    fn has(&self, seen: &Seen) -> bool {
        (self.all || seen.state.is_live())
            && self.agent.as_ref().is_none_or(|agent| seen.spec.agent.as_ref() == Some(agent))
            && self.labels.iter().all(|(name, value)| seen.spec.labels.get(name) == Some(value))
    }
}

impl Sandboxes {
    pub(crate) fn open(context: &Context) -> Result<Self> {
        let home = context.home.clone();
        if let Some(server) = context.remote()? {
            return Ok(Self { provider: None, server: Some(server), home });
        }
        Ok(Self { provider: Some(context.provider()?), server: Client::at_home(&home), home })
    }

    /// Looks for a server that came or went since.
    pub(crate) fn find_server(&mut self) {
        if !self.is_remote() {
            self.server = Client::at_home(&self.home);
        }
    }

    /// The server, if one is up.
    pub(crate) const fn server(&self) -> Option<&Client> {
        self.server.as_ref()
    }

    /// Whether they are another machine's.
    pub(crate) const fn is_remote(&self) -> bool {
        self.provider.is_none()
    }

    /// The handle of a sandbox of this home.
    pub(crate) fn handle(&self, id: SandboxId) -> Result<Option<Box<dyn Sandbox>>> {
        match self.provider.as_ref().map(|provider| provider.find(id)) {
            Some(Ok(found)) => Ok(Some(found)),
            Some(Err(SandboxError::Unknown(_))) | None => Ok(None),
            Some(Err(error)) => Err(error.into()),
        }
    }

    /// Lists sandboxes, oldest first.
    pub(crate) fn list(&self, wanted: &Wanted) -> Result<Vec<Seen>> {
        let mut found = self.here()?;
        let places: HashMap<SandboxId, usize> =
            found.iter().enumerate().map(|(place, seen)| (seen.id, place)).collect();
        for known in self.known(wanted.all)? {
            match places.get(&known.id).and_then(|place| found.get_mut(*place)) {
                Some(seen) => seen.learn(known),
                // One that ended since the server looked is shown as the past it is, or not at all.
                None if self.is_remote() || wanted.all => found.push(known),
                None => {}
            }
        }
        found.retain(|seen| wanted.has(seen));
        found.sort_by_key(|seen| seen.id);
        Ok(found)
    }

    /// Those of this home that live, by the provider alone: no server is asked, and nothing is swept.
    pub(crate) fn living(&self, wanted: &Wanted) -> Result<Vec<Seen>> {
        let Some(provider) = &self.provider else { return Ok(Vec::new()) };
        let all = provider.list()?.into_iter().filter(|info| !info.spec.labels.contains_key(POOLED));
        Ok(all.map(Seen::from).filter(|seen| wanted.has(seen)).collect())
    }

    /// What the provider has.
    fn here(&self) -> Result<Vec<Seen>> {
        let Some(provider) = &self.provider else { return Ok(Vec::new()) };
        if self.server.is_none() {
            provider.sweep()?;
        }
        let all = provider.list()?.into_iter();
        Ok(all.filter(|info| !info.spec.labels.contains_key(POOLED)).map(Seen::from).collect())
    }

    /// What the server knows, or the last one wrote down; of those alive alone, unless all are wanted.
    fn known(&self, all: bool) -> Result<Vec<Seen>> {
        if let Some(server) = &self.server {
            return Ok(server.sandboxes(all)?.into_iter().map(Seen::from).collect());
        }
        let Some(store) = read_store(&self.home)? else { return Ok(Vec::new()) };
        let live = SandboxState::ALL.into_iter().filter(|state| state.is_live());
        let states = if all { Vec::new() } else { live.collect() };
        let filter = SandboxFilter { states, ..SandboxFilter::default() };
        let (mut found, mut below) = (Vec::new(), None);
        loop {
            let rows = store.sandboxes(&filter, below, 1000)?;
            let Some(last) = rows.last() else { return Ok(found) };
            below = Some(last.id);
            found.extend(rows.iter().filter_map(Seen::from_row));
            if found.len() >= MOST {
                return Ok(found);
            }
        }
    }

    /// Finds the sandbox a person means, with all that is known of it.
    pub(crate) fn find(&self, name: &str) -> Result<Seen> {
        let id = match Named::from(name) {
            Named::Id(id) => id,
            Named::Last => last(&self.list(&Wanted { all: true, ..Wanted::default() })?)?,
            Named::Tail(tail) => by_tail(&self.list(&Wanted { all: true, ..Wanted::default() })?, &tail)?,
        };
        self.look(id)
    }

    /// Shows one sandbox.
    pub(crate) fn look(&self, id: SandboxId) -> Result<Seen> {
        let here = self.handle(id)?.map(|sandbox| Seen::from(sandbox.info()));
        let there = match &self.server {
            Some(server) => match server.sandbox(id) {
                Ok(sandbox) => Some(sandbox),
                Err(error) if error.is_unknown() => None,
                Err(error) => return Err(error.into()),
            },
            None => None,
        };
        match (here, there) {
            (Some(mut seen), Some(sandbox)) => {
                seen.learn(sandbox.into());
                Ok(seen)
            }
            (Some(mut seen), None) => {
                if let Some(past) = self.row(id)?.as_ref().and_then(Seen::from_row) {
                    seen.learn(past);
                }
                Ok(seen)
            }
            (None, Some(sandbox)) => Ok(Seen::from(sandbox)),
            (None, None) => {
                let past = self.row(id)?.as_ref().and_then(Seen::from_row);
                past.ok_or_else(|| SandboxError::Unknown(id).into())
            }
        }
    }

    fn row(&self, id: SandboxId) -> Result<Option<belljar_ports::store::SandboxRow>> {
        let store = if self.server.is_none() { read_store(&self.home)? } else { None };
        Ok(store.map(|store| store.sandbox(id)).transpose()?.flatten())
    }

    /// Measures what a sandbox uses now.
    pub(crate) fn usage(&self, id: SandboxId) -> Result<Usage> {
        match (&self.provider, &self.server) {
            (Some(provider), _) => Ok(provider.find(id)?.usage()?),
            (None, Some(server)) => Ok(server.usage(id)?),
            (None, None) => Err(SandboxError::Unknown(id).into()),
        }
    }
}

/// The store of a home for reading, if there is one; a running server does not mind.
pub(crate) fn read_store(home: &std::path::Path) -> Result<Option<SqliteStore>> {
    if !home.join("belljar.db").exists() {
        return Ok(None);
    }
    let store = SqliteStore::open_read_only(home, StoreConfig::default());
    store.map(Some).context("read the store")
}

/// The last run whose workspace is the current directory, else the last of all.
fn last(all: &[Seen]) -> Result<SandboxId> {
    let here = env::current_dir().and_then(|dir| dir.canonicalize()).unwrap_or_default();
    let is_here = |seen: &&Seen| seen.spec.workspace.as_ref().is_some_and(|w| w.as_path() == here);
    // What is gone without a trace has nothing left to show.
    let left = || all.iter().rev().filter(|seen| !seen.is_gone());
    let found = left().find(is_here).or_else(|| left().next());
    found
        .map(|seen| seen.id)
        .context("there is no sandbox yet, or the last run changed nothing; start one with `belljar run`")
}

fn by_tail(all: &[Seen], tail: &str) -> Result<SandboxId> {
    let fits = |seen: &&Seen| (tail.len() >= 4 && seen.id.to_string().ends_with(tail)) || seen.name == tail;
    // A name may be used again once its sandbox is over.
    let live: Vec<_> = all.iter().filter(fits).filter(|seen| seen.state.is_live()).collect();
    let matching = if live.is_empty() { all.iter().filter(fits).collect() } else { live };
    match matching.as_slice() {
        [one] => Ok(one.id),
        [] => bail!("there is no sandbox `{tail}`; `belljar list --all` shows what there is"),
        several => bail!("`{tail}` fits {} sandboxes; write more of the id", several.len()),
    }
}
