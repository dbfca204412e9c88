//! Names of code: what they lead to, and what happens when they are called.
//!
//! Owns: members, indices, calls of what is known by its name only. Refuses: effects; verbs have them.

use super::verb::Verb;
use super::walk::{Args, Walk};
use super::worth::{Kind, Worth};
use crate::effects::act::Datum;
use crate::shell::value::Value;

impl Walk<'_> {
    /// What a full name stands for.
    pub(super) fn resolve(&mut self, name: &str) -> Worth {
        let name = (self.language.canonical)(name).unwrap_or(name);
        if let Some(value) = self.variable(name) {
            return value;
        }
        match name {
            "argv" => return Worth::list(self.arguments.clone()),
            "stdin" => return self.perform(Verb::Input, name, &Args::default()),
            _ => {}
        }
        let worth = Worth::name(name);
        match (self.language.function)(name) {
            Some(Verb::Environment) => worth.with(&[Datum::Environment(None)]),
            _ => worth,
        }
    }

    /// A member that is not called.
    pub(super) fn member(&mut self, object: &Worth, member: &str) -> Worth {
        match &object.kind {
            Kind::Name(name) => {
                if (self.language.function)(name) == Some(Verb::Environment) {
                    return self.environment(Some(member));
                }
                let full = format!("{name}.{member}");
                self.resolve(&full).with(&object.data)
            }
            Kind::Table(_) => object.field(member).unwrap_or_else(|| self.part(object)),
            Kind::Any(all) => {
                let mut found: Option<Worth> = None;
                for one in all.clone() {
                    let value = self.member(&one, member);
                    found = Some(match found {
                        Some(before) => before.or(value),
                        None => value,
                    });
                }
                found.unwrap_or_default()
            }
            Kind::Text(_) | Kind::File(_) if member == "parent" => {
                self.perform(Verb::Parent, member, &Args::of(object.clone()))
            }
            Kind::List(_) if member == "length" => {
                Worth::number(i64::try_from(object.elements().len()).unwrap_or(0))
            }
            _ => self.part(object),
        }
    }

    fn part(&self, object: &Worth) -> Worth {
        match &object.kind {
            Kind::File(_) => object.clone(),
            _ => Worth::unknown(self.why("a part of a value")).with(&object.flows()),
        }
    }

    /// `object[keys]`.
    pub(super) fn indexed(&mut self, object: &super::tree::Expr, keys: &[super::tree::Expr]) -> Worth {
        let object = self.eval(object);
        // A bare word between braces is a text: `$ENV{HOME}`.
        if let (Kind::Name(name), [super::tree::Expr::Name(word)]) = (&object.kind, keys)
            && (self.language.function)(name) == Some(Verb::Environment)
            && self.variable(word).is_none()
        {
            return self.environment(Some(word));
        }
        let keys: Vec<Worth> = keys.iter().map(|key| self.eval(key)).collect();
        self.index(&object, &keys)
    }

    fn index(&mut self, object: &Worth, keys: &[Worth]) -> Worth {
        let key = keys.first().cloned().unwrap_or_default();
        match (&object.kind, &key.kind) {
            (Kind::Any(all), _) => {
                let mut found: Option<Worth> = None;
                for one in all.clone() {
                    let value = self.index(&one, keys);
                    found = Some(match found {
                        Some(before) => before.or(value),
                        None => value,
                    });
                }
                found.unwrap_or_default()
            }
            (Kind::Name(name), Kind::Text(_)) => match key.str() {
                Some(key) => {
                    let key = key.to_owned();
                    self.member(object, &key)
                }
                None if (self.language.function)(&format!("{name}.?")).is_some() => {
                    self.lost("a function whose name is computed");
                    Worth::unknown(self.why("a function whose name is computed"))
                }
                None => self.part(object),
            },
            (Kind::List(all), Kind::Number(number)) if keys.len() == 1 => {
                let length = i64::try_from(all.len()).unwrap_or(0);
                let place = if *number < 0 { length + number } else { *number };
                // Lists of Lua begin at one.
                let place = if self.language.name == "lua" { place - 1 } else { place };
                usize::try_from(place)
                    .ok()
                    .and_then(|place| all.get(place))
                    .cloned()
                    .unwrap_or_else(|| self.part(object))
            }
            (Kind::Table(_), Kind::Text(_)) => {
                let key = key.str().unwrap_or_default().to_owned();
                object.field(&key).unwrap_or_else(|| self.part(object))
            }
            (Kind::Text(_) | Kind::List(_), _) => {
                super::fold::slice(object, keys).unwrap_or_else(|| self.part(object))
            }
            _ => self.part(object),
        }
    }

    /// A function, however it was come by, is called.
    pub(super) fn invoke(&mut self, function: &Worth, args: &Args) -> Worth {
        match &function.kind {
            Kind::Function(function) => {
                let function = std::rc::Rc::clone(function);
                self.apply(&function, args)
            }
            Kind::Name(name) => {
                let name = name.clone();
                self.named(&name, args).with(&function.data)
            }
            Kind::Any(all) => {
                let mut found = Worth::default();
                for one in all.clone() {
                    found = self.invoke(&one, args);
                }
                found
            }
            Kind::Text(text) => match text.text().map(str::to_owned) {
                // `$f = "system"; $f("…")`.
                Some(name) if !name.is_empty() => {
                    let name = (self.language.canonical)(&name).unwrap_or(&name).to_owned();
                    self.named(&name, args)
                }
                _ => self.unnamed("", None, args),
            },
            Kind::Nothing | Kind::Number(_) | Kind::List(_) | Kind::Table(_) | Kind::File(_) => {
                self.unnamed("", None, args)
            }
        }
    }

    /// A function of the language or of nobody knows where.
    pub(super) fn named(&mut self, name: &str, args: &Args) -> Worth {
        if let Some(verb) = (self.language.function)(name) {
            return self.perform(verb, name, args);
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        if let Some(function) = self.function_named(name).or_else(|| self.function_named(last)) {
            return self.apply(&function, args);
        }
        self.unnamed(name, None, args)
    }

    /// A method is called.
    pub(super) fn invoke_member(&mut self, object: &Worth, member: &str, args: Args) -> Worth {
        match &object.kind {
            Kind::Any(all) => {
                let mut found: Option<Worth> = None;
                for one in all.clone() {
                    let value = self.invoke_member(&one, member, args.clone());
                    found = Some(match found {
                        Some(before) => before.or(value),
                        None => value,
                    });
                }
                found.unwrap_or_default()
            }
            Kind::Name(name) => {
                let name = name.clone();
                self.invoke_named_member(object, &name, member, args)
            }
            Kind::Function(function) if matches!(member, "call" | "apply" | "bind" | "()") => {
                let function = std::rc::Rc::clone(function);
                let all = args.all.iter().skip(1).flat_map(Worth::elements).collect();
                self.apply(&function, &Args { all, named: args.named })
            }
            Kind::Table(_)
                if matches!(
                    object.field(member),
                    Some(Worth { kind: Kind::Function(_) | Kind::Name(_), .. })
                ) =>
            {
                let function = object.field(member).unwrap_or_default();
                self.invoke(&function, &args)
            }
            _ => {
                if let Some(verb) = (self.language.telling)(member) {
                    return self.perform(verb, member, &args);
                }
                if let Some(value) = super::methods::method(self, object, member, &args) {
                    return value;
                }
                match (self.language.method)(member) {
                    Some(verb) => self.perform(verb, member, &args.behind(object.clone())),
                    None => {
                        if let Some(function) = self.function_named(member) {
                            return self.apply(&function, &args.behind(object.clone()));
                        }
                        self.unnamed(member, Some(object), &args)
                    }
                }
            }
        }
    }

    fn invoke_named_member(&mut self, object: &Worth, name: &str, member: &str, args: Args) -> Worth {
        if (self.language.function)(name) == Some(Verb::Environment) {
            return match (member, args.get(0).str()) {
                ("get" | "fetch" | "[]" | "pop" | "getOrDefault", Some(key)) => {
                    let key = key.to_owned();
                    self.environment(Some(&key))
                }
                _ => self.environment(None),
            };
        }
        let found = self.resolve(&format!("{name}.{member}"));
        let Kind::Name(full) = &found.kind else { return self.invoke(&found, &args) };
        if let Some(verb) = (self.language.function)(full) {
            // `Kernel.send(:system, …)` names a member of what it is called on.
            let args = if verb == Verb::Member { args.behind(object.clone()) } else { args };
            return self.perform(verb, full, &args).with(&object.data);
        }
        if matches!(member, "call" | "apply" | "bind" | "()") && (self.language.function)(name).is_some() {
            let skip = usize::from(member != "()");
            let all = args
                .all
                .iter()
                .skip(skip)
                .flat_map(|one| if member == "apply" { one.elements() } else { vec![one.clone()] });
            return self.named(name, &Args { all: all.collect(), named: args.named });
        }
        if let Some(verb) = (self.language.telling)(member) {
            return self.perform(verb, member, &args).with(&object.data);
        }
        if let Some(verb) = (self.language.method)(member) {
            return self.perform(verb, member, &args.behind(object.clone()));
        }
        if let Some(function) = self.function_named(member) {
            let takes_itself = function
                .params
                .first()
                .is_some_and(|param| matches!(param, super::tree::Expr::Name(name) if name == "self"));
            let args = if takes_itself { args.behind(object.clone()) } else { args };
            return self.apply(&function, &args);
        }
        let full = full.clone();
        self.unnamed(&full, Some(object), &args)
    }

    /// Something nobody knows is called: whatever functions it is given it may call.
    pub(super) fn unnamed(&mut self, name: &str, object: Option<&Worth>, args: &Args) -> Worth {
        // `sh.rm('-rf', x)`: every name of these modules is a program.
        let program = name.strip_prefix("sh.").or_else(|| name.strip_prefix("plumbum.cmd."));
        if let Some(program) =
            program.filter(|name| self.language.name == "python" && !name.contains(['.', '(']))
        {
            let words =
                Args { all: args.all.clone(), named: Vec::new() }.behind(Worth::text(program.to_owned()));
            return self.start(Verb::Words, &words);
        }
        let mut data = object.map(Worth::flows).unwrap_or_default();
        data.extend(args.flows());
        let is_list = object.is_some_and(Worth::is_list);
        let functions: Vec<Worth> = args
            .all
            .iter()
            .chain(args.named.iter().map(|(_, value)| value))
            .filter(|arg| match &arg.kind {
                Kind::Function(_) => true,
                Kind::Name(name) => {
                    (self.language.function)(name).is_some_and(|verb| verb != Verb::Environment)
                }
                _ => false,
            })
            .cloned()
            .collect();
        if functions.is_empty() {
            return Worth::name(format!("{name}()")).with(&data);
        }
        let mut given: Vec<Worth> = match object.filter(|object| !matches!(object.kind, Kind::Function(_))) {
            Some(object) if !matches!(object.kind, Kind::Name(_)) || !object.data.is_empty() => {
                object.elements()
            }
            _ => Vec::new(),
        };
        for arg in args.all.iter().chain(args.named.iter().map(|(_, value)| value)) {
            if !matches!(arg.kind, Kind::Function(_)) && !functions.iter().any(|function| matches!((&function.kind, &arg.kind), (Kind::Name(one), Kind::Name(two)) if one == two)) {
                given.extend(arg.elements());
            }
        }
        let mut results = Vec::new();
        let member = name.rsplit('.').next().unwrap_or(name).trim_end_matches("()");
        let repeats = matches!(
            member,
            "each" | "map" | "forEach" | "times" | "upto" | "step" | "each_with_index" | "flat_map"
        );
        self.rows += u32::from(repeats);
        for function in functions {
            if given.is_empty() {
                let part = Worth::unknown(self.why(format!("what {name} gives"))).with(&data);
                results.push(self.invoke(&function, &Args::of(part)));
            } else if is_list || given.len() > 1 && !matches!(function.kind, Kind::Name(_)) {
                for one in given.iter().take(64) {
                    results.push(self.invoke(&function, &Args::of(one.clone())));
                }
            } else {
                results.push(self.invoke(&function, &Args { all: given.clone(), named: Vec::new() }));
            }
        }
        self.rows -= u32::from(repeats);
        if is_list {
            return Worth::list(results).with(&data);
        }
        results.pop().unwrap_or_default().with(&data)
    }

    /// A variable of the environment, or all of them.
    pub(super) fn environment(&mut self, name: Option<&str>) -> Worth {
        let Some(name) = name else {
            return Worth::name("the environment").with(&[Datum::Environment(None)]);
        };
        let context = self.call.context;
        let set = self.call.invocation.environment.iter().rev().find(|(other, _)| other == name.as_bytes());
        let value = match (set, context.environment.get(name.as_bytes())) {
            (Some((_, value)), _) => value.clone(),
            (None, Some(value)) => Value::known(value.clone()),
            (None, None) => match name {
                "HOME" | "USERPROFILE" => Value::known(context.home.clone()),
                "PWD" => self.cwd.clone(),
                "USER" | "LOGNAME" => Value::known(context.user.clone()),
                "TMPDIR" | "TMP" | "TEMP" => Value::known("/tmp"),
                _ => Value::unknown(self.why(format!("the variable {name}"))),
            },
        };
        Worth::value(value).with(&[Datum::Environment(Some(name.to_owned()))])
    }
}
