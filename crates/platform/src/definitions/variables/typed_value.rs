//! Values that match their type.

use crate::definitions::fields::reject_unquoted;
use crate::definitions::number::{Decimal, parse_number};
use serde_json::Value;

pub(super) const NUMBER: &str = "NUMBER";
pub(super) const TEXT: &str = "TEXT";

/// Converts the value of a variable on the command line to JSON: a number if the type is NUMBER, otherwise a string.
pub fn parse_variable_argument(variable_type: Option<&str>, text: &str) -> Result<Value, String> {
    if is_type(variable_type, NUMBER) {
        parse_number(text.trim()).map(Value::Number)
    } else {
        Ok(Value::String(text.to_owned()))
    }
}

/// Checks a value from a file against the variable's type, and returns it. It is not converted, because the number
/// `1.10` and the string `"1.10"` differ. For TEXT, a number or boolean is an error: its quotes are missing. For an
/// unknown type, any value except null passes.
pub(super) fn validate_value(variable_type: Option<&str>, value: &Value) -> Result<Value, String> {
    match value {
        Value::String(_) if is_type(variable_type, NUMBER) => {
            Err("is a string, but the type is NUMBER: write a number such as 1000, without quotes".to_owned())
        }
        Value::Bool(_) | Value::Array(_) | Value::Object(_) | Value::Null
            if is_type(variable_type, NUMBER) =>
        {
            Err("is not a number, but the type is NUMBER".to_owned())
        }
        Value::Number(_) | Value::Bool(_) if is_type(variable_type, TEXT) => {
            // This fails for every number or boolean.
            reject_unquoted(value)?;
            Ok(value.clone())
        }
        Value::Array(_) | Value::Object(_) if is_type(variable_type, TEXT) => {
            Err("is not a string, but the type is TEXT".to_owned())
        }
        Value::Null => Err("must be a string or a number; an empty string is \"\"".to_owned()),
        value => Ok(value.clone()),
    }
}

/// Returns whether the variable's type is known and has this name, in any letter case.
fn is_type(variable_type: Option<&str>, name: &str) -> bool {
    variable_type.is_some_and(|variable_type| variable_type.eq_ignore_ascii_case(name))
}

/// Returns whether two values of a variable are equal. For the type NUMBER, `1.0` and `1` are equal.
pub(super) fn is_same_value(variable_type: Option<&str>, left: &Value, right: &Value) -> bool {
    if left == right {
        return true;
    }
    match (Decimal::from_value(left), Decimal::from_value(right)) {
        (Some(left), Some(right)) => is_type(variable_type, NUMBER) && left == right,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn typed_value_fits_its_type() {
        assert_eq!(parse_variable_argument(Some("NUMBER"), "10"), Ok(json!(10)));
        assert_eq!(parse_variable_argument(Some("NUMBER"), "-1.5"), Ok(json!(-1.5)));
        assert_eq!(parse_variable_argument(Some("TEXT"), "10"), Ok(json!("10")));
        assert_eq!(parse_variable_argument(Some("GRID"), "10"), Ok(json!("10")));
        assert_eq!(parse_variable_argument(Some("TEXT"), ""), Ok(json!("")));
        assert!(parse_variable_argument(Some("NUMBER"), "ten").is_err());
        assert!(parse_variable_argument(Some("NUMBER"), "").is_err());
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
    fn message_about_value_that_is_no_number_does_not_advise_a_string() {
        for value in [json!(true), json!([1]), json!({}), Value::Null] {
            let message = validate_value(Some("NUMBER"), &value).unwrap_err();
            assert_eq!(message, "is not a number, but the type is NUMBER", "{value}");
        }
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
