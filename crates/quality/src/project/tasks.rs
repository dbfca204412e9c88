//! Asynchronous functions of other files that are called and not waited for.

use std::collections::HashMap;

use super::role;
use crate::{
    catalogue::Rule,
    facts::{Facts, Named},
    finding::Draft,
};

pub(super) fn find(all: &[&Facts]) -> Vec<Draft> {
    let mut by_name: HashMap<&str, Vec<&Named>> = HashMap::new();
    for named in all.iter().flat_map(|facts| &facts.named) {
        by_name.entry(named.name.as_str()).or_default().push(named);
    }
    let mut found = Vec::new();
    for loose in all.iter().flat_map(|facts| &facts.loose) {
        // Of several functions of one name nobody knows which is meant.
        let Some([only]) = by_name.get(loose.name.as_str()).map(Vec::as_slice) else { continue };
        if !only.is_async || only.at.file == loose.at.file {
            continue;
        }
        let message = format!("`{}` is asynchronous, and nobody waits for it", loose.text);
        found.push(
            Draft::new(Rule::FloatingAsync, message)
                .about("floating")
                .element(role(&loose.at, "started here"))
                .element(role(&only.at, "the asynchronous function")),
        );
    }
    found
}
