//! Counting a sandbox's processes where no control group does.

use std::{collections::HashMap, fs, path::Path};

use belljar_jail::read_small;

/// How many processes descend from this PID 1, itself included. Whoever loses a parent inside becomes its child, so
/// these are all there are.
pub(super) fn population(init: u32) -> Option<u64> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in fs::read_dir("/proc").ok()?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // One that ended meanwhile does not count.
        if let Some(parent) = parent(&entry.path()) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let known = children.values().flatten().any(|pid| *pid == init);
    let mut family = Vec::from([init]);
    let mut counted = 0;
    while let Some(next) = family.pop() {
        counted += 1;
        family.extend(children.remove(&next).unwrap_or_default());
    }
    known.then_some(counted)
}

/// The fourth field of a process's `stat`, counted after the bracketed name.
fn parent(process: &Path) -> Option<u32> {
    let stat = read_small(&process.join("stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_counted_with_its_children_and_a_stranger_is_unknown() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let counted = population(std::process::id());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(counted.unwrap() >= 2);
        assert_eq!(population(u32::MAX), None);
    }
}
