//! What a sandbox may use, and for how long.

use serde::{Deserialize, Serialize};

use crate::{ByteSize, Cpus, Span};

/// Hard limits, except the processor, which is throttled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory, swap excluded.
    pub memory: ByteSize,
    /// Processor share; more is throttled, never killed.
    pub cpus: Cpus,
    /// Bytes the sandbox may write to its private disk.
    pub disk: ByteSize,
    /// Files and directories it may create there.
    pub inodes: u64,
    /// Processes and threads at one time.
    pub pids: u32,
    /// Open files per process.
    pub open_files: u64,
}

impl Limits {
    /// Bytes of disk for each inode granted when no inode limit is asked for.
    const BYTES_PER_INODE: u64 = 16 * 1024;

    /// Derives the inode limit that goes with a disk limit.
    #[must_use]
    pub const fn inodes_for(disk: ByteSize) -> u64 {
        let count = disk.as_bytes() / Self::BYTES_PER_INODE;
        if count < 1024 { 1024 } else { count }
    }

    /// Returns these limits with the given parts replaced. A new disk limit brings its own inode limit.
    #[must_use]
    pub fn patched(self, patch: &LimitsPatch) -> Self {
        let disk = patch.disk.unwrap_or(self.disk);
        let derived = if patch.disk.is_some() { Self::inodes_for(disk) } else { self.inodes };
        Self {
            memory: patch.memory.unwrap_or(self.memory),
            cpus: patch.cpus.unwrap_or(self.cpus),
            disk,
            inodes: patch.inodes.unwrap_or(derived),
            pids: patch.pids.unwrap_or(self.pids),
            open_files: patch.open_files.unwrap_or(self.open_files),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        let disk = ByteSize::mib(1024);
        Self {
            memory: ByteSize::mib(512),
            cpus: Cpus::milli(1000),
            disk,
            inodes: Self::inodes_for(disk),
            pids: 512,
            open_files: 4096,
        }
    }
}

/// The limits a request names; the rest keep their defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsPatch {
    /// See [`Limits::memory`].
    pub memory: Option<ByteSize>,
    /// See [`Limits::cpus`].
    pub cpus: Option<Cpus>,
    /// See [`Limits::disk`].
    pub disk: Option<ByteSize>,
    /// See [`Limits::inodes`].
    pub inodes: Option<u64>,
    /// See [`Limits::pids`].
    pub pids: Option<u32>,
    /// See [`Limits::open_files`].
    pub open_files: Option<u64>,
}

/// Three clocks that are never mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clocks {
    /// How long one execution may take.
    pub exec_timeout: Span,
    /// How long the sandbox may live in all.
    pub ttl: Span,
    /// How long it may live without an execution.
    pub idle: Span,
}

impl Default for Clocks {
    fn default() -> Self {
        Self { exec_timeout: Span::seconds(300), ttl: Span::seconds(3600), idle: Span::seconds(1800) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_changes_only_what_it_names() {
        let patch = LimitsPatch { disk: Some(ByteSize::mib(64)), pids: Some(32), ..LimitsPatch::default() };
        let limits = Limits::default().patched(&patch);
        assert_eq!(limits.inodes, 4096);
        assert_eq!(limits.pids, 32);
        assert_eq!(limits.memory, ByteSize::mib(512));
    }
}
