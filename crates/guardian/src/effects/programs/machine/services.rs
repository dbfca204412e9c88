//! Services: started, stopped, and made to start by themselves.

use super::super::call::Call;
use super::super::options::Options;
use crate::effects::act::{Act, Power};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `systemctl`, `service`, `launchctl`, `loginctl`, `journalctl` and their kin.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    match call.name {
        "systemctl" => systemctl(call),
        "service" | "rc-service" | "sv" | "supervisorctl" | "initctl" | "sc" | "net" => service(call),
        "rc-update" | "update-rc.d" | "chkconfig" => switched(call),
        "launchctl" => launchctl(call),
        "loginctl" => loginctl(call),
        "machinectl" => machinectl(call),
        _ => journalctl(call),
    }
}

fn service_act(which: Option<&Value>) -> Act {
    let which = which.cloned().unwrap_or_default();
    if which.text().is_some_and(|name| name.contains("belljar")) {
        return Act::Tamper { how: "belljar's own service would be changed".to_owned() };
    }
    Act::Power(Power::Service(which))
}

fn systemctl(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new(
        "H:M:n:o:p:P:s:t:T?",
        "host= machine= lines= output= property= signal= kill-who= kill-whom= type= state= job-mode= root= image= now user system",
    ));
    let own = read.has("user");
    let unit = read.operands.get(1);
    let acts = match read.verb() {
        "poweroff"
        | "reboot"
        | "halt"
        | "suspend"
        | "hibernate"
        | "hybrid-sleep"
        | "kexec"
        | "rescue"
        | "emergency"
        | "isolate"
        | "default"
        | "exit"
        | "soft-reboot"
        | "suspend-then-hibernate"
        | "sleep"
        | "switch-root" => vec![Act::Power(Power::Machine)],
        "enable" | "reenable" | "link" | "preset" | "add-wants" | "add-requires" | "edit" | "set-default" => {
            vec![Act::Persist { how: format!("systemctl {}", read.verb()) }]
        }
        "disable" | "mask" => vec![service_act(unit)],
        // A user's own services are like processes of theirs.
        "start" | "restart" | "reload" | "try-restart" | "daemon-reload" | "reset-failed" | "unmask"
        | "stop" | "kill"
            if own && !unit.and_then(Value::text).is_some_and(|unit| unit.contains("belljar")) =>
        {
            vec![Act::Compute]
        }
        "start" | "stop" | "restart" | "reload" | "try-restart" | "reload-or-restart" | "kill" | "unmask"
        | "daemon-reexec" | "daemon-reload" | "set-property" | "revert" | "freeze" | "thaw" | "clean" => {
            vec![service_act(unit)]
        }
        "set-environment" | "import-environment" | "unset-environment" => {
            vec![Act::Persist { how: "systemctl set-environment".to_owned() }]
        }
        _ => vec![Act::Compute],
    };
    Outcome::of(acts).rehearsed_if(read.has("dry-run"))
}

fn service(call: &Call<'_>) -> Outcome {
    let words: Vec<&str> = call.words().filter(|word| !word.starts_with('-')).collect();
    let changes =
        ["start", "stop", "restart", "reload", "up", "down", "force-reload", "delete", "config", "create"];
    // `service NAME VERB` and `sv VERB NAME` alike; `net` has users too.
    let Some(verb) = words.iter().find(|word| changes.contains(word)) else {
        let accounts = call.name == "net" && call.says(&["user", "localgroup", "/add"]);
        return if accounts && call.args.len() > 1 {
            Outcome::of([Act::Power(Power::Accounts("net".to_owned()))])
        } else {
            Outcome::harmless()
        };
    };
    let which = words.iter().find(|word| *word != verb).map(|word| Value::known(*word));
    Outcome::of([service_act(which.as_ref())])
}

fn switched(call: &Call<'_>) -> Outcome {
    if call.says(&["show", "--list", "-s"]) || call.args.is_empty() {
        return Outcome::harmless();
    }
    let removes = call.says(&["remove", "del", "delete", "off", "disable", "--del"]);
    let which = call.args.iter().find(|arg| !arg.prefix().starts_with(b"-"));
    Outcome::of([if removes { service_act(which) } else { Act::Persist { how: call.name.to_owned() } }])
}

fn launchctl(call: &Call<'_>) -> Outcome {
    match call.words().next().unwrap_or_default() {
        "load" | "bootstrap" | "enable" | "submit" | "setenv" | "config" => {
            Outcome::of([Act::Persist { how: "launchctl".to_owned() }])
        }
        "unload" | "bootout" | "disable" | "remove" | "stop" | "kill" | "kickstart" => {
            Outcome::of([service_act(call.args.last())])
        }
        "reboot" => Outcome::of([Act::Power(Power::Machine)]),
        "asuser" => Outcome::of([Act::Privilege { how: "launchctl asuser".to_owned() }]),
        _ => Outcome::harmless(),
    }
}

fn loginctl(call: &Call<'_>) -> Outcome {
    match call.words().find(|word| !word.starts_with('-')).unwrap_or_default() {
        "poweroff" | "reboot" | "halt" | "suspend" | "hibernate" | "terminate-user" | "terminate-session"
        | "terminate-seat" | "kill-session" | "kill-user" | "lock-sessions" => {
            Outcome::of([Act::Power(Power::Machine)])
        }
        "enable-linger" => Outcome::of([Act::Persist { how: "loginctl enable-linger".to_owned() }]),
        _ => Outcome::harmless(),
    }
}

fn machinectl(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("p:H:M:s:n:o:E:", "uid= machine= host= setenv=").stops());
    match read.verb() {
        "shell" | "login" => {
            let mut outcome = Outcome::of([Act::Privilege { how: "machinectl shell".to_owned() }]);
            if let Some(rest) = read.operands.get(2..).filter(|rest| !rest.is_empty()) {
                outcome.next.push(call.next(rest.to_vec()));
            }
            outcome
        }
        "poweroff" | "terminate" | "kill" | "remove" | "reboot" | "disable" | "clean" => {
            let operation = format!("machinectl {}", read.verb());
            Outcome::of([Act::Infrastructure { operation, destroys: true }])
        }
        "enable" => Outcome::of([Act::Persist { how: "machinectl enable".to_owned() }]),
        _ => Outcome::harmless(),
    }
}

fn journalctl(call: &Call<'_>) -> Outcome {
    let empties = call.words().any(|word| {
        word.starts_with("--vacuum")
            || matches!(word, "--rotate" | "--flush" | "--relinquish-var" | "--setup-keys")
    });
    if call.name == "journalctl" && empties {
        let path = Value::known("/var/log/journal");
        return Outcome::of([Act::Delete { path, deep: true, filtered: true }]);
    }
    Outcome::harmless()
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn services_are_looked_at_changed_and_kept() {
        check(&[
            ("systemctl status nginx", "compute"),
            ("systemctl -i suspend", "power Machine"),
            ("systemctl --user stop x", "compute"),
            ("systemctl --user stop belljar", "tamper belljar's own service would be changed"),
            ("systemctl enable ./x.service", "persist systemctl enable"),
            (
                "service networking stop",
                "power Service(Value { pieces: [Known([110, 101, 116, 119, 111, 114, 107, 105, 110, 103])] })",
            ),
            ("service --status-all", "compute"),
            ("loginctl terminate-user dev", "power Machine"),
            ("launchctl load x.plist", "persist launchctl"),
            ("journalctl -u nginx -n 50", "compute"),
            ("journalctl --rotate --vacuum-time=1s", "delete/% /var/log/journal"),
        ]);
    }
}
