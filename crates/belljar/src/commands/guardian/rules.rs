//! `belljar guardian rules`, `test` and `lint`: what is in force, and whether it is what it says.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::{Result, bail};
use belljar_guardian::policy::{Policy, Rule, Switch};
use serde_json::json;

use super::in_force;
use crate::{
    context::Context,
    output::{plain, print_json, print_table},
    policy,
};

pub(super) fn rules(context: &Context, name: Option<&str>) -> Result<ExitCode> {
    let policy = in_force(context);
    let all = all(&policy);
    if let Some(name) = name {
        let Some((whose, rule)) = all.iter().find(|(_, rule)| rule.name == name) else {
            bail!("there is no rule `{name}`; `belljar guardian rules` lists them");
        };
        let value = serde_json::to_value(rule)?;
        if context.json {
            print_json(&json!({ "of": whose, "rule": value }))?;
        } else {
            let text = toml::to_string(&value)?;
            writeln!(io::stdout(), "# {whose}\n[[rule]]\n{}", text.trim_end())?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    if context.json {
        let items: Vec<_> = all
            .iter()
            .map(|(whose, rule)| {
                json!({
                    "name": rule.name, "of": whose, "verdict": verdict(&policy, rule), "risk": rule.risk(),
                    "reason": rule.reason,
                })
            })
            .collect();
        print_json(&json!({ "mode": policy.mode, "rules": items }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = all
        .iter()
        .map(|(whose, rule)| {
            let reason = rule.reason.clone().unwrap_or_default();
            vec![
                rule.name.clone(),
                whose.clone(),
                verdict(&policy, rule),
                rule.risk().to_string(),
                plain(&reason),
            ]
        })
        .collect();
    print_table(&["RULE", "OF", "VERDICT", "RISK", "WHY"], &rows)?;
    Ok(ExitCode::SUCCESS)
}

/// The rules in the order they speak, and whose each is.
fn all(policy: &Policy) -> Vec<(String, &Rule)> {
    let own = policy.rules.iter().map(|rule| ("guardian.toml".to_owned(), rule));
    let shipped = Policy::packs()
        .iter()
        .flat_map(|pack| pack.rules.iter().map(move |rule| (format!("pack {}", pack.name), rule)));
    own.chain(shipped).collect()
}

/// What a rule says with the policy's switches.
fn verdict(policy: &Policy, rule: &Rule) -> String {
    let pack =
        Policy::packs().iter().find(|pack| pack.rules.iter().any(|shipped| std::ptr::eq(shipped, rule)));
    let is_off = pack.is_some_and(|pack| policy.packs.get(pack.name) == Some(&Switch::Off));
    let own = rule.verdict.to_string();
    let overridden = pack.and_then(|_| policy.overrides.get(&rule.name));
    match overridden {
        _ if is_off => "off".to_owned(),
        None => own,
        Some(instead) => instead.verdict().map_or_else(|| "off".to_owned(), |verdict| verdict.to_string()),
    }
}

pub(super) fn test(context: &Context) -> Result<ExitCode> {
    let policy = policy::read(&context.home);
    let mut wrong: Vec<String> = Policy::check_packs()
        .into_iter()
        .map(|(pack, rule, error)| format!("pack {pack}, rule `{rule}`: {error}"))
        .collect();
    let own = match policy {
        Ok(policy) => policy.rules,
        Err(error) => {
            wrong.push(error.to_string());
            Vec::new()
        }
    };
    let shipped = Policy::packs().iter().flat_map(|pack| &pack.rules);
    let (mut rules, mut examples) = (0_usize, 0_usize);
    for rule in own.iter().chain(shipped) {
        rules += 1;
        examples += rule.examples.matching.len() + rule.examples.pass.len();
    }
    if context.json {
        print_json(&json!({ "rules": rules, "examples": examples, "wrong": wrong }))?;
    } else {
        let mut out = io::stdout().lock();
        for line in &wrong {
            writeln!(out, "WRONG {}", plain(line))?;
        }
        writeln!(out, "{examples} examples of {rules} rules, {} wrong", wrong.len())?;
    }
    Ok(if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(super) fn lint(context: &Context) -> Result<ExitCode> {
    let notes = policy::read(&context.home)?.lint();
    if context.json {
        print_json(&json!({ "notes": notes }))?;
    } else {
        let mut out = io::stdout().lock();
        for note in &notes {
            writeln!(out, "{}", plain(note))?;
        }
        if notes.is_empty() {
            writeln!(out, "nothing strange")?;
        }
    }
    Ok(if notes.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
