//! Where a run stands.

use crate::word::words;

words! {
    /// Where a run stands.
    RunState, "state of a run" {
        /// What its attempts start from is being made.
        Preparing = "preparing",
        /// Attempts are at work, or wait for their turn.
        Running = "running",
        /// The attempts are over and are being looked at.
        Judging = "judging",
        /// It is over; whether there is a winner is another matter.
        Finished = "finished",
        /// It could not be carried out.
        Failed = "failed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
        /// Whoever carried it out went away.
        Interrupted = "interrupted",
    }
}

impl RunState {
    /// Says whether nothing of it changes any more but what people decide.
    #[must_use]
    pub const fn is_over(self) -> bool {
        match self {
            Self::Preparing | Self::Running | Self::Judging => false,
            Self::Finished | Self::Failed | Self::Cancelled | Self::Interrupted => true,
        }
    }
}
