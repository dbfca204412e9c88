//! `belljar doctor`: what this host can do, what it cannot, and what to paste about it.

mod render;

use std::{
    io::{self, IsTerminal, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use belljar_providers::doctor::{Verdict, commands_for_caller, examine, run_probe};
use serde_json::Value;

use crate::{
    args::Doctor,
    context::{Context, new_sandbox_id},
    output::print_json,
};

/// The profile as it is shipped, for the places packages install to.
const PROFILE: &str = include_str!("../../../../../deploy/apparmor/belljar");
/// The places in it.
const PLACES: &str = "/usr/{local/,}bin/belljar";

pub(crate) fn doctor(context: &Context, args: &Doctor) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    if args.apparmor_profile {
        let program = std::env::current_exe().context("find this program")?;
        write!(out, "{}", profile_for(&program))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.delegate_commands {
        for command in commands_for_caller() {
            writeln!(out, "{command}")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    drop(out);
    let report = examine(&context.home, &context.env, new_sandbox_id());
    if context.json {
        print_json(&serde_json::to_value(&report)?)?;
    } else {
        let text = render::render(&report, context.colour(io::stdout().is_terminal()));
        io::stdout().write_all(text.as_bytes())?;
    }
    Ok(match report.verdict {
        Verdict::Ready | Verdict::Degraded => ExitCode::SUCCESS,
        Verdict::Unable => ExitCode::FAILURE,
    })
}

/// The report, as programs read it.
pub(crate) fn report(context: &Context) -> Value {
    let report = examine(&context.home, &context.env, new_sandbox_id());
    serde_json::to_value(&report).unwrap_or_default()
}

/// Runs one probe in this process, which is over afterwards.
pub(crate) fn probe(name: &str) -> Result<ExitCode> {
    run_probe(name).with_context(|| format!("run the probe `{name}`"))?;
    Ok(ExitCode::SUCCESS)
}

/// The profile with this program's own place, if it is not a usual one.
fn profile_for(program: &Path) -> String {
    let usual = ["/usr/bin/belljar", "/usr/local/bin/belljar"].map(Path::new);
    if usual.contains(&program) {
        return PROFILE.to_owned();
    }
    let escape = |c: char| if r#"\*?[]{}^""#.contains(c) { format!("\\{c}") } else { c.to_string() };
    let place: String = program.to_string_lossy().chars().map(escape).collect();
    PROFILE.replace(PLACES, &format!("\"{place}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profile_names_the_programs_own_place() {
        assert!(profile_for(Path::new("/usr/bin/belljar")).contains(PLACES));
        let own = profile_for(Path::new("/opt/a b/[x]/belljar"));
        assert!(own.contains(r#"profile belljar "/opt/a b/\[x\]/belljar" flags=(unconfined)"#), "{own}");
        assert!(!own.contains(PLACES));
    }
}
