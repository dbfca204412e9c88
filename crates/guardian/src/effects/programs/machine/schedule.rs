//! What is started later: `crontab`, `at`, timers, and programs put in another's place.

use super::super::call::Call;
use super::super::options::Options;
use crate::effects::act::Act;
use crate::effects::invocation::{Next, Outcome, Stream};
use crate::shell::value::Value;

/// `crontab`, `at`, `systemd-run` and their kin.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    match call.name {
        "crontab" | "fcrontab" | "incrontab" => crontab(call),
        "at" | "batch" => at(call),
        "systemd-run" => run(call),
        "schtasks" => {
            let changes =
                call.words().any(|word| matches!(word.to_ascii_lowercase().as_str(), "/create" | "/change"));
            if changes { persist("schtasks") } else { Outcome::harmless() }
        }
        "reg" => {
            let changes = call
                .words()
                .next()
                .is_some_and(|word| matches!(word, "add" | "import" | "delete" | "restore"));
            if changes { persist("reg: the registry") } else { Outcome::harmless() }
        }
        "update-alternatives" => {
            let looks = call.says(&["--list", "--display", "--query", "--get-selections"]);
            if looks { Outcome::harmless() } else { persist("update-alternatives") }
        }
        "pm2" => match call.words().next().unwrap_or_default() {
            "startup" => persist("pm2 startup"),
            _ => Outcome::harmless(),
        },
        _ => Outcome::harmless(),
    }
}

fn persist(how: &str) -> Outcome {
    Outcome::of([Act::Persist { how: how.to_owned() }])
}

fn crontab(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("u:", ""));
    if read.has("l") && read.operands.is_empty() {
        return Outcome::harmless();
    }
    if read.has("r") {
        let whose = read.value("u").cloned().unwrap_or_else(|| Value::known(call.context.user.as_str()));
        let table = call.inside(&Value::known("/var/spool/cron/crontabs"), &whose);
        return Outcome::of([Act::Delete { path: table, deep: false, filtered: false }]);
    }
    let mut outcome = persist("crontab");
    for file in read.operands.iter().filter(|file| file.text() != Some("-")) {
        outcome.push(call.reads(file));
    }
    // What it says is run as it is written, so it is looked at as well.
    if let Some(text) = call.invocation.input.text.as_ref().and_then(Value::text) {
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            let skipped = if line.starts_with('@') { 1 } else { 5 };
            let words: Vec<&str> = line.split_whitespace().skip(skipped).collect();
            if !words.is_empty() {
                outcome.next.push(call.shell(Value::known(words.join(" "))));
            }
        }
    }
    if read.has("e") {
        for (name, value) in &call.invocation.environment {
            if matches!(name.as_slice(), b"EDITOR" | b"VISUAL") {
                outcome.next.push(call.shell(value.clone()));
            }
        }
    }
    outcome
}

fn at(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("f:q:t:", ""));
    if read.has("l V c") {
        return Outcome::harmless();
    }
    if read.has("r d") || call.name == "atrm" {
        return Outcome::harmless();
    }
    let mut outcome = persist(call.name);
    match read.value("f").filter(|file| file.text() != Some("/dev/stdin")) {
        Some(file) => {
            let code = crate::effects::act::Code::File(call.path(file));
            outcome.push(Act::Run { code, with: "sh".to_owned() });
        }
        None if call.invocation.input != Stream::default() => {
            outcome.next.push(call.next(vec![Value::known("sh")]));
        }
        None => {}
    }
    outcome
}

fn run(call: &Call<'_>) -> Outcome {
    let read = call.read(
        &Options::new(
            "p:u:M:H:E:r?d?P?q?t?S?",
            "unit= property= description= slice= uid= gid= nice= working-directory= setenv= machine= host= \
             on-active= on-boot= on-startup= on-unit-active= on-unit-inactive= on-calendar= timer-property= \
             path-property= socket-property= service-type= background= scope user pty pipe wait collect quiet shell \
             same-dir remain-after-exit",
        )
        .stops(),
    );
    let mut outcome = Outcome::default();
    if read.options.iter().any(|(name, _)| name.starts_with("on-")) {
        outcome.push(Act::Persist { how: "systemd-run".to_owned() });
    }
    if read.has("uid gid") || !read.has("user") {
        outcome.push(Act::Privilege { how: "systemd-run".to_owned() });
    }
    let mut invocation = call.invocation.clone();
    if let Some(directory) = read.value("working-directory") {
        invocation.cwd = call.path(directory);
    }
    invocation.argv = if read.operands.is_empty() { vec![Value::known("sh")] } else { read.operands };
    outcome.then(Next::Program { invocation, elsewhere: None })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{check, given, shown};
    use super::*;

    #[test]
    fn later_starts_are_seen_and_what_they_start() {
        check(&[
            ("crontab -l", "compute"),
            ("crontab evil.cron", "persist crontab; read /home/dev/project/evil.cron"),
            ("crontab -r", "delete /var/spool/cron/crontabs/dev"),
            ("at -l", "compute"),
            ("at -f job.sh 03:00", "persist at; run sh /home/dev/project/job.sh"),
            ("systemd-run --user --on-boot=1min /tmp/x", "persist systemd-run; > /tmp/x"),
            ("systemd-run --user --scope make", "> make"),
            ("pm2 list", "compute"),
            ("pm2 startup", "persist pm2 startup"),
        ]);
        let text = Stream::text(Value::known("@reboot rm -rf /\n"));
        assert_eq!(shown(&given("crontab -", text)), "persist crontab; $ rm -rf /");
    }
}
