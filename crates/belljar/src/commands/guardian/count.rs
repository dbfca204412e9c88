//! `belljar guardian-status`: how many rules, directories and approved agents there are.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Result;
use belljar_domain::Risk;
use belljar_guardian::policy::{Policy, Rule, Switch};
use serde_json::json;

use super::{super::embedded::with_server, in_force};
use crate::{context::Context, output::print_json};

pub(crate) fn count(context: &Context) -> Result<ExitCode> {
    let policy = in_force(context);
    let (on, off) = rules(&policy);
    let mut by_risk: BTreeMap<Risk, usize> = BTreeMap::new();
    for rule in &on {
        *by_risk.entry(rule.risk()).or_default() += 1;
    }
    let approved =
        with_server(context, |server| Ok(server.all_records("agents", &[("standing", "approved")])?))?;
    let by_risk: Vec<_> = by_risk.iter().rev().map(|(risk, count)| (word(*risk), *count)).collect();
    if context.json {
        let by_risk: BTreeMap<_, _> = by_risk.into_iter().collect();
        print_json(&json!({
            "rules_total": on.len() + off, "rules_enabled": on.len(), "by_risk": by_risk,
            "acls": policy.acl.len(), "approved_agents": approved.len(), "mode": policy.mode,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let by_risk: Vec<_> = by_risk.iter().map(|(risk, count)| format!("{count} {risk}")).collect();
    let mut out = io::stdout().lock();
    writeln!(out, "mode             {}", json!(policy.mode).as_str().unwrap_or_default())?;
    writeln!(out, "rules            {} of {} in force", on.len(), on.len() + off)?;
    writeln!(out, "by risk          {}", by_risk.join(", "))?;
    writeln!(out, "directories      {}", policy.acl.len())?;
    writeln!(out, "approved agents  {}", approved.len())?;
    Ok(ExitCode::SUCCESS)
}

/// The rules that speak, shipped and written, and how many are switched off.
fn rules(policy: &Policy) -> (Vec<&Rule>, usize) {
    let is_on = |pack: &str, rule: &Rule| {
        let is_silent = policy.overrides.get(&rule.name).is_some_and(|instead| instead.verdict().is_none());
        policy.packs.get(pack) != Some(&Switch::Off) && !is_silent
    };
    let shipped = Policy::packs().iter().flat_map(|pack| pack.rules.iter().map(|rule| (pack.name, rule)));
    let (on, off): (Vec<_>, Vec<_>) = shipped.partition(|(pack, rule)| is_on(pack, rule));
    (on.into_iter().map(|(_, rule)| rule).chain(&policy.rules).collect(), off.len())
}

fn word(risk: Risk) -> String {
    json!(risk).as_str().unwrap_or_default().to_owned()
}
