//! `belljar guardian check` and `explain`: one call, what it would do and what follows.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use belljar_domain::Verdict;
use belljar_engine::service::explain_here;
use belljar_guardian::policy::{Call, Certainty, Explanation, Fate, Finding, described};
use serde_json::{Value, json};

use super::{in_force, places, scene};
use crate::{
    args::Check,
    context::Context,
    output::{plain, print_json},
};

/// How much to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    Ruling,
    Everything,
}

pub(super) fn check(context: &Context, args: &Check, depth: Depth) -> Result<ExitCode> {
    let policy = in_force(context);
    let scene = scene(context, &args.surroundings)?;
    let (cwd, home) = places(&scene);
    let input = input(&args.tool, args.call.as_deref().unwrap_or_default())?;
    let call = Call { tool: &args.tool, input: &input, cwd: Some(&cwd), home: Some(&home) };
    // As a hook of this machine would be judged: links are followed and scripts read.
    let said = match scene.walls {
        None => explain_here(&policy, &call, &scene),
        Some(_) => policy.explain(&call, &scene),
    };
    let verdict = said.ruling.as_ref().map_or(Verdict::Allow, |ruling| ruling.verdict);
    if context.json {
        print_json(&as_json(&said, depth))?;
    } else {
        show(&said, depth)?;
    }
    Ok(exit(verdict))
}

/// The exit codes scripts go by.
pub(super) fn exit(verdict: Verdict) -> ExitCode {
    ExitCode::from(match verdict {
        Verdict::Allow => 0,
        Verdict::Deny => 2,
        Verdict::Ask => 3,
    })
}

/// What a tool is given, from what was typed.
fn input(tool: &str, typed: &str) -> Result<Value> {
    if tool != "Bash" && typed.trim_start().starts_with('{') {
        return serde_json::from_str(typed).context("read what the tool is given; it is no JSON");
    }
    Ok(match tool {
        "Bash" => json!({ "command": typed }),
        "WebFetch" => json!({ "url": typed }),
        "Grep" | "Glob" => json!({ "path": typed, "pattern": "" }),
        _ => json!({ "file_path": typed }),
    })
}

fn show(said: &Explanation, depth: Depth) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match &said.ruling {
        None => writeln!(out, "allow: no rule speaks of it")?,
        Some(ruling) => {
            writeln!(out, "{} ({} risk) by `{}`", ruling.verdict, ruling.risk, plain(&ruling.rule))?;
            writeln!(out, "  {}", plain(&ruling.reason))?;
        }
    }
    writeln!(out, "it would:")?;
    if said.effects.is_empty() {
        writeln!(out, "  do nothing")?;
    }
    for (place, effect) in said.effects.iter().enumerate() {
        writeln!(out, "  {:>2}. {}", place + 1, plain(&described(effect)))?;
    }
    if depth == Depth::Everything {
        writeln!(out, "rules that match:")?;
        for finding in &said.findings {
            writeln!(out, "  {}", plain(&finding_line(finding)))?;
        }
    }
    for way in ways(said) {
        writeln!(out, "to allow it: {}", plain(&way))?;
    }
    Ok(())
}

fn finding_line(finding: &Finding) -> String {
    let whose = finding.pack.map_or_else(|| "guardian.toml".to_owned(), |pack| format!("pack {pack}"));
    let effect = finding.effect.map_or_else(String::new, |place| format!(", effect {}", place + 1));
    let sure = if finding.certainty == Certainty::Possible { ", cannot be ruled out" } else { "" };
    let fate = match &finding.fate {
        Fate::Counts => String::new(),
        Fate::Relaxed(rule) => format!("; `{rule}` allows it"),
        Fate::Contained(boundary) => format!("; contained by {}", boundary.described()),
    };
    format!("{} by `{}` ({whose}{effect}{sure}){fate}", finding.verdict, finding.rule)
}

/// What would make it allowed, for each rule in the way.
pub(super) fn ways(said: &Explanation) -> Vec<String> {
    let in_the_way = said.findings.iter().filter(|f| f.fate == Fate::Counts && f.verdict != Verdict::Allow);
    let mut ways: Vec<String> = Vec::new();
    for finding in in_the_way {
        let name = &finding.rule;
        let way = match (finding.pack.is_some(), finding.verdict) {
            (true, Verdict::Deny) => format!(
                "a rule in guardian.toml with verdict = \"allow\" and despite = \"{name}\", or `[override] {name} = \"ask\"`"
            ),
            (true, _) => format!(
                "a rule in guardian.toml with verdict = \"allow\", or `[override] {name} = \"allow\"`"
            ),
            (false, _) => format!("change `{name}` in guardian.toml"),
        };
        if !ways.contains(&way) {
            ways.push(way);
        }
    }
    ways
}

fn as_json(said: &Explanation, depth: Depth) -> Value {
    let ruling = said.ruling.as_ref();
    let mut object = json!({
        "verdict": ruling.map_or(Verdict::Allow, |ruling| ruling.verdict),
        "risk": ruling.map(|ruling| ruling.risk),
        "rule": ruling.map(|ruling| &ruling.rule),
        "reason": ruling.map(|ruling| &ruling.reason),
        "effects": said.effects.iter().map(described).collect::<Vec<_>>(),
        "to_allow": ways(said),
    });
    if depth == Depth::Everything {
        let findings: Vec<Value> = said
            .findings
            .iter()
            .map(|finding| {
                json!({
                    "rule": finding.rule, "pack": finding.pack, "verdict": finding.verdict, "risk": finding.risk,
                    "certain": finding.certainty == Certainty::Certain,
                    "effect": finding.effect.map(|place| place + 1),
                    "counts": finding.fate == Fate::Counts, "text": finding_line(finding),
                })
            })
            .collect();
        if let Value::Object(object) = &mut object {
            object.insert("findings".to_owned(), Value::Array(findings));
        }
    }
    object
}
