//! One sandbox's group: limits, counters, freezing.

use std::{
    fs, io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use belljar_domain::{Limits, Usage};

use super::{Controller, Gauges, Hierarchy, Seat, Version};

/// Why a group could not be used.
#[derive(Debug, thiserror::Error)]
#[error("could not {doing} the control group `{}`", path.display())]
pub struct GroupError {
    doing: &'static str,
    path: PathBuf,
    #[source]
    source: io::Error,
}

/// The directories of one sandbox's group, one per seat.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Group {
    parts: Vec<Seat>,
}

const PERIOD_MICROS: u64 = 100_000;

impl Group {
    /// Names the group of a sandbox without touching anything.
    #[must_use]
    pub fn named(hierarchy: &Hierarchy, name: &str) -> Self {
        let parts = hierarchy.seats.iter().map(|seat| Seat { dir: seat.dir.join(name), ..seat.clone() });
        Self { parts: parts.collect() }
    }

    /// Makes the group and sets its limits. On failure nothing is left.
    ///
    /// # Errors
    /// When a directory or a limit cannot be made.
    pub fn create(&self, limits: &Limits) -> Result<(), GroupError> {
        let made = self.parts.iter().try_for_each(|part| {
            fs::create_dir(&part.dir).map_err(|source| GroupError::at("make", &part.dir, source))?;
            settings(part, limits).into_iter().try_for_each(|(file, value)| write_setting(part, file, &value))
        });
        if made.is_err() {
            self.remove();
        }
        made
    }

    /// Gives the group the name of another, which must not be there. On failure nothing of that one is left.
    ///
    /// # Errors
    /// When the kernel does not rename groups: version 2 does not.
    pub fn rename(&self, other: &Self) -> Result<(), GroupError> {
        let renamed = self.parts.iter().zip(&other.parts).try_for_each(|(part, name)| {
            fs::rename(&part.dir, &name.dir).map_err(|source| GroupError::at("rename", &part.dir, source))
        });
        if renamed.is_err() {
            other.remove();
        }
        renamed
    }

    /// Opens the files by which a process joins.
    ///
    /// # Errors
    /// When one cannot be opened.
    pub fn doors(&self) -> Result<Vec<OwnedFd>, GroupError> {
        let open = |part: &Seat| {
            // On version 1 moving a whole process waits out a grace period of the kernel's, eight milliseconds and
            // more; moving the one thread a builder has does not.
            let path = part.dir.join(match part.version {
                Version::V1 => "tasks",
                Version::V2 => "cgroup.procs",
            });
            let file = fs::OpenOptions::new().write(true).open(&path);
            file.map(OwnedFd::from).map_err(|source| GroupError::at("open", &path, source))
        };
        self.parts.iter().map(open).collect()
    }

    /// Returns the directories, to be removed by whoever outlives the sandbox.
    #[must_use]
    pub fn dirs(&self) -> Vec<PathBuf> {
        self.parts.iter().map(|part| part.dir.clone()).collect()
    }

    /// Returns the file and the text that thaw the group, where a frozen process could not die.
    #[must_use]
    pub fn thaw(&self) -> Option<(PathBuf, String)> {
        self.seat(Controller::Freezer).map(|seat| freezer(seat, false))
    }

    /// Says whether the group can be frozen.
    #[must_use]
    pub fn can_freeze(&self) -> bool {
        self.seat(Controller::Freezer).is_some()
    }

    /// Freezes or thaws every process of the group and waits until that is so.
    ///
    /// # Errors
    /// When the kernel refuses or does not get there within five seconds.
    pub fn set_frozen(&self, frozen: bool) -> Result<(), GroupError> {
        let Some(seat) = self.seat(Controller::Freezer) else {
            let none = io::Error::from(io::ErrorKind::Unsupported);
            return Err(GroupError::at("freeze", Path::new("freezer"), none));
        };
        let (file, text) = freezer(seat, frozen);
        fs::write(&file, &text).map_err(|source| GroupError::at("freeze", &file, source))?;
        let deadline = Instant::now() + Duration::from_secs(5);
        while is_frozen(seat, &Gauges::default()) != frozen {
            if Instant::now() > deadline {
                return Err(GroupError::at("freeze", &file, io::Error::from(io::ErrorKind::TimedOut)));
            }
            thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    /// Says whether the group is frozen now.
    #[must_use]
    pub fn is_frozen(&self, gauges: &Gauges) -> bool {
        self.seat(Controller::Freezer).is_some_and(|seat| is_frozen(seat, gauges))
    }

    /// Reads the counters.
    #[must_use]
    pub fn usage(&self, gauges: &Gauges) -> Usage {
        let mut usage = Usage::default();
        for part in &self.parts {
            match part.version {
                Version::V1 => read_v1(part, gauges, &mut usage),
                Version::V2 => read_v2(part, gauges, &mut usage),
            }
        }
        usage
    }

    /// Reads only the counters of limits that were hit: out-of-memory kills and refused forks.
    #[must_use]
    pub fn strikes(&self, gauges: &Gauges) -> Usage {
        let mut usage = Usage::default();
        if let Some(seat) = self.seat(Controller::Memory) {
            usage.oom_kills = match seat.version {
                Version::V1 => gauges.keyed(&seat.dir, "memory.oom_control", "oom_kill"),
                Version::V2 => gauges.keyed(&seat.dir, "memory.events", "oom_kill"),
            };
        }
        if let Some(seat) = self.seat(Controller::Pids) {
            usage.forks_refused = gauges.keyed(&seat.dir, "pids.events", "max");
        }
        usage
    }

    /// Removes the directories of a group without processes; one that is gone already is fine.
    pub fn remove(&self) {
        for part in &self.parts {
            for _attempt in 0..100 {
                match fs::remove_dir(&part.dir) {
                    Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                        thread::sleep(Duration::from_millis(2));
                    }
                    Ok(()) | Err(_) => break,
                }
            }
        }
    }

    fn seat(&self, controller: Controller) -> Option<&Seat> {
        self.parts.iter().find(|part| part.controllers.contains(&controller))
    }
}

impl GroupError {
    fn at(doing: &'static str, path: &Path, source: io::Error) -> Self {
        Self { doing, path: path.to_path_buf(), source }
    }
}

/// The limits as file contents. Settings that older kernels lack start with `?` and may fail.
fn settings(part: &Seat, limits: &Limits) -> Vec<(&'static str, String)> {
    let memory = limits.memory.as_bytes().to_string();
    let quota = u64::from(limits.cpus.as_milli()) * PERIOD_MICROS / 1000;
    let mut all = Vec::new();
    for controller in &part.controllers {
        match (part.version, controller) {
            (Version::V1, Controller::Memory) => {
                all.push(("memory.limit_in_bytes", memory.clone()));
                all.push(("?memory.memsw.limit_in_bytes", memory.clone()));
                all.push(("?memory.swappiness", "0".to_owned()));
            }
            (Version::V2, Controller::Memory) => {
                all.push(("memory.max", memory.clone()));
                all.push(("?memory.swap.max", "0".to_owned()));
            }
            (Version::V1, Controller::Cpu) => {
                all.push(("cpu.cfs_period_us", PERIOD_MICROS.to_string()));
                all.push(("cpu.cfs_quota_us", quota.to_string()));
            }
            (Version::V2, Controller::Cpu) => all.push(("cpu.max", format!("{quota} {PERIOD_MICROS}"))),
            (_, Controller::Pids) => all.push(("pids.max", limits.pids.to_string())),
            (_, Controller::CpuAccount | Controller::Freezer) => {}
        }
    }
    all
}

fn write_setting(part: &Seat, file: &str, value: &str) -> Result<(), GroupError> {
    let (optional, name) = file.strip_prefix('?').map_or((false, file), |name| (true, name));
    let path = part.dir.join(name);
    match fs::write(&path, value) {
        Ok(()) => Ok(()),
        Err(_) if optional => Ok(()),
        Err(source) => Err(GroupError::at("limit", &path, source)),
    }
}

fn freezer(seat: &Seat, frozen: bool) -> (PathBuf, String) {
    let (file, text) = match (seat.version, frozen) {
        (Version::V1, true) => ("freezer.state", "FROZEN"),
        (Version::V1, false) => ("freezer.state", "THAWED"),
        (Version::V2, true) => ("cgroup.freeze", "1"),
        (Version::V2, false) => ("cgroup.freeze", "0"),
    };
    (seat.dir.join(file), text.to_owned())
}

fn is_frozen(seat: &Seat, gauges: &Gauges) -> bool {
    match seat.version {
        Version::V1 => gauges.text(&seat.dir, "freezer.state").is_some_and(|state| state.trim() == "FROZEN"),
        Version::V2 => gauges.keyed(&seat.dir, "cgroup.events", "frozen") == Some(1),
    }
}

fn read_v1(part: &Seat, gauges: &Gauges, usage: &mut Usage) {
    for controller in &part.controllers {
        match controller {
            Controller::Memory => {
                usage.memory_bytes = gauges.number(&part.dir, "memory.usage_in_bytes");
                usage.memory_peak_bytes = gauges.number(&part.dir, "memory.max_usage_in_bytes");
                usage.oom_kills = gauges.keyed(&part.dir, "memory.oom_control", "oom_kill");
            }
            Controller::Cpu => {
                usage.throttled_micros =
                    gauges.keyed(&part.dir, "cpu.stat", "throttled_time").map(|ns| ns / 1000);
            }
            Controller::CpuAccount => {
                usage.cpu_micros = gauges.number(&part.dir, "cpuacct.usage").map(|ns| ns / 1000);
            }
            Controller::Pids => read_pids(part, gauges, usage),
            Controller::Freezer => {}
        }
    }
}

fn read_v2(part: &Seat, gauges: &Gauges, usage: &mut Usage) {
    for controller in &part.controllers {
        match controller {
            Controller::Memory => {
                usage.memory_bytes = gauges.number(&part.dir, "memory.current");
                usage.memory_peak_bytes = gauges.number(&part.dir, "memory.peak");
                usage.oom_kills = gauges.keyed(&part.dir, "memory.events", "oom_kill");
            }
            Controller::Cpu => usage.throttled_micros = gauges.keyed(&part.dir, "cpu.stat", "throttled_usec"),
            Controller::CpuAccount => usage.cpu_micros = gauges.keyed(&part.dir, "cpu.stat", "usage_usec"),
            Controller::Pids => read_pids(part, gauges, usage),
            Controller::Freezer => {}
        }
    }
}

fn read_pids(part: &Seat, gauges: &Gauges, usage: &mut Usage) {
    usage.pids = gauges.number(&part.dir, "pids.current");
    usage.forks_refused = gauges.keyed(&part.dir, "pids.events", "max");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_in_the_words_of_each_version() {
        let limits = Limits::default();
        let seat = |version, controllers| Seat { dir: PathBuf::from("/x"), version, controllers };
        let v2 = settings(
            &seat(Version::V2, vec![Controller::Memory, Controller::Cpu, Controller::Pids]),
            &limits,
        );
        let expected = [
            ("memory.max", "536870912"),
            ("?memory.swap.max", "0"),
            ("cpu.max", "100000 100000"),
            ("pids.max", "512"),
        ];
        assert_eq!(v2, expected.map(|(file, value)| (file, value.to_owned())));
        let v1 = settings(&seat(Version::V1, vec![Controller::Cpu]), &limits);
        assert_eq!(v1.last(), Some(&("cpu.cfs_quota_us", "100000".to_owned())));
    }

    #[test]
    fn counters_of_version_2_are_read_from_a_group_directory() {
        let dir = tempfile::tempdir().unwrap();
        for (file, content) in [
            ("memory.current", "1024\n"),
            ("memory.peak", "4096\n"),
            ("memory.events", "low 0\nhigh 0\nmax 3\noom 1\noom_kill 1\n"),
            ("cpu.stat", "usage_usec 77\nuser_usec 1\nthrottled_usec 5\n"),
            ("pids.current", "2\n"),
            ("pids.events", "max 9\n"),
        ] {
            fs::write(dir.path().join(file), content).unwrap();
        }
        let controllers = vec![Controller::Memory, Controller::Cpu, Controller::CpuAccount, Controller::Pids];
        let group =
            Group { parts: vec![Seat { dir: dir.path().to_path_buf(), version: Version::V2, controllers }] };
        let expected = Usage {
            cpu_micros: Some(77),
            throttled_micros: Some(5),
            memory_bytes: Some(1024),
            memory_peak_bytes: Some(4096),
            pids: Some(2),
            oom_kills: Some(1),
            forks_refused: Some(9),
            ..Usage::default()
        };
        assert_eq!(group.usage(&Gauges::default()), expected);
    }
}
