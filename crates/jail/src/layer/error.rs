//! Why a layer could not be read or copied.

use std::{io, path::PathBuf};

/// What failed while reading or copying a layer.
#[derive(Debug, thiserror::Error)]
pub enum LayerError {
    /// The directory the sandbox was given cannot be opened.
    #[error("cannot open the base `{path}`")]
    Base {
        /// The base.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Something in the upper cannot be read.
    #[error("cannot read `{path}` as the sandbox left it")]
    Upper {
        /// Where, relative to the workspace.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Something in the base cannot be read.
    #[error("cannot read `{path}` as the sandbox was given it")]
    Lower {
        /// Where, relative to the workspace.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The copy cannot be written.
    #[error("cannot write the copy of `{path}`")]
    Copy {
        /// Where, relative to the workspace.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// There is more than belljar is willing to look at.
    #[error("the workspace changed in more than {limit} places; belljar does not look at more")]
    TooMany {
        /// How many entries are looked at.
        limit: usize,
    },
    /// The paths alone would take too much memory.
    #[error("the changed paths take more than {limit} bytes; belljar does not look at more")]
    TooLong {
        /// How many bytes of paths are kept.
        limit: usize,
    },
    /// The layer was written by an overlay mounted in a way belljar never mounts one.
    #[error("`{path}` carries the overlay mark `{mark}`, which belljar does not understand")]
    Foreign {
        /// Where, relative to the workspace.
        path: PathBuf,
        /// The extended attribute found.
        mark: &'static str,
    },
    /// A device node, which no layer of ours may hold.
    #[error("`{path}` is a device, which belljar does not copy")]
    Device {
        /// Where, relative to the workspace.
        path: PathBuf,
    },
}
