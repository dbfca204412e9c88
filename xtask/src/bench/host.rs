//! The machine a page of numbers belongs to.

use std::{fs, process::Command, thread};

use crate::shell::{self, Workspace};

/// The machine, as it was before measuring.
#[derive(Debug, Clone)]
pub(crate) struct Host {
    cores: f64,
    lines: Vec<(&'static str, String)>,
}

pub(crate) fn describe(workspace: &Workspace) -> anyhow::Result<Host> {
    let read = |path: &str| fs::read_to_string(path).map(|text| text.trim().to_owned());
    let cores = thread::available_parallelism()?;
    let info = read("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let model = model.trim_start_matches([' ', '\t', ':']);
    let memory = read("/proc/meminfo")?;
    let memory = memory.lines().next().and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    let version = |program: &str| {
        let found = shell::find(program)?;
        shell::read(Command::new(found).arg("--version")).ok().map(|text| text.trim().to_owned())
    };
    let mut git = Command::new("git");
    git.current_dir(&workspace.root).args(["rev-parse", "--short=12", "HEAD"]);
    let lines = vec![
        ("Date", shell::read(Command::new("date").args(["-u", "+%F %H:%M UTC"]))?.trim().to_owned()),
        ("Commit", shell::read(&mut git).unwrap_or_else(|_| "unknown".to_owned()).trim().to_owned()),
        ("Kernel", format!("Linux {}", read("/proc/sys/kernel/osrelease")?)),
        ("Processor", format!("{cores} × {}", if model.is_empty() { "unknown" } else { model })),
        ("Memory", memory.map_or_else(|| "unknown".to_owned(), |kib| format!("{} MiB", kib / 1024))),
        ("bubblewrap", version("bwrap").unwrap_or_else(|| "absent".to_owned())),
        ("Docker", version("dockerd").unwrap_or_else(|| "absent".to_owned())),
        ("Load before", read("/proc/loadavg")?),
    ];
    Ok(Host { cores: f64::from(u32::try_from(cores.get()).unwrap_or(u32::MAX)), lines })
}

impl Host {
    /// Adds how the machine was after measuring, and gives everything away.
    pub(crate) fn finish(mut self) -> Vec<(&'static str, String)> {
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        self.lines.push(("Load after", load.trim().to_owned()));
        // What measuring itself adds to the load afterwards is no noise.
        let before = self.lines.iter().find(|(name, _)| *name == "Load before");
        let before = before.and_then(|(_, text)| text.split(' ').next()?.parse::<f64>().ok());
        if before.is_some_and(|load| load > self.cores) {
            let warning = "more was running than there are cores: repeat this on a quiet machine";
            self.lines.push(("**Noise**", warning.to_owned()));
        }
        self.lines
    }
}
