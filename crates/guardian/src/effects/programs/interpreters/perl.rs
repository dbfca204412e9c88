//! Perl: which of its names do what, and how `perl` is given code.

use super::super::call::Call;
use super::super::options::{Options, Read};
use super::given::{self, Given};
use super::grammar;
use super::language::Language;
use super::verb::Verb;
use super::worth::Worth;
use crate::effects::act::{Act, Change, Code, Datum};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// The language.
pub(super) static PERL: Language =
    Language { name: "perl", grammar: grammar::PERL, function, method, telling, canonical };

fn canonical(name: &str) -> Option<&str> {
    match name {
        "ARGV" | "shift" => Some("argv"),
        "STDIN" => Some("stdin"),
        _ => name
            .strip_prefix("CORE.GLOBAL.")
            .or_else(|| name.strip_prefix("CORE."))
            .or_else(|| name.strip_prefix("POSIX."))
            .or_else(|| name.strip_prefix("File.Path."))
            .or_else(|| name.strip_prefix("File.Copy."))
            .or_else(|| name.strip_prefix("File.Find."))
            .or_else(|| name.strip_prefix("LWP.Simple.")),
    }
}

fn function(name: &str) -> Option<Verb> {
    Some(match name {
        "unlink" | "rmdir" => Verb::Delete,
        "rmtree" | "remove_tree" | "pathrm" | "pathrmdir" => Verb::DeleteTree,
        "rename" | "move" | "mv" => Verb::Move,
        "copy" | "cp" => Verb::Copy,
        "symlink" | "link" => Verb::Link,
        "mkdir" | "mkpath" | "make_path" => Verb::Make,
        "chmod" | "chown" => Verb::Permit,
        "truncate" => Verb::Write(Change::Empty),
        "open" | "sysopen" | "dbmopen" => Verb::Open,
        "read_file" | "slurp" | "path" => Verb::Read,
        "write_file" | "spew" => Verb::Write(Change::Replace),
        "append_file" => Verb::Write(Change::Append),
        "opendir" => Verb::Harmless,
        "glob" | "bsd_glob" => Verb::Glob,
        "find" | "finddepth" => Verb::Walk,
        "chdir" => Verb::Chdir,
        "system" | "exec" | "IPC.Open3.open3" | "IPC.Open2.open2" => Verb::Words,
        "open2" | "open3" => Verb::LaterWords,
        "qx" | "readpipe" => Verb::Shell,
        "syscall" | "XSLoader.load" | "DynaLoader.dl_load_file" => Verb::Unknown,
        "eval" | "evalbytes" => Verb::Eval,
        "do" => Verb::Load,
        "kill" => Verb::KillSecond,
        "fork" => Verb::Fork,
        "setuid" | "setgid" => Verb::Privilege,
        "get"
        | "getprint"
        | "getstore"
        | "HTTP.Tiny.new().get"
        | "HTTP.Tiny.get"
        | "LWP.UserAgent.new().get" => Verb::Fetch,
        "HTTP.Tiny.new().post" | "LWP.UserAgent.new().post" | "HTTP.Tiny.new().post_form" => Verb::Send,
        "IO.Socket.INET.new" | "IO.Socket.SSL.new" | "connect" => Verb::Connect,
        "send" | "syswrite" => Verb::Transmit,
        "ENV" => Verb::Environment,
        "getcwd" | "cwd" | "Cwd.getcwd" | "Cwd.cwd" => Verb::Cwd,
        "tempdir" | "tempfile" | "File.Temp.tempdir" | "File.Temp.tempfile" | "File.Temp.new" => {
            Verb::Temporary
        }
        "print" | "say" | "printf" => Verb::Print,
        "decode_base64" | "MIME.Base64.decode_base64" | "MIME.Base64.decode" => Verb::Base64,
        "chr" => Verb::Letter,
        "readline" => Verb::Input,
        "map" | "grep" | "sort" | "first" => Verb::Apply,
        "uc" | "lc" | "reverse" | "quotemeta" | "ucfirst" | "lcfirst" | "abs_path" | "rel2abs"
        | "catfile_" | "sockaddr_in_" => Verb::Same,
        "File.Spec.catfile" | "File.Spec.catdir" | "catfile" | "catdir" => Verb::Join,
        "inet_aton" => Verb::Same,
        _ => return None,
    })
}

fn method(name: &str) -> Option<Verb> {
    Some(match name {
        "post" => Verb::Send,
        "remove" => Verb::Delete,
        "remove_tree" => Verb::DeleteTree,
        "spew" => Verb::Write(Change::Replace),
        "slurp" => Verb::Read,
        _ => return None,
    })
}

fn telling(_: &str) -> Option<Verb> {
    None
}

const OPTIONS: Options = Options::new("e:E:M:m:I:F:i?0?l?C?d?D:x?", "help version").stops();

/// `perl`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&OPTIONS);
    if read.has("v V version help h") {
        return Outcome::harmless();
    }
    let codes: Vec<&Value> = read.values("e E").collect();
    let loops = read.has("n p");
    if codes.is_empty() {
        return match read.operands.first() {
            Some(script) if script.text() != Some("-") => {
                if read.has("c") {
                    Outcome::of([call.reads(script)])
                } else {
                    given::file(call, script)
                }
            }
            _ => given::input(call, &PERL, read.operands.get(1..).unwrap_or_default()),
        };
    }
    let operands = call.targets(&read);
    let mut lines = Worth::unknown(call.why("a line that is read"));
    let mut files = Outcome::default();
    if loops {
        for file in &operands {
            let act = call.reads(file);
            if let Act::Read { path, .. } = &act {
                lines = lines.with(&[Datum::File(path.clone())]);
            }
            files.push(act);
            if read.has("i") {
                files.push(call.writes(file, Change::Edit));
                let mut kept = call.path(file);
                kept.push(crate::shell::value::Piece::Glob(b"*".to_vec()));
                if read.value("i").is_some() {
                    files.push(super::super::call::write(kept, Change::Replace, None));
                }
            }
        }
        lines = lines.with(&call.invocation.input.data);
        if operands.is_empty()
            && let Some(text) = &call.invocation.input.text
        {
            // Each of the lines, when they are known.
            lines = Worth::list(Vec::new());
            for line in text.text().unwrap_or_default().lines().take(16) {
                lines = match &lines.kind {
                    super::worth::Kind::List(_) => Worth::text(line),
                    _ => lines.or(Worth::text(line)),
                };
            }
            if text.text().is_none() {
                lines = Worth::value(text.clone());
            }
        }
    }
    let mut given = Given::all(codes.into_iter(), if loops { &[] } else { &operands });
    if loops {
        given = given.with("_", lines.clone()).with("F", lines).said();
    }
    let mut outcome = given::run(call, &PERL, given);
    modules(call, &read, &mut outcome);
    let data: Vec<Datum> = files
        .acts
        .iter()
        .filter_map(|(act, _)| match act {
            Act::Read { path, .. } => Some(Datum::File(path.clone())),
            _ => None,
        })
        .collect();
    if read.has("p") {
        outcome.output.text = None;
        outcome.output.data.extend(data);
        outcome.output.data.extend(call.invocation.input.data.iter().cloned());
    }
    outcome.acts.splice(0..0, files.acts);
    outcome
}

/// What `-M` and `-I` bring along.
fn modules(call: &Call<'_>, read: &Read, outcome: &mut Outcome) {
    for module in read.values("M m") {
        let name = module.text().unwrap_or_default();
        if module.text().is_none() {
            outcome.push(call.unknown("a module whose name is not known"));
        } else if let Some(code) = name.split_once(';').map(|(_, code)| code) {
            // What stands behind a semicolon is code.
            let more = given::run(call, &PERL, Given::new(&Value::known(code), &[]));
            outcome.acts.extend(more.acts);
            outcome.next.extend(more.next);
        }
    }
    for place in read.values("I").filter(|place| place.bytes().is_none()) {
        outcome.push(Act::Run { code: Code::File(call.path(place)), with: call.name.to_owned() });
    }
}
