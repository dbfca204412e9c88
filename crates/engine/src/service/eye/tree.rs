//! The agents of a session as a tree, each with what it spent itself and with all below it.

use std::collections::BTreeMap;

use belljar_domain::eye::{AgentRecord, Spent};

/// An agent, and what it spent with all who worked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentNode {
    /// The agent; what it spent there is its own.
    pub agent: AgentRecord,
    /// With everybody below.
    pub total: Spent,
}

/// Sums up a session's agents; a circle of parents counts each of its members once.
pub(super) fn tree(agents: Vec<AgentRecord>) -> Vec<AgentNode> {
    let parents: BTreeMap<&str, &str> =
        agents.iter().filter_map(|agent| Some((agent.agent.as_str(), agent.parent.as_deref()?))).collect();
    let mut totals: BTreeMap<&str, Spent> = BTreeMap::new();
    for agent in &agents {
        let mut at = agent.agent.as_str();
        for _ in 0..=parents.len() {
            let sum = totals.entry(at).or_default();
            *sum = sum.plus(agent.spent);
            match parents.get(at) {
                Some(parent) if *parent != agent.agent => at = parent,
                // Who works for nobody we know works for the session's own agent.
                None if !at.is_empty() => at = "",
                _ => break,
            }
        }
    }
    let totals: Vec<Spent> =
        agents.iter().map(|agent| totals.get(agent.agent.as_str()).copied().unwrap_or_default()).collect();
    agents.into_iter().zip(totals).map(|(agent, total)| AgentNode { agent, total }).collect()
}

#[cfg(test)]
mod tests {
    use belljar_domain::{ProjectId, Timestamp, Usd};

    use super::*;

    fn agent(name: &str, parent: Option<&str>, cost: u64) -> AgentRecord {
        let mut agent = AgentRecord::new(1, ProjectId::default(), "s", name, Timestamp::default());
        agent.parent = parent.map(str::to_owned);
        agent.spent = Spent { requests: 1, cost: Usd(cost), ..Spent::default() };
        agent
    }

    #[test]
    fn own_and_total_are_two_things() {
        let agents = vec![
            agent("", None, 1),
            agent("a", Some(""), 10),
            agent("b", Some("a"), 100),
            agent("c", None, 1000),
        ];
        let costs: Vec<u64> = tree(agents).iter().map(|node| node.total.cost.0).collect();
        assert_eq!(costs, [1111, 110, 100, 1000]);
    }

    #[test]
    fn a_circle_ends() {
        let costs: Vec<u64> = tree(vec![agent("a", Some("b"), 1), agent("b", Some("a"), 10)])
            .iter()
            .map(|node| node.total.cost.0)
            .collect();
        assert_eq!(costs, [11, 11]);
    }
}
