//! What only SQLite can get wrong: crashes, tampering with the file, two processes, full disks, old files.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]

mod crashes;
mod full_disk;
mod opening;
mod support;
mod tampering;
mod views;
