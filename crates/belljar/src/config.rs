//! `belljar.toml`: defaults a user can change, each key also as `BELLJAR_…` in the environment.
//!
//! File, then environment, then flags; the later wins. A key that does not exist is an error that names the nearest one.

use std::{collections::BTreeMap, fs, net::SocketAddr, path::Path, time::Duration};

use anyhow::{Context as _, Result, anyhow, bail};
use belljar_domain::{
    BudgetPeriod as Period, BudgetScope as Scope, ByteSize, Clocks, Limits, LimitsPatch, NetworkMode,
    Profile, Span, Thresholds,
};
use belljar_engine::{
    service::{AlertSettings, Archive, ExportSettings, OnRevoke, Quotas, StopSettings, WebhookSettings},
    supervise::KillRule,
};
use belljar_store::StoreConfig;

use crate::spending::Spending;

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Config {
    pub(crate) limits: Limits,
    pub(crate) clocks: Clocks,
    pub(crate) thresholds: Thresholds,
    pub(crate) kill: KillRule,
    pub(crate) network: NetworkMode,
    pub(crate) profile: Profile,
    pub(crate) handlers: Handlers,
    pub(crate) server: ServerConfig,
    pub(crate) hooks: HooksConfig,
    pub(crate) webhooks: WebhookSettings,
    pub(crate) alerts: AlertSettings,
    pub(crate) quotas: Quotas,
    pub(crate) stop: StopSettings,
    pub(crate) on_revoke: OnRevoke,
    pub(crate) spending: Spending,
    pub(crate) export: ExportSettings,
    pub(crate) store: StoreConfig,
}

/// How `belljar serve` serves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ServerConfig {
    /// Where it listens.
    pub(crate) listen: Option<SocketAddr>,
    /// Sandboxes kept ready.
    pub(crate) pool: Option<usize>,
    /// Names it answers to besides this machine's own.
    pub(crate) hosts: Vec<String>,
    /// How long a client may take nothing before it is let go.
    pub(crate) patience: Option<Span>,
    /// Where programs that know no keys may watch and tell events.
    pub(crate) keyless: Option<SocketAddr>,
    /// With less room in its home it is not ready.
    pub(crate) disk_floor: Option<ByteSize>,
}

/// What is taken of what hooks say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HooksConfig {
    /// Whether events are refused of which it is not known whose they are.
    pub(crate) signed_only: bool,
    /// How long a signature is good.
    pub(crate) replay_window: Option<Span>,
}

/// What to do when something is killed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Handlers {
    /// A program and its arguments; the event is JSON on its standard input.
    pub(crate) command: Vec<String>,
    /// An address the event is posted to.
    pub(crate) webhook: Option<String>,
}

type Set = fn(&mut Config, &Value) -> Result<()>;

/// A value as the file or the environment has it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Text(String),
    List(Vec<String>),
}

/// Every key. The environment's name is `BELLJAR_` and the key in capitals with `_` for the dot.
const KEYS: [(&str, Set); 73] = [
    ("limits.memory", |c, v| limit(c, LimitsPatch { memory: Some(v.parse()?), ..LimitsPatch::default() })),
    ("limits.cpus", |c, v| limit(c, LimitsPatch { cpus: Some(v.parse()?), ..LimitsPatch::default() })),
    ("limits.disk", |c, v| limit(c, LimitsPatch { disk: Some(v.parse()?), ..LimitsPatch::default() })),
    ("limits.inodes", |c, v| limit(c, LimitsPatch { inodes: Some(v.parse()?), ..LimitsPatch::default() })),
    ("limits.pids", |c, v| limit(c, LimitsPatch { pids: Some(v.parse()?), ..LimitsPatch::default() })),
    ("limits.open_files", |c, v| {
        limit(c, LimitsPatch { open_files: Some(v.parse()?), ..LimitsPatch::default() })
    }),
    ("clocks.exec_timeout", |c, v| v.parse().map(|span| c.clocks.exec_timeout = span)),
    ("clocks.ttl", |c, v| v.parse().map(|span| c.clocks.ttl = span)),
    ("clocks.idle", |c, v| v.parse().map(|span| c.clocks.idle = span)),
    ("thresholds.cpu", |c, v| v.pair().map(|pair| c.thresholds.cpu = pair)),
    ("thresholds.memory", |c, v| v.pair().map(|pair| c.thresholds.memory = pair)),
    ("thresholds.disk", |c, v| v.pair().map(|pair| c.thresholds.disk = pair)),
    ("thresholds.pids", |c, v| v.pair().map(|pair| c.thresholds.pids = pair)),
    ("killswitch.pids_samples", |c, v| v.parse().map(|count| c.kill.pids_samples = count)),
    ("killswitch.disk_samples", |c, v| v.parse().map(|count| c.kill.disk_samples = count)),
    ("killswitch.command", |c, v| {
        c.handlers.command = v.words();
        Ok(())
    }),
    ("killswitch.webhook", |c, v| webhook(c, v)),
    ("sandbox.network", |c, v| v.parse().map(|mode| c.network = mode)),
    ("sandbox.profile", |c, v| v.parse().map(|profile| c.profile = profile)),
    ("server.listen", |c, v| v.parse().map(|address| c.server.listen = Some(address))),
    ("server.keyless", |c, v| v.parse().map(|address| c.server.keyless = Some(address))),
    ("hooks.unsigned", unsigned),
    ("hooks.replay_window", |c, v| v.parse().map(|span| c.hooks.replay_window = Some(span))),
    ("server.pool", |c, v| v.parse().map(|count| c.server.pool = Some(count))),
    ("server.hosts", |c, v| {
        c.server.hosts = v.words();
        Ok(())
    }),
    ("server.patience", |c, v| v.parse().map(|span| c.server.patience = Some(span))),
    ("server.disk_floor", |c, v| v.parse().map(|size| c.server.disk_floor = Some(size))),
    ("stop.archive", archive),
    ("stop.desktop", |c, v| v.parse().map(|shown| c.stop.desktop = shown)),
    ("stop.command", |c, v| {
        c.stop.command = v.words();
        Ok(())
    }),
    ("stop.say", |c, v| {
        c.stop.say = v.words();
        Ok(())
    }),
    ("stop.run", |c, v| {
        c.stop.run = v.lines();
        Ok(())
    }),
    ("export.endpoint", endpoint),
    ("export.headers", headers),
    ("export.content", |c, v| v.parse().map(|wanted| c.export.content = wanted)),
    ("webhooks.allow_private", |c, v| v.parse().map(|allowed| c.webhooks.allow_private = allowed)),
    ("webhooks.attempts", |c, v| v.parse().map(|count| c.webhooks.attempts = count)),
    ("webhooks.retry_delay", |c, v| {
        v.parse::<Span>().map(|span| c.webhooks.retry_delay = span.as_duration())
    }),
    ("webhooks.timeout", |c, v| v.parse::<Span>().map(|span| c.webhooks.timeout = span.as_duration())),
    ("alerts.timeout_rate", |c, v| v.parse().map(|number| c.alerts.timeout_rate = number)),
    ("alerts.error_rate", |c, v| v.parse().map(|number| c.alerts.error_rate = number)),
    ("alerts.cost_micros", |c, v| v.parse().map(|number| c.alerts.cost_micros = number)),
    ("alerts.queue", |c, v| v.parse().map(|number| c.alerts.queue = number)),
    ("alerts.memory", |c, v| v.parse().map(|number| c.alerts.memory = number)),
    ("alerts.disk", |c, v| v.parse().map(|number| c.alerts.disk = number)),
    ("alerts.writer_lag", |c, v| v.parse::<Span>().map(|span| c.alerts.writer_lag = span.as_duration())),
    ("alerts.window", |c, v| v.parse::<Span>().map(|span| c.alerts.window = span.as_duration())),
    ("alerts.hold", |c, v| v.parse::<Span>().map(|span| c.alerts.hold = span.as_duration())),
    ("alerts.interval", |c, v| v.parse::<Span>().map(|span| c.alerts.interval = span.as_duration())),
    ("alerts.alertmanager", |c, v| v.parse().map(|text| c.alerts.alertmanager = Some(text))),
    ("alerts.webhook", |c, v| v.parse().map(|text| c.alerts.webhook = Some(text))),
    ("alerts.secret", |c, v| v.parse().map(|text| c.alerts.secret = Some(text))),
    ("retention.audit", |c, v| kept(v).map(|time| c.store.audit = time)),
    ("retention.events", |c, v| kept(v).map(|time| c.store.events = time)),
    ("retention.samples", |c, v| kept(v).map(|time| c.store.samples = time)),
    ("retention.rollups", |c, v| kept(v).map(|time| c.store.rollups = time)),
    ("store.max_size", |c, v| room(v).map(|bytes| c.store.database_bytes = bytes)),
    ("artifacts.max_size", |c, v| room(v).map(|bytes| c.store.artifact_bytes = bytes)),
    ("artifacts.total_size", |c, v| room(v).map(|bytes| c.store.artifacts_bytes = bytes)),
    ("agents.on_revoke", on_revoke),
    ("budgets.day", |c, v| c.spending.limit_cost(Scope::Global, Period::Day, &v.parse::<String>()?)),
    ("budgets.project_day", |c, v| c.spending.limit_cost(Scope::Project, Period::Day, &v.parse::<String>()?)),
    ("budgets.agent_day", |c, v| c.spending.limit_cost(Scope::Agent, Period::Day, &v.parse::<String>()?)),
    ("budgets.session", |c, v| c.spending.limit_cost(Scope::Session, Period::Total, &v.parse::<String>()?)),
    ("budgets.session_tokens", |c, v| {
        c.spending.limit_tokens(Scope::Session, Period::Total, &v.parse::<String>()?)
    }),
    ("budgets.run", |c, v| c.spending.limit_cost(Scope::Run, Period::Total, &v.parse::<String>()?)),
    ("budgets.operation", |c, v| {
        c.spending.limit_cost(Scope::Global, Period::Operation, &v.parse::<String>()?)
    }),
    ("budgets.steps", |c, v| c.spending.set_steps(&v.words())),
    ("quotas.total", |c, v| v.parse().map(|count| c.quotas.total = count)),
    ("quotas.project", |c, v| v.parse().map(|count| c.quotas.project = count)),
    ("quotas.agent", |c, v| v.parse().map(|count| c.quotas.agent = count)),
    ("quotas.queue", |c, v| v.parse().map(|count| c.quotas.queue = count)),
    ("quotas.patience", |c, v| {
        v.parse::<Span>().map(|span| c.quotas.patience = Duration::from_millis(span.as_millis()))
    }),
];

impl Config {
    /// Reads the file, if there is one, and the environment.
    pub(crate) fn load(file: &Path, must_exist: bool, env: &BTreeMap<String, String>) -> Result<Self> {
        let mut config = Self::default();
        match fs::read_to_string(file) {
            Ok(text) => config.read(&text).with_context(|| format!("in `{}`", file.display()))?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !must_exist => {}
            Err(error) => return Err(error).with_context(|| format!("read `{}`", file.display())),
        }
        for (key, set) in KEYS {
            let name = format!("BELLJAR_{}", key.replace('.', "_").to_ascii_uppercase());
            if let Some(value) = env.get(&name) {
                set(&mut config, &Value::Text(value.clone()))
                    .with_context(|| format!("in the variable `{name}`"))?;
            }
        }
        Ok(config)
    }

    fn read(&mut self, text: &str) -> Result<()> {
        let table: toml::Table = text.parse()?;
        for (section, values) in &table {
            let toml::Value::Table(values) = values else {
                bail!("`{section}` must stand in a section; did you mean `{}`?", nearest(section));
            };
            for (name, value) in values {
                let key = format!("{section}.{name}");
                let Some((_, set)) = KEYS.iter().find(|(known, _)| *known == key) else {
                    bail!("there is no key `{key}`; did you mean `{}`?", nearest(&key));
                };
                set(self, &Value::from_toml(value)?).with_context(|| format!("for the key `{key}`"))?;
            }
        }
        Ok(())
    }
}

fn limit(config: &mut Config, patch: LimitsPatch) -> Result<()> {
    config.limits = config.limits.patched(&patch);
    Ok(())
}

/// How long something is kept. Nothing at all would remove what was just recorded.
fn kept(value: &Value) -> Result<Duration> {
    let time = value.parse::<Span>()?.as_duration();
    if time.is_zero() {
        bail!("what is recorded is kept for a while; the least is `1s`");
    }
    Ok(time)
}

/// How much something may take.
fn room(value: &Value) -> Result<u64> {
    let bytes = value.parse::<ByteSize>()?.as_bytes();
    if bytes == 0 {
        bail!("there must be some room, such as `1G`");
    }
    Ok(bytes)
}

fn archive(config: &mut Config, value: &Value) -> Result<()> {
    config.stop.archive = match value.parse::<String>()?.as_str() {
        "session" => Archive::Session,
        "turn" => Archive::Turn,
        "never" => Archive::Never,
        other => bail!("`{other}` is none of `session`, `turn`, `never`"),
    };
    Ok(())
}

fn on_revoke(config: &mut Config, value: &Value) -> Result<()> {
    config.on_revoke = match value.parse::<String>()?.as_str() {
        "freeze" => OnRevoke::Freeze,
        "end" => OnRevoke::End,
        other => bail!("`{other}` is neither `freeze` nor `end`"),
    };
    Ok(())
}

fn endpoint(config: &mut Config, value: &Value) -> Result<()> {
    let url: String = value.parse()?;
    if !url.starts_with("http://") && !url.starts_with("https://") {
        bail!("`{url}` is no address of a collector; write it as http://127.0.0.1:4318");
    }
    config.export.endpoint = Some(url);
    Ok(())
}

/// As `OTEL_EXPORTER_OTLP_HEADERS` has them: a name, `=`, a value.
fn headers(config: &mut Config, value: &Value) -> Result<()> {
    let pairs = match value {
        Value::Text(text) => text.split(',').map(str::to_owned).collect(),
        Value::List(pairs) => pairs.clone(),
    };
    let pair = |pair: String| -> Result<(String, String)> {
        let (name, value) = pair.split_once('=').context("a header is written as `name=value`")?;
        let (name, value) = (name.trim(), value.trim());
        let is_name = !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if !is_name || value.bytes().any(|byte| byte.is_ascii_control()) {
            bail!("`{name}` with this value is no header");
        }
        Ok((name.to_owned(), value.to_owned()))
    };
    config.export.headers = pairs.into_iter().map(pair).collect::<Result<_>>()?;
    Ok(())
}

fn unsigned(config: &mut Config, value: &Value) -> Result<()> {
    config.hooks.signed_only = match value.parse::<String>()?.as_str() {
        "accept" => false,
        "refuse" => true,
        other => bail!("`{other}` is neither `accept` nor `refuse`"),
    };
    Ok(())
}

fn webhook(config: &mut Config, value: &Value) -> Result<()> {
    let url: String = value.parse()?;
    if !url.starts_with("http://") {
        bail!("`{url}` does not start with http://; for https use `killswitch.command` with curl");
    }
    config.handlers.webhook = Some(url);
    Ok(())
}

impl Value {
    fn from_toml(value: &toml::Value) -> Result<Self> {
        let plain = |value: &toml::Value| match value {
            toml::Value::String(text) => Ok(text.clone()),
            toml::Value::Integer(number) => Ok(number.to_string()),
            toml::Value::Float(number) => Ok(number.to_string()),
            toml::Value::Boolean(truth) => Ok(truth.to_string()),
            other => Err(anyhow!("`{other}` is neither a text nor a number")),
        };
        match value {
            toml::Value::Array(items) => items.iter().map(plain).collect::<Result<_>>().map(Self::List),
            other => plain(other).map(Self::Text),
        }
    }

    fn parse<T: std::str::FromStr>(&self) -> Result<T>
    where
        T::Err: std::fmt::Display,
    {
        match self {
            Self::Text(text) => text.parse().map_err(|error| anyhow!("{error}")),
            Self::List(_) => bail!("one value is wanted, not a list"),
        }
    }

    fn words(&self) -> Vec<String> {
        match self {
            Self::Text(text) => text.split_whitespace().map(str::to_owned).collect(),
            Self::List(words) => words.clone(),
        }
    }

    /// A text that is not taken apart, or several.
    fn lines(&self) -> Vec<String> {
        match self {
            Self::Text(text) => vec![text.clone()],
            Self::List(lines) => lines.clone(),
        }
    }

    /// Warning and critical percentages.
    fn pair(&self) -> Result<(u64, u64)> {
        let words = self.words();
        match words.as_slice() {
            [warning, critical] => {
                let pair = (warning.parse()?, critical.parse()?);
                if pair.0 > pair.1 {
                    bail!("the warning must come before the critical level")
                } else {
                    Ok(pair)
                }
            }
            _ => bail!("two percentages are wanted, such as [80, 95]"),
        }
    }
}

/// The known key with the fewest letters to change.
fn nearest(key: &str) -> &'static str {
    KEYS.iter().map(|(known, _)| *known).min_by_key(|known| distance(key, known)).unwrap_or_default()
}

fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX - 1);
            let change = at(&row, j) + usize::from(x != *y);
            next.push(change.min(at(&row, j + 1) + 1).min(at(&next, j) + 1));
        }
        row = next;
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_wins_over_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("belljar.toml");
        fs::write(
            &file,
            "[limits]\nmemory = \"1G\"\ncpus = 0.5\n[clocks]\nttl = \"2h\"\n[thresholds]\ncpu = [50, 60]\n",
        )
        .unwrap();
        let env = [("BELLJAR_LIMITS_MEMORY".to_owned(), "2G".to_owned())].into();
        let config = Config::load(&file, true, &env).unwrap();
        assert_eq!(config.limits.memory, ByteSize::mib(2048));
        assert_eq!(config.limits.cpus.as_milli(), 500);
        assert_eq!(config.clocks.ttl, Span::seconds(7200));
        assert_eq!(config.thresholds.cpu, (50, 60));
    }

    #[test]
    fn a_wrong_key_names_the_nearest() {
        let mut config = Config::default();
        let said = format!("{:#}", config.read("[limits]\nmemroy = 5\n").unwrap_err());
        assert!(said.contains("did you mean `limits.memory`?"), "{said}");
        let said = format!("{:#}", config.read("[limits]\nmemory = \"lots\"\n").unwrap_err());
        assert!(said.contains("limits.memory") && said.contains("512M"), "{said}");
    }

    #[test]
    fn what_is_kept_is_the_operators_to_say() {
        let mut config = Config::default();
        let text = "[retention]\naudit = \"720h\"\nevents = \"24h\"\nsamples = \"2h\"\nrollups = \"48h\"\n\
            [store]\nmax_size = \"2G\"\n[artifacts]\nmax_size = \"1M\"\ntotal_size = \"1G\"\n";
        config.read(text).unwrap();
        let hours = Duration::from_hours;
        let store = config.store;
        assert_eq!(
            (store.audit, store.events, store.samples, store.rollups),
            (hours(720), hours(24), hours(2), hours(48))
        );
        assert_eq!(
            (store.database_bytes, store.artifact_bytes, store.artifacts_bytes),
            (2 << 30, 1 << 20, 1 << 30)
        );
        for wrong in ["[retention]\nevents = \"0s\"\n", "[store]\nmax_size = 0\n"] {
            config.read(wrong).unwrap_err();
        }
    }

    #[test]
    fn a_missing_file_is_fine_unless_it_was_named() {
        let nowhere = Path::new("/nonexistent/belljar.toml");
        assert_eq!(Config::load(nowhere, false, &BTreeMap::new()).unwrap(), Config::default());
        assert!(Config::load(nowhere, true, &BTreeMap::new()).is_err());
    }
}
