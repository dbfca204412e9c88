//! Programs nobody knows, and files that are run by their path.
//!
//! Owns: what can be said without knowing: its name, the files it is told of, and a command that stands among its arguments.

use super::call::Call;
use super::names;
use super::options::{after, split};
use crate::effects::act::{Act, Code, Effort};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// A program on the search path.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    if matches!(call.args, [only] if matches!(only.text(), Some("--version" | "--help" | "-V" | "-h" | "version" | "help")))
    {
        return Outcome::harmless();
    }
    let code = Code::Program(call.name.to_owned());
    with_arguments(call, Act::Run { code, with: call.name.to_owned() })
}

/// A file by its path.
pub(super) fn file(call: &Call<'_>, path: &Value) -> Outcome {
    let base = path.text().and_then(|path| path.rsplit('/').next()).unwrap_or("a file").to_owned();
    // Wrappers a project brings along for its own build.
    let found = call.path(path);
    let workspace = &call.context.workspace;
    let inside = found
        .bytes()
        .and_then(|path| path.strip_prefix(workspace.as_slice()))
        .is_some_and(|rest| rest.starts_with(b"/"));
    let code = match base.as_str() {
        "gradlew" | "mvnw" | "configure" | "manage.py" | "x.py" | "bootstrap"
            if inside && !workspace.is_empty() =>
        {
            Code::Project
        }
        _ => Code::File(found),
    };
    let verbs = if code == Code::Project { super::cloud::migrate::lost(&base, call.args) } else { None };
    let publishes = call.words().any(|word| word.starts_with("publish") || word == "deploy");
    let tool = match (base.as_str(), publishes) {
        ("gradlew", true) => Some("gradle"),
        ("mvnw", true) => Some("mvn"),
        _ => None,
    };
    let mut outcome = with_arguments(call, Act::Run { code, with: base });
    outcome.acts.extend(verbs.map(|act| (act, Effort::Done)));
    if let Some(tool) = tool {
        let argv = [Value::known(tool)].into_iter().chain(call.args.iter().cloned());
        outcome.next.push(call.next(argv.collect()));
    }
    outcome
}

fn with_arguments(call: &Call<'_>, run: Act) -> Outcome {
    let mut outcome = Outcome::of([run]);
    if let Some(typed) = super::interpreters::typed(call, call.name, call.args) {
        outcome.acts.extend(typed.acts);
        outcome.next.extend(typed.next);
        return outcome;
    }
    // Compilers start their parts through it: `gcc -wrapper valgrind,-q`.
    let wrapper = call.args.iter().position(|arg| arg.text() == Some("-wrapper"));
    if let Some(words) = wrapper.and_then(|at| call.args.get(at + 1)).and_then(Value::text) {
        outcome.next.push(call.next(words.split(',').map(Value::known).collect()));
    }
    for (place, arg) in call.args.iter().enumerate() {
        let is_value = place > 0
            && call
                .args
                .get(place - 1)
                .is_some_and(|before| before.prefix().starts_with(b"-") && before.text() != Some("--"));
        if !is_value && names::is_telling(call, arg) {
            outcome.next.push(call.next(call.args.get(place..).unwrap_or_default().to_vec()));
            break;
        }
        let value = if arg.prefix().starts_with(b"-") {
            match split(arg, b'=') {
                Some((_, value)) => value,
                None => continue,
            }
        } else {
            arg.clone()
        };
        let value = if value.prefix().starts_with(b"@") { after(&value, 1) } else { value };
        let looks_like_a_path = value.prefix().contains(&b'/') || value.prefix().contains(&b'.');
        let is_url = value.prefix().windows(3).any(|window| window == b"://");
        if looks_like_a_path && !is_url && !value.prefix().contains(&b' ') {
            let path = call.path(&value);
            // Who is told of a raw disk and only looks at it is known.
            outcome.push(if is_disk(&path) { Act::Disk { device: path } } else { call.reads(&value) });
        }
    }
    outcome
}

/// Whether a path is a disk, a part of one, or flash; other devices are read for many reasons.
fn is_disk(path: &Value) -> bool {
    let Some(name) = path.prefix().strip_prefix(b"/dev/") else { return false };
    [
        "sd", "nvme", "vd", "hd", "xvd", "mmcblk", "md", "dm-", "mapper/", "mtd", "disk", "rdisk", "nbd",
        "loop", "sg",
    ]
    .iter()
    .any(|kind| name.starts_with(kind.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn a_stranger_says_its_name_and_what_it_is_told_of() {
        check(&[
            ("frobnicate --version", "compute"),
            ("frobnicate -x .env", "program frobnicate; read /home/dev/project/.env"),
            ("frobnicate --in=a.txt word", "program frobnicate; read /home/dev/project/a.txt"),
            ("frobnicate rm -rf /", "program frobnicate; > rm -rf /"),
            ("frobnicate -- rm -rf /", "program frobnicate; > rm -rf /"),
            ("frobnicate --to /dev/sda", "program frobnicate; disk /dev/sda"),
            ("./gradlew build", "project gradlew"),
            ("scripts/x.sh", "run x.sh /home/dev/project/scripts/x.sh"),
        ]);
    }
}
