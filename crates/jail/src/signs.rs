//! Signs of why this host refuses something: settings and surroundings that decide which remedy is the right one.
//!
//! Owns: reading them. Refuses: verdicts. A setting says what might stand in the way; only trying says whether it does.

use std::{fs, path::Path};

/// What the host shows about itself to the calling user.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Signs {
    /// Whether the caller is the host's root; see [`is_host_root`].
    pub root: bool,
    /// Whether this user namespace is not the host's first.
    pub nested: bool,
    /// `kernel.apparmor_restrict_unprivileged_userns`, where the kernel has it.
    pub apparmor_restricts: Option<bool>,
    /// The AppArmor label this program runs under.
    pub apparmor_label: Option<String>,
    /// `kernel.unprivileged_userns_clone`, where the kernel has it (Debian, Ubuntu, Arch's hardened kernel).
    pub userns_clone: Option<bool>,
    /// `user.max_user_namespaces`.
    pub max_user: Option<u64>,
    /// `user.max_net_namespaces`.
    pub max_net: Option<u64>,
    /// What kind of container this is, if it is one.
    pub container: Option<&'static str>,
}

impl Signs {
    /// Reads them.
    #[must_use]
    pub fn read() -> Self {
        let number = |path: &str| text(path).and_then(|text| text.parse::<u64>().ok());
        let label =
            ["/proc/self/attr/apparmor/current", "/proc/self/attr/current"].into_iter().find_map(text);
        Self {
            root: is_host_root(),
            nested: is_nested(),
            apparmor_restricts: number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
                .map(|n| n != 0),
            apparmor_label: label.filter(|label| !label.is_empty()),
            userns_clone: number("/proc/sys/kernel/unprivileged_userns_clone").map(|n| n != 0),
            max_user: number("/proc/sys/user/max_user_namespaces"),
            max_net: number("/proc/sys/user/max_net_namespaces"),
            container: container(),
        }
    }

    /// Says whether AppArmor leaves this program without power in the user namespaces it makes.
    #[must_use]
    pub fn apparmor_blocks(&self) -> bool {
        let is_own = self.apparmor_label.as_ref().is_some_and(|label| label.starts_with("belljar"));
        self.apparmor_restricts == Some(true) && !self.root && !is_own
    }
}

/// Says whether the caller is root of the whole host. Root of a user namespace (a rootless container, `unshare -r`) has
/// no ids to give away and may not mount images: it is an ordinary user by another name.
#[must_use]
pub fn is_host_root() -> bool {
    rustix::process::geteuid().is_root() && !is_nested()
}

fn is_nested() -> bool {
    text("/proc/self/uid_map").is_some_and(|map| is_partial(&map))
}

fn text(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim_matches(['\n', '\0', ' ']).to_owned())
}

/// The first user namespace maps every id there is, in one line.
fn is_partial(map: &str) -> bool {
    map.split_whitespace().collect::<Vec<_>>() != ["0", "0", "4294967295"]
}

/// What container managers leave for those inside to find.
fn container() -> Option<&'static str> {
    let marks =
        [("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman"), ("/run/systemd/container", "systemd")];
    if let Some((_, name)) = marks.into_iter().find(|(path, _)| Path::new(path).exists()) {
        return Some(name);
    }
    if Path::new("/var/run/secrets/kubernetes.io").exists() {
        return Some("Kubernetes");
    }
    let groups = text("/proc/1/cgroup").unwrap_or_default();
    let words = [("kubepods", "Kubernetes"), ("docker", "Docker"), ("libpod", "Podman"), ("lxc", "LXC")];
    words.into_iter().find(|(word, _)| groups.contains(word)).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_namespace_maps_everything() {
        assert!(!is_partial("         0          0 4294967295"));
        assert!(is_partial("         0       1000          1"));
        assert!(is_partial("0 0 65536\n65536 100000 65536"));
    }

    #[test]
    fn its_own_profile_lifts_apparmors_restriction() {
        let mut signs = Signs { apparmor_restricts: Some(true), ..Signs::default() };
        assert!(signs.apparmor_blocks());
        signs.apparmor_label = Some("belljar (unconfined)".to_owned());
        assert!(!signs.apparmor_blocks());
        let root = Signs { root: true, apparmor_restricts: Some(true), ..Signs::default() };
        assert!(!root.apparmor_blocks());
    }
}
