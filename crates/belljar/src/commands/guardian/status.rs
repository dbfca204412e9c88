//! `belljar guardian status`: what is in force here, and why.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use anyhow::Result;
use belljar_guardian::policy::{Policy, Switch};
use serde_json::json;

use crate::{
    context::Context,
    output::{plain, print_json},
    policy,
};

pub(super) fn status(context: &Context) -> Result<ExitCode> {
    let path = policy::written(&context.home);
    let is_there = path.exists();
    let read = policy::read(&context.home);
    let fault = read.as_ref().err().map(ToString::to_string);
    let policy = read.unwrap_or_else(|_told| policy::in_force(&context.home));
    let is_on = |name: &str| policy.packs.get(name) != Some(&Switch::Off);
    if context.json {
        let packs: Vec<_> = Policy::packs()
            .iter()
            .map(|pack| json!({ "name": pack.name, "on": is_on(pack.name), "rules": pack.rules.len() }))
            .collect();
        print_json(&json!({
            "file": path, "written": is_there, "good": fault.is_none(), "fault": fault, "mode": policy.mode,
            "rules": policy.rules.len(), "packs": packs, "acl": policy.acl,
        }))?;
    } else {
        let mut out = io::stdout().lock();
        let mode = serde_json::to_value(policy.mode)?;
        writeln!(out, "mode {}", mode.as_str().unwrap_or_default())?;
        match (&fault, is_there) {
            (Some(fault), _) => writeln!(out, "WRONG {}\n  the last good policy is in force", plain(fault))?,
            (None, true) => writeln!(out, "{} rules of {}", policy.rules.len(), path.display())?,
            (None, false) => writeln!(out, "no {}: the packs alone hold", path.display())?,
        }
        for pack in Policy::packs() {
            let state = if is_on(pack.name) { "on " } else { "off" };
            writeln!(out, "  {state} {} ({} rules)", pack.name, pack.rules.len())?;
        }
        for acl in &policy.acl {
            let whom = acl.agent.as_deref().map_or_else(String::new, |agent| format!(" for {agent}"));
            writeln!(
                out,
                "  {} {}{}",
                plain(&acl.path),
                json!(acl.access).as_str().unwrap_or_default(),
                plain(&whom)
            )?;
        }
    }
    Ok(if fault.is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
