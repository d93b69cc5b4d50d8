//! A macro that keeps the words of an enum in one list, used to show, serialize and parse its values.

/// Implements `ALL`, `name`, `parse`, `Display` and serde for an enum without data; a document contains the word.
#[macro_export]
macro_rules! words {
    ($type:ident { $($variant:ident => $word:literal),+ $(,)? }) => {
        impl $type {
            /// All values, in the order of their declaration.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Returns the word for the value, as used on the command line and in documents.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }

            /// Returns the value with this word, or `None` if the word is unknown.
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == word)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
                writer.serialize_str(self.name())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                let word = String::deserialize(reader)?;
                let unknown = || serde::de::Error::unknown_variant(&word, &[$($word),+]);
                Self::parse(&word).ok_or_else(unknown)
            }
        }
    };
}

pub use words;
