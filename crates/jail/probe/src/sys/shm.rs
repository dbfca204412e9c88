//! System V shared memory, which has no descriptor and no safe wrapper.

use std::ptr::{NonNull, null};
use std::slice;

use super::{Arg, Errno, call};

/// An attached segment. Detached when dropped; it lives on until [`Segment::remove`].
#[derive(Debug)]
pub struct Segment {
    id: i64,
    memory: NonNull<u8>,
    size: usize,
}

impl Segment {
    /// Makes a segment under `key` that every user may read and write.
    pub fn create(key: i32, size: usize) -> Result<Self, Errno> {
        Self::attach(key, size, libc::IPC_CREAT | libc::IPC_EXCL | 0o666)
    }

    /// Attaches the segment somebody made under `key`.
    pub fn open(key: i32, size: usize) -> Result<Self, Errno> {
        Self::attach(key, size, 0)
    }

    /// The memory of the segment.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: shmat(2) mapped at least `size` bytes at `memory` and they stay mapped until drop. Another
        // process may change them meanwhile; they are plain bytes, so that can only change what is read.
        unsafe { slice::from_raw_parts_mut(self.memory.as_ptr(), self.size) }
    }

    /// Marks the segment for removal once nobody has it attached.
    pub fn remove(&self) {
        _ = call(libc::SYS_shmctl, [Arg::Int(self.id), Arg::Int(libc::IPC_RMID.into()), Arg::Null]);
    }

    fn attach(key: i32, size: usize, flags: i32) -> Result<Self, Errno> {
        let length = i64::try_from(size).map_err(|_too_large| Errno(libc::EOVERFLOW))?;
        let id = call(libc::SYS_shmget, [Arg::Int(key.into()), Arg::Int(length), Arg::Int(flags.into())])?;
        let number = i32::try_from(id).map_err(|_too_large| Errno(libc::EOVERFLOW))?;
        // SAFETY: shmat(2) with a null address lets the kernel choose a free range, so nothing is covered.
        let memory = unsafe { libc::shmat(number, null(), 0) };
        if memory.addr() == usize::MAX {
            return Err(Errno::last());
        }
        let memory = NonNull::new(memory.cast()).ok_or(Errno(libc::EFAULT))?;
        Ok(Self { id, memory, size })
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // SAFETY: shmdt(2) wants the address shmat gave; `memory` is that address and is not used after this.
        unsafe { libc::shmdt(self.memory.as_ptr().cast()) };
    }
}
