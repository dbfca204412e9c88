//! A command that ends with whoever it streams to, as one started in a terminal does.
//!
//! Owns: noticing that nobody listens any more. Refuses: to end a command because the server does; the next one has it.

use super::{
    Tail,
    sse::{Said, Source},
};

/// The output of a command that is ended when nobody takes it to its end.
#[derive(Debug)]
pub(crate) struct Attached {
    tail: Tail,
    over: bool,
}

impl Attached {
    pub(crate) const fn new(tail: Tail) -> Self {
        Self { tail, over: false }
    }
}

impl Source for Attached {
    async fn next(&mut self) -> Said {
        let said = Source::next(&mut self.tail).await;
        self.over |= matches!(said, Said::Last(_) | Said::End);
        said
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if !self.over {
            self.tail.kill();
        }
    }
}
