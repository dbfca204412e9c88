//! How sure a rule can be that an effect is one it is about.
//!
//! Owns: the three answers and how they add up. A value may hold pieces nobody knows, so "yes" and "no" are not enough:
//! a rule says what follows when it is certain, and may say what follows when it only cannot be ruled out.

/// How sure it is that something is so. The surest is the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Certainty {
    /// It is not.
    No,
    /// It cannot be ruled out.
    Possible,
    /// It is, whatever the unknown pieces come to; or as good as that.
    Certain,
}

impl Certainty {
    /// Certain when it is so.
    #[must_use]
    pub const fn when(is_so: bool) -> Self {
        if is_so { Self::Certain } else { Self::No }
    }

    /// Possible when it cannot be ruled out.
    #[must_use]
    pub const fn perhaps(cannot_be_ruled_out: bool) -> Self {
        if cannot_be_ruled_out { Self::Possible } else { Self::No }
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// Either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }

    /// The contrary; what cannot be ruled out cannot be ruled out either way.
    #[must_use]
    pub const fn contrary(self) -> Self {
        match self {
            Self::No => Self::Certain,
            Self::Possible => Self::Possible,
            Self::Certain => Self::No,
        }
    }

    /// Any of these; none of none.
    pub fn any(all: impl IntoIterator<Item = Self>) -> Self {
        all.into_iter().max().unwrap_or(Self::No)
    }
}

#[cfg(test)]
mod tests {
    use super::Certainty::{Certain, No, Possible};
    use super::*;

    #[test]
    fn answers_add_up() {
        assert_eq!(Certain.and(Possible), Possible);
        assert_eq!(Possible.or(No), Possible);
        assert_eq!(Possible.contrary(), Possible);
        assert_eq!(No.contrary(), Certain);
        assert_eq!(Certainty::any([No, Certain, Possible]), Certain);
        assert_eq!(Certainty::any([]), No);
    }
}
