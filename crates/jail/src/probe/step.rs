//! Failures of a probe, in the words of a sandbox's making.

use std::io;

use belljar_init::wire::{Failure, Stage};

/// Gives an error of the kernel its place.
pub(super) trait At<T> {
    fn at(self, stage: Stage, about: &str) -> Result<T, Failure>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, stage: Stage, about: &str) -> Result<T, Failure> {
        let errno = |error: io::Error| error.raw_os_error().unwrap_or(libc::EIO);
        self.map_err(|error| Failure { stage, errno: errno(error), about: about.to_owned() })
    }
}

impl<T> At<T> for rustix::io::Result<T> {
    fn at(self, stage: Stage, about: &str) -> Result<T, Failure> {
        self.map_err(|error| Failure { stage, errno: error.raw_os_error(), about: about.to_owned() })
    }
}

/// Something the kernel accepted without doing it.
pub(super) fn without_effect(stage: Stage, about: &str) -> Failure {
    Failure { stage, errno: libc::EBADE, about: about.to_owned() }
}
