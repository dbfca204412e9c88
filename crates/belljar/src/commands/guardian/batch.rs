//! `belljar guardian check --batch`: many calls in one process, one answer a line, in order.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, BufWriter, Read as _, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use belljar_domain::{Ruling, Verdict};
use belljar_guardian::policy::{Call, Policy, Scene};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{in_force, places, scene};
use crate::{args::Surroundings, context::Context, output::plain};

/// The longest line that is read.
const LONG: u64 = 4 << 20;

/// A call to be judged. Other fields are left alone, so that a corpus can be read as it is.
#[derive(Debug, Deserialize)]
struct Case {
    #[serde(default)]
    id: Value,
    tool: String,
    #[serde(default)]
    input: Value,
}

pub(super) fn batch(context: &Context, file: &Path, flags: &Surroundings) -> Result<ExitCode> {
    let policy = in_force(context);
    let scene = scene(context, flags)?;
    let mut from: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(BufReader::new(io::stdin()))
    } else {
        let doing = || format!("read `{}`", file.display());
        Box::new(BufReader::new(File::open(file).with_context(doing)?))
    };
    let mut out = BufWriter::new(io::stdout().lock());
    let mut is_all_good = true;
    for place in 1_u64.. {
        let line = match line(&mut from) {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) => {
                is_all_good = false;
                tell_bad(&mut out, context.json, place, &error.to_string())?;
                continue;
            }
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        match serde_json::from_slice::<Case>(&line) {
            Ok(case) => tell(&mut out, context.json, &case, judged(&policy, &scene, &case).as_ref())?,
            Err(error) => {
                is_all_good = false;
                tell_bad(&mut out, context.json, place, &error.to_string())?;
            }
        }
    }
    out.flush()?;
    Ok(if is_all_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One line without its end; one that is too long is passed over whole.
fn line(from: &mut dyn BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = from.take(LONG).read_until(b'\n', &mut line)?;
    if read == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && u64::try_from(read).is_ok_and(|read| read == LONG) {
        let mut rest = Vec::new();
        while from.take(LONG).read_until(b'\n', &mut rest)? > 0 && rest.last() != Some(&b'\n') {
            rest.clear();
        }
        return Err(io::Error::other(format!("it is longer than {LONG} bytes")));
    }
    Ok(Some(line))
}

fn judged(policy: &Policy, scene: &Scene, case: &Case) -> Option<Ruling> {
    let (cwd, home) = places(scene);
    policy.judge(&Call { tool: &case.tool, input: &case.input, cwd: Some(&cwd), home: Some(&home) }, scene)
}

fn tell(out: &mut impl Write, as_json: bool, case: &Case, ruling: Option<&Ruling>) -> io::Result<()> {
    let verdict = ruling.map_or(Verdict::Allow, |ruling| ruling.verdict);
    if as_json {
        let answer = json!({
            "id": case.id, "verdict": verdict,
            "risk": ruling.map_or("low", |ruling| ruling.risk.as_str()),
            "rule": ruling.map(|ruling| &ruling.rule),
            "reason": ruling.map_or("no rule speaks of it", |ruling| ruling.reason.as_str()),
        });
        return writeln!(out, "{answer}");
    }
    let id = case.id.as_str().map_or_else(|| case.id.to_string(), str::to_owned);
    writeln!(out, "{verdict}\t{}\t{}", plain(&id), plain(ruling.map_or("-", |ruling| ruling.rule.as_str())))
}

fn tell_bad(out: &mut impl Write, as_json: bool, place: u64, error: &str) -> io::Result<()> {
    let said = format!("line {place}: {error}; write {{\"id\", \"tool\", \"input\"}}");
    if as_json {
        writeln!(out, "{}", json!({ "line": place, "error": said }))?;
    }
    // Also where a person looks.
    writeln!(io::stderr(), "belljar: {}", plain(&said))
}
