//! Schemas of JSON bodies. A shape both validates a body and describes it, so the two cannot disagree.
//!
//! A shape is built from the vocabulary, so it allows the same names that it describes.

mod constructors;
mod schema;

pub(super) use constructors::{
    any_object, any_text, at_least_one_of, boolean, list_of, map_of, nonempty_member, object, one_of,
    optional_member, required_member, rule, rule_checked_member, text, text_or_number, texts, uuid, variants,
    whole_number_from,
};

use super::body_check::BodyCheck;
use super::json_fields::{JsonFields as _, as_whole_number};
use super::problem::Problem;
use super::request_path;
use serde_json::{Map, Value};

const MISSING_MESSAGE: &str = "must not be null";
const EMPTY_MESSAGE: &str = "must not be empty";

type Object = Map<String, Value>;

/// The shape of a JSON value: it validates the value and describes it as a JSON schema.
pub(super) struct Shape {
    kind: ShapeKind,
    name: Option<&'static str>,
    description: Option<&'static str>,
}

enum ShapeKind {
    Text,
    AnyText,
    Uuid,
    Boolean,
    OneOf(Vec<String>),
    Whole(u64, Option<u64>),
    TextOrNumber,
    Texts,
    List(Box<Shape>),
    Object(Vec<ShapePart>),
    AtLeastOneOf(Vec<ShapePart>),
    Map(Option<Box<Shape>>),
    Variants(&'static str, Vec<(&'static str, Shape)>),
}

/// A member or a rule of an object's shape.
pub(super) enum ShapePart {
    Member(Member),
    /// A rule about several members together.
    Rule(ShapeRule),
}

pub(super) struct Member {
    field: String,
    shape: Shape,
    description: Option<&'static str>,
    presence: Presence,
}

enum Presence {
    /// The member may be missing or null.
    Optional,
    /// The member is required; the text is the message if it is missing.
    Required(&'static str),
    /// The member is required; a rule reports it if it is missing.
    CheckedByRule,
}

/// Adds the errors in the members of a body to a check.
type RuleCheck = dyn Fn(&mut BodyCheck, &Object);

/// A rule about several members together.
pub(super) struct ShapeRule {
    check: Box<RuleCheck>,
    /// The JSON schema that expresses the rule, if there is one.
    schema: Option<Value>,
}

impl ShapePart {
    /// Sets the member's text in the API description. Has no effect on a rule, which has no text.
    pub(super) fn with_description(mut self, text: &'static str) -> Self {
        if let Self::Member(member) = &mut self {
            member.description = Some(text);
        }
        self
    }
}

impl Shape {
    /// Sets the shape's name in the API description, and a sentence that describes the shape.
    pub(super) fn with_name_and_description(self, name: &'static str, description: &'static str) -> Self {
        Self {
            name: Some(name),
            description: Some(description),
            ..self
        }
    }

    /// Checks the body of a request, and returns a 400 that lists all its errors.
    pub(super) fn validate(&self, body: &Object) -> Result<(), Problem> {
        self.check(body).into_result(())
    }

    /// Checks a request body. The caller can add errors that only the stored data show.
    pub(super) fn check(&self, body: &Object) -> BodyCheck {
        let mut check = BodyCheck::default();
        self.check_members(&mut check, body);
        check
    }

    /// Adds all errors in the members of an object to `check`. Does nothing for shapes that have no members.
    pub(super) fn check_members(&self, check: &mut BodyCheck, body: &Object) {
        match &self.kind {
            ShapeKind::Object(parts) | ShapeKind::AtLeastOneOf(parts) => {
                for part in parts {
                    part.check_part(check, body);
                }
            }
            ShapeKind::Map(Some(item)) => {
                for (field, value) in body {
                    item.check_value(check, field, value);
                }
            }
            // The member `tag` contains the name of the variant that the object must have.
            ShapeKind::Variants(tag, variants) => {
                let variant_name = body.find_text(tag);
                let variant = variants
                    .iter()
                    .find(|(known_name, _)| Some(*known_name) == variant_name.as_deref());
                match variant {
                    Some((_, shape)) => shape.check_members(check, body),
                    // Reports the tag, which is missing or unknown.
                    None => required_member(*tag, self.tag_shape()).check_part(check, body),
                }
            }
            _ => {}
        }
    }

    /// Adds all errors in the value of a field to `check`. If the value has the wrong type, this is its only error.
    fn check_value(&self, check: &mut BodyCheck, field: &str, value: &Value) {
        match (&self.kind, value) {
            (ShapeKind::AnyText, Value::String(_))
            | (ShapeKind::Boolean, Value::Bool(_))
            | (ShapeKind::TextOrNumber, Value::String(_) | Value::Number(_)) => {}
            (ShapeKind::Text | ShapeKind::Uuid | ShapeKind::OneOf(_), Value::String(text)) => {
                self.check_text(check, field, text);
            }
            (ShapeKind::Whole(first, last), value) if is_in_range(value, *first, *last) => {}
            (ShapeKind::Texts, Value::Array(items)) => check_texts(check, field, items),
            (ShapeKind::List(item), Value::Array(items)) => {
                for (index, value) in items.iter().enumerate() {
                    item.check_value(check, &format!("{field}[{index}]"), value);
                }
            }
            (
                ShapeKind::Object(_)
                | ShapeKind::AtLeastOneOf(_)
                | ShapeKind::Map(_)
                | ShapeKind::Variants(..),
                Value::Object(inner),
            ) => {
                check.read_nested_field(field, |check| self.check_members(check, inner));
            }
            _ => check.add_error(field, self.describe_type_error()),
        }
    }

    /// Checks that a string is not blank and matches the shape.
    fn check_text(&self, check: &mut BodyCheck, field: &str, text: &str) {
        match &self.kind {
            _ if text.trim().is_empty() => check.add_error(field, EMPTY_MESSAGE),
            ShapeKind::Uuid if request_path::parse_uuid(text).is_none() => {
                check.add_error(field, "must be a UUID");
            }
            ShapeKind::OneOf(names) if !names.iter().any(|name| name == text) => {
                check.add_error(field, format!("must be one of {}", names.join(", ")));
            }
            _ => {}
        }
    }

    /// Returns the message for a value of the wrong type.
    fn describe_type_error(&self) -> String {
        match &self.kind {
            ShapeKind::Text | ShapeKind::AnyText | ShapeKind::Uuid | ShapeKind::OneOf(_) => {
                "must be a string".to_owned()
            }
            ShapeKind::Boolean => "must be true or false".to_owned(),
            ShapeKind::Whole(first, None) => format!("must be an integer, {first} or greater"),
            ShapeKind::Whole(first, Some(last)) => format!("must be an integer from {first} to {last}"),
            ShapeKind::TextOrNumber => "must be a string or a number".to_owned(),
            ShapeKind::Texts => "must be an array of strings".to_owned(),
            ShapeKind::List(item) => format!("must be an array of {}", item.plural_noun()),
            ShapeKind::Object(_)
            | ShapeKind::AtLeastOneOf(_)
            | ShapeKind::Map(_)
            | ShapeKind::Variants(..) => "must be an object".to_owned(),
        }
    }

    /// Returns the plural noun for values of this shape in a list. The items of a list are strings, arrays or objects.
    const fn plural_noun(&self) -> &'static str {
        match &self.kind {
            ShapeKind::Text | ShapeKind::AnyText => "strings",
            ShapeKind::List(_) => "arrays",
            _ => "objects",
        }
    }

    /// Returns the shape of the field that selects a variant: its value must be the name of a variant. The shape must
    /// have variants.
    fn tag_shape(&self) -> Self {
        let ShapeKind::Variants(_, variants) = &self.kind else {
            return text();
        };
        one_of(&variants.iter().map(|(name, _)| *name).collect::<Vec<_>>())
    }
}

/// Returns whether the value is an integer from `first`, up to `last` if there is one.
fn is_in_range(value: &Value, first: u64, last: Option<u64>) -> bool {
    as_whole_number(value).is_some_and(|number| number >= first && last.is_none_or(|last| number <= last))
}

/// Checks that a list is not empty, and that each item is a string that is not empty. An item may consist of blanks
/// only, unlike a value of the shape `text`.
fn check_texts(check: &mut BodyCheck, field: &str, items: &[Value]) {
    if items.is_empty() {
        check.add_error(field, EMPTY_MESSAGE);
    }
    for (index, item) in items.iter().enumerate() {
        match item.as_str() {
            Some("") => check.add_error(&format!("{field}[{index}]"), EMPTY_MESSAGE),
            Some(_) => {}
            None => check.add_error(&format!("{field}[{index}]"), "must be a string"),
        }
    }
}

impl ShapePart {
    /// Checks this part of an object's shape: a rule about the object, or a member, which may be missing.
    fn check_part(&self, check: &mut BodyCheck, object: &Object) {
        let member = match self {
            Self::Rule(rule) => return (rule.check)(check, object),
            Self::Member(member) => member,
        };
        match (object.find_value(&member.field), &member.presence) {
            (Some(value), _) => member.shape.check_value(check, &member.field, value),
            (None, Presence::Required(message)) => check.add_error(&member.field, *message),
            (None, Presence::Optional | Presence::CheckedByRule) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use sluicegate_test_support::json_schema::validate;

    fn found(shape: &Shape, body: &Value) -> String {
        let mut check = BodyCheck::default();
        shape.check_members(&mut check, body.as_object().unwrap());
        let found = check.errors.iter().map(|f| format!("{}: {}", f.field, f.message));
        found.collect::<Vec<_>>().join("\n")
    }

    /// Checks that the shape's own JSON schema rejects a body exactly if the check finds errors.
    fn both_say_the_same(shape: &Shape, body: &Value) {
        let mut named = Object::new();
        let schema = shape.to_schema(&mut named);
        let schema = json!({"allOf": [schema], "components": {"schemas": named}});
        let held = validate(&schema, body);
        assert_eq!(held.is_ok(), found(shape, body).is_empty(), "{held:?}\n{schema}");
    }

    #[test]
    fn everything_wrong_is_found_at_once() {
        let shape = object(
            ["a", "b", "c"]
                .map(|field| required_member(field, text()))
                .into_iter()
                .chain(["d", "e", "f", "g"].map(|field| required_member(field, texts())))
                .chain(["h", "i"].map(|field| required_member(field, boolean()))),
        );
        let body = json!({"b": " ", "c": 1, "e": [], "f": ["x", 1, ""], "g": "x", "h": "true", "i": null});
        insta::assert_snapshot!(found(&shape, &body), @r"
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
        assert!(shape.validate(body.as_object().unwrap()).is_err());
    }

    #[test]
    fn findings_stand_below_the_object_that_they_are_in() {
        let shape = object([
            required_member(
                "a",
                object([required_member("b", object([required_member("c", text())]))]),
            ),
            required_member("d", list_of(object([required_member("id", uuid())]))),
            optional_member("e", any_object()),
            required_member("kind", one_of(&["one", "two"])),
            optional_member("f", text()),
            required_member("f", any_object()),
            nonempty_member("g", text()),
            rule_checked_member("h", text()),
        ]);
        let body = json!({
            "a": {"b": {"c": ""}}, "d": [{"id": "x"}, 7, {"id": "3F0C7D1E-62B4-4A0E-9D51-8F7A6C2B1E90"}],
            "e": 1, "kind": "other", "f": null,
        });
        insta::assert_snapshot!(found(&shape, &body), @r"
        a.b.c: must not be empty
        d[0].id: must be a UUID
        d[1]: must be an object
        e: must be an object
        kind: must be one of one, two
        f: must not be null
        g: must not be empty
        ");
    }

    #[test]
    fn shape_checks_bodies_as_described() {
        let variant = |name: &'static str| {
            object([
                required_member("kind", one_of(&[name])),
                required_member(name, boolean()),
            ])
        };
        let shape = object([
            required_member("text", text()),
            optional_member("any", any_text()),
            optional_member("whole", whole_number_from(1, Some(9))),
            optional_member("either", text_or_number()),
            optional_member("names", texts()),
            optional_member("one", one_of(&["x", "y"])),
            optional_member("map", map_of(any_text())),
            optional_member(
                "some",
                variants("kind", [("a", variant("a")), ("b", variant("b"))])
                    .with_name_and_description("Some", "One of two."),
            ),
        ]);
        for (field, values) in [
            ("text", json!(["x", " ", 1, null])),
            ("any", json!(["", 1, null])),
            ("whole", json!([0, 1, 9, 10, 1.5, 2.0, "1", null])),
            ("either", json!(["", 1.5, true, null])),
            ("names", json!([[], ["x"], ["", "x"], "x", null])),
            ("one", json!(["x", "z", 1, null])),
            ("map", json!([{}, {"a": "x"}, {"a": 1}, [], null])),
            (
                "some",
                json!([{"kind": "a", "a": true}, {"kind": "b", "a": true}, {"kind": "c"}, {}, 1, null]),
            ),
        ] {
            for value in values.as_array().unwrap() {
                let mut body = json!({"text": "x"});
                body[field] = value.clone();
                both_say_the_same(&shape, &body);
            }
        }
        both_say_the_same(&shape, &json!({}));
    }
}
