//! Adding up metrics: agents send differences, dashboards want totals.
//!
//! Owns: one total per series. A difference is added once, also when it is sent again; a running total replaces
//! what it continues, and one that began anew is added to what was there.

use std::collections::BTreeMap;

use super::{
    attributes::{AnyValue, Attributes},
    signals::Sum,
};

/// How points relate to those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temporality {
    /// Each is the difference to the one before.
    Delta,
    /// Each is the total since its begin.
    Cumulative,
    /// Each is what is true now.
    Gauge,
}

/// A metric with one set of attributes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Series {
    /// The metric's name.
    pub name: String,
    /// Its attributes, spelled out.
    pub labels: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Total {
    /// What earlier lives of a running total came to.
    pub(crate) before: f64,
    pub(crate) now: f64,
    pub(crate) start: u64,
    pub(crate) latest: u64,
}

/// Totals of every series seen, up to a bound.
#[derive(Debug)]
pub struct Accumulator {
    totals: BTreeMap<Series, Total>,
    limit: usize,
    refused: u64,
}

impl Accumulator {
    /// An accumulator that keeps at most `limit` series.
    pub fn new(limit: usize) -> Self {
        Self { totals: BTreeMap::new(), limit, refused: 0 }
    }

    /// Adds a metric's points.
    pub fn add(&mut self, sum: &Sum) {
        for point in &sum.points {
            // All attributes make a series: points that differ in one only are never taken for the same.
            let series = Series { name: sum.name.clone(), labels: labels(&point.attributes) };
            if !self.totals.contains_key(&series) && self.totals.len() >= self.limit {
                self.refused += 1;
                continue;
            }
            let times = (point.start_unix_nano, point.time_unix_nano);
            self.totals.entry(series).or_default().take(point.value, times, sum.temporality);
        }
    }

    /// Every series with its total.
    pub fn totals(&self) -> impl Iterator<Item = (&Series, f64)> {
        self.totals.iter().map(|(series, total)| (series, total.before + total.now))
    }

    /// The total of all series of a metric.
    pub fn total(&self, name: &str) -> f64 {
        self.totals().filter(|(series, _)| series.name == name).map(|(_, total)| total).sum()
    }

    /// How many points were left out for want of room.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

impl Total {
    fn has_seen(&self, (start, time): (u64, u64)) -> bool {
        time > 0 && time <= self.latest && start <= self.start
    }

    /// Adds a point with the times it begins and was taken at.
    pub(crate) fn take(&mut self, value: f64, (start, time): (u64, u64), temporality: Temporality) {
        if !value.is_finite() {
            return;
        }
        match temporality {
            // Sent again after a lost answer: the same interval counts once.
            Temporality::Delta if self.has_seen((start, time)) => {}
            Temporality::Delta => self.now += value,
            Temporality::Cumulative if time < self.latest => {}
            Temporality::Cumulative => {
                let began_anew = start > self.start && self.latest > 0 || value < self.now;
                if began_anew {
                    self.before += self.now;
                }
                self.now = value;
            }
            Temporality::Gauge => self.now = value,
        }
        self.start = self.start.max(start);
        self.latest = self.latest.max(time);
    }
}

fn labels(attributes: &Attributes) -> BTreeMap<String, String> {
    attributes.0.iter().map(|(name, value)| (name.clone(), spelled(value))).collect()
}

fn spelled(value: &AnyValue) -> String {
    match value {
        AnyValue::Text(text) => text.clone(),
        AnyValue::Bool(flag) => flag.to_string(),
        AnyValue::Int(number) => number.to_string(),
        AnyValue::Double(number) => number.to_string(),
        AnyValue::List(_) | AnyValue::Map(_) | AnyValue::Empty => format!("{value:?}"),
    }
}
