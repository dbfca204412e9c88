//! Budgets: what may be spent, what was, and what is set aside.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::AgentRole;

/// Tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Amount {
    /// Tokens: what was sent, answered, and written to a cache; what is read from one again is not counted.
    #[schema(maximum = 9_007_199_254_740_991u64)]
    pub tokens: u64,
    /// Dollars.
    #[schema(minimum = 0.0, maximum = 1_000_000_000.0)]
    pub cost_usd: f64,
}

/// Whose spending is meant.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Spender {
    /// The agent; its role follows from the registry.
    #[schema(max_length = 64)]
    pub agent: Option<String>,
    /// The role, of an agent that is not in the registry.
    pub role: Option<AgentRole>,
    /// The conversation.
    #[schema(max_length = 128)]
    pub session_id: Option<String>,
    /// The run.
    #[schema(pattern = "^run_[0-9a-f]{32}$")]
    pub run_id: Option<String>,
}

/// An amount that is to be spent.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CheckBudget {
    /// By whom.
    pub spender: Spender,
    /// How much.
    pub amount: Amount,
}

/// There is room.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct CheckedBudget {
    /// True; where there is no room the answer is a problem with status 429.
    pub allowed: bool,
}

/// An amount to be set aside.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReserveBudget {
    /// For whom.
    pub spender: Spender,
    /// How much.
    pub amount: Amount,
    /// After how many seconds it is given back by itself; 900 when left out.
    #[schema(minimum = 1, maximum = 86_400)]
    pub ttl_seconds: Option<u32>,
}

/// What was set aside.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Reservation {
    /// What it is called.
    #[schema(pattern = "^rsv_[0-9a-f]{32}$")]
    pub reservation_id: String,
    /// How much.
    pub amount: Amount,
    /// When it is given back by itself.
    #[schema(format = DateTime)]
    pub until: String,
}

/// What was spent.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DeductBudget {
    /// By whom; whoever the reservation is for, if one is named.
    pub spender: Spender,
    /// How much it really was.
    pub amount: Amount,
    /// What had been set aside for it.
    #[schema(max_length = 64)]
    pub reservation_id: Option<String>,
}

/// What a payment changed.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Payment {
    /// How much was paid.
    pub amount: Amount,
    /// Every budget it counts for.
    pub budgets: Vec<PaymentLine>,
}

/// One budget a payment counts for.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PaymentLine {
    /// Its name.
    pub budget: String,
    /// What was spent before.
    pub before: Amount,
    /// And after.
    pub after: Amount,
}

/// A budget to be set.
#[derive(Debug, Clone, Default, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PutBudget {
    /// The most tokens.
    #[schema(maximum = 9_007_199_254_740_991u64)]
    pub tokens: Option<u64>,
    /// The most dollars.
    #[schema(minimum = 0.0, maximum = 1_000_000_000.0)]
    pub cost_usd: Option<f64>,
    /// What happens on the way there; as it is, or the usual, when left out.
    pub steps: Option<BudgetSteps>,
}

/// From which percentage on what happens; what is left out does not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSteps {
    /// Told to whoever listens; usually 80.
    #[schema(minimum = 1, maximum = 255)]
    pub notify: Option<u8>,
    /// Sandboxes are frozen and calls wait for a person; usually 100.
    #[schema(minimum = 1, maximum = 255)]
    pub pause: Option<u8>,
    /// Sandboxes are ended; usually never.
    #[schema(minimum = 1, maximum = 255)]
    pub terminate: Option<u8>,
}

/// How far a budget is used.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Budget {
    /// Its name: whose spending, which one of them or `*` for each, and over which time.
    pub budget: String,
    /// Whose spending this line is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The stretch of time: a day, a session, `total`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<String>,
    /// The most tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The most dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// What happens on the way there.
    pub steps: BudgetSteps,
    /// What was spent.
    pub spent: Amount,
    /// Of that, what is only estimated.
    pub estimated: Amount,
    /// What calls under way have set aside.
    pub reserved: Amount,
    /// How far it is used, in percent.
    pub percent: u64,
    /// Calls that were refused.
    pub blocked: u64,
    /// Who set it: somebody, `belljar.toml`, or a role.
    pub set_by: String,
}

/// Budgets.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Budgets {
    /// Each with how far it is used.
    pub items: Vec<Budget>,
}

/// Whose budgets; all that are set when nobody is named.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct BudgetQuery {
    /// Of this agent.
    #[param(max_length = 64)]
    pub agent: Option<String>,
    /// Of this conversation.
    #[param(max_length = 128)]
    pub session_id: Option<String>,
}

/// Which of what was spent and refused.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SpendingQuery {
    /// The most items wanted.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: Option<u16>,
    /// The `next_cursor` of the page before.
    #[param(pattern = "^[0-9]{1,19}$")]
    pub cursor: Option<String>,
    /// Of this agent.
    #[param(max_length = 64)]
    pub agent: Option<String>,
    /// Of this conversation.
    #[param(max_length = 128)]
    pub session_id: Option<String>,
    /// Only what was refused.
    pub blocked: Option<bool>,
}
