//! Asynchronous calls nobody waits for, and threads nobody joins.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    lang::Lang,
    outline::Function,
    tree::{Field, Id, Kind, ROOT},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    let mut found = Vec::new();
    for statement in file.all(Kind::ExprStmt) {
        let Some(call) = tree.parts(statement).next() else { continue };
        if tree.is(call, Kind::Call) {
            found.extend(floating(file, call));
            found.extend(dropped(file, call));
        }
    }
    found.extend(file.all(Kind::Spawn).filter_map(|id| goroutine(file, id)));
    found.extend(file.functions().flat_map(|function| forgotten(file, function)));
    found
}

/// A call of an `async` function that is in sight: a bare name, or a method of the same object.
fn floating(file: &File<'_>, call: Id) -> Option<Draft> {
    let tree = &file.tree;
    let function = resolve(file, call).filter(|function| function.is_async)?;
    // What starts a program is waited for by the program's end.
    let is_start = tree.parent(tree.parent(call)?) == Some(ROOT)
        && matches!(function.name, "main" | "run" | "start" | "bootstrap" | "init");
    if is_start {
        return None;
    }
    let message = format!("`{}` is asynchronous, and nobody waits for it", file.quote(call));
    Some(
        Draft::new(Rule::FloatingAsync, message)
            .about("floating")
            .element(file.element(call, "started here"))
            .element(file.function_element(function, "the asynchronous function")),
    )
}

/// The function of this file a call reaches for certain.
fn resolve<'f, 's>(file: &'f File<'s>, call: Id) -> Option<&'f Function<'s>> {
    let tree = &file.tree;
    let callee = tree.callee(call)?;
    let around = file.function_of(call);
    match callee.receiver {
        None => {
            if around.is_some_and(|around| file.outline.binds(around, callee.name))
                && tree.lang == Lang::Python
            {
                return None;
            }
            let mut named = file
                .outline
                .functions
                .iter()
                .filter(|function| function.name == callee.name && function.owner.is_none());
            let first = named.next()?;
            named.next().is_none().then_some(first)
        }
        Some(receiver) => {
            let around = around?;
            let is_self = tree.is(receiver, Kind::SelfRef)
                || around
                    .receiver
                    .is_some_and(|own| tree.text(receiver) == own && tree.is(receiver, Kind::Ident));
            let owner = file.outline.owner(around).filter(|_| is_self)?;
            file.outline.methods(owner).find(|method| method.name == callee.name)
        }
    }
}

/// A thread or task whose handle is let go at once.
fn dropped(file: &File<'_>, call: Id) -> Option<Draft> {
    let tree = &file.tree;
    let callee = tree.callee(call)?;
    let is_detached = match (tree.lang, callee.name) {
        (Lang::Rust, "spawn") => callee.receiver.is_some_and(|of| {
            tree.text(of).ends_with("thread")
                || tree.text(of).ends_with("tokio")
                || tree.text(of).ends_with("task")
        }),
        // `Thread(target=work).start()`
        (Lang::Python | Lang::Java, "start") => callee.receiver.is_some_and(|made| {
            matches!(tree.kind(made), Kind::Call | Kind::New)
                && tree.callee(made).is_some_and(|callee| callee.name == "Thread")
        }),
        _ => false,
    };
    is_detached.then(|| detached(file, call))
}

/// Threads a function makes, starts and loses: nothing else is done with the name they have.
fn forgotten(file: &File<'_>, function: &Function<'_>) -> Vec<Draft> {
    let tree = &file.tree;
    if !matches!(tree.lang, Lang::Python | Lang::Java) {
        return Vec::new();
    }
    let binders = [Kind::Assign, Kind::Declarator]
        .into_iter()
        .flat_map(|kind| tree.below_of(function.id, kind).iter().copied());
    let threads = binders.filter_map(|id| tree.binding(id)).filter(|(name, made)| {
        tree.is(*name, Kind::Ident)
            && matches!(tree.kind(*made), Kind::Call | Kind::New)
            && tree.callee(*made).is_some_and(|callee| callee.name == "Thread")
    });
    let is_lost = |(name, _): &(Id, Id)| {
        let uses = tree.below_of(function.id, Kind::Ident).iter().copied();
        let mut uses = uses.filter(|id| id != name && tree.text(*id) == tree.text(*name)).peekable();
        uses.peek().is_some() && uses.all(|id| is_only_started(file, id))
    };
    threads.filter(is_lost).map(|(_, made)| detached(file, made)).collect()
}

/// `thread.start()`, `thread.daemon = True`, `thread.setDaemon(true)`
fn is_only_started(file: &File<'_>, id: Id) -> bool {
    let tree = &file.tree;
    let Some(up) = tree.parent(id) else { return false };
    let member = match tree.kind(up) {
        Kind::Member if tree.object(up) == Some(id) => tree.member(up).map(|member| tree.text(member)),
        Kind::Call => tree.callee(up).filter(|callee| callee.receiver == Some(id)).map(|callee| callee.name),
        _ => None,
    };
    member.is_some_and(|member| matches!(member, "start" | "daemon" | "setDaemon" | "name" | "setName"))
}

fn goroutine(file: &File<'_>, id: Id) -> Option<Draft> {
    let tree = &file.tree;
    let function = file.function_of(id)?;
    let text = tree.text(function.id);
    let is_watched = [".Wait()", "<-", "chan ", "errgroup", ".Done()", "WaitGroup", "ctx"]
        .iter()
        .any(|sign| text.contains(sign));
    (!is_watched).then(|| detached(file, id))
}

fn detached(file: &File<'_>, id: Id) -> Draft {
    let what = file.tree.child(id, Field::Function).unwrap_or(id);
    let message = format!("`{}` is started and never joined", file.quote(what));
    Draft::new(Rule::Detached, message).hint().about("detached").element(file.element(id, "started here"))
}
