//! Transcripts of Claude Code and Codex: JSON lines that grow while the agent works.
//!
//! Owns: reading them piece by piece from any place, and what their lines say about usage, tools and
//! subagents. Refuses: prose. Texts stay in the file; facts name the message they are in.

mod failure;
mod lines;
mod packed;
mod record;
mod rollout;

pub use failure::BrokenTurn;
pub use lines::Lines;
pub use record::{TranscriptFact, UsageRecord};
pub use rollout::Rollout;

/// Reads one transcript as it grows.
#[derive(Debug, Default)]
pub struct Reader {
    lines: Lines,
    agent: Option<String>,
    rollout: Rollout,
    broken: u64,
    broken_turns: Vec<BrokenTurn>,
}

impl Reader {
    /// A reader of a session's transcript that continues at a byte offset; zero for the beginning.
    pub fn new(offset: u64) -> Self {
        Self { lines: Lines::new(offset), ..Self::default() }
    }

    /// A reader of a subagent's file, named `agent-ID.jsonl`.
    pub fn of_agent(agent: &str, offset: u64) -> Self {
        Self { agent: Some(agent.to_owned()), ..Self::new(offset) }
    }

    /// With what the lines before said, where they matter for those that follow.
    #[must_use]
    pub fn after(mut self, before: Rollout) -> Self {
        self.rollout = before;
        self
    }

    /// What matters for lines that follow.
    pub const fn rollout(&self) -> &Rollout {
        &self.rollout
    }

    /// The subagent a file of this name belongs to.
    pub fn agent_of(file_name: &str) -> Option<&str> {
        let agent = file_name.strip_prefix("agent-")?.strip_suffix(".jsonl")?;
        (!agent.is_empty()).then_some(agent)
    }

    /// Takes the next bytes of the file and returns what their complete lines say.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<TranscriptFact> {
        let mut facts = Vec::new();
        let (agent, rollout, broken) = (self.agent.as_deref(), &mut self.rollout, &mut self.broken);
        let broken_turns = &mut self.broken_turns;
        self.lines.feed(bytes, |line| match serde_json::from_slice(line) {
            Ok(value) if rollout.read(&value, &mut facts) => {}
            Ok(value) => {
                record::facts(&value, agent, &mut facts);
                broken_turns.extend(BrokenTurn::read(&value).filter(|_| agent.is_none()));
            }
            Err(_) => *broken += 1,
        });
        facts
    }

    /// The turns that broke off in what was read since this was asked last.
    pub fn broken_turns(&mut self) -> Vec<BrokenTurn> {
        std::mem::take(&mut self.broken_turns)
    }

    /// Where the next reader should continue: after the last complete line.
    pub fn offset(&self) -> u64 {
        self.lines.offset()
    }

    /// How many lines were no JSON or too long.
    pub fn skipped(&self) -> u64 {
        self.broken + self.lines.too_long()
    }
}
