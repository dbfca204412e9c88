//! Names of entries. Owns turning them into paths relative to the root; refuses whatever is not plainly inside it.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt as _,
    path::{Component, Path, PathBuf},
};

use super::{Limits, UnpackError};

/// The longest name of one file that Linux filesystems take.
const COMPONENT_LIMIT: usize = 255;

/// Reads a name as a path inside the root: `/etc/x` and `./etc/x` are `etc/x`, the root itself is empty.
pub(super) fn inside(raw: &[u8], limits: Limits) -> Result<PathBuf, UnpackError> {
    let refuse = |why| {
        let name = String::from_utf8_lossy(raw).chars().take(200).collect();
        Err(UnpackError::UnsafeName { name, why })
    };
    if raw.len() > limits.path {
        return refuse("it is too long");
    }
    if raw.contains(&0) {
        return refuse("it contains a NUL byte");
    }
    let mut path = PathBuf::new();
    for (depth, component) in Path::new(OsStr::from_bytes(raw)).components().enumerate() {
        match component {
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            Component::ParentDir => return refuse("it contains `..`"),
            Component::Normal(part) if part.len() > COMPONENT_LIMIT => {
                return refuse("a part of it is too long");
            }
            Component::Normal(_) if depth > limits.depth => return refuse("it is nested too deep"),
            Component::Normal(part) => path.push(part),
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_inside_the_root_pass() {
        let limits = Limits::default();
        for (raw, path) in [("/etc/x", "etc/x"), ("./a//b/.", "a/b"), ("./", ""), ("", "")] {
            assert_eq!(inside(raw.as_bytes(), limits).unwrap(), PathBuf::from(path));
        }
        let deep = "d/".repeat(300);
        let long = "n".repeat(256);
        let endless = "n/".repeat(3000);
        for raw in ["../x", "a/../../x", "a\0b", "..", &deep, &long, &endless] {
            assert!(inside(raw.as_bytes(), limits).is_err(), "{raw}");
        }
    }
}
