//! Calculates with numbers, and converts scalars.

use super::evaluation_failure::{EvaluationResult, build_failure};
use super::expression_function::Function;
use super::expression_node::BinaryOperator;
use super::expression_value::Value;
use std::cmp::Ordering;

/// Compares two numbers. The outer `None` means that a value is not a number at all; the inner `None` means that the
/// two have no order, because one is NaN.
#[expect(clippy::option_option, reason = "NaN is a number without an order")]
pub(super) fn compare_numbers(left: &Value<'_>, right: &Value<'_>) -> Option<Option<Ordering>> {
    match (left, right) {
        (Value::Double(left), right) => Some(left.partial_cmp(&to_double(right)?)),
        (left, Value::Double(right)) => Some(to_double(left)?.partial_cmp(right)),
        (left, right) => Some(Some(to_wide_integer(left)?.cmp(&to_wide_integer(right)?))),
    }
}

/// Converts a signed or unsigned integer to a type that contains both; `None` for any other value.
fn to_wide_integer(value: &Value<'_>) -> Option<i128> {
    match value {
        Value::Integer(number) => Some(i128::from(*number)),
        Value::Unsigned(number) => Some(i128::from(*number)),
        _ => None,
    }
}

/// Converts a number to a decimal number, which may be rounded; `None` for any other value.
#[expect(clippy::cast_precision_loss, reason = "CEL compares as decimals")]
const fn to_double(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Unsigned(number) => Some(*number as f64),
        Value::Double(number) => Some(*number),
        _ => None,
    }
}

/// Returns the number with the opposite sign. Fails for the smallest integer, and for anything that cannot be negated.
pub(super) fn negate<'m>(value: &Value<'m>) -> EvaluationResult<'m> {
    match value {
        Value::Integer(number) => number
            .checked_neg()
            .map(Value::Integer)
            .ok_or_else(|| build_failure("the number is too large")),
        Value::Double(number) => Ok(Value::Double(-number)),
        mismatch => Err(build_failure(format!(
            "{} cannot be negated",
            mismatch.type_name()
        ))),
    }
}

/// Calculates with two numbers of the same type. Fails if the result is too large, if an integer is divided by zero,
/// and for the remainder of decimal numbers, which CEL does not define.
pub(super) fn calculate<'m>(
    operator: BinaryOperator,
    left: &Value<'m>,
    right: &Value<'m>,
) -> EvaluationResult<'m> {
    // In each inner `match`, `_` is the remainder: the callers pass no operator that is not arithmetic.
    let result = match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => match operator {
            BinaryOperator::Add => left.checked_add(*right),
            BinaryOperator::Subtract => left.checked_sub(*right),
            BinaryOperator::Multiply => left.checked_mul(*right),
            BinaryOperator::Divide => left.checked_div(*right),
            _ => left.checked_rem(*right),
        }
        .map(Value::Integer),
        (Value::Unsigned(left), Value::Unsigned(right)) => match operator {
            BinaryOperator::Add => left.checked_add(*right),
            BinaryOperator::Subtract => left.checked_sub(*right),
            BinaryOperator::Multiply => left.checked_mul(*right),
            BinaryOperator::Divide => left.checked_div(*right),
            _ => left.checked_rem(*right),
        }
        .map(Value::Unsigned),
        (Value::Double(left), Value::Double(right)) => match operator {
            BinaryOperator::Add => Some(left + right),
            BinaryOperator::Subtract => Some(left - right),
            BinaryOperator::Multiply => Some(left * right),
            BinaryOperator::Divide => Some(left / right),
            _ => None,
        }
        .map(Value::Double),
        _ => {
            return Err(build_failure(format!(
                "the operator cannot be applied to {} and {}",
                left.type_name(),
                right.type_name()
            )));
        }
    };
    result.ok_or_else(|| build_failure("the result is too large, or the divisor is zero"))
}

/// Converts a value to the type that the function returns. Fails for null, and for a value that the type cannot
/// represent. The limits for decimal numbers are round numbers just inside the range of the integers.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
pub(super) fn convert_value<'m>(function: Function, value: &Value<'m>) -> EvaluationResult<'m> {
    let converted_value = match (function, value) {
        (_, Value::Null) => None,
        (Function::ToText, Value::Text(text)) => Some(Value::Text(text.clone())),
        (Function::ToText, value) => format_scalar(value).map(|text| Value::Text(text.into())),
        (Function::ToInteger, Value::Text(text)) => text.parse().ok().map(Value::Integer),
        (Function::ToInteger, Value::Double(number)) => {
            (number.abs() < 9.0e18).then_some(Value::Integer(*number as i64))
        }
        (Function::ToInteger, value) => {
            let number = to_wide_integer(value).and_then(|number| i64::try_from(number).ok());
            number.map(Value::Integer)
        }
        (Function::ToUnsigned, Value::Text(text)) => text.parse().ok().map(Value::Unsigned),
        (Function::ToUnsigned, Value::Double(number)) => {
            (*number >= 0.0 && *number < 1.8e19).then_some(Value::Unsigned(*number as u64))
        }
        (Function::ToUnsigned, value) => {
            let number = to_wide_integer(value).and_then(|number| u64::try_from(number).ok());
            number.map(Value::Unsigned)
        }
        (Function::ToDouble, Value::Text(text)) => text.parse().ok().map(Value::Double),
        (Function::ToDouble, value) => to_double(value).map(Value::Double),
        // The function is `ToBoolean`; the other ones are above.
        (_, Value::Boolean(value)) => Some(Value::Boolean(*value)),
        (_, Value::Text(text)) => match text.as_ref() {
            "true" => Some(Value::Boolean(true)),
            "false" => Some(Value::Boolean(false)),
            _ => None,
        },
        _ => None,
    };
    converted_value.ok_or_else(|| {
        build_failure(format!(
            "`{function}` cannot convert this value, which is {}",
            value.type_name()
        ))
    })
}

/// Returns a scalar as text; `None` for a list, a map or a record.
pub(super) fn format_scalar(value: &Value<'_>) -> Option<String> {
    match value {
        Value::Null => Some("null".to_owned()),
        Value::Boolean(value) => Some(value.to_string()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Unsigned(number) => Some(number.to_string()),
        Value::Double(number) => Some(number.to_string()),
        Value::Text(text) => Some(text.to_string()),
        Value::List(_) | Value::Map(_) | Value::Record(_) | Value::Node(_) | Value::Paths(_) => None,
    }
}
