//! Ruby, and Elixir, which is written alike.

use super::super::call::Call;
use super::super::options::Options;
use super::given::{self, Given};
use super::grammar;
use super::language::Language;
use super::verb::Verb;
use super::worth::Worth;
use crate::effects::act::{Act, Change, Code, Datum};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// The language.
pub(super) static RUBY: Language =
    Language { name: "ruby", grammar: grammar::RUBY, function, method, telling, canonical };
/// Its cousin.
pub(super) static ELIXIR: Language = Language {
    name: "elixir",
    grammar: grammar::ELIXIR,
    function: elixir,
    method: |_| None,
    telling: |_| None,
    canonical,
};

fn canonical(name: &str) -> Option<&str> {
    match name {
        "ARGV" => Some("argv"),
        "STDIN" | "stdin" | "ARGF" | "gets" => Some("stdin"),
        _ => name.strip_prefix("Kernel.").or_else(|| name.strip_prefix("Object.")),
    }
}

fn function(name: &str) -> Option<Verb> {
    Some(match name {
        "File.delete"
        | "File.unlink"
        | "Dir.rmdir"
        | "Dir.delete"
        | "Dir.unlink"
        | "FileUtils.rm"
        | "FileUtils.rm_f"
        | "FileUtils.remove"
        | "FileUtils.safe_unlink"
        | "FileUtils.rmdir" => Verb::Delete,
        "FileUtils.rm_rf"
        | "FileUtils.rm_r"
        | "FileUtils.remove_dir"
        | "FileUtils.remove_entry"
        | "FileUtils.rmtree"
        | "FileUtils.remove_entry_secure"
        | "FileUtils.remove_file"
        | "rm_rf"
        | "rm_r" => Verb::DeleteTree,
        "File.rename" | "FileUtils.mv" | "FileUtils.move" => Verb::Move,
        "FileUtils.cp" | "FileUtils.cp_r" | "FileUtils.copy" | "IO.copy_stream" | "FileUtils.install" => {
            Verb::Copy
        }
        "File.symlink" | "FileUtils.ln_s" | "FileUtils.ln" | "File.link" | "FileUtils.ln_sf" => Verb::Link,
        "FileUtils.mkdir" | "FileUtils.mkdir_p" | "FileUtils.touch" | "Dir.mkdir" => Verb::Make,
        "File.chmod" | "File.chown" | "FileUtils.chmod" | "FileUtils.chmod_R" | "FileUtils.chown"
        | "FileUtils.chown_R" => Verb::Permit,
        "File.truncate" => Verb::Write(Change::Empty),
        "File.write" | "IO.write" | "File.binwrite" | "IO.binwrite" => Verb::Write(Change::Replace),
        "File.read" | "IO.read" | "File.readlines" | "IO.readlines" | "File.binread" | "File.foreach"
        | "YAML.load_file" | "JSON.load_file" => Verb::Read,
        "File.open" | "File.new" | "open" | "IO.open" => Verb::Open,
        "Dir.glob" | "Dir.[]" => Verb::Glob,
        "Dir.children" | "Dir.entries" | "Dir.each_child" | "Dir.foreach" => Verb::List,
        "Find.find" => Verb::Glob,
        "Dir.chdir" => Verb::Chdir,
        "Dir.pwd" | "Dir.getwd" | "pwd" => Verb::Cwd,
        "Dir.home" => Verb::Home,
        "Dir.mktmpdir" | "Dir.tmpdir" | "Tempfile.new" | "Tempfile.create" => Verb::Temporary,
        "File.join" => Verb::Join,
        "File.expand_path" => Verb::Expand,
        "File.dirname" => Verb::Parent,
        "File.realpath" | "String" | "URI" | "URI.parse" | "Pathname" | "Pathname.new"
        | "Shellwords.escape" | "Array" => Verb::Same,
        "system" | "sh" | "exec" | "spawn" | "Process.spawn" | "Open3.capture2" | "Open3.capture2e"
        | "Open3.capture3" | "Open3.popen3" | "Open3.popen2" | "PTY.spawn" | "Process.exec" | "IO.popen" => {
            Verb::Words
        }
        "`" => Verb::Shell,
        "eval" | "instance_eval" | "class_eval" | "binding.eval" | "RubyVM.InstructionSequence.compile" => {
            Verb::Eval
        }
        "load" | "instance_eval_file" => Verb::Load,
        "send" | "public_send" | "__send__" | "method" | "Object.const_get" | "const_get" => Verb::Member,
        "Process.kill" => Verb::KillSecond,
        "fork" | "Process.fork" => Verb::Fork,
        "Process.setuid" | "Process.Sys.setuid" | "Process.uid=" => Verb::Privilege,
        "Net.HTTP.get"
        | "Net.HTTP.get_response"
        | "URI.open"
        | "OpenURI.open_uri"
        | "HTTParty.get"
        | "Faraday.get"
        | "RestClient.get" => Verb::Fetch,
        "Net.HTTP.post" | "Net.HTTP.post_form" | "HTTParty.post" | "Faraday.post" | "RestClient.post" => {
            Verb::Send
        }
        "TCPSocket.new" | "TCPSocket.open" | "Net.HTTP.start" | "Net.HTTP.new" | "UDPSocket.new"
        | "Socket.tcp" => Verb::Connect,
        "ENV" => Verb::Environment,
        "ENV.fetch" | "ENV.[]" => Verb::Variable,
        "puts" | "print" | "p" | "pp" | "STDOUT.puts" | "$stdout.puts" | "printf" | "STDOUT.write" => {
            Verb::Print
        }
        "Base64.decode64" | "Base64.strict_decode64" | "Base64.urlsafe_decode64" => Verb::Base64,
        "loop" => Verb::Apply,
        "Fiddle.dlopen" | "syscall" => Verb::Unknown,
        _ => return None,
    })
}

fn method(name: &str) -> Option<Verb> {
    Some(match name {
        "unlink" | "delete_file" => Verb::Delete,
        "rmtree" => Verb::DeleteTree,
        "send" | "public_send" | "__send__" | "method" | "const_get" => Verb::Member,
        "write" | "puts" | "print" | "syswrite" => Verb::Transmit,
        "post" => Verb::Transmit,
        _ => return None,
    })
}

fn telling(name: &str) -> Option<Verb> {
    Some(match name {
        "rm_rf" | "rm_r" => Verb::DeleteTree,
        "popen" | "capture3" => Verb::Words,
        _ => return None,
    })
}

fn elixir(name: &str) -> Option<Verb> {
    Some(match name {
        "File.rm" | "File.rm!" | "File.rmdir" | "File.rmdir!" => Verb::Delete,
        "File.rm_rf" | "File.rm_rf!" => Verb::DeleteTree,
        "File.write" | "File.write!" => Verb::Write(Change::Replace),
        "File.read" | "File.read!" | "File.stream!" => Verb::Read,
        "File.cp" | "File.cp!" | "File.cp_r" | "File.cp_r!" => Verb::Copy,
        "File.rename" | "File.rename!" => Verb::Move,
        "File.mkdir" | "File.mkdir_p" | "File.mkdir_p!" | "File.touch" | "File.touch!" => Verb::Make,
        "File.chmod" | "File.chmod!" => Verb::Permit,
        "System.cmd" => Verb::Program,
        "System.shell" | "os.cmd" => Verb::Shell,
        "Code.eval_string" => Verb::Eval,
        "System.get_env" => Verb::Variable,
        "System.user_home" | "System.user_home!" => Verb::Home,
        "Path.wildcard" => Verb::Glob,
        "Path.join" => Verb::Join,
        "Path.expand" => Verb::Expand,
        "IO.puts" | "IO.inspect" => Verb::Print,
        "HTTPoison.get" | "Req.get" | "Req.get!" | "httpc.request" => Verb::Fetch,
        "HTTPoison.post" | "Req.post" | "Req.post!" => Verb::Send,
        "Enum.each" | "Enum.map" => Verb::Apply,
        "apply" => Verb::Unknown,
        _ => return None,
    })
}

const OPTIONS: Options =
    Options::new("e:r:I:C:E:K:W?F:i?0?x?", "help version enable= disable= encoding=").stops();

/// `ruby`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&OPTIONS);
    if read.has("v version help h") && !read.has("e") {
        return Outcome::harmless();
    }
    let codes: Vec<&Value> = read.values("e").collect();
    // `ruby -run -e httpd DIRECTORY`
    if codes.iter().any(|code| code.text() == Some("httpd")) {
        return call.serves(read.operands.first());
    }
    if codes.is_empty() {
        return match read.operands.first() {
            Some(script) if script.text() != Some("-") => {
                if read.has("c") {
                    Outcome::of([call.reads(script)])
                } else {
                    given::file(call, script)
                }
            }
            _ => given::input(call, &RUBY, &[]),
        };
    }
    let loops = read.has("n p");
    let mut given = Given::all(codes.into_iter(), &read.operands);
    let mut files = Outcome::default();
    if loops {
        let mut line = Worth::unknown(call.why("a line that is read")).with(&call.invocation.input.data);
        for file in &read.operands {
            files.push(call.reads(file));
            line = line.with(&[Datum::File(call.path(file))]);
            if read.has("i") {
                files.push(call.writes(file, Change::Edit));
            }
        }
        given = given.with("_", line).said();
    }
    let mut outcome = given::run(call, &RUBY, given);
    for library in read.values("r") {
        if library.prefix().starts_with(b".")
            || library.prefix().starts_with(b"/")
            || library.text().is_none()
        {
            outcome.push(Act::Run { code: Code::File(call.path(library)), with: call.name.to_owned() });
        }
    }
    outcome.acts.splice(0..0, files.acts);
    outcome
}

/// `elixir -e`.
pub(super) fn elixir_outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("e:r:S:", "eval= rpc-eval= version help").stops());
    let codes: Vec<&Value> = read.values("e eval").collect();
    match (codes.is_empty(), read.operands.first()) {
        (false, _) => given::run(call, &ELIXIR, Given::all(codes.into_iter(), &read.operands)),
        (true, Some(script)) => given::file(call, script),
        (true, None) => Outcome::harmless(),
    }
}
