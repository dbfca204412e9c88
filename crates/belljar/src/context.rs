//! What every command starts from: belljar's home, the caller's environment, the provider.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{ExecutionId, SandboxId, SnapshotId};
use belljar_ports::{Sandbox, SandboxProvider};
use belljar_providers::process::ProcessProvider;
use uuid::Uuid;

use crate::{
    args::{Cli, Named},
    client::Client,
    config::Config,
    sandboxes::Sandboxes,
};

/// Shared by all commands.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) json: bool,
    pub(crate) home: PathBuf,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) config: Config,
}

impl Context {
    pub(crate) fn new(cli: &Cli) -> Result<Self> {
        let env: BTreeMap<String, String> = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        let home = match &cli.home {
            Some(home) => home.clone(),
            None => default_home(|name| env.get(name).cloned())?,
        };
        let home = std::path::absolute(&home).context("find belljar's home")?;
        if home.to_str().is_none() {
            bail!("belljar's home `{}` is not valid UTF-8; set BELLJAR_HOME", home.display());
        }
        let file = cli.config.clone().unwrap_or_else(|| home.join("belljar.toml"));
        let config = Config::load(&file, cli.config.is_some(), &env)?;
        Ok(Self { json: cli.json, home, env, config })
    }

    /// Opens the provider.
    pub(crate) fn provider(&self) -> Result<ProcessProvider> {
        Ok(ProcessProvider::open(&self.home, self.env.clone())?)
    }

    /// Finds the sandbox of this machine a person means.
    pub(crate) fn find(&self, provider: &dyn SandboxProvider, name: &str) -> Result<Box<dyn Sandbox>> {
        if self.url().is_some() {
            bail!("this works on sandboxes of this machine only; unset BELLJAR_URL");
        }
        let id = match Named::from(name) {
            Named::Id(id) => id,
            Named::Last | Named::Tail(_) => Sandboxes::open(self)?.find(name)?.id,
        };
        Ok(provider.find(id)?)
    }

    /// The server on another machine whose sandboxes are meant, if one is.
    pub(crate) fn remote(&self) -> Result<Option<Client>> {
        let token = self.env.get("BELLJAR_TOKEN").map(String::as_str);
        Ok(self.url().map(|url| Client::at_url(url, token)).transpose()?)
    }

    /// The server that has the records of what agents did: the one named, else this home's.
    pub(crate) fn server(&self) -> Result<Client> {
        if let Some(server) = self.remote()? {
            return Ok(server);
        }
        let home = self.home.display();
        Client::at_home(&self.home).with_context(|| {
            format!("no server is up for `{home}`, and it has the records; start one with `belljar serve`")
        })
    }

    fn url(&self) -> Option<&str> {
        self.env.get("BELLJAR_URL").map(String::as_str).filter(|url| !url.is_empty())
    }

    pub(crate) fn colour(&self, stream_is_terminal: bool) -> bool {
        stream_is_terminal && !self.env.contains_key("NO_COLOR")
    }
}

/// Belljar's home, by what the environment says.
pub(crate) fn default_home(variable: impl Fn(&str) -> Option<String>) -> Result<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(home) = variable("BELLJAR_HOME").filter(|home| !home.is_empty()) {
        return Ok(PathBuf::from(home));
    }
    if rustix::process::geteuid().is_root() {
        return Ok(PathBuf::from("/var/lib/belljar"));
    }
    if let Some(data) = absolute("XDG_DATA_HOME") {
        return Ok(data.join("belljar"));
    }
    let home = absolute("HOME").context("neither BELLJAR_HOME nor HOME is set; set one of them")?;
    Ok(home.join(".local/share/belljar"))
}

pub(crate) fn new_sandbox_id() -> SandboxId {
    SandboxId::from_uuid(Uuid::now_v7())
}

pub(crate) fn new_execution_id() -> ExecutionId {
    ExecutionId::from_uuid(Uuid::now_v7())
}

pub(crate) fn new_snapshot_id() -> SnapshotId {
    SnapshotId::from_uuid(Uuid::now_v7())
}

/// `NAME=VALUE`, or `NAME` alone to take the caller's value.
pub(crate) fn variables(
    given: &[String],
    own: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for text in given {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => {
                let value = own
                    .get(text)
                    .with_context(|| format!("`{text}` is not set in this shell; write {text}=VALUE"))?;
                (text.as_str(), value.clone())
            }
        };
        if name.is_empty() {
            bail!("`{text}` is not a variable; write NAME=VALUE");
        }
        all.insert(name.to_owned(), value);
    }
    Ok(all)
}

/// `NAME=VALUE` pairs.
pub(crate) fn labels(given: &[String]) -> Result<BTreeMap<String, String>> {
    let pair = |text: &String| {
        let (name, value) =
            text.split_once('=').with_context(|| format!("`{text}` is not a label; write NAME=VALUE"))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    given.iter().map(pair).collect()
}

/// Where a sandbox's outputs are recorded, one file per execution.
pub(crate) fn log_dir(dir: &Path) -> PathBuf {
    dir.join("log")
}
