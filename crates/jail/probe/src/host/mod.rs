//! The host's half: plants what the probe reaches for, starts it under any launcher, and says what was touched.
//!
//! ```no_run
//! use belljar_probe::host::{Canaries, Launcher};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let canaries = Canaries::plant("/tmp/canaries".as_ref())?;
//! let launcher = Launcher::new(["belljar", "run", "--"]);
//! let reports = canaries.run_every_probe(&launcher, "target/debug/belljar-probe".as_ref())?;
//! assert!(reports.iter().all(|report| report.contained));
//! assert_eq!(canaries.verify(), []);
//! # Ok(())
//! # }
//! ```

mod canaries;
mod launcher;
mod verify;

pub use canaries::{Canaries, Owner, PlantError, Planting};
pub use launcher::{Launcher, RunError};
pub use verify::Touch;
