//! Programs that run others with other rights: `sudo`, `su`, `doas`, `pkexec`.

use super::call::Call;
use super::options::{Options, split};
use crate::effects::act::{Act, Change};
use crate::effects::invocation::{Next, Outcome, Stream};
use crate::shell::value::Value;

/// `sudo` and its kin.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let mut outcome = Outcome::of([Act::Privilege { how: call.name.to_owned() }]);
    match call.name {
        "su" | "runuser" => su(call, outcome),
        "sg" | "newgrp" => {
            if let Some(line) = call.args.last().filter(|_| call.args.len() > 1) {
                outcome.next.push(call.shell(line.clone()));
            }
            outcome
        }
        "gosu" | "su-exec" => {
            let rest = call.args.get(1..).unwrap_or_default();
            started(call, outcome, rest.to_vec())
        }
        "visudo" | "sudoedit" => {
            let read = call.read(&Options::new("f:u:g:", "file="));
            if read.has("c check") {
                return Outcome::of([Act::Look { path: Value::known("/etc/sudoers") }]);
            }
            let default = vec![Value::known("/etc/sudoers")];
            let files = if read.operands.is_empty() { default } else { read.operands };
            for file in &files {
                outcome.push(call.writes(file, Change::Edit));
            }
            outcome
        }
        _ => sudo(call, outcome),
    }
}

fn sudo(call: &Call<'_>, mut outcome: Outcome) -> Outcome {
    let options = Options::new(
        "u:g:h:p:C:r:t:T:U:D:R:a:",
        "user= group= host= prompt= close-from= role= type= command-timeout= other-user= chdir= chroot= auth-type= \
         preserve-env? login shell non-interactive stdin background edit list validate reset-timestamp \
         remove-timestamp set-home askpass disable-internal-agent disable-gui unit= property= description= slice= \
         setenv= working-directory=",
    )
    .stops();
    let read = call.read(&options);
    let mut argv = read.operands.clone();
    let mut invocation = call.invocation.clone();
    if call.name == "sudo" && read.has("e edit") {
        for file in &argv {
            outcome.push(call.writes(file, Change::Edit));
        }
        return outcome;
    }
    if read.has("l list v validate k reset-timestamp K remove-timestamp V version h help") && argv.is_empty()
    {
        // Asking what one may do uses nothing.
        return if read.has("l list V version h help k K") { Outcome::harmless() } else { outcome };
    }
    while let Some((name, value)) =
        argv.first().and_then(|arg| split(arg, b'=')).filter(|(name, _)| !name.contains('/'))
    {
        invocation.environment.push((name.into_bytes(), value));
        argv.remove(0);
    }
    if let Some(directory) = read.value("D chdir") {
        invocation.cwd = call.path(directory);
    }
    if argv.is_empty() {
        // A shell, and what it reads.
        argv.push(Value::known("sh"));
        if !read.has("i s login shell") && call.name == "sudo" && call.invocation.more.is_none() {
            return outcome;
        }
    }
    invocation.argv = argv;
    outcome.then(Next::Program { invocation, elsewhere: None })
}

fn started(call: &Call<'_>, outcome: Outcome, mut argv: Vec<Value>) -> Outcome {
    if argv.is_empty() {
        argv.push(Value::known("sh"));
    }
    outcome.then(call.next(argv))
}

fn su(call: &Call<'_>, outcome: Outcome) -> Outcome {
    let read = call.read(&Options::new(
        "c:g:G:s:u:w:",
        "command= session-command= group= supp-group= shell= user= whitelist-environment= login preserve-environment fast",
    ));
    if let Some(text) = read.value("c command session-command") {
        return outcome.then(call.shell(text.clone()));
    }
    // `runuser -u name -- program`.
    if call.name == "runuser" && read.has("u user") && !read.operands.is_empty() {
        return outcome.then(call.next(read.operands.clone()));
    }
    let input = call.invocation.input.clone();
    if input == Stream::default() {
        return outcome;
    }
    started(call, outcome, Vec::new())
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;

    #[test]
    fn other_rights_are_seen_and_seen_through() {
        check(&[
            ("sudo rm -rf /", "privilege sudo; > rm -rf /"),
            ("sudo -u root -H -- rm x", "privilege sudo; > rm x"),
            ("sudo -E A=1 rm x", "privilege sudo; > rm x"),
            ("sudo --user=x rm", "privilege sudo; > rm"),
            ("sudo -i", "privilege sudo; > sh"),
            ("sudo -l", "compute"),
            ("sudo -e /etc/hosts", "privilege sudo; write:Edit /etc/hosts"),
            ("doas -u x rm y", "privilege doas; > rm y"),
            ("su - root -c 'rm -rf /'", "privilege su; $ rm -rf /"),
            ("su", "privilege su"),
            ("runuser -u x -- rm y", "privilege runuser; > rm y"),
            ("pkexec rm y", "privilege pkexec; > rm y"),
            ("visudo", "privilege visudo; write:Edit /etc/sudoers"),
        ]);
    }
}
