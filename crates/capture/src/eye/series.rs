//! Points of metrics, added up per series: a difference once, a running total in place of what it continues.

use std::collections::BTreeMap;

use belljar_domain::eye::{Series, Shelf};
use serde_json::Value;

use super::{Pass, said::count};
use crate::otlp::{Temporality, Total};

impl<S: Shelf + ?Sized> Pass<'_, S> {
    pub(super) fn measure(&mut self) -> Result<(), S::Error> {
        let points = self.said.value("points").and_then(Value::as_array);
        for point in points.into_iter().flatten() {
            self.add_point(point)?;
        }
        Ok(())
    }

    fn add_point(&mut self, point: &Value) -> Result<(), S::Error> {
        let text = |name: &str| point.get(name).and_then(Value::as_str).unwrap_or_default();
        let number = |name: &str| point.get(name).and_then(count).unwrap_or_default();
        let Some(value) = point.get("value").and_then(Value::as_f64) else { return Ok(()) };
        let attributes = point.get("attributes").and_then(Value::as_object);
        let labels: BTreeMap<String, String> =
            attributes.into_iter().flatten().map(|(name, value)| (name.clone(), spelled(value))).collect();
        let temporality = match text("temporality") {
            "delta" => Temporality::Delta,
            "cumulative" => Temporality::Cumulative,
            _ => Temporality::Gauge,
        };
        let project = self.project().clone();
        let known = self.shelf.series(&project, text("name"), &labels)?;
        let mut series = known.unwrap_or_else(|| Series {
            project,
            name: text("name").to_owned(),
            unit: text("unit").to_owned(),
            session: labels.get("session.id").cloned(),
            labels,
            before: 0.0,
            now: 0.0,
            start: 0,
            latest: 0,
        });
        let mut total =
            Total { before: series.before, now: series.now, start: series.start, latest: series.latest };
        total.take(value, (number("start"), number("time")), temporality);
        (series.before, series.now) = (total.before, total.now);
        (series.start, series.latest) = (total.start, total.latest);
        self.shelf.put_series(series)
    }
}

fn spelled(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
