//! What a run may cost: reckoned from what such runs cost before, set aside before anything is made, and held while it
//! goes on.

use belljar_domain::{Amount, Principal, RunState, Usd};
use belljar_ports::store::RunFilter;

use super::{
    super::{Result, Service, ServiceError, Spender},
    live::LiveRun,
    order::NewRun,
    record::Run,
};

/// How many earlier runs an estimate is made of.
const EARLIER: usize = 50;

impl Service {
    /// What the run will cost, by what attempts of the same programs cost before; nothing if nobody knows.
    pub(super) fn estimate(&self, who: &Principal, order: &NewRun) -> Result<Option<Usd>> {
        let filter = RunFilter { states: vec![RunState::Finished], ..RunFilter::default() };
        let earlier = self.runs(who, filter, None, EARLIER)?;
        let known: Vec<(&str, u64)> = earlier
            .iter()
            .flat_map(|run| &run.attempts)
            .filter_map(|attempt| Some((attempt.entrant.command.first()?.as_str(), attempt.cost?.micros())))
            .collect();
        let each = order.entrants.iter().map(|entrant| {
            let program = entrant.command.first()?;
            let costs: Vec<u64> =
                known.iter().filter(|(name, _)| name == program).map(|(_, cost)| *cost).collect();
            (!costs.is_empty()).then(|| costs.iter().sum::<u64>() / costs.len() as u64)
        });
        // Of programs nobody has seen yet, nothing is said rather than too little.
        let all: Option<Vec<u64>> = each.collect();
        Ok(all.map(|costs| Usd::from_micros(costs.iter().sum())))
    }

    /// Refuses a run that cannot be paid for, and sets aside what it may cost; the answer is where that is written.
    pub(super) fn set_aside(&self, who: &Principal, run: &Run) -> Result<Option<String>> {
        if let (Some(budget), Some(estimate)) = (run.budget, run.estimate)
            && estimate > budget
        {
            let count = run.attempts.len();
            return Err(ServiceError::Budget {
                budget: "run".to_owned(),
                reason: format!(
                    "{count} attempts are reckoned to cost {estimate}, and the run may cost {budget}; allow more, or make fewer"
                ),
                retry_after: 0,
            });
        }
        let Some(amount) = run.budget.or(run.estimate) else { return Ok(None) };
        let spender = Spender {
            agent: run.shape.agent.as_ref().and_then(|agent| agent.parse().ok()),
            run: Some(run.id),
            ..Spender::default()
        };
        let amount = Amount { tokens: 0, micros: amount.micros() };
        let patience = run.shape.ttl.as_duration() * u32::try_from(run.attempts.len()).unwrap_or(1);
        Ok(Some(self.reserve(who, &spender, amount, Some(patience.min(DAY)))?.id))
    }

    /// Gives back what was set aside, when the attempts begin: from then on each of their calls sets aside its own, and
    /// what is set aside twice would be there for nobody.
    pub(super) fn give_back(&self, run: &LiveRun) {
        if let Some(name) = run.view().reserved {
            run.show(|run| run.reserved = None);
            // What is not given back now is when its time is over.
            let _later = self.release(&run.who(), &name);
        }
    }
}

const DAY: std::time::Duration = std::time::Duration::from_secs(24 * 3600);

/// Why a run must stop for its money, if it must.
pub(super) fn overspent(run: &Run) -> Option<String> {
    let budget = run.budget?;
    let spent = run.attempts.iter().filter_map(|attempt| attempt.cost).fold(Usd(0), Usd::plus);
    (spent >= budget && spent > Usd(0)).then(|| format!("the attempts cost {spent} together, of {budget}"))
}
