//! Turning what is asked of an execution into the request a shepherd takes: environment, directory, user.

use std::fs;

use belljar_domain::ExecSpec;
use belljar_jail::{Exec, Orphan};
use belljar_ports::SandboxError;

use super::record::Record;

/// Builds the request for one command in a sandbox.
pub(super) fn request(record: &Record, spec: &ExecSpec) -> Result<Exec, SandboxError> {
    if spec.argv.first().is_none_or(String::is_empty) {
        return Err(SandboxError::Invalid("no command was given".to_owned()));
    }
    let mut env = record.env.clone();
    env.extend(spec.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    let texts = spec.argv.iter().chain(env.keys()).chain(env.values());
    if texts.clone().any(|text| text.contains('\0')) {
        return Err(SandboxError::Invalid("arguments and environment cannot contain NUL bytes".to_owned()));
    }
    let (uid, gid) = match &spec.user {
        None => record.user,
        Some(name) => find(record, name)?,
    };
    if record.id_base.is_none() && (uid, gid) != record.user {
        return Err(SandboxError::Unsupported {
            what: format!("without root a sandbox has one user only ({})", record.user.0),
            hint: "run belljar as root to use others".to_owned(),
        });
    }
    Ok(Exec {
        argv: spec.argv.clone(),
        env: env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        cwd: spec.cwd.as_ref().map_or_else(|| record.cwd.clone(), ToString::to_string),
        user: (uid, gid, Vec::new()),
        terminal: spec.terminal.map(|size| (size.rows, size.cols)),
        timeout_ms: spec.timeout.map_or(0, belljar_domain::Span::as_millis),
        orphan: Orphan::Kill,
        recording: None,
    })
}

/// Finds a user by number (`1000` or `1000:1000`) or by name in the template's own table.
fn find(record: &Record, name: &str) -> Result<(u32, u32), SandboxError> {
    let (user, group) = name.split_once(':').map_or((name, None), |(user, group)| (user, Some(group)));
    if let Ok(uid) = user.parse::<u32>() {
        let gid = group.map_or(Ok(uid), str::parse);
        return gid.map(|gid| (uid, gid)).map_err(|_not_a_number| unknown(name));
    }
    let table = record.layers.iter().find_map(|layer| fs::read_to_string(layer.join("etc/passwd")).ok());
    let table = table.unwrap_or_else(|| "root:x:0:0\nnobody:x:65534:65534\n".to_owned());
    let found = table.lines().find_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        let ids = || Some((fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?));
        (*fields.first()? == user).then(ids).flatten()
    });
    found.ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> SandboxError {
    SandboxError::Invalid(format!(
        "there is no user `{name}` in this sandbox; use a number such as 1000 or 1000:1000"
    ))
}
