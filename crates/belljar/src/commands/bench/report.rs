//! What was measured, for people and for programs.

use std::{io, time::Duration};

use serde_json::{Map, Value, json};

use super::series::{Series, millis};
use crate::output::{print_json, print_table};

/// The answer to one question: some series, and single numbers beside them.
#[derive(Debug)]
pub(crate) struct Report {
    bench: &'static str,
    series: Vec<Series>,
    totals: Vec<(&'static str, Duration)>,
}

impl Report {
    pub(crate) const fn new(bench: &'static str, series: Vec<Series>) -> Self {
        Self { bench, series, totals: Vec::new() }
    }

    /// Adds how long something took as a whole.
    pub(crate) fn total(mut self, name: &'static str, time: Duration) -> Self {
        self.totals.push((name, time));
        self
    }

    pub(crate) fn failed(&self) -> bool {
        self.series.iter().any(|series| series.failures() > 0)
    }

    pub(crate) fn print(&self, as_json: bool) -> io::Result<()> {
        if as_json {
            return print_json(&self.to_json());
        }
        let heading = ["MILLISECONDS", "COUNT", "FAILED", "MIN", "P50", "P95", "P99", "MAX"];
        let rows: Vec<_> = self.series.iter().map(row).chain(self.totals.iter().map(total_row)).collect();
        print_table(&heading, &rows)?;
        for series in &self.series {
            if let Some(why) = series.first_failure() {
                io::Write::write_fmt(
                    &mut io::stderr(),
                    format_args!("belljar: {} failed: {why}\n", series.name()),
                )?;
            }
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        let series: Vec<_> = self.series.iter().map(Series::to_json).collect();
        let totals: Map<_, _> =
            self.totals.iter().map(|(name, time)| ((*name).to_owned(), json!(millis(*time)))).collect();
        json!({"bench": self.bench, "series": series, "totals_ms": totals})
    }
}

fn row(series: &Series) -> Vec<String> {
    let numbers = match series.summary() {
        Some(summary) => summary.columns().map(|(_, time)| shown(time)).to_vec(),
        None => vec!["-".to_owned(); 5],
    };
    let head = [series.name().to_owned(), series.count().to_string(), series.failures().to_string()];
    head.into_iter().chain(numbers).collect()
}

fn total_row((name, time): &(&'static str, Duration)) -> Vec<String> {
    vec![(*name).to_owned(), String::new(), String::new(), shown(*time)]
}

fn shown(time: Duration) -> String {
    format!("{:.2}", millis(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_names_every_number() {
        let mut series = Series::new("run");
        series.add(Duration::from_micros(1500), Ok(()));
        let report = Report::new("run", vec![series]).total("all", Duration::from_millis(2));
        let json = report.to_json();
        assert_eq!(json["series"][0]["p99"], 1.5);
        assert_eq!(json["series"][0]["failure_rate"], 0.0);
        assert_eq!(json["totals_ms"]["all"], 2.0);
        assert!(!report.failed());
    }
}
