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
    let someone = someone(record, spec)?;
    let mut env = record.env.clone();
    env.extend(someone.env());
    env.extend(spec.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    let texts = spec.argv.iter().chain(env.keys()).chain(env.values());
    if texts.clone().any(|text| text.contains('\0')) {
        return Err(SandboxError::Invalid("arguments and environment cannot contain NUL bytes".to_owned()));
    }
    let (uid, gid) = someone.ids;
    if record.id_base.is_none() && (uid, gid) != record.user {
        return Err(SandboxError::Unsupported {
            what: format!("without root a sandbox has one user only ({})", record.user.0),
            hint: "run belljar as root to use others".to_owned(),
        });
    }
    Ok(Exec {
        argv: spec.argv.clone(),
        env: env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        cwd: spec.cwd.as_ref().map_or_else(|| someone.begins(record), ToString::to_string),
        user: (uid, gid, Vec::new()),
        terminal: spec.terminal.map(|size| (size.rows, size.cols)),
        timeout_ms: spec.timeout.map_or(0, belljar_domain::Span::as_millis),
        orphan: Orphan::Kill,
        recording: None,
        is_whole: false,
    })
}

/// Who runs a command.
struct Someone {
    ids: (u32, u32),
    /// The name and the home of another user than the sandbox's own.
    other: Option<(String, String)>,
}

impl Someone {
    fn env(&self) -> impl Iterator<Item = (String, String)> {
        let named =
            self.other.iter().flat_map(|(name, home)| [("USER", name), ("LOGNAME", name), ("HOME", home)]);
        named.map(|(variable, value)| (variable.to_owned(), value.clone()))
    }

    /// Where their commands begin unless asked otherwise: the home of the sandbox's own user is not theirs to enter.
    fn begins(&self, record: &Record) -> String {
        let is_shut = self.other.is_some() && record.cwd == record.home.to_string_lossy();
        if is_shut { "/".to_owned() } else { record.cwd.clone() }
    }
}

/// Finds a user by number (`1000` or `1000:1000`) or by name in the template's own table.
fn someone(record: &Record, spec: &ExecSpec) -> Result<Someone, SandboxError> {
    let Some(asked) = &spec.user else { return Ok(Someone { ids: record.user, other: None }) };
    let (user, group) =
        asked.split_once(':').map_or((asked.as_str(), None), |(user, group)| (user, Some(group)));
    let table = record.layers.iter().find_map(|layer| fs::read_to_string(layer.join("etc/passwd")).ok());
    let table = table.unwrap_or_else(|| "root:x:0:0\nnobody:x:65534:65534\n".to_owned());
    let number = user.parse::<u32>().ok();
    let known = table.lines().find_map(|line| {
        let fields: Vec<_> = line.split(':').collect();
        let (name, uid) = (*fields.first()?, fields.get(2)?.parse::<u32>().ok()?);
        let is_meant = number.map_or(name == user, |number| number == uid);
        let home = fields.get(5).filter(|home| home.starts_with('/')).copied().unwrap_or("/");
        is_meant.then_some((uid, fields.get(3)?.parse::<u32>().ok()?, name, home))
    });
    let (uid, own, name, home) = match (number, known) {
        (Some(uid), known) => {
            known.map_or((uid, uid, user, "/"), |(_, _, name, home)| (uid, uid, name, home))
        }
        (None, Some(known)) => known,
        (None, None) => return Err(unknown(asked)),
    };
    let gid = group.map_or(Ok(own), str::parse).map_err(|_not_a_number| unknown(asked))?;
    let other = (uid != record.user.0).then(|| (name.to_owned(), home.to_owned()));
    Ok(Someone { ids: (uid, gid), other })
}

fn unknown(name: &str) -> SandboxError {
    SandboxError::Invalid(format!(
        "there is no user `{name}` in this sandbox; use a number such as 1000 or 1000:1000"
    ))
}
