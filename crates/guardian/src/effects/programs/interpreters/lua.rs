//! Lua, R, Julia, Groovy and Java's shell: smaller languages, each a table.

use super::super::call::Call;
use super::super::options::Options;
use super::given::{self, Given};
use super::grammar;
use super::language::Language;
use super::verb::Verb;
use crate::effects::act::Change;
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

static LUA: Language = Language {
    name: "lua",
    grammar: grammar::LUA,
    function: lua,
    method: |_| None,
    telling: |_| None,
    canonical: argv,
};
static R: Language = Language {
    name: "R",
    grammar: grammar::R,
    function: r,
    method: |_| None,
    telling: |_| None,
    canonical: argv,
};
static JULIA: Language = Language {
    name: "julia",
    grammar: grammar::JULIA,
    function: julia,
    method: |_| None,
    telling: |_| None,
    canonical: argv,
};
static GROOVY: Language = Language {
    name: "groovy",
    grammar: grammar::GROOVY,
    function: jvm,
    method: jvm_method,
    telling: |_| None,
    canonical: argv,
};
static JAVA: Language = Language {
    name: "java",
    grammar: grammar::JAVA,
    function: jvm,
    method: jvm_method,
    telling: |_| None,
    canonical: argv,
};

fn argv(name: &str) -> Option<&str> {
    match name {
        "arg" | "ARGS" | "args" => Some("argv"),
        "io.stdin" | "stdin" => Some("stdin"),
        _ => None,
    }
}

fn lua(name: &str) -> Option<Verb> {
    Some(match name {
        "os.execute" | "io.popen" | "vim.fn.system" | "vim.cmd" => Verb::Shell,
        "os.remove" => Verb::Delete,
        "os.rename" => Verb::Move,
        "io.open" | "io.output" => Verb::Open,
        "io.lines" | "io.input" => Verb::Read,
        "load" | "loadstring" => Verb::Eval,
        "dofile" | "loadfile" => Verb::Load,
        "os.getenv" => Verb::Variable,
        "os.tmpname" => Verb::Temporary,
        "print" | "io.write" => Verb::Print,
        "string.char" => Verb::Letter,
        "tostring" | "string.format_" => Verb::Same,
        "socket.tcp().connect" | "socket.connect" => Verb::Connect,
        "socket.http.request" | "http.request" => Verb::Fetch,
        "package.loadlib" | "os.?" | "io.?" => Verb::Unknown,
        "lfs.rmdir" => Verb::Delete,
        _ => return None,
    })
}

fn r(name: &str) -> Option<Verb> {
    Some(match name {
        "system" | "shell" | "pipe" => Verb::Shell,
        "system2" | "processx.run" => Verb::Words,
        "unlink" => Verb::DeletePerhapsTree,
        "file.remove" | "fs.file_delete" => Verb::Delete,
        "fs.dir_delete" => Verb::DeleteTree,
        "file.rename" => Verb::Move,
        "file.copy" => Verb::Copy,
        "file.create" | "dir.create" => Verb::Make,
        "Sys.chmod" => Verb::Permit,
        "readLines" | "readRDS" | "read.csv" | "read.table" | "scan" | "readr.read_csv" | "file" => {
            Verb::Read
        }
        "writeLines" | "cat_" | "saveRDS" | "write.csv" => return None,
        "source" | "sys.source" => Verb::Load,
        "eval" | "parse" => Verb::Eval,
        "setwd" => Verb::Chdir,
        "getwd" => Verb::Cwd,
        "Sys.getenv" => Verb::Variable,
        "path.expand" => Verb::Expand,
        "file.path" => Verb::Join,
        "download.file" | "url" | "httr.GET" => Verb::Fetch,
        "httr.POST" => Verb::Send,
        "list.files" => Verb::List,
        "Sys.glob" => Verb::Glob,
        "tempfile" | "tempdir" => Verb::Temporary,
        "print" | "cat" | "message" => Verb::Print,
        "do.call" | "lapply" | "sapply" | "vapply" => Verb::Apply,
        "paste0" | "dyn.load" => return None,
        _ => return None,
    })
}

fn julia(name: &str) -> Option<Verb> {
    Some(match name {
        "rm" | "Base.rm" | "Base.Filesystem.rm" => Verb::DeletePerhapsTree,
        "run" | "read_" | "readchomp" => Verb::Shell,
        "mv" => Verb::Move,
        "cp" => Verb::Copy,
        "mkdir" | "mkpath" | "touch" => Verb::Make,
        "chmod" => Verb::Permit,
        "write" => Verb::Write(Change::Replace),
        "read" | "readlines" | "eachline" | "readline" => Verb::Read,
        "open" => Verb::Open,
        "include" => Verb::Load,
        "include_string" | "eval" | "Meta.parse" => Verb::Eval,
        "cd" => Verb::Chdir,
        "pwd" => Verb::Cwd,
        "homedir" => Verb::Home,
        "ENV" => Verb::Environment,
        "joinpath" => Verb::Join,
        "expanduser" => Verb::Expand,
        "readdir" => Verb::List,
        "download" | "Downloads.download" | "HTTP.get" => Verb::Fetch,
        "HTTP.post" => Verb::Send,
        "println" | "print" | "show" => Verb::Print,
        "ccall" => Verb::Unknown,
        "foreach" | "map" => Verb::Apply,
        _ => return None,
    })
}

fn jvm(name: &str) -> Option<Verb> {
    Some(match name {
        "Runtime.getRuntime().exec" | "java.lang.Runtime.getRuntime().exec" | "runtime.exec" => Verb::Shell,
        "ProcessBuilder" | "java.lang.ProcessBuilder" => Verb::Words,
        "Files.delete"
        | "Files.deleteIfExists"
        | "java.nio.file.Files.delete"
        | "java.nio.file.Files.deleteIfExists" => Verb::Delete,
        "FileUtils.deleteDirectory" => Verb::DeleteTree,
        "Files.write" | "Files.writeString" => Verb::Write(Change::Replace),
        "FileWriter" | "FileOutputStream" | "java.io.FileWriter" => Verb::Write(Change::Empty),
        "Files.readString" | "Files.readAllLines" | "Files.readAllBytes" | "FileReader" => Verb::Read,
        "Files.move" => Verb::Move,
        "Files.copy" => Verb::Copy,
        "File"
        | "java.io.File"
        | "Path.of"
        | "Paths.get"
        | "java.nio.file.Path.of"
        | "java.nio.file.Paths.get"
        | "URL" => Verb::Same,
        "System.getenv" => Verb::Variable,
        "System.out.println" | "println" | "print" => Verb::Print,
        "evaluate" | "Eval.me" | "GroovyShell().evaluate" => Verb::Eval,
        "Socket" | "java.net.Socket" => Verb::Connect,
        _ => return None,
    })
}

fn jvm_method(name: &str) -> Option<Verb> {
    Some(match name {
        "execute" => Verb::Shell,
        "delete" => Verb::Delete,
        "deleteDir" => Verb::DeleteTree,
        "getText" => Verb::Read,
        "write" | "setText" => Verb::Write(Change::Replace),
        "append" => Verb::Write(Change::Append),
        _ => return None,
    })
}

/// `lua -e`, `Rscript -e`, `julia -e`, `groovy -e`, `jshell -`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let (language, options): (&'static Language, Options) = match call.name {
        "R" | "Rscript" | "littler" => {
            (&R, Options::new("e:f:", "file= vanilla slave no-save quiet verbose version help").stops())
        }
        "julia" => (
            &JULIA,
            Options::new(
                "e:E:p:t:L:J:g?",
                "eval= print= load= project? threads= procs= sysimage= version help",
            )
            .stops(),
        ),
        "groovy" => (&GROOVY, Options::new("e:c:D:", "classpath= encoding= version help").stops()),
        "jshell" => (&JAVA, Options::new("s?R:C:", "startup= feedback= class-path= version help").stops()),
        _ => (&LUA, Options::new("e:l:", "").stops()),
    };
    let read = call.read(&options);
    if read.has("v version help h V") && !read.has("e E eval") {
        return Outcome::harmless();
    }
    let codes: Vec<&Value> = read.values("e E eval print").collect();
    if !codes.is_empty() {
        return given::run(call, language, Given::all(codes.into_iter(), &read.operands));
    }
    match read.value("f file").or_else(|| read.operands.first()) {
        Some(script) if script.text() != Some("-") => given::file(call, script),
        _ => given::input(call, language, &[]),
    }
}
