//! Code within code: what is evaluated, loaded, imported, and called by a name that is a value.

use super::lexer::Source;
use super::parser::program;
use super::walk::{Args, Walk};
use super::worth::{Kind, Worth};
use crate::effects::act::{Act, Code, Datum};
use crate::shell::value::Piece;

impl Walk<'_> {
    /// Functions are called with the elements of what else is given; their names may be text.
    pub(super) fn applied_to(&mut self, name: &str, args: &Args) -> Worth {
        let mut args = args.clone();
        let mut any = false;
        for arg in args.all.iter_mut().chain(args.named.iter_mut().map(|(_, value)| value)) {
            let named = match (arg.str(), &arg.kind) {
                (Some(text), _) if (self.language.function)(text).is_some() => Some(text.to_owned()),
                (_, Kind::Function(_)) => {
                    any = true;
                    None
                }
                (_, Kind::Name(name)) => {
                    any |= (self.language.function)(name).is_some();
                    None
                }
                _ => None,
            };
            if let Some(text) = named {
                any = true;
                *arg = Worth::name(text);
            }
        }
        if any {
            return self.unnamed(name, None, &args);
        }
        args.get(0).with(&args.flows())
    }

    /// Code that is put together.
    pub(super) fn evaluate(&mut self, code: &Worth) -> Worth {
        if let Kind::Function(function) = &code.kind {
            let function = std::rc::Rc::clone(function);
            return self.apply(&function, &Args::default());
        }
        let text = code.as_text(&|what| self.why(what));
        if text.pieces.iter().any(|piece| matches!(piece, Piece::Known(_))) && !downloads(&code.data) {
            let source = Source::of(&text);
            let (tree, whole) = program(&source.text, &source, &self.language.grammar, 8);
            if !whole {
                self.lost("code nested too deep");
            }
            let holds = text.why().cloned();
            let value = self.all(&tree);
            if let Some(why) = holds.filter(|why| !why.is_number()) {
                self.push(Act::Unknown(why));
            }
            return value;
        }
        self.runs(code, "code that is put together");
        Worth::name("eval()").with(&code.data)
    }

    /// Something of which the text is not known is run.
    pub(super) fn runs(&mut self, code: &Worth, what: &str) {
        let mut named = false;
        for datum in code.flows() {
            if let Datum::Download(from) = datum {
                named = true;
                self.push(Act::Run { code: Code::Download(from), with: self.call.name.to_owned() });
                self.shells |= self.connected.is_some();
            } else if let Datum::File(path) = datum {
                named = true;
                self.push(Act::Run { code: Code::File(path), with: self.call.name.to_owned() });
            }
        }
        if !named {
            self.lost(what);
        }
    }

    pub(super) fn load(&mut self, first: &Worth) -> Worth {
        let text = first.as_text(&|what| self.why(what));
        if downloads(&first.data) || text.prefix().starts_with(b"http") {
            let worth = first.clone().with(&[Datum::Download(text)]);
            self.runs(&worth, "code that is put together");
        } else if text.bytes().is_some() {
            let path = self.path(first);
            let in_code = path.bytes().is_some();
            if in_code {
                self.push(Act::Run { code: Code::File(path), with: self.call.name.to_owned() });
            }
        } else {
            self.runs(first, "a file that is run");
        }
        Worth::default()
    }

    pub(super) fn import(&mut self, name: &str, first: &Worth) -> Worth {
        let Some(module) = first.str() else {
            if first.as_text(&|what| self.why(what)).prefix().first() != Some(&b'.') {
                self.lost("a module whose name is computed");
            }
            return Worth::default();
        };
        let module = module.strip_prefix("node:").unwrap_or(module).to_owned();
        if module.starts_with(['.', '/']) {
            return Worth::name(module);
        }
        // `__import__('a.b')` is `a`.
        let module = if name == "__import__" {
            module.split('.').next().unwrap_or_default().to_owned()
        } else {
            module.replace('/', ".")
        };
        self.resolve(&module)
    }

    /// `getattr(object, name)`, `send(:name, …)`.
    pub(super) fn by_name(&mut self, args: &Args) -> Worth {
        let object = args.get(0);
        if let Some(name) = object.str().filter(|name| (self.language.function)(name).is_some()) {
            let name = name.to_owned();
            let all = args.all.get(1..).unwrap_or_default().to_vec();
            return self.named(&name, &Args { all, named: args.named.clone() });
        }
        let Some(member) = args.get(1).str().map(str::to_owned) else {
            if matches!(object.kind, Kind::Name(_)) {
                self.lost("a function whose name is computed");
            }
            return Worth::default().with(&object.data);
        };
        if args.all.len() > 2 && self.language.grammar.members.contains(&"&.") {
            let rest =
                Args { all: args.all.get(2..).unwrap_or_default().to_vec(), named: args.named.clone() };
            return self.invoke_member(&object, &member, rest);
        }
        self.member(&object, &member)
    }
}

/// Whether something came from the network.
fn downloads(data: &[Datum]) -> bool {
    data.iter().any(|datum| matches!(datum, Datum::Download(_)))
}
