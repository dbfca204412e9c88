//! What clients ask for, as the service understands it. Every text that means something is read here, and named when
//! it is wrong.

use std::{collections::BTreeMap, fmt::Display, str::FromStr, time::Duration};

use belljar_api as api;
use belljar_domain::{
    ByteSize, Cpus, LimitsPatch, Mount, MountMode, NetworkMode, Profile, SandboxState, Span, Terminal,
};
use belljar_engine::service::{CreateSandbox, Heard, StartExecution, Stdin};
use belljar_ports::store::SandboxFilter;
use serde_json::Value;

use crate::{
    extract::{moment, parsed, path_inside},
    problem::{Answer, Failure},
};

const YEAR: u64 = 31_536_000;
const WEEK: u64 = 604_800;
const MIB: u64 = 1024 * 1024;

/// A sandbox to be made.
pub(crate) fn order(request: api::CreateSandbox) -> Answer<CreateSandbox> {
    let mounts = request.mounts.iter().enumerate().map(|(at, mount)| lent(at, mount));
    Ok(CreateSandbox {
        id: None,
        name: named("name", request.name)?,
        template: parsed("template", request.template.as_deref())?,
        workspace: parsed("workspace", request.workspace.as_deref())?,
        profile: request.profile.map(|profile| match profile {
            api::Profile::Strict => Profile::Strict,
            api::Profile::Permissive => Profile::Permissive,
        }),
        network: request.network.map(|network| match network {
            api::Network::None => NetworkMode::None,
            api::Network::Allowlist => NetworkMode::Allowlist,
            api::Network::Open => NetworkMode::Open,
        }),
        limits: limits(&request.limits)?,
        ttl: within("ttl_seconds", request.ttl_seconds, 1, YEAR)?.map(Span::seconds),
        idle: within("idle_seconds", request.idle_seconds, 1, YEAR)?.map(Span::seconds),
        exec_timeout: within("exec_timeout_seconds", request.exec_timeout_seconds, 1, WEEK)?
            .map(Span::seconds),
        mounts: mounts.collect::<Answer<_>>()?,
        env: variables(request.env)?,
        agent: named("agent", request.agent)?,
        labels: labelled(request.labels)?,
        metadata: request.metadata.map_or(Value::Null, Value::Object),
        observed: request.observe,
    })
}

fn named(field: &str, name: Option<String>) -> Answer<Option<String>> {
    match name {
        Some(name) if name.is_empty() || name.chars().count() > 128 => {
            Err(Failure::field(field, "must have 1 to 128 characters"))
        }
        Some(name) if name.contains(char::is_control) => {
            Err(Failure::field(field, "must not have control characters"))
        }
        name => Ok(name),
    }
}

/// An environment a program can be given: what cannot be said to the kernel would fail every command later.
fn variables(env: BTreeMap<String, String>) -> Answer<BTreeMap<String, String>> {
    let is_wrong = |(name, value): &(&String, &String)| {
        name.is_empty() || name.contains(['=', '\0']) || value.contains('\0')
    };
    match env.iter().find(is_wrong) {
        Some((name, _)) => Err(Failure::field(
            format!("env.{}", name.escape_debug()),
            "a name must not be empty or have `=`, and neither name nor value may have NUL",
        )),
        None => Ok(env),
    }
}

/// Labels that can be found again: a filter writes them `name=value,name=value`.
pub(crate) fn labelled<T>(labels: BTreeMap<String, T>) -> Answer<BTreeMap<String, T>> {
    let is_wrong =
        |name: &&String| name.is_empty() || name.contains(['=', ',']) || name.contains(char::is_control);
    match labels.keys().find(is_wrong) {
        Some(name) => Err(Failure::field(
            format!("labels.{}", name.escape_debug()),
            "a name must not be empty or have `=`, `,` or control characters",
        )),
        None => Ok(labels),
    }
}

fn limits(asked: &api::LimitsRequest) -> Answer<LimitsPatch> {
    Ok(LimitsPatch {
        memory: within("limits.memory_bytes", asked.memory_bytes, 4 * MIB, MIB * MIB)?.map(ByteSize::bytes),
        cpus: asked.cpus.map(cores).transpose()?,
        disk: within("limits.disk_bytes", asked.disk_bytes, MIB, 16 * MIB * MIB)?.map(ByteSize::bytes),
        inodes: within("limits.inodes", asked.inodes, 64, u64::from(u32::MAX))?,
        pids: within("limits.pids", asked.pids, 4, 4_194_304)?,
        open_files: within("limits.open_files", asked.open_files, 16, MIB)?,
    })
}

/// Reads the number as people write it, which has the same bounds.
fn cores(asked: f64) -> Answer<Cpus> {
    let wrong = |error: &dyn Display| Failure::field("limits.cpus", error.to_string());
    Cpus::from_str(&format!("{asked:.3}")).map_err(|error| wrong(&error))
}

fn within<T: PartialOrd + Display + Copy>(
    field: &str,
    asked: Option<T>,
    least: T,
    most: T,
) -> Answer<Option<T>> {
    match asked {
        Some(value) if value < least || value > most => {
            Err(Failure::field(field, format!("must be from {least} to {most}")))
        }
        asked => Ok(asked),
    }
}

fn lent(at: usize, mount: &api::Mount) -> Answer<Mount> {
    let mode = match mount.mode {
        api::MountMode::Ro => MountMode::Ro,
        api::MountMode::Rw => MountMode::Rw,
    };
    let word = if mode == MountMode::Ro { "ro" } else { "rw" };
    // The text form is where the rules about mounts are.
    let read = Mount::from_str(&format!("{}:{}:{word}", mount.host, mount.sandbox));
    read.map_err(|error| Failure::field(format!("mounts[{at}]"), crate::problem::chain(&error)))
}

/// A command to be run.
pub(crate) fn start(request: api::ExecRequest) -> Answer<StartExecution> {
    let argv = match request.command {
        api::Command::Argv(words) => words,
        api::Command::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), line],
    };
    if argv.first().is_none_or(String::is_empty) {
        return Err(Failure::field("command", "names no program"));
    }
    let stdin = match (request.stdin, request.stdin_open) {
        (Some(_), true) => {
            return Err(Failure::field("stdin_open", "cannot go with `stdin`, which ends the input"));
        }
        (Some(text), false) => Stdin::Bytes(text.into_bytes()),
        (None, true) if request.background || request.stream => Stdin::Open,
        (None, true) => {
            return Err(Failure::field("stdin_open", "is for commands in the background or streaming"));
        }
        (None, false) => Stdin::Empty,
    };
    if request.attached && !request.stream {
        return Err(Failure::field("attached", "is for commands that stream"));
    }
    let heard = if request.attached { Heard::AsItComes } else { Heard::AtTheEnd };
    Ok(StartExecution {
        id: parsed("execution_id", request.execution_id.as_deref())?,
        argv,
        heard,
        cwd: request.cwd.map(|cwd| path_inside("cwd", &cwd)).transpose()?,
        env: variables(request.env)?,
        user: request.user,
        timeout: request.timeout_seconds.map(seconds).transpose()?,
        stdin,
        terminal: request.terminal.map(|size| terminal(size.rows, size.cols)).transpose()?,
    })
}

fn seconds(asked: f64) -> Answer<Span> {
    let millis =
        Duration::try_from_secs_f64(asked).ok().and_then(|time| u64::try_from(time.as_millis()).ok());
    let span = millis.filter(|millis| (1..=WEEK * 1000).contains(millis)).map(Span::millis);
    span.ok_or_else(|| Failure::field("timeout_seconds", format!("must be from 0.001 to {WEEK}")))
}

/// A terminal's size.
pub(crate) fn terminal(rows: u16, cols: u16) -> Answer<Terminal> {
    let sane = 1..=1000;
    if sane.contains(&rows) && sane.contains(&cols) {
        Ok(Terminal { rows, cols })
    } else {
        Err(Failure::field("terminal", "must have 1 to 1000 rows and columns"))
    }
}

/// Which sandboxes.
pub(crate) fn sandbox_filter(query: &api::SandboxQuery) -> Answer<SandboxFilter> {
    let states = match (query.state, query.status.as_deref()) {
        (Some(_), Some(_)) => return Err(Failure::field("status", "cannot go with `state`")),
        (Some(state), None) => vec![exact(state)],
        (None, Some(status)) => coarse(status)?,
        (None, None) => Vec::new(),
    };
    Ok(SandboxFilter {
        project: parsed("project_id", query.project_id.as_deref())?,
        states,
        agent: query.agent.clone(),
        template: query.template.clone(),
        labels: pairs("label", query.label.as_deref())?,
        metadata: pairs("metadata", query.metadata.as_deref())?,
        from: moment("from", query.from.as_deref())?,
        until: moment("until", query.until.as_deref())?,
    })
}

/// Names with values, as a query writes them.
fn pairs(field: &str, text: Option<&str>) -> Answer<BTreeMap<String, String>> {
    let pair = |text: &str| {
        let (name, value) = text.split_once('=')?;
        (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    };
    let Some(text) = text else { return Ok(BTreeMap::new()) };
    let pairs: Option<_> = text.split(',').map(pair).collect();
    pairs.ok_or_else(|| Failure::field(field, "write name=value, several with commas between"))
}

const fn exact(state: api::SandboxState) -> SandboxState {
    match state {
        api::SandboxState::Creating => SandboxState::Creating,
        api::SandboxState::Running => SandboxState::Running,
        api::SandboxState::Paused => SandboxState::Paused,
        api::SandboxState::Stopping => SandboxState::Stopping,
        api::SandboxState::Stopped => SandboxState::Stopped,
        api::SandboxState::Destroyed => SandboxState::Destroyed,
        api::SandboxState::Failed => SandboxState::Failed,
    }
}

fn coarse(status: &str) -> Answer<Vec<SandboxState>> {
    use SandboxState::{Creating, Destroyed, Failed, Paused, Running, Stopped, Stopping};
    match status.to_ascii_uppercase().as_str() {
        "CREATING" => Ok(vec![Creating]),
        "RUNNING" => Ok(vec![Running]),
        "PAUSED" => Ok(vec![Paused]),
        "TERMINATED" => Ok(vec![Stopping, Stopped, Destroyed, Failed]),
        _ => Err(Failure::field("status", "must be CREATING, RUNNING, PAUSED or TERMINATED")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exec(json: Value) -> Answer<StartExecution> {
        start(serde_json::from_value(json).unwrap())
    }

    #[test]
    fn a_command_is_a_list_or_a_line() {
        let line = exec(serde_json::json!({"command": "echo hi | wc", "timeout_seconds": 1.5})).unwrap();
        assert_eq!(line.argv, ["sh", "-c", "echo hi | wc"]);
        assert_eq!(line.timeout, Some(Span::millis(1500)));
        let list = exec(serde_json::json!({"command": ["ls", "-l"], "cwd": "/tmp", "stdin": "x"})).unwrap();
        assert_eq!((list.argv.len(), list.stdin), (2, Stdin::Bytes(b"x".to_vec())));
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (json, named) in [
            (serde_json::json!({"command": []}), "command"),
            (serde_json::json!({"command": "x", "timeout_seconds": 0}), "timeout_seconds"),
            (serde_json::json!({"command": "x", "timeout_seconds": 1e300}), "timeout_seconds"),
            (serde_json::json!({"command": "x", "cwd": "../etc"}), "cwd"),
            (serde_json::json!({"command": "x", "stdin_open": true}), "stdin_open"),
            (serde_json::json!({"command": "x", "terminal": {"rows": 0, "cols": 5}}), "terminal"),
        ] {
            let failure = exec(json.clone()).unwrap_err();
            assert!(failure.detail().starts_with(&format!("`{named}`")), "{json}: {}", failure.detail());
        }
    }

    #[test]
    fn what_a_sandbox_cannot_be_is_refused_before_it_is_made() {
        for json in [
            serde_json::json!({"limits": {"memory_bytes": 1}}),
            serde_json::json!({"limits": {"cpus": 0}}),
            serde_json::json!({"ttl_seconds": 0}),
            serde_json::json!({"mounts": [{"host": "/a", "sandbox": "/proc", "mode": "ro"}]}),
            serde_json::json!({"workspace": "relative"}),
            serde_json::json!({"env": {"A=B": "x"}}),
            serde_json::json!({"env": {"": "x"}}),
            serde_json::json!({"env": {"A": "x\0y"}}),
            serde_json::json!({"labels": {"": "x"}}),
            serde_json::json!({"labels": {"a,b": "x"}}),
            serde_json::json!({"agent": ""}),
            serde_json::json!({"agent": "a\nb"}),
        ] {
            assert!(order(serde_json::from_value(json.clone()).unwrap()).is_err(), "{json}");
        }
        let cpus =
            order(serde_json::from_value(serde_json::json!({"limits": {"cpus": 1.5}})).unwrap()).unwrap();
        assert_eq!(cpus.limits.cpus, Some(Cpus::milli(1500)));
    }
}
