//! Values that match their type.

use crate::definitions::fields::reject_unquoted;
use crate::definitions::number::{Decimal, parse_number};
use serde_json::Value;

pub(super) const NUMBER: &str = "NUMBER";
pub(super) const TEXT: &str = "TEXT";

/// Converts a command-line value to the type of its variable. For a type that the API document does not define, it is
/// a string.
pub fn parse_argument(kind: Option<&str>, text: &str) -> Result<Value, String> {
    if is_type(kind, NUMBER) {
        parse_number(text.trim()).map(Value::Number)
    } else {
        Ok(Value::String(text.to_owned()))
    }
}

/// Checks a value from a file against the variable's type. Nothing is converted, as `1.10` and `"1.10"` are not the
/// same.
pub(super) fn validate_value(kind: Option<&str>, value: &Value) -> Result<Value, String> {
    match value {
        Value::String(_) if is_type(kind, NUMBER) => {
            Err("is a string, and the type is NUMBER: remove the quotes".to_owned())
        }
        Value::Number(_) | Value::Bool(_) if is_type(kind, TEXT) => {
            reject_unquoted(value)?;
            Ok(value.clone())
        }
        Value::Bool(_) | Value::Array(_) | Value::Object(_)
            if is_type(kind, NUMBER) || is_type(kind, TEXT) =>
        {
            Err("is neither a string nor a number".to_owned())
        }
        Value::Null => Err("must be a string or a number; an empty string is \"\"".to_owned()),
        value => Ok(value.clone()),
    }
}

/// Returns whether the variable's type is known to be this one, in any letter case.
fn is_type(kind: Option<&str>, name: &str) -> bool {
    kind.is_some_and(|kind| kind.eq_ignore_ascii_case(name))
}

/// Returns whether two values are equal for a variable: numbers are compared by value, regardless of notation.
pub(super) fn is_same_value(kind: Option<&str>, left: &Value, right: &Value) -> bool {
    if left == right {
        return true;
    }
    match (Decimal::from_value(left), Decimal::from_value(right)) {
        (Some(left), Some(right)) => is_type(kind, NUMBER) && left == right,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn typed_value_fits_its_type() {
        assert_eq!(parse_argument(Some("NUMBER"), "10"), Ok(json!(10)));
        assert_eq!(parse_argument(Some("NUMBER"), "-1.5"), Ok(json!(-1.5)));
        assert_eq!(parse_argument(Some("TEXT"), "10"), Ok(json!("10")));
        assert_eq!(parse_argument(Some("GRID"), "10"), Ok(json!("10")));
        assert_eq!(parse_argument(Some("TEXT"), ""), Ok(json!("")));
        assert!(parse_argument(Some("NUMBER"), "ten").is_err());
        assert!(parse_argument(Some("NUMBER"), "").is_err());
    }

    #[test]
    fn nothing_in_a_file_is_converted() {
        assert_eq!(validate_value(Some("NUMBER"), &json!(1.5)), Ok(json!(1.5)));
        assert!(validate_value(Some("NUMBER"), &json!("1.5")).is_err());
        assert!(validate_value(Some("TEXT"), &json!(1.5)).is_err());
        assert!(validate_value(Some("TEXT"), &json!(["a"])).is_err());
        assert!(validate_value(None, &Value::Null).is_err());
        assert_eq!(validate_value(Some("GRID"), &json!([["a"]])), Ok(json!([["a"]])));
    }

    #[test]
    fn numbers_are_compared_by_what_they_mean() {
        assert!(is_same_value(Some("NUMBER"), &json!(10), &json!("10")));
        assert!(is_same_value(Some("NUMBER"), &json!(10), &json!(10.0)));
        assert!(!is_same_value(Some("NUMBER"), &json!(10), &json!(11)));
        assert!(!is_same_value(Some("NUMBER"), &json!("ten"), &json!("zehn")));
        assert!(!is_same_value(Some("TEXT"), &json!("10"), &json!("10.0")));
    }
}
