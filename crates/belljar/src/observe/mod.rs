//! An agent in a sandbox is heard without anything being installed: with `belljar run --observe`, and in every attempt
//! of a run.
//!
//! Owns: what is put into the sandbox (hooks as an administrator would install them, this program, variables), the one
//! door through which commands in there are heard, and the pass that says whose words they are. Refuses: to give the
//! sandbox anything it could do more with than tell its own events.

mod relay;
mod request;

use std::{
    collections::BTreeMap,
    env,
    net::TcpListener,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use anyhow::{Context as _, Result};
use belljar_capture::Pass;
use belljar_domain::{
    ExecutionId, HostPath, Mount, MountMode, ProjectId, SandboxPath, SandboxSpec, Span, TemplateRef,
    Timestamp,
};
use belljar_engine::service::{Ear, Listener};
use belljar_ports::Sandbox;

pub(crate) use self::relay::Heard;
use self::relay::Relay;
use crate::{
    commands,
    context::{Context, new_execution_id},
    keys,
};

/// Where this program is inside.
pub(crate) const PROGRAM: &str = "/run/belljar/belljar";
/// How much longer than its sandbox a pass is good: what was spooled is told when there is a server again.
const AFTER: Duration = Duration::from_secs(7 * 24 * 3600);
/// How long a sandbox may live that has no clock.
const LONGEST: Duration = Duration::from_secs(30 * 24 * 3600);

/// Whether agents in a sandbox tell by hooks. Programs of another system's template may not be able to run ours, so there
/// they tell what they export, and nothing by hooks.
pub(crate) fn has_hooks(spec: &SandboxSpec) -> bool {
    spec.template == TemplateRef::Host
}

/// Puts into a sandbox that is about to be made what its agents need to be heard.
pub(crate) fn prepare(context: &Context, spec: &mut SandboxSpec) -> Result<()> {
    if has_hooks(spec) { equip(&context.env, spec) } else { Ok(()) }
}

fn equip(env: &BTreeMap<String, String>, spec: &mut SandboxSpec) -> Result<()> {
    let program = env::current_exe().context("find this program")?;
    spec.mounts.push(Mount {
        host: HostPath::new(program).context("show this program in the sandbox")?,
        sandbox: SandboxPath::new(PROGRAM).context("show this program in the sandbox")?,
        mode: MountMode::Ro,
    });
    spec.etc.extend(commands::managed_hooks(env, PROGRAM)?);
    Ok(())
}

/// One who listens to a sandbox.
#[derive(Debug)]
pub(crate) struct Observer {
    relay: Relay,
    port: u16,
    pass: String,
    execution: ExecutionId,
}

impl Observer {
    /// Begins to listen.
    pub(crate) fn begin(context: &Context, sandbox: &dyn Sandbox) -> Result<Self> {
        let info = sandbox.info();
        let execution = new_execution_id();
        let ttl = info.spec.clocks.ttl;
        let life = if ttl == Span::millis(0) { LONGEST } else { ttl.as_duration() };
        let pass = Pass {
            sandbox: info.id,
            execution: Some(execution),
            agent: info.spec.agent,
            project: ProjectId::default(),
            run: None,
            until: Timestamp::from(SystemTime::now()).plus(life).plus(AFTER),
        };
        Self::listen(&context.home, sandbox, execution, &pass)
    }

    fn listen(home: &Path, sandbox: &dyn Sandbox, execution: ExecutionId, pass: &Pass) -> Result<Self> {
        let pass = pass.seal(&keys::passes(home)?);
        let listener = TcpListener::from(sandbox.listen().context("listen in the sandbox")?);
        let port = listener.local_addr().context("listen in the sandbox")?.port();
        let relay = Relay::begin(listener, home.to_owned(), pass.clone()).context("begin to listen")?;
        Ok(Self { relay, port, pass, execution })
    }

    /// The execution that is heard.
    pub(crate) const fn execution(&self) -> ExecutionId {
        self.execution
    }

    /// The variables of a command that is to be heard. What its user set about telemetry stays as it is.
    pub(crate) fn env(&self, spec: &SandboxSpec) -> BTreeMap<String, String> {
        let Self { port, pass, .. } = self;
        let url = format!("http://127.0.0.1:{port}");
        let trace = self.execution.as_uuid().simple().to_string();
        // The later half of an id is the random one.
        let span: String = trace.chars().skip(16).collect();
        let ours = [
            ("BELLJAR_URL", url.clone()),
            ("BELLJAR_TOKEN", pass.clone()),
            ("BELLJAR_EXECUTION", self.execution.to_string()),
            ("BELLJAR_AGENT", spec.agent.clone().unwrap_or_default()),
        ];
        let usual = [
            ("TRACEPARENT", format!("00-{trace}-{span}-01")),
            ("CLAUDE_CODE_ENABLE_TELEMETRY", "1".to_owned()),
            ("CLAUDE_CODE_ENHANCED_TELEMETRY_BETA", "1".to_owned()),
            ("OTEL_METRICS_EXPORTER", "otlp".to_owned()),
            ("OTEL_LOGS_EXPORTER", "otlp".to_owned()),
            ("OTEL_TRACES_EXPORTER", "otlp".to_owned()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json".to_owned()),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", url),
            ("OTEL_EXPORTER_OTLP_HEADERS", format!("Authorization=Bearer {pass}")),
            ("OTEL_METRIC_EXPORT_INTERVAL", "10000".to_owned()),
            ("OTEL_LOGS_EXPORT_INTERVAL", "1000".to_owned()),
            ("OTEL_LOG_TOOL_DETAILS", "1".to_owned()),
        ];
        let usual = usual.into_iter().filter(|(name, _)| !spec.env.contains_key(*name));
        ours.into_iter().chain(usual).map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Hears what is still being said, then listens no more.
    pub(crate) fn end(self) -> Heard {
        self.relay.end()
    }
}

/// Who hears the attempts of runs.
#[derive(Debug)]
pub(crate) struct Attempts {
    home: PathBuf,
    env: BTreeMap<String, String>,
}

impl Attempts {
    pub(crate) fn of(context: &Context) -> Self {
        Self { home: context.home.clone(), env: context.env.clone() }
    }
}

impl Listener for Attempts {
    fn equip(&self, spec: &mut SandboxSpec) -> std::result::Result<(), String> {
        equip(&self.env, spec).map_err(|error| format!("{error:#}"))
    }

    fn listen(&self, sandbox: &dyn Sandbox, pass: &Pass) -> std::result::Result<Box<dyn Ear>, String> {
        let execution = pass.execution.unwrap_or_else(new_execution_id);
        let observer = Observer::listen(&self.home, sandbox, execution, pass);
        observer.map(|observer| Box::new(observer) as Box<dyn Ear>).map_err(|error| format!("{error:#}"))
    }
}

impl Ear for Observer {
    fn env(&self, spec: &SandboxSpec) -> BTreeMap<String, String> {
        Self::env(self, spec)
    }

    fn end(self: Box<Self>) {
        // How much was heard, the records say.
        let _heard = self.relay.end();
    }
}
