//! Where it is written who was killed, and telling the user's own handlers of it: a command, a webhook, or both.

use std::{
    io::{Read, Write},
    net::{TcpStream, ToSocketAddrs},
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime},
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{EXIT_DENIED, ExitReport, KillCause};
use belljar_engine::service::Kills;
use belljar_ports::SandboxError;
use serde_json::{Value, json};

use crate::{config::Handlers, output::timestamp, sandboxes::Seen};

/// The file in belljar's home that says who was killed.
pub(crate) const KILLSWITCH: &str = "killswitch.json";
const PATIENCE: Duration = Duration::from_secs(10);
const ATTEMPTS: u32 = 3;

/// Refuses whoever was killed, also where no server does.
pub(crate) fn spares(home: &Path, agent: Option<&str>) -> Result<(), SandboxError> {
    match Kills::read(&home.join(KILLSWITCH)).of(agent) {
        None => Ok(()),
        Some(kill) => Err(SandboxError::Command {
            what: kill.reason(),
            exit_code: EXIT_DENIED,
            hint: Some("`belljar killswitch --status` says who is killed".to_owned()),
        }),
    }
}

/// Calls every handler. A handler that fails is named on standard error and hurts nothing else.
pub(crate) fn tell(handlers: &Handlers, seen: &Seen, cause: KillCause, report: Option<&ExitReport>) {
    let event = json!({
        "event": "kill_switch",
        "at": timestamp(SystemTime::now()),
        "sandbox": seen.id,
        "agent": seen.spec.agent,
        "labels": seen.spec.labels,
        "cause": cause,
        "limits": seen.spec.limits,
        "usage": report.map(|report| report.usage),
    });
    let mut failed = Vec::new();
    if let [program, arguments @ ..] = handlers.command.as_slice() {
        failed.extend(call(program, arguments, &event).err());
    }
    if let Some(url) = &handlers.webhook {
        failed.extend(retry(|| post(url, &event)).err());
    }
    for error in failed {
        // There is nobody else to tell.
        let _unheard = writeln!(std::io::stderr(), "belljar: killswitch handler: {error:#}");
    }
}

fn call(program: &str, arguments: &[String], event: &Value) -> Result<()> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("start `{program}`"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // It may not care to read.
        let _unread = writeln!(stdin, "{event}");
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait().with_context(|| format!("wait for `{program}`"))? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => bail!("`{program}` ended with {status}"),
            None if Instant::now() >= deadline => {
                child.kill().and_then(|()| child.wait()).with_context(|| format!("kill `{program}`"))?;
                bail!("`{program}` took longer than {} s and was killed", PATIENCE.as_secs());
            }
            None => thread::sleep(Duration::from_millis(10)),
        }
    }
}

fn retry(attempt: impl Fn() -> Result<()>) -> Result<()> {
    let mut pause = Duration::from_millis(200);
    for _earlier in 1..ATTEMPTS {
        if attempt().is_ok() {
            return Ok(());
        }
        thread::sleep(pause);
        pause *= 2;
    }
    attempt()
}

fn post(url: &str, event: &Value) -> Result<()> {
    let rest = url.strip_prefix("http://").context("only http:// is spoken here")?;
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let target = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
    let address = target.to_socket_addrs().with_context(|| format!("find `{authority}`"))?.next();
    let address = address.with_context(|| format!("`{authority}` has no address"))?;
    let mut stream =
        TcpStream::connect_timeout(&address, PATIENCE).with_context(|| format!("reach `{url}`"))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let body = event.to_string();
    write!(
        stream,
        "POST /{path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = [0_u8; 64];
    let count = stream.read(&mut answer).with_context(|| format!("hear from `{url}`"))?;
    let status = String::from_utf8_lossy(answer.get(..count).unwrap_or_default()).into_owned();
    if status.split(' ').nth(1).is_some_and(|code| code.starts_with('2')) {
        return Ok(());
    }
    bail!("`{url}` answered `{}`", status.lines().next().unwrap_or_default())
}
