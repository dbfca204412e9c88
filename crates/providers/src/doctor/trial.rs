//! The proof: a real sandbox is made, changes a file in its workspace, and goes.

use std::{
    fs,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    time::Instant,
};

use belljar_domain::{ExecSpec, HostPath, SandboxId, SandboxSpec, Span};
use belljar_jail::Remedy;
use belljar_ports::{Keep, SandboxError, SandboxProvider, Streams};

use super::check::{Check, Status, Weight};
use crate::process::ProcessProvider;

/// Makes a sandbox as `belljar run` would.
pub(super) fn check(provider: &Result<ProcessProvider, SandboxError>, id: SandboxId) -> Check {
    let begun = Instant::now();
    let tried = match provider {
        Ok(provider) => Workspace::new().and_then(|workspace| try_sandbox(provider, id, &workspace.0)),
        Err(error) => Err(Trouble { found: chain(error), hint: None }),
    };
    match tried {
        Ok(()) => {
            let found = format!(
                "made, changed a file apart from the host's, gone in {} ms",
                begun.elapsed().as_millis()
            );
            Check::ok("sandbox", "sandbox", Weight::Needed, found)
        }
        Err(trouble) => Check::failed("sandbox", "sandbox", Weight::Needed, Status::Missing, trouble.found)
            .with(trouble.hint.map(Remedy::say)),
    }
}

struct Trouble {
    found: String,
    hint: Option<String>,
}

impl From<SandboxError> for Trouble {
    fn from(error: SandboxError) -> Self {
        Self { found: chain(&error), hint: error.hint().map(str::to_owned) }
    }
}

fn chain(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {}", chain(source)))
}

fn try_sandbox(provider: &ProcessProvider, id: SandboxId, dir: &Path) -> Result<(), Trouble> {
    let workspace = HostPath::new(dir).map_err(|error| failure("name a workspace", &error))?;
    let spec = SandboxSpec { workspace: Some(workspace), ..SandboxSpec::default() };
    let sandbox = provider.create(id, &spec, Keep::WithMaker)?;
    let command = ["sh", "-c", "echo after > file"].map(str::to_owned).to_vec();
    let exec = ExecSpec {
        argv: command,
        cwd: None,
        env: std::collections::BTreeMap::new(),
        user: None,
        terminal: None,
        timeout: Some(Span::seconds(20)),
    };
    let ended = streams()
        .and_then(|streams| Ok(sandbox.exec(&exec, streams)?.wait()?))
        .and_then(|report| Ok((report, !sandbox.is_untouched()?)));
    sandbox.destroy()?;
    let (report, touched) = ended?;
    let kept_apart = fs::read_to_string(dir.join("file")).is_ok_and(|text| text == "before\n");
    match report.is_success() && touched && kept_apart {
        true => Ok(()),
        false => Err(Trouble {
            found: format!("a command in it did not do its work: exit {}", report.exit_code()),
            hint: Some("run `belljar run -- true` and see what it says".to_owned()),
        }),
    }
}

fn failure(doing: &str, error: &dyn std::error::Error) -> Trouble {
    Trouble { found: format!("could not {doing}: {error}"), hint: None }
}

fn streams() -> Result<Streams, Trouble> {
    let null = || {
        let file = fs::OpenOptions::new().read(true).write(true).open("/dev/null");
        file.map(OwnedFd::from).map_err(|error| failure("open /dev/null", &error))
    };
    Ok(Streams { stdin: null()?, stdout: null()?, stderr: null()? })
}

/// A directory with one file, removed when done.
struct Workspace(PathBuf);

impl Workspace {
    fn new() -> Result<Self, Trouble> {
        let dir = std::env::temp_dir().join(format!("belljar-doctor-{}", std::process::id()));
        let made = fs::create_dir(&dir).and_then(|()| fs::write(dir.join("file"), "before\n"));
        let real = made.and_then(|()| dir.canonicalize());
        real.map(Self).map_err(|error| failure("make a workspace", &error))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        // A directory that cannot be removed is in the temporary directory anyway.
        let _gone = fs::remove_dir_all(&self.0);
    }
}
