//! Python: which of its names do what, and how `python` is given code or a module.

use super::super::call::Call;
use super::super::options::Options;
use super::given::{self, Given};
use super::grammar;
use super::language::Language;
use super::verb::Verb;
use crate::effects::act::{Act, Change, Code};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// The language.
pub(super) static PYTHON: Language =
    Language { name: "python", grammar: grammar::PYTHON, function, method, telling, canonical };

fn canonical(name: &str) -> Option<&str> {
    Some(match name {
        "sys.argv" => "argv",
        "sys.stdin" | "sys.stdin.buffer" => "stdin",
        "posix" | "nt" => "os",
        "popen2" | "commands" => "subprocess",
        "globals()" | "locals()" | "vars()" | "__builtins__" | "builtins" => "",
        "sys.modules" => "",
        _ => {
            let name = name.strip_prefix("builtins.").or_else(|| name.strip_prefix("__builtins__."))?;
            return Some(name);
        }
    })
}

fn function(name: &str) -> Option<Verb> {
    let name = name.strip_prefix('.').unwrap_or(name);
    files(name).or_else(|| starts(name)).or_else(|| speaks(name)).or_else(|| values(name))
}

fn files(name: &str) -> Option<Verb> {
    Some(match name {
        "os.remove" | "os.unlink" | "os.rmdir" | "os.removedirs" | "send2trash.send2trash" => Verb::Delete,
        "shutil.rmtree" | "distutils.dir_util.remove_tree" | "setuptools.archive_util.rmtree" => {
            Verb::DeleteTree
        }
        "os.rename" | "os.renames" | "os.replace" | "shutil.move" => Verb::Move,
        "shutil.copy" | "shutil.copy2" | "shutil.copyfile" | "shutil.copytree" => Verb::Copy,
        "os.symlink" | "os.link" => Verb::Link,
        "os.mkdir" | "os.makedirs" | "os.mkfifo" | "os.mknod" => Verb::Make,
        "os.chmod" | "os.chown" | "os.lchown" | "os.lchmod" | "shutil.chown" => Verb::Permit,
        "os.truncate" => Verb::Write(Change::Empty),
        "open" | "io.open" | "os.open" | "codecs.open" | "gzip.open" | "bz2.open" | "lzma.open"
        | "os.fdopen" | "tarfile.open" | "zipfile.ZipFile" | "fileinput.input" | "io.FileIO"
        | "sqlite3.connect" | "shelve.open" | "dbm.open" => Verb::Open,
        "os.listdir" | "os.scandir" => Verb::List,
        "glob.glob" | "glob.iglob" => Verb::Glob,
        "os.walk" | "os.fwalk" => Verb::Walk,
        "shutil.unpack_archive" => Verb::Extract,
        "os.chdir" => Verb::Chdir,
        "dotenv.dotenv_values"
        | "dotenv.load_dotenv"
        | "linecache.getlines"
        | "configparser.ConfigParser().read"
        | "pandas.read_csv"
        | "pd.read_csv"
        | "numpy.loadtxt"
        | "tomllib.load"
        | "runpy.run_path().x" => Verb::Read,
        "os.path.join" | "posixpath.join" => Verb::Join,
        "os.path.expanduser" => Verb::Expand,
        "os.path.dirname" => Verb::Parent,
        "os.path.abspath" | "os.path.realpath" | "os.path.normpath" | "os.fspath" | "os.path.expandvars" => {
            Verb::Same
        }
        "pathlib.Path" | "pathlib.PosixPath" | "pathlib.PurePath" | "Path" => Verb::Join,
        "pathlib.Path.home" | "Path.home" => Verb::Home,
        "os.getcwd" | "os.getcwdb" | "pathlib.Path.cwd" | "Path.cwd" | "os.curdir" => Verb::Cwd,
        "tempfile.mkdtemp"
        | "tempfile.gettempdir"
        | "tempfile.mktemp"
        | "tempfile.TemporaryDirectory"
        | "tempfile.NamedTemporaryFile"
        | "tempfile.TemporaryFile"
        | "tempfile.mkstemp" => Verb::Temporary,
        _ => return None,
    })
}

fn starts(name: &str) -> Option<Verb> {
    Some(match name {
        "os.system"
        | "os.popen"
        | "os.popen2"
        | "os.popen3"
        | "subprocess.getoutput"
        | "subprocess.getstatusoutput"
        | "asyncio.create_subprocess_shell"
        | "pexpect.run"
        | "pexpect.spawn"
        | "IPython.get_ipython().system"
        | "invoke.run"
        | "fabric.Connection().local"
        | "get_ipython().system"
        | "get_ipython().getoutput"
        | "plumbum.local" => Verb::Shell,
        "subprocess.run"
        | "subprocess.call"
        | "subprocess.check_call"
        | "subprocess.check_output"
        | "subprocess.Popen"
        | "sh.Command" => Verb::Program,
        "asyncio.create_subprocess_exec" => Verb::Words,
        "os.execv" | "os.execve" | "os.execvp" | "os.execvpe" | "os.execl" | "os.execle" | "os.execlp"
        | "os.execlpe" => Verb::Exec,
        "os.spawnv" | "os.spawnve" | "os.spawnvp" | "os.spawnvpe" | "os.spawnl" | "os.spawnle"
        | "os.spawnlp" | "os.spawnlpe" => Verb::LaterWords,
        "os.posix_spawn" | "os.posix_spawnp" => Verb::Exec,
        "pty.spawn" => Verb::Terminal,
        "exec"
        | "eval"
        | "compile"
        | "code.interact"
        | "timeit.timeit"
        | "timeit.repeat"
        | "cProfile.run"
        | "code.InteractiveInterpreter().runcode"
        | "code.InteractiveInterpreter().runsource" => Verb::Eval,
        "execfile" | "runpy.run_path" => Verb::Load,
        "marshal.loads"
        | "pickle.loads"
        | "pickle.load"
        | "ctypes.CDLL"
        | "ctypes.cdll.LoadLibrary"
        | "types.FunctionType"
        | "types.CodeType"
        | "cffi.FFI().dlopen"
        | "imp.load_source" => {
            return unfollowed(name);
        }
        "__import__" | "importlib.import_module" | "importlib.__import__" | "imp.load_module" => Verb::Import,
        "getattr" | "operator.attrgetter" | "os.?" | "subprocess.?" | "shutil.?" | ".?" | "?" => Verb::Member,
        "os.dup2" => Verb::Redirect,
        "os.kill" | "os.killpg" => Verb::Kill,
        "os.fork" | "os.forkpty" => Verb::Fork,
        "os.setuid" | "os.seteuid" | "os.setgid" | "os.setreuid" | "os.setresuid" => Verb::Privilege,
        "map"
        | "filter"
        | "functools.partial"
        | "threading.Thread"
        | "multiprocessing.Process"
        | "atexit.register"
        | "functools.reduce"
        | "sorted"
        | "list"
        | "tuple"
        | "set"
        | "threading.Timer" => Verb::Apply,
        _ => return None,
    })
}

/// What turns bytes into code is only of interest when those bytes are here.
fn unfollowed(name: &str) -> Option<Verb> {
    match name {
        "pickle.load" => None,
        _ => Some(Verb::Unknown),
    }
}

fn speaks(name: &str) -> Option<Verb> {
    Some(match name {
        "requests.get"
        | "requests.head"
        | "httpx.get"
        | "urllib.request.urlopen"
        | "urllib.urlopen"
        | "urllib2.urlopen"
        | "urllib.request.urlretrieve"
        | "requests.request"
        | "httpx.request"
        | "requests.options"
        | "urllib.request.Request"
        | "requests.Session().get"
        | "httpx.stream"
        | "wget.download"
        | "urllib3.PoolManager().request"
        | "aiohttp.ClientSession().get" => Verb::Fetch,
        "requests.post"
        | "requests.put"
        | "requests.patch"
        | "requests.delete"
        | "httpx.post"
        | "httpx.put"
        | "httpx.patch"
        | "httpx.delete"
        | "requests.Session().post"
        | "requests.Session().put"
        | "aiohttp.ClientSession().post"
        | "xmlrpc.client.ServerProxy" => Verb::Send,
        "socket.create_connection"
        | "http.client.HTTPSConnection"
        | "http.client.HTTPConnection"
        | "ftplib.FTP"
        | "smtplib.SMTP"
        | "smtplib.SMTP_SSL"
        | "telnetlib.Telnet"
        | "paramiko.SSHClient().connect"
        | "socket.socket().connect"
        | "websocket.create_connection"
        | "websockets.connect"
        | "asyncio.open_connection" => Verb::Connect,
        _ => return None,
    })
}

fn values(name: &str) -> Option<Verb> {
    Some(match name {
        "os.environ" | "os.environb" => Verb::Environment,
        "os.getenv" => Verb::Variable,
        "print" | "sys.stdout.write" | "pprint.pprint" | "sys.stdout.buffer.write" => Verb::Print,
        "input" | "raw_input" => Verb::Input,
        "base64.b64decode"
        | "base64.standard_b64decode"
        | "base64.urlsafe_b64decode"
        | "base64.decodebytes"
        | "binascii.a2b_base64" => Verb::Base64,
        "bytes.fromhex" | "bytearray.fromhex" | "binascii.unhexlify" | "binascii.a2b_hex"
        | "base64.b16decode" => Verb::Hex,
        "codecs.decode" => Verb::Rot13,
        "chr" | "bytes" | "bytearray" => Verb::Letter,
        "str" | "repr" | "iter" | "reversed_" | "shlex.quote" | "textwrap.dedent" | "io.StringIO"
        | "io.BytesIO" | "vars" | "shlex.join" => Verb::Same,
        _ => return None,
    })
}

fn method(name: &str) -> Option<Verb> {
    Some(match name {
        "unlink" | "rmdir" => Verb::Delete,
        "read_text" | "read_bytes" => Verb::Read,
        "write_text" | "write_bytes" => Verb::Write(Change::Replace),
        "open" => Verb::Open,
        "rename" | "replace_" => Verb::Move,
        "symlink_to" | "hardlink_to" => Verb::Make,
        "touch" | "mkdir" => Verb::Make,
        "chmod" | "lchmod" => Verb::Permit,
        "iterdir" => Verb::Entries,
        "extractall" | "extract" => Verb::Extract,
        "glob" | "rglob" => Verb::Glob,
        "joinpath" => Verb::Join,
        "with_suffix" | "with_name" => Verb::Parent,
        "connect" | "connect_ex" => Verb::Connect,
        "send" | "sendall" | "sendto" | "request" | "sendmail" | "send_message" | "storbinary" => {
            Verb::Transmit
        }
        "__getattribute__" | "__getattr__" => Verb::Member,
        "post" => Verb::Transmit,
        "submit" | "map" | "apply_async" | "run_in_executor" => Verb::Apply,
        _ => return None,
    })
}

fn telling(name: &str) -> Option<Verb> {
    Some(match name {
        "system" | "popen" | "getoutput" => Verb::Shell,
        "check_output" | "check_call" | "Popen" => Verb::Program,
        "rmtree" | "remove_tree" => Verb::DeleteTree,
        "urlopen" => Verb::Fetch,
        _ => return None,
    })
}

const OPTIONS: Options = Options::new("c:m:W:X:Q:", "check-hash-based-pycs= help version").stops();

/// `python`, `python3.12`, `pypy3`.
pub(super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&OPTIONS);
    if read.has("V version help h") && !read.has("c m") {
        return Outcome::harmless();
    }
    if let Some(code) = read.value("c") {
        let rest = behind(call.args, code);
        if call.name.starts_with("ipython") {
            return notebook(call, code);
        }
        return given::run(call, &PYTHON, Given::new(code, rest).counting(Value::known("-c")));
    }
    if let Some(module) = read.value("m") {
        return module_run(call, module, behind(call.args, module));
    }
    match read.operands.first() {
        Some(script) if script.text() != Some("-") && script.bytes() != Some(b"/dev/stdin") => {
            given::file(call, script)
        }
        _ => given::input(call, &PYTHON, read.operands.get(1..).unwrap_or_default()),
    }
}

/// Lines of a notebook: behind `!` a shell reads them, the others are Python.
fn notebook(call: &Call<'_>, code: &Value) -> Outcome {
    let Some(text) = code.text() else { return given::run(call, &PYTHON, Given::new(code, &[])) };
    let line_of = |line: &str| {
        let line = line.trim_start();
        ["!!", "!", "%sx ", "%system ", "%%bash", "%%sh"]
            .iter()
            .find_map(|mark| line.strip_prefix(mark))
            .map(str::to_owned)
    };
    let is_cell = text.trim_start().starts_with("%%");
    let rest: String = if is_cell {
        String::new()
    } else {
        text.lines().filter(|line| line_of(line).is_none()).flat_map(|line| [line, "\n"]).collect()
    };
    let mut outcome = given::run(call, &PYTHON, Given::new(&Value::known(rest), &[]));
    if is_cell {
        outcome.next.extend(line_of(text).map(|lines| call.shell(Value::known(lines))));
    } else {
        outcome.next.extend(text.lines().filter_map(line_of).map(|line| call.shell(Value::known(line))));
    }
    outcome
}

/// What is typed into a framework's console: `manage.py shell -c`, `flask shell`.
pub(super) fn console(call: &Call<'_>, code: Option<&Value>) -> Outcome {
    match code {
        Some(code) => given::run(call, &PYTHON, Given::new(code, &[])),
        None => given::input(call, &PYTHON, &[]),
    }
}

/// The arguments behind the value of `-c` or `-m`: all of them are the code's own.
fn behind<'a>(args: &'a [Value], value: &Value) -> &'a [Value] {
    let is_glued = |arg: &Value| arg.prefix().starts_with(b"-") && arg.prefix().ends_with(value.prefix());
    let at = args.iter().position(|arg| arg == value || is_glued(arg));
    at.and_then(|at| args.get(at + 1..)).unwrap_or_default()
}

/// `python -m …`.
fn module_run(call: &Call<'_>, module: &Value, rest: &[Value]) -> Outcome {
    let words = |name: &str| {
        let argv = std::iter::once(Value::known(name)).chain(rest.iter().cloned()).collect();
        Outcome::default().then(call.next(argv))
    };
    match module.text() {
        Some("pip" | "pip3") => words("pip"),
        Some(
            name @ ("pytest" | "twine" | "pipx" | "poetry" | "uv" | "black" | "ruff" | "mypy" | "flake8"
            | "isort" | "coverage" | "tox" | "nox" | "ansible" | "awscli" | "virtualenv" | "django"
            | "dotenv"),
        ) => words(name),
        Some("http.server" | "SimpleHTTPServer") => call
            .serves(Options::new("d:b:p:", "directory= bind= protocol= cgi").read(rest).value("d directory")),
        Some("timeit") => {
            let code = rest.iter().rfind(|arg| !arg.prefix().starts_with(b"-"));
            code.map_or_else(Outcome::harmless, |code| given::run(call, &PYTHON, Given::new(code, &[])))
        }
        Some("pdb" | "cProfile" | "profile" | "trace" | "runpy" | "doctest") => {
            let script = rest.iter().find(|arg| arg.prefix().ends_with(b".py"));
            script.map_or_else(Outcome::harmless, |script| given::file(call, script))
        }
        Some(
            "json.tool" | "ast" | "tokenize" | "dis" | "base64" | "calendar" | "compileall" | "py_compile"
            | "platform" | "site" | "sysconfig" | "venv" | "ensurepip" | "unittest" | "build" | "this"
            | "antigravity" | "pydoc" | "pyclbr" | "tabnanny" | "gzip" | "zipapp" | "quopri" | "sphinx",
        ) => {
            let files =
                rest.iter().filter(|arg| !arg.prefix().starts_with(b"-") && module.text() != Some("venv"));
            let reads = matches!(module.text(), Some("json.tool" | "base64" | "ast" | "tokenize" | "gzip"));
            let mut outcome = Outcome::of(files.filter(|_| reads).map(|file| call.reads(file)));
            if outcome.acts.is_empty() {
                outcome.push(Act::Compute);
            }
            if reads && rest.iter().all(|arg| arg.prefix().starts_with(b"-")) {
                outcome.output = super::super::decode::changed(call, &call.invocation.input, None);
            }
            outcome
        }
        Some("zipfile" | "tarfile") => {
            let mut outcome = Outcome::harmless();
            if rest
                .first()
                .and_then(Value::text)
                .is_some_and(|flag| matches!(flag, "-e" | "-c" | "--extract" | "--create"))
            {
                for target in rest.get(1..).unwrap_or_default() {
                    outcome.push(call.writes(target, Change::Replace));
                }
            }
            outcome
        }
        Some("scapy") => {
            let to = Value::known("the network");
            Outcome::of([Act::Network { traffic: crate::effects::act::Traffic::Scan, to, data: Vec::new() }])
        }
        Some(_) => Outcome::of([Act::Run { code: Code::Project, with: call.name.to_owned() }]),
        None => Outcome::of([call.unknown("a module whose name is not known")]),
    }
}
