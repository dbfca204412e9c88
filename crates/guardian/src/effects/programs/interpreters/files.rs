//! Files that code reads, writes, removes and lists.

use super::verb::Verb;
use super::walk::{Args, Walk};
use super::worth::{Kind, Worth, globbed, inside};
use crate::effects::act::{Act, Change, Datum};
use crate::effects::programs::call;
use crate::shell::value::{Piece, Value};

/// Options that say that all below is meant.
const DEEP: [&str; 5] = ["recursive", "force_recursive", "Recurse", "deep", "parents"];

impl Walk<'_> {
    pub(super) fn delete(&mut self, verb: Verb, first: &Worth, args: &Args) -> Worth {
        let deep = match verb {
            Verb::DeleteTree => true,
            Verb::Delete => false,
            _ => {
                let said = args
                    .named(&DEEP)
                    .or_else(|| args.all.get(1).filter(|arg| matches!(arg.kind, Kind::Number(_))).cloned());
                said.is_some_and(|value| !matches!(value.kind, Kind::Number(0)))
            }
        };
        let mut targets = paths(first);
        for more in args.all.iter().skip(1) {
            if matches!(more.kind, Kind::Text(_)) {
                targets.push(more.clone());
            } else if more.is_list() {
                targets.extend(more.elements());
            }
        }
        if targets.is_empty() {
            // `unlink` alone is about `$_`.
            targets.push(self.variable("_").unwrap_or_default());
        }
        for target in targets {
            let path = self.path(&target);
            self.push(Act::Delete { path, deep, filtered: false });
        }
        Worth::default()
    }

    pub(super) fn read(&mut self, first: &Worth) -> Worth {
        let is_url = first.as_text(&|what| self.why(what)).prefix().windows(3).any(|window| window == b"://")
            && !first.known().is_some_and(|text| text.starts_with(b"file://"));
        if is_url {
            return self.network(Verb::Fetch, "", &Args::of(first.clone()));
        }
        let mut data = first.data.clone();
        for one in paths(first) {
            let path = self.path(&one);
            self.push(Act::Read { path: path.clone(), deep: false });
            data.push(Datum::File(path));
        }
        Worth::unknown(self.why("the contents of a file")).with(&data)
    }

    pub(super) fn write(&mut self, change: Change, first: &Worth, args: &Args) -> Worth {
        let content = args.all.get(1).or(args.named.first().map(|(_, value)| value));
        let content = content.map(|content| content.as_text(&|what| self.why(what)));
        let appends = args.named(&["flag", "append", "mode"]).is_some_and(|flag| {
            flag.str().is_some_and(|flag| flag.starts_with('a')) || matches!(flag.kind, Kind::Number(1))
        });
        let change = if appends { Change::Append } else { change };
        let path = self.path(first);
        self.written(&path, change, content);
        Worth::default()
    }

    pub(super) fn open(&mut self, first: &Worth, args: &Args) -> Worth {
        // A handle of Perl comes first: `open(F, ">", "x")`, `open(my $f, "<x")`.
        let handled = self.language.name == "perl";
        let (path, mode) = if handled {
            let handle = args.get(0);
            let value = self.opened_by_letters(&args.get(1), args.all.get(2));
            if let Kind::Name(name) = &handle.kind {
                let name = name.clone();
                self.assign(&name, value.clone());
            }
            return value;
        } else {
            (first.clone(), args.either(1, &["mode", "flags", "open"]))
        };
        if path.known().is_some_and(|text| text.starts_with(b"|")) {
            return self.start(
                Verb::Shell,
                &Args {
                    all: vec![Worth::text(
                        path.known().unwrap_or_default().get(1..).unwrap_or_default().to_vec(),
                    )],
                    named: Vec::new(),
                },
            );
        }
        let text = match &mode.kind {
            Kind::Text(value) => value.text().unwrap_or("w").to_owned(),
            // Flags of `os.open` that are put together are no letters.
            Kind::Nothing if self.language.name == "python" && args.all.len() > 1 => "w".to_owned(),
            Kind::Nothing => "r".to_owned(),
            Kind::Name(name) if name.contains("O_RDONLY") => "r".to_owned(),
            Kind::Table(_) => "r".to_owned(),
            _ => "w".to_owned(),
        };
        let options = args.named(&["write", "append", "truncate", "create", "inplace"]);
        let change = if text.contains('w') || text.contains('x') || options.is_some() {
            Some(Change::Empty)
        } else if text.contains('a') {
            Some(Change::Append)
        } else if text.contains('+') {
            Some(Change::Edit)
        } else {
            None
        };
        let is_url = path.known().is_some_and(|text| text.starts_with(b"http"));
        let Some(change) = change else {
            if is_url {
                return self.read(&path);
            }
            self.read(&path);
            return Worth { kind: Kind::File(self.path(&path)), data: path.data };
        };
        let found = self.path(&path);
        self.written(&found, change, None);
        Worth { kind: Kind::File(found), data: Vec::new() }
    }

    /// `open(F, ">x")`, `open(F, "|-", "cmd")`, `open(F, "cmd|")`.
    pub(super) fn opened_by_letters(&mut self, mode: &Worth, path: Option<&Worth>) -> Worth {
        let written = mode.as_text(&|what| self.why(what));
        let begin = String::from_utf8_lossy(written.prefix()).trim().to_owned();
        let ends_with_pipe = written.bytes().is_some_and(|bytes| bytes.trim_ascii_end().ends_with(b"|"));
        if begin.starts_with('|') || begin.starts_with("-|") || ends_with_pipe {
            let line = match path {
                Some(path) => path.clone(),
                None => Worth::text(begin.trim_matches(['|', '-']).as_bytes().to_vec()),
            };
            return self.start(Verb::Shell, &Args::of(line));
        }
        if begin.contains(">&") || begin.contains("<&") {
            self.shells |= self.connected.is_some();
            return Worth::default();
        }
        let signs = begin.len() - begin.trim_start_matches(['<', '>', '+']).len();
        let (sign, rest) = begin.split_at(signs);
        let target = match path {
            Some(path) => path.clone(),
            None => {
                let mut value = written.clone();
                let known = rest.split(':').next().unwrap_or_default().trim().as_bytes().to_vec();
                match value.pieces.first_mut() {
                    Some(Piece::Known(bytes)) => *bytes = known,
                    _ => value = Value::known(known),
                }
                Worth::value(value)
            }
        };
        let change = match sign {
            ">>" => Change::Append,
            ">" | "+>" => Change::Empty,
            "+<" => Change::Edit,
            _ => return self.read(&target),
        };
        let found = self.path(&target);
        self.written(&found, change, None);
        Worth { kind: Kind::File(found), data: Vec::new() }
    }

    pub(super) fn moved(&mut self, verb: Verb, args: &Args) -> Worth {
        let (from, to) = (args.either(0, &["src", "from"]), args.either(1, &["dst", "to", "target"]));
        let target = self.path(&to);
        for one in paths(&from) {
            let path = self.path(&one);
            match verb {
                Verb::Move => self.push(Act::Delete { path, deep: true, filtered: false }),
                Verb::Link => {}
                _ => self.push(Act::Read { path, deep: false }),
            }
        }
        self.push(call::write(target, if verb == Verb::Link { Change::Make } else { Change::Replace }, None));
        to
    }

    pub(super) fn permit(&mut self, args: &Args) -> Worth {
        // `chmod(path, mode)`, `chmod mode, paths`.
        let numbers_first = matches!(args.get(0).kind, Kind::Number(_));
        let (to, targets): (Worth, Vec<Worth>) = if numbers_first {
            (
                args.get(0),
                args.all
                    .iter()
                    .skip(1)
                    .flat_map(paths)
                    .filter(|one| !matches!(one.kind, Kind::Number(_)))
                    .collect(),
            )
        } else {
            (args.get(1), paths(&args.get(0)))
        };
        let to = match to.kind {
            Kind::Number(number) => Value::known(format!("{number:o}")),
            _ => to.as_text(&|what| self.why(what)),
        };
        for target in targets {
            let path = self.path(&target);
            self.push(Act::Permit { path, deep: false, to: to.clone() });
        }
        Worth::default()
    }

    /// Functions that are given along are called with each of what was found.
    fn each_given(&mut self, args: &Args, found: &Worth) {
        for arg in &args.all {
            if let Kind::Function(function) = &arg.kind {
                let function = std::rc::Rc::clone(function);
                self.apply(&function, &Args::of(found.clone()));
            }
        }
    }

    /// What an archive holds replaces what is there: `extractall(path)`, `unpack_archive(file, directory)`.
    pub(super) fn extract(&mut self, args: &Args) -> Worth {
        let to = args.all.get(1).cloned().or_else(|| args.named(&["path", "extract_dir"]));
        let place = to.map_or_else(|| self.cwd.clone(), |to| self.path(&to));
        self.push(Act::Write { path: inside(&place), change: Change::Replace, content: None });
        Worth::default()
    }

    pub(super) fn listed(&mut self, verb: Verb, args: &Args) -> Worth {
        let first = args.get(0).as_text(&|what| self.why(what));
        let nothing = args.all.is_empty();
        match verb {
            Verb::List => {
                let path = if nothing { self.cwd.clone() } else { self.path(&args.get(0)) };
                self.push(Act::Look { path });
                let any = Worth::value(Value { pieces: vec![Piece::Glob(b"*".to_vec())] });
                self.each_given(args, &any);
                Worth::list(vec![any])
            }
            Verb::Entries => {
                let path = self.path(&args.get(0));
                self.push(Act::Look { path: path.clone() });
                let found = Worth::value(inside(&path));
                self.each_given(args, &found);
                Worth::list(vec![found])
            }
            Verb::Glob => {
                // `Path(directory).glob(pattern)` has both.
                let pattern = match args.all.get(1).filter(|second| matches!(second.kind, Kind::Text(_))) {
                    Some(second) => {
                        self.path_joined(&[args.get(0), second.clone()]).as_text(&|what| self.why(what))
                    }
                    None if nothing => inside(&self.cwd),
                    None => first,
                };
                let found = globbed(&pattern);
                Worth::list(vec![Worth::value(found)])
            }
            _ => {
                let place =
                    args.all.iter().position(|arg| !matches!(arg.kind, Kind::Function(_) | Kind::Table(_)));
                let path = place.map_or_else(|| self.cwd.clone(), |place| self.path(&args.get(place)));
                self.push(Act::Look { path: path.clone() });
                // `find(sub { … }, directory)` calls for each, by `$_`.
                let found = Worth::value(inside(&path));
                for arg in &args.all {
                    if let Kind::Function(function) = &arg.kind {
                        self.assign("_", found.clone());
                        self.assign("File.Find.name", found.clone());
                        let function = std::rc::Rc::clone(function);
                        self.apply(&function, &Args::of(found.clone()));
                    }
                }
                let any =
                    || Worth::list(vec![Worth::value(Value { pieces: vec![Piece::Glob(b"*".to_vec())] })]);
                let directory = Worth::value(path.clone()).or(Worth::value(inside(&path)));
                Worth::list(vec![Worth::list(vec![directory, any(), any()])])
            }
        }
    }
}

/// The paths a value stands for.
pub(super) fn paths(worth: &Worth) -> Vec<Worth> {
    match &worth.kind {
        Kind::List(all) => all.iter().take(256).cloned().collect(),
        Kind::Nothing => Vec::new(),
        _ => vec![worth.clone()],
    }
}
