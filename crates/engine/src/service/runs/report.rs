//! A run as a page for people.

use belljar_domain::{Principal, RunId};
use belljar_quality::contest::{AttemptPage, Page, html, markdown};

use super::{
    super::{Result, Service, ServiceError},
    record::{Attempt, Run},
    selection::judgement_of,
};
use crate::changes::Look;

/// How a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportFormat {
    /// For wherever Markdown is shown.
    Markdown,
    /// One file for a browser, without scripts.
    Html,
}

impl Service {
    /// Writes the report of a run that is over.
    ///
    /// # Errors
    /// When there is none of theirs, or it is under way.
    pub fn run_report(&self, who: &Principal, id: RunId, format: ReportFormat) -> Result<String> {
        let run = self.run_of(who, id)?;
        if !run.state.is_over() {
            return Err(ServiceError::Conflict(format!(
                "run {id} is {}; its report comes at its end",
                run.state
            )));
        }
        let page = self.page(&run);
        Ok(match format {
            ReportFormat::Markdown => markdown(&page),
            ReportFormat::Html => html(&page),
        })
    }

    fn page(&self, run: &Run) -> Page {
        let attempts = run.attempts.iter().map(|attempt| self.attempt_page(attempt)).collect();
        let short = run.id.short();
        let next = |command: &str, what: &str| (format!("belljar runs {command}"), what.to_owned());
        let next = match run.winner() {
            Some(winner) => vec![
                next(&format!("diff {short} {winner}"), "what it changed"),
                next(&format!("apply {short}"), "bring it into the workspace"),
                next(&format!("apply {short} --branch"), "make a branch of it"),
            ],
            None => vec![next(&format!("diff {short}"), "what each attempt changed")],
        };
        let took = run.ended.map(|end| end.as_micros() - run.created.as_micros());
        Page {
            prompt: run.prompt.clone(),
            check: run.trial.check.clone(),
            lint: run.trial.lint.clone(),
            decided_at: run.ended.map(|end| minute(&end.to_string())),
            duration_ms: took.and_then(|micros| u64::try_from(micros / 1000).ok()),
            judgement: judgement_of(run),
            attempts,
            next,
        }
    }

    fn attempt_page(&self, attempt: &Attempt) -> AttemptPage {
        let mut patch = Vec::new();
        match self.bundle_of(attempt) {
            // What cannot be shown is left out; the ranking says what it was.
            Ok(Some(bundle)) => drop(bundle.patch(&mut patch, Look::Patch)),
            Ok(None) => {}
            // What an attempt changed is kept for a time, and how it was judged for longer.
            Err(error) => patch.extend(format!("its changes are not kept any more ({error})\n").into_bytes()),
        }
        let check = attempt.evidence.as_ref().and_then(|evidence| evidence.check.as_ref());
        AttemptPage {
            fork: attempt.fork,
            label: attempt.entrant.name.clone().unwrap_or_default(),
            patch: String::from_utf8_lossy(&patch).into_owned(),
            check_tail: check.map(|check| check.after.tail.clone()).unwrap_or_default(),
        }
    }
}

/// A moment as people write it: `2026-11-18 20:47 UTC`.
fn minute(moment: &str) -> String {
    let minute = moment.get(..16).filter(|_| moment.ends_with('Z'));
    minute.map_or_else(|| moment.to_owned(), |minute| format!("{} UTC", minute.replace('T', " ")))
}
