//! Scalars: the text, and its value (YAML 1.2.2, section 10.3, the core schema).

use saphyr_parser::{ScalarStyle, Tag};
use std::borrow::Cow;
use std::fmt::Write as _;

/// A scalar as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scalar<'a> {
    /// The text between the quotes, or the plain text: `1.50` stays `1.50`.
    pub text: Cow<'a, str>,
    /// True if the scalar is quoted or a block without the tag of another type, or tagged as text. Its value is then
    /// never a number, a boolean or null.
    pub is_text: bool,
}

/// Words that some YAML parsers do not read as text.
const KEYWORDS: [&str; 9] = ["null", "true", "false", "yes", "no", "on", "off", "y", "n"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value<'t> {
    /// `null`, `~` or an empty value.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A non-negative integer.
    Natural(u64),
    /// A negative integer, an integer of more than 64 bits, or a number with a fraction or exponent.
    OtherNumber,
    Text(&'t str),
}

impl<'a> Scalar<'a> {
    /// Creates a scalar. A scalar that is quoted, or that has the tag `!!str` or `!`, is always a text and never a
    /// number, unless it has the tag of another type: `!!int "1"` is the number 1.
    pub(crate) fn new(text: Cow<'a, str>, style: ScalarStyle, tag: Option<&Tag>) -> Self {
        let core_type = tag
            .filter(|tag| tag.is_yaml_core_schema())
            .map(|tag| tag.suffix.as_str());
        let is_text = match core_type {
            Some("str") => true,
            Some("bool" | "float" | "int" | "null") => false,
            _ => {
                style != ScalarStyle::Plain
                    || tag.is_some_and(|tag| tag.handle.is_empty() && tag.suffix == "!")
            }
        };
        Self { text, is_text }
    }

    /// Returns the value of the scalar according to the YAML core schema: null, a boolean, a number or a text.
    pub(crate) fn value(&self) -> Value<'_> {
        if self.is_text {
            return Value::Text(&self.text);
        }
        match &*self.text {
            "" | "~" | "null" | "Null" | "NULL" => Value::Null,
            "true" | "True" | "TRUE" => Value::Boolean(true),
            "false" | "False" | "FALSE" => Value::Boolean(false),
            text => parse_number(text).unwrap_or(Value::Text(text)),
        }
    }
}

/// Returns the text as a YAML scalar: plain if every parser reads it as this text, otherwise quoted.
pub fn format_plain_or_quoted(text: &str) -> String {
    let is_plain = text.starts_with(char::is_alphabetic)
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '/' | '.' | '_' | '-'))
        && !text.ends_with(' ')
        && !KEYWORDS.contains(&text.to_lowercase().as_str());
    if is_plain {
        return text.to_owned();
    }
    format_double_quoted(text)
}

/// Returns the text as a double-quoted YAML scalar, which can represent any text.
pub fn format_double_quoted(text: &str) -> String {
    let mut output = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => output.extend(['\\', c]),
            c if needs_escape(c) => {
                let _ = write!(output, "\\u{:04x}", u32::from(c));
            }
            c => output.push(c),
        }
    }
    output.push('"');
    output
}

/// Returns whether a scalar can contain the character only as an escape in double quotes: a control character, a byte
/// order mark, or a character that ends a line in YAML 1.1.
pub(crate) fn needs_escape(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Parses a number of the YAML core schema; `None` if the text is not a number. Only non-negative integers keep their
/// value.
fn parse_number(text: &str) -> Option<Value<'_>> {
    if let Some(digits) = text.strip_prefix("0x") {
        return parse_digits(digits, 16);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return parse_digits(digits, 8);
    }
    let unsigned_text = text.strip_prefix(['-', '+']).unwrap_or(text);
    if let Some(value) = parse_digits(unsigned_text, 10) {
        let is_negative = text.starts_with('-') && value != Value::Natural(0);
        return Some(if is_negative { Value::OtherNumber } else { value });
    }
    is_float(text, unsigned_text).then_some(Value::OtherNumber)
}

/// Returns the non-negative integer that the text is in the YAML core schema. One that is too large for the type
/// becomes the maximum. Returns `None` for any other text.
pub(crate) fn parse_natural(text: &str) -> Option<u64> {
    let integer = if let Some(digits) = text.strip_prefix("0x") {
        parse_digits(digits, 16)
    } else if let Some(digits) = text.strip_prefix("0o") {
        parse_digits(digits, 8)
    } else {
        parse_digits(text.strip_prefix('+').unwrap_or(text), 10)
    };
    match integer? {
        Value::Natural(number) => Some(number),
        _ => Some(u64::MAX),
    }
}

/// Returns the integer with these digits; `None` if the text is empty or has other characters.
fn parse_digits(digits: &str, radix: u32) -> Option<Value<'_>> {
    let all_digits = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    all_digits.then(|| u64::from_str_radix(digits, radix).map_or(Value::OtherNumber, Value::Natural))
}

/// Returns whether the text is a decimal number, infinity or NaN. Integers also match, so the caller tests for them
/// first. A number and infinity may have a sign, NaN may not. `unsigned_text` is the text without its sign.
fn is_float(text: &str, unsigned_text: &str) -> bool {
    match unsigned_text {
        ".inf" | ".Inf" | ".INF" => true,
        ".nan" | ".NaN" | ".NAN" => unsigned_text.len() == text.len(),
        _ => {
            unsigned_text.starts_with(|c: char| c == '.' || c.is_ascii_digit())
                && unsigned_text.parse::<f64>().is_ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Scalar<'_> {
        Scalar::new(text.into(), ScalarStyle::Plain, None)
    }

    #[test]
    fn plain_scalars_have_values_of_core_schema() {
        let table = [
            ("", Value::Null),
            ("~", Value::Null),
            ("NULL", Value::Null),
            ("nULL", Value::Text("nULL")),
            ("True", Value::Boolean(true)),
            ("false", Value::Boolean(false)),
            ("yes", Value::Text("yes")),
            ("0", Value::Natural(0)),
            ("-0", Value::Natural(0)),
            ("+12", Value::Natural(12)),
            ("017", Value::Natural(17)),
            ("0o17", Value::Natural(15)),
            ("0x1F", Value::Natural(31)),
            ("18446744073709551615", Value::Natural(u64::MAX)),
            ("18446744073709551616", Value::OtherNumber),
            ("0x10000000000000000", Value::OtherNumber),
            ("1_000", Value::Text("1_000")),
            ("-1", Value::OtherNumber),
            ("1.0", Value::OtherNumber),
            ("1e3", Value::OtherNumber),
            (".5", Value::OtherNumber),
            ("-.inf", Value::OtherNumber),
            (".nan", Value::OtherNumber),
            ("-.nan", Value::Text("-.nan")),
            ("inf", Value::Text("inf")),
            (".", Value::Text(".")),
            ("+", Value::Text("+")),
            ("0x", Value::Text("0x")),
            ("0x-1", Value::Text("0x-1")),
            ("--1", Value::Text("--1")),
            ("warn", Value::Text("warn")),
        ];
        for (text, value) in table {
            assert_eq!(plain(text).value(), value, "{text:?}");
        }
    }

    #[test]
    fn quoted_and_tagged_scalars_are_text() {
        let quoted = Scalar::new("1".into(), ScalarStyle::DoubleQuoted, None);
        assert_eq!(quoted.value(), Value::Text("1"));
        let tagged = Scalar::new("true".into(), ScalarStyle::Plain, Some(&core_tag("str")));
        assert_eq!(tagged.value(), Value::Text("true"));
    }

    fn core_tag(suffix: &str) -> Tag {
        Tag {
            handle: "tag:yaml.org,2002:".into(),
            suffix: suffix.into(),
        }
    }

    #[test]
    fn quoted_scalar_with_tag_of_core_schema_has_the_value_of_the_tag() {
        let table = [
            ("bool", "true", Value::Boolean(true)),
            ("null", "null", Value::Null),
            ("null", "", Value::Null),
            ("int", "12", Value::Natural(12)),
            ("float", "1.5", Value::OtherNumber),
            ("binary", "12", Value::Text("12")),
            ("bool", "on", Value::Text("on")),
        ];
        for (suffix, text, value) in table {
            let scalar = Scalar::new(text.into(), ScalarStyle::DoubleQuoted, Some(&core_tag(suffix)));
            assert_eq!(scalar.value(), value, "{suffix} {text:?}");
        }
    }
}
