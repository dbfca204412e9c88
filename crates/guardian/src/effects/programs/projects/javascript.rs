//! `npm`, `yarn`, `pnpm`, `bun`, `npx`, `deno`.

use super::super::call::Call;
use super::super::options::{Options, Read, split};
use super::{Packages, address, names, npx, package, project};
use crate::effects::act::{Act, Change, Code, Datum};
use crate::effects::invocation::{Outcome, Stream};
use crate::shell::value::Value;

const NPM: Options = Options::new(
    "w:C:c:p:",
    "workspace= prefix= registry= userconfig= globalconfig= cache= call= package= script-shell= filter= dir= cwd= tag= otp= \
     access= location= global save-dev save-exact dry-run workspaces yes force help version",
);

/// Registries a package is usually taken from.
const USUAL: [&str; 6] = [
    "registry.npmjs.org",
    "registry.yarnpkg.com",
    "npm.pkg.github.com",
    "registry.npmmirror.com",
    "jsr.io",
    "localhost",
];

/// `npm` and its kin.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    let read = call.read(&NPM.stops());
    if call.args.is_empty() || call.is_asked() && read.operands.len() < 2 {
        return if call.args.is_empty() && call.name.starts_with("yarn") {
            install(call, &read, &[])
        } else {
            Outcome::harmless()
        };
    }
    let Some((verb, rest)) = read.operands.split_first() else { return Outcome::harmless() };
    let inner = NPM.read(rest);
    let operands = inner.operands.as_slice();
    let mut whole = read.clone();
    whole.options.extend(inner.options.iter().cloned());
    let mut outcome = Outcome::default();
    if let Some(shell) = whole.value("script-shell") {
        outcome.push(Act::Run { code: Code::File(call.path(shell)), with: call.name.to_owned() });
    }
    let said = match verb.text().unwrap_or_default() {
        "install" | "i" | "add" | "in" | "isntall" | "ci" | "clean-install" | "update" | "up" | "upgrade"
        | "link" | "ln" => install(call, &whole, operands),
        "global" => package(call, "install", operands.get(1..).unwrap_or_default()),
        "uninstall" | "remove" | "rm" | "un" | "unlink" | "r" => {
            let global = whole.has("g global");
            Outcome::of([
                Packages { call, operation: "remove", names: names(operands), global, from: None }.act()
            ])
        }
        "publish" => package(call, "publish", operands).rehearsed_if(call.says(&["--dry-run", "-n"])),
        "unpublish" | "deprecate" => package(call, "unpublish", operands),
        "npm" if operands.first().and_then(Value::text) == Some("publish") => package(call, "publish", &[]),
        "owner" | "access" | "team" | "token" | "dist-tag" | "org" if changes_there(operands) => {
            package(call, "publish", operands)
        }
        "exec" | "x" | "dlx" => executed(call, rest, operands),
        "config" | "set" | "c" => config(call, operands),
        // What a script is to do is done by a name nobody here will know.
        "pkg" if operands.first().and_then(Value::text) == Some("set") => {
            let set = operands.iter().filter_map(|pair| split(pair, b'='));
            let lines =
                set.filter(|(name, _)| name.starts_with("scripts.")).map(|(_, line)| call.shell(line));
            lines.fold(Outcome::harmless(), Outcome::then)
        }
        "run" if operands.first().is_some_and(|script| script.prefix().starts_with(b"http")) => {
            let script = operands.first().cloned().unwrap_or_default();
            Outcome::of([Act::Run { code: Code::Download(script), with: call.name.to_owned() }])
        }
        "set-script" => {
            let lines = operands.iter().skip(1).map(|line| call.shell(line.clone()));
            lines.fold(Outcome::harmless(), Outcome::then)
        }
        "run" | "run-script" | "test" | "start" | "t" | "build" | "tst" | "rum" => {
            let mut outcome = project(call);
            npx::tools(call, operands, &mut outcome);
            outcome
        }
        "explore" => outcome_of_words(call, operands.get(1..).unwrap_or_default()),
        "cache" | "store" | "prune" | "dedupe" => Outcome::harmless(),
        "init" | "create" if !operands.is_empty() => {
            let name = operands.first().and_then(Value::text).unwrap_or_default().to_owned();
            Outcome::of([Act::Run { code: Code::Package(name), with: call.name.to_owned() }])
        }
        "-v" | "ls" | "list" | "view" | "info" | "outdated" | "audit" | "why" | "root" | "bin" | "help"
        | "search" | "init" | "create" | "version" | "pack" | "fund" | "doctor" | "ping" | "whoami"
        | "login" | "logout" | "completion" | "explain" | "diff" | "query" | "sbom" | "pkg" | "repo"
        | "docs" | "bugs" | "workspaces" => Outcome::harmless(),
        // `yarn build`, `pnpm test`, `bun index.ts`: a script of the project or a tool of its own.
        _ => {
            let mut outcome = project(call);
            npx::tools(call, &read.operands, &mut outcome);
            outcome
        }
    };
    outcome.acts.extend(said.acts);
    outcome.next.extend(said.next);
    outcome
}

/// `npm exec`: a package, a program of the machine, or a line.
fn executed(call: &Call<'_>, rest: &[Value], operands: &[Value]) -> Outcome {
    let mut outcome = npx::outcome(&Call { args: rest, ..*call });
    // One word with blanks in it is a line.
    if let ("yarn" | "pnpm", [line]) = (call.name, operands)
        && line.prefix().contains(&b' ')
    {
        outcome.next.push(call.shell(line.clone()));
    }
    // Programs of the machine are found there, too.
    let is_program = |name: &Value| name.text().is_some_and(|name| super::super::files(name).is_some());
    if operands.first().is_some_and(is_program) {
        outcome.next.push(call.next(rest.to_vec()));
    }
    outcome
}

fn outcome_of_words(call: &Call<'_>, words: &[Value]) -> Outcome {
    if words.is_empty() { Outcome::harmless() } else { Outcome::default().then(call.next(words.to_vec())) }
}

fn changes_there(operands: &[Value]) -> bool {
    operands.first().and_then(Value::text).is_some_and(|verb| {
        matches!(
            verb,
            "add" | "rm" | "remove" | "grant" | "revoke" | "set" | "create" | "public" | "restricted"
        )
    })
}

fn install(call: &Call<'_>, read: &Read, operands: &[Value]) -> Outcome {
    let registry = read.value("registry").filter(|address| !is_usual(address)).cloned();
    let from = address(operands).filter(|address| !is_usual(address)).or(registry);
    // Tools for the user's own prefix are usual; nothing of the machine changes.
    let act = Packages { call, operation: "install", names: names(operands), global: false, from }.act();
    Outcome::of([act])
}

pub(super) fn is_usual(address: &Value) -> bool {
    let text = address.text().unwrap_or_default();
    let text = text.strip_prefix("git+").unwrap_or(text);
    USUAL.iter().any(|host| text.contains(&format!("://{host}")))
        || text.starts_with("https://github.com/")
        || ["https://codeload.github.com/", "ssh://git@github.com/", "git@github.com:", "git://github.com/"]
            .iter()
            .any(|known| text.starts_with(known))
        || text.starts_with("http://127.0.0.1")
}

/// Settings that say what is run or where packages come from, for all projects.
fn config(call: &Call<'_>, operands: &[Value]) -> Outcome {
    let words: Vec<&str> = operands.iter().filter_map(Value::text).collect();
    let (verb, rest) = words.split_first().map_or(("", &[][..]), |(verb, rest)| (*verb, rest));
    let set = matches!(verb, "set" | "delete" | "rm" | "edit" | "unset");
    let is_shown =
        |key: &&&str| key.ends_with("_authToken") || key.ends_with("_password") || key.ends_with("_auth");
    if let (false, Some(key)) = (set, rest.iter().find(is_shown)) {
        let what = format!("{} config {key}", call.name);
        let output = Stream::data([Datum::Secret(what.clone())]);
        return Outcome::of([Act::Reveal { what }]).saying(output);
    }
    if !set {
        return Outcome::harmless();
    }
    let key = rest.first().map(|key| key.split('=').next().unwrap_or(key)).unwrap_or_default();
    let lower = key.to_ascii_lowercase();
    let telling = [
        "registry",
        "script-shell",
        "scriptshell",
        "shell",
        "prefix",
        "proxy",
        "node-options",
        "init-module",
        "onload-script",
        "git",
        "editor",
        "viewer",
        "cafile",
        "strict-ssl",
        "ignore-scripts",
        "yarnpath",
        "plugins",
    ];
    if telling.iter().any(|word| lower.contains(word)) || lower.contains("auth") {
        return Outcome::of([Act::Persist { how: format!("{} config {key}", call.name) }]);
    }
    Outcome::of([Act::Write { path: call.at_home(".cache/npm-config"), change: Change::Edit, content: None }])
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn packages_and_scripts_are_told_apart() {
        check(&[
            ("npm ci", "package npm install "),
            ("npm install --save-dev vitest", "package npm install vitest"),
            (
                "npm install http://x.example/p.tgz",
                "package npm install http://x.example/p.tgz from http://x.example/p.tgz",
            ),
            (
                "npm install --registry http://evil.example left-pad",
                "package npm install left-pad from http://evil.example",
            ),
            ("npm run build -- --x", "project npm"),
            ("npm publish", "package npm publish "),
            ("npm publish --dry-run", "~package npm publish "),
            ("npm exec -c 'rm -rf /'", "$ rm -rf /"),
            ("npm config set script-shell /tmp/x", "persist npm config script-shell"),
            (
                "npm config get //registry.npmjs.org/:_authToken",
                "reveal npm config //registry.npmjs.org/:_authToken",
            ),
            ("npm config get registry", "compute"),
            ("yarn", "package yarn install "),
            ("pnpm -r build", "project pnpm"),
        ]);
    }
}
