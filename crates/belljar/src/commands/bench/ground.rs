//! Where measuring happens: a workspace of its own, sandboxes that go with this process, and a way to stop early.
//!
//! Every sandbox made here is bound to this process, so that even a killed one leaves nothing running.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, ExitCode, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use anyhow::{Context as _, Result, bail};
use belljar_domain::{Clocks, ExecSpec, Limits, SandboxSpec};
use belljar_ports::{Keep, Sandbox, SandboxProvider, Streams};
use belljar_providers::process::ProcessProvider;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::report::Report;
use crate::{
    args::host_path,
    context::{Context, new_sandbox_id},
};

const EXIT_INTERRUPTED: u8 = 130;

/// See the module.
#[derive(Debug)]
pub(crate) struct Ground {
    pub(crate) provider: ProcessProvider,
    pub(crate) spec: SandboxSpec,
    home: PathBuf,
    workspace: Scratch,
    stop: Arc<AtomicBool>,
}

impl Ground {
    pub(crate) fn prepare(context: &Context) -> Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&stop)).context("listen for signals")?;
        }
        raise_open_files();
        let workspace = Scratch::make()?;
        let spec = SandboxSpec {
            workspace: Some(host_path(&workspace.0)?),
            limits: Limits::default(),
            clocks: Clocks::default(),
            agent: Some("bench".to_owned()),
            ..SandboxSpec::default()
        };
        let provider = context.provider()?;
        Ok(Self { provider, spec, home: context.home.clone(), workspace, stop })
    }

    /// Says whether to go on; a signal says no.
    pub(crate) fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace.0
    }

    pub(crate) fn create(&self, spec: &SandboxSpec) -> Result<Box<dyn Sandbox>> {
        Ok(self.provider.create(new_sandbox_id(), spec, Keep::WithMaker)?)
    }

    /// Runs belljar itself as a process of its own, silently.
    pub(crate) fn belljar(&self, arguments: &[&str]) -> Result<()> {
        let program = env::current_exe().context("find this program")?;
        let mut command = Command::new(program);
        command.arg("--home").arg(&self.home).args(arguments);
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        let status = status.context("start belljar")?;
        if !status.success() {
            bail!("`belljar {}` ended with {status}", arguments.join(" "));
        }
        Ok(())
    }

    /// How the whole command ends.
    pub(crate) fn verdict(&self, report: &Report) -> ExitCode {
        match (self.goes_on(), report.failed()) {
            (false, _) => ExitCode::from(EXIT_INTERRUPTED),
            (true, true) => ExitCode::FAILURE,
            (true, false) => ExitCode::SUCCESS,
        }
    }
}

/// Runs a command in a sandbox to its end, its streams going nowhere.
pub(crate) fn execute(sandbox: &dyn Sandbox, argv: &[&str]) -> Result<()> {
    let null = || fs::File::options().read(true).write(true).open("/dev/null").map(Into::into);
    let streams =
        || -> io::Result<Streams> { Ok(Streams { stdin: null()?, stdout: null()?, stderr: null()? }) };
    let spec = ExecSpec {
        argv: argv.iter().map(|&word| word.to_owned()).collect(),
        cwd: None,
        env: std::collections::BTreeMap::new(),
        user: None,
        terminal: None,
        timeout: Some(Clocks::default().exec_timeout),
    };
    let report = sandbox.exec(&spec, streams().context("open /dev/null")?)?.wait()?;
    if !report.is_success() {
        bail!("`{}` ended with {}", argv.join(" "), report.exit_code());
    }
    Ok(())
}

/// Sandboxes that are running; dropped, they are removed.
#[derive(Debug, Default)]
pub(crate) struct Herd(Vec<Box<dyn Sandbox>>);

impl Herd {
    pub(crate) fn add(&mut self, sandbox: Box<dyn Sandbox>) {
        self.0.push(sandbox);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn last(&self) -> Option<&dyn Sandbox> {
        self.0.last().map(AsRef::as_ref)
    }
}

impl Drop for Herd {
    fn drop(&mut self) {
        for sandbox in self.0.drain(..) {
            // Its keeper removes it anyway once this process is gone.
            let _late = sandbox.destroy();
        }
    }
}

/// An empty directory, removed on drop.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn make() -> Result<Self> {
        let path = env::temp_dir().join(format!("belljar-bench-{}", uuid::Uuid::now_v7().simple()));
        fs::create_dir(&path).with_context(|| format!("make `{}`", path.display()))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// A thousand sandboxes are some thousand descriptors in their maker; a shell often grants no more than 1024.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    let _as_it_was = setrlimit(Resource::Nofile, raised);
}
