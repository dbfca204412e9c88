//! Where a path of the host leads: links are worked out before a path is held against scopes.
//!
//! Owns: asking the file system. Refuses: to follow what is not there; a file that is yet to be made lies where its
//! directory does.

use std::path::Path;

use crate::service::facts;

/// The most paths of one call that are looked at; more are taken by their letters.
const MOST: usize = 64;

/// Adds to paths where they lead, where that is somewhere else. Both have to be within a scope.
pub(super) fn followed(paths: &mut Vec<String>) {
    let led: Vec<String> = paths.iter().take(MOST).filter_map(|path| real(path)).collect();
    for path in led {
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
}

/// Where a path leads; none if that is where it says.
pub(super) fn real(path: &str) -> Option<String> {
    facts::real(Path::new(path)).to_str().filter(|led| *led != path).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_path_is_also_where_it_leads() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("src")).unwrap();
        symlink("../..", root.join("src/up")).unwrap();
        let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
        let outside = root.parent().unwrap().join("new.txt").to_str().unwrap().to_owned();
        let mut paths = vec![path("src/a.rs"), path("src/up/new.txt")];
        followed(&mut paths);
        assert_eq!(paths, [path("src/a.rs"), path("src/up/new.txt"), outside]);
    }
}
