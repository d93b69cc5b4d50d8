//! Reads a document whose objects must have named fields.
//!
//! serde's derived structs also accept an array with the values in the order of the fields. A document in this form is
//! not the documented one, so it does not prove anything.

use crate::input::decode_json;
use serde::Deserialize;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Unexpected, VariantAccess,
    Visitor,
};
use std::fmt;

/// A deserializer that rejects an array in place of a struct, at any depth. The same type wraps each part of the
/// document that the deserializer hands out. A struct with flattened fields and the variants of an untagged enum are
/// buffered by serde and are not checked.
pub struct NamedFields<T>(pub T);

/// A visitor that gets each part of the value with named fields.
struct FieldVisitor<V> {
    visitor: V,
    is_struct: bool,
}

/// Parses a JSON document, with or without a byte order mark. Fails if it has an array in place of an object with named
/// fields.
pub fn parse_json<'de, T: Deserialize<'de>>(json: &'de [u8]) -> Result<T, serde_json::Error> {
    let json = decode_json(json).map_err(serde_json::Error::custom)?;
    let mut reader = serde_json::Deserializer::from_slice(json);
    let value = T::deserialize(NamedFields(&mut reader))?;
    reader.end()?;
    Ok(value)
}

/// Returns the text of the field `schema`, even if other fields are unknown; `None` if the text is not JSON or has no
/// such field. The name shows that a newer version wrote the document, which explains its unknown fields.
pub fn read_schema_name(json: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct SchemaHeader {
        schema: String,
    }
    parse_json::<SchemaHeader>(json).ok().map(|header| header.schema)
}

fn visit_any<V>(visitor: V) -> FieldVisitor<V> {
    FieldVisitor {
        visitor,
        is_struct: false,
    }
}

fn visit_struct<V>(visitor: V) -> FieldVisitor<V> {
    FieldVisitor {
        visitor,
        is_struct: true,
    }
}

/// Forwards methods that only take a visitor.
macro_rules! forward_to_deserializer {
    ($($method:ident)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method(visit_any(visitor))
        })*
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for NamedFields<D> {
    type Error = D::Error;

    forward_to_deserializer! {
        deserialize_any deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64 deserialize_char deserialize_str deserialize_string deserialize_bytes
        deserialize_byte_buf deserialize_option deserialize_unit deserialize_seq deserialize_map
        deserialize_identifier deserialize_ignored_any
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_unit_struct(name, visit_any(visitor))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, visit_any(visitor))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple(count, visit_any(visitor))
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        count: usize,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_tuple_struct(name, count, visit_any(visitor))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, visit_struct(visitor))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_enum(name, variants, visit_any(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

/// Forwards methods that take a scalar.
macro_rules! forward_to_visitor {
    ($($method:ident($scalar:ty))*) => {
        $(fn $method<E: Error>(self, value: $scalar) -> Result<V::Value, E> {
            self.visitor.$method(value)
        })*
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for FieldVisitor<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    forward_to_visitor! {
        visit_bool(bool) visit_i8(i8) visit_i16(i16) visit_i32(i32) visit_i64(i64) visit_i128(i128)
        visit_u8(u8) visit_u16(u16) visit_u32(u32) visit_u64(u64) visit_u128(u128)
        visit_f32(f32) visit_f64(f64) visit_char(char) visit_str(&str) visit_borrowed_str(&'de str)
        visit_string(String) visit_bytes(&[u8]) visit_borrowed_bytes(&'de [u8]) visit_byte_buf(Vec<u8>)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(NamedFields(value))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, value: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(NamedFields(value))
    }

    /// Rejects an array in place of a struct.
    fn visit_seq<A: SeqAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        if self.is_struct {
            return Err(A::Error::invalid_type(Unexpected::Seq, &self));
        }
        self.visitor.visit_seq(NamedFields(entries))
    }

    fn visit_map<A: MapAccess<'de>>(self, entries: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(NamedFields(entries))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(NamedFields(variant))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for NamedFields<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(NamedFields(reader))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for NamedFields<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(NamedFields(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for NamedFields<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(NamedFields(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for NamedFields<A> {
    type Error = A::Error;
    type Variant = NamedFields<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let (name, content) = self.0.variant_seed(seed)?;
        Ok((name, NamedFields(content)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for NamedFields<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(NamedFields(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, count: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(count, visit_any(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, visit_struct(visitor))
    }
}

#[cfg(test)]
mod tests {
    use super::parse_json;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Deserialize, PartialEq)]
    struct Outer {
        pair: (u8, Option<Inner>),
        map: BTreeMap<String, Vec<Inner>>,
        choice: Choice,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Inner {
        text: String,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    enum Choice {
        Unit,
        Wrapped(Inner),
        Struct { text: String },
    }

    #[test]
    fn arrays_in_place_of_lists_and_tuples_are_accepted() {
        for choice in [
            r#""Unit""#,
            r#"{"Wrapped":{"text":"a"}}"#,
            r#"{"Struct":{"text":"a"}}"#,
        ] {
            let json =
                format!(r#"{{"pair":[1,{{"text":"a"}}],"map":{{"x":[{{"text":"b"}}]}},"choice":{choice}}}"#);
            parse_json::<Outer>(json.as_bytes()).unwrap();
        }
    }

    #[test]
    fn array_in_place_of_object_is_rejected_at_any_depth() {
        for json in [
            r#"[[1,null],{},"Unit"]"#,
            r#"{"pair":[1,["a"]],"map":{},"choice":"Unit"}"#,
            r#"{"pair":[1,null],"map":{"x":[["b"]]},"choice":"Unit"}"#,
            r#"{"pair":[1,null],"map":{},"choice":{"Wrapped":["a"]}}"#,
            r#"{"pair":[1,null],"map":{},"choice":{"Struct":["a"]}}"#,
        ] {
            let error = parse_json::<Outer>(json.as_bytes()).unwrap_err();
            assert!(
                error.to_string().starts_with("invalid type: sequence"),
                "{json}: {error}"
            );
        }
    }
}
