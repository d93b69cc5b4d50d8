//! Values that match their type.

use crate::desired::fields::quoted;
use crate::desired::number::{Decimal, number};
use serde_json::Value;

pub(super) const NUMBER: &str = "NUMBER";
pub(super) const TEXT: &str = "TEXT";

/// Converts a command-line value to the type of its variable. For a type that the API document does not define, it is
/// a string.
pub fn typed_text(kind: Option<&str>, text: &str) -> Result<Value, String> {
    if is(kind, NUMBER) {
        number(text.trim()).map(Value::Number)
    } else {
        Ok(Value::String(text.to_owned()))
    }
}

/// Checks a value from a file against the variable's type. Nothing is converted, as `1.10` and `"1.10"` are not the
/// same.
pub(super) fn typed(kind: Option<&str>, value: &Value) -> Result<Value, String> {
    match value {
        Value::String(_) if is(kind, NUMBER) => {
            Err("is a string, and the type is NUMBER: remove the quotes".to_owned())
        }
        Value::Number(_) | Value::Bool(_) if is(kind, TEXT) => {
            quoted(value)?;
            Ok(value.clone())
        }
        Value::Bool(_) | Value::Array(_) | Value::Object(_) if is(kind, NUMBER) || is(kind, TEXT) => {
            Err("is neither a string nor a number".to_owned())
        }
        Value::Null => Err("must be a string or a number; an empty string is \"\"".to_owned()),
        other => Ok(other.clone()),
    }
}

fn is(kind: Option<&str>, wanted: &str) -> bool {
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(wanted))
}

/// Returns whether two values are equal for a variable: numbers are compared by value, regardless of notation.
pub(super) fn same(kind: Option<&str>, one: &Value, other: &Value) -> bool {
    one == other || (is(kind, NUMBER) && Decimal::of(one).is_some_and(|it| Some(it) == Decimal::of(other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn typed_value_fits_its_type() {
        assert_eq!(typed_text(Some("NUMBER"), "10"), Ok(json!(10)));
        assert_eq!(typed_text(Some("NUMBER"), "-1.5"), Ok(json!(-1.5)));
        assert_eq!(typed_text(Some("TEXT"), "10"), Ok(json!("10")));
        assert_eq!(typed_text(Some("GRID"), "10"), Ok(json!("10")));
        assert_eq!(typed_text(Some("TEXT"), ""), Ok(json!("")));
        assert!(typed_text(Some("NUMBER"), "ten").is_err());
        assert!(typed_text(Some("NUMBER"), "").is_err());
    }

    #[test]
    fn nothing_in_a_file_is_converted() {
        assert_eq!(typed(Some("NUMBER"), &json!(1.5)), Ok(json!(1.5)));
        assert!(typed(Some("NUMBER"), &json!("1.5")).is_err());
        assert!(typed(Some("TEXT"), &json!(1.5)).is_err());
        assert!(typed(Some("TEXT"), &json!(["a"])).is_err());
        assert!(typed(None, &Value::Null).is_err());
        assert_eq!(typed(Some("GRID"), &json!([["a"]])), Ok(json!([["a"]])));
    }

    #[test]
    fn numbers_are_compared_by_what_they_mean() {
        assert!(same(Some("NUMBER"), &json!(10), &json!("10")));
        assert!(same(Some("NUMBER"), &json!(10), &json!(10.0)));
        assert!(!same(Some("NUMBER"), &json!(10), &json!(11)));
        assert!(!same(Some("NUMBER"), &json!("ten"), &json!("zehn")));
        assert!(!same(Some("TEXT"), &json!("10"), &json!("10.0")));
    }
}
