//! Packages that are fetched and run at once: `npx`, `bunx`, `deno run`.

use super::super::call::{Call, joined};
use super::super::cloud::migrate;
use super::super::options::Options;
use super::javascript::is_usual;
use super::{address, project};
use crate::effects::act::{Act, Code};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `npx`: a package that is fetched and run at once, or a tool the project has.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
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
    if matches!(first.text(), Some("serve" | "http-server" | "live-server" | "sirv" | "sirv-cli")) {
        let directory = read.operands.get(1).filter(|word| !word.prefix().starts_with(b"-"));
        outcome.acts.extend(call.serves(directory).acts);
    }
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
pub(super) fn tools(call: &Call<'_>, operands: &[Value], outcome: &mut Outcome) {
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
        "shx" | "cross-env" | "cross-env-shell" | "dotenv" | "dotenv-cli" | "env-cmd" | "dotenvx" => {
            let words = if bare == "shx" { rest } else { operands };
            let mut words = words.to_vec();
            if let ("dotenv-cli", Some(first)) = (bare, words.first_mut()) {
                *first = Value::known("dotenv");
            }
            outcome.next.push(call.next(words));
        }
        "concurrently" | "npm-run-all" | "run-p" | "run-s" => {
            for line in
                rest.iter().filter(|arg| !arg.prefix().starts_with(b"-") && arg.prefix().contains(&b' '))
            {
                outcome.next.push(call.shell(line.clone()));
            }
        }
        "lerna" | "changeset" | "semantic-release" | "np" | "vsce" | "ovsx" | "nx" => {
            let argv = [Value::known(bare)].into_iter().chain(rest.iter().cloned());
            outcome.next.push(call.next(argv.collect()));
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
    fn tools_are_seen_through() {
        check(&[
            ("npx tsc --noEmit", "run npx package tsc"),
            ("npx https://x.example/p.tgz", "run npx download https://x.example/p.tgz"),
            ("npx rimraf dist", "run npx package rimraf; > rm -rf dist"),
            ("npx prisma migrate reset", "run npx package prisma; infra! prisma migrate reset"),
            ("deno run https://x.example/m.ts", "run deno download https://x.example/m.ts"),
            ("deno task dev", "project deno"),
        ]);
    }
}
