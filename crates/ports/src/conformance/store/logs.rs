//! Logs: pieces in order, streams by offset, caps, search.

use belljar_domain::{ExecutionId, SandboxId};

use super::{Bench, append, fresh, noon, ok, project, sandbox};
use crate::{
    conformance::{Verdict, expect},
    store::{Batch, LogChunk, LogFilter, LogSearch, LogStream, Store},
};

fn chunk(of: SandboxId, by: ExecutionId, stream: LogStream, offset: u64, text: &str) -> LogChunk {
    let bytes = text.as_bytes().to_vec();
    LogChunk { sandbox: of, execution: Some(by), stream, offset, time: noon(), bytes }
}

fn write(store: &dyn Store, logs: Vec<LogChunk>) -> Verdict {
    append(store, Batch { logs, ..Batch::default() }).map(drop)
}

pub(super) fn come_back(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let (here, by) = (fresh("sbx_")?, fresh("exe_")?);
    let told = vec![
        chunk(here, by, LogStream::Stdout, 0, "one "),
        chunk(here, by, LogStream::Stderr, 0, "oops"),
        chunk(here, by, LogStream::Stdout, 4, "two "),
        LogChunk {
            execution: None,
            stream: LogStream::System,
            ..chunk(here, by, LogStream::Stdout, 0, "paused")
        },
        chunk(here, by, LogStream::Stdout, 8, "three"),
    ];
    write(&*store, told.clone())?;
    // The same piece again, as after a crash between writing and being answered.
    write(&*store, vec![chunk(here, by, LogStream::Stdout, 4, "two ")])?;
    let of = |execution, stream| LogFilter { execution, stream, ..LogFilter::of(here) };
    let rows = ok(store.logs(&of(None, None), 0, 9))?;
    expect("in order", &rows.iter().map(|row| row.chunk.clone()).collect(), &told)?;
    let after = rows.get(1).map_or(0, |row| row.seq);
    let stdout = ok(store.logs(&of(Some(by), Some(LogStream::Stdout)), after, 9))?;
    expect("after a place", &stdout.len(), &2)?;
    let bytes = |offset, max| ok(store.log_bytes(by, LogStream::Stdout, offset, max));
    expect("all", &bytes(0, 100)?, &b"one two three".to_vec())?;
    expect("from the middle", &bytes(5, 5)?, &b"wo th".to_vec())?;
    expect("beyond", &bytes(13, 5)?, &Vec::new())?;
    write(&*store, vec![chunk(here, by, LogStream::Stdout, 20, "after a hole")])?;
    expect("up to a hole", &bytes(8, 100)?, &b"three".to_vec())
}

pub(super) fn stop_at_the_cap(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let (here, by) = (fresh("sbx_")?, fresh("exe_")?);
    for offset in [0, 40, 80, 120] {
        write(&*store, vec![chunk(here, by, LogStream::Stdout, offset, &"y".repeat(40))])?;
    }
    let filter = LogFilter { execution: Some(by), ..LogFilter::of(here) };
    let rows = ok(store.logs(&filter, 0, 9))?;
    let kept: Vec<(usize, bool)> = rows.iter().map(|row| (row.chunk.bytes.len(), row.cut)).collect();
    expect("kept", &kept, &vec![(40, false), (24, true)])?;
    let other = fresh("exe_")?;
    for offset in [0, 64] {
        write(&*store, vec![chunk(here, other, LogStream::Stderr, offset, &"z".repeat(64))])?;
    }
    let filter = LogFilter { execution: Some(other), ..LogFilter::of(here) };
    let kept: Vec<(usize, bool)> =
        ok(store.logs(&filter, 0, 9))?.iter().map(|row| (row.chunk.bytes.len(), row.cut)).collect();
    expect("cut exactly at the cap", &kept, &vec![(64, false), (0, true)])
}

pub(super) fn are_searchable(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let (here, there) = (sandbox("ann")?, sandbox("bob")?);
    let there = crate::store::SandboxRow { project: project("other")?, ..there };
    append(&*store, Batch { sandboxes: vec![here.clone(), there.clone()], ..Batch::default() })?;
    let by = fresh("exe_")?;
    let texts = ["error: no such file", "\u{1b}[31merror\u{1b}[0m in test_login", "all fine", "Ünïcode FINE"];
    for (text, offset) in texts.into_iter().zip((0..).step_by(10)) {
        write(&*store, vec![chunk(here.id, by, LogStream::Stdout, offset, text)])?;
    }
    write(&*store, vec![chunk(there.id, fresh("exe_")?, LogStream::Stdout, 0, "error elsewhere")])?;
    let find = |search: LogSearch| -> Result<usize, String> {
        let hits = ok(store.search_logs(&search, 9))?;
        expect("complete", &hits.complete, &true)?;
        Ok(hits.rows.len())
    };
    let words = |words: &str| LogSearch { words: words.to_owned(), ..LogSearch::default() };
    for (text, count) in [
        ("error", 3),
        ("error file", 1),
        ("ERR*", 3),
        ("fine", 2),
        ("ünïcode", 1),
        ("test_login", 1),
        ("absent", 0),
    ] {
        expect(text, &find(words(text))?, &count)?;
    }
    expect("in a sandbox", &find(LogSearch { sandbox: Some(there.id), ..words("error") })?, &1)?;
    expect("of a project", &find(LogSearch { project: Some(there.project), ..words("error") })?, &1)?;
    let newest = ok(store.search_logs(&words("error"), 1))?;
    let before = newest.rows.first().map(|row| row.seq);
    expect("the next page", &find(LogSearch { before, ..words("error") })?, &2)?;
    match store.search_logs(&words(" \" * "), 9) {
        Err(_) => Ok(()),
        Ok(hits) => Err(format!("nothing was found as {hits:?}")),
    }
}

/// What is not wanted takes no place on a page: neither in a search nor in reading on.
pub(super) fn fill_pages_with_what_is_wanted(bench: &Bench<'_>) -> Verdict {
    let store = bench.store()?;
    let here = sandbox("ann")?;
    append(&*store, Batch { sandboxes: vec![here.clone()], ..Batch::default() })?;
    let rare = fresh("exe_")?;
    let first = noon();
    let minute = |count: u64| first.plus(std::time::Duration::from_secs(60 * count));
    for place in 0..40_u64 {
        // Of every ten pieces one is wanted by its command, and of those some by stream and time.
        let piece = if place % 10 == 0 {
            chunk(here.id, rare, LogStream::Stderr, place / 10 * 6, "needle")
        } else {
            chunk(here.id, fresh("exe_")?, LogStream::Stdout, 0, "needle")
        };
        write(&*store, vec![LogChunk { time: minute(place), ..piece }])?;
    }
    let all = LogSearch { words: "needle".to_owned(), sandbox: Some(here.id), ..LogSearch::default() };
    let wants = [
        ("by command", LogSearch { execution: Some(rare), ..all.clone() }, 4),
        ("by stream", LogSearch { stream: Some(LogStream::Stderr), ..all.clone() }, 4),
        ("from then", LogSearch { from: Some(minute(38)), ..all.clone() }, 2),
        ("until then", LogSearch { until: Some(minute(3)), ..all.clone() }, 3),
        (
            "by command and time",
            LogSearch {
                execution: Some(rare),
                from: Some(minute(10)),
                until: Some(minute(30)),
                ..all.clone()
            },
            2,
        ),
        ("by nobody", LogSearch { execution: Some(fresh("exe_")?), ..all }, 0),
    ];
    for (what, search, count) in wants {
        let (mut found, mut before) = (Vec::new(), None);
        for _page in 0..=count {
            let hits = ok(store.search_logs(&LogSearch { before, ..search.clone() }, 1))?;
            expect(
                &format!("a page {what} is full or the last"),
                &hits.rows.len(),
                &usize::from(found.len() < count),
            )?;
            found.extend(hits.rows.into_iter().map(|row| row.seq));
            before = hits.next;
            if before.is_none() {
                break;
            }
        }
        expect(what, &found.len(), &count)?;
        expect(&format!("{what}, newest first"), &found.is_sorted_by(|a, b| a > b), &true)?;
        let filter = LogFilter {
            execution: search.execution,
            stream: search.stream,
            from: search.from,
            until: search.until,
            ..LogFilter::of(here.id)
        };
        expect(&format!("read on {what}"), &ok(store.logs(&filter, 0, count.max(1)))?.len(), &count)?;
    }
    Ok(())
}
