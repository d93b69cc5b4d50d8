//! Reads the fields of a JSON object. The [`Shape`](super::shape::Shape) of a body has already reported fields that are
//! missing or of the wrong type, so they are treated as absent here.

use super::place;
use serde_json::{Map, Value};
use uuid::Uuid;

/// The fields of a JSON object; null is treated as missing.
pub(super) trait Fields {
    fn given(&self, field: &str) -> Option<&Value>;

    fn optional_text(&self, field: &str) -> Option<String> {
        self.given(field)?.as_str().map(str::to_owned)
    }

    /// Returns a string field, or an empty string if it is missing.
    fn text(&self, field: &str) -> String {
        self.optional_text(field).unwrap_or_default()
    }

    /// Returns the UUID in a field that was checked before; a nil UUID if there is none.
    fn uuid(&self, field: &str) -> Uuid {
        self.given(field)
            .and_then(Value::as_str)
            .and_then(place::uuid)
            .unwrap_or_default()
    }

    fn flag(&self, field: &str) -> Option<bool> {
        self.given(field)?.as_bool()
    }

    fn object(&self, field: &str) -> Option<&Map<String, Value>> {
        self.given(field)?.as_object()
    }

    /// Returns the objects in a list field, or `None` if the field is missing.
    fn objects(&self, field: &str) -> Option<Vec<&Map<String, Value>>> {
        let items = self.given(field)?.as_array()?;
        Some(items.iter().filter_map(Value::as_object).collect())
    }

    fn texts(&self, field: &str) -> Vec<String> {
        let items = self.given(field).and_then(Value::as_array);
        let texts = items.into_iter().flatten().filter_map(Value::as_str);
        texts.map(str::to_owned).collect()
    }
}

impl Fields for Map<String, Value> {
    fn given(&self, field: &str) -> Option<&Value> {
        self.get(field).filter(|value| !value.is_null())
    }
}

/// Returns a non-negative integer, also if it is written with a zero fraction: in JSON Schema, `1.0` is an integer.
pub(super) fn whole(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        format!("{number:.0}").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_number_may_be_written_with_fraction_of_nothing() {
        for (value, number) in [(json!(0), 0), (json!(7.0), 7), (json!(1e3), 1000)] {
            assert_eq!(whole(&value), Some(number), "{value}");
        }
        for value in [json!(1.5), json!(-1), json!(-1.0), json!("1"), json!(null)] {
            assert_eq!(whole(&value), None, "{value}");
        }
    }
}
