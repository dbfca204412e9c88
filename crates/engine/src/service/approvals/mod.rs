//! Calls that wait for a person: asked, answered once, delivered.
//!
//! Owns: the rows, who waits for which, and what follows from an answer or from none. A call whose maker is held up (a
//! hook) is watched: when nobody waits for it any more, it is cancelled. A request of the API is not held: it is refused
//! with the approval's id, and passes when it is made again after a yes. Refuses: to decide; that a person is to be asked
//! says the gate, and what they said is carried out there.

mod answering;
mod asking;
mod closing;
mod desk;
mod grants;
mod link;
mod outcome;
mod record;

pub use answering::{Answered, Answering, Word};
pub use asking::{Asked, Asker};
pub(super) use asking::{for_session, settled};
pub use closing::{Sitting, Watching};
pub(super) use desk::Desk;
pub use link::{Link, LinkError};
pub use outcome::Outcome;
pub use record::{ApprovalView, Said};
