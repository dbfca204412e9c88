//! Who pays for a call: what the gate knows of whoever asks, and nothing they say but their conversation.

use std::sync::Arc;

use belljar_domain::{Account, AgentEntry, Principal, ProjectId, SandboxId, Standing};

use super::{
    super::{Service, now},
    Spender,
    books::Payer,
};

/// The most of a conversation's name that counts.
const LONGEST: usize = 128;

impl Service {
    /// Who pays for what an agent does.
    pub(super) fn payer(
        &self,
        project: &ProjectId,
        agent: Option<&str>,
        session: Option<&str>,
        sandbox: Option<SandboxId>,
    ) -> Payer {
        let agent = agent.and_then(|agent| agent.parse().ok());
        let entry = agent.as_ref().and_then(|agent| self.approved(project, agent));
        let session = session.map(|session| session.chars().take(LONGEST).collect());
        let role = entry.map(|entry| entry.role);
        let account = Account { project: project.clone(), agent, role, session, run: None };
        Payer { account, sandbox }
    }

    /// Who pays, as somebody with a key says it.
    pub(super) fn spender(&self, who: &Principal, spender: &Spender) -> Payer {
        let agent = spender.agent.as_ref().map(belljar_domain::AgentName::as_str);
        let mut payer = self.payer(&who.project, agent, spender.session.as_deref(), None);
        payer.account.role = payer.account.role.or(spender.role);
        payer.account.run = spender.run;
        payer
    }

    /// An agent that a person has approved: its role, and so its role's limits, count.
    pub(super) fn approved(
        &self,
        project: &ProjectId,
        agent: &belljar_domain::AgentName,
    ) -> Option<Arc<AgentEntry>> {
        let entry = self.0.roster.find(project, agent.as_str())?;
        (entry.standing_at(now()) == Standing::Approved).then_some(entry)
    }
}
