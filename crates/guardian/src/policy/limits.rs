//! What a policy's lists say: directories that are given or kept, hosts and packages that are allowed.

use belljar_domain::{Risk, Verdict};

use super::{
    Access, Policy, Scene,
    certainty::Certainty,
    findings::{Fate, Finding},
    matching::{Site, host, is_worded, shown},
    place::Area,
    settings::Acl,
    target::Target,
};
use crate::effects::{Act, Effect, Effort};
use crate::shell::value::Value;

/// Notes what the lists say of effects.
pub(super) fn check(
    policy: &Policy,
    effects: &[Effect],
    scene: &Scene,
    site: &Site<'_>,
    findings: &mut Vec<Finding>,
) {
    for (place, effect) in effects.iter().enumerate().filter(|(_, effect)| effect.effort == Effort::Done) {
        if let Some(acl) = refusing(policy, &effect.act, scene, site) {
            let reason = format!("`{}` is given with `access = \"{}\"`.", acl.path, word(acl.access));
            findings.push(finding(format!("acl {}", acl.path), Verdict::Deny, place, reason));
        }
        if let (Some(list), Act::Network { to, .. }) = (&policy.egress, &effect.act)
            && !is_listed(&list.allowed, to)
        {
            let reason = "Only the hosts of `[egress]` are allowed.".to_owned();
            findings.push(finding("egress".to_owned(), Verdict::Ask, place, reason));
        }
        if let (Some(list), Act::Package { names, operation, .. }) = (&policy.packages, &effect.act)
            && operation.as_str() != "remove"
            && let Some(name) =
                names.iter().find(|name| !is_worded(&list.allowed, name) || list.allowed.is_empty())
        {
            let reason = format!("The package `{name}` is not among those `[packages]` allows.");
            findings.push(finding("packages".to_owned(), Verdict::Ask, place, reason));
        }
    }
}

fn is_listed(allowed: &[String], to: &Value) -> bool {
    !allowed.is_empty() && to.why().is_none() && is_worded(allowed, &host(&shown(to)))
}

fn finding(rule: String, verdict: Verdict, effect: usize, reason: String) -> Finding {
    Finding {
        rule,
        pack: None,
        verdict,
        risk: Risk::High,
        certainty: Certainty::Certain,
        effect: Some(effect),
        reason: Some(reason),
        instead: None,
        contained: None,
        tags: Vec::new(),
        fate: Fate::Counts,
    }
}

/// The list's entry that refuses an act: of those about its path the one that names most of it speaks.
fn refusing<'p>(policy: &'p Policy, act: &Act, scene: &Scene, site: &Site<'_>) -> Option<&'p Acl> {
    let (path, needed) = match act {
        Act::Read { path, .. } | Act::Look { path } => (path, Access::Read),
        Act::Write { path, .. } | Act::Delete { path, .. } | Act::Permit { path, .. } => {
            (path, Access::Write)
        }
        _ => return None,
    };
    let target = Target::of(path);
    let about = policy.acl.iter().filter(|acl| acl.is_for(scene.agent.as_deref())).filter(|acl| {
        Area::parse([acl.pattern().as_str()]).touches(&target, &site.grounds) == Certainty::Certain
    });
    about.max_by_key(|acl| acl.path.trim_end_matches('/').len()).filter(|acl| acl.access < needed)
}

const fn word(access: Access) -> &'static str {
    match access {
        Access::None => "none",
        Access::Read => "read",
        Access::Write => "write",
    }
}
