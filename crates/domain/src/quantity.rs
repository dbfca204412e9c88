//! Amounts as people write them: `64M`, `1.5`, `5m`.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

/// Why a text is not an amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {what}; write {example}")]
pub struct QuantityError {
    text: String,
    what: &'static str,
    example: &'static str,
}

impl QuantityError {
    fn new(text: &str, what: &'static str, example: &'static str) -> Self {
        Self { text: text.chars().take(40).collect(), what, example }
    }
}

/// A number of bytes. Suffixes are powers of 1024; a bare number is megabytes, as in every limit belljar takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByteSize(u64);

impl ByteSize {
    /// A size in bytes.
    #[must_use]
    pub const fn bytes(count: u64) -> Self {
        Self(count)
    }

    /// A size in units of 1024 × 1024 bytes.
    #[must_use]
    pub const fn mib(count: u64) -> Self {
        Self(count.saturating_mul(1024 * 1024))
    }

    /// The size in bytes.
    #[must_use]
    pub const fn as_bytes(self) -> u64 {
        self.0
    }
}

impl FromStr for ByteSize {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let error = || QuantityError::new(text, "size", "a number with K, M, G or T, such as 512M");
        let (number, suffix) = split_number(text);
        let unit: u64 = match suffix.to_ascii_lowercase().as_str() {
            "b" => 1,
            "k" | "kb" | "kib" => 1 << 10,
            "" | "m" | "mb" | "mib" => 1 << 20,
            "g" | "gb" | "gib" => 1 << 30,
            "t" | "tb" | "tib" => 1 << 40,
            _ => return Err(error()),
        };
        scaled(number, unit).filter(|bytes| *bytes > 0).map(Self).ok_or_else(error)
    }
}

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 4] = [(1 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")];
        for (unit, name) in UNITS {
            if self.0 >= unit {
                let tenths = self.0.saturating_mul(10) / unit;
                return match tenths % 10 {
                    0 => write!(f, "{}{name}", tenths / 10),
                    part => write!(f, "{}.{part}{name}", tenths / 10),
                };
            }
        }
        write!(f, "{}B", self.0)
    }
}

/// Processor time per wall time, in thousandths of one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cpus(u32);

impl Cpus {
    /// A number of thousandths of a core.
    #[must_use]
    pub const fn milli(count: u32) -> Self {
        Self(count)
    }

    /// The number of thousandths of a core.
    #[must_use]
    pub const fn as_milli(self) -> u32 {
        self.0
    }
}

impl FromStr for Cpus {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let milli = scaled(text, 1000).and_then(|milli| u32::try_from(milli).ok());
        milli.filter(|milli| (10..=1_000_000).contains(milli)).map(Self).ok_or_else(|| {
            QuantityError::new(text, "number of cores", "a number from 0.01 to 1000, such as 1.5")
        })
    }
}

impl fmt::Display for Cpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 % 1000 {
            0 => write!(f, "{}", self.0 / 1000),
            rest => {
                let part = format!("{rest:03}");
                write!(f, "{}.{}", self.0 / 1000, part.trim_end_matches('0'))
            }
        }
    }
}

/// A length of time. A bare number is seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Span(u64);

impl Span {
    /// A length in milliseconds.
    #[must_use]
    pub const fn millis(count: u64) -> Self {
        Self(count)
    }

    /// A length in seconds.
    #[must_use]
    pub const fn seconds(count: u64) -> Self {
        Self(count.saturating_mul(1000))
    }

    /// The length in milliseconds.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The length as the standard library's type.
    #[must_use]
    pub const fn as_duration(self) -> Duration {
        Duration::from_millis(self.0)
    }
}

impl FromStr for Span {
    type Err = QuantityError;

    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let error =
            || QuantityError::new(text, "length of time", "a number with ms, s, m, h or d, such as 90s");
        let (number, suffix) = split_number(text);
        let unit = match suffix {
            "ms" => 1,
            "" | "s" => 1000,
            "m" | "min" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            _ => return Err(error()),
        };
        scaled(number, unit).filter(|millis| *millis > 0).map(Self).ok_or_else(error)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            ms if ms < 1000 => write!(f, "{ms}ms"),
            ms if ms < 60_000 && ms % 1000 != 0 => write!(f, "{}.{}s", ms / 1000, ms % 1000 / 100),
            ms if ms < 60_000 => write!(f, "{}s", ms / 1000),
            ms if ms < 3_600_000 && ms % 60_000 == 0 => write!(f, "{}m", ms / 60_000),
            ms if ms < 3_600_000 => write!(f, "{}m{}s", ms / 60_000, ms % 60_000 / 1000),
            ms if ms % 3_600_000 == 0 => write!(f, "{}h", ms / 3_600_000),
            ms => write!(f, "{}h{}m", ms / 3_600_000, ms % 3_600_000 / 60_000),
        }
    }
}

fn split_number(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Reads a decimal number times `unit` without floating point, so that `1.5G` is exact.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() || fraction.len() > 6 || (number.contains('.') && fraction.is_empty()) {
        return None;
    }
    let mut total = whole.parse::<u64>().ok()?.checked_mul(unit)?;
    if !fraction.is_empty() {
        let digits = u32::try_from(fraction.len()).ok()?;
        let part = fraction.parse::<u64>().ok()?.checked_mul(unit)? / 10_u64.pow(digits);
        total = total.checked_add(part)?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        for (text, bytes) in [
            ("64M", 64 << 20),
            ("512", 512 << 20),
            ("1.5G", 3 << 29),
            ("100k", 100 << 10),
            ("7b", 7),
            ("2GiB", 2 << 30),
        ] {
            assert_eq!(text.parse(), Ok(ByteSize::bytes(bytes)), "{text}");
        }
        for text in ["", "M", "-1M", "1.M", "1..5M", "1X", "0", "99999999999T", "1e9"] {
            assert!(text.parse::<ByteSize>().is_err(), "{text}");
        }
    }

    #[test]
    fn amounts_print_as_they_are_read() {
        assert_eq!(ByteSize::mib(512).to_string(), "512M");
        assert_eq!(ByteSize::mib(1536).to_string(), "1.5G");
        assert_eq!("0.25".parse::<Cpus>().map(|c| c.to_string()), Ok("0.25".to_owned()));
        assert_eq!("2".parse::<Cpus>().map(Cpus::as_milli), Ok(2000));
        assert_eq!("90".parse::<Span>().map(|s| s.to_string()), Ok("1m30s".to_owned()));
        assert_eq!("250ms".parse::<Span>().map(Span::as_millis), Ok(250));
        assert!("0".parse::<Cpus>().is_err());
        assert!("5 minutes".parse::<Span>().is_err());
    }
}
