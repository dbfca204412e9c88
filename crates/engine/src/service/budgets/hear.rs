//! What conversations really cost, as the records of what agents did know it: it takes the place of estimates.
//!
//! Owns: nothing but the comparison. A record is a conversation's whole cost so far, so hearing it twice, or again after
//! records were made anew, changes nothing.

use std::collections::BTreeSet;

use belljar_domain::{Amount, Event, EventKind, ProjectId};

use super::{
    super::{Service, now},
    books::{Basis, Payer},
};

/// The most of a conversation's name that counts, as in an account.
const LONGEST: usize = 128;

impl Service {
    /// Looks at the conversations of events whose cost may be known better now.
    pub(in crate::service) fn hear_costs(&self, events: &[Event]) {
        let names: BTreeSet<(ProjectId, String)> = events
            .iter()
            .filter(|event| is_about_cost(event))
            .filter_map(|event| Some((event.what.project.clone(), event.what.session.clone()?)))
            .collect();
        for (project, session) in names {
            self.hear_cost(&project, &session);
        }
    }

    fn hear_cost(&self, project: &ProjectId, session: &str) {
        // A record that cannot be read is heard with the next event.
        let Ok(Some(record)) = self.0.eye.lens.session(Some(project), session) else { return };
        if !record.metered {
            return;
        }
        let used = record.spent.tokens;
        // What a model reads again from its cache was paid for as it was written; counting it with every turn would make a
        // session's tokens a measure of how often it spoke.
        let tokens = used
            .input
            .saturating_add(used.output)
            .saturating_add(used.cache_write_5m)
            .saturating_add(used.cache_write_1h);
        let total = Amount { tokens, micros: record.spent.cost.micros() };
        let name = (project.clone(), session.chars().take(LONGEST).collect::<String>());
        let Some(payer) = self.payer_of(&name, record.sandbox) else { return };
        let budgets = self.budgets_for(&payer.account);
        if budgets.is_empty() {
            return;
        }
        let mut books = self.0.budgets.books();
        let (entries, page) = books.hear(&budgets, &name, &payer, total, now());
        if entries.is_empty() && page.conversations.is_empty() {
            return;
        }
        let batch = books.batch(&page);
        drop(self.0.recorder.append(batch));
        drop(books);
        self.note_heard(&payer, total, &entries);
        self.take_steps(&payer, &entries);
    }

    /// Who pays for a conversation: whoever was known when it asked, else whoever the sandbox belongs to.
    fn payer_of(
        &self,
        name: &(ProjectId, String),
        sandbox: Option<belljar_domain::SandboxId>,
    ) -> Option<Payer> {
        let known = self.0.budgets.books().conversations.get(name).map(|kept| kept.payer.clone());
        let known = known.filter(|payer| payer.account.agent.is_some());
        known.or_else(|| {
            let view = self.0.registry.sandbox(sandbox?)?.view();
            Some(self.payer(&name.0, view.spec.agent.as_deref(), Some(&name.1), sandbox))
        })
    }

    fn note_heard(&self, payer: &Payer, total: Amount, entries: &[super::books::Entry]) {
        let event = self.spent(payer, "telemetry", total, Basis::Told, entries);
        drop(self.0.recorder.append(belljar_ports::store::Batch::of_events(vec![event])));
    }
}

fn is_about_cost(event: &Event) -> bool {
    match &event.what.kind {
        EventKind::ModelCalled => true,
        EventKind::Other(kind) => kind == "transcript.read",
        _ => false,
    }
}
