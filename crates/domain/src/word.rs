//! Enums whose variants are single words, the same in code, database and API.

/// Why a text is not one of a fixed set of words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a {kind}; it is one of {expected}")]
pub struct WordError {
    pub(crate) text: String,
    pub(crate) kind: &'static str,
    pub(crate) expected: &'static str,
}

/// An enum whose variants are single words, the same in code, database and API.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $kind:literal { $($(#[$each:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$each])* #[serde(rename = $text)] $variant,)+
        }

        impl $name {
            /// Every one, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::WordError;

            fn from_str(text: &str) -> Result<Self, $crate::WordError> {
                Self::ALL.iter().copied().find(|word| word.as_str() == text).ok_or_else(|| $crate::WordError {
                    text: text.chars().take(80).collect(),
                    kind: $kind,
                    expected: concat!($($text, " "),+).trim_ascii_end(),
                })
            }
        }
    };
}
pub(crate) use words;
