//! Budgets: what agents may spend, what they spent, and what happens on the way there.
//!
//! Owns: the limits in force, the books, and that both outlive a crash: what is set aside or spent is handed to the store
//! before whoever asked is answered. Refuses: prices (`capture`) and arithmetic (`guardian::budget`).
//!
//! What a call will cost is not known before it is made, so an estimate is set aside; when the call is done the estimate
//! counts as spent; when telemetry or a transcript says what the conversation really cost, that takes its place.

mod account;
mod books;
mod hear;
mod keep;
mod limits;
mod report;
mod spend;
mod steps;

use std::sync::{Mutex, MutexGuard, PoisonError};

use belljar_domain::{AgentName, Amount, Budget, Limit, Role, RunId, Steps, Timestamp};

pub use report::SpendingFilter;
pub(super) use spend::Bill;

use self::{books::Books, limits::Limits};

/// Everything about money.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    books: Mutex<Books>,
    limits: Mutex<Limits>,
}

impl Budgets {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn limits(&self) -> MutexGuard<'_, Limits> {
        self.limits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whose spending is meant, as somebody with a key says it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spender {
    /// The agent; its role follows from the registry.
    pub agent: Option<AgentName>,
    /// The role, of agents that are not in the registry.
    pub role: Option<Role>,
    /// The conversation.
    pub session: Option<String>,
    /// The run.
    pub run: Option<RunId>,
}

/// A limit to be set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetOrder {
    /// How much.
    pub limit: Limit,
    /// What happens on the way there; as it is, or the usual, when absent.
    pub steps: Option<Steps>,
}

/// How far a budget is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetView {
    /// The budget.
    pub budget: Budget,
    /// Whose spending; none while nobody has spent anything of it.
    pub subject: Option<String>,
    /// The stretch of time it is about: a day, a session, `total`.
    pub span: Option<String>,
    /// What was spent.
    pub spent: Amount,
    /// Of that, what is only estimated.
    pub estimated: Amount,
    /// What calls under way have set aside.
    pub reserved: Amount,
    /// Calls that were refused.
    pub blocked: u64,
}

/// What was set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserved {
    /// What it is called.
    pub id: String,
    /// How much.
    pub amount: Amount,
    /// When it is given back by itself.
    pub until: Timestamp,
}

/// What a payment changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// How much was paid.
    pub amount: Amount,
    /// Each budget it counts for: its name, what was spent before, and after.
    pub budgets: Vec<(String, Amount, Amount)>,
}
