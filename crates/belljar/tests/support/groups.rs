//! Control groups given to an ordinary user, as a service manager gives them; taken away with the value.

use std::{
    ffi::OsString,
    fs,
    os::unix::fs::chown,
    path::{Path, PathBuf},
};

use super::jar::eventually;

const TOP: &str = "/sys/fs/cgroup";
const CONTROLLERS: [&str; 5] = ["memory", "cpu", "cpuacct", "pids", "freezer"];

/// Joins every group named before `--`, then becomes the command after it.
const ENTER: &str =
    r#"while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 125; shift; done; shift; exec "$@""#;

#[derive(Debug)]
pub(crate) struct Groups {
    /// Where a command of the user's starts.
    start: Vec<PathBuf>,
    /// Everything made, innermost first.
    made: Vec<PathBuf>,
}

impl Groups {
    /// Makes them: one in each hierarchy of version 1, or one of version 2.
    pub(crate) fn delegate(uid: u32) -> Self {
        let name = format!("belljar-test-{}", unique());
        let top = Path::new(TOP);
        let mut groups = Self { start: Vec::new(), made: Vec::new() };
        if top.join("cgroup.controllers").exists() {
            groups.delegate_unified(&top.join(name), uid);
            return groups;
        }
        for controller in CONTROLLERS {
            // `cpu` and `cpuacct` are often two names of one hierarchy.
            let hierarchy = top.join(controller).canonicalize();
            let hierarchy = hierarchy.unwrap_or_else(|_| {
                panic!("no control groups for {controller} here: mount -t cgroup -o {controller} none {TOP}/{controller}")
            });
            let group = hierarchy.join(&name);
            if !groups.made.contains(&group) {
                groups.make(&group, uid);
                groups.start.push(group);
            }
        }
        groups
    }

    /// Processes live in leaves only, so the user's start in one and belljar's groups are made beside it.
    fn delegate_unified(&mut self, group: &Path, uid: u32) {
        fs::write(Path::new(TOP).join("cgroup.subtree_control"), "+memory +cpu +pids").unwrap();
        self.make(group, uid);
        let leaf = group.join("start");
        self.make(&leaf, uid);
        self.start.push(leaf);
    }

    fn make(&mut self, group: &Path, uid: u32) {
        fs::create_dir(group).unwrap();
        self.made.insert(0, group.to_owned());
        chown(group, Some(uid), Some(uid)).unwrap();
        for file in ["cgroup.procs", "cgroup.subtree_control", "cgroup.threads", "tasks"] {
            let file = group.join(file);
            if file.exists() {
                chown(file, Some(uid), Some(uid)).unwrap();
            }
        }
    }

    /// The words that start a command inside, before it becomes the user's.
    pub(crate) fn entering(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = ["sh", "-c", ENTER, "sh"].map(OsString::from).into();
        words.extend(self.start.iter().map(OsString::from));
        words.push("--".into());
        words
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for group in &self.made {
            let removed = eventually(|| fs::remove_dir(group).is_ok());
            // A test that failed already says enough.
            assert!(removed || std::thread::panicking(), "{} is not empty", group.display());
        }
    }
}

fn unique() -> String {
    let uuid = fs::read_to_string("/proc/sys/kernel/random/uuid").unwrap();
    uuid.trim().to_owned()
}
