//! Which Linux this is, and how its people install things.

use std::{collections::BTreeMap, fs};

/// The host's distribution, as `/etc/os-release` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Distribution {
    /// Its name for people.
    pub(super) name: String,
    family: Vec<String>,
}

impl Distribution {
    pub(super) fn read() -> Self {
        let text = ["/etc/os-release", "/usr/lib/os-release"]
            .into_iter()
            .find_map(|path| fs::read_to_string(path).ok());
        Self::parse(&text.unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        let fields: BTreeMap<_, _> =
            pairs.map(|(name, value)| (name, value.trim_matches(['"', '\'']))).collect();
        let field = |name: &str| fields.get(name).copied().unwrap_or_default();
        let name = Some(field("PRETTY_NAME")).filter(|name| !name.is_empty()).unwrap_or("an unnamed Linux");
        let family = [field("ID"), field("ID_LIKE")].join(" ");
        Self { name: name.to_owned(), family: family.split_whitespace().map(str::to_owned).collect() }
    }

    /// The command that installs a package; its name is Debian's, others' differ only where listed.
    pub(super) fn install(&self, package: &str) -> String {
        let is = |names: &[&str]| self.family.iter().any(|id| names.contains(&id.as_str()));
        if is(&["fedora", "rhel", "centos", "amzn"]) {
            format!("sudo dnf install {package}")
        } else if is(&["arch"]) {
            format!("sudo pacman -S {package}")
        } else if is(&["alpine"]) {
            format!("sudo apk add {package}")
        } else if is(&["suse", "opensuse"]) {
            format!("sudo zypper install {package}")
        } else if is(&["debian", "ubuntu"]) {
            format!("sudo apt-get install {package}")
        } else {
            format!("# with your package manager: install {package}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_family_has_its_own_command() {
        for (text, command) in [
            ("ID=ubuntu\nID_LIKE=debian\nPRETTY_NAME=\"Ubuntu 24.04.1 LTS\"", "sudo apt-get install git"),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"", "sudo dnf install git"),
            ("ID=arch", "sudo pacman -S git"),
            ("ID=alpine", "sudo apk add git"),
            ("ID=opensuse-leap\nID_LIKE=\"suse opensuse\"", "sudo zypper install git"),
            ("", "# with your package manager: install git"),
        ] {
            assert_eq!(Distribution::parse(text).install("git"), command);
        }
        assert_eq!(Distribution::parse("PRETTY_NAME=\"Ubuntu 24.04.1 LTS\"").name, "Ubuntu 24.04.1 LTS");
    }
}
