//! Bodies that are copies of each other.

use std::collections::BTreeMap;

use super::role;
use crate::{
    catalogue::Rule,
    facts::{Body, Facts},
    finding::Draft,
    rules::is_inverse,
};

/// From here on, a copy is a copy whatever it calls.
const SURE: usize = 30;
/// From here on, a copy with other literals is one.
const LONG: usize = 50;
/// Two halves of one method are compared from here on.
const HALF: usize = 12;
const STATEMENTS: usize = 3;

pub(super) fn find(all: &[&Facts]) -> Vec<Draft> {
    let bodies = all.iter().flat_map(|facts| &facts.bodies).filter(|body| !body.is_boilerplate);
    let bodies: Vec<&Body> =
        bodies.filter(|body| body.statements >= STATEMENTS && body.tokens >= HALF).collect();
    let mut found = Vec::new();
    let exact =
        groups(bodies.iter().copied(), |body| if body.tokens >= SURE { body.renamed } else { body.called });
    for group in exact.values().filter(|group| group.len() > 1) {
        found.push(copy(group));
    }
    let alike = groups(bodies.iter().copied(), |body| body.abstracted);
    for group in alike.values() {
        found.extend(near(group));
    }
    found
}

fn groups<'b>(
    bodies: impl Iterator<Item = &'b Body>,
    key: impl Fn(&Body) -> u64,
) -> BTreeMap<u64, Vec<&'b Body>> {
    let mut groups: BTreeMap<u64, Vec<&Body>> = BTreeMap::new();
    for body in bodies {
        groups.entry(key(body)).or_default().push(body);
    }
    groups
}

fn copy(group: &[&Body]) -> Draft {
    let tokens = group.first().map_or(0, |body| body.tokens);
    let is_twin =
        group.iter().any(|body| body.is_async) && group.iter().any(|body| !body.is_async) && group.len() == 2;
    let rule = if is_twin { Rule::Twin } else { Rule::Clone };
    let names = names(group);
    let message = if is_twin {
        format!("{names} do the same, one waiting and one not")
    } else {
        format!("{names} have the same body ({tokens} tokens)")
    };
    let draft = Draft::new(rule, message)
        .about(format!("body {tokens}"))
        .elements(group.iter().map(|body| role(&body.at, "a copy")));
    if is_twin {
        draft.hint()
    } else if tokens >= SURE {
        draft
    } else {
        draft.sure(600)
    }
}

/// One body of each exact kind, if there are several kinds.
fn near(group: &[&Body]) -> Option<Draft> {
    let mut kinds: Vec<&Body> = Vec::new();
    for body in group {
        if !kinds.iter().any(|known| known.renamed == body.renamed) {
            kinds.push(body);
        }
    }
    let tokens = group.first().map_or(0, |body| body.tokens);
    let is_pair = || kinds.iter().any(|one| kinds.iter().any(|two| is_inverse(&one.name, &two.name)));
    if kinds.len() < 2 || tokens < LONG && !is_pair() {
        return None;
    }
    let message = format!("{} differ only in literals and signs", names(&kinds));
    Some(
        Draft::new(Rule::NearClone, message)
            .about(format!("near {tokens}"))
            .elements(kinds.iter().map(|body| role(&body.at, "almost a copy"))),
    )
}

fn names(group: &[&Body]) -> String {
    let mut names: Vec<String> = group.iter().take(3).map(|body| format!("`{}`", body.at.symbol)).collect();
    if group.len() > 3 {
        names.push(format!("{} more", group.len() - 3));
    }
    names.join(", ")
}
