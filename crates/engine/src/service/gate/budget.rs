//! The third stage: whether it can be paid for.
//!
//! Owns: what is concluded from what was spent. `Ask` pauses until a person says something, `Deny` ends it.

use super::{Finding, Request, Service};

/// What the budgets of whoever asks say of one more call.
pub(super) fn stage(_service: &Service, _request: &Request) -> Finding {
    Finding::allow("no budget is set")
}
