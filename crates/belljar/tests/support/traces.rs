//! What a sandbox leaves on the host while it lives: processes, control groups, loop devices, mounts, files.
//!
//! Processes are known by a resource limit nobody uses (real-time seconds), set by the test to a number of its own: it
//! passes through forks, `exec`, `setsid`, user switches and namespaces, and cleared environments do not remove it.
//! A network namespace has no existence apart from a process, a mount or a descriptor, so those stand for it.

use std::{
    collections::BTreeSet,
    fs,
    mem::MaybeUninit,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::Mutex,
};

use rustix::{
    fs::inotify,
    process::{Pid, Signal, kill_process},
};

/// A process of this test.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    /// Its arguments.
    pub(crate) line: String,
    /// Its number in the innermost pid namespace.
    pub(crate) inner: i32,
}

impl Process {
    fn read(pid: i32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        // A zombie is dead; when it is buried is its new parent's business.
        if field("State:")?.starts_with(['Z', 'X']) {
            return None;
        }
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        Some(Self {
            pid,
            parent: field("PPid:")?.parse().ok()?,
            line: String::from_utf8_lossy(&line).replace('\0', " "),
            inner: field("NSpid:")?.split_whitespace().last()?.parse().ok()?,
        })
    }

    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    pub(crate) fn signal(&self, signal: Signal) {
        // It may have ended by itself.
        let _gone = Pid::from_raw(self.pid).map(|pid| kill_process(pid, signal));
    }
}

/// Sees every sandbox that is ever made below a home, and every one that was only begun, however short its life.
pub(crate) struct Watch {
    mark: u64,
    made: OwnedFd,
    seen: Mutex<BTreeSet<String>>,
}

impl Watch {
    /// From now on; the home has its directories already.
    pub(super) fn over(home: &Path, mark: u64) -> Self {
        let made = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK).unwrap();
        for dir in ["sandboxes", "making"] {
            let flags = inotify::WatchFlags::CREATE | inotify::WatchFlags::MOVED_TO;
            inotify::add_watch(&made, home.join(dir), flags).unwrap();
        }
        Self { mark, made, seen: Mutex::default() }
    }

    /// Ids of all sandboxes made or begun so far.
    pub(crate) fn seen(&self) -> BTreeSet<String> {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = inotify::Reader::new(&self.made, &mut buffer);
        while let Ok(event) = reader.next() {
            assert!(!event.events().contains(inotify::ReadFlags::QUEUE_OVERFLOW), "too much to watch");
            let name = event.file_name().map(|name| name.to_string_lossy().into_owned());
            // What is made ahead has a word before the id.
            let id = name.and_then(|name| name.find("sbx_").map(|at| name[at..].to_owned()));
            self.seen.lock().unwrap().extend(id);
        }
        self.seen.lock().unwrap().clone()
    }

    /// Every process this test started, however deep inside, that is not dead.
    pub(crate) fn processes(&self) -> Vec<Process> {
        let mark = self.mark.to_string();
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let marked = |pid: &i32| {
            let limits = fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
            let limit = limits.lines().find_map(|line| line.strip_prefix("Max realtime timeout"));
            limit.is_some_and(|limit| limit.split_whitespace().next() == Some(&mark))
        };
        pids.filter(marked).filter_map(Process::read).collect()
    }

    /// The keeper outside and the first process inside of the one sandbox there is.
    pub(crate) fn keeper_and_first(&self) -> (Process, Process) {
        let all = self.processes();
        let first = all.iter().find(|process| process.inner == 1).unwrap_or_else(|| panic!("{all:?}"));
        let keeper =
            all.iter().find(|process| process.pid == first.parent).unwrap_or_else(|| panic!("{all:?}"));
        (keeper.clone(), first.clone())
    }

    /// What is there of this test's sandboxes apart from files, one line each.
    pub(crate) fn live_traces(&self, home: &Path) -> Vec<String> {
        let mut found: Vec<String> = self.processes().iter().map(|process| format!("{process:?}")).collect();
        found.extend(self.groups().iter().map(|group| format!("control group {}", group.display())));
        found.extend(loops(home).into_iter().map(|device| format!("loop device {device}")));
        let home = home.parent().unwrap_or(home).to_string_lossy().into_owned();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        found.extend(mounts.lines().filter(|line| line.contains(&home)).map(|line| format!("mount {line}")));
        found
    }

    /// Control groups of any sandbox seen.
    pub(crate) fn groups(&self) -> Vec<PathBuf> {
        let seen = self.seen();
        let mut found = Vec::new();
        walk(Path::new("/sys/fs/cgroup"), &mut |dir, name| {
            if name.strip_prefix("belljar-").is_some_and(|id| seen.contains(id)) {
                found.push(dir.to_path_buf());
            }
        });
        found
    }
}

fn walk(dir: &Path, see: &mut impl FnMut(&Path, &str)) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        see(&entry.path(), &entry.file_name().to_string_lossy());
        walk(&entry.path(), see);
    }
}

/// Loop devices whose image lies below a home.
fn loops(home: &Path) -> Vec<String> {
    let home = home.to_string_lossy();
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let image = |device: &fs::DirEntry| fs::read_to_string(device.path().join("loop/backing_file")).ok();
    devices.filter_map(|device| image(&device)).filter(|image| image.contains(&*home)).collect()
}

/// Files that a killed writer left half-written.
pub(super) fn drafts(home: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for dir in ["cache", "snapshots", "templates"] {
        let entries = fs::read_dir(home.join(dir)).into_iter().flatten().flatten();
        let draft = |path: &PathBuf| {
            path.extension().is_some_and(|end| end == "draft")
                || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".snp_"))
        };
        found.extend(entries.map(|entry| entry.path()).filter(draft));
    }
    found
}

/// The most memory a process has had, in bytes.
pub(crate) fn peak_memory(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    peak.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib * 1024)
}
