//! `belljar cost`: what was spent on models, and what that figure rests on.

use std::process::ExitCode;

use anyhow::Result;

use crate::{
    args::{By, Cost, word},
    client::{CostReport, Spent, read},
    context::Context,
    output::{count, dollars, print_json, print_table, remark},
};

pub(crate) fn cost(context: &Context, args: &Cost) -> Result<ExitCode> {
    let (by, since) = (word(&args.by), args.since.0.to_string());
    let answer = context.server()?.records("cost", &[("by", &by), ("from", &since)])?;
    if context.json {
        print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let report: CostReport = read(&answer)?;
    let by = by.to_uppercase();
    let heading = [by.as_str(), "REQUESTS", "INPUT", "OUTPUT", "CACHE READ", "CACHE WRITE", "COST", "BASIS"];
    let row = |key: &str, spent: &Spent| cells(key, spent, args.by != By::Tool);
    let mut rows: Vec<_> = report.items.iter().map(|line| row(&line.key, &line.spent)).collect();
    let total = total(&report);
    if !rows.is_empty() {
        rows.push(row("total", &total));
    }
    print_table(&heading, &rows)?;
    let day: String = since.chars().take(10).collect();
    if rows.is_empty() {
        remark(&format!(
            "nothing was spent since {day}; --since 30d looks further back, and `belljar hooks status` says which agents tell of themselves"
        ));
        return Ok(ExitCode::SUCCESS);
    }
    remark(&format!("since {day}; what no agent reported is priced by the list of {}", report.prices_as_of));
    if total.unpriced > 0 {
        remark(&format!(
            "{} requests were to models without a price, and count as nothing",
            count(total.unpriced)
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// All lines together. Their basis is the weakest of any.
pub(super) fn total(report: &CostReport) -> Spent {
    let mut total = Spent { cost_usd: report.total_usd, ..Spent::default() };
    for spent in report.items.iter().map(|line| &line.spent) {
        total.requests = total.requests.saturating_add(spent.requests);
        total.unpriced = total.unpriced.saturating_add(spent.unpriced);
        total.tokens = total.tokens.plus(spent.tokens);
        if weakness(&spent.basis) > weakness(&total.basis) {
            total.basis.clone_from(&spent.basis);
        }
    }
    total
}

fn weakness(basis: &str) -> u8 {
    match basis {
        "" => 0,
        "reported" => 1,
        "list_price" => 2,
        _ => 3,
    }
}

/// By tool nothing but the money is known: a request's cost is shared among the calls it asked for.
fn cells(key: &str, spent: &Spent, all_known: bool) -> Vec<String> {
    let tokens = spent.tokens;
    let numbers = [spent.requests, tokens.input, tokens.output, tokens.cache_read, tokens.cache_write()];
    let known = |text: String| if all_known { text } else { "-".to_owned() };
    let key = if key.is_empty() { "-" } else { key };
    let mut cells = vec![key.to_owned()];
    cells.extend(numbers.map(|number| known(count(number))));
    cells.push(dollars(spent.cost_usd));
    cells.push(known(spent.basis.replace('_', " ")));
    cells
}
