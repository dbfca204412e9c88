//! The environment of every command in a sandbox: built from nothing, never inherited whole, so that tokens and keys of
//! the caller's shell stay in the caller's shell.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{facts::HostFacts, toolchain};

/// Taken over as they are.
const HARMLESS: [&str; 7] = ["LANG", "LANGUAGE", "TERM", "COLORTERM", "TZ", "NO_COLOR", "FORCE_COLOR"];

/// Taken over if the path they hold is visible inside.
const PATHS: [&str; 12] = [
    "CARGO_HOME",
    "RUSTUP_HOME",
    "PYENV_ROOT",
    "NVM_DIR",
    "VOLTA_HOME",
    "BUN_INSTALL",
    "JAVA_HOME",
    "GOROOT",
    "GOPATH",
    "SDKMAN_DIR",
    "ASDF_DIR",
    "RBENV_ROOT",
];

const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Builds the environment for the `host` template.
pub(super) fn for_host(facts: &HostFacts, user: &str, id: &str) -> BTreeMap<String, String> {
    let mut env = base(facts, user, &facts.home, id);
    env.insert("PATH".to_owned(), DEFAULT_PATH.to_owned());
    env.extend(taken_over(facts, true));
    env
}

/// What is taken over of the caller's environment: how they like to be spoken to and, where this machine's programs are
/// seen, where those are.
pub(super) fn taken_over(facts: &HostFacts, programs: bool) -> BTreeMap<String, String> {
    let harmless =
        facts.env.iter().filter(|(name, _)| HARMLESS.contains(&name.as_str()) || name.starts_with("LC_"));
    let mut env: BTreeMap<_, _> = harmless.map(|(name, value)| (name.clone(), value.clone())).collect();
    if !programs {
        return env;
    }
    let path = facts.env.get("PATH").map(|path| visible_path(path, &facts.home));
    env.extend(path.filter(|path| !path.is_empty()).map(|path| ("PATH".to_owned(), path)));
    for name in PATHS {
        if let Some(value) = facts.env.get(name)
            && (toolchain::is_visible(Path::new(value), &facts.home)
                || Path::new(value).starts_with(&facts.home))
        {
            env.insert(name.to_owned(), value.clone());
        }
    }
    env
}

/// Builds the environment for a template that brings its own programs.
pub(super) fn for_template(
    facts: &HostFacts,
    user: &str,
    home: &Path,
    id: &str,
    image: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut env = base(facts, user, home, id);
    env.insert("PATH".to_owned(), DEFAULT_PATH.to_owned());
    env.extend(image.iter().map(|(name, value)| (name.clone(), value.clone())));
    env
}

fn base(facts: &HostFacts, user: &str, home: &Path, id: &str) -> BTreeMap<String, String> {
    let mut env = taken_over(facts, false);
    for (name, value) in [
        ("HOME", home.to_string_lossy().as_ref()),
        ("USER", user),
        ("LOGNAME", user),
        ("SHELL", "/bin/sh"),
        ("TMPDIR", "/tmp"),
        ("BELLJAR_SANDBOX", id),
        // Tells agents that they are contained already; Claude Code asks for it before it lets root skip prompts.
        ("IS_SANDBOX", "1"),
        // The sandbox's user may have id 0 but cannot give files away, and tar as id 0 tries to.
        ("TAR_OPTIONS", "--no-same-owner"),
    ] {
        env.insert(name.to_owned(), value.to_owned());
    }
    env
}

/// The caller's search path without what does not exist inside, so that lookups do not wander.
fn visible_path(path: &str, home: &Path) -> String {
    let mut seen: Vec<PathBuf> = Vec::new();
    for dir in path.split(':').map(PathBuf::from).filter(|dir| dir.is_absolute()) {
        if toolchain::is_visible(&dir, home) && !seen.contains(&dir) {
            seen.push(dir);
        }
    }
    let kept: Vec<_> = seen.iter().map(|dir| dir.to_string_lossy()).collect();
    kept.join(":")
}

#[cfg(test)]
mod tests {
    use belljar_jail::{cgroup::Hierarchy, disk::DiskKind};

    use super::*;

    #[test]
    fn secrets_of_the_callers_shell_stay_outside() {
        let env = [
            ("PATH", "/usr/bin:/home/ada/secret/bin:/home/ada/.cargo/bin:relative:/usr/bin"),
            ("ANTHROPIC_API_KEY", "sk-1"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("SSH_AUTH_SOCK", "/run/ssh"),
            ("LC_ALL", "C.UTF-8"),
            ("CARGO_HOME", "/home/ada/.cargo"),
            ("JAVA_HOME", "/srv/java"),
        ];
        let facts = HostFacts {
            root: false,
            uid: 1000,
            gid: 1000,
            home: "/home/ada".into(),
            user: "ada".into(),
            env: env.map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
            landlock: 0,
            cgroups: Hierarchy::default(),
            disk: DiskKind::Tmpfs,
        };
        let built = for_host(&facts, "ada", "sbx_1");
        let names: Vec<_> = built.keys().map(String::as_str).collect();
        let expected = [
            "BELLJAR_SANDBOX",
            "CARGO_HOME",
            "HOME",
            "IS_SANDBOX",
            "LC_ALL",
            "LOGNAME",
            "PATH",
            "SHELL",
            "TAR_OPTIONS",
            "TMPDIR",
            "USER",
        ];
        assert_eq!(names, expected);
        assert_eq!(built["PATH"], "/usr/bin:/home/ada/.cargo/bin");
    }
}
