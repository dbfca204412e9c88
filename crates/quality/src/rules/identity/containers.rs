//! Containers that calls, instances or functions share.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    outline::{Function, TopName},
    rules::is_locked,
    tree::{Field, Id, Kind},
};

/// Methods that change what they are called on.
const CHANGING: [&str; 34] = [
    "append",
    "extend",
    "insert",
    "add",
    "update",
    "pop",
    "popitem",
    "remove",
    "discard",
    "clear",
    "setdefault",
    "sort",
    "reverse",
    "push",
    "unshift",
    "shift",
    "splice",
    "set",
    "delete",
    "put",
    "putAll",
    "addAll",
    "removeAll",
    "offer",
    "poll",
    "computeIfAbsent",
    "putIfAbsent",
    "appendleft",
    "popleft",
    "fill",
    "merge",
    "insert_mut",
    "push_back",
    "push_front",
];

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    if file.tree.lang == Lang::Python {
        found.extend(defaults(file));
        found.extend(class_level(file));
    }
    found.extend(file.outline.top.iter().filter_map(|top| module_level(file, top)));
    found
}

/// `def f(x, bucket=[])`
fn defaults(file: &File<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    for function in file.functions() {
        for param in &function.params {
            let Some(value) = param.default.filter(|value| is_container(file, *value)) else { continue };
            let message = format!("`{}` has one `{}` for all its calls", function.name, file.quote(value));
            let draft = Draft::new(Rule::MutableDefault, message).about("default");
            found.push(draft.element(file.element(param.id, "made once, when the function is defined")));
        }
    }
    found
}

/// A list in the body of a class that methods change through `self`.
fn class_level(file: &File<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for owner in &file.outline.types {
        for field in
            owner.fields.iter().filter(|field| field.value.is_some_and(|value| is_container(file, value)))
        {
            let methods: Vec<&Function<'_>> = file.outline.methods(owner).collect();
            let own = methods.iter().any(|method| {
                file.writes(method)
                    .iter()
                    .any(|(name, id, _)| *name == field.name && tree.is(*id, Kind::Assign))
            });
            let through_self = |function: &Function<'_>, id: Id| {
                crate::rules::own_field(file, function, id) == Some(field.name)
            };
            let change = methods.iter().find_map(|method| {
                let members = tree.below_of(method.id, Kind::Member).iter().copied();
                members.filter(|id| through_self(method, *id)).find(|id| is_change(file, *id))
            });
            let Some(change) = change.filter(|_| !own) else { continue };
            let message = format!("all instances of `{}` share one `{}`", owner.name, field.name);
            found.push(
                Draft::new(Rule::ClassLevelMutable, message)
                    .about("class")
                    .element(file.element(field.id, "made once, for the class"))
                    .element(file.element(change, "changed here")),
            );
        }
    }
    found
}

/// A container or variable at the top of a file that functions change.
fn module_level(file: &File<'_>, top: &TopName<'_>) -> Option<Draft> {
    let tree = &file.tree;
    let is_container =
        top.value.is_some_and(|value| is_container(file, value)) || top.ty.is_some_and(is_container_type);
    let is_guarded_static = tree.lang == Lang::Rust
        && top.ty.is_some_and(|ty| (ty.contains("Mutex<") || ty.contains("RwLock<")) && !ty.ends_with("()>"));
    let is_variable = match tree.lang {
        Lang::Go => !top.is_const,
        lang if lang.is_script() => !top.is_const && top.is_exported,
        _ => false,
    };
    if !(is_container || is_variable || is_guarded_static) || file.in_test(top.id) || top.is_static_mut {
        return None;
    }
    let uses = uses(file, top.name);
    let mut users: Vec<Id> = uses.iter().map(|(function, _)| *function).collect();
    users.dedup();
    let change = uses.iter().find(|(_, id)| {
        let is_assigned = is_variable && is_assigned(file, *id);
        is_assigned || is_change(file, *id) || is_guarded_static && is_guard(file, *id)
    });
    let (_, change) = change.filter(|_| users.len() >= 2)?;
    let other = uses
        .iter()
        .find(|(function, _)| Some(*function) != file.function_of(*change).map(|of| of.id))
        .map(|(_, id)| *id)?;
    let changes = uses.iter().filter(|(_, id)| is_change(file, *id) || is_assigned(file, *id));
    let is_guarded = is_guarded_static
        || changes.clone().count() > 0 && changes.clone().all(|(_, id)| is_locked(file, *id));
    let message = format!("`{}` is shared by {} functions, and changed", top.name, users.len());
    let draft = Draft::new(Rule::ModuleMutable, message)
        .about("module")
        .scaled(1000)
        .element(file.element(top.id, "shared by all"))
        .element(file.element(*change, "changed here"))
        .element(file.element(other, "used here"));
    Some(if is_guarded { draft.hint() } else { draft })
}

/// Where functions use a name of the file, and not one of their own.
pub(super) fn uses(file: &File<'_>, name: &str) -> Vec<(Id, Id)> {
    let tree = &file.tree;
    let mut found: Vec<(Id, Id)> = Vec::new();
    let named = tree.all(Kind::Ident).iter().copied().filter(|id| tree.text(*id) == name);
    for id in named.filter(|id| !file.in_test(*id)) {
        let is_own = matches!(tree.field(id), Field::Member | Field::Key)
            || tree.field(id) == Field::Name && !tree.is(tree.parent(id).unwrap_or(id), Kind::Update);
        let Some(function) = file.function_of(id).filter(|_| !is_own) else { continue };
        let outer = outermost(file, function);
        let is_global = tree
            .below_of(outer, Kind::Global)
            .iter()
            .any(|global| tree.parts(*global).any(|part| tree.text(part) == name));
        let hides = !is_global
            && file
                .outline
                .functions
                .iter()
                .filter(|of| tree.contains(outer, of.id))
                .any(|of| file.outline.binds(of, name));
        let around = tree.parent(id).map(|up| tree.kind(up));
        let is_use = !matches!(around, Some(Kind::Global | Kind::Keyword)) || is_keyword_value(file, id);
        if is_use && !hides {
            found.push((function.id, id));
        }
    }
    found
}

/// `f(items=items)`: the second is a use.
fn is_keyword_value(file: &File<'_>, id: Id) -> bool {
    file.tree.parent(id).is_some_and(|up| file.tree.is(up, Kind::Keyword))
        && file.tree.field(id) == Field::Value
}

fn outermost(file: &File<'_>, function: &Function<'_>) -> Id {
    let tree = &file.tree;
    tree.ancestors(function.id)
        .filter(|up| file.outline.function_at(*up).is_some())
        .last()
        .unwrap_or(function.id)
}

/// Whether what is named here is changed here.
pub(super) fn is_change(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    let Some(parent) = tree.parent(id) else { return false };
    match tree.kind(parent) {
        // `items.append(x)`; in Java the call holds both.
        Kind::Member if tree.object(parent) == Some(id) => {
            let is_called = tree
                .parent(parent)
                .is_some_and(|up| tree.is(up, Kind::Call) && tree.child(up, Field::Function) == Some(parent));
            let is_written = || is_target(file, parent);
            is_called && tree.member(parent).is_some_and(|member| CHANGING.contains(&tree.text(member)))
                || is_written()
        }
        Kind::Call => {
            tree.child(parent, Field::Object) == Some(id)
                && tree.callee(parent).is_some_and(|callee| CHANGING.contains(&callee.name))
        }
        // `items[key] = x`, `del items[key]`
        Kind::Index => tree.object(parent) == Some(id) && is_target(file, parent),
        Kind::AugAssign => tree.child(parent, Field::Left) == Some(id),
        // Go: `delete(items, key)`
        Kind::Args => {
            tree.lang == Lang::Go
                && tree
                    .parent(parent)
                    .and_then(|call| tree.callee(call))
                    .is_some_and(|callee| callee.name == "delete")
        }
        _ => false,
    }
}

/// Whether an expression is given a value.
fn is_target(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    tree.parent(id).is_some_and(|up| match tree.kind(up) {
        Kind::Assign | Kind::AugAssign => tree.child(up, Field::Left) == Some(id),
        Kind::Update | Kind::Delete => true,
        Kind::Unary => tree.operator(up) == Some("delete"),
        _ => false,
    })
}

pub(super) fn is_assigned(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    let in_tuple =
        tree.parent(id).is_some_and(|up| tree.is(up, Kind::Tuple) && tree.field(up) == Field::Left);
    is_target(file, id) || in_tuple
}

/// `NAME.lock()`
fn is_guard(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    let member = tree.parent(id).filter(|up| tree.is(*up, Kind::Member) && tree.object(*up) == Some(id));
    member.and_then(|up| tree.member(up)).is_some_and(|member| matches!(tree.text(member), "lock" | "write"))
}

/// Whether a value is a container that can be changed.
pub(super) fn is_container(file: &File<'_>, value: Id) -> bool {
    let tree = &file.tree;
    match tree.kind(value) {
        Kind::List | Kind::Dict | Kind::Set => true,
        Kind::Comprehension => !tree.text(value).starts_with('('),
        Kind::Call | Kind::New => tree.callee(value).is_some_and(|callee| {
            is_container_type(callee.name)
                || matches!(
                    callee.name,
                    "list"
                        | "dict"
                        | "set"
                        | "defaultdict"
                        | "deque"
                        | "OrderedDict"
                        | "Counter"
                        | "bytearray"
                )
                || callee.name == "make" && tree.lang == Lang::Go
        }),
        _ => false,
    }
}

/// Collections of Java and JavaScript, by name.
pub(super) fn is_container_type(ty: &str) -> bool {
    let name = ty.trim_start_matches(':').trim().split(['<', '[']).next().unwrap_or_default();
    ty.starts_with("map[")
        || ty.starts_with("[]")
        || matches!(
            name,
            "Map"
                | "Set"
                | "List"
                | "HashMap"
                | "ArrayList"
                | "LinkedList"
                | "HashSet"
                | "TreeMap"
                | "LinkedHashMap"
                | "Deque"
                | "ArrayDeque"
                | "Queue"
                | "Array"
                | "WeakMap"
                | "WeakSet"
                | "Vector"
                | "ConcurrentHashMap"
                | "ConcurrentMap"
                | "Collection"
        )
}
