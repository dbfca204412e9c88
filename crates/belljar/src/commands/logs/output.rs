//! What commands in a sandbox printed: kept beside it by `run` and `exec`, and in the store by a server.

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
use belljar_domain::SandboxId;
use belljar_ports::{Store, store::LogFilter};
use belljar_store::SqliteStore;
use serde_json::{Value, json};

use crate::{
    args::Logs,
    context::{Context, log_dir},
    output::print_json,
    sandboxes::{Sandboxes, read_store},
};

/// How often to look for more.
const OFTEN: Duration = Duration::from_millis(100);
const PAGE: usize = 1000;

pub(super) fn output(context: &Context, sandboxes: &Sandboxes, args: &Logs) -> Result<ExitCode> {
    let seen = sandboxes.find(args.id.as_deref().unwrap_or("last"))?;
    let mut written = Written::new(seen.id, seen.dir.as_deref().map(log_dir));
    if context.json && !args.follow {
        let pieces = written.more(context, sandboxes)?.into_iter();
        let all =
            pieces.map(|(id, bytes)| json!({"execution": id, "output": String::from_utf8_lossy(&bytes)}));
        print_json(&Value::Array(all.collect()))?;
        return Ok(ExitCode::SUCCESS);
    }
    loop {
        // Looked at before reading: what is written between the two is read.
        let live = args.follow && sandboxes.look(seen.id).is_ok_and(|seen| seen.state.is_live());
        let mut out = io::stdout().lock();
        for bytes in written.more(context, sandboxes)?.into_values() {
            out.write_all(&bytes)?;
        }
        out.flush()?;
        if !live {
            return Ok(ExitCode::SUCCESS);
        }
        drop(out);
        thread::sleep(OFTEN);
    }
}

/// What was written, and how much of it has been read.
struct Written {
    sandbox: SandboxId,
    dir: Option<PathBuf>,
    read: BTreeMap<PathBuf, u64>,
    store: Option<SqliteStore>,
    after: u64,
}

impl Written {
    const fn new(sandbox: SandboxId, dir: Option<PathBuf>) -> Self {
        Self { sandbox, dir, read: BTreeMap::new(), store: None, after: 0 }
    }

    /// What came since the last time, by execution; their ids are in the order of time.
    fn more(&mut self, context: &Context, sandboxes: &Sandboxes) -> Result<BTreeMap<String, Vec<u8>>> {
        let mut pieces = BTreeMap::new();
        self.read_files(&mut pieces)?;
        if sandboxes.is_remote() {
            self.ask_server(sandboxes, &mut pieces)?;
        } else {
            self.read_stored(context, &mut pieces)?;
        }
        Ok(pieces)
    }

    fn read_files(&mut self, pieces: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
        let Some(dir) = &self.dir else { return Ok(()) };
        for path in files(dir)? {
            let Ok(mut file) = File::open(&path) else { continue };
            let id = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let seen = self.read.entry(path).or_insert(0);
            file.seek(SeekFrom::Start(*seen))?;
            let mut text = Vec::new();
            file.read_to_end(&mut text)?;
            *seen += u64::try_from(text.len()).unwrap_or(0);
            pieces.entry(id).or_default().append(&mut text);
        }
        Ok(())
    }

    /// The store has the exact bytes, whether its server is up or not.
    fn read_stored(&mut self, context: &Context, pieces: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
        if self.store.is_none() {
            self.store = read_store(&context.home)?;
        }
        let Some(store) = &self.store else { return Ok(()) };
        let filter = LogFilter::of(self.sandbox);
        loop {
            let rows = store.logs(&filter, self.after, PAGE).context("read the logs")?;
            let Some(last) = rows.last() else { return Ok(()) };
            self.after = last.seq;
            for row in rows {
                let id = row.chunk.execution.map(|id| id.to_string()).unwrap_or_default();
                pieces.entry(id).or_default().extend(row.chunk.bytes);
            }
        }
    }

    fn ask_server(&mut self, sandboxes: &Sandboxes, pieces: &mut BTreeMap<String, Vec<u8>>) -> Result<()> {
        let Some(server) = sandboxes.server() else { return Ok(()) };
        loop {
            let page =
                server.logs(self.sandbox, &[("cursor", &self.after.to_string()), ("limit", "1000")])?;
            for piece in page.items {
                self.after = self.after.max(piece.seq);
                pieces
                    .entry(piece.execution_id.unwrap_or_default())
                    .or_default()
                    .extend(piece.text.as_bytes());
            }
            match page.next_cursor.and_then(|cursor| cursor.parse().ok()) {
                Some(next) => self.after = next,
                None => return Ok(()),
            }
        }
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
