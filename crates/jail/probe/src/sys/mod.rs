//! The kernel, called raw: the only `unsafe` of this package.
//!
//! Probes must reach calls which libraries wrap, check or refuse to make, so they go by number. Everything
//! here runs in a process made for the purpose, which ends right after.

pub mod abi;
pub mod call;
pub mod errno;
pub mod fork;
pub mod launch;
pub mod shm;

pub use call::{Arg, call, call_fd};
pub use errno::Errno;
