//! After a crash: runs that were under way are carried on, or, if whoever asked for them went away too, ended.

use belljar_domain::RunState;
use belljar_ports::store::{PAGE_LIMIT, RunFilter};

use super::{
    super::{Result, Service},
    live::Secrets,
    read,
};

const UNDER_WAY: [RunState; 3] = [RunState::Preparing, RunState::Running, RunState::Judging];

impl Service {
    /// Takes up every run an earlier service left.
    pub(in crate::service) fn resume_runs(&self) -> Result<()> {
        let filter = RunFilter { states: UNDER_WAY.to_vec(), ..RunFilter::default() };
        for row in self.store().runs(&filter, None, PAGE_LIMIT)? {
            let Some(run) = read(row) else { continue };
            let secrets = Secrets::left(&run);
            let (id, attended) = (run.id, run.attended);
            let is_mine = !self.0.settings.attended;
            if !attended && !is_mine {
                // A server's, and this is none: it carries on when it is back.
                continue;
            }
            let live = self.0.runs.insert(run, secrets);
            if attended {
                let why = "the belljar that carried it out went away";
                self.conclude(&live, RunState::Interrupted, Some(why.to_owned()));
            } else if let Err(error) = self.conduct(live) {
                self.0.runs.remove(id);
                return Err(error);
            }
        }
        Ok(())
    }
}
