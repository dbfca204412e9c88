//! Which role an agent should have, by what it says it can do. A proposal; a person decides.

use belljar_domain::Role;

use super::table::DEFAULT;

/// A proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Suggestion {
    /// The role.
    pub role: Role,
    /// How much speaks for it, in percent; below 80 it is the category's role, or the default.
    pub confidence: u8,
}

/// How much must speak for a role.
const ENOUGH: usize = 80;

/// Words that speak for a role.
const WORDS: [(Role, &[&str]); 9] = [
    (Role::Security, &["security", "vulnerability", "pentest", "penetration", "audit", "threat", "secrets"]),
    (Role::Database, &["database", "sql", "schema", "migration", "postgres", "mysql", "sqlite"]),
    (Role::Frontend, &["frontend", "ui", "css", "react", "vue", "component", "browser", "html"]),
    (Role::Backend, &["backend", "api", "server", "microservice", "endpoint", "service"]),
    (Role::Tester, &["test", "testing", "tests", "qa", "e2e", "coverage"]),
    (Role::Reviewer, &["review", "reviewer", "reviews", "lint", "quality"]),
    (
        Role::Coordinator,
        &["coordinate", "coordinator", "coordination", "orchestration", "orchestrate", "planner", "swarm"],
    ),
    (Role::Analyst, &["analysis", "analyst", "analyze", "research", "researcher", "report", "metrics"]),
    (Role::Developer, &["code", "coder", "develop", "developer", "implement", "refactor", "debug", "fix"]),
];

/// Proposes a role by capabilities, else by category or description, else the default.
#[must_use]
pub fn suggest(capabilities: &[String], category: Option<&str>, description: &str) -> Suggestion {
    let texts: Vec<String> = capabilities.iter().map(|text| text.to_lowercase()).collect();
    let votes: Vec<Role> = texts.iter().filter_map(|text| role_of(text)).collect();
    let best = Role::ALL.iter().max_by_key(|role| votes.iter().filter(|vote| vote == role).count());
    if let Some(best) = best.filter(|_| !votes.is_empty()) {
        let share = votes.iter().filter(|vote| *vote == best).count() * 100 / votes.len();
        if share >= ENOUGH {
            return Suggestion { role: *best, confidence: u8::try_from(share).unwrap_or(100) };
        }
    }
    let other = category
        .and_then(|text| role_of(&text.to_lowercase()))
        .or_else(|| role_of(&description.to_lowercase()));
    Suggestion { role: other.unwrap_or(DEFAULT), confidence: if other.is_some() { 50 } else { 0 } }
}

fn role_of(text: &str) -> Option<Role> {
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let count = |known: &[&str]| words.iter().filter(|word| known.contains(word)).count();
    let best = WORDS.iter().map(|(role, known)| (*role, count(known))).filter(|(_, count)| *count > 0);
    // Of equals the first, which is the more particular one.
    best.reduce(|first, next| if next.1 > first.1 { next } else { first }).map(|(role, _)| role)
}
