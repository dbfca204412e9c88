//! Control groups, whatever the host has: version 1, version 2, or both at once with the controllers split.
//!
//! Owns: finding where groups can be made, making one per sandbox, its limits, counters, freezing and killing.
//! Refuses: pretending. A controller that cannot be had is absent from [`Hierarchy::has`], and the caller must say so.

mod gauges;
mod group;
mod hierarchy;
mod survey;

pub use gauges::Gauges;
pub use group::{Group, GroupError};
pub use hierarchy::{Controller, Hierarchy, Seat, Version};
pub use survey::{Layout, Place, Survey};
