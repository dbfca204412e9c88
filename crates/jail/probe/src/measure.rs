//! `belljar-probe measure`: the whole suite under one launcher, from the host, as a table to read.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use belljar_probe::context::Limits;
use belljar_probe::host::{Canaries, Launcher, Owner, Planting};
use belljar_probe::probes::every_probe;
use belljar_probe::report::Report;

#[derive(Default)]
struct Options {
    uid: Option<u32>,
    sandboxes: Sandboxes,
    limits: Limits,
    launcher: Vec<String>,
}

/// How many sandboxes the suite is run in.
#[derive(Default, PartialEq, Eq)]
enum Sandboxes {
    #[default]
    One,
    OnePerProbe,
}

/// Plants, runs, prints.
pub(crate) fn run(args: &[&str]) -> Result<ExitCode, String> {
    let options = parse(args)?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let dir = PathBuf::from(format!("/tmp/belljar-measure-{}", std::process::id()));
    let owner = options.uid.map(|uid| Owner { uid, gid: uid });
    let planting = Planting { dir, limits: options.limits, owner };
    let canaries = planting.plant().map_err(|error| chain(&error))?;
    let launcher = launcher(&options, &canaries);
    let reports = match options.sandboxes {
        Sandboxes::One => canaries.run_every_probe(&launcher, &program),
        Sandboxes::OnePerProbe => one_by_one(&canaries, &launcher, &program),
    };
    let reports = reports.map_err(|error| chain(&error))?;
    for report in &reports {
        println!("{:3} {:24} {}", if report.contained { "ok" } else { "ESC" }, report.probe, report.detail);
    }
    let touches = canaries.verify();
    let contained = reports.iter().filter(|report| report.contained).count();
    println!(
        "{contained} contained, {} escaped; touched on the host: {touches:?}",
        reports.len() - contained
    );
    Ok(if contained == reports.len() && touches.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn one_by_one(
    canaries: &Canaries,
    launcher: &Launcher,
    program: &Path,
) -> Result<Vec<Report>, belljar_probe::host::RunError> {
    every_probe().into_iter().map(|probe| canaries.run_probe(launcher, program, probe)).collect()
}

fn launcher(options: &Options, canaries: &Canaries) -> Launcher {
    let workspace = canaries.context().workspace.display().to_string();
    let inner = Launcher::new(options.launcher.iter().map(|word| word.replace("{workspace}", &workspace)));
    match options.uid {
        None => inner,
        Some(uid) => {
            let uid = uid.to_string();
            inner.under(&Launcher::new(["setpriv", "--reuid", &uid, "--regid", &uid, "--clear-groups"]))
        }
    }
}

fn parse(args: &[&str]) -> Result<Options, String> {
    let mut options = Options::default();
    let mut rest = args;
    loop {
        rest = match rest {
            [] => return Ok(options),
            ["--", launcher @ ..] => {
                options.launcher = launcher.iter().map(|&word| word.to_owned()).collect();
                return Ok(options);
            }
            ["--each", rest @ ..] => {
                options.sandboxes = Sandboxes::OnePerProbe;
                rest
            }
            ["--as", uid, rest @ ..] => {
                options.uid = Some(uid.parse().map_err(|_not_a_number| format!("{uid:?} is no user id"))?);
                rest
            }
            ["--limits", limits, rest @ ..] => {
                options.limits = serde_json::from_str(limits).map_err(|error| format!("limits: {error}"))?;
                rest
            }
            [word, ..] => return Err(format!("{word:?} is not understood")),
        };
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(&format!(": {cause}"));
        source = cause.source();
    }
    text
}
