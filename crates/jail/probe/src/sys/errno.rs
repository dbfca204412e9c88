//! Kernel error numbers, shown by name so that a report reads like a man page.

use std::fmt;
use std::io;

/// An error number of the kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Errno(pub i32);

impl Errno {
    /// The number of the last failed call of this thread.
    #[must_use]
    pub fn last() -> Self {
        Self::of(&io::Error::last_os_error())
    }

    /// The number inside an error of the standard library; 0 when it did not come from the kernel.
    #[must_use]
    pub fn of(error: &io::Error) -> Self {
        Self(error.raw_os_error().unwrap_or(0))
    }

    /// Whether this answer means "not allowed" or "not there", as opposed to "allowed, but badly asked".
    #[must_use]
    pub fn refuses(self) -> bool {
        matches!(self.0, libc::EPERM | libc::EACCES | libc::ENOSYS)
    }
}

impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Self {
        Self::of(&error)
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.0 {
            libc::EPERM => "EPERM",
            libc::ENOENT => "ENOENT",
            libc::ESRCH => "ESRCH",
            libc::EIO => "EIO",
            libc::ENXIO => "ENXIO",
            libc::EBADF => "EBADF",
            libc::ECHILD => "ECHILD",
            libc::EAGAIN => "EAGAIN",
            libc::ENOMEM => "ENOMEM",
            libc::EACCES => "EACCES",
            libc::EFAULT => "EFAULT",
            libc::EBUSY => "EBUSY",
            libc::EEXIST => "EEXIST",
            libc::ENODEV => "ENODEV",
            libc::ENOTDIR => "ENOTDIR",
            libc::EISDIR => "EISDIR",
            libc::EINVAL => "EINVAL",
            libc::EMFILE => "EMFILE",
            libc::ENFILE => "ENFILE",
            libc::ENOTTY => "ENOTTY",
            libc::ETXTBSY => "ETXTBSY",
            libc::EFBIG => "EFBIG",
            libc::ENOSPC => "ENOSPC",
            libc::EROFS => "EROFS",
            libc::ENOSYS => "ENOSYS",
            libc::ELOOP => "ELOOP",
            libc::EDQUOT => "EDQUOT",
            libc::EUSERS => "EUSERS",
            libc::EAFNOSUPPORT => "EAFNOSUPPORT",
            libc::EPROTONOSUPPORT => "EPROTONOSUPPORT",
            libc::ESOCKTNOSUPPORT => "ESOCKTNOSUPPORT",
            libc::ENETUNREACH => "ENETUNREACH",
            libc::EHOSTUNREACH => "EHOSTUNREACH",
            libc::ECONNREFUSED => "ECONNREFUSED",
            libc::EADDRNOTAVAIL => "EADDRNOTAVAIL",
            libc::ETIMEDOUT => "ETIMEDOUT",
            libc::ENOKEY => "ENOKEY",
            libc::EOPNOTSUPP => "EOPNOTSUPP",
            libc::EOVERFLOW => "EOVERFLOW",
            libc::EXDEV => "EXDEV",
            other => return write!(f, "errno {other}"),
        };
        f.write_str(name)
    }
}
