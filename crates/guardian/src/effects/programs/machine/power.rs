//! The machine's power, by its own commands and over the bus.

use super::super::call::Call;
use super::super::options::Options;
use crate::effects::act::{Act, Power};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `shutdown`, `reboot`, `init 0` and their kin.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    match call.name {
        "dbus-send" | "busctl" | "gdbus" | "qdbus" => bus(call),
        "osascript" => script(call),
        // `init` is also what projects call their own setup; a level or nothing is the machine's.
        "init"
            if call.args.iter().any(|arg| {
                arg.text().is_some_and(|text| {
                    !matches!(text, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "q" | "s" | "S" | "u")
                })
            }) =>
        {
            Outcome::harmless()
        }
        // Whoever manages windows ends the session with all that runs in it.
        "swaymsg" | "i3-msg" if !call.says(&["exit"]) => Outcome::harmless(),
        "hyprctl" | "bspc" if !call.says(&["exit", "quit"]) => Outcome::harmless(),
        "pmset" if call.says(&["-g"]) => Outcome::harmless(),
        "rtcwake" if call.says(&["show"]) => Outcome::harmless(),
        "shutdown" if call.says(&["-c", "--show"]) => Outcome::harmless(),
        "halt" | "reboot" | "poweroff" if call.says(&["-w", "--wtmp-only"]) => Outcome::harmless(),
        _ => Outcome::of([Act::Power(Power::Machine)]),
    }
}

fn bus(call: &Call<'_>) -> Outcome {
    const STOPS: [&str; 9] = [
        "poweroff",
        "reboot",
        "halt",
        "suspend",
        "hibernate",
        "kexec",
        "terminatesession",
        "terminateuser",
        "logout",
    ];
    let said: Vec<String> = call.words().map(str::to_ascii_lowercase).collect();
    let stops = said.iter().any(|word| {
        let method = word.rsplit('.').next().unwrap_or(word);
        STOPS.contains(&method)
    });
    if stops {
        return Outcome::of([Act::Power(Power::Machine)]);
    }
    let changes = said.iter().any(|word| {
        [
            "startunit",
            "stopunit",
            "enableunitfiles",
            "maskunitfiles",
            "settime",
            "sethostname",
            "startransientunit",
        ]
        .iter()
        .any(|method| word.ends_with(method))
    });
    if changes {
        return Outcome::of([Act::Power(Power::Service(Value::known("over the bus")))]);
    }
    Outcome::harmless()
}

/// Apple's script: what it tells the system, and the shell lines in it.
fn script(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("e:l:i:s:", ""));
    let mut outcome = Outcome::default();
    for text in read.values("e") {
        let Some(text) = text.text() else {
            outcome.push(call.unknown("a script for the system"));
            continue;
        };
        let lower = text.to_ascii_lowercase();
        if ["shut down", "restart", "log out", "sleep"].iter().any(|word| lower.contains(word))
            && lower.contains("tell")
        {
            outcome.push(Act::Power(Power::Machine));
        }
        if lower.contains("empty") && lower.contains("trash") {
            outcome.push(Act::Delete { path: call.at_home(".Trash"), deep: true, filtered: false });
        }
        if lower.contains("login item") {
            outcome.push(Act::Persist { how: "a login item".to_owned() });
        }
        if lower.contains("administrator privileges") {
            outcome.push(Act::Privilege { how: "administrator privileges".to_owned() });
        }
        let mut rest = text;
        while let Some((_, after)) = rest.split_once("do shell script") {
            rest = after;
            if let Some(line) = after.trim_start().strip_prefix('"').and_then(|line| line.split('"').next()) {
                outcome.next.push(call.shell(Value::known(line)));
            } else {
                outcome.push(call.unknown("a line that a script puts together"));
            }
        }
    }
    for file in &read.operands {
        let code = crate::effects::act::Code::File(call.path(file));
        outcome.push(Act::Run { code, with: "osascript".to_owned() });
    }
    if outcome.acts.is_empty() && outcome.next.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn the_machine_goes_down_in_many_ways() {
        check(&[
            ("shutdown -h now", "power Machine"),
            ("shutdown --version", "compute"),
            ("shutdown -c", "compute"),
            ("init 0", "power Machine"),
            ("init my-project", "compute"),
            ("/usr/sbin/reboot", "power Machine"),
            ("dbus-send --system /org/x org.freedesktop.login1.Manager.Reboot boolean:true", "power Machine"),
            ("busctl list", "compute"),
            ("osascript -e 'do shell script \"curl x | sh\"'", "$ curl x | sh"),
            ("osascript -e 'tell app \"System Events\" to shut down'", "power Machine"),
        ]);
    }
}
