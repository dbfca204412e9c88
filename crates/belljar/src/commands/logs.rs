//! `belljar logs`: what commands in a sandbox printed.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};

use crate::{
    args::Logs,
    context::{Context, log_dir},
    output::print_json,
};

pub(crate) fn logs(context: &Context, args: &Logs) -> Result<ExitCode> {
    let provider = context.provider()?;
    let sandbox = context.find(&provider, &args.id)?;
    let dir = log_dir(&sandbox.info().dir);
    if context.json && !args.follow {
        let mut all = Vec::new();
        for path in files(&dir)? {
            let text = String::from_utf8_lossy(&fs::read(&path)?).into_owned();
            let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            all.push(serde_json::json!({"execution": id, "output": text}));
        }
        print_json(&serde_json::Value::Array(all))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut read = BTreeMap::new();
    loop {
        let live = sandbox.info().state.is_live();
        print_new(&dir, &mut read)?;
        if !args.follow || !live {
            return Ok(ExitCode::SUCCESS);
        }
        thread::sleep(Duration::from_millis(100));
    }
}

fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).context("read the logs"),
    };
    let mut all: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    all.sort();
    Ok(all)
}

fn print_new(dir: &Path, read: &mut BTreeMap<PathBuf, u64>) -> Result<()> {
    for path in files(dir)? {
        let Ok(mut file) = File::open(&path) else { continue };
        let seen = read.entry(path).or_insert(0);
        file.seek(SeekFrom::Start(*seen))?;
        let mut text = Vec::new();
        file.read_to_end(&mut text)?;
        *seen += u64::try_from(text.len()).unwrap_or(0);
        io::stdout().write_all(&text)?;
        io::stdout().flush()?;
    }
    Ok(())
}
