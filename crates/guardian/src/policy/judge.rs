//! The ruling: what rules found, what was relaxed, what a sandbox holds in, and which finding speaks.
//!
//! The order, which docs/guardian.md tells users: every rule that matches is a finding; a rule of the user that allows
//! takes away a pack's `ask` on the effects it covers, and a `deny`, or what another rule of the user says, only if it
//! names that rule (`despite`); of what is left the strictest speaks, of equals the worse risk, of those the first, the
//! user's before the packs'.

use belljar_domain::{Risk, Ruling, Verdict};

use super::{
    Mode, Policy, Scene,
    call::Call,
    certainty::Certainty,
    commands,
    describe::described,
    findings::{Fate, Finding},
    limits,
    matching::Site,
    packs::shipped,
    pattern::Pattern,
    place::{Grounds, Places},
    rule::Rule,
    scene::Reach,
    words::{Boundary, Kind, Switch},
};
use crate::effects::tools::{Line, of_call};
use crate::effects::{Context, Effect, Effort, lead, rows};
use crate::shell::eval;
use crate::shell::value::Value;

/// Everything there is to say about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What it would do.
    pub effects: Vec<Effect>,
    /// What rules found, whether it counts or not.
    pub findings: Vec<Finding>,
    /// What follows; none when no rule speaks of it.
    pub ruling: Option<Ruling>,
}

impl Explanation {
    /// What the rules say of one effect: the strictest that counts, else one that was taken back; none where no rule
    /// speaks of it.
    #[must_use]
    pub fn of_effect(&self, place: usize) -> Option<&Finding> {
        let about = || self.findings.iter().filter(|finding| finding.effect == Some(place));
        worst(about().filter(|finding| finding.fate == Fate::Counts)).or_else(|| worst(about()))
    }
}

/// What a call would do.
pub(super) fn effects_of(call: &Call<'_>, context: &Context) -> Vec<Effect> {
    let outcome = of_call(call, context);
    let mut effects = outcome.effects;
    for line in outcome.commands {
        let (script, cwd) = match line {
            Line::Shell { text, cwd } => (text, cwd),
            Line::Program { argv, cwd } => (quoted(&argv), cwd),
        };
        let there = cwd.bytes().map(|cwd| Context { cwd: cwd.to_vec(), ..context.clone() });
        effects.extend(eval::effects(&script, there.as_ref().unwrap_or(context)));
    }
    rows(&mut effects);
    lead(&mut effects, context);
    effects
}

/// Words as text that a shell reads as the same words.
fn quoted(argv: &[Value]) -> Vec<u8> {
    let mut script = Vec::new();
    for word in argv {
        script.push(b'\'');
        for byte in word.bytes().unwrap_or_default() {
            match byte {
                b'\'' => script.extend_from_slice(b"'\\''"),
                byte => script.push(*byte),
            }
        }
        script.extend_from_slice(b"' ");
    }
    script
}

impl Policy {
    /// The ruling on a call; none when no rule speaks of it.
    #[must_use]
    pub fn judge(&self, call: &Call<'_>, scene: &Scene) -> Option<Ruling> {
        self.explain(call, scene).ruling
    }

    /// The ruling on a call, and how it came about.
    #[must_use]
    pub fn explain(&self, call: &Call<'_>, scene: &Scene) -> Explanation {
        let effects = effects_of(call, &scene.context);
        self.weigh(call, effects, scene)
    }

    /// The ruling on a call whose effects are known.
    #[must_use]
    pub(super) fn weigh(&self, call: &Call<'_>, effects: Vec<Effect>, scene: &Scene) -> Explanation {
        let places = self.places_for(scene.agent.as_deref());
        let site = Site {
            places: places.as_ref().unwrap_or(&shipped().places),
            grounds: Grounds::of(&scene.context),
        };
        let mut findings: Vec<Finding> = Vec::new();
        for rule in &self.rules {
            found(rule, None, call, &effects, &site, &mut findings);
        }
        limits::check(self, &effects, scene, &site, &mut findings);
        for pack in shipped().packs.iter().filter(|pack| self.packs.get(pack.name) != Some(&Switch::Off)) {
            for rule in &pack.rules {
                found(rule, Some(pack.name), call, &effects, &site, &mut findings);
            }
        }
        self.override_all(&mut findings);
        let is_covered = self.is_covered(call);
        if self.mode == Mode::Enforce {
            demand(is_covered, &effects, &site, &mut findings);
        }
        relax(is_covered, &self.rules, &mut findings);
        contain(scene, &mut findings);
        let ruling = ruling(&findings, &effects, is_covered);
        Explanation { effects, findings, ruling }
    }

    /// The shipped places and what the policy puts to them; none when it puts nothing.
    fn places_for(&self, agent: Option<&str>) -> Option<Places> {
        if self.places.is_empty() && self.acl.is_empty() {
            return None;
        }
        let mut places = self.all_places();
        for acl in self.acl.iter().filter(|acl| acl.is_for(agent)) {
            if acl.access == super::Access::Write {
                places.extend("workspace", [acl.pattern().as_str()]);
            }
        }
        Some(places)
    }

    pub(super) fn all_places(&self) -> Places {
        let mut places = shipped().places.clone();
        for (name, patterns) in &self.places {
            places.extend(name, patterns.iter().map(String::as_str));
        }
        places
    }

    fn override_all(&self, findings: &mut Vec<Finding>) {
        if self.overrides.is_empty() {
            return;
        }
        findings.retain_mut(|finding| {
            let Some(instead) = self.overrides.get(&finding.rule).filter(|_| finding.pack.is_some()) else {
                return true;
            };
            // What was only possible is never taken for more than it was.
            let verdict = instead.verdict();
            finding.verdict = verdict.map_or(finding.verdict, |verdict| match finding.certainty {
                Certainty::Certain => verdict,
                Certainty::No | Certainty::Possible => verdict.min(finding.verdict),
            });
            verdict.is_some()
        });
    }

    /// Says whether rules that allow calls of this kind cover all of this one: of a command line, each command.
    fn is_covered(&self, call: &Call<'_>) -> bool {
        let allowing =
            self.rules.iter().filter(|rule| rule.verdict == Verdict::Allow && rule.effect.is_empty());
        let patterns: Vec<Pattern> =
            allowing.flat_map(|rule| &rule.patterns).filter_map(|text| Pattern::parse(text).ok()).collect();
        is_covered(&patterns, call)
    }
}

/// Says whether patterns cover all of a call: of a command line, each command.
pub(crate) fn is_covered(patterns: &[Pattern], call: &Call<'_>) -> bool {
    match call.command() {
        _ if patterns.is_empty() => false,
        None => patterns.iter().any(|pattern| pattern.matches(call)),
        Some(line) => {
            if patterns.iter().any(|pattern| pattern.is_line(call, &line)) {
                return true;
            }
            let commands = commands::simple(&line);
            let is_allowed = |words: &Vec<String>| patterns.iter().any(|p| p.is_about(call, words));
            !commands.is_empty() && commands.iter().all(is_allowed)
        }
    }
}

/// Notes what one rule finds.
fn found(
    rule: &Rule,
    pack: Option<&'static str>,
    call: &Call<'_>,
    effects: &[Effect],
    site: &Site<'_>,
    findings: &mut Vec<Finding>,
) {
    if !rule.patterns.is_empty() && !rule.matches(call) {
        return;
    }
    if rule.effect.is_empty() {
        findings.push(Finding::of(rule, pack, rule.verdict, Certainty::Certain, None));
        return;
    }
    for (place, effect) in effects.iter().enumerate().filter(|(_, effect)| effect.effort == Effort::Done) {
        let met = Certainty::any(rule.effect.iter().map(|wanted| wanted.is_met(effect, site)));
        let verdict = match met {
            Certainty::No => None,
            Certainty::Possible => rule.perhaps,
            Certainty::Certain => Some(rule.verdict),
        };
        if let Some(verdict) = verdict {
            findings.push(Finding::of(rule, pack, verdict, met, Some(place)));
        }
    }
}

/// Where all has to be allowed: what no rule allows asks, and what nobody can say is refused.
fn demand(is_covered: bool, effects: &[Effect], site: &Site<'_>, findings: &mut Vec<Finding>) {
    for (place, effect) in effects.iter().enumerate().filter(|(_, effect)| effect.effort == Effort::Done) {
        let is_named = findings.iter().any(|finding| finding.effect == Some(place));
        let is_ordinary = || {
            let conditions = shipped().ordinary.iter().flat_map(|rule| &rule.effect);
            Certainty::any(conditions.map(|wanted| wanted.is_met(effect, site))) == Certainty::Certain
        };
        if is_covered || is_named || is_ordinary() {
            continue;
        }
        let is_unknown = Kind::of(&effect.act) == Kind::Unknown;
        findings.push(Finding {
            rule: "enforce".to_owned(),
            pack: None,
            verdict: if is_unknown { Verdict::Deny } else { Verdict::Ask },
            risk: Risk::Medium,
            certainty: Certainty::Certain,
            effect: Some(place),
            reason: Some(
                "No rule allows it, and this policy enforces: only what is allowed is done.".to_owned(),
            ),
            instead: Some("Ask for a rule that allows it in guardian.toml".to_owned()),
            contained: None,
            tags: Vec::new(),
            fate: Fate::Counts,
        });
    }
}

/// Takes away what a rule of the user allows.
fn relax(is_covered: bool, rules: &[Rule], findings: &mut [Finding]) {
    let allows: Vec<(Option<usize>, String)> = findings
        .iter()
        .filter(|finding| finding.pack.is_none() && finding.verdict == Verdict::Allow)
        // What is allowed by words must cover the whole call.
        .filter(|finding| finding.effect.is_some() || is_covered)
        .map(|finding| (finding.effect, finding.rule.clone()))
        .collect();
    let despite = |rule: &str, denies: &str| {
        rules
            .iter()
            .any(|allowing| allowing.name == rule && allowing.despite.iter().any(|name| name == denies))
    };
    for finding in findings.iter_mut().filter(|finding| finding.verdict != Verdict::Allow) {
        let gives_way = finding.is_relaxable() && finding.verdict == Verdict::Ask;
        let by = allows.iter().find(|(effect, rule)| {
            let is_same = effect.is_none() || *effect == finding.effect;
            is_same && (gives_way || despite(rule, &finding.rule))
        });
        if let Some((_, rule)) = by {
            finding.fate = Fate::Relaxed(rule.clone());
        }
    }
}

/// Takes away what a sandbox holds in.
fn contain(scene: &Scene, findings: &mut [Finding]) {
    let Some(walls) = scene.walls else { return };
    for finding in findings.iter_mut().filter(|finding| finding.fate == Fate::Counts) {
        let holds = |boundary: Boundary| boundary != Boundary::Network || walls.network != Reach::Anywhere;
        if let Some(boundary) = finding.contained.filter(|boundary| holds(*boundary)) {
            finding.fate = Fate::Contained(boundary);
        }
    }
}

/// The strictest; of equals the worse risk, of those the first.
fn worst<'a>(findings: impl Iterator<Item = &'a Finding>) -> Option<&'a Finding> {
    findings.reduce(|first, next| {
        if (next.verdict, next.certainty, next.risk) > (first.verdict, first.certainty, first.risk) {
            next
        } else {
            first
        }
    })
}

fn ruling(findings: &[Finding], effects: &[Effect], is_covered: bool) -> Option<Ruling> {
    let counts = findings.iter().filter(|finding| finding.fate == Fate::Counts);
    let strict = counts.clone().filter(|finding| finding.verdict != Verdict::Allow);
    if let Some(worst) = worst(strict) {
        return Some(worst.ruling(effects));
    }
    let held = findings.iter().find_map(|finding| match finding.fate {
        Fate::Contained(boundary) if finding.verdict != Verdict::Allow => Some((finding, boundary)),
        _ => None,
    });
    if let Some((finding, boundary)) = held {
        let seen = finding.effect.and_then(|place| effects.get(place)).map(described).unwrap_or_default();
        let reason = format!("{seen}; that is contained by {}.", boundary.described());
        return Some(Ruling { verdict: Verdict::Allow, risk: Risk::Low, rule: finding.rule.clone(), reason });
    }
    // What is allowed is said to be so only where all of it is.
    let allowing = |finding: &&Finding| finding.verdict == Verdict::Allow;
    let is_each_allowed = !effects.is_empty()
        && (0..effects.len()).all(|place| findings.iter().any(|f| allowing(&f) && f.effect == Some(place)));
    counts
        .clone()
        .find(|finding| allowing(finding) && (is_covered || is_each_allowed))
        .map(|f| f.ruling(effects))
}
