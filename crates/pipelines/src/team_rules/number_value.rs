//! Calculates with numbers, and converts scalars.

use super::evaluation_failure::{EvaluationResult, build_failure};
use super::expression_function::Function;
use super::expression_node::BinaryOperator;
use super::expression_value::ExpressionValue;
use std::cmp::Ordering;

/// Compares two numbers. The outer `None` means that a value is not a number at all; the inner `None` means that the
/// two have no order, because one is NaN.
#[expect(clippy::option_option, reason = "NaN is a number without an order")]
pub(super) fn compare_numbers(
    left: &ExpressionValue<'_>,
    right: &ExpressionValue<'_>,
) -> Option<Option<Ordering>> {
    match (left, right) {
        (ExpressionValue::Double(left), right) => Some(left.partial_cmp(&to_double(right)?)),
        (left, ExpressionValue::Double(right)) => Some(to_double(left)?.partial_cmp(right)),
        (left, right) => Some(Some(to_wide_integer(left)?.cmp(&to_wide_integer(right)?))),
    }
}

/// Converts a signed or unsigned integer to a type that contains both; `None` for any other value.
fn to_wide_integer(value: &ExpressionValue<'_>) -> Option<i128> {
    match value {
        ExpressionValue::Integer(number) => Some(i128::from(*number)),
        ExpressionValue::Unsigned(number) => Some(i128::from(*number)),
        _ => None,
    }
}

/// Converts a number to a decimal number, which may be rounded; `None` for any other value.
#[expect(clippy::cast_precision_loss, reason = "CEL compares as decimals")]
const fn to_double(value: &ExpressionValue<'_>) -> Option<f64> {
    match value {
        ExpressionValue::Integer(number) => Some(*number as f64),
        ExpressionValue::Unsigned(number) => Some(*number as f64),
        ExpressionValue::Double(number) => Some(*number),
        _ => None,
    }
}

/// Returns the number with the opposite sign. Fails for the smallest integer, and for anything that cannot be negated.
pub(super) fn negate<'m>(value: &ExpressionValue<'m>) -> EvaluationResult<'m> {
    match value {
        ExpressionValue::Integer(number) => number
            .checked_neg()
            .map(ExpressionValue::Integer)
            .ok_or_else(|| build_failure("the number is too large")),
        ExpressionValue::Double(number) => Ok(ExpressionValue::Double(-number)),
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
    left: &ExpressionValue<'m>,
    right: &ExpressionValue<'m>,
) -> EvaluationResult<'m> {
    // In each inner `match`, `_` is the remainder: the callers pass no operator that is not arithmetic.
    let result = match (left, right) {
        (ExpressionValue::Integer(left), ExpressionValue::Integer(right)) => match operator {
            BinaryOperator::Add => left.checked_add(*right),
            BinaryOperator::Subtract => left.checked_sub(*right),
            BinaryOperator::Multiply => left.checked_mul(*right),
            BinaryOperator::Divide => left.checked_div(*right),
            _ => left.checked_rem(*right),
        }
        .map(ExpressionValue::Integer),
        (ExpressionValue::Unsigned(left), ExpressionValue::Unsigned(right)) => match operator {
            BinaryOperator::Add => left.checked_add(*right),
            BinaryOperator::Subtract => left.checked_sub(*right),
            BinaryOperator::Multiply => left.checked_mul(*right),
            BinaryOperator::Divide => left.checked_div(*right),
            _ => left.checked_rem(*right),
        }
        .map(ExpressionValue::Unsigned),
        (ExpressionValue::Double(left), ExpressionValue::Double(right)) => match operator {
            BinaryOperator::Add => Some(left + right),
            BinaryOperator::Subtract => Some(left - right),
            BinaryOperator::Multiply => Some(left * right),
            BinaryOperator::Divide => Some(left / right),
            _ => None,
        }
        .map(ExpressionValue::Double),
        _ => {
            let has_double = [left, right]
                .iter()
                .any(|value| matches!(value, ExpressionValue::Double(_)));
            let has_only_numbers = [left, right].iter().all(|value| to_double(value).is_some());
            let help = if has_double && has_only_numbers {
                "; convert the integer with `double(…)`"
            } else {
                ""
            };
            return Err(build_failure(format!(
                "the operator cannot be applied to {} and {}{help}",
                describe_operand(left),
                describe_operand(right)
            )));
        }
    };
    result.ok_or_else(|| build_failure("the result is too large, or the divisor is zero"))
}

/// Returns the type of an operand with its article. Unlike for other messages, the types of numbers differ.
const fn describe_operand(value: &ExpressionValue<'_>) -> &'static str {
    match value {
        ExpressionValue::Integer(_) => "an integer",
        ExpressionValue::Unsigned(_) => "an unsigned integer",
        ExpressionValue::Double(_) => "a decimal number",
        value => value.type_name(),
    }
}

/// Converts a value to the type that the function returns. Fails for null, and for a value that the type cannot
/// represent. The limits for decimal numbers are round numbers just inside the range of the integers.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
#[expect(clippy::cast_sign_loss, reason = "the range is checked")]
pub(super) fn convert_value<'m>(function: Function, value: &ExpressionValue<'m>) -> EvaluationResult<'m> {
    let converted_value = match (function, value) {
        (_, ExpressionValue::Null) => None,
        (Function::ToText, ExpressionValue::Text(text)) => Some(ExpressionValue::Text(text.clone())),
        (Function::ToText, value) => format_scalar(value).map(|text| ExpressionValue::Text(text.into())),
        (Function::ToInteger, ExpressionValue::Text(text)) => text.parse().ok().map(ExpressionValue::Integer),
        (Function::ToInteger, ExpressionValue::Double(number)) => {
            (number.abs() < 9.0e18).then_some(ExpressionValue::Integer(*number as i64))
        }
        (Function::ToInteger, value) => {
            let number = to_wide_integer(value).and_then(|number| i64::try_from(number).ok());
            number.map(ExpressionValue::Integer)
        }
        (Function::ToUnsigned, ExpressionValue::Text(text)) => {
            text.parse().ok().map(ExpressionValue::Unsigned)
        }
        (Function::ToUnsigned, ExpressionValue::Double(number)) => {
            (*number >= 0.0 && *number < 1.8e19).then_some(ExpressionValue::Unsigned(*number as u64))
        }
        (Function::ToUnsigned, value) => {
            let number = to_wide_integer(value).and_then(|number| u64::try_from(number).ok());
            number.map(ExpressionValue::Unsigned)
        }
        (Function::ToDouble, ExpressionValue::Text(text)) => text.parse().ok().map(ExpressionValue::Double),
        (Function::ToDouble, value) => to_double(value).map(ExpressionValue::Double),
        // The function is `ToBoolean`; the other ones are above.
        (_, ExpressionValue::Boolean(value)) => Some(ExpressionValue::Boolean(*value)),
        (_, ExpressionValue::Text(text)) => match text.as_ref() {
            "true" => Some(ExpressionValue::Boolean(true)),
            "false" => Some(ExpressionValue::Boolean(false)),
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
pub(super) fn format_scalar(value: &ExpressionValue<'_>) -> Option<String> {
    match value {
        ExpressionValue::Null => Some("null".to_owned()),
        ExpressionValue::Boolean(value) => Some(value.to_string()),
        ExpressionValue::Integer(number) => Some(number.to_string()),
        ExpressionValue::Unsigned(number) => Some(number.to_string()),
        ExpressionValue::Double(number) => Some(number.to_string()),
        ExpressionValue::Text(text) => Some(text.to_string()),
        ExpressionValue::List(_)
        | ExpressionValue::Map(_)
        | ExpressionValue::Record(_)
        | ExpressionValue::Node(_)
        | ExpressionValue::Paths(_) => None,
    }
}
