//! Gate: dependencies between our crates point one way, and only along the arrows drawn here.

use super::{
    finding::{Finding, Gate},
    packages::{Kind, Package, short},
};

/// What a crate may depend on among ours.
#[derive(Debug, Clone, Copy)]
enum May {
    Use(&'static [&'static str]),
    UseAll,
}

/// The walls. A new crate gets a line here, and a reason to exist in ARCHITECTURE.md.
const ARROWS: [(&str, May); 15] = [
    ("domain", May::Use(&[])),
    ("ports", May::Use(&["domain"])),
    ("init", May::Use(&[])),
    ("probe", May::Use(&[])),
    ("jail", May::Use(&["domain", "init"])),
    ("providers", May::Use(&["domain", "ports", "jail"])),
    ("guardian", May::Use(&["domain"])),
    ("quality", May::Use(&["domain"])),
    ("capture", May::Use(&["domain"])),
    ("api", May::Use(&["domain"])),
    ("store", May::Use(&["domain", "ports"])),
    ("engine", May::Use(&["domain", "ports", "capture", "guardian", "quality"])),
    ("server", May::Use(&["domain", "api", "capture", "engine", "ports"])),
    ("belljar", May::UseAll),
    ("xtask", May::Use(&[])),
];

/// An edge that only tests may have, with the reason.
type DevEdge = (&'static str, &'static str, &'static str);

/// Tests may reach further than the product, along these edges alone: crate, what it uses, why.
const DEV_EDGES: [DevEdge; 1] =
    [("store", "capture", "records are tested and measured with the folding the server does")];

/// Judges every crate of the workspace.
pub(crate) fn check(packages: &[Package]) -> Vec<Finding> {
    check_with(packages, &DEV_EDGES)
}

fn check_with(packages: &[Package], dev_edges: &[DevEdge]) -> Vec<Finding> {
    packages.iter().flat_map(|package| edges(package, dev_edges)).collect()
}

fn edges(package: &Package, dev_edges: &[DevEdge]) -> Vec<Finding> {
    let name = short(&package.name);
    let Some((_, may)) = ARROWS.iter().find(|(known, _)| *known == name) else {
        let message =
            format!("crate `{name}` has no arrows yet; add it to ARROWS in xtask/src/tidy/arrows.rs");
        return vec![Finding::error(Gate::Arrows, &package.manifest, message)];
    };
    let May::Use(allowed) = may else { return Vec::new() };
    let drawn = |to: &str, kind: Kind| {
        let for_tests = || dev_edges.iter().any(|(from, target, _)| (*from, *target) == (name, to));
        allowed.contains(&to) || (kind == Kind::Dev && for_tests())
    };
    let ours = package.dependencies.iter().filter(|dependency| dependency.is_ours());
    ours.filter(|dependency| !drawn(short(&dependency.name), dependency.kind()))
        .map(|dependency| {
            let to = short(&dependency.name);
            let remedy = match dependency.kind() {
                Kind::Dev => "a test that needs it lists the edge in DEV_EDGES with its reason",
                Kind::Normal | Kind::Build => "pass what is needed in as data, or move the code",
            };
            Finding::error(Gate::Arrows, &package.manifest, format!("`{name}` must not use `{to}`: {remedy}"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::packages::samples::{ours, package, theirs};
    use super::*;

    fn messages(package: Package, dev_edges: &[DevEdge]) -> Vec<String> {
        check_with(&[package], dev_edges).into_iter().map(|finding| finding.message).collect()
    }

    #[test]
    fn an_arrow_not_drawn_is_rejected() {
        for (from, to, kind) in [
            ("belljar-domain", "belljar-ports", Kind::Normal),
            ("belljar-engine", "belljar-providers", Kind::Normal),
            ("belljar-server", "belljar-store", Kind::Normal),
            ("belljar-guardian", "belljar-jail", Kind::Build),
            ("belljar-domain", "belljar-ports", Kind::Dev),
            ("belljar-ports", "belljar", Kind::Normal),
            ("xtask", "belljar-domain", Kind::Normal),
        ] {
            let found = messages(package(from, vec![ours(to, kind)]), &[]);
            assert_eq!(found.len(), 1, "{from} -> {to}");
            assert!(found[0].contains(&format!("must not use `{}`", short(to))), "{found:?}");
        }
    }

    #[test]
    fn drawn_arrows_and_published_crates_are_accepted() {
        for clean in [
            package(
                "belljar-engine",
                vec![ours("belljar-guardian", Kind::Normal), theirs("tokio", Kind::Normal)],
            ),
            package("belljar-jail", vec![ours("belljar-init", Kind::Build)]),
            package("belljar", vec![ours("belljar-store", Kind::Normal), ours("belljar-init", Kind::Dev)]),
            package("belljar-providers", vec![ours("belljar-ports", Kind::Dev)]),
        ] {
            assert!(check(std::slice::from_ref(&clean)).is_empty(), "{clean:?}");
        }
    }

    #[test]
    fn an_exception_for_tests_counts_for_tests_alone() {
        let exception = [("engine", "providers", "drives a real sandbox")];
        let edge = |kind| package("belljar-engine", vec![ours("belljar-providers", kind)]);
        assert!(messages(edge(Kind::Dev), &exception).is_empty());
        assert_eq!(messages(edge(Kind::Normal), &exception).len(), 1);
    }

    #[test]
    fn an_unknown_crate_is_told_where_to_register() {
        let found = messages(package("belljar-clock", Vec::new()), &[]);
        assert!(found[0].contains("add it to ARROWS"), "{found:?}");
    }

    #[test]
    fn arrows_form_no_circle() {
        // Each crate may use only crates of lower rank, found by peeling off those that use nothing left.
        let mut left: Vec<(&str, &[&str])> = ARROWS
            .iter()
            .map(|(name, may)| match may {
                May::Use(allowed) => (*name, *allowed),
                May::UseAll => (*name, &[] as &[&str]),
            })
            .collect();
        while !left.is_empty() {
            let names: Vec<&str> = left.iter().map(|(name, _)| *name).collect();
            let before = left.len();
            left.retain(|(_, allowed)| allowed.iter().any(|to| names.contains(to)));
            assert!(left.len() < before, "a circle among {names:?}");
        }
    }
}
