//! Records read by number, and booleans in a row.

use std::collections::BTreeMap;

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    tree::{Id, Kind},
    words::number,
};

/// Parameters read at a place behind the second.
pub(super) fn indexed(file: &File<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let mut found: BTreeMap<(Id, &str), Vec<(Id, u32)>> = BTreeMap::new();
    for id in file.all(Kind::Index) {
        let Some(place) = tree.subscript(id).and_then(|index| place(file, index)) else { continue };
        let Some(object) = tree.object(id).filter(|object| tree.is(*object, Kind::Ident)) else { continue };
        let Some(function) = file.function_of(id) else { continue };
        let name = tree.text(object);
        let param = function.params.iter().find(|param| param.name == name && !param.is_variadic);
        let is_record = param.is_some_and(|param| !param.ty.as_deref().is_some_and(is_plain_sequence));
        if is_record && place >= 2 && !is_letter(file, id) {
            found.entry((function.id, name)).or_default().push((id, place));
        }
    }
    let draft = |((_, name), uses): ((Id, &str), Vec<(Id, u32)>)| {
        let places: Vec<String> = uses.iter().map(|(_, place)| format!("{name}[{place}]")).collect();
        let message = format!("{} is known by its place alone", places.join(", "));
        let others = uses.iter().skip(1).map(|(id, _)| file.element(*id, "and here"));
        let first = uses.first().map(|(id, _)| file.element(*id, "read by number"));
        Draft::new(Rule::PositionalRecord, message)
            .about(format!("{} places", uses.len()))
            .scaled(1000)
            .open_ended()
            .elements(first)
            .elements(others)
    };
    found.into_iter().map(draft).collect()
}

/// Whether what is there is compared with a single letter: then it is text, not a record.
fn is_letter(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    let around = tree.parent(id).filter(|up| matches!(tree.kind(*up), Kind::Binary | Kind::Compare));
    around.is_some_and(|up| {
        tree.parts(up).any(|part| tree.is(part, Kind::Str) && tree.string(part).chars().count() == 1)
    })
}

/// A literal index.
fn place(file: &File<'_>, index: Id) -> Option<u32> {
    let tree = &file.tree;
    let value = number(tree.text(index)).filter(|_| tree.is(index, Kind::Number))?;
    (0..1000_u32).find(|place| (f64::from(*place) - value).abs() < f64::EPSILON)
}

/// Text and bytes, where every place means the same.
fn is_plain_sequence(ty: &str) -> bool {
    let ty = ty.to_ascii_lowercase();
    [
        "str",
        "string",
        "bytes",
        "bytearray",
        "buffer",
        "[]byte",
        "[u8",
        "byte[]",
        "uint8array",
        "float",
        "matrix",
    ]
    .iter()
    .any(|plain| ty.contains(plain))
        && !ty.contains("string[]")
        && !ty.contains("list[str")
        && !ty.contains("[]string")
        && !ty.contains("vec<string")
        && !ty.contains("[string]")
        && !ty.contains("[&str]")
}

/// Booleans written out in a row.
pub(super) fn traps(file: &File<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let calls = file.all(Kind::Call).chain(file.all(Kind::New));
    let trap = |id: Id| {
        let count = tree.arguments(id).iter().filter(|argument| tree.is(**argument, Kind::Bool)).count();
        (count >= 2).then(|| {
            let message = format!("`{}`: {count} booleans, and nobody sees which is which", file.quote(id));
            let draft = Draft::new(Rule::BoolTrap, message).hint().about(format!("{count} booleans"));
            draft.element(file.element(id, "the call"))
        })
    };
    calls.filter_map(trap).collect()
}
