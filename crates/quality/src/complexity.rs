//! Complexity: how much a reader must hold in mind at once. Not connascence, and counted apart.

use crate::{
    facts,
    file::File,
    finding::Points,
    fingerprint::Hash,
    outline::Function,
    tree::{Id, Kind},
    words::has_word,
};

/// What is too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Measure {
    /// More than 10 ways through a function.
    Cyclomatic,
    /// Blocks more than 4 deep in each other.
    Nesting,
    /// A function of more than 50 lines.
    Length,
    /// A type with more than 15 methods; 30 if it holds data or settings.
    Methods,
}

impl Measure {
    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cyclomatic => "cyclomatic",
            Self::Nesting => "nesting",
            Self::Length => "length",
            Self::Methods => "methods",
        }
    }
}

/// A function or type that is over a limit.
#[derive(Debug, Clone)]
pub struct Excess {
    /// Its file.
    pub file: String,
    /// Where it begins.
    pub line: u32,
    /// What it is called.
    pub symbol: String,
    /// What there is too much of.
    pub measure: Measure,
    /// How much there is.
    pub value: u32,
    /// How much there may be.
    pub limit: u32,
    /// What it weighs.
    pub weight: Points,
    /// The same wherever it moves.
    pub(crate) fingerprint: u64,
    /// The code it is about: a layout is no change of it.
    pub(crate) code: u64,
}

pub(crate) fn find(file: &File<'_>) -> Vec<Excess> {
    let mut found = Vec::new();
    for function in file.functions().filter(|function| function.body.is_some()) {
        let over = [
            (Measure::Cyclomatic, ways(file, function), 10),
            (Measure::Nesting, depth(file, function), 4),
            (Measure::Length, length(file, function), 50),
        ];
        let symbol = file.outline.title(function);
        found.extend(
            over.into_iter()
                .filter(|(_, value, limit)| value > limit)
                .map(|over| excess(file, function.id, &symbol, over)),
        );
    }
    for owner in &file.outline.types {
        // An object that is written out is a value, however much is in it.
        let Some(id) = owner.ids.first().copied().filter(|id| !file.tree.is(*id, Kind::Dict)) else {
            continue;
        };
        let limit = if has_word(
            owner.name,
            &["config", "configuration", "settings", "options", "data", "dto", "model", "record"],
        ) {
            30
        } else {
            15
        };
        let methods = u32::try_from(owner.methods.len()).unwrap_or(u32::MAX);
        if methods > limit && !file.in_test(id) {
            found.push(excess(file, id, owner.name, (Measure::Methods, methods, limit)));
        }
    }
    found
}

/// One point at the limit, more in proportion.
fn excess(file: &File<'_>, id: Id, symbol: &str, (measure, value, limit): (Measure, u32, u32)) -> Excess {
    let weight = Points(1000 * u64::from(value) / u64::from(limit.max(1)));
    let fingerprint = Hash::new().text(measure.name()).text(symbol).value();
    let tree = &file.tree;
    let body = file.outline.function_at(id).and_then(|function| function.body);
    Excess {
        file: file.path.to_owned(),
        line: tree.line(id),
        symbol: symbol.to_owned(),
        measure,
        value,
        limit,
        weight,
        fingerprint,
        code: body.map_or(0, |body| facts::code(tree, body)),
    }
}

fn own<'f>(file: &'f File<'_>, function: &'f Function<'_>, kind: Kind) -> impl Iterator<Item = Id> + 'f {
    let all = file.tree.below_of(function.id, kind).iter().copied();
    all.filter(|id| file.function_of(*id).is_some_and(|of| of.id == function.id))
}

/// Ways through a function: one, and one more for every decision.
fn ways(file: &File<'_>, function: &Function<'_>) -> u32 {
    let tree = &file.tree;
    let branches = [Kind::If, Kind::Loop, Kind::Case, Kind::Catch, Kind::Ternary];
    let decisions: usize = branches.iter().map(|kind| own(file, function, *kind).count()).sum();
    let joined = own(file, function, Kind::Binary)
        .filter(|id| matches!(tree.operator(*id), Some("and" | "or" | "&&" | "||")));
    u32::try_from(1 + decisions + joined.count()).unwrap_or(u32::MAX)
}

/// How deep blocks are in each other.
fn depth(file: &File<'_>, function: &Function<'_>) -> u32 {
    let tree = &file.tree;
    let nests = |id: Id| {
        let is_nest = matches!(tree.kind(id), Kind::If | Kind::Loop | Kind::Switch | Kind::Try | Kind::With);
        // `else if` goes on, it does not go down.
        let goes_on = tree.is(id, Kind::If) && tree.field(id) == crate::tree::Field::Alternative;
        is_nest && !goes_on
    };
    let kinds = [Kind::If, Kind::Loop, Kind::Switch, Kind::Try, Kind::With];
    let places = kinds.into_iter().flat_map(|kind| own(file, function, kind));
    let deep = places
        .filter(|id| nests(*id))
        .map(|id| 1 + tree.ancestors(id).take_while(|up| *up != function.id).filter(|up| nests(*up)).count());
    u32::try_from(deep.max().unwrap_or(0)).unwrap_or(u32::MAX)
}

/// Lines from its first to its last.
fn length(file: &File<'_>, function: &Function<'_>) -> u32 {
    file.tree.last_line(function.id) - file.tree.line(function.id) + 1
}
