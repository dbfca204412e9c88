//! The score a file must have: one for all, higher ones where a mistake costs more.

use crate::words::words;

/// Thresholds for files.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// For every file.
    pub default: f64,
    /// For files with this word in their path; the highest that fits counts.
    pub by_word: Vec<(String, f64)>,
}

impl Default for Gate {
    fn default() -> Self {
        let by_word =
            [("auth", 90.0), ("security", 90.0), ("payment", 95.0), ("api", 75.0), ("database", 80.0)];
        Self { default: 70.0, by_word: by_word.map(|(word, score)| (word.to_owned(), score)).to_vec() }
    }
}

impl Gate {
    /// The same for every file.
    #[must_use]
    pub fn flat(score: f64) -> Self {
        Self { default: score, by_word: Vec::new() }
    }

    /// What a file must reach.
    #[must_use]
    pub fn threshold(&self, path: &str) -> f64 {
        let name = path.rsplit('/').next().unwrap_or(path);
        let stem = name.split('.').next().unwrap_or(name);
        let named = words(stem);
        let fitting = self.by_word.iter().filter(|(word, _)| named.contains(word)).map(|(_, score)| *score);
        fitting.fold(self.default, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_threshold_that_fits_counts() {
        let gate = Gate::default();
        assert!((gate.threshold("src/paymentApi.ts") - 95.0).abs() < f64::EPSILON);
        assert!((gate.threshold("src/author.py") - 70.0).abs() < f64::EPSILON);
        assert!((Gate::flat(50.0).threshold("auth.go") - 50.0).abs() < f64::EPSILON);
    }
}
