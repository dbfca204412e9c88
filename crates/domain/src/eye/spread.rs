//! How long things took, summed up: good enough for percentiles, small enough to keep for everything, and exact to take
//! back what was put in.

use std::fmt;

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{SeqAccess, Visitor},
};

/// Steps to a doubling: a value is known to within 4.5 percent.
const STEPS: f64 = 8.0;

/// Counts by size, in order; written as a list of sizes, each followed by its count.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spread(Vec<(u16, u64)>);

impl Serialize for Spread {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().flat_map(|(place, count)| [u64::from(*place), *count]))
    }
}

impl<'de> Deserialize<'de> for Spread {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(Pairs)
    }
}

/// Reads pairs as they come: whole tables of these are read to be put together.
struct Pairs;

impl<'de> Visitor<'de> for Pairs {
    type Value = Spread;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of sizes, each followed by its count")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Spread, A::Error> {
        let mut all = Spread::default();
        while let (Some(place), Some(count)) = (list.next_element::<u64>()?, list.next_element()?) {
            if let Ok(place) = u16::try_from(place) {
                all.put(place, count);
            }
        }
        Ok(all)
    }
}

impl Spread {
    fn put(&mut self, place: u16, count: u64) {
        match self.0.binary_search_by_key(&place, |pair| pair.0) {
            Ok(at) => self.0.iter_mut().skip(at).take(1).for_each(|pair| pair.1 += count),
            Err(at) => self.0.insert(at, (place, count)),
        }
    }

    /// Counts a value.
    pub fn add(&mut self, value: u64) {
        self.put(bucket(value), 1);
    }

    /// Takes a value back that was counted before.
    pub fn take(&mut self, value: u64) {
        let place = bucket(value);
        self.0.retain_mut(|pair| {
            let is_it = pair.0 == place;
            pair.1 -= u64::from(is_it && pair.1 > 0);
            pair.1 > 0
        });
    }

    /// Adds all of another.
    pub fn merge(&mut self, other: &Self) {
        other.0.iter().for_each(|(place, count)| self.put(*place, *count));
    }

    /// How many values there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|pair| pair.1).sum()
    }

    /// The value below which so many percent are; nothing of nothing.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let wanted = (self.count() * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let found = self.0.iter().find(|(_, count)| {
            seen += *count;
            seen >= wanted
        });
        found.map(|(place, _)| middle(*place))
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a logarithm of 64 bits times eight fits sixteen, and needs no more precision"
)]
fn bucket(value: u64) -> u16 {
    if value == 0 { 0 } else { 1 + ((value as f64).log2() * STEPS) as u16 }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the way back")]
fn middle(place: u16) -> u64 {
    if place == 0 { 0 } else { ((f64::from(place) - 0.5) / STEPS).exp2().round() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_close_and_what_is_taken_back_is_gone() {
        let mut spread = Spread::default();
        (1..=1000).for_each(|value| spread.add(value));
        let near = |percent, wanted: u64| {
            let found = spread.percentile(percent).unwrap();
            assert!(found.abs_diff(wanted) * 100 <= wanted * 5, "p{percent}: {found}, not {wanted}");
        };
        near(50, 500);
        near(95, 950);
        let text = serde_json::to_string(&spread).unwrap();
        assert_eq!(serde_json::from_str::<Spread>(&text).unwrap(), spread);
        let mut both = spread.clone();
        let mut other = Spread::default();
        [3, 7, 5000].into_iter().for_each(|value| other.add(value));
        both.merge(&other);
        assert_eq!((both.count(), both.percentile(100)), (1003, other.percentile(100)));
        (1..=1000).for_each(|value| spread.take(value));
        assert_eq!((spread.count(), spread.percentile(50)), (0, None));
        spread.add(0);
        assert_eq!(spread.percentile(99), Some(0));
    }
}
