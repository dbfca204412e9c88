//! Two kinds of path that never convert into each other silently: on the host, and inside a sandbox.

use std::{
    fmt,
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// Why a path is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Relative where only absolute makes sense.
    #[error("`{0}` is not an absolute path")]
    Relative(String),
    /// Contains `..`, whose meaning depends on links.
    #[error("`{0}` contains `..`; write the path without it")]
    Dotted(String),
    /// Contains a NUL byte.
    #[error("a path cannot contain a NUL byte")]
    Nul,
}

macro_rules! absolute_path {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "PathBuf", into = "PathBuf")]
        pub struct $name(PathBuf);

        impl $name {
            /// Accepts an absolute path without `..`; `.` and doubled slashes are dropped.
            ///
            /// # Errors
            /// When the path is relative, contains `..` or a NUL byte.
            pub fn new(path: impl AsRef<Path>) -> Result<Self, PathError> {
                normalised(path.as_ref()).map(Self)
            }

            /// Returns the path for use by the side it belongs to.
            #[must_use]
            pub fn as_path(&self) -> &Path {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = PathError;

            fn from_str(text: &str) -> Result<Self, PathError> {
                Self::new(text)
            }
        }

        impl TryFrom<PathBuf> for $name {
            type Error = PathError;

            fn try_from(path: PathBuf) -> Result<Self, PathError> {
                Self::new(path)
            }
        }

        impl From<$name> for PathBuf {
            fn from(path: $name) -> Self {
                path.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.display().fmt(f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

absolute_path!(
    /// An absolute path on the host.
    HostPath
);
absolute_path!(
    /// An absolute path as the sandboxed command sees it.
    SandboxPath
);

fn normalised(path: &Path) -> Result<PathBuf, PathError> {
    let shown = || path.display().to_string();
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(PathError::Nul);
    }
    if !path.is_absolute() {
        return Err(PathError::Relative(shown()));
    }
    let mut clean = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            Component::Normal(name) => clean.push(name),
            Component::ParentDir => return Err(PathError::Dotted(shown())),
        }
    }
    Ok(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_absolute_paths_pass() {
        assert_eq!(SandboxPath::new("/a/./b//c").map(|p| p.to_string()), Ok("/a/b/c".to_owned()));
        assert_eq!(SandboxPath::new("a/b"), Err(PathError::Relative("a/b".to_owned())));
        assert_eq!(HostPath::new("/a/../b"), Err(PathError::Dotted("/a/../b".to_owned())));
        assert_eq!(HostPath::new("/a\0b"), Err(PathError::Nul));
    }
}
