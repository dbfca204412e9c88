//! One session: its agents as a tree, a line for each call, and what it came to.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Write},
    process::ExitCode,
};

use anyhow::Result;
use serde_json::Value;

use super::{find, story, time_of_day, to_the_second};
use crate::{
    client::{Agent, Call, SessionDetail, TraceItem, read},
    context::Context,
    output::{brief_text, count, dollars, padded, plain, print_json, took},
};

/// How much of a call's input is shown.
const INPUT: usize = 48;

pub(super) fn show(context: &Context, id: &str) -> Result<ExitCode> {
    let (mut detail, trace) = find(&context.server()?, id)?;
    if context.json {
        if let Value::Object(fields) = &mut detail {
            fields.insert("trace".to_owned(), Value::Array(trace));
        }
        print_json(&detail)?;
        return Ok(ExitCode::SUCCESS);
    }
    let detail: SessionDetail = read(&detail)?;
    let trace = trace.iter().map(read).collect::<Result<Vec<TraceItem>, _>>()?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    head(&mut out, &detail)?;
    Tree::new(&detail, &trace).print(&mut out)?;
    writeln!(out, "\ntotal: {}", sum(&detail))?;
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn head(out: &mut impl Write, detail: &SessionDetail) -> io::Result<()> {
    let session = &detail.session;
    writeln!(out, "session {}, {}", plain(&session.session_id), plain(&session.state))?;
    if let Some(title) = &session.title {
        writeln!(out, "  {}", brief_text(title, 100))?;
    }
    let facts = [&session.app, &session.model, &session.cwd];
    let facts: Vec<_> = facts.into_iter().flatten().map(|fact| plain(fact)).collect();
    if !facts.is_empty() {
        writeln!(out, "  {}", facts.join(", "))?;
    }
    writeln!(out, "  from {} to {}\n", to_the_second(&session.began), to_the_second(&session.last))
}

fn sum(detail: &SessionDetail) -> String {
    let (counts, spent) = (detail.session.counts, &detail.session.spent);
    format!(
        "{} ({} succeeded, {} failed, {} denied); {}",
        story::several(counts.calls, "call"),
        count(counts.succeeded),
        count(counts.failed),
        count(counts.denied),
        plain(&story::money(spent))
    )
}

/// Agents below those they work for, each with its calls. The session's own has no name.
struct Tree<'a> {
    agents: BTreeMap<&'a str, &'a Agent>,
    below: BTreeMap<&'a str, Vec<&'a str>>,
    calls: BTreeMap<&'a str, Vec<&'a Call>>,
}

impl<'a> Tree<'a> {
    fn new(detail: &'a SessionDetail, trace: &'a [TraceItem]) -> Self {
        let name = |id: &'a Option<String>| id.as_deref().unwrap_or_default();
        let agents: BTreeMap<_, _> =
            detail.agents.iter().map(|agent| (name(&agent.agent_id), agent)).collect();
        let mut below: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for agent in detail.agents.iter().filter(|agent| agent.agent_id.is_some()) {
            let parent = name(&agent.parent_agent_id);
            let parent = if agents.contains_key(parent) { parent } else { "" };
            below.entry(parent).or_default().push(name(&agent.agent_id));
        }
        let mut calls: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for item in trace {
            if let TraceItem::Call(call) = item {
                // What an agent did that nobody introduced is shown as the session's own.
                let agent = name(&call.agent_id);
                let agent = if agents.contains_key(agent) { agent } else { "" };
                calls.entry(agent).or_default().push(call.as_ref());
            }
        }
        Self { agents, below, calls }
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        for (name, depth) in self.order() {
            let indent = "  ".repeat(depth.min(20));
            writeln!(out, "{indent}{}", self.headline(name))?;
            for call in self.calls.get(name).into_iter().flatten() {
                writeln!(out, "{indent}  {}", line(call))?;
            }
        }
        Ok(())
    }

    fn headline(&self, name: &str) -> String {
        self.agents.get(name).map_or_else(|| "main".to_owned(), |agent| headline(agent))
    }

    /// Every agent once, below whom it works for, with how deep that is.
    fn order(&self) -> Vec<(&'a str, usize)> {
        let (mut seen, mut order) = (BTreeSet::new(), Vec::new());
        // Agents that are said to work for each other hang on nothing.
        let roots = [("", 0_usize)].into_iter().chain(self.agents.keys().map(|name| (*name, 1)));
        for root in roots {
            // On a stack of our own: how deep agents go is theirs to say.
            let mut waiting = vec![root];
            while let Some((name, depth)) = waiting.pop() {
                if !seen.insert(name) {
                    continue;
                }
                order.push((name, depth));
                let below = self.below.get(name).into_iter().flatten().rev();
                waiting.extend(below.map(|child| (*child, depth.saturating_add(1))));
            }
        }
        order
    }
}

/// Who worked in a session, and what each came to, below whom they worked for.
pub(super) fn outline(detail: &SessionDetail) -> Vec<(usize, String)> {
    let tree = Tree::new(detail, &[]);
    tree.order().into_iter().map(|(name, depth)| (depth, tree.headline(name))).collect()
}

fn headline(agent: &Agent) -> String {
    let kind = agent.agent_type.as_deref();
    let who = match (&agent.agent_id, kind) {
        (None, _) => "main".to_owned(),
        (Some(id), None) => id.clone(),
        (Some(id), Some(kind)) => format!("{kind} {id}"),
    };
    let mut text =
        format!("{}, {}: {}", plain(&who), plain(&agent.state), story::several(agent.counts.calls, "call"));
    if agent.own.requests > 0 {
        text = format!("{text}, {}", dollars(agent.own.cost_usd));
    }
    if agent.total.requests > agent.own.requests {
        text = format!("{text} ({} with those below)", dollars(agent.total.cost_usd));
    }
    text
}

fn line(call: &Call) -> String {
    let input = brief_text(&story::input(call), INPUT);
    let text = format!(
        "{}  {}  {}  {:9}  {:>7}  {}",
        time_of_day(call.began.as_deref().unwrap_or(&call.received)),
        padded(&brief_text(call.tool.as_deref().unwrap_or("-"), 24), 12),
        padded(&input, INPUT),
        plain(story::outcome(call)),
        took(call.duration_ms),
        call.cost_usd.map(dollars).unwrap_or_default(),
    );
    text.trim_end().to_owned()
}
