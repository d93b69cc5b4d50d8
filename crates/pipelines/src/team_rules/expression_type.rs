//! The types by which an expression is checked before it is evaluated.

use super::record_field::{FieldType, RecordKind};
use std::fmt;

/// The type of a part of an expression. It may be unknown without a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ValueType {
    Boolean,
    Integer,
    Unsigned,
    Double,
    Text,
    Null,
    List(Box<ValueType>),
    Map(Box<ValueType>),
    Record(RecordKind),
    /// A value of the document, whose type is known only when a pipeline is read.
    Any,
}

impl ValueType {
    pub(super) fn list_of(item: Self) -> Self {
        Self::List(Box::new(item))
    }

    /// Returns the type that the value of a documented field has in an expression.
    pub(super) fn of_field(field_type: FieldType) -> Self {
        match field_type {
            FieldType::Text => Self::Text,
            FieldType::Boolean => Self::Boolean,
            FieldType::Map => Self::Map(Box::new(Self::Any)),
            FieldType::Any => Self::Any,
            FieldType::Texts => Self::list_of(Self::Text),
            FieldType::Records(kind) => Self::list_of(Self::Record(kind)),
        }
    }

    /// Returns whether one value can have both types. An unknown type is compatible with every type.
    pub(super) fn is_compatible(&self, candidate: &Self) -> bool {
        match (self, candidate) {
            (Self::Any, _) | (_, Self::Any) => true,
            (Self::List(item), Self::List(other_item)) | (Self::Map(item), Self::Map(other_item)) => {
                item.is_compatible(other_item)
            }
            (type_, other_type) => type_ == other_type,
        }
    }

    /// Returns whether values of these types can be compared with `==`. Numbers of different types can, also in lists
    /// and maps.
    pub(super) fn is_comparable(&self, candidate: &Self) -> bool {
        match (self, candidate) {
            (Self::List(item), Self::List(other_item)) | (Self::Map(item), Self::Map(other_item)) => {
                item.is_comparable(other_item)
            }
            _ => self.is_compatible(candidate) || (self.is_number() && candidate.is_number()),
        }
    }

    /// Returns the value that a documented field of this type has instead of null if the file does not set it. Returns
    /// `None` for the other types.
    pub(super) const fn empty_value(&self) -> Option<&'static str> {
        match self {
            Self::Text => Some("\"\""),
            Self::Boolean => Some("false"),
            Self::List(_) => Some("[]"),
            _ => None,
        }
    }

    /// Returns the type with its article, and for a list also the type of its items if this is known.
    pub(super) fn describe_with_items(&self) -> String {
        match self {
            Self::List(item) if **item != Self::Any => format!("{self} of {}", item.describe_items()),
            _ => self.to_string(),
        }
    }

    /// Returns the plural of the type.
    fn describe_items(&self) -> String {
        match self {
            Self::List(item) if **item != Self::Any => format!("lists of {}", item.describe_items()),
            Self::Null => "null values".to_owned(),
            _ => {
                let name = self.to_string();
                let noun = name.split_once(' ').map_or(name.as_str(), |(_, noun)| noun);
                format!("{noun}s")
            }
        }
    }

    pub(super) const fn is_number(&self) -> bool {
        matches!(self, Self::Integer | Self::Unsigned | Self::Double)
    }

    /// Returns the type of a value that has one of these two types: unknown, unless both types are the same.
    pub(super) fn unite(self, candidate: &Self) -> Self {
        if self == *candidate { self } else { Self::Any }
    }
}

impl fmt::Display for ValueType {
    /// Writes the type with its article, so that it fits into the sentence of a message.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("a boolean"),
            Self::Integer => f.write_str("an integer"),
            Self::Unsigned => f.write_str("an unsigned integer"),
            Self::Double => f.write_str("a decimal number"),
            Self::Text => f.write_str("a string"),
            Self::Null => f.write_str("null"),
            Self::List(_) => f.write_str("a list"),
            Self::Map(_) => f.write_str("a map"),
            Self::Record(kind) => write!(f, "a {kind}"),
            Self::Any => f.write_str("a value"),
        }
    }
}
