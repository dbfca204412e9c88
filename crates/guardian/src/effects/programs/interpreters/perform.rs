//! Verbs performed: functions of languages become acts, and values.
//!
//! Owns: what each verb means for the world. Refuses: names of any language.

use super::files::paths;
use super::fold;
use super::verb::Verb;
use super::walk::{Args, Walk};
use super::worth::{Kind, Worth};
use crate::effects::act::{Act, Change, Power};
use crate::effects::programs::call;
use crate::shell::value::{Piece, Value};

impl Walk<'_> {
    /// A value as a path, from where the code is.
    pub(super) fn path(&self, worth: &Worth) -> Value {
        let text = worth.as_text(&|what| self.why(what));
        let text = match text.bytes().and_then(|bytes| bytes.strip_prefix(b"file://")) {
            Some(rest) => Value::known(rest.to_vec()),
            None => text,
        };
        self.call.context.resolve(&text, &self.cwd)
    }

    pub(super) fn written(&mut self, path: &Value, change: Change, content: Option<Value>) {
        let path = self.call.context.resolve(path, &self.cwd);
        // What is said of a file later says more.
        let same = self.outcome.acts.iter_mut().find_map(|(act, _)| match act {
            Act::Write { path: other, change: before, content: kept }
                if *other == path && (kept.is_none() || *before == Change::Append) =>
            {
                Some((before, kept))
            }
            _ => None,
        });
        match same {
            Some((before, kept)) => {
                if *before != Change::Append {
                    *before = change;
                }
                match (kept, content) {
                    (Some(kept), Some(more)) => kept.append(more),
                    (kept @ None, content) => *kept = content,
                    (Some(_), None) => {}
                }
            }
            None => self.push(call::write(path, change, content)),
        }
    }

    /// Does what a verb says, for each alternative of what it is given.
    pub(super) fn perform(&mut self, verb: Verb, name: &str, args: &Args) -> Worth {
        let place = args.all.iter().position(|arg| matches!(arg.kind, Kind::Any(_)));
        let spread = !matches!(verb, Verb::Same | Verb::Print | Verb::Apply | Verb::Harmless | Verb::Join);
        let Some(place) = place.filter(|_| spread) else { return self.performed(verb, name, args) };
        let mut found: Option<Worth> = None;
        for one in args.get(place).alternatives() {
            let mut chosen = args.clone();
            if let Some(arg) = chosen.all.get_mut(place) {
                *arg = one;
            }
            let value = self.perform(verb, name, &chosen);
            found = Some(match found {
                Some(before) => before.or(value),
                None => value,
            });
        }
        found.unwrap_or_default()
    }

    fn performed(&mut self, verb: Verb, name: &str, args: &Args) -> Worth {
        let first = args.either(0, &["path", "file", "filename", "name", "url", "args", "src"]);
        match verb {
            Verb::Delete | Verb::DeleteTree | Verb::DeletePerhapsTree => self.delete(verb, &first, args),
            Verb::Read => self.read(&first),
            Verb::Write(change) => self.write(change, &first, args),
            Verb::Open => self.open(&first, args),
            Verb::Move | Verb::Copy | Verb::Link => self.moved(verb, args),
            Verb::Make => {
                for one in paths(&first) {
                    let path = self.path(&one);
                    self.push(call::write(path, Change::Make, None));
                }
                first
            }
            Verb::Permit => self.permit(args),
            Verb::List | Verb::Entries | Verb::Glob | Verb::Walk => self.listed(verb, args),
            Verb::Extract => self.extract(args),
            Verb::Shell | Verb::Program | Verb::Words | Verb::LaterWords | Verb::Exec | Verb::Terminal => {
                self.start(verb, args)
            }
            Verb::Eval => self.evaluate(&first),
            Verb::Load => self.load(&first),
            Verb::Import => self.import(name, &first),
            Verb::Member => self.by_name(args),
            Verb::Fetch | Verb::Send | Verb::Connect | Verb::Transmit => self.network(verb, name, args),
            Verb::Redirect => {
                self.shells = true;
                Worth::default()
            }
            Verb::Chdir => {
                self.cwd = self.path(&first);
                Worth::default()
            }
            Verb::Kill | Verb::KillSecond => {
                let target = if verb == Verb::Kill { first } else { args.get(1) };
                let words = [Worth::text("kill"), Worth::text("-9"), Worth::text("--"), target];
                self.start(Verb::Program, &Args::of(Worth::list(words.to_vec())));
                Worth::default()
            }
            Verb::Fork => {
                if self.loops > 0 {
                    self.push(Act::Power(Power::Exhaust));
                }
                Worth::default()
            }
            Verb::Privilege => {
                self.push(Act::Privilege { how: name.to_owned() });
                Worth::default()
            }
            Verb::Unknown => {
                self.lost(&format!("what {name} does"));
                Worth::name(format!("{name}()")).with(&args.flows())
            }
            Verb::Apply => self.applied_to(name, args),
            _ => self.value(verb, name, &first, args),
        }
    }

    /// Verbs that do nothing and have a value.
    fn value(&mut self, verb: Verb, name: &str, first: &Worth, args: &Args) -> Worth {
        match verb {
            Verb::Environment => self.environment(None),
            Verb::Variable => match first.str() {
                Some(name) => {
                    let name = name.to_owned();
                    self.environment(Some(&name))
                }
                None => self.environment(None),
            },
            Verb::Home => Worth::text(self.call.context.home.clone()),
            Verb::Cwd => Worth::value(self.cwd.clone()),
            Verb::Temporary => {
                let mut path = Value::known("/tmp/");
                path.push(Piece::Unknown(self.why("a name nobody else has").filled()));
                Worth {
                    kind: if name.contains("emp") && name.contains("ile") {
                        Kind::File(path)
                    } else {
                        Kind::Text(path)
                    },
                    data: Vec::new(),
                }
            }
            Verb::Join => self.path_joined(&args.all),
            Verb::Expand => match first.known().and_then(|bytes| bytes.strip_prefix(b"~")) {
                Some(rest) => {
                    Worth::text([self.call.context.home.as_slice(), rest].concat()).with(&first.data)
                }
                None => first.clone(),
            },
            Verb::Parent => {
                let mut path = first.as_text(&|what| self.why(what));
                path.push(Piece::Known(b"/..".to_vec()));
                Worth::value(self.call.context.resolve(&path, &self.cwd)).with(&first.data)
            }
            Verb::Print => {
                let mut line = Worth::value(Value::default());
                for (place, one) in args.all.iter().enumerate() {
                    if place > 0 {
                        line = self.joined(&line, &Worth::text(" "));
                    }
                    line = self.joined(&line, one);
                }
                let said = std::mem::take(&mut self.said);
                let said = self.joined(&said, &line);
                self.said = self.joined(&said, &Worth::text("\n"));
                line
            }
            Verb::Input => {
                let input = &self.call.invocation.input;
                let text = input.text.clone().unwrap_or_else(|| Value::unknown(self.why("what is read")));
                Worth::value(text).with(&input.data)
            }
            Verb::Base64 => fold::decoded(first, "base64"),
            Verb::Hex => fold::decoded(first, "hex"),
            Verb::Rot13 => match args.get(1).str() {
                Some("base64" | "hex") => fold::decoded(first, args.get(1).str().unwrap_or_default()),
                Some("rot13" | "rot_13") | None => fold::rot13(first),
                Some(_) => first.clone(),
            },
            Verb::Letter => {
                let numbers: Vec<Worth> = args.all.iter().flat_map(Worth::elements).collect();
                fold::letters(&numbers).map_or_else(|| first.clone().with(&args.flows()), Worth::text)
            }
            Verb::Same => {
                let encoding = args.get(1);
                match encoding.str() {
                    Some(how @ ("base64" | "hex")) => fold::decoded(first, how),
                    _ => first.clone().with(&args.flows()),
                }
            }
            _ => Worth::name(format!("{name}()")).with(&args.flows()),
        }
    }
}
