//! Finds an object with a duplicate key in a JSON document.
//!
//! JSON leaves open which of the values is meant (<https://www.rfc-editor.org/rfc/rfc8259#section-4>), and most readers
//! take the last one, so such a document does not prove anything.

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// Returns a sentence about the first object with a duplicate key, or `None` if there is none or the text is not JSON.
pub fn find_duplicate_key(json: &[u8]) -> Option<String> {
    let error = serde_json::from_slice::<UniqueKeys>(json).err()?;
    error.is_data().then(|| error.to_string())
}

/// A JSON value whose objects have no duplicate key.
struct UniqueKeys;

/// A key of an object, which is copied only if it contains an escape.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(transparent)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for UniqueKeys {
    /// Reads a JSON value of any kind. The reading itself is the check, so the result contains no data.
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    /// Accepts the value: only objects can have duplicate keys.
    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    /// Accepts the value: only objects can have duplicate keys.
    fn visit_i64<E: Error>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    /// Accepts the value: only objects can have duplicate keys.
    fn visit_u64<E: Error>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    /// Accepts the value: only objects can have duplicate keys.
    fn visit_f64<E: Error>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    /// Accepts the value: only objects can have duplicate keys.
    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    /// Accepts the value: only objects can have duplicate keys.
    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    /// Reads the entries of an array, so that the objects among them are checked, too.
    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        while entries.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    /// Fails if a key of the object occurs twice. Its values are deserialized as `Self`, which checks the objects in
    /// them in the same way.
    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut keys: Vec<Key<'de>> = Vec::new();
        while let Some((key, _)) = entries.next_entry::<Key<'de>, Self>()? {
            keys.push(key);
        }
        keys.sort_unstable();
        match keys.windows(2).find(|pair| pair[0] == pair[1]) {
            Some([Key(key), ..]) => Err(A::Error::custom(format!("duplicate key `{key}`"))),
            _ => Ok(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::find_duplicate_key;

    #[test]
    fn duplicate_key_is_found_at_any_depth_and_in_any_spelling() {
        for json in [
            r#"{"a":1,"a":1}"#,
            r#"[{"b":{"a":1,"c":2,"\u0061":null}}]"#,
            r#"{"x":1.5e3,"results":{"p":[],"q":[],"p":[]}}"#,
        ] {
            let reason = find_duplicate_key(json.as_bytes());
            assert!(
                reason.is_some_and(|reason| reason.contains("duplicate key")),
                "{json}"
            );
        }
    }

    #[test]
    fn equal_keys_of_different_objects_and_broken_json_are_not_duplicates() {
        for json in [
            r#"[{"a":1},{"a":{"a":-2.0}}]"#,
            r#"{"a":"a","A":"a"}"#,
            "{",
            "",
            r#"{"a":1,"a""#,
        ] {
            assert_eq!(find_duplicate_key(json.as_bytes()), None, "{json}");
        }
    }
}
