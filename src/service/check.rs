//! Looks at what a request carries, and gathers everything that is wrong with it before it is refused.

use super::place;
use super::problem::{FieldError, Problem};
use axum::http::HeaderMap;
use serde_json::{Map, Value};
use uuid::Uuid;

const MISSING: &str = "must not be null";
const EMPTY: &str = "must not be empty";

/// Gathers findings; each reading gives a harmless value where there is one, so that the others are still made.
#[derive(Debug, Default)]
pub struct Check {
    findings: Vec<FieldError>,
    /// The dotted path of the object that is being read; empty for the request itself.
    path: String,
}

impl Check {
    /// Notes a finding.
    pub fn note(&mut self, field: &str, message: impl Into<String>) {
        let field = self.place_of(field);
        self.findings.push(FieldError {
            field,
            message: message.into(),
        });
    }

    fn place_of(&self, field: &str) -> String {
        match self.path.as_str() {
            "" => field.to_owned(),
            path => format!("{path}.{field}"),
        }
    }

    /// The value, if nothing was found.
    pub fn done<T>(self, value: T) -> Result<T, Problem> {
        if self.findings.is_empty() {
            Ok(value)
        } else {
            Err(Problem::invalid(self.findings))
        }
    }

    /// A required text that is not empty.
    pub fn text(&mut self, object: &Map<String, Value>, field: &str) -> String {
        match object.get(field) {
            None | Some(Value::Null) => self.note(field, MISSING),
            Some(Value::String(text)) if text.trim().is_empty() => self.note(field, EMPTY),
            Some(Value::String(text)) => return text.clone(),
            Some(_) => self.note(field, "must be a string"),
        }
        String::new()
    }

    /// A text that may be missing or null, but not empty.
    pub fn optional_text(&mut self, object: &Map<String, Value>, field: &str) -> Option<String> {
        given(object, field)?;
        Some(self.text(object, field))
    }

    /// A text that may be missing, null or empty.
    pub fn any_text(&mut self, object: &Map<String, Value>, field: &str) -> Option<String> {
        match given(object, field)? {
            Value::String(text) => return Some(text.clone()),
            _ => self.note(field, "must be a string"),
        }
        None
    }

    /// A required text that is one of these.
    pub fn one_of(&mut self, object: &Map<String, Value>, field: &str, allowed: &[&str]) -> String {
        let found = self.findings.len();
        let text = self.text(object, field);
        if self.findings.len() == found && !allowed.contains(&text.as_str()) {
            self.note(field, format!("must be one of {}", allowed.join(", ")));
        }
        text
    }

    /// A text that may be missing or null, else is one of these.
    pub fn optional_one_of(
        &mut self,
        object: &Map<String, Value>,
        field: &str,
        allowed: &[&str],
    ) -> Option<String> {
        given(object, field)?;
        Some(self.one_of(object, field, allowed))
    }

    /// A required UUID.
    pub fn uuid(&mut self, object: &Map<String, Value>, field: &str) -> Uuid {
        let found = self.findings.len();
        let text = self.text(object, field);
        let id = place::uuid(&text);
        if self.findings.len() == found && id.is_none() {
            self.note(field, "must be a UUID");
        }
        id.unwrap_or_default()
    }

    /// A required object; `read` sees it with its findings put below the field.
    pub fn object<T>(
        &mut self,
        object: &Map<String, Value>,
        field: &str,
        read: impl FnOnce(&mut Self, &Map<String, Value>) -> T,
    ) -> Option<T> {
        if given(object, field).is_none() {
            self.note(field, MISSING);
        }
        self.optional_object(object, field, read)
    }

    /// An object that may be missing or null.
    pub fn optional_object<T>(
        &mut self,
        object: &Map<String, Value>,
        field: &str,
        read: impl FnOnce(&mut Self, &Map<String, Value>) -> T,
    ) -> Option<T> {
        match given(object, field)? {
            Value::Object(inner) => return Some(self.below(field, |check| read(check, inner))),
            _ => self.note(field, "must be an object"),
        }
        None
    }

    /// A required list of objects, which may be empty.
    pub fn objects<T>(
        &mut self,
        object: &Map<String, Value>,
        field: &str,
        read: impl FnMut(&mut Self, &Map<String, Value>) -> T,
    ) -> Vec<T> {
        if given(object, field).is_none() {
            self.note(field, MISSING);
        }
        self.optional_objects(object, field, read).unwrap_or_default()
    }

    /// A list of objects that may be missing or null.
    pub fn optional_objects<T>(
        &mut self,
        object: &Map<String, Value>,
        field: &str,
        mut read: impl FnMut(&mut Self, &Map<String, Value>) -> T,
    ) -> Option<Vec<T>> {
        let Value::Array(items) = given(object, field)? else {
            self.note(field, "must be an array of objects");
            return None;
        };
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let place = format!("{field}[{index}]");
            match item {
                Value::Object(inner) => values.push(self.below(&place, |check| read(check, inner))),
                _ => self.note(&place, "must be an object"),
            }
        }
        Some(values)
    }

    /// Reads with findings put below a field.
    pub fn below<T>(&mut self, field: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let inner = self.place_of(field);
        let outer = std::mem::replace(&mut self.path, inner);
        let value = read(self);
        self.path = outer;
        value
    }

    /// A required list of texts, neither of which is empty.
    pub fn texts(&mut self, object: &Map<String, Value>, field: &str) -> Vec<String> {
        match object.get(field) {
            None | Some(Value::Null) => self.note(field, MISSING),
            Some(Value::Array(items)) if items.is_empty() => self.note(field, EMPTY),
            Some(Value::Array(items)) => return self.items(items, field),
            Some(_) => self.note(field, "must be an array of strings"),
        }
        Vec::new()
    }

    fn items(&mut self, items: &[Value], field: &str) -> Vec<String> {
        let mut texts = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match item.as_str() {
                Some("") => self.note(&format!("{field}[{index}]"), EMPTY),
                Some(text) => texts.push(text.to_owned()),
                None => self.note(&format!("{field}[{index}]"), "must be a string"),
            }
        }
        texts
    }

    /// A required truth value.
    pub fn boolean(&mut self, object: &Map<String, Value>, field: &str) -> bool {
        if given(object, field).is_none() {
            self.note(field, MISSING);
        }
        self.optional_boolean(object, field).unwrap_or_default()
    }

    /// A truth value that may be missing or null.
    pub fn optional_boolean(&mut self, object: &Map<String, Value>, field: &str) -> Option<bool> {
        match given(object, field)? {
            Value::Bool(value) => return Some(*value),
            _ => self.note(field, "must be true or false"),
        }
        None
    }

    /// A required header.
    pub fn header(&mut self, headers: &HeaderMap, name: &str) -> String {
        self.optional_header(headers, name).unwrap_or_else(|| {
            if !self.findings.iter().any(|finding| finding.field == name) {
                self.note(name, "the header must be there and must not be empty");
            }
            String::new()
        })
    }

    /// A header that may be missing; an empty one counts as missing.
    pub fn optional_header(&mut self, headers: &HeaderMap, name: &str) -> Option<String> {
        let value = headers.get(name)?;
        let Ok(text) = std::str::from_utf8(value.as_bytes()) else {
            self.note(name, "the header must be UTF-8");
            return None;
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }
}

/// The value of a field, if it is there and not null.
pub fn given<'o>(object: &'o Map<String, Value>, field: &str) -> Option<&'o Value> {
    object.get(field).filter(|value| !value.is_null())
}

/// A whole number from 0, which may be written with a fraction of nothing: to JSON Schema, `1.0` is an integer.
pub fn whole(value: &Value) -> Option<u64> {
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
    fn everything_wrong_is_found_at_once() {
        let body = json!({"b": " ", "c": 1, "e": [], "f": ["x", 1, ""], "g": "x", "h": "true", "i": null});
        let body = body.as_object().unwrap();
        let mut check = Check::default();
        for field in ["a", "b", "c"] {
            check.text(body, field);
        }
        for field in ["d", "e", "f", "g"] {
            check.texts(body, field);
        }
        for field in ["h", "i"] {
            check.boolean(body, field);
        }
        let found: Vec<String> = check
            .findings
            .iter()
            .map(|f| format!("{}: {}", f.field, f.message))
            .collect();
        insta::assert_snapshot!(found.join("\n"), @r"
        a: must not be null
        b: must not be empty
        c: must be a string
        d: must not be null
        e: must not be empty
        f[1]: must be a string
        f[2]: must not be empty
        g: must be an array of strings
        h: must be true or false
        i: must not be null
        ");
        assert!(check.done(()).is_err());
    }

    #[test]
    fn findings_stand_below_the_object_that_they_are_in() {
        let body = json!({
            "a": {"b": {"c": ""}}, "d": [{"id": "x"}, 7, {"id": "3F0C7D1E-62B4-4A0E-9D51-8F7A6C2B1E90"}],
            "e": 1, "kind": "other", "f": null,
        });
        let body = body.as_object().unwrap();
        let mut check = Check::default();
        check.object(body, "a", |check, a| {
            check.object(a, "b", |check, b| check.text(b, "c"))
        });
        let ids = check.objects(body, "d", |check, item| check.uuid(item, "id"));
        assert_eq!(ids.len(), 2);
        assert!(!ids[1].is_nil());
        check.optional_object(body, "e", |_, _| ());
        check.one_of(body, "kind", &["one", "two"]);
        assert_eq!(check.optional_text(body, "f"), None);
        assert_eq!(check.optional_boolean(body, "f"), None);
        check.object(body, "f", |_, _| ());
        let found: Vec<String> = check
            .findings
            .iter()
            .map(|f| format!("{}: {}", f.field, f.message))
            .collect();
        insta::assert_snapshot!(found.join("\n"), @r"
        a.b.c: must not be empty
        d[0].id: must be a UUID
        d[1]: must be an object
        e: must be an object
        kind: must be one of one, two
        f: must not be null
        ");
    }

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction_of_nothing() {
        for (value, number) in [(json!(0), 0), (json!(7.0), 7), (json!(1e3), 1000)] {
            assert_eq!(whole(&value), Some(number), "{value}");
        }
        for value in [
            json!(1.5),
            json!(-1),
            json!(-1.0),
            json!(1e30),
            json!("1"),
            json!(null),
        ] {
            assert_eq!(whole(&value), None, "{value}");
        }
    }

    #[test]
    fn headers_may_hold_any_text_but_not_any_bytes() {
        let mut headers = HeaderMap::new();
        headers.insert("a", "Größe".parse().unwrap());
        headers.insert("b", axum::http::HeaderValue::from_bytes(b"\xff").unwrap());
        headers.insert("c", "  ".parse().unwrap());
        let mut check = Check::default();
        assert_eq!(check.header(&headers, "a"), "Größe");
        for name in ["b", "c", "d"] {
            check.header(&headers, name);
        }
        let found: Vec<&str> = check.findings.iter().map(|f| f.field.as_str()).collect();
        assert_eq!(found, ["b", "c", "d"]);
    }
}
