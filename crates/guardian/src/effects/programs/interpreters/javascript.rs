//! JavaScript: node, bun, deno.

use super::super::call::Call;
use super::super::options::Options;
use super::given::{self, Given};
use super::grammar;
use super::language::Language;
use super::verb::Verb;
use crate::effects::act::{Act, Change, Code, Datum};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// The language.
pub(super) static JAVASCRIPT: Language =
    Language { name: "javascript", grammar: grammar::JAVASCRIPT, function, method, telling, canonical };

fn canonical(name: &str) -> Option<&str> {
    Some(match name {
        "process.argv" | "Deno.args" | "Bun.argv" => "argv",
        "process.stdin" => "stdin",
        "fs.default" | "fs-extra" | "fs.promises" | "graceful-fs" | "fsPromises" | "rimraf.default" => "fs",
        "child_process.default" => "child_process",
        "process.mainModule" | "globalThis" | "global" | "window" | "self" | "globalThis.globalThis" => "",
        "module" => "",
        _ => {
            return name.strip_prefix('.').or_else(|| name.strip_prefix("fs.promises.").and_then(in_fs));
        }
    })
}

/// A member of `fs.promises` is the same of `fs`.
fn in_fs(member: &str) -> Option<&'static str> {
    Some(match member {
        "rm" => "fs.rm",
        "unlink" => "fs.unlink",
        "rmdir" => "fs.rmdir",
        "writeFile" => "fs.writeFile",
        "appendFile" => "fs.appendFile",
        "readFile" => "fs.readFile",
        "rename" => "fs.rename",
        "cp" => "fs.cp",
        "copyFile" => "fs.copyFile",
        "truncate" => "fs.truncate",
        "open" => "fs.open",
        "chmod" => "fs.chmod",
        "mkdir" => "fs.mkdir",
        _ => return None,
    })
}

fn function(name: &str) -> Option<Verb> {
    if let Some((module, member)) = name.rsplit_once('.') {
        let found = match module {
            "fs" | "fs.promises" | "Deno" | "Bun" => files(member),
            "child_process" | "execa" | "shelljs" | "zx" => starts(member),
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    runs(name).or_else(|| speaks(name)).or_else(|| values(name))
}

fn runs(name: &str) -> Option<Verb> {
    Some(match name {
        "require"
        | "import"
        | "process.mainModule.require"
        | "module.require"
        | "createRequire()"
        | "module.createRequire()"
        | "mainModule.require"
        | "process.getBuiltinModule" => Verb::Import,
        "eval"
        | "Function"
        | "vm.runInThisContext"
        | "vm.runInNewContext"
        | "vm.runInContext"
        | "setTimeout"
        | "setInterval"
        | "setImmediate"
        | "vm.Script"
        | "vm.compileFunction"
        | "queueMicrotask" => Verb::Eval,
        "rimraf" | "rimraf.sync" | "rimraf.rimraf" | "rimraf.rimrafSync" | "del" | "del.sync"
        | "del.deleteSync" => Verb::DeleteTree,
        "execa" | "execa.execa" | "execa.execaSync" | "Bun.spawn" | "Bun.spawnSync" | "cross-spawn"
        | "cross-spawn.sync" => Verb::Program,
        "Deno.Command" | "Deno.run" => Verb::Unknown,
        "process.binding"
        | "process.dlopen"
        | "process._linkedBinding"
        | "fs.?"
        | "child_process.?"
        | "process.?"
        | "WebAssembly.instantiate" => Verb::Unknown,
        "Reflect.get" => Verb::Member,
        _ => return None,
    })
}

fn speaks(name: &str) -> Option<Verb> {
    Some(match name {
        "fetch"
        | "axios.get"
        | "http.get"
        | "https.get"
        | "axios"
        | "http.request"
        | "https.request"
        | "got"
        | "node-fetch"
        | "undici.fetch"
        | "undici.request"
        | "XMLHttpRequest().open"
        | "request"
        | "axios.request"
        | "superagent.get"
        | "needle.get"
        | "ky.get"
        | "ky" => Verb::Fetch,
        "axios.post"
        | "axios.put"
        | "axios.patch"
        | "axios.delete"
        | "got.post"
        | "ky.post"
        | "superagent.post"
        | "navigator.sendBeacon"
        | "request.post"
        | "needle.post" => Verb::Send,
        "net.connect"
        | "net.createConnection"
        | "net.Socket().connect"
        | "tls.connect"
        | "WebSocket"
        | "ws"
        | "Deno.connect"
        | "Bun.connect" => Verb::Connect,
        _ => return None,
    })
}

fn values(name: &str) -> Option<Verb> {
    Some(match name {
        "process.env" | "Bun.env" | "Deno.env.toObject" => Verb::Environment,
        "Deno.env.get" => Verb::Variable,
        "process.cwd" | "Deno.cwd" | "__dirname" => Verb::Cwd,
        "process.chdir" | "Deno.chdir" => Verb::Chdir,
        "process.kill" | "Deno.kill" => Verb::Kill,
        "process.setuid" | "process.setgid" | "process.seteuid" => Verb::Privilege,
        "os.homedir" => Verb::Home,
        "os.tmpdir" | "fs.mkdtempSync" | "fs.mkdtemp" => Verb::Temporary,
        "path.join" | "path.resolve" | "path.posix.join" => Verb::Join,
        "path.dirname" => Verb::Parent,
        "path.normalize" | "String" | "Buffer.from" | "decodeURIComponent" | "unescape" | "URL"
        | "Object.assign" | "util.promisify" | "JSON.parse" | "encodeURIComponent" | "Promise.resolve"
        | "String.raw" => Verb::Same,
        "String.fromCharCode" | "String.fromCodePoint" => Verb::Letter,
        "atob" => Verb::Base64,
        "console.log" | "process.stdout.write" | "console.info" => Verb::Print,
        "glob.sync" | "glob.globSync" | "fast-glob.sync" | "fs.globSync" | "globby.sync" => Verb::Glob,
        _ => return None,
    })
}

fn files(member: &str) -> Option<Verb> {
    Some(match member {
        "unlink" | "unlinkSync" => Verb::Delete,
        "rm" | "rmSync" | "rmdir" | "rmdirSync" | "remove" | "removeSync" | "emptyDir" | "emptyDirSync" => {
            Verb::DeletePerhapsTree
        }
        "writeFile" | "writeFileSync" | "outputFile" | "outputFileSync" | "writeTextFile"
        | "writeTextFileSync" | "write" | "writeJson" | "writeJsonSync" => Verb::Write(Change::Replace),
        "appendFile" | "appendFileSync" => Verb::Write(Change::Append),
        "truncate" | "truncateSync" => Verb::Write(Change::Empty),
        "createWriteStream" => Verb::Write(Change::Empty),
        "open" | "openSync" => Verb::Open,
        "readFile" | "readFileSync" | "createReadStream" | "readTextFile" | "readTextFileSync" | "file"
        | "readJson" | "readJsonSync" => Verb::Read,
        "rename" | "renameSync" | "move" | "moveSync" => Verb::Move,
        "copyFile" | "copyFileSync" | "cp" | "cpSync" | "copy" | "copySync" => Verb::Copy,
        "symlink" | "symlinkSync" | "link" | "linkSync" => Verb::Link,
        "mkdir" | "mkdirSync" | "ensureDir" | "ensureDirSync" | "ensureFileSync" => Verb::Make,
        "chmod" | "chmodSync" | "chown" | "chownSync" | "lchown" => Verb::Permit,
        "readdir" | "readdirSync" | "readDir" | "readDirSync" => Verb::List,
        _ => return None,
    })
}

fn starts(member: &str) -> Option<Verb> {
    Some(match member {
        "exec" | "execSync" | "command" | "commandSync" => Verb::Shell,
        "spawn" | "spawnSync" | "execFile" | "execFileSync" => Verb::Program,
        "fork" => Verb::Load,
        "rm" => Verb::DeleteTree,
        _ => return None,
    })
}

fn method(name: &str) -> Option<Verb> {
    match name {
        "write" | "end" | "send" => Some(Verb::Transmit),
        _ => None,
    }
}

fn telling(name: &str) -> Option<Verb> {
    let says = matches!(name, "execFile" | "unlink" | "writeFile" | "appendFile" | "readFile")
        || name.len() > 5 && name.ends_with("Sync");
    if says { files(name).or_else(|| starts(name)) } else { None }
}

const NODE: Options = Options::new(
    "e:p:r:C:",
    "eval= print= require= import= loader= experimental-loader= conditions= input-type= env-file= inspect? test? \
     test-name-pattern= max-old-space-size= title= version help check interactive watch watch-path= run=",
);
/// `node`.
pub(super) fn node(call: &Call<'_>) -> Outcome {
    let stops = NODE.stops();
    let read = call.read(&stops);
    if read.has("version v help h") && !read.has("e p eval print") {
        return Outcome::harmless();
    }
    let mut loaded = Outcome::default();
    for module in read.values("r require import loader experimental-loader") {
        if module.prefix().starts_with(b".") || module.prefix().starts_with(b"/") {
            loaded.push(Act::Run { code: Code::File(call.path(module)), with: call.name.to_owned() });
        }
    }
    let codes: Vec<Value> = read
        .values("e eval")
        .cloned()
        .chain(read.values("p print").map(|code| match code.text() {
            // One expression is said.
            Some(text) if !text.contains([';', '\n']) => Value::known(format!("console.log({text})")),
            _ => code.clone(),
        }))
        .collect();
    let mut outcome = if !codes.is_empty() {
        let mut given = Given::all(codes.iter(), &read.operands).counting(Value::known("node"));
        if read.has("p print") {
            given = given.said();
        }
        given::run(call, &JAVASCRIPT, given)
    } else if read.has("test run") {
        Outcome::of([Act::Run { code: Code::Project, with: call.name.to_owned() }])
    } else {
        match read.operands.first() {
            Some(script) if script.text() != Some("-") => given::file(call, script),
            _ => given::input(call, &JAVASCRIPT, &[]),
        }
    };
    // A library that puts a file into the environment, all of which is said then.
    let loads = |code: &Value| code.prefix().windows(6).any(|part| part == b"dotenv");
    if outcome.output.data.contains(&Datum::Environment(None))
        && (codes.iter().any(loads) || read.values("r require import").any(loads))
    {
        outcome.push(call.reads(&Value::known(".env")));
    }
    outcome.acts.splice(0..0, loaded.acts);
    outcome
}

/// `bun -e`, `deno eval`; what else they do is a package manager's.
pub(super) fn managers(call: &Call<'_>) -> Outcome {
    let read = call.read(&NODE);
    if call.name == "deno" && read.verb() == "eval" {
        let rest: Vec<Value> = read.operands.iter().skip(2).cloned().collect();
        return match read.operands.get(1) {
            Some(code) => given::run(call, &JAVASCRIPT, Given::new(code, &rest)),
            None => Outcome::harmless(),
        };
    }
    let reads_code = matches!(call.args, []) || matches!(call.args, [only] if only.text() == Some("-"));
    if call.name == "bun" && read.has("e eval p print") || reads_code {
        let mut outcome = node(call);
        for code in read.values("e eval p print").filter_map(Value::text) {
            // Bun has a shell of its own.
            let shell = code.split("$`").skip(1).filter_map(|rest| rest.split('`').next());
            outcome.next.extend(shell.map(|line| call.shell(Value::known(line))));
        }
        return outcome;
    }
    super::super::projects::family(call.name).map_or_else(Outcome::harmless, |program| program(call))
}
