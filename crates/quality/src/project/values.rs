//! One value in several places.

use std::collections::{BTreeMap, BTreeSet};

use super::role;
use crate::{
    catalogue::Rule,
    facts::{Binding, Facts, Quoted},
    finding::{Draft, Element},
    lang::Lang,
};

pub(super) fn find(all: &[&Facts]) -> Vec<Draft> {
    let mut found = same_name(all);
    found.extend(repeated(all));
    found
}

/// A literal bound in several scopes to names that are equal, or of which one contains the other's words.
fn same_name(all: &[&Facts]) -> Vec<Draft> {
    let mut by_literal: BTreeMap<(&str, Option<Lang>), Vec<&Binding>> = BTreeMap::new();
    for binding in all.iter().flat_map(|facts| &facts.bindings) {
        // Two languages cannot share a constant.
        let family = Lang::of(&binding.at.file).map(Lang::family);
        by_literal.entry((binding.literal.as_str(), family)).or_default().push(binding);
    }
    let mut found = Vec::new();
    for ((literal, _), bindings) in by_literal.iter().filter(|(_, bindings)| bindings.len() > 1) {
        for group in groups(bindings) {
            let scopes: BTreeSet<(&str, &str)> =
                group.iter().map(|binding| (binding.at.file.as_str(), binding.at.symbol.as_str())).collect();
            let Some(first) = group.first().filter(|_| scopes.len() > 1) else { continue };
            let message = format!("{literal} is `{}` in {} places", first.name, group.len());
            found.push(
                Draft::new(Rule::SameNameSameLiteral, message)
                    .sure(800)
                    .about(format!("value {literal}"))
                    .elements(group.iter().map(|binding| role(&binding.at, "has the value"))),
            );
        }
    }
    found
}

/// Puts equal names together wherever they are, and contained ones within a folder.
fn groups<'b>(bindings: &[&'b Binding]) -> Vec<Vec<&'b Binding>> {
    let mut equal: BTreeMap<&BTreeSet<String>, Vec<&Binding>> = BTreeMap::new();
    for binding in bindings {
        equal.entry(&binding.words).or_default().push(binding);
    }
    let mut groups: Vec<Vec<&Binding>> = equal.into_values().collect();
    // The most general name first; a more special one joins it.
    groups.sort_by_key(|group| group.first().map_or(0, |binding| binding.words.len()));
    let mut merged: Vec<Vec<&Binding>> = Vec::new();
    for group in groups.into_iter().take(200) {
        let Some(first) = group.first() else { continue };
        let home = merged.iter_mut().find(|known| {
            known.iter().any(|general| {
                general.words.is_subset(&first.words)
                    && group.iter().any(|special| folder(&special.at) == folder(&general.at))
            })
        });
        match home {
            Some(home) => home.extend(group),
            None => merged.push(group),
        }
    }
    merged
}

fn folder(at: &Element) -> &str {
    at.file.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A distinctive string in three functions of two files.
fn repeated(all: &[&Facts]) -> Vec<Draft> {
    let mut by_text: BTreeMap<&str, Vec<&Quoted>> = BTreeMap::new();
    for quoted in all.iter().flat_map(|facts| &facts.quoted) {
        by_text.entry(quoted.text.as_str()).or_default().push(quoted);
    }
    let mut found = Vec::new();
    for (text, places) in by_text.iter().filter(|(_, places)| places.len() >= 3) {
        let files: BTreeSet<&str> = places.iter().map(|quoted| quoted.at.file.as_str()).collect();
        if files.len() < 2 {
            continue;
        }
        let message =
            format!("\"{text}\" is spelled out in {} functions of {} files", places.len(), files.len());
        found.push(
            Draft::new(Rule::RepeatedString, message)
                .hint()
                .about(format!("string {text}"))
                .elements(places.iter().map(|quoted| role(&quoted.at, "spelled out"))),
        );
    }
    found
}
