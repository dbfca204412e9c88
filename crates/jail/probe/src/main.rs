//! The program that runs inside a sandbox and tries to get out: `list`, `run NAME`, `all`; and `measure`, which runs it
//! there from the host.

mod measure;

use std::io::{Read, Write};
use std::process::ExitCode;

use belljar_probe::context::Context;
use belljar_probe::probes::{Probe, every_probe};
use belljar_probe::supervise;
use belljar_probe::sys::call::{effective_uid, open_descriptors};

const USAGE: &str = "usage: belljar-probe list
       belljar-probe run NAME --context CONTEXT
       belljar-probe all --context CONTEXT
       belljar-probe measure [--as UID] [--each] [--limits JSON] [-- LAUNCHER...]
CONTEXT is a file, the JSON itself, or - for standard input.
measure, on the host, plants canaries, runs every probe behind the words of LAUNCHER ({workspace} stands for the
workspace), and says what escaped and what was touched; --each gives every probe a sandbox of its own.
Exit code: 0 all contained, 1 something escaped, 2 the probe could not run.";

fn main() -> ExitCode {
    // First of all, before this program opens anything itself.
    let inherited = open_descriptors();
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let answer = match args.as_slice() {
        ["list"] => list(),
        ["run", name, "--context", context] => {
            probe_named(name).and_then(|probe| run(&[probe], context, inherited))
        }
        ["all", "--context", context] => run(&every_probe(), context, inherited),
        ["measure", rest @ ..] => measure::run(rest),
        ["whoami"] => return ExitCode::from(whoami()),
        _ => Err(USAGE.to_owned()),
    };
    match answer {
        Ok(code) => code,
        Err(message) => {
            eprintln!("belljar-probe: {message}");
            ExitCode::from(2)
        }
    }
}

fn list() -> Result<ExitCode, String> {
    let names: Vec<&str> = every_probe().iter().map(|probe| probe.name).collect();
    println!("{}", names.join("\n"));
    Ok(ExitCode::SUCCESS)
}

fn run(probes: &[&Probe], context: &str, inherited: Vec<i64>) -> Result<ExitCode, String> {
    let mut context = read_context(context)?;
    context.inherited = inherited;
    if is_host_root(&context) {
        return Err("this is root without a sandbox; run as an ordinary user, or in a sandbox".to_owned());
    }
    let mut all_contained = true;
    for probe in probes {
        let report = supervise::run(probe, &context);
        all_contained &= report.contained;
        let line = serde_json::to_string(&report).map_err(|error| error.to_string())?;
        // One write per line and no buffer: a report must be out before the next probe can kill us.
        std::io::stdout().write_all(format!("{line}\n").as_bytes()).map_err(|error| error.to_string())?;
    }
    Ok(if all_contained { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Probes are harmless in a sandbox and for an ordinary user. Root of the whole machine is neither.
fn is_host_root(context: &Context) -> bool {
    let own = belljar_probe::probes::namespaces_of("self");
    effective_uid() == 0 && own.contains_key("mnt") && own == context.namespaces
}

fn probe_named(name: &str) -> Result<&'static Probe, String> {
    let known = every_probe().into_iter().find(|probe| probe.name == name);
    known.ok_or_else(|| format!("no probe is called {name:?}; see belljar-probe list"))
}

fn read_context(source: &str) -> Result<Context, String> {
    let mut text = String::new();
    if source == "-" {
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| format!("cannot read the context: {error}"))?;
    } else if source.starts_with('{') {
        text.push_str(source);
    } else {
        text = std::fs::read_to_string(source).map_err(|error| format!("cannot read {source}: {error}"))?;
    }
    serde_json::from_str(&text).map_err(|error| format!("the context is not understood: {error}"))
}

/// Run by the set-uid probe from a copy of this program: 1 if it runs as somebody else than who started it.
fn whoami() -> u8 {
    let uid = belljar_probe::sys::call(libc::SYS_getuid, []);
    let effective = belljar_probe::sys::call(libc::SYS_geteuid, []);
    u8::from(uid != effective)
}
