//! What a person can do about a step that failed: one sentence, and the commands to paste.
//!
//! `belljar run` prints it as its hint and `belljar doctor` as its remedy, so that both always say the same.

use std::fmt;

use belljar_init::wire::Stage;

use crate::Signs;

/// Advice, and the commands that follow it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Remedy {
    /// What stands in the way and what to do.
    pub advice: String,
    /// Lines for a shell, in order; possibly none.
    pub commands: Vec<String>,
}

impl Remedy {
    /// Advice without commands.
    #[must_use]
    pub fn say(advice: impl Into<String>) -> Self {
        Self { advice: advice.into(), commands: Vec::new() }
    }

    /// Advice with commands.
    #[must_use]
    pub fn run<C: Into<String>>(advice: impl Into<String>, commands: impl IntoIterator<Item = C>) -> Self {
        Self { advice: advice.into(), commands: commands.into_iter().map(Into::into).collect() }
    }

    /// The remedy for a step that failed with an error number, if one is known.
    #[must_use]
    pub fn of(stage: Stage, errno: i32, signs: &Signs) -> Option<Self> {
        if let (true, libc::EPERM | libc::EACCES) = (needs_namespaces(stage), errno) {
            return Some(forbidden(signs));
        }
        if let (Stage::Namespaces | Stage::UserNamespace, libc::ENOSPC | libc::EUSERS) = (stage, errno) {
            return Some(exhausted(signs));
        }
        known(stage, errno).map(Self::say)
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.advice)?;
        if self.commands.is_empty() { Ok(()) } else { write!(f, ": {}", self.commands.join(" && ")) }
    }
}

/// Steps that fail for want of power over one's own namespaces. AppArmor lets a user namespace be made and takes the
/// power away, so that the first thing done in it fails instead.
const fn needs_namespaces(stage: Stage) -> bool {
    matches!(
        stage,
        Stage::Namespaces
            | Stage::UserNamespace
            | Stage::IdMap
            | Stage::PrivateMounts
            | Stage::Skeleton
            | Stage::Hostname
    )
}

fn forbidden(signs: &Signs) -> Remedy {
    if signs.apparmor_blocks() {
        return Remedy::run(
            "AppArmor takes all power from user namespaces of programs without a profile; install belljar's",
            [
                "belljar doctor --apparmor-profile | sudo tee /etc/apparmor.d/belljar",
                "sudo apparmor_parser -r /etc/apparmor.d/belljar",
            ],
        );
    }
    if signs.userns_clone == Some(false) && !signs.root {
        return Remedy::run(
            "this kernel keeps user namespaces from ordinary users; allow them",
            [
                "echo kernel.unprivileged_userns_clone=1 | sudo tee /etc/sysctl.d/60-belljar.conf",
                "sudo sysctl --system",
            ],
        );
    }
    if let Some(container) = signs.container {
        return Remedy::run(
            format!("the outer container ({container}) forbids namespaces; start it with less in the way"),
            ["docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined \\\n  \
                 --security-opt systempaths=unconfined --cap-add SYS_ADMIN …"],
        );
    }
    if signs.nested {
        return Remedy::say(
            "a user namespace this shell is in forbids more of them; run belljar outside of it",
        );
    }
    Remedy::say("this host forbids user namespaces to this user; run belljar as root")
}

fn exhausted(signs: &Signs) -> Remedy {
    let wanted = [("user.max_user_namespaces", signs.max_user), ("user.max_net_namespaces", signs.max_net)];
    let zero: Vec<_> = wanted.iter().filter(|(_, limit)| *limit == Some(0)).map(|(name, _)| *name).collect();
    let (advice, names) = if zero.is_empty() {
        ("the host's limit of namespaces is reached; raise it", wanted.map(|(name, _)| name).to_vec())
    } else {
        ("this host allows no namespaces at all; allow some", zero)
    };
    let set = names.iter().map(|name| format!("sudo sysctl -w {name}=15000"));
    Remedy::run(advice, set)
}

const fn known(stage: Stage, errno: i32) -> Option<&'static str> {
    match (stage, errno) {
        (Stage::Proc, libc::EPERM) => Some(
            "inside a container /proc is partly hidden, so a new one cannot be mounted; start the outer container \
             with `--security-opt systempaths=unconfined`",
        ),
        (Stage::Bind, libc::EROFS) => Some(
            "its place inside would have to be made in a directory of the host's that is shown read-only; choose one \
             outside /usr, /opt and the like, such as below /srv",
        ),
        (Stage::Cow | Stage::Layers, libc::EINVAL) => Some(
            "the directory has other file systems mounted inside it, or this kernel is too old for overlays without \
             root (5.11); run belljar as root or choose a directory without mounts",
        ),
        (Stage::Cow | Stage::Layers, libc::ENODEV) => {
            Some("this kernel has no overlayfs; load it with `sudo modprobe overlay`")
        }
        (Stage::Cow | Stage::Layers, libc::ELOOP) => {
            Some("the directory contains belljar's own data; set BELLJAR_HOME to a place outside it")
        }
        (Stage::Cgroup, libc::EACCES | libc::EPERM) => Some(
            "the control group was delegated, but this process may not move into it; see `belljar doctor`",
        ),
        (Stage::Fork, libc::EAGAIN) => Some("the sandbox has reached its process limit; raise --pids"),
        (Stage::Exec, libc::ENOENT) => {
            Some("there is no such program in the sandbox; is it installed in /usr or /opt?")
        }
        (Stage::Exec, libc::EACCES) => Some("it is not executable, or may not be read by the sandbox's user"),
        (Stage::Exec, libc::E2BIG) => {
            Some("arguments and environment are too long for the kernel; pass data through a file")
        }
        (Stage::Workdir, libc::ENOENT) => {
            Some("the directory does not exist in the sandbox; see --workdir and --mount")
        }
        (Stage::User, libc::EPERM | libc::EINVAL) => {
            Some("without root a sandbox has one user only; run belljar as root to use others")
        }
        (_, libc::ENOSYS) => {
            Some("this kernel is too old for belljar, or a filter hides the call; it needs 5.12")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stage: Stage, errno: i32, signs: &Signs) -> String {
        Remedy::of(stage, errno, signs).unwrap().to_string()
    }

    #[test]
    fn the_remedy_fits_what_stands_in_the_way() {
        let plain = Signs::default();
        let ubuntu = Signs { apparmor_restricts: Some(true), ..plain.clone() };
        assert!(of(Stage::IdMap, libc::EACCES, &ubuntu).contains("apparmor_parser -r"));
        let debian = Signs { userns_clone: Some(false), ..plain.clone() };
        assert!(of(Stage::Namespaces, libc::EPERM, &debian).contains("kernel.unprivileged_userns_clone=1"));
        let docker = Signs { root: true, container: Some("Docker"), ..plain.clone() };
        assert!(of(Stage::Namespaces, libc::EPERM, &docker).contains("systempaths=unconfined"));
        assert!(of(Stage::Namespaces, libc::EPERM, &plain).contains("as root"));
    }

    #[test]
    fn a_limit_of_none_is_named() {
        let none = Signs { max_user: Some(0), max_net: Some(100), ..Signs::default() };
        let said = of(Stage::UserNamespace, libc::ENOSPC, &none);
        assert!(said.contains("user.max_user_namespaces=15000") && !said.contains("max_net"), "{said}");
    }
}
