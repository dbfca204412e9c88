//! Where words occur in what commands printed, newest first.

use std::process::ExitCode;

use anyhow::{Context as _, Result};
use belljar_domain::{SandboxId, Timestamp};
use belljar_ports::{
    Store,
    store::{LogSearch, LogStream},
};
use serde_json::{Value, json};

use crate::{
    args::Logs,
    context::Context,
    output::{print_json, print_table},
    sandboxes::{Sandboxes, read_store},
};

const DEFAULT: u16 = 50;

struct Hit {
    time: Timestamp,
    sandbox: SandboxId,
    execution: Option<String>,
    stream: String,
    text: String,
}

pub(super) fn search(context: &Context, sandboxes: &Sandboxes, args: &Logs, words: &str) -> Result<ExitCode> {
    let named = args.id.as_deref().or(args.sandbox.as_deref());
    let sandbox = named.map(|name| sandboxes.find(name).map(|seen| seen.id)).transpose()?;
    let limit = args.limit.unwrap_or(DEFAULT);
    let (hits, complete) = match sandboxes.server().filter(|_| sandboxes.is_remote()) {
        Some(server) => {
            let sandbox = sandbox.context("on another machine one sandbox is searched; name it")?;
            let page = server.logs(sandbox, &[("q", words), ("limit", &limit.to_string())])?;
            let hits = page.items.into_iter().map(|piece| Hit {
                time: piece.time,
                sandbox,
                execution: piece.execution_id,
                stream: piece.stream,
                text: piece.text,
            });
            (hits.collect(), page.complete)
        }
        None => stored(context, sandbox, words, limit)?,
    };
    if context.json {
        let all = hits.iter().map(|hit| {
            json!({
                "time": hit.time,
                "sandbox": hit.sandbox,
                "execution": hit.execution,
                "stream": hit.stream,
                "text": hit.text,
            })
        });
        print_json(&json!({"hits": Value::Array(all.collect()), "complete": complete}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |hit: &Hit| {
        vec![hit.time.to_string(), hit.sandbox.short(), hit.stream.clone(), line_of(&hit.text, words)]
    };
    print_table(&["TIME", "SANDBOX", "STREAM", "LINE"], &hits.iter().map(row).collect::<Vec<_>>())?;
    Ok(ExitCode::SUCCESS)
}

fn stored(
    context: &Context,
    sandbox: Option<SandboxId>,
    words: &str,
    limit: u16,
) -> Result<(Vec<Hit>, bool)> {
    let Some(store) = read_store(&context.home)? else { return Ok((Vec::new(), true)) };
    let search = LogSearch { words: words.to_owned(), sandbox, ..LogSearch::default() };
    let found = store.search_logs(&search, limit.into()).context("search the logs")?;
    let hits = found.rows.into_iter().map(|row| Hit {
        time: row.chunk.time,
        sandbox: row.chunk.sandbox,
        execution: row.chunk.execution.map(|id| id.to_string()),
        stream: name(row.chunk.stream).to_owned(),
        text: String::from_utf8_lossy(&row.chunk.bytes).into_owned(),
    });
    Ok((hits.collect(), found.complete))
}

const fn name(stream: LogStream) -> &'static str {
    match stream {
        LogStream::Stdout => "stdout",
        LogStream::Stderr => "stderr",
        LogStream::System => "system",
    }
}

/// The first line with the first word in it, or the first of all.
fn line_of(text: &str, words: &str) -> String {
    let word = words.split_whitespace().next().unwrap_or_default().trim_end_matches('*').to_lowercase();
    let found = text.lines().find(|line| line.to_lowercase().contains(&word));
    found.or_else(|| text.lines().next()).unwrap_or_default().chars().take(160).collect()
}
