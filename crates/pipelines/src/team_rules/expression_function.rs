//! The functions of an expression: those of CEL's standard library that apply to a document, `glob` and `lower`.

use super::expression_type::ValueType;
use sluicegate_base::words::words;

/// A function that an expression can call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    Glob,
    Lower,
    ToText,
    ToInteger,
    ToUnsigned,
    ToDouble,
    ToBoolean,
}

words!(Function {
    Size => "size",
    Contains => "contains",
    StartsWith => "startsWith",
    EndsWith => "endsWith",
    Matches => "matches",
    Glob => "glob",
    Lower => "lower",
    ToText => "string",
    ToInteger => "int",
    ToUnsigned => "uint",
    ToDouble => "double",
    ToBoolean => "bool",
});

/// The macros of CEL, which its parser expands.
const MACROS: [&str; 6] = ["has", "all", "exists", "exists_one", "map", "filter"];

impl Function {
    /// Returns the number of arguments, including the value that a method is called on.
    pub(super) const fn argument_count(self) -> usize {
        match self {
            Self::Contains | Self::StartsWith | Self::EndsWith | Self::Matches | Self::Glob => 2,
            _ => 1,
        }
    }

    /// Returns the type of the function's result.
    pub(super) const fn result_type(self) -> ValueType {
        match self {
            Self::Size | Self::ToInteger => ValueType::Integer,
            Self::Lower | Self::ToText => ValueType::Text,
            Self::ToUnsigned => ValueType::Unsigned,
            Self::ToDouble => ValueType::Double,
            _ => ValueType::Boolean,
        }
    }

    /// Returns whether the function can be applied to an argument of this type.
    pub(super) const fn accepts(self, argument: &ValueType) -> bool {
        match self {
            Self::Size => matches!(
                argument,
                ValueType::Any | ValueType::Text | ValueType::List(_) | ValueType::Map(_)
            ),
            Self::ToText | Self::ToInteger | Self::ToUnsigned | Self::ToDouble | Self::ToBoolean => matches!(
                argument,
                ValueType::Any
                    | ValueType::Text
                    | ValueType::Boolean
                    | ValueType::Integer
                    | ValueType::Unsigned
                    | ValueType::Double
            ),
            _ => matches!(argument, ValueType::Any | ValueType::Text),
        }
    }

    /// Returns the names of all functions and macros.
    pub(super) fn list_names() -> Vec<&'static str> {
        let functions = Self::ALL.iter().map(|function| function.name());
        functions.chain(MACROS).collect()
    }
}
