//! Whether the next sandbox could be made: its places, the kernel's features, the control groups that were found.

use std::path::Path;

use belljar_jail::{
    cgroup::Hierarchy,
    probe::{Probe, Prober},
};
use belljar_ports::SandboxError;
use rustix::fs::{Access, access};

use super::{making, sandboxes};

/// What no sandbox can do without.
const NEEDED: [(Probe, &str); 4] = [
    (Probe::UserNamespace, "a user namespace"),
    (Probe::MountNamespace, "a mount namespace"),
    (Probe::PidNamespace, "a pid namespace"),
    (Probe::Overlay, "an overlay"),
];

pub(super) fn check(home: &Path, groups: &Hierarchy) -> Result<(), SandboxError> {
    let own = [(sandboxes(home), "sandboxes"), (making(home), "making")];
    let own = own.iter().map(|(path, name)| (path.as_path(), *name));
    let found = groups.seats.iter().map(|seat| (seat.dir.as_path(), "the control group"));
    for (path, name) in own.chain(found) {
        // The dot at the end: a file in the place of a directory does not count.
        if let Err(error) = access(path.join("."), Access::WRITE_OK | Access::EXEC_OK) {
            return Err(missing(format!("{name} cannot be written to: {error}")));
        }
    }
    let prober = Prober::this_program();
    for (probe, name) in NEEDED {
        prober.ask(probe).map_err(|error| missing(format!("{name} cannot be made: {error}")))?;
    }
    Ok(())
}

fn missing(what: String) -> SandboxError {
    SandboxError::Unsupported { what, hint: "`belljar doctor` says more".to_owned() }
}
