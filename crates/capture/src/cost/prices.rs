//! The price list: a file with a date, read once.

use serde::Deserialize;

use super::{Tokens, Usd, model};

/// Why a price list could not be read.
#[derive(Debug, thiserror::Error)]
#[error("the price list is not one")]
pub struct PricesError(#[from] serde_json::Error);

/// What a model's tokens cost, in dollars per million. Where a list is silent about the cache, it is paid for as input.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(from = "Written")]
pub struct Price {
    /// Input.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Reading from the cache.
    pub cache_read: f64,
    /// Writing to the cache for five minutes.
    pub cache_write_5m: f64,
    /// Writing to the cache for an hour.
    pub cache_write_1h: f64,
}

/// A price as lists have it.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Written {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write_5m: Option<f64>,
    cache_write_1h: Option<f64>,
}

impl From<Written> for Price {
    fn from(written: Written) -> Self {
        let cache_write_5m = written.cache_write_5m.unwrap_or(written.input);
        Self {
            input: written.input,
            output: written.output,
            cache_read: written.cache_read.unwrap_or(written.input),
            cache_write_5m,
            cache_write_1h: written.cache_write_1h.unwrap_or(cache_write_5m),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Long {
    above: u64,
    #[serde(flatten)]
    price: Price,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Listed {
    name: String,
    #[serde(flatten)]
    price: Price,
    long: Option<Long>,
}

/// Prices as of a day. The newest model of a family stands first, and `name-mini` before `name`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Prices {
    as_of: String,
    models: Vec<Listed>,
}

impl Prices {
    /// The list that came with this program.
    pub fn embedded() -> Result<Self, PricesError> {
        Self::read(include_str!("prices.json"))
    }

    /// A list somebody keeps newer than ours, with names as its vendors write them.
    pub fn read(json: &str) -> Result<Self, PricesError> {
        let mut list: Self = serde_json::from_str(json)?;
        for listed in &mut list.models {
            listed.name = model::plain(&listed.name);
        }
        Ok(list)
    }

    /// This list, and for what it does not know another.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.models.extend(other.models);
        self
    }

    /// The day the list was made.
    pub fn as_of(&self) -> &str {
        &self.as_of
    }

    /// What tokens of a model are worth, and whether that is its own price or a relative's.
    pub fn reckon(&self, model: &str, tokens: Tokens) -> Option<(Usd, bool)> {
        let plain = model::plain(model);
        let own = self.models.iter().find(|listed| is_it(&listed.name, &plain));
        let relative = || {
            let family = model::family(&plain)?;
            self.models.iter().find(|listed| listed.name.contains(family))
        };
        let listed = own.or_else(relative)?;
        let price = match &listed.long {
            Some(long) if tokens.prompt() > long.above => long.price,
            _ => listed.price,
        };
        Some((price.of(tokens), own.is_some()))
    }
}

impl Default for Prices {
    /// The list that came with this program; a test reads it.
    fn default() -> Self {
        Self::embedded().unwrap_or_else(|_broken| Self { as_of: String::new(), models: Vec::new() })
    }
}

impl Price {
    fn of(self, tokens: Tokens) -> Usd {
        [
            (self.input, tokens.input),
            (self.output, tokens.output),
            (self.cache_read, tokens.cache_read),
            (self.cache_write_5m, tokens.cache_write_5m),
            (self.cache_write_1h, tokens.cache_write_1h),
        ]
        .into_iter()
        .fold(Usd::default(), |sum, (price, count)| sum.plus(nanos(price, count)))
    }
}

/// Dollars per million tokens are thousandths of a billionth per thousandth of a token; whole numbers do it.
fn nanos(price: f64, count: u64) -> Usd {
    let per_million_micros: u64 = format!("{:.0}", price * 1e6).parse().unwrap_or_default();
    Usd(count.saturating_mul(per_million_micros) / 1_000)
}

/// A listed name fits itself and itself with a word behind, never another number: `opus-4` is not `opus-4-9`.
fn is_it(listed: &str, plain: &str) -> bool {
    plain.strip_prefix(listed).is_some_and(|rest| {
        rest.is_empty()
            || rest.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
    })
}
