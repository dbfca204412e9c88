//! How long each part of making a sandbox takes, told to whoever counts.
//!
//! Owns: the names of the parts, and the watch that is read after each. Refuses: to keep anything itself.

use std::{
    fmt,
    sync::OnceLock,
    time::{Duration, Instant},
};

use super::Service;

/// A part of making a sandbox, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CreateStage {
    /// Whether it may be made.
    Judge,
    /// Until there is room for it.
    Queue,
    /// Taking one that was ready.
    Claim,
    /// Building one.
    Build,
    /// Until it is written down, as far as that was not done meanwhile.
    Record,
}

impl CreateStage {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Judge, Self::Queue, Self::Claim, Self::Build, Self::Record];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Judge => "judge",
            Self::Queue => "queue",
            Self::Claim => "claim",
            Self::Build => "build",
            Self::Record => "record",
        }
    }
}

type Hear = Box<dyn Fn(CreateStage, Duration) + Send + Sync>;

/// Whoever counts, if somebody does.
#[derive(Default)]
pub(super) struct Stages(OnceLock<Hear>);

impl fmt::Debug for Stages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stages").finish_non_exhaustive()
    }
}

/// A watch that runs from the first part to the last.
#[derive(Debug)]
pub(super) struct Stopwatch<'s> {
    stages: &'s Stages,
    since: Instant,
}

impl Stages {
    pub(super) fn start(&self) -> Stopwatch<'_> {
        Stopwatch { stages: self, since: Instant::now() }
    }
}

impl Stopwatch<'_> {
    /// A part is over, and the next begins.
    pub(super) fn lap(&mut self, stage: CreateStage) {
        let took = self.since.elapsed();
        if let Some(hear) = self.stages.0.get() {
            hear(stage, took);
        }
        self.since = Instant::now();
    }
}

impl Service {
    /// Has somebody told how long each part of making a sandbox took. The first who asks is told.
    pub fn hear_stages(&self, hear: impl Fn(CreateStage, Duration) + Send + Sync + 'static) {
        let _taken = self.0.stages.0.set(Box::new(hear));
    }
}
