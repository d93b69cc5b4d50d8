//! Reads the fields of a JSON object. The [`Shape`](super::shape::Shape) of a body has already reported fields that are
//! missing or of the wrong type, so they are treated as absent here.

use super::request_path;
use serde_json::{Map, Value};
use uuid::Uuid;

/// The fields of a JSON object; null is treated as missing.
pub(super) trait JsonFields {
    /// Returns the value of a field, or `None` if the field is missing or null.
    fn find_value(&self, field: &str) -> Option<&Value>;

    /// Returns a string field; `None` if it is missing or has another type.
    fn find_text(&self, field: &str) -> Option<String> {
        self.find_value(field)?.as_str().map(str::to_owned)
    }

    /// Returns a string field, or an empty string if the field is missing or has another type.
    fn text_or_empty(&self, field: &str) -> String {
        self.find_text(field).unwrap_or_default()
    }

    /// Returns the UUID in a field. The nil UUID, for a field without a valid one, is only a fallback: the shape of the
    /// body has already rejected such a field.
    fn uuid_or_nil(&self, field: &str) -> Uuid {
        self.find_value(field)
            .and_then(Value::as_str)
            .and_then(request_path::parse_uuid)
            .unwrap_or_default()
    }

    /// Returns a boolean field; `None` if the field is missing or has another type.
    fn find_boolean(&self, field: &str) -> Option<bool> {
        self.find_value(field)?.as_bool()
    }

    /// Returns an object field; `None` if the field is missing or has another type.
    fn find_object(&self, field: &str) -> Option<&Map<String, Value>> {
        self.find_value(field)?.as_object()
    }

    /// Returns the objects in a list field, or `None` if the field is missing or not a list. Skips items of other
    /// types.
    fn find_objects(&self, field: &str) -> Option<Vec<&Map<String, Value>>> {
        let items = self.find_value(field)?.as_array()?;
        Some(items.iter().filter_map(Value::as_object).collect())
    }

    /// Returns the strings in a list field; an empty list if the field is missing or not a list. Skips items of other
    /// types.
    fn text_list(&self, field: &str) -> Vec<String> {
        self.find_value(field)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect()
    }
}

impl JsonFields for Map<String, Value> {
    fn find_value(&self, field: &str) -> Option<&Value> {
        self.get(field).filter(|value| !value.is_null())
    }
}

/// Returns the value if it is a non-negative integer. Accepts a zero fraction, because `1.0` is an integer in JSON
/// Schema.
pub(super) fn as_whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        // The number is converted through its text, because `as` would not report a number that does not fit.
        // Adding zero turns -0 into 0.
        format!("{:.0}", number + 0.0).parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_number_may_be_written_with_fraction_of_nothing() {
        for (value, number) in [
            (json!(0), 0),
            (json!(7.0), 7),
            (json!(1e3), 1000),
            (json!(-0.0), 0),
        ] {
            assert_eq!(as_whole_number(&value), Some(number), "{value}");
        }
        for value in [json!(1.5), json!(-1), json!(-1.0), json!("1"), json!(null)] {
            assert_eq!(as_whole_number(&value), None, "{value}");
        }
    }
}
