//! Budgets, as they travel.

use belljar_api as api;
use belljar_domain::{Amount, Limit, Steps};
use belljar_engine::service::{BudgetOrder, BudgetView, Payment, Reserved, Spender};

use super::agents::role_of;
use crate::{
    extract::parsed,
    problem::{Answer, Failure},
};

/// The most tokens that are meant, which every reader of JSON can tell from one more.
const MOST_TOKENS: u64 = 9_007_199_254_740_991;
/// The most millionths of a dollar that are meant.
const MOST: f64 = 1e15;

pub(crate) fn amount_of(field: &str, amount: api::Amount) -> Answer<Amount> {
    let tokens = tokens(&format!("{field}.tokens"), amount.tokens)?;
    Ok(Amount { tokens, micros: micros(&format!("{field}.cost_usd"), amount.cost_usd)? })
}

fn tokens(field: &str, tokens: u64) -> Answer<u64> {
    if tokens <= MOST_TOKENS {
        Ok(tokens)
    } else {
        Err(Failure::field(field, format!("must be at most {MOST_TOKENS}")))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked just before")]
fn micros(field: &str, usd: f64) -> Answer<u64> {
    let micros = (usd * 1e6).round();
    if micros.is_finite() && (0.0..=MOST).contains(&micros) {
        Ok(micros as u64)
    } else {
        Err(Failure::field(field, "must be a sum of dollars, not below zero"))
    }
}

#[expect(clippy::cast_precision_loss, reason = "dollars for people; sums are kept in whole numbers")]
fn usd(micros: u64) -> f64 {
    micros as f64 / 1e6
}

pub(crate) fn amount(amount: Amount) -> api::Amount {
    api::Amount { tokens: amount.tokens.min(MOST_TOKENS), cost_usd: usd(amount.micros) }
}

pub(crate) fn spender(spender: &api::Spender) -> Answer<Spender> {
    Ok(Spender {
        agent: parsed("spender.agent", spender.agent.as_deref())?,
        role: spender.role.map(role_of),
        session: spender.session_id.clone(),
        run: parsed("spender.run_id", spender.run_id.as_deref())?,
    })
}

pub(crate) fn budget_order(asked: &api::PutBudget) -> Answer<BudgetOrder> {
    let cost = asked.cost_usd.map(|usd| micros("cost_usd", usd)).transpose()?;
    let steps = |steps: api::BudgetSteps| {
        let api::BudgetSteps { notify, pause, terminate } = steps;
        Steps { notify, pause, terminate }
    };
    let most = asked.tokens.map(|count| tokens("tokens", count)).transpose()?;
    Ok(BudgetOrder { limit: Limit { tokens: most, micros: cost }, steps: asked.steps.map(steps) })
}

pub(crate) fn budget(view: BudgetView) -> api::Budget {
    let Steps { notify, pause, terminate } = view.budget.steps;
    let used = view.spent.plus(view.reserved);
    api::Budget {
        budget: view.budget.id(),
        percent: view.budget.limit.percent(used),
        subject: view.subject,
        span: view.span,
        tokens: view.budget.limit.tokens,
        cost_usd: view.budget.limit.micros.map(usd),
        steps: api::BudgetSteps { notify, pause, terminate },
        spent: amount(view.spent),
        estimated: amount(view.estimated),
        reserved: amount(view.reserved),
        blocked: view.blocked,
        set_by: view.budget.by,
    }
}

pub(crate) fn reservation(reserved: Reserved) -> api::Reservation {
    api::Reservation {
        reservation_id: reserved.id,
        amount: amount(reserved.amount),
        until: reserved.until.to_string(),
    }
}

pub(crate) fn payment(payment: Payment) -> api::Payment {
    let line =
        |(budget, before, after)| api::PaymentLine { budget, before: amount(before), after: amount(after) };
    api::Payment { amount: amount(payment.amount), budgets: payment.budgets.into_iter().map(line).collect() }
}
