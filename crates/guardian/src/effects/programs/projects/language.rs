//! Build tools of languages: most of what they do is the project's own; publishing and cleaning outside it are not.

use super::super::call::Call;
use super::super::cloud::migrate;
use super::super::options::{Options, Read};
use super::{Packages, address, names, package, project};
use crate::effects::act::{Act, Code};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// `cargo`, `go`, `gem`, `mvn`, `gradle` and the others.
pub(in super::super) fn outcome(call: &Call<'_>) -> Outcome {
    if call.args.is_empty() && !matches!(call.name, "semantic-release" | "np") || call.is_asked() {
        return Outcome::harmless();
    }
    let args: Vec<Value> = call.args.iter().filter(|arg| !arg.prefix().starts_with(b"+")).cloned().collect();
    let call = &Call { args: &args, ..*call };
    let words: Vec<&str> = call.words().filter(|word| !word.starts_with('-')).collect();
    let verb = words.first().copied().unwrap_or_default();
    let rest =
        call.args.iter().skip_while(|arg| arg.text() != Some(verb)).skip(1).cloned().collect::<Vec<_>>();
    let operands = Options::new(
        "p:v:F:",
        "version= features= git= path= branch= tag= rev= root= registry= index= source= package=",
    )
    .read(&rest);
    let published = |operation: &'static str| {
        package(call, operation, &operands.operands).rehearsed_if(call.says(&[
            "--dry-run",
            "-n",
            "--no-publish",
            "--snapshot",
        ]))
    };
    if let Some(operation) = publishing(call.name, &words) {
        return published(operation);
    }
    if runs(call.name, verb) {
        let command: Vec<Value> =
            rest.iter().skip_while(|arg| arg.prefix().starts_with(b"-")).cloned().collect();
        if !command.is_empty() {
            return Outcome::default().then(call.next(command));
        }
    }
    told(call, verb, &words, &operands)
}

/// What is neither published nor started.
fn told(call: &Call<'_>, verb: &str, words: &[&str], operands: &Read) -> Outcome {
    match (call.name, verb) {
        (
            "cargo" | "go" | "gem" | "bundle" | "composer" | "dotnet" | "luarocks" | "opam" | "cpanm"
            | "cpan" | "stack" | "cabal",
            "install" | "add" | "get" | "require",
        ) => {
            let operand = address(&operands.operands)
                .filter(|address| !address.prefix().starts_with(b"https://github.com/"));
            let operand = operand.or_else(|| {
                let is_strange = |module: &&Value| call.name == "go" && is_strange_module(module);
                operands.operands.iter().find(is_strange).cloned()
            });
            let git = operands.value("git index source").filter(|address| !is_known(address)).cloned();
            let act = Packages {
                call,
                operation: "install",
                names: names(&operands.operands),
                global: false,
                from: operand.or(git),
            };
            Outcome::of([act.act()])
        }
        ("cargo" | "gem" | "dotnet" | "composer", "remove" | "uninstall" | "rm") => Outcome::of([Packages {
            call,
            operation: "remove",
            names: names(&operands.operands),
            global: false,
            from: None,
        }
        .act()]),
        ("go", "run") => match operands.operands.first() {
            Some(file) if file.prefix().starts_with(b"http") || is_strange_module(file) => {
                Outcome::of([Act::Run { code: Code::Download(file.clone()), with: "go".to_owned() }])
            }
            _ => project(call),
        },
        ("go", "clean") => Outcome::harmless(),
        ("cargo", "watch") => {
            let mut outcome = project(call);
            let read =
                Options::new("x:s:w:i:d:", "exec= shell= watch= ignore= delay= workdir=").read(call.args);
            outcome.next.extend(read.values("s shell").map(|line| call.shell(line.clone())));
            outcome
        }
        ("rustup", "self" | "uninstall") if words.contains(&"uninstall") => Outcome::of([Packages {
            call,
            operation: "remove",
            names: names(&operands.operands),
            global: true,
            from: None,
        }
        .act()]),
        ("composer", "config")
            if words.iter().any(|word| word.starts_with("repositories") || *word == "disable-tls") =>
        {
            Outcome::of([Act::Persist { how: "composer config".to_owned() }])
        }
        ("go", "env") if call.says(&["-w"]) => Outcome::of([Act::Persist { how: "go env -w".to_owned() }]),
        ("bundle" | "bundler", "config") if words.iter().any(|word| word.starts_with("mirror")) => {
            Outcome::of([Act::Persist { how: "bundle config".to_owned() }])
        }
        ("dotnet", "user-secrets") if words.contains(&"list") => {
            Outcome::of([Act::Reveal { what: "secrets of the project".to_owned() }])
        }
        ("gem", "sources") if call.says(&["-a", "--add"]) => {
            Outcome::of([Act::Persist { how: "gem sources".to_owned() }])
        }
        ("cargo", "owner") => package(call, "publish", &operands.operands),
        _ => {
            let mut outcome = project(call);
            if let Some(act) = migrate::lost(call.name, call.args) {
                outcome.push(act);
            }
            outcome
        }
    }
}

/// Whether a Go module of some version is from a place few have heard of; those of forges and of the language's own people are usual.
fn is_strange_module(module: &Value) -> bool {
    const USUAL: [&str; 16] = [
        "github.com",
        "gitlab.com",
        "bitbucket.org",
        "codeberg.org",
        "golang.org",
        "google.golang.org",
        "honnef.co",
        "mvdan.cc",
        "gotest.tools",
        "k8s.io",
        "sigs.k8s.io",
        "go.uber.org",
        "gopkg.in",
        "entgo.io",
        "gorm.io",
        "cloud.google.com",
    ];
    let text = module.text().unwrap_or_default();
    let Some((path, _)) = text.split_once('@') else { return false };
    let host = path.split('/').next().unwrap_or_default();
    !USUAL.contains(&host) && !path.starts_with('.')
}

fn is_known(address: &Value) -> bool {
    let text = address.text().unwrap_or_default();
    [
        "https://github.com/",
        "https://gitlab.com/",
        "https://rubygems.org",
        "https://api.nuget.org",
        "https://codeberg.org/",
    ]
    .iter()
    .any(|known| text.starts_with(known))
}

/// Words that give something to everybody, or take it back.
fn publishing(name: &str, words: &[&str]) -> Option<&'static str> {
    let verb = words.first().copied().unwrap_or_default();
    let has = |wanted: &str| words.contains(&wanted);
    match name {
        "cargo" => match verb {
            "publish" => Some("publish"),
            "yank" => Some("yank"),
            "release" => Some("publish"),
            _ => None,
        },
        "gem" => match verb {
            "push" => Some("publish"),
            "yank" => Some("yank"),
            _ => None,
        },
        "mvn" | "mvnw" => {
            (has("deploy") || words.iter().any(|word| word.starts_with("release:"))).then_some("publish")
        }
        "gradle" | "gradlew" => words
            .iter()
            .any(|word| word.starts_with("publish") && !word.contains("ToMavenLocal"))
            .then_some("publish"),
        "dotnet" | "nuget" => (has("nuget") && has("push") || verb == "push").then_some("publish"),
        "dart" | "flutter" => (has("pub") && has("publish")).then_some("publish"),
        "mix" => None,
        "pod" => (has("trunk") && (has("push") || has("delete"))).then_some("publish"),
        "lerna" | "changeset" | "nx" => {
            (verb == "publish" || verb == "release" && has("publish")).then_some("publish")
        }
        "semantic-release" | "np" => Some("publish"),
        "vsce" | "ovsx" => (verb == "publish" || verb == "unpublish").then_some("publish"),
        "goreleaser" => (verb == "release").then_some("publish"),
        "sbt" => words
            .iter()
            .any(|word| word.starts_with("publish") && *word != "publishLocal")
            .then_some("publish"),
        "luarocks" => (verb == "upload").then_some("publish"),
        "cabal" => (verb == "upload").then_some("publish"),
        "fastlane" => words
            .iter()
            .any(|word| matches!(*word, "release" | "deliver" | "upload_to_app_store"))
            .then_some("publish"),
        "hex" => (verb == "publish").then_some("publish"),
        _ => None,
    }
}

/// Verbs that start another program.
fn runs(name: &str, verb: &str) -> bool {
    matches!((name, verb), ("bundle" | "bundler" | "composer" | "opam" | "stack" | "cabal", "exec"))
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::check;

    #[test]
    fn publishing_is_told_from_building() {
        check(&[
            ("cargo build --release", "project cargo"),
            ("cargo +nightly test", "project cargo"),
            ("cargo publish", "package cargo publish "),
            ("cargo publish --dry-run", "~package cargo publish "),
            ("cargo install ripgrep", "package cargo install ripgrep"),
            ("go run https://x.example/m.go", "run go download https://x.example/m.go"),
            ("go test ./...", "project go"),
            ("gem push x.gem", "package gem publish x.gem"),
            ("bundle exec rm -rf /", "> rm -rf /"),
            ("mvn -q test", "project mvn"),
            ("mvn deploy", "package mvn publish "),
            ("gradle publish", "package gradle publish "),
            ("dotnet test", "project dotnet"),
        ]);
    }
}
