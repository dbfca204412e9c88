//! Sandboxes as a service: made, used, watched and ended on behalf of somebody, and never lost track of.
//!
//! Owns: every use case of `belljar serve`, over a provider and a store. Refuses: HTTP, SQL, a provider's name. Calls
//! block; whoever serves many clients calls them from threads meant for that. What happens is recorded before it is
//! shown: [`recorder`] appends, and only what is durable is published.
//!
//! After a crash nothing here is needed to find everything again: sandboxes are the provider's, executions write
//! journals of their own ([`journal`]), and [`adoption`] puts both together with what the store remembers.

mod adoption;
mod aftermath;
mod agents;
mod alerts;
mod approvals;
mod broken_turns;
mod budgets;
mod bundles;
mod claims;
mod courier;
mod crew;
mod drafts;
mod entries;
mod error;
mod events;
mod executions;
mod eye;
mod facts;
mod files;
mod gate;
mod ingest;
mod journal;
mod keeping;
mod killswitch;
mod lifecycle;
mod live;
mod making;
mod order;
mod orphans;
mod outputs;
mod policy;
mod pool;
mod quotas;
mod recorder;
mod rows;
mod rulebook;
mod runs;
mod sandboxes;
mod scribe;
mod shelf;
mod snapshots;
mod spans;
mod stages;
mod steering;
mod surplus;
mod tars;
mod templates;
mod tracker;
mod transcripts;
mod view;
mod webhooks;
mod writer;

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicBool, AtomicU64},
    },
    time::SystemTime,
};

use belljar_capture::cost::Prices;
use belljar_domain::{EventId, EventKind, ExecutionId, NewEvent, Principal, ProjectId, SandboxId, Timestamp};
use belljar_ports::{Lens, SandboxProvider, Store};
use serde_json::json;
use uuid::Uuid;

pub use aftermath::{Archive, StopSettings};
pub use agents::{AgentOrder, AgentSelection, AgentView, Imported, Leave, OnRevoke, suggest_role};
pub use alerts::AlertSettings;
pub use approvals::{
    Answered, Answering, ApprovalView, Asked, Asker, Link, LinkError, Outcome, Said, Sitting, Watching, Word,
};
pub use budgets::{BudgetOrder, BudgetView, Payment, Reserved, Spender, SpendingFilter};
pub use bundles::BundleApplied;
pub use claims::Claim;
pub use error::ServiceError;
pub use executions::{Brief, Going};
pub use eye::{
    AgentNode, AgentScore, Detection, DetectionKind, FoundEvents, Judgement, Patience, SessionView, TraceItem,
};
pub use facts::explain_here;
pub use gate::{Act, Finding, Grounds, Identity, Passage, Place, Proof, Request, Stage, target_of, tool};
pub use ingest::Ingested;
pub use killswitch::{Kill, Killed, Kills};
pub use lifecycle::ServiceHealth;
pub use order::{CreateSandbox, Heard, StartExecution, Stdin};
pub use outputs::{OwnOutput, Reader};
pub use policy::judge;
pub use quotas::Quotas;
pub use rulebook::{EffectRuling, RuleView, Rulebook, TrialCall, Tried, TriedFinding};
pub use runs::{
    Attempt, Ear, Entrant, Ground, Listener, NewRun, Phase, ReportFormat, Repository, Run, RunStats, Shape,
    Side, Trial, USUAL,
};
pub use spans::ExportSettings;
pub use stages::CreateStage;
pub use transcripts::{TranscriptPlace, Whose};
pub use view::{
    ExecutionView, FileKind, FileView, Finished, ListeningPort, OutputChunk, OutputPage, SandboxView,
};
pub use webhooks::{NewWebhook, WebhookSettings, WebhookView};
pub use writer::FileWriter;

use self::{
    courier::{Courier, Reach},
    crew::Crew,
    live::Registry,
    pool::Pool,
    quotas::Places,
    recorder::Recorder,
};

type Result<T> = std::result::Result<T, ServiceError>;

/// What a service is put together from.
#[derive(Debug)]
pub struct Parts {
    /// Who makes sandboxes.
    pub provider: Arc<dyn SandboxProvider>,
    /// Who remembers.
    pub store: Arc<dyn Store>,
    /// Who knows what agents did.
    pub lens: Arc<dyn Lens>,
    /// What the operator wants.
    pub settings: Settings,
    /// Where journals of running executions are; best in memory, for it must outlive this process and nothing more.
    pub runtime_dir: PathBuf,
    /// The file that says who was killed.
    pub killswitch: PathBuf,
    /// What fingerprints of redacted secrets are made with; whoever has it can tell whether two are the same.
    pub fingerprint_key: Vec<u8>,
}

/// What the operator wants.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What a sandbox is unless asked otherwise.
    pub defaults: belljar_domain::SandboxSpec,
    /// How many sandboxes are kept ready.
    pub pool: usize,
    /// How many there may be.
    pub quotas: Quotas,
    /// Most bytes of output kept of one execution.
    pub output_cap: u64,
    /// How subscribers are told of events.
    pub webhooks: WebhookSettings,
    /// What the operator is told of.
    pub alerts: AlertSettings,
    /// What happens when an agent stops.
    pub stop: StopSettings,
    /// What models cost.
    pub prices: Prices,
    /// What becomes of the sandboxes of an agent that may act no more.
    pub on_revoke: OnRevoke,
    /// Budgets of the operator's, besides those people set.
    pub budgets: Vec<belljar_domain::Budget>,
    /// Who is told of spans.
    pub export: ExportSettings,
    /// Who hears agents in the attempts of runs.
    pub listener: Option<Arc<dyn Listener>>,
    /// Whether this service lasts only as long as the command that asks it: its runs end with it.
    pub attended: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            defaults: belljar_domain::SandboxSpec::default(),
            pool: 2,
            quotas: Quotas::default(),
            output_cap: 8 << 20,
            webhooks: WebhookSettings::default(),
            alerts: AlertSettings::default(),
            stop: StopSettings::default(),
            prices: Prices::default(),
            on_revoke: OnRevoke::default(),
            budgets: Vec::new(),
            export: ExportSettings::default(),
            listener: None,
            attended: false,
        }
    }
}

/// The use cases. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Service(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    provider: Arc<dyn SandboxProvider>,
    recorder: Recorder,
    eye: eye::Eye,
    settings: Settings,
    runtime_dir: PathBuf,
    registry: Registry,
    places: Places,
    policy: policy::InForce,
    killswitch: killswitch::Killswitch,
    origins: gate::Origins,
    desk: approvals::Desk,
    roster: agents::Roster,
    holds: agents::Holds,
    budgets: budgets::Budgets,
    pool: Pool,
    runs: runs::Runs,
    closing: AtomicBool,
    courier: Courier,
    crew: Crew,
    counters: lifecycle::Counters,
    stages: stages::Stages,
    /// Transcripts that wait to be read, now or a moment later.
    transcripts: Mutex<BTreeSet<(transcripts::Due, bool)>>,
    /// Held by whoever reads one: two at once would tell the same twice.
    reading: Mutex<()>,
}

impl Service {
    /// Finds what an earlier service left, and begins.
    ///
    /// # Errors
    /// When the provider or the store cannot be asked, or the journals' directory cannot be made.
    pub fn open(parts: Parts) -> Result<Self> {
        let Parts { provider, store, lens, settings, runtime_dir, killswitch, fingerprint_key } = parts;
        let bell = Arc::new(eye::Bell::default());
        journal::prepare(&runtime_dir)?;
        let WebhookSettings { allow_private, timeout: patience, .. } = settings.webhooks;
        let reach = if allow_private { Reach::Anywhere } else { Reach::Public };
        let (roster, holds) = (agents::Roster::load(&*store)?, agents::Holds::load(&*store)?);
        let budgets = budgets::Budgets::load(&*store)?;
        let began = store.last_seq()?;
        let inner = Inner {
            provider,
            recorder: Recorder::new(store, &fingerprint_key, Arc::clone(&bell))?,
            eye: eye::Eye {
                lens,
                bell,
                since: now(),
                began,
                before: OnceLock::new(),
                passed_over: AtomicU64::new(0),
            },
            places: Places::new(settings.quotas),
            policy: policy::InForce::default(),
            killswitch: killswitch::Killswitch::new(killswitch),
            origins: gate::Origins::default(),
            desk: approvals::Desk::new(fingerprint_key.clone()),
            roster,
            holds,
            budgets,
            pool: Pool::default(),
            runs: runs::Runs::default(),
            settings,
            runtime_dir,
            registry: Registry::default(),
            closing: AtomicBool::new(false),
            courier: Courier::new(reach, patience),
            crew: Crew::default(),
            counters: lifecycle::Counters::default(),
            stages: stages::Stages::default(),
            transcripts: Mutex::default(),
            reading: Mutex::default(),
        };
        let service = Self(Arc::new(inner));
        service.record(service.event(&Principal::admin("belljar"), EventKind::ServerStarted)).wait()?;
        service.adopt()?;
        service.clear_drafts();
        service.reopen_approvals()?;
        lifecycle::begin(&service);
        service.resume_transcripts()?;
        service.resume_runs()?;
        Ok(service)
    }

    /// Where everything is kept.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn Store> {
        self.0.recorder.store()
    }

    /// Lets nobody wait for room any longer: the service is about to end.
    pub fn end_queue(&self) {
        self.0.places.close();
    }

    /// Ends the service, not the sandboxes. What was acknowledged is durable afterwards.
    pub fn close(&self) {
        lifecycle::end(self);
    }

    fn event(&self, who: &Principal, kind: EventKind) -> NewEvent {
        let mut event = NewEvent::new(EventId::from_uuid(Uuid::now_v7()), now(), who.project.clone(), kind);
        event.payload = json!({ "by": who.name });
        event
    }

    fn sandbox_event(&self, project: &ProjectId, by: &str, id: SandboxId, kind: EventKind) -> NewEvent {
        let mut event = NewEvent::new(EventId::from_uuid(Uuid::now_v7()), now(), project.clone(), kind);
        event.sandbox = Some(id);
        event.payload = json!({ "by": by });
        event
    }
}

fn now() -> Timestamp {
    Timestamp::from(SystemTime::now())
}

fn new_sandbox_id() -> SandboxId {
    SandboxId::from_uuid(Uuid::now_v7())
}

fn new_execution_id() -> ExecutionId {
    ExecutionId::from_uuid(Uuid::now_v7())
}
