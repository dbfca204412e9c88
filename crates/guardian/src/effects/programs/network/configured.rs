//! `curl -K -`: options that are read instead of written.

use super::super::call::Call;
use super::super::options::Read;
use crate::shell::value::Value;

/// The arguments with those a configuration on the standard input adds, where all of that is known.
pub(super) fn curl(call: &Call<'_>, read: &Read) -> Option<Vec<Value>> {
    let is_input = read.values("K config").any(|file| file.text() == Some("-"));
    let text = call.invocation.input.text.as_ref().and_then(Value::text).filter(|_| is_input)?;
    let mut args: Vec<Value> = Vec::new();
    let mut given = call.args.iter();
    while let Some(arg) = given.next() {
        match arg.text() {
            Some("-K" | "--config") => drop(given.next()),
            Some("-K-" | "--config=-") => {}
            _ => args.push(arg.clone()),
        }
    }
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (name, value) = line.split_once(['=', ':', ' ']).unwrap_or((line, ""));
        let name = name.trim().trim_start_matches('-');
        args.push(Value::known(if name.len() == 1 { format!("-{name}") } else { format!("--{name}") }));
        let value = value.trim().trim_start_matches(['=', ':']).trim().trim_matches('"');
        if !value.is_empty() {
            args.push(Value::known(value));
        }
    }
    Some(args)
}
