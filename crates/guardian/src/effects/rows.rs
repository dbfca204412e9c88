//! What only shows in many effects together: a row of hosts that are asked one after the other.
//!
//! Owns: pages of hosts that are numbers. Refuses: rows of connections in a shell's loop; the shell counts those itself.

use super::act::{Act, Effect, Effort, Traffic};
use crate::shell::value::Value;

/// Hosts before it is a scan.
const ROW: usize = 16;

/// Says that pages of many hosts that are only numbers are a scan.
pub(crate) fn rows(effects: &mut Vec<Effect>) {
    let mut hosts: Vec<String> = Vec::new();
    let mut last = None;
    for effect in effects.iter() {
        let Act::Network { traffic: Traffic::Fetch | Traffic::Send, to, .. } = &effect.act else { continue };
        let Some(host) = number(to) else { continue };
        if !hosts.contains(&host) {
            hosts.push(host);
            last = effect.span;
        }
    }
    if hosts.len() >= ROW {
        let to = Value::known(format!("{} hosts in a row", hosts.len()));
        let act = Act::Network { traffic: Traffic::Scan, to, data: Vec::new() };
        effects.push(Effect { act, by: "a loop".to_owned(), span: last, effort: Effort::Done });
    }
}

/// The host of a page where it is a number, as `10.0.0.5` is.
fn number(to: &Value) -> Option<String> {
    let text = std::str::from_utf8(to.prefix()).ok()?;
    let (scheme, rest) = text.split_once("://")?;
    let host = rest.split(['/', ':', '?']).next()?;
    let is_number = host.split('.').count() == 4
        && host.split('.').all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
    (is_number && scheme.starts_with("http") && !host.starts_with("127.")).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_hosts_is_a_scan_and_a_row_of_pages_is_not() {
        let fetched = |url: String| Effect {
            act: Act::Network { traffic: Traffic::Fetch, to: Value::known(url), data: Vec::new() },
            by: "curl".to_owned(),
            span: None,
            effort: Effort::Done,
        };
        let is_scan = |effects: &[Effect]| {
            effects.iter().any(|effect| matches!(effect.act, Act::Network { traffic: Traffic::Scan, .. }))
        };
        let mut hosts: Vec<Effect> = (1..20).map(|n| fetched(format!("http://10.0.0.{n}/"))).collect();
        let mut pages: Vec<Effect> = (1..20).map(|n| fetched(format!("http://10.0.0.1/{n}"))).collect();
        rows(&mut hosts);
        rows(&mut pages);
        assert!(is_scan(&hosts) && !is_scan(&pages));
    }
}
