//! `belljar approvals watch`: each call as it comes, answered with a key.
//!
//! Owns: the conversation with the person at the terminal. Following the stream of approvals tells the server that
//! somebody is there, so that calls wait for them. Without a terminal, calls are told as lines of JSON and not answered.

use std::{
    collections::{HashSet, VecDeque},
    fs,
    io::{self, BufRead as _, IsTerminal as _, Read as _, Write as _},
    os::unix::net::UnixStream,
    process::{Command, ExitCode},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{ApprovalId, ApprovalState};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde_json::{Value, json};

use super::{card, delivered, read};
use crate::{
    args::WatchApprovals,
    client::{Approval, Client, ClientError, Told},
    context::Context,
    output::{plain, print_json, remark},
    terminal::RawMode,
};

/// How long to wait before a server that went away is looked for again.
const PAUSE: Duration = Duration::from_millis(500);
const KEYS: &str = "[a]llow  [s]ession  al[w]ays  [e]dit  [d]eny  [n]ext  [q]uit";

/// What a person wants.
enum Wish {
    Allow(&'static str),
    Edit,
    Deny,
    Next,
    Quit,
    /// Something happened meanwhile.
    Look,
}

pub(super) fn watch(context: &Context, server: &Client, args: &WatchApprovals) -> Result<ExitCode> {
    if context.json || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return tell(context, args);
    }
    let (mut bell, ringer) = UnixStream::pair().context("make a bell")?;
    bell.set_nonblocking(true)?;
    let follower = context.clone();
    thread::Builder::new().name("follow".to_owned()).spawn(move || follow(&follower, ringer))?;
    let mut passed: HashSet<ApprovalId> = HashSet::new();
    let mut shown: Option<ApprovalId> = None;
    remark("watching; calls that a rule asks about wait here for you");
    loop {
        let mut waiting = pending(server, args.session.as_deref())?;
        waiting.retain(|approval| !passed.contains(&approval.id));
        let Some(approval) = waiting.front() else {
            shown = None;
            match key(&mut bell)? {
                Wish::Quit => return Ok(ExitCode::SUCCESS),
                _ => continue,
            }
        };
        if shown != Some(approval.id) {
            shown = Some(approval.id);
            let more = waiting.len() - 1;
            let others = if more > 0 { format!("  ({more} more wait)") } else { String::new() };
            write!(io::stdout(), "\n{}{KEYS}{others} ", card::whole(approval))?;
            io::stdout().flush()?;
        }
        let wish = key(&mut bell)?;
        if !matches!(wish, Wish::Look) {
            writeln!(io::stdout())?;
        }
        let id = approval.id;
        let answer = match wish {
            Wish::Quit => return Ok(ExitCode::SUCCESS),
            Wish::Next => {
                passed.insert(id);
                continue;
            }
            Wish::Look => {
                told_otherwise(server, id)?;
                continue;
            }
            Wish::Allow(scope) => server.answer(id, "allow", &json!({ "scope": scope })),
            Wish::Deny => {
                let reason = line("reason, for the agent: ")?;
                server.answer(id, "deny", &json!({ "reason": reason }))
            }
            Wish::Edit => match edited(&approval.input) {
                Ok(Some(input)) => server.answer(id, "allow", &json!({ "input": input })),
                Ok(None) => {
                    shown = None;
                    continue;
                }
                Err(error) => {
                    remark(&format!("{error:#}"));
                    shown = None;
                    continue;
                }
            },
        };
        match answer {
            Ok(first) => {
                let approval = read(delivered(server, id).unwrap_or(first))?;
                writeln!(io::stdout(), "{}", card::outcome(&approval))?;
            }
            // It was answered elsewhere, or this answer is not possible; the next look shows which.
            Err(error @ ClientError::Refused(_)) => {
                remark(&error.to_string());
                shown = None;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Those that wait, the oldest first.
fn pending(server: &Client, session: Option<&str>) -> Result<VecDeque<Approval>> {
    let mut query = vec![("state", "pending"), ("limit", "1000")];
    query.extend(session.map(|id| ("session_id", id)));
    let found = server.approvals(&query)?.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    Ok(found.into_iter().rev().collect())
}

/// Says what became of a call that was shown and waits no more.
fn told_otherwise(server: &Client, id: ApprovalId) -> Result<()> {
    let approval = read(server.approval(id)?)?;
    if approval.state != ApprovalState::Pending {
        writeln!(io::stdout(), "\n{}", plain(&card::outcome(&approval)))?;
    }
    Ok(())
}

/// Waits for a key, or for something to happen.
fn key(bell: &mut UnixStream) -> Result<Wish> {
    let raw = RawMode::enter().context("read keys")?;
    loop {
        let stdin = io::stdin();
        let mut fds = [PollFd::new(&stdin, PollFlags::IN), PollFd::new(&*bell, PollFlags::IN)];
        // Now and then the time that is left is looked at.
        let patience = Timespec { tv_sec: 5, tv_nsec: 0 };
        match poll(&mut fds, Some(&patience)) {
            Ok(0) => return Ok(Wish::Look),
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        let [keys, rung] = fds.map(|fd| !fd.revents().is_empty());
        if rung {
            let mut rings = [0; 64];
            // However often it rang, it is looked at once.
            while bell.read(&mut rings).is_ok_and(|count| count > 0) {}
            return Ok(Wish::Look);
        }
        if !keys {
            continue;
        }
        let mut typed = [0_u8; 1];
        let count = rustix::io::read(rustix::stdio::stdin(), &mut typed)?;
        drop(raw);
        return Ok(match typed.first().filter(|_| count > 0) {
            Some(b'a' | b'y') => Wish::Allow("once"),
            Some(b's') => Wish::Allow("session"),
            Some(b'w') => Wish::Allow("always"),
            Some(b'e') => Wish::Edit,
            Some(b'd') => Wish::Deny,
            Some(b'n') => Wish::Next,
            // Ctrl-C, Ctrl-D, q, or nobody there any more.
            Some(3 | 4 | b'q') | None => Wish::Quit,
            Some(_) => Wish::Look,
        });
    }
}

fn line(prompt: &str) -> Result<String> {
    write!(io::stdout(), "{prompt}")?;
    io::stdout().flush()?;
    let mut text = String::new();
    io::stdin().lock().read_line(&mut text)?;
    Ok(text.trim().to_owned())
}

/// What a person makes of an input in their editor; none if they leave it as it is.
fn edited(input: &Value) -> Result<Option<Value>> {
    let editor =
        ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok()).filter(|name| !name.is_empty());
    let editor = editor.unwrap_or_else(|| "vi".to_owned());
    let file = tempfile::Builder::new()
        .prefix("belljar-")
        .suffix(".json")
        .tempfile()
        .context("make a file to edit")?;
    fs::write(file.path(), serde_json::to_string_pretty(input)?)?;
    // An editor may come with words of its own.
    let mut words = editor.split_whitespace();
    let program = words.next().context("EDITOR names no program")?;
    let ended = Command::new(program).args(words).arg(file.path()).status();
    if !ended.with_context(|| format!("start `{editor}`"))?.success() {
        bail!("`{editor}` failed; nothing was answered");
    }
    let text = fs::read_to_string(file.path())?;
    let new: Value =
        serde_json::from_str(&text).context("what was written is no JSON; nothing was answered")?;
    Ok((new != *input).then_some(new))
}

/// Rings whenever an approval took a step, and finds the next server when one goes.
fn follow(context: &Context, mut bell: UnixStream) {
    loop {
        let stream = context.server().and_then(|server| Ok(server.follow(&[("kind", "approval")])?));
        if let Ok(mut stream) = stream {
            while let Ok(Told::Event(_)) = stream.next_value() {
                // Nobody listens any more.
                if bell.write_all(b".").is_err() {
                    return;
                }
            }
        }
        thread::sleep(PAUSE);
        if bell.write_all(b".").is_err() {
            return;
        }
    }
}

/// Tells of every step as a line of JSON: what waits already, then what happens.
fn tell(context: &Context, args: &WatchApprovals) -> Result<ExitCode> {
    let server = context.server()?;
    let mut query = vec![("kind", "approval")];
    query.extend(args.session.iter().map(|id| ("session_id", id.as_str())));
    // First of all, so that nothing is missed in between.
    let mut stream = server.follow(&query)?;
    let mut waiting = vec![("state", "pending"), ("limit", "1000")];
    waiting.extend(args.session.iter().map(|id| ("session_id", id.as_str())));
    for approval in server.approvals(&waiting)?.into_iter().rev() {
        print_json(&approval)?;
    }
    while let Told::Event(event) = stream.next_value()? {
        let id = event.pointer("/payload/approval").and_then(Value::as_str).and_then(|id| id.parse().ok());
        if let Some(id) = id {
            print_json(&server.approval(id)?)?;
            io::stdout().flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
