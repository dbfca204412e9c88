//! Programs development is made of: packages, builds, tests, forges, other version control.

mod build;
mod forge;
mod hooks;
mod javascript;
mod language;
mod npx;
mod python;
mod system;
mod versions;

use super::Program;
use super::call::Call;
use crate::effects::act::{Act, Code};
use crate::effects::invocation::Outcome;
use crate::shell::value::Value;

/// The program of this family with a name.
pub(super) fn family(name: &str) -> Option<Program> {
    Some(match name {
        "npm" | "pnpm" | "yarn" | "bun" | "cnpm" | "yarnpkg" => javascript::outcome,
        "npx" | "bunx" | "pnpx" => npx::outcome,
        "deno" => npx::deno,
        "pip" | "pip3" | "pipx" | "uv" | "uvx" | "poetry" | "pipenv" | "conda" | "mamba" | "micromamba"
        | "pdm" | "rye" | "hatch" | "easy_install" | "twine" | "flit" | "pixi" => python::outcome,
        name if name.starts_with("pip3.") => python::outcome,
        "cargo" | "go" | "gem" | "bundle" | "bundler" | "composer" | "dotnet" | "nuget" | "mvn" | "mvnw"
        | "gradle" | "gradlew" | "sbt" | "lein" | "stack" | "cabal" | "swift" | "pod" | "flutter"
        | "dart" | "zig" | "rustup" | "luarocks" | "cpan" | "cpanm" | "opam" | "nimble" | "rebar3"
        | "hex" | "vsce" | "ovsx" | "mage" | "ko" | "goreleaser" | "fastlane" | "xcodebuild" | "jlink"
        | "lerna" | "nx" | "turbo" | "changeset" | "semantic-release" | "np" => language::outcome,
        "make" | "gmake" | "bmake" | "cmake" | "ninja" | "meson" | "scons" | "bazel" | "buck2" | "just"
        | "task" | "ctest" | "autoreconf" | "autoconf" | "automake" | "act" | "pre-commit" | "tox"
        | "nox" | "pytest" | "invoke" => build::outcome,
        "apt" | "apt-get" | "aptitude" | "dpkg" | "dnf" | "yum" | "rpm" | "zypper" | "apk" | "pacman"
        | "yay" | "paru" | "snap" | "flatpak" | "brew" | "port" | "choco" | "winget" | "scoop" | "emerge"
        | "xbps-install" | "xbps-remove" | "pkg" | "nix-env" | "guix" | "eopkg" | "microdnf" | "tdnf"
        | "softwareupdate" | "mas" | "apt-key" | "add-apt-repository" => system::outcome,
        "gh" | "glab" | "tea" | "bb" => forge::outcome,
        "hg" | "svn" | "jj" | "bzr" | "fossil" | "p4" | "bfg" | "git-filter-repo" | "sl" | "cvs"
        | "darcs" | "pijul" | "repo" | "gt" | "spr" => versions::outcome,
        "nix-shell"
        | "nix"
        | "direnv"
        | "brew-shellenv"
        | "pyenv"
        | "rbenv"
        | "nodenv"
        | "fnm"
        | "mise"
        | "rtx"
        | "asdf"
        | "zoxide"
        | "starship"
        | "thefuck"
        | "dircolors"
        | "register-python-argcomplete"
        | "goenv"
        | "jenv"
        | "nodebrew"
        | "atuin"
        | "keychain"
        | "luaver"
        | "oh-my-posh"
        | "lesspipe"
        | "devbox"
        | "fzf"
        | "volta"
        | "nvm"
        | "phpenv" => hooks::outcome,
        _ => return None,
    })
}

pub(super) use self::hooks::completes;

/// The lines that tell a shell how to complete words.
pub(super) fn completion() -> Outcome {
    Outcome::harmless().saying(hooks::lines())
}

/// What the project's own files say is run.
pub(super) fn project(call: &Call<'_>) -> Outcome {
    Outcome::of([Act::Run { code: Code::Project, with: call.name.to_owned() }])
}

/// The lines for a shell a project's file holds that these words ask for: scripts of `package.json`, recipes of a `justfile`.
pub(crate) fn project_lines(by: &str, text: &str, words: &[&str]) -> Vec<String> {
    if by == "just" {
        let recipes = text.lines().filter(|line| line.starts_with([' ', '\t']));
        return recipes.map(|line| line.trim().trim_start_matches(['@', '-']).to_owned()).collect();
    }
    let Ok(package) = serde_json::from_str::<serde_json::Value>(text) else { return Vec::new() };
    let Some(scripts) = package.get("scripts").and_then(serde_json::Value::as_object) else {
        return Vec::new();
    };
    let installs =
        words.is_empty() || words.iter().any(|word| matches!(*word, "i" | "install" | "ci" | "add"));
    let is_wanted = |name: &str| {
        let bare = name.strip_prefix("pre").or_else(|| name.strip_prefix("post")).unwrap_or(name);
        words.contains(&name)
            || words.contains(&bare)
            || words.contains(&"t") && bare == "test"
            || installs && matches!(name, "preinstall" | "install" | "postinstall" | "prepare")
    };
    let lines = scripts.iter().filter(|(name, _)| is_wanted(name)).filter_map(|(_, line)| line.as_str());
    lines.map(str::to_owned).collect()
}

/// Packages that come, go, or are given to everybody.
struct Packages<'a> {
    call: &'a Call<'a>,
    operation: &'a str,
    names: Vec<String>,
    global: bool,
    from: Option<Value>,
}

impl Packages<'_> {
    fn act(self) -> Act {
        Act::Package {
            manager: self.call.name.to_owned(),
            operation: self.operation.to_owned(),
            names: self.names,
            global: self.global,
            from: self.from,
        }
    }
}

/// Packages of the project, from where packages usually come.
fn package(call: &Call<'_>, operation: &str, operands: &[Value]) -> Outcome {
    Outcome::of([Packages { call, operation, names: names(operands), global: false, from: None }.act()])
}

/// Names of packages among operands.
fn names(operands: &[Value]) -> Vec<String> {
    operands.iter().map(|name| name.text().unwrap_or("?").to_owned()).collect()
}

/// An operand that is an address instead of a name, where it comes from elsewhere.
fn address(operands: &[Value]) -> Option<Value> {
    let is_address = |name: &&Value| {
        let text = name.prefix().strip_prefix(b"git+").unwrap_or(name.prefix());
        [b"http://".as_slice(), b"https://", b"ftp://", b"ssh://", b"git://", b"git@"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
    };
    operands.iter().find(is_address).cloned()
}
