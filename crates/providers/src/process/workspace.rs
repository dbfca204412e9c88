//! The one directory of the user's that a sandbox sees, and which directories it must never be.

use std::path::Path;

use belljar_ports::SandboxError;

/// Name of the workspace's part of the private disk.
pub(super) const PART: &str = "workspace";

/// Directories whose contents are the system's, not a project's.
const SYSTEM: [&str; 17] = [
    "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib64", "/media", "/mnt", "/opt", "/proc", "/root",
    "/run", "/sbin", "/sys", "/usr", "/var",
];

/// Refuses directories that would show the sandbox what it is there to keep away: a whole home with its keys, the
/// system's own, the root.
pub(super) fn check(path: &Path, home: &Path) -> Result<(), SandboxError> {
    let refuse = |what: &str| {
        Err(SandboxError::Unsupported {
            what: format!("`{}` cannot be a workspace: {what}", path.display()),
            hint: "change to a project directory, or use --workspace none".to_owned(),
        })
    };
    if path.to_str().is_none() {
        return refuse("its name is not valid UTF-8");
    }
    if path.parent().is_none() || home.starts_with(path) {
        return refuse("it contains your home directory, and with it your keys and passwords");
    }
    // People keep projects below these, if not in them.
    let holds_projects =
        |top: &str| ["/home", "/root", "/mnt", "/media", "/opt", "/var", "/run"].contains(&top);
    let is_system = |top: &&str| Path::new(top) == path || (path.starts_with(top) && !holds_projects(top));
    if SYSTEM.iter().any(is_system) {
        return refuse("it belongs to the system");
    }
    if !path.is_dir() {
        return refuse("it is not a directory");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_a_workspace_and_a_home_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("ada");
        let project = home.join("project");
        std::fs::create_dir_all(&project).unwrap();
        assert!(check(&project, &home).is_ok());
        for refused in
            [home.as_path(), dir.path(), Path::new("/"), Path::new("/etc"), Path::new("/usr/share")]
        {
            assert!(check(refused, &home).is_err(), "{}", refused.display());
        }
    }
}
