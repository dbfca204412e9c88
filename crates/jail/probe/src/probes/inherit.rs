//! What was handed down: no open descriptor but the standard three, no secret in the environment.

use std::fs;

use super::Probe;
use crate::context::{Context, Secret};
use crate::report::{Attempt, Verdict};

pub(super) const PROBES: &[Probe] = &[
    Probe::new("38-inherited-fds", "no descriptor of the host is inherited", list_descriptors),
    Probe::new("39-env-secrets", "no secret is inherited in the environment", search_environment),
];

/// A directory left open is a way out of any root (CVE-2024-21626).
fn list_descriptors(context: &Context) -> Verdict {
    let mut attempts = Vec::new();
    for fd in &context.inherited {
        let target = fs::read_link(format!("/proc/self/fd/{fd}")).unwrap_or_default();
        attempts.push(Attempt::through(format!("descriptor {fd} is {}", target.display())));
    }
    for fd in 0..3 {
        let is_dir = fs::metadata(format!("/proc/self/fd/{fd}")).is_ok_and(|metadata| metadata.is_dir());
        attempts.push(match is_dir {
            true => Attempt::through(format!("descriptor {fd} is a directory")),
            false => Attempt::stopped(format!("descriptor {fd} is no directory")),
        });
    }
    Verdict::of(attempts)
}

fn search_environment(context: &Context) -> Verdict {
    let secret = context.secret(Secret::Environment);
    let mut attempts = Vec::new();
    for (name, value) in std::env::vars_os() {
        let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
        if value.contains(&secret) || name == context.env_secret.as_str() {
            attempts.push(Attempt::through(format!("{name} holds the secret")));
        }
    }
    if attempts.is_empty() {
        attempts.push(Attempt::stopped(format!("{} variables, no secret", std::env::vars_os().count())));
    }
    Verdict::of(attempts)
}
