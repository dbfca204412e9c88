//! What makes and takes down machines by a description: `terraform`, `pulumi`, `vagrant`, `ansible`.

use super::super::call::Call;
use super::super::options::Options;
use super::{changes, destroys, is_rehearsal};
use crate::effects::act::{Act, Code, Datum, Traffic};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

const TERRAFORM: Options = Options::new(
    "",
    "chdir= var= var-file= target= out= state= state-out= backend-config= parallelism= lock-timeout= replace= refresh= \
     input= lock= destroy auto-approve json raw force help version terragrunt-working-dir= working-dir=",
)
.one_dash();

/// `terraform` and those that speak like it.
pub(in super::super) fn terraform(call: &Call<'_>) -> Outcome {
    let read = call.read(&TERRAFORM);
    if call.is_asked() || read.has("help version h") {
        return Outcome::harmless();
    }
    let words: Vec<&str> = read
        .operands
        .iter()
        .filter_map(Value::text)
        .filter(|word| !matches!(*word, "run-all" | "run" | "stack" | "--"))
        .collect();
    let said = format!("{} {}", call.name, words.join(" "));
    let act = match words.as_slice() {
        ["destroy", ..] => destroys(said),
        // A plan somebody has seen is applied as it is.
        ["apply", rest @ ..] => {
            if read.has("destroy replace") || read.has("auto-approve") && rest.is_empty() {
                destroys(said)
            } else {
                changes(said)
            }
        }
        ["state", "rm" | "push" | "replace-provider" | "mv", ..]
        | ["workspace", "delete", ..]
        | ["force-unlock" | "taint", ..] => destroys(said),
        ["output", ..] if read.has("raw json") && words.len() > 1 => Act::Compute,
        ["state", "pull", ..] => Act::Reveal { what: "the state of the infrastructure".to_owned() },
        ["login", ..] => Act::Compute,
        _ => Act::Compute,
    };
    Outcome::of([act])
}

/// `pulumi`, `cdk`, `vagrant`, virtual machines: a verb that takes away.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let words: Vec<&str> = call.words().filter(|word| !word.starts_with('-')).take(4).collect();
    let said = format!("{} {}", call.name, call.words().take(6).collect::<Vec<_>>().join(" "));
    let has = |wanted: &[&str]| words.iter().take(3).any(|word| wanted.contains(word));
    let loses = match call.name {
        "virsh" => has(&[
            "destroy",
            "undefine",
            "vol-delete",
            "pool-delete",
            "pool-destroy",
            "snapshot-delete",
            "net-destroy",
            "reset",
            "vol-wipe",
        ]),
        "VBoxManage" | "vboxmanage" => {
            has(&["unregistervm", "closemedium", "poweroff"])
                && (call.says(&["--delete", "poweroff"]) || has(&["poweroff"]))
                || has(&["snapshot"]) && has(&["delete"])
        }
        "qm" | "pct" => has(&["destroy", "rollback", "reset"]),
        "lxc-destroy" => true,
        "multipass" => has(&["delete", "purge"]),
        "packer" => false,
        "sls" | "serverless" | "amplify" | "sst" | "copilot" | "sam" => has(&["remove", "delete"]),
        "nomad" => {
            has(&["purge", "stop", "delete"]) && call.says(&["-purge", "purge", "delete"])
                || has(&["system"]) && has(&["gc"])
        }
        "pulumi" => {
            has(&["destroy"]) || has(&["rm"]) || has(&["cancel"]) || has(&["up"]) && call.says(&["--replace"])
        }
        "govc" => words
            .iter()
            .any(|word| word.ends_with(".destroy") || word.ends_with(".rm") || word.ends_with(".remove")),
        _ => has(&["delete", "destroy", "rm", "remove", "purge"]),
    };
    let opens = ["security.privileged=true", "security.nesting=true", "source=/", "raw.lxc"];
    if matches!(call.name, "lxc" | "incus")
        && (call.words().any(|word| opens.contains(&word))
            || call.says(&["security.privileged"]) && call.says(&["true"]))
    {
        return Outcome::of([Act::Privilege { how: "a privileged container".to_owned() }]);
    }
    let reveals = call.name == "pulumi" && call.says(&["--show-secrets"]);
    if reveals {
        let what = "secrets of a stack".to_owned();
        let output = Stream::data([Datum::Secret(what.clone())]);
        return Outcome::of([Act::Reveal { what }]).saying(output);
    }
    if call.name == "vagrant" && has(&["ssh"]) {
        let read = call.read(&Options::new("c:", "command="));
        if let Some(text) = read.value("c command") {
            return Outcome::default().then(call.shell_elsewhere(text.clone(), "a virtual machine"));
        }
    }
    if matches!(call.name, "lxc" | "incus" | "multipass" | "limactl") && has(&["exec", "shell"]) {
        let at = call.args.iter().position(|arg| arg.text() == Some("--"));
        let rest = match at {
            Some(at) => call.args.get(at + 1..).unwrap_or_default(),
            None => call.args.get(2..).unwrap_or_default(),
        };
        if !rest.is_empty() {
            return Outcome::default().then(call.elsewhere(rest.to_vec(), "a virtual machine"));
        }
    }
    if loses {
        return Outcome::of([destroys(said)])
            .rehearsed_if(is_rehearsal(call) || call.says(&["--preview-only"]));
    }
    let changing = has(&["up", "deploy", "apply", "create", "launch", "start"]);
    if changing { Outcome::of([changes(said)]) } else { Outcome::harmless() }
}

/// `ansible` and others that tell many machines at once.
pub(in super::super) fn ansible(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let read = call.read(&Options::new(
        "m:a:i:u:l:t:e:f:M:B:P:C:",
        "module-name= args= inventory= user= limit= tags= skip-tags= extra-vars= forks= private-key= become-user= \
         vault-password-file= check diff syntax-check list-hosts list-tasks list-tags become",
    ));
    if read.has("syntax-check list-hosts list-tasks list-tags") {
        return Outcome::harmless();
    }
    let check = read.has("C check") || call.says(&["--check", "-C", "--noop", "test=True"]);
    let hosts = read.operands.first().cloned().unwrap_or_default();
    let mut outcome = Outcome::default();
    match call.name {
        "ansible" => {
            let module = read.value("m module-name").and_then(Value::text).unwrap_or("command");
            let module = module.rsplit('.').next().unwrap_or(module);
            if matches!(module, "command" | "shell" | "raw" | "script") {
                if let Some(line) = read.value("a args") {
                    let is_here = matches!(hosts.text(), Some("localhost" | "127.0.0.1"))
                        || call.says(&["local", "--connection=local"]);
                    if !is_here {
                        outcome.push(call.network(Traffic::Remote, &hosts, Vec::new()));
                    }
                    outcome.next.push(if is_here {
                        call.shell(line.clone())
                    } else {
                        call.shell_elsewhere(line.clone(), "other machines")
                    });
                }
            } else if !matches!(module, "ping" | "setup" | "debug" | "stat" | "gather_facts") {
                outcome.push(call.network(Traffic::Remote, &hosts, Vec::new()));
            }
        }
        "salt-call" | "fab" => {
            let at = call.words().position(|word| matches!(word, "cmd.run" | "cmd.shell" | "--"));
            match at.and_then(|at| call.args.get(at + 1..)).filter(|line| !line.is_empty()) {
                Some(line) => outcome.next.push(call.shell(super::super::call::joined(line))),
                None => outcome.push(Act::Run { code: Code::Project, with: call.name.to_owned() }),
            }
        }
        "salt" | "salt-ssh"
            if call.says(&["cmd.run", "cmd.shell", "system.reboot", "state.apply", "system.shutdown"]) =>
        {
            outcome.push(call.network(Traffic::Remote, &hosts, Vec::new()));
        }
        _ => {
            for book in &read.operands {
                outcome.push(Act::Look { path: call.path(book) });
            }
            let taking = call.words().any(|word| {
                ["destroy", "teardown", "wipe", "purge", "decommission"]
                    .iter()
                    .any(|name| word.contains(name))
            });
            if taking && call.name != "fab" {
                outcome.push(destroys(format!(
                    "{} {}",
                    call.name,
                    call.words().collect::<Vec<_>>().join(" ")
                )));
            }
        }
    }
    super::or_harmless(outcome).rehearsed_if(check)
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn plans_are_told_from_deeds() {
        check(&[
            ("terraform plan -destroy", "compute"),
            ("terraform -chdir=prod destroy", "infra! terraform destroy"),
            ("terraform apply -auto-approve", "infra! terraform apply"),
            ("terraform apply plan.bin", "infra terraform apply plan.bin"),
            ("terragrunt run-all destroy", "infra! terragrunt destroy"),
            ("terraform state list", "compute"),
            ("pulumi preview", "compute"),
            ("pulumi destroy --yes", "infra! pulumi destroy --yes"),
            ("vagrant destroy -f", "infra! vagrant destroy -f"),
            ("vagrant status", "compute"),
            ("ansible all -m ping", "compute"),
            ("ansible all -m shell -a 'rm -rf /x'", "remote all; $ @other machines rm -rf /x"),
            ("ansible-playbook site.yml --check", "~look /home/dev/project/site.yml"),
        ]);
    }
}
