//! Numbers, compared by value regardless of notation.

use serde_json::{Number, Value};

/// Parses a number so that a JSON reader receives exactly its value, in its own notation if this is one of JSON. Fails
/// if a whole number does not fit 64 bits, or if a fraction would be rounded.
pub(super) fn parse_number(text: &str) -> Result<Number, String> {
    // JSON has no plus sign. The parsers below accept a sign, so a second one must not remain.
    let json_text = text
        .strip_prefix('+')
        .filter(|digits| !digits.starts_with(['+', '-']))
        .unwrap_or(text);
    if let Ok(number) = json_text.parse::<i64>() {
        return Ok(number.into());
    }
    if let Ok(number) = json_text.parse::<u64>() {
        return Ok(number.into());
    }
    let invalid_number_message = || format!("{text:?} is not a number that JSON can represent");
    let decimal = Decimal::parse(text).ok_or_else(invalid_number_message)?;
    let double = json_text
        .parse()
        .ok()
        .and_then(Number::from_f64)
        .ok_or_else(invalid_number_message)?;
    // A whole number that fits 64 bits is already returned.
    let is_whole = !text.contains(['.', 'e', 'E']);
    if is_whole || Decimal::parse(&double.to_string()) != Some(decimal) {
        return Err(format!(
            "the number {text} has too many digits to be sent exactly"
        ));
    }
    // JSON has no notations such as `.5`.
    Ok(serde_json::from_str(json_text).unwrap_or(double))
}

/// A decimal number: its digits without surrounding zeros, and the power of ten.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Returns the decimal number in a JSON number, or in a string that contains one; `None` for any other value.
    pub(super) fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Self::parse(&number.to_string()),
            Value::String(text) => Self::parse(text.trim()),
            _ => None,
        }
    }

    /// Parses a number with or without sign, fraction and exponent; `None` if the text is not such a number. Removes
    /// zeros at both ends of the digits and the sign of zero, so that equal numbers have equal fields.
    fn parse(text: &str) -> Option<Self> {
        let negative = text.starts_with('-');
        let magnitude = text.strip_prefix(['-', '+']).unwrap_or(text);
        let (mantissa, exponent_text) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = format!("{whole}{fraction}");
        if all_digits.is_empty() || !all_digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits_without_end = all_digits.trim_end_matches('0');
        let trailing_zero_count = i64::try_from(all_digits.len() - digits_without_end.len()).ok()?;
        let fraction_length = i64::try_from(fraction.len()).ok()?;
        // The value is the digits, read as a whole number, times ten to the power of this exponent.
        let exponent = exponent_text
            .parse::<i64>()
            .ok()?
            .checked_add(trailing_zero_count)?
            .checked_sub(fraction_length)?;
        let digits = digits_without_end.trim_start_matches('0').to_owned();
        let is_zero = digits.is_empty();
        Some(Self {
            negative: negative && !is_zero,
            exponent: if is_zero { 0 } else { exponent },
            digits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn number_that_a_double_would_round_is_refused() {
        for text in [
            "1234567890123456.789",
            "12345678901234567890.5",
            "0.12345678901234567891",
            "123456789012345678e3",
            "1e-400",
            "100000000000000000000",
        ] {
            let said = format!("the number {text} has too many digits to be sent exactly");
            assert_eq!(parse_number(text), Err(said));
        }
        for text in [
            "1e999",
            "inf",
            "nan",
            ".",
            "1e",
            "",
            "-",
            "1e99999999999999999999",
            "+-5",
            "++5",
            "+-1.5",
        ] {
            let said = format!("{text:?} is not a number that JSON can represent");
            assert_eq!(parse_number(text), Err(said));
        }
        for text in [
            "0.1",
            "-1.50",
            ".5",
            "5.",
            "1e5",
            "1E-7",
            "123456789.123456",
            "-0.0",
            "1e300",
        ] {
            let sent = parse_number(text).unwrap();
            assert_eq!(
                Decimal::from_value(&Value::Number(sent)),
                Decimal::parse(text),
                "{text}"
            );
        }
        assert_eq!(parse_number("+18446744073709551615"), Ok(u64::MAX.into()));
    }

    #[test]
    fn no_digit_is_lost_in_a_comparison() {
        let same = |one: Value, other: Value| Decimal::from_value(&one) == Decimal::from_value(&other);
        assert!(same(json!(10), json!("10.0")));
        assert!(same(json!(1e5), json!(" +100000 ")));
        assert!(same(json!("-0"), json!("0.00e9")));
        assert!(!same(
            json!(9_007_199_254_740_995_u64),
            json!(9_007_199_254_740_996_u64)
        ));
        assert!(!same(
            json!("0.12345678901234567891"),
            json!("0.12345678901234567892")
        ));
        assert!(!same(json!(-1), json!(1)));
    }
}
