//! What a model would have used: a context that grows with what is read and said, most of it read from the cache.
//!
//! The numbers are made up, and the same every time; what they cost is reckoned by the server at list price.

use uuid::Uuid;

/// What a conversation begins with: instructions and tools.
const BEGINS_WITH: u64 = 14_200;
/// What is left when it is shortened.
const SHORTENED_TO: u64 = 9_400;
/// Letters a token has.
const LETTERS: usize = 4;

/// What one request used.
#[derive(Debug)]
pub(super) struct Used {
    pub(super) request_id: String,
    pub(super) model: String,
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cache_read: u64,
    pub(super) cache_write: u64,
}

/// One conversation's use of a model.
#[derive(Debug)]
pub(super) struct Meter {
    model: String,
    /// Tokens in the cache.
    context: u64,
    /// Tokens that came since the last request.
    new: u64,
    /// What chance goes by.
    state: u32,
}

impl Meter {
    pub(super) fn new(name: &str, model: &str) -> Self {
        let state =
            name.bytes().fold(17_u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(u32::from(byte)));
        Self { model: model.to_owned(), context: 0, new: BEGINS_WITH, state }
    }

    pub(super) fn model(&self) -> &str {
        &self.model
    }

    /// A number between two, the same at the same place of every performance.
    pub(super) fn between(&mut self, (least, most): (f64, f64)) -> f64 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        least + (most - least) * f64::from(self.state >> 8) / f64::from(u32::MAX >> 8)
    }

    /// So many letters came back from a tool.
    pub(super) fn read(&mut self, letters: usize) {
        self.new += tokens(letters) + 120;
    }

    /// The conversation was shortened; nothing of it is in a cache any more.
    pub(super) const fn shorten(&mut self) {
        (self.context, self.new) = (0, SHORTENED_TO);
    }

    /// A request after which the model writes so many letters, and some thoughts.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few hundred")]
    pub(super) fn request(&mut self, writes: usize) -> Used {
        let thinks = self.between((90.0, 620.0)) as u64;
        let output = tokens(writes) + thinks;
        let used = Used {
            request_id: format!("req_{}", Uuid::now_v7().simple()),
            model: self.model.clone(),
            input: 8,
            output,
            cache_read: self.context,
            cache_write: self.new,
        };
        self.context += self.new;
        self.new = output;
        used
    }
}

const fn tokens(letters: usize) -> u64 {
    (letters / LETTERS) as u64 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_once_is_read_from_the_cache() {
        let mut meter = Meter::new("fern", "a-model");
        let first = meter.request(400);
        meter.read(4000);
        let second = meter.request(40);
        assert_eq!((first.cache_read, first.cache_write), (0, BEGINS_WITH));
        assert_eq!(second.cache_read, BEGINS_WITH);
        assert_eq!(second.cache_write, first.output + 1001 + 120);
        meter.shorten();
        assert_eq!(meter.request(1).cache_read, 0);
    }
}
