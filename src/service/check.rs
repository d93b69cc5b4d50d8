//! Looks at what a request carries, and gathers everything that is wrong with it before it is refused.

use super::problem::{FieldError, Problem};
use axum::http::HeaderMap;
use serde_json::{Map, Value};

const MISSING: &str = "must not be null";
const EMPTY: &str = "must not be empty";

/// Gathers findings; each reading gives a harmless value where there is one, so that the others are still made.
#[derive(Debug, Default)]
pub struct Check {
    findings: Vec<FieldError>,
}

impl Check {
    /// Notes a finding.
    pub fn note(&mut self, field: &str, message: impl Into<String>) {
        self.findings.push(FieldError {
            field: field.to_owned(),
            message: message.into(),
        });
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
        match object.get(field) {
            None | Some(Value::Null) => self.note(field, MISSING),
            Some(Value::Bool(value)) => return *value,
            Some(_) => self.note(field, "must be true or false"),
        }
        false
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
