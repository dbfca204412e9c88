//! The killswitch: an agent, or everything, is ended now and stays so until a person says otherwise.
//!
//! Owns: who is killed, ending what they have, and undoing it. What was killed is refused first, so that nothing new
//! begins, then ended, all at once; nothing is frozen before, for what is to stand still must get its turn first. Refuses:
//! to be undone by anybody but an admin.

mod kills;

use std::{
    collections::HashSet,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::Instant,
};

use belljar_domain::{EventKind, EventStatus, KillCause, Principal, SandboxId, SandboxState};
use belljar_ports::SandboxInfo;
use serde_json::json;

pub use kills::{Kill, Kills};

use self::kills::Stamp;
use super::{Result, Service, ServiceError, gate::Request, now};

/// How often to look for what began while the rest was ended.
const ROUNDS: usize = 4;
/// How many are ended at one time.
const HANDS: usize = 64;

/// Who is killed, as the file says; it may be changed by others.
#[derive(Debug)]
pub(super) struct Killswitch {
    path: PathBuf,
    known: Mutex<(Option<Stamp>, Arc<Kills>)>,
    /// Held by whoever changes the file.
    changing: Mutex<()>,
}

/// What was ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Killed {
    /// The sandboxes, with all that ran in them.
    pub sandboxes: Vec<SandboxId>,
    /// Those that could not be ended, and why.
    pub failed: Vec<(SandboxId, String)>,
    /// How long it took until none was left.
    pub millis: u64,
}

impl Killswitch {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, known: Mutex::default(), changing: Mutex::default() }
    }

    fn kills(&self) -> Arc<Kills> {
        let stamp = kills::stamp(&self.path);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.0 != stamp {
            *known = (stamp, Arc::new(Kills::read(&self.path)));
        }
        Arc::clone(&known.1)
    }

    fn change(&self, change: impl FnOnce(&mut Kills)) -> Result<()> {
        let _one_at_a_time = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut kills = Kills::read(&self.path);
        change(&mut kills);
        let failed = |error| {
            ServiceError::Unsupported(format!("`{}` cannot be written: {error}", self.path.display()))
        };
        kills.keep(&self.path).map_err(failed)
    }
}

impl Service {
    /// Who is killed.
    #[must_use]
    pub fn kills(&self) -> Arc<Kills> {
        self.0.killswitch.kills()
    }

    /// The kill a request falls under.
    pub(super) fn kill_of(&self, request: &Request) -> Option<Kill> {
        let names = request.who.agent.iter().chain(&request.claimed).map(String::as_str);
        self.kills().of(names).cloned()
    }

    /// Ends an agent, or everything, and refuses what they would do next.
    ///
    /// # Errors
    /// When it is not theirs to do, or it cannot be written down; then nothing is ended.
    pub fn pull_killswitch(
        &self,
        who: &Principal,
        agent: Option<&str>,
        reason: Option<String>,
    ) -> Result<Killed> {
        may(who)?;
        let began = Instant::now();
        let kill = Kill { by: who.name.clone(), at: now(), agent: agent.map(str::to_owned), why: reason };
        self.0.killswitch.change(|kills| kills.add(kill.clone()))?;
        let (mut ended, mut failed) = (Vec::new(), Vec::new());
        for _round in 0..ROUNDS {
            let found = self.doomed(agent, &ended)?;
            if found.is_empty() {
                break;
            }
            for (id, outcome) in self.end_all(who, &found) {
                match outcome {
                    Ok(()) => ended.push(id),
                    Err(error) => failed.push((id, error.to_string())),
                }
            }
            if !failed.is_empty() {
                break;
            }
        }
        let note = kill.reason();
        self.give_up_approvals(|row| agent.is_none() || row.agent.as_deref() == agent, &note);
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let mut event = self.event(who, EventKind::Killswitch);
        event.actor.id = agent.map(str::to_owned);
        event.reason = Some(note);
        event.duration_ms = Some(millis);
        event.status = Some(if failed.is_empty() { EventStatus::Success } else { EventStatus::Failure });
        event.error = (!failed.is_empty()).then(|| format!("{} could not be ended", failed.len()));
        event.payload =
            json!({ "by": who.name, "agent": agent, "everything": agent.is_none(), "sandboxes": ended });
        self.record(event).wait()?;
        Ok(Killed { sandboxes: ended, failed, millis })
    }

    /// Undoes a kill; what was ended stays ended.
    ///
    /// # Errors
    /// When it is not theirs to do, or nothing was killed.
    pub fn release_killswitch(&self, who: &Principal, agent: Option<&str>) -> Result<()> {
        may(who)?;
        let mut lifted = None;
        self.0.killswitch.change(|kills| lifted = kills.take(agent))?;
        let what =
            || agent.map_or_else(|| "killswitch to release".to_owned(), |agent| format!("kill of `{agent}`"));
        let lifted = lifted.ok_or_else(|| ServiceError::NotFound(what()))?;
        let mut event = self.event(who, EventKind::KillswitchLifted);
        event.actor.id = agent.map(str::to_owned);
        event.payload =
            json!({ "by": who.name, "agent": agent, "everything": agent.is_none(), "killed_at": lifted.at });
        self.record(event).wait()?;
        Ok(())
    }

    /// What is alive and falls under a kill, whoever made it.
    fn doomed(&self, agent: Option<&str>, ended: &[SandboxId]) -> Result<Vec<SandboxInfo>> {
        let ended: HashSet<SandboxId> = ended.iter().copied().collect();
        let is_meant = |info: &SandboxInfo| {
            info.state.is_live()
                && !ended.contains(&info.id)
                && !super::pool::is_pooled(&info.spec)
                && agent.is_none_or(|agent| info.spec.agent.as_deref() == Some(agent))
        };
        // What was taken from the pool is the agent's by what is known here, before the provider knows.
        let here = self.0.registry.sandboxes().into_iter().map(|live| {
            let view = live.view();
            SandboxInfo { spec: view.spec, ..live.sandbox.info() }
        });
        let mut found: Vec<SandboxInfo> = here.collect();
        let known: HashSet<SandboxId> = found.iter().map(|info| info.id).collect();
        found.extend(self.0.provider.list()?.into_iter().filter(|info| !known.contains(&info.id)));
        found.retain(is_meant);
        Ok(found)
    }

    fn end_all(&self, who: &Principal, found: &[SandboxInfo]) -> Vec<(SandboxId, Result<()>)> {
        let mut ended = Vec::with_capacity(found.len());
        for some in found.chunks(HANDS) {
            thread::scope(|scope| {
                let each = some.iter().map(|info| scope.spawn(move || (info.id, self.end_one(who, info.id))));
                let each: Vec<_> = each.collect();
                ended.extend(each.into_iter().filter_map(|thread| thread.join().ok()));
            });
        }
        ended
    }

    /// Ends one. Whoever hears that it is done can count on nothing of it running.
    fn end_one(&self, who: &Principal, id: SandboxId) -> Result<()> {
        let cause = Some(KillCause::Killswitch);
        // One that was made beside this server is taken over first, so that its end is told like any other's.
        if self.0.registry.sandbox(id).is_none() {
            self.adopt_one(self.0.provider.find(id)?);
        }
        let Some(live) = self.0.registry.remove(id) else { return Ok(()) };
        if let Err(error) = live.sandbox.stop(cause) {
            self.0.registry.put_back(live);
            return Err(error.into());
        }
        let view = live.view();
        // One without a workspace has nothing anybody could want.
        let is_kept = view.spec.workspace.is_some();
        let state = if is_kept { live.sandbox.info().state } else { SandboxState::Destroyed };
        self.close_sandbox(&live, view, state, cause, &who.name)?;
        if is_kept {
            self.0.places.leave(&live.seat());
        } else {
            self.bury(live);
        }
        Ok(())
    }
}

fn may(who: &Principal) -> Result<()> {
    let detail = "the killswitch is for a person with the admin key or the socket";
    if who.admin { Ok(()) } else { Err(ServiceError::Denied(detail.to_owned())) }
}
