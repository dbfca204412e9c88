//! What a file declares: functions with their parameters, types with their fields and methods, names at the top.

mod functions;
mod names;
mod params;
mod types;

use std::collections::{HashMap, HashSet};

use crate::tree::{Id, Kind, Tree};

pub(crate) use functions::Function;
pub(crate) use names::TopName;
pub(crate) use params::{Param, of as params_of};
pub(crate) use types::Type;

/// A file's declarations, beside its tree.
#[derive(Debug)]
pub(crate) struct Outline<'s> {
    pub(crate) functions: Vec<Function<'s>>,
    pub(crate) types: Vec<Type<'s>>,
    pub(crate) top: Vec<TopName<'s>>,
    /// Names brought in from other files, and what they are called there.
    pub(crate) imports: HashMap<&'s str, &'s str>,
    by_node: HashMap<Id, usize>,
    /// Names functions assign or declare.
    bound: HashMap<Id, HashSet<&'s str>>,
}

impl<'s> Outline<'s> {
    pub(crate) fn of(tree: &Tree<'s>) -> Self {
        let mut functions = functions::all(tree);
        let types = types::all(tree, &mut functions);
        let by_node = functions.iter().enumerate().map(|(at, function)| (function.id, at)).collect();
        let names =
            |function: &Function<'s>| names::locals(tree, function.id).map(|(local, _)| local).collect();
        let bound = functions.iter().map(|function| (function.id, names(function))).collect();
        Self { functions, types, top: names::top(tree), imports: names::imports(tree), by_node, bound }
    }

    /// The named function a node is in.
    pub(crate) fn function_of(&self, tree: &Tree<'s>, id: Id) -> Option<&Function<'s>> {
        let found = tree.ancestors(id).find_map(|up| self.by_node.get(&up));
        found.and_then(|at| self.functions.get(*at))
    }

    /// The function a node is.
    pub(crate) fn function_at(&self, id: Id) -> Option<&Function<'s>> {
        self.by_node.get(&id).and_then(|at| self.functions.get(*at))
    }

    /// The type a function is a method of.
    pub(crate) fn owner(&self, function: &Function<'s>) -> Option<&Type<'s>> {
        function.owner.and_then(|at| self.types.get(at))
    }

    /// The methods of a type, in the order of the text.
    pub(crate) fn methods<'o>(&'o self, owner: &'o Type<'s>) -> impl Iterator<Item = &'o Function<'s>> {
        owner.methods.iter().filter_map(|at| self.functions.get(*at))
    }

    /// What a place is called: `Account.deposit`, `main`, or nothing at the top of a file.
    pub(crate) fn symbol(&self, tree: &Tree<'s>, id: Id) -> String {
        let function = self.function_at(id).or_else(|| self.function_of(tree, id));
        if let Some(function) = function {
            return self.title(function);
        }
        let inside = tree.ancestors(id).chain([id]).find(|up| tree.is(*up, Kind::Class));
        let found = inside.and_then(|class| self.types.iter().find(|known| known.ids.contains(&class)));
        found.map(|known| known.name.to_owned()).unwrap_or_default()
    }

    /// A function with its type before it.
    pub(crate) fn title(&self, function: &Function<'s>) -> String {
        match self.owner(function) {
            Some(owner) if !owner.name.is_empty() => format!("{}.{}", owner.name, function.name),
            _ => function.name.to_owned(),
        }
    }

    /// Whether a function binds a name itself: as a parameter, as what it is a method of, or by assigning or declaring it.
    pub(crate) fn binds(&self, function: &Function<'_>, name: &str) -> bool {
        function.params.iter().any(|param| param.name == name)
            || function.receiver == Some(name)
            || self.bound.get(&function.id).is_some_and(|bound| bound.contains(name))
    }
}
