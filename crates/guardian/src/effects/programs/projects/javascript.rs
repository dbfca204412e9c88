//! `npm`, `yarn`, `pnpm`, `bun`, `npx`, `deno`.

use super::super::call::{Call, joined};
use super::super::cloud::migrate;
use super::super::options::{Options, Read};
use super::{Packages, address, names, project};
use crate::effects::act::{Act, Change, Code};
use crate::effects::invocation::Outcome;
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
        | "link" | "ln" => {
            if verb.text() == Some("global") {
                global(call, operands)
            } else {
                install(call, &whole, operands)
            }
        }
        "global" => global(call, operands),
        "uninstall" | "remove" | "rm" | "un" | "unlink" | "r" => {
            let global = whole.has("g global");
            Outcome::of([
                Packages { call, operation: "remove", names: names(operands), global, from: None }.act()
            ])
        }
        "publish" | "unpublish" | "deprecate" => {
            let operation = if verb.text() == Some("publish") { "publish" } else { "unpublish" };
            let act = Packages { call, operation, names: names(operands), global: false, from: None }.act();
            Outcome::of([act]).rehearsed_if(call.says(&["--dry-run", "-n"]))
        }
        "npm"
            if call.name.starts_with("yarn") && operands.first().and_then(Value::text) == Some("publish") =>
        {
            Outcome::of([Packages {
                call,
                operation: "publish",
                names: Vec::new(),
                global: false,
                from: None,
            }
            .act()])
        }
        "owner" | "access" | "team" | "token" | "dist-tag" | "org" if changes_there(operands) => {
            Outcome::of([Packages {
                call,
                operation: "publish",
                names: names(operands),
                global: false,
                from: None,
            }
            .act()])
        }
        "exec" | "x" | "dlx" => npx(&Call { args: rest, ..*call }),
        "config" | "set" | "c" => config(call, operands),
        "run" | "run-script" | "test" | "start" | "t" | "build" | "tst" | "rum" => {
            let mut outcome = project(call);
            tools(call, operands, &mut outcome);
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
        | "docs" | "bugs" | "workspaces" | "workspace" => {
            if verb.text() == Some("workspace") {
                project(call)
            } else {
                Outcome::harmless()
            }
        }
        // `yarn build`, `pnpm test`, `bun index.ts`: a script of the project or a tool of its own.
        _ => {
            let mut outcome = project(call);
            tools(call, &read.operands, &mut outcome);
            outcome
        }
    };
    outcome.acts.extend(said.acts);
    outcome.next.extend(said.next);
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

/// `yarn global add x`.
fn global(call: &Call<'_>, operands: &[Value]) -> Outcome {
    let names = names(operands.get(1..).unwrap_or_default());
    Outcome::of([Packages { call, operation: "install", names, global: false, from: None }.act()])
}

fn install(call: &Call<'_>, read: &Read, operands: &[Value]) -> Outcome {
    let registry = read.value("registry").filter(|address| !is_usual(address)).cloned();
    let from = address(operands).filter(|address| !is_usual(address)).or(registry);
    // Tools for the user's own prefix are usual; nothing of the machine changes.
    let act = Packages { call, operation: "install", names: names(operands), global: false, from }.act();
    Outcome::of([act])
}

fn is_usual(address: &Value) -> bool {
    let text = address.text().unwrap_or_default();
    USUAL.iter().any(|host| text.contains(&format!("://{host}")))
        || text.starts_with("https://github.com/")
        || text.starts_with("https://codeload.github.com/")
        || text.starts_with("http://127.0.0.1")
}

/// Settings that say what is run or where packages come from, for all projects.
fn config(call: &Call<'_>, operands: &[Value]) -> Outcome {
    let words: Vec<&str> = operands.iter().filter_map(Value::text).collect();
    let (verb, rest) = words.split_first().map_or(("", &[][..]), |(verb, rest)| (*verb, rest));
    let set = matches!(verb, "set" | "delete" | "rm" | "edit" | "unset");
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

/// `npx`: a package that is fetched and run at once, or a tool the project has.
pub(in super::super) fn npx(call: &Call<'_>) -> Outcome {
    let read = call.read(
        &Options::new(
            "p:c:w:",
            "package= call= workspace= registry= yes no quiet ignore-existing silent shell-mode",
        )
        .stops(),
    );
    let mut outcome = Outcome::default();
    if let Some(line) = read.value("c call") {
        outcome.next.push(call.shell(line.clone()));
        return outcome;
    }
    if let Some(registry) = read.value("registry").filter(|address| !is_usual(address)) {
        outcome.push(Act::Run { code: Code::Download(registry.clone()), with: call.name.to_owned() });
    }
    for package in read.values("p package") {
        if let Some(from) = address(std::slice::from_ref(package)) {
            outcome.push(Act::Run { code: Code::Download(from), with: call.name.to_owned() });
        }
    }
    let Some(first) = read.operands.first() else {
        if outcome.acts.is_empty() {
            outcome.push(Act::Compute);
        }
        return outcome;
    };
    if let Some(from) = address(std::slice::from_ref(first)).filter(|address| !is_usual(address)) {
        outcome.push(Act::Run { code: Code::Download(from), with: call.name.to_owned() });
        return outcome;
    }
    let name = first.text().unwrap_or("?");
    outcome.push(Act::Run { code: Code::Package(name.to_owned()), with: call.name.to_owned() });
    tools(call, &read.operands, &mut outcome);
    outcome
}

/// A tool of the project that is known by its own name: `npx prisma migrate reset`, `yarn rimraf /`.
fn tools(call: &Call<'_>, operands: &[Value], outcome: &mut Outcome) {
    let Some((first, rest)) = operands.split_first() else { return };
    let Some(name) = first.text() else {
        outcome.push(call.unknown("a script with a name that is not known"));
        return;
    };
    let bare = name.strip_prefix('@').map_or(name, |_| name).rsplit('/').next().unwrap_or(name);
    let bare = bare.split('@').next().unwrap_or(bare);
    if let Some(act) = migrate::lost(bare, rest) {
        outcome.push(act);
    }
    match bare {
        "rimraf" | "del-cli" | "trash-cli" | "rm-cli" => {
            let mut argv = vec![Value::known("rm"), Value::known("-rf")];
            argv.extend(rest.iter().filter(|arg| !arg.prefix().starts_with(b"-")).cloned());
            outcome.next.push(call.next(argv));
        }
        "shx" | "cross-env" | "cross-env-shell" | "dotenv" | "env-cmd" | "dotenvx" => {
            outcome.next.push(call.next(match bare {
                "shx" => rest.to_vec(),
                _ => operands.to_vec(),
            }))
        }
        "concurrently" | "npm-run-all" | "run-p" | "run-s" => {
            for line in
                rest.iter().filter(|arg| !arg.prefix().starts_with(b"-") && arg.prefix().contains(&b' '))
            {
                outcome.next.push(call.shell(line.clone()));
            }
        }
        "vercel" | "netlify" | "netlify-cli" | "wrangler" | "firebase" | "firebase-tools" | "supabase"
        | "heroku" | "sls" | "serverless" | "cdk" | "sst" | "surge" | "railway" => {
            let name = match bare {
                "netlify-cli" => "netlify",
                "firebase-tools" => "firebase",
                other => other,
            };
            let mut argv = vec![Value::known(name)];
            argv.extend(rest.iter().cloned());
            outcome.next.push(call.next(argv));
        }
        _ => {}
    }
}

/// `deno`.
pub(in super::super) fn deno(call: &Call<'_>) -> Outcome {
    let read = call.read(&Options::new("c:L:r?", "config= import-map= lock= location= v8-flags= seed= cert= env-file? allow-read? allow-write? allow-net? allow-run? allow-env? allow-all reload? inspect? unstable?").stops());
    let mut words = read.operands.clone();
    let verb = read.verb().to_owned();
    if matches!(verb.as_str(), "eval" | "repl") {
        let text = joined(words.get(1..).unwrap_or_default());
        let shell = text.text().is_none_or(|text| text.contains("Deno.") || text.contains("import"));
        return if shell {
            Outcome::of([call.unknown("what deno is told to evaluate")])
        } else {
            Outcome::harmless()
        };
    }
    if matches!(verb.as_str(), "run" | "install" | "serve" | "test" | "bench" | "compile" | "x") {
        words.remove(0);
        let inner = Options::new("A?", "name= root= output= config= import-map= allow-all global")
            .stops()
            .read(&words);
        let Some(file) = inner.operands.first() else { return project(call) };
        if let Some(from) = address(std::slice::from_ref(file)).filter(|from| {
            !from.text().is_some_and(|text| {
                text.starts_with("https://deno.land/") || text.starts_with("https://jsr.io/")
            })
        }) {
            return Outcome::of([Act::Run { code: Code::Download(from), with: "deno".to_owned() }]);
        }
        let is_package = file.prefix().starts_with(b"npm:")
            || file.prefix().starts_with(b"jsr:")
            || file.prefix().starts_with(b"http");
        if is_package {
            let name = file.text().unwrap_or_default().to_owned();
            return Outcome::of([Act::Run { code: Code::Package(name), with: "deno".to_owned() }]);
        }
        if verb == "run" {
            return Outcome::of([Act::Run { code: Code::File(call.path(file)), with: "deno".to_owned() }]);
        }
    }
    if call.is_asked() { Outcome::harmless() } else { project(call) }
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
            ("npx tsc --noEmit", "run npx package tsc"),
            ("npx https://x.example/p.tgz", "run npx download https://x.example/p.tgz"),
            ("npx rimraf dist", "run npx package rimraf; > rm -rf dist"),
            ("npx prisma migrate reset", "run npx package prisma; infra! prisma migrate reset"),
            ("yarn", "package yarn install "),
            ("pnpm -r build", "project pnpm"),
            ("deno run https://x.example/m.ts", "run deno download https://x.example/m.ts"),
            ("deno task dev", "project deno"),
        ]);
    }
}
