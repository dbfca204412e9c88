//! Lint: what in a policy is right and yet cannot be meant.
//!
//! Owns: rules that never speak, rules that say what is said already, and settings without effect. Refuses: what
//! [`Policy::check`] refuses; that is wrong and not only strange.

use std::collections::BTreeSet;

use belljar_domain::Verdict;

use super::{Policy, rule::Rule, words::Switch};

impl Policy {
    /// What cannot be meant, in words that name the rule or setting.
    #[must_use]
    pub fn lint(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let mut names = BTreeSet::new();
        for (place, rule) in self.rules.iter().enumerate() {
            let earlier = self.rules.get(..place).unwrap_or_default();
            notes.extend(
                of_rule(rule, earlier).into_iter().map(|note| format!("rule `{}` {note}", rule.name)),
            );
            if !names.insert(rule.name.as_str()) {
                notes.push(format!("two rules are called `{}`; rulings cannot tell them apart", rule.name));
            }
        }
        notes.extend(self.of_overrides());
        notes.extend(self.of_acls());
        notes
    }

    fn of_overrides(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for (name, instead) in &self.overrides {
            let shipped = Self::packs().iter().find_map(|pack| {
                pack.rules.iter().find(|rule| rule.name == *name).map(|rule| (pack.name, rule))
            });
            let Some((pack, rule)) = shipped else { continue };
            if instead.verdict() == Some(rule.verdict) {
                notes.push(format!("`[override] {name}` says what the rule says anyway"));
            }
            if self.packs.get(pack) == Some(&Switch::Off) {
                notes.push(format!("`[override] {name}` has no effect: its pack `{pack}` is off"));
            }
        }
        notes
    }

    fn of_acls(&self) -> Vec<String> {
        let holds = |outer: &str, inner: &str| {
            inner.strip_prefix(outer.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
        };
        let mut notes = Vec::new();
        for acl in &self.acl {
            let around =
                self.acl.iter().filter(|other| holds(&other.path, &acl.path) && other.agent == acl.agent);
            let nearest = around.max_by_key(|other| other.path.len());
            if let Some(nearest) = nearest.filter(|nearest| nearest.access == acl.access) {
                notes.push(format!("`[[acl]] {}` says what `{}` says anyway", acl.path, nearest.path));
            }
        }
        notes
    }
}

fn of_rule(rule: &Rule, earlier: &[Rule]) -> Vec<String> {
    let mut notes = Vec::new();
    let is_same = |other: &&Rule| other.effect == rule.effect && covers(&other.patterns, &rule.patterns);
    if let Some(other) = earlier.iter().filter(is_same).find(|other| other.verdict >= rule.verdict) {
        notes.push(format!("never speaks: `{}` comes first, matches the same and is as strict", other.name));
    }
    if rule.examples.is_empty() {
        notes.push("has no examples; with some, a change that breaks it is noticed at load".to_owned());
    }
    if rule.perhaps.is_some_and(|perhaps| perhaps > rule.verdict) {
        notes.push("is stricter about what it cannot rule out than about what is certain".to_owned());
    }
    if rule.perhaps.is_some() && rule.effect.is_empty() {
        notes.push("says `perhaps`, but calls it names by `match` are always certain".to_owned());
    }
    for condition in &rule.effect {
        if let Some(place) = condition.within.iter().find(|place| condition.outside.contains(place)) {
            notes.push(format!("never matches: nothing is both within and outside `{place}`"));
        }
    }
    for name in &rule.despite {
        let shipped =
            Policy::packs().iter().flat_map(|pack| &pack.rules).find(|shipped| shipped.name == *name);
        match shipped.map(|shipped| shipped.verdict) {
            None => notes.push(format!("stands against `{name}`, which is no shipped rule")),
            Some(Verdict::Deny) => {}
            Some(_) => {
                notes.push(format!("need not name `{name}`: that rule only asks, and allowing is enough"));
            }
        }
    }
    if Policy::packs().iter().any(|pack| pack.rules.iter().any(|shipped| shipped.name == rule.name)) {
        notes.push("has the name of a shipped rule and does not replace it; use `[override]`".to_owned());
    }
    notes
}

/// Says whether these patterns match all that those do, as far as their text tells.
fn covers(these: &[String], those: &[String]) -> bool {
    let one = |text: &String| {
        these.iter().any(|wide| {
            let prefix = wide.strip_suffix(":*)").filter(|prefix| text.starts_with(*prefix));
            wide == text || text.split('(').next() == Some(wide.as_str()) || prefix.is_some()
        })
    };
    these.is_empty() == those.is_empty() && those.iter().all(one)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes(text: &str) -> String {
        toml::from_str::<Policy>(text).unwrap().lint().join("\n")
    }

    #[test]
    fn what_never_speaks_is_named() {
        let rule = |name: &str, pattern: &str, verdict: &str| {
            format!(
                "[[rule]]\nname = \"{name}\"\nmatch = \"{pattern}\"\nverdict = \"{verdict}\"\nexamples = {{ match = [] }}\n"
            )
        };
        let push = rule("push", "Bash(git push:*)", "deny");
        let later = rule("main", "Bash(git push origin:*)", "ask");
        assert!(notes(&format!("{push}{later}")).contains("`main` never speaks: `push`"));
        assert!(!notes(&format!("{later}{push}")).contains("never speaks"));
        assert!(notes(&format!("{push}{push}")).contains("two rules are called `push`"));
    }

    #[test]
    fn settings_without_effect_are_named() {
        assert!(notes("override = { delete-outside = \"deny\" }").contains("says anyway"));
        assert!(notes("packs = { git = \"off\" }\noverride = { git-loses = \"deny\" }").contains("is off"));
        let acl = "[[acl]]\npath = \"/a\"\naccess = \"read\"\n[[acl]]\npath = \"/a/b\"\naccess = \"read\"";
        assert!(notes(acl).contains("`[[acl]] /a/b` says what `/a` says anyway"));
        let within = "[[rule]]\nname = \"x\"\neffect = { kind = \"read\", within = \"home\", outside = \"home\" }\nverdict = \"ask\"";
        assert!(notes(within).contains("never matches"));
    }
}
