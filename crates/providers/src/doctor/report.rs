//! Everything found, put together: the checks, the providers, one verdict.

use std::{collections::BTreeMap, path::Path};

use belljar_domain::{Isolation, SandboxId, SandboxSpec};
use belljar_jail::{Signs, probe::Prober};
use belljar_ports::Level;
use serde::Serialize;

use super::{
    check::{Check, Status, Weight},
    disk,
    distribution::Distribution,
    groups, host, kernel, tools, trial,
};
use crate::process::{HostFacts, ProcessProvider};

/// What follows from everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Sandboxes run and every promise holds.
    Ready,
    /// Sandboxes run, with less than they could have.
    Degraded,
    /// No sandbox runs.
    Unable,
}

/// Where this was found.
#[derive(Debug, Clone, Serialize)]
pub struct Host {
    /// The distribution's name.
    pub distribution: String,
    /// The kernel's version.
    pub kernel: String,
    /// The processor's kind.
    pub machine: String,
    /// Who asked.
    pub user: String,
    /// See `user`.
    pub uid: u32,
}

/// One provider on this host.
#[derive(Debug, Clone, Serialize)]
pub struct Provider {
    /// As in `--provider`.
    pub name: &'static str,
    /// What stands between its sandboxes and the host.
    pub isolation: Isolation,
    /// Whether sandboxes can be made with it here and now.
    pub usable: bool,
    /// Whether it is the one used when none is named.
    pub default: bool,
    /// Why it is or is not.
    pub why: String,
    /// Which promises its sandboxes keep here, and by what.
    pub levels: Vec<Level>,
}

/// Everything found.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// What follows.
    pub verdict: Verdict,
    /// The same as one sentence.
    pub summary: String,
    /// Where.
    pub host: Host,
    /// Every check.
    pub checks: Vec<Check>,
    /// Every provider.
    pub providers: Vec<Provider>,
}

/// Looks at this host as the calling user. `home` is `$BELLJAR_HOME`; `id` names the sandbox made for proof.
#[must_use]
pub fn examine(home: &Path, env: &BTreeMap<String, String>, id: SandboxId) -> Report {
    let (prober, distribution) = (Prober::this_program(), Distribution::read());
    let opened = ProcessProvider::open(home, env.clone());
    let facts =
        opened.as_ref().map_or_else(|_| HostFacts::gather(env.clone()), |opened| opened.facts().clone());
    let mut checks = kernel::checks(&prober, facts.root);
    let works = checks.iter().any(|check| check.name == "user-namespace" && check.status == Status::Ok);
    checks.extend(host::checks(&Signs::read(), works));
    checks.extend(groups::checks(&prober, &facts.cgroups, facts.uid));
    checks.extend(disk::checks(home, facts.disk, facts.root, &distribution));
    checks.extend(tools::checks(&prober, env, facts.uid, &distribution));
    checks.push(trial::check(&opened, id));
    let levels = opened.map(|opened| opened.levels(&SandboxSpec::default())).unwrap_or_default();
    let (verdict, summary) = judge(&checks, &levels);
    let uname = rustix::system::uname();
    let host = Host {
        distribution: distribution.name,
        kernel: uname.release().to_string_lossy().into_owned(),
        machine: uname.machine().to_string_lossy().into_owned(),
        user: facts.user,
        uid: facts.uid,
    };
    let levels = if verdict == Verdict::Unable { Vec::new() } else { levels };
    let providers = providers(&checks, levels, verdict, env.contains_key("E2B_API_KEY"));
    Report { verdict, summary, host, checks, providers }
}

fn judge(checks: &[Check], levels: &[Level]) -> (Verdict, String) {
    let broken = |check: &&Check| check.weight == Weight::Needed && check.status == Status::Missing;
    let missing: Vec<_> = checks.iter().filter(broken).map(|check| check.name).collect();
    if missing.contains(&"sandbox") {
        let summary = match missing.as_slice() {
            [_only] => "No sandbox can run here; what it failed at is above.".to_owned(),
            [causes @ .., _sandbox] => {
                format!("No sandbox can run here: {}; see the remedies above.", causes.join(", "))
            }
            [] => String::new(),
        };
        return (Verdict::Unable, summary);
    }
    let open: Vec<_> =
        levels.iter().filter(|level| !level.enforced).map(|level| level.promise.as_str()).collect();
    if !open.is_empty() {
        let summary =
            format!("Sandboxes run here, but not enforced: {}; see the remedies above.", open.join(", "));
        return (Verdict::Degraded, summary);
    }
    let bad = |check: &&Check| check.weight != Weight::Optional && check.status != Status::Ok;
    let names: Vec<_> = checks.iter().filter(bad).map(|check| check.name).collect();
    if names.is_empty() {
        return (Verdict::Ready, "Sandboxes run here with every promise enforced.".to_owned());
    }
    let summary =
        format!("Sandboxes run here with every promise enforced; to improve: {}.", names.join(", "));
    (Verdict::Degraded, summary)
}

fn providers(checks: &[Check], levels: Vec<Level>, verdict: Verdict, e2b_key: bool) -> Vec<Provider> {
    let usable = verdict != Verdict::Unable;
    let process = Provider {
        name: "process",
        isolation: Isolation::Namespaces,
        usable,
        default: true,
        why: match usable {
            true => "used: needs nothing installed; its sandbox ran just now".to_owned(),
            false => "would be used, but its sandbox failed; see above".to_owned(),
        },
        levels,
    };
    let later = |name, isolation, present: String| {
        let why = format!("not in this version; {present}");
        Provider { name, isolation, usable: false, default: false, why, levels: Vec::new() }
    };
    let found = |name: &str| {
        let check = checks.iter().find(|check| check.name == name);
        check.map(|check| check.found.clone()).unwrap_or_default()
    };
    let key = if e2b_key { "E2B_API_KEY is set" } else { "E2B_API_KEY is not set" };
    vec![
        process,
        later("docker", Isolation::Container, found("docker")),
        later("gvisor", Isolation::Gvisor, found("runsc")),
        later("e2b", Isolation::Vm, key.to_owned()),
    ]
}
