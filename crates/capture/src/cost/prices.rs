//! The price list: a file with a date, read once.

use serde::Deserialize;

use super::{Tokens, Usd, model};

/// Why a price list could not be read.
#[derive(Debug, thiserror::Error)]
#[error("the price list is not one")]
pub struct PricesError(#[from] serde_json::Error);

/// What a model's tokens cost, in dollars per million.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
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

#[derive(Debug, Clone, Deserialize)]
struct Long {
    above: u64,
    #[serde(flatten)]
    price: Price,
}

#[derive(Debug, Clone, Deserialize)]
struct Listed {
    name: String,
    #[serde(flatten)]
    price: Price,
    long: Option<Long>,
}

/// Prices as of a day. The newest model of a family stands first.
#[derive(Debug, Clone, Deserialize)]
pub struct Prices {
    as_of: String,
    models: Vec<Listed>,
}

impl Prices {
    /// The list that came with this program.
    pub fn embedded() -> Result<Self, PricesError> {
        Self::read(include_str!("prices.json"))
    }

    /// A list somebody keeps newer than ours.
    pub fn read(json: &str) -> Result<Self, PricesError> {
        Ok(serde_json::from_str(json)?)
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
