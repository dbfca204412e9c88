//! The `host` template: this machine's programs, read-only, and nothing else of it.
//!
//! An allow list. What is not named here (other people's homes, `/srv`, `/var`, `/run`, `/boot`, secrets in `/etc`)
//! does not exist in a sandbox.

use std::{fs, path::Path};

use belljar_domain::{NetworkMode, Profile};
use belljar_jail::plan::{Access, Step};

/// Where a host keeps programs. `/nix` and `/gnu` hold them on those systems.
const SYSTEM: [&str; 5] = ["/usr", "/opt", "/nix/store", "/gnu/store", "/snap"];

/// Directories that are links into `/usr` on a modern host and real ones on an old one.
const MERGED: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Toolchains that live in a home directory: what may be seen of each. Nothing here holds credentials
/// (`~/.cargo/credentials.toml`, `~/.npmrc` and the like stay outside).
const HOME_READ: [&str; 22] = [
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".cargo/env",
    ".deno/bin",
    ".fnm",
    ".local/bin",
    ".local/lib",
    ".local/pipx",
    ".local/share/claude",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nvm",
    ".opencode/bin",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman/candidates",
    ".volta",
    "go/bin",
];

/// Download caches in a home directory: seen, so that builds need no network; written to, privately, if there is one.
const HOME_CACHE: [&str; 3] = [".cargo/registry", ".cargo/git", "go/pkg/mod"];

/// The steps that bring this machine's programs into a sandbox.
pub(super) fn steps(profile: Profile) -> Vec<Step> {
    let mut steps = Vec::new();
    for (index, path) in SYSTEM.into_iter().enumerate() {
        if Path::new(path).is_dir() {
            steps.push(match profile {
                Profile::Strict => read(path),
                Profile::Permissive => Step::Cow {
                    lowers: vec![path.to_owned()],
                    at: path.to_owned(),
                    name: format!("system{index}"),
                },
            });
        }
    }
    for path in MERGED {
        match fs::read_link(path) {
            Ok(to) => steps.push(Step::Link { at: path.to_owned(), to: to.to_string_lossy().into_owned() }),
            Err(_) if Path::new(path).is_dir() => steps.push(read(path)),
            Err(_) => {}
        }
    }
    steps
}

/// The steps that bring toolchains of a home directory, to be taken after the empty home is in place.
pub(super) fn home_steps(home: &Path, network: NetworkMode) -> Vec<Step> {
    let present = |name: &&str| home.join(name).exists();
    let path = |name: &str| home.join(name).to_string_lossy().into_owned();
    let reads = HOME_READ.iter().filter(|name| present(name)).map(|name| read(&path(name)));
    let caches =
        HOME_CACHE.iter().enumerate().filter(|(_, name)| present(name)).map(|(index, name)| match network {
            NetworkMode::None => read(&path(name)),
            NetworkMode::Allowlist | NetworkMode::Open => {
                Step::Cow { lowers: vec![path(name)], at: path(name), name: format!("cache{index}") }
            }
        });
    reads.chain(caches).collect()
}

/// Says whether a directory on the host's `PATH` exists in a sandbox of the `host` template.
pub(super) fn is_visible(dir: &Path, home: &Path) -> bool {
    SYSTEM.iter().chain(&MERGED).any(|top| dir.starts_with(top))
        || HOME_READ.iter().any(|name| dir.starts_with(home.join(name)))
}

fn read(path: &str) -> Step {
    Step::Bind { from: path.to_owned(), at: path.to_owned(), access: Access::Read }
}
