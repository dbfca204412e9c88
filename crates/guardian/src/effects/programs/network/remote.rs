//! Commands on other machines, and the keys to them.
//!
//! Owns: `ssh` and what it is told to run. Another machine is judged like this one outside the workspace: nothing here holds what is
//! done there. Refuses: copies; they are beside.

use super::super::call::{Call, joined};
use super::super::options::{Options, split};
use super::host;
use crate::effects::act::{Act, Change, Traffic};
use crate::effects::invocation::{Next, Outcome, Stream};
use crate::shell::value::Value;

const SSH: Options = Options::new(
    "b:c:D:E:e:F:I:i:J:L:l:m:O:o:p:P:Q:R:S:W:w:B:M:",
    "ssh= predict= family= port= bind-server= server= local no-init",
);

/// `ssh`.
pub(in super::super) fn ssh(call: &Call<'_>) -> Outcome {
    let read = call.read(&SSH.stops());
    let mut outcome = Outcome::default();
    for line in read.values("o") {
        settings(call, line, &mut outcome);
    }
    for log in read.values("E") {
        outcome.push(call.writes(log, Change::Append));
    }
    for line in read.values("ssh") {
        outcome.next.push(call.shell(line.clone()));
    }
    let Some((to, rest)) = read.operands.split_first() else {
        if outcome.acts.is_empty() && outcome.next.is_empty() {
            outcome.push(Act::Compute);
        }
        return outcome;
    };
    // Options may stand behind the host too.
    let more = SSH.stops().read(rest);
    for line in more.values("o") {
        settings(call, line, &mut outcome);
    }
    let has = |names: &str| read.has(names) || more.has(names);
    if has("R") {
        outcome.push(call.network(Traffic::Listen, to, Vec::new()));
    }
    let mut data = call.input_data();
    data.extend(call.invocation.flows.iter().cloned());
    let command = more.operands.as_slice();
    let text = to.text().unwrap_or_default();
    let is_forge = text.starts_with("git@")
        || ["github.com", "gitlab.com", "bitbucket.org"].contains(&host(text).as_str());
    if command.is_empty() {
        let talks = has("N f T V Q G O L W D") || is_forge || call.invocation.input != Stream::default();
        let traffic = match (talks, data.is_empty()) {
            (true, true) => Traffic::Fetch,
            (true, false) => Traffic::Send,
            (false, _) => Traffic::Remote,
        };
        outcome.push(call.network(traffic, to, data.clone()));
        // A shell there reads what is typed here.
        if !is_forge && call.invocation.input != Stream::default() && !has("N T f W L D") {
            outcome.next.push(there(call, &[Value::known("sh")]));
        }
        return outcome;
    }
    let traffic = if data.is_empty() { Traffic::Fetch } else { Traffic::Send };
    outcome.push(call.network(traffic, to, data));
    outcome.then(Next::Shell {
        text: joined(command),
        arguments: Vec::new(),
        input: call.invocation.input.clone(),
        cwd: home(call),
        elsewhere: None,
    })
}

fn there(call: &Call<'_>, argv: &[Value]) -> Next {
    let mut next = call.next(argv.to_vec());
    if let Next::Program { invocation, .. } = &mut next {
        invocation.cwd = home(call);
    }
    next
}

fn home(call: &Call<'_>) -> Value {
    Value::known(call.context.home.clone())
}

/// Settings that run something here.
fn settings(call: &Call<'_>, line: &Value, outcome: &mut Outcome) {
    let given = split(line, b'=').or_else(|| split(line, b' '));
    let Some((name, value)) = given else { return };
    match name.trim().to_ascii_lowercase().as_str() {
        "proxycommand" | "localcommand" | "knownhostscommand" | "match" if value.text() != Some("none") => {
            outcome.next.push(call.shell(value));
        }
        "remoteforward" => outcome.push(call.network(Traffic::Listen, &value, Vec::new())),
        _ => {}
    }
}

/// Several machines at once.
pub(in super::super) fn many(call: &Call<'_>) -> Outcome {
    if call.is_asked() {
        return Outcome::harmless();
    }
    let read = call.read(&Options::new("h:H:l:p:o:e:t:w:g:f:x:c:u:", "hosts= host= user= par=").stops());
    let to = read.value("h H hosts host w g").cloned().unwrap_or_else(|| Value::known("several machines"));
    let mut outcome = Outcome::of([call.network(Traffic::Remote, &to, call.input_data())]);
    if !read.operands.is_empty() {
        outcome.next.push(call.shell(joined(&read.operands)));
    }
    outcome
}

/// `ssh-keygen`, `ssh-add`, `ssh-agent`, `ssh-copy-id`.
pub(in super::super) fn keys(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("a:b:C:D:E:F:f:G:I:i:J:K:M:m:N:n:O:P:p:r:R:s:S:T:t:V:w:W:Y:z:", ""));
    match call.name {
        "ssh-agent" => {
            let text = "SSH_AUTH_SOCK=/tmp/ssh-agent; export SSH_AUTH_SOCK;\n";
            let outcome = Outcome::harmless().saying(Stream::text(Value::known(text)));
            let program = Options::new("a:E:O:P:t:", "").stops().read(call.args).operands;
            if program.is_empty() { outcome } else { Outcome::default().then(call.next(program)) }
        }
        "ssh-add" | "ssh-keyscan" => Outcome::harmless(),
        "ssh-copy-id" => {
            if call.is_asked() || call.args.is_empty() {
                return Outcome::harmless();
            }
            let to = read.operands.last().cloned().unwrap_or_default();
            let how = "ssh-copy-id: a key that lets others in".to_owned();
            Outcome::of([Act::Persist { how }, call.network(Traffic::Send, &to, Vec::new())])
        }
        _ => keygen(call),
    }
}

fn keygen(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("a:b:C:D:F:f:G:I:J:K:M:m:N:n:O:P:r:R:s:S:t:V:w:W:Y:z:", ""));
    let file = read.value("f").cloned().unwrap_or_else(|| call.at_home(".ssh/id_ed25519"));
    if call.is_asked() || read.has("F l B Q") {
        return Outcome::harmless();
    }
    if read.has("R") {
        let hosts = read.value("f").cloned().unwrap_or_else(|| Value::known("/tmp/known_hosts"));
        return Outcome::of([call.writes(&hosts, Change::Edit)]);
    }
    if read.has("y e Y") {
        return Outcome::of([call.reads(&file)]);
    }
    if read.has("p c") {
        return Outcome::of([call.writes(&file, Change::Edit)]);
    }
    Outcome::of([call.writes(&file, Change::Make)])
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{check, given, shown};
    use super::*;

    #[test]
    fn commands_there_are_seen_here() {
        check(&[
            ("ssh web1 'rm -rf /var/www'", "fetch web1; $ rm -rf /var/www"),
            ("ssh -p 22 -i key dev@web1 uptime", "fetch dev@web1; $ uptime"),
            ("ssh -T git@github.com", "fetch git@github.com"),
            ("ssh root@localhost", "remote root@localhost"),
            ("ssh -R 2222:localhost:22 x.org -N", "listen x.org; fetch x.org"),
            ("ssh -o ProxyCommand='rm -rf /' x", "remote x; $ rm -rf /"),
            ("ssh -V", "compute"),
            ("ssh -fNL 5432:db:5432 bastion", "fetch bastion"),
            ("ssh-keygen -lf ~/.ssh/id.pub", "compute"),
            ("ssh-keygen -t ed25519 -f ./deploy", "write:Make /home/dev/project/deploy"),
            ("ssh-copy-id x@y", "persist ssh-copy-id: a key that lets others in; send x@y"),
        ]);
        let text = Stream::text(Value::known("rm -rf /"));
        assert_eq!(shown(&given("ssh web1", text)), "send web1 <text rm -rf />; > sh");
    }
}
