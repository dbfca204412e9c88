//! Moments, as microseconds since 1970 in UTC; written as RFC 3339.
//!
//! Owns: the one form in which times are stored, compared and shown. Refuses: to read a clock, and time zones other
//! than UTC.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

const MICROS_PER_SECOND: i64 = 1_000_000;
const SECONDS_PER_DAY: i64 = 86_400;
/// The years 0000 to 9999, the only ones RFC 3339 can write.
const FIRST: i64 = -62_167_219_200 * MICROS_PER_SECOND;
const LAST: i64 = 253_402_300_800 * MICROS_PER_SECOND - 1;

/// A moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(i64);

/// Why a text is not a moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time in UTC such as 2026-01-31T12:00:00Z")]
pub struct TimestampError(String);

impl Timestamp {
    /// A number of microseconds since 1970; what lies beyond the year 9999 is moved to its edge.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        match micros {
            ..FIRST => Self(FIRST),
            FIRST..=LAST => Self(micros),
            _ => Self(LAST),
        }
    }

    /// The number of microseconds since 1970.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The moment this much later.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self::from_micros(self.0.saturating_add(micros(span)))
    }

    /// The moment this much earlier.
    #[must_use]
    pub fn minus(self, span: Duration) -> Self {
        Self::from_micros(self.0.saturating_sub(micros(span)))
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).unwrap_or(i64::MAX)
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        Self::from_micros(match time.duration_since(UNIX_EPOCH) {
            Ok(since) => micros(since),
            Err(before) => micros(before.duration()).saturating_neg(),
        })
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(MICROS_PER_SECOND);
        let (year, month, day) = civil(seconds.div_euclid(SECONDS_PER_DAY));
        let of_day = seconds.rem_euclid(SECONDS_PER_DAY);
        let (hour, minute, second) = (of_day / 3600, of_day / 60 % 60, of_day % 60);
        let fraction = self.0.rem_euclid(MICROS_PER_SECOND);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{fraction:06}Z")
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        parse(text).ok_or_else(|| TimestampError(text.chars().take(80).collect()))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = TimestampError;

    fn try_from(text: String) -> Result<Self, TimestampError> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let text = text.strip_suffix(['Z', 'z']).or_else(|| text.strip_suffix("+00:00"))?;
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2])?;
    let sane =
        (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second < 61;
    let days = days(year, month, day);
    if !sane || civil(days) != (year, month, day) {
        return None;
    }
    let seconds = days * SECONDS_PER_DAY + hour * 3600 + minute * 60 + second;
    Some(Timestamp::from_micros(seconds * MICROS_PER_SECOND + parse_fraction(fraction)?))
}

/// Digits after the point as microseconds; finer ones are dropped.
fn parse_fraction(digits: &str) -> Option<i64> {
    let is_plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let six: String = digits.chars().chain("000000".chars()).take(6).collect();
    is_plain.then(|| six.parse().ok()).flatten()
}

fn numbers(text: &str, between: char, widths: [usize; 3]) -> Option<[i64; 3]> {
    let mut found = [0; 3];
    let mut parts = text.split(between);
    for (slot, width) in found.iter_mut().zip(widths) {
        let part = parts.next().filter(|part| part.len() == width)?;
        *slot = part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()?;
    }
    parts.next().is_none().then_some(found)
}

/// Days since 1970 to year, month and day, by Howard Hinnant's `civil_from_days`.
fn civil(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The way back, by `days_from_civil`.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted_month + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_survives_its_own_text() {
        for (micros, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001Z"),
            (LAST, "9999-12-31T23:59:59.999999Z"),
            (FIRST, "0000-01-01T00:00:00.000000Z"),
        ] {
            assert_eq!(Timestamp::from_micros(micros).to_string(), text);
            assert_eq!(text.parse(), Ok(Timestamp::from_micros(micros)), "{text}");
        }
        assert_eq!(
            "2026-01-31 12:00:00.5+00:00".parse::<Timestamp>().unwrap().as_micros() % 1_000_000,
            500_000
        );
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for text in [
            "",
            "2026-01-31",
            "2026-02-30T00:00:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T12:00:00",
            "2026-01-31T12:00:00+02:00",
            "2026-1-31T12:00:00Z",
            "2026-01-31T12:00:00.Z",
            "+026-01-31T12:00:00Z",
        ] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
}
