//! Objects used after they were finished.

use crate::{
    catalogue::Rule,
    file::File,
    finding::Draft,
    rules::{sequences, statement_call},
    tree::{Field, Id, Kind},
    words::{has_word, words},
};

pub(super) fn find(file: &File<'_>) -> Vec<Draft> {
    let mut found = Vec::new();
    for sequence in sequences(file) {
        let mut ended: Vec<(String, Id, String)> = Vec::new();
        for statement in sequence {
            forget(file, statement, &mut ended);
            let Some((call, object, word)) = on_object(file, statement) else { continue };
            let end =
                ended.iter().position(|(name, _, last)| *name == object && goes_on(&object, last, &word));
            if let Some((_, at, _)) = end.map(|place| ended.remove(place)) {
                found.push(draft(file, &object, at, call));
            } else if ends(&object, &word) && !ended.iter().any(|(name, _, _)| *name == object) {
                ended.push((object, call, word));
            }
        }
    }
    found
}

fn draft(file: &File<'_>, object: &str, end: Id, after: Id) -> Draft {
    let message =
        format!("`{}` comes after `{}`, which finished `{object}`", file.quote(after), file.quote(end));
    Draft::new(Rule::UseAfterTerminal, message)
        .about("terminal")
        .element(file.element(after, "too late here"))
        .element(file.element(end, "finished here"))
}

/// A call on a plain name: the call, the name, the first word of the method.
fn on_object(file: &File<'_>, statement: Id) -> Option<(Id, String, String)> {
    let tree = &file.tree;
    let call = statement_call(file, statement)?;
    let callee = tree.callee(call)?;
    let object =
        callee.receiver.filter(|object| tree.is(*object, Kind::Ident) && tree.text(*object) != "self")?;
    let first = words(callee.name).into_iter().next()?;
    Some((call, tree.text(object).to_owned(), first))
}

/// A name that gets another value is another object.
fn forget(file: &File<'_>, statement: Id, ended: &mut Vec<(String, Id, String)>) {
    let tree = &file.tree;
    let assigned = [statement].into_iter().chain(tree.below(statement));
    let binders = assigned.filter(|id| matches!(tree.kind(*id), Kind::Assign | Kind::Declarator));
    for id in binders {
        let target = tree
            .child(id, Field::Left)
            .or_else(|| tree.child(id, Field::Name))
            .or_else(|| tree.child(id, Field::Pattern));
        if let Some(target) = target {
            ended.retain(|(name, _, _)| *name != tree.text(target));
        }
    }
}

/// Whether a method finishes its object. A connection lives on after a commit, a transaction does not.
fn ends(object: &str, word: &str) -> bool {
    match word {
        "close" | "release" | "unlock" | "dispose" | "shutdown" | "disconnect" | "destroy" | "finalize"
        | "finish" | "submit" | "terminate" | "send" | "rollback" => true,
        "end" => has_word(
            object,
            &["stream", "res", "response", "req", "request", "socket", "writer", "out", "output", "sink"],
        ),
        "commit" => !has_word(object, &["session", "db", "database", "conn", "connection", "repo", "git"]),
        _ => false,
    }
}

/// Whether a method makes no sense any more.
fn goes_on(object: &str, end: &str, word: &str) -> bool {
    match end {
        // A channel or a socket sends many times; a message is sent once.
        "send" | "submit" => {
            matches!(word, "set" | "add" | "attach")
                || word == "write" && has_word(object, &["res", "response", "reply"])
        }
        _ => matches!(
            word,
            "set"
                | "add"
                | "write"
                | "execute"
                | "exec"
                | "query"
                | "append"
                | "insert"
                | "update"
                | "push"
                | "put"
                | "read"
                | "fetch"
                | "send"
                | "attach"
                | "delete"
                | "remove"
                | "emit"
                | "publish"
        ),
    }
}
