//! What code fetches and sends.

use super::super::network::{door, is_local};
use super::verb::Verb;
use super::walk::{Args, Walk};
use super::worth::{Kind, Worth};
use crate::effects::act::{Act, Datum, Traffic};

impl Walk<'_> {
    pub(super) fn network(&mut self, verb: Verb, name: &str, args: &Args) -> Worth {
        let why = |what: &str| self.why(what);
        let url = args.either(0, &["url", "host", "hostname", "uri"]);
        let url = match &url.kind {
            // A host and a port, or a table that names them.
            Kind::List(all) => all.first().cloned().unwrap_or_default().with(&url.data),
            Kind::Table(_) => ["host", "hostname", "url", "uri"]
                .iter()
                .find_map(|key| url.field(key))
                .unwrap_or_default()
                .with(&url.flows()),
            _ => url,
        };
        let to = url.as_text(&why);
        let socket = args.named(&["socketPath", "path", "uds"]).or_else(|| {
            args.all.iter().find_map(|arg| ["socketPath", "path"].iter().find_map(|key| arg.field(key)))
        });
        let places = [Some(to.clone()), socket.map(|socket| socket.as_text(&why))];
        let doors: Vec<Act> = places.iter().flatten().filter_map(door).collect();
        doors.into_iter().for_each(|act| self.push(act));
        let mut data: Vec<Datum> = url.data.clone();
        for sent in args.all.iter().skip(1).chain(args.named.iter().map(|(_, value)| value)) {
            data.extend(sent.flows());
            if let Kind::Text(text) = &sent.kind
                && text.bytes().is_some_and(|bytes| bytes.len() > 3)
            {
                data.push(Datum::Text(text.clone()));
            }
        }
        data.retain(|datum| !matches!(datum, Datum::Download(_)));
        let method = args.named(&["method"]).or_else(|| args.all.iter().find_map(|arg| arg.field("method")));
        let writes = method.as_ref().and_then(Worth::str).is_some_and(|method| {
            !matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
        });
        match verb {
            Verb::Transmit => {
                // The receiver is first, what is sent behind it.
                let Some(to) = self.connected.clone().or_else(|| {
                    url.data.iter().find_map(|datum| match datum {
                        Datum::Download(from) => Some(from.clone()),
                        _ => None,
                    })
                }) else {
                    return Worth::default().with(&data);
                };
                self.push(Act::Network { traffic: Traffic::Send, to, data });
                Worth::default()
            }
            Verb::Connect => {
                self.connected = Some(to.clone());
                let is_row =
                    (self.loops > 0 || self.rows > 0) && !is_local(&to) && args.all.iter().any(is_turned);
                self.push(Act::Network {
                    traffic: match (is_row, data.is_empty()) {
                        (true, _) => Traffic::Scan,
                        (_, true) => Traffic::Fetch,
                        _ => Traffic::Send,
                    },
                    to: to.clone(),
                    data,
                });
                Worth::name(format!("{name}()")).with(&[Datum::Download(to)])
            }
            _ => {
                let sends =
                    verb == Verb::Send || writes || data.iter().any(|datum| !matches!(datum, Datum::Text(_)));
                let traffic = if sends { Traffic::Send } else { Traffic::Fetch };
                self.push(Act::Network {
                    traffic,
                    to: to.clone(),
                    data: if sends { data } else { Vec::new() },
                });
                Worth::name(format!("{name}()")).with(&[Datum::Download(to)])
            }
        }
    }
}

/// Whether a host or a port is another one at every turn, for all that is known.
fn is_turned(arg: &Worth) -> bool {
    match &arg.kind {
        Kind::List(parts) => parts.iter().any(is_turned),
        Kind::Table(fields) => {
            fields.iter().any(|(name, value)| matches!(name.as_str(), "host" | "port") && is_turned(value))
        }
        Kind::Text(text) => text.bytes().is_none(),
        Kind::Name(name) => name.ends_with(')') || name.ends_with(']'),
        Kind::Any(all) => all.iter().all(|one| !matches!(one.kind, Kind::Function(_))),
        _ => false,
    }
}
