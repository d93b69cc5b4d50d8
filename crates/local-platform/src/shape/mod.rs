//! Schemas of JSON bodies. A shape both validates a body and describes it, so the two cannot disagree.
//!
//! A shape is built from the vocabulary, so it allows the same names that it describes.

mod make;
mod schema;

pub(super) use make::{
    any_object, any_text, at_least_one_of, boolean, fills, list_of, map_of, may, needs, object, one_of, rule,
    ruled, text, text_or_number, texts, uuid, variants, whole_from,
};

use super::check::BodyCheck;
use super::fields::{Fields as _, whole};
use super::place;
use super::problem::Problem;
use serde_json::{Map, Value};

const MISSING: &str = "must not be null";
const EMPTY: &str = "must not be empty";

type Object = Map<String, Value>;

/// The schema of a JSON value.
pub(super) struct Shape {
    kind: ShapeKind,
    name: Option<&'static str>,
    about: Option<&'static str>,
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
    about: Option<&'static str>,
    presence: Presence,
}

enum Presence {
    /// The member may be missing or null.
    Free,
    /// The member is required; the text is the message if it is missing.
    Needed(&'static str),
    /// The member is required; a rule reports it if it is missing.
    Ruled,
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
    /// Adds the description of a field for the API document.
    pub(super) fn about(mut self, text: &'static str) -> Self {
        if let Self::Member(member) = &mut self {
            member.about = Some(text);
        }
        self
    }
}

impl Shape {
    /// Sets the shape's name in the API description and a sentence about it.
    pub(super) fn named(self, name: &'static str, about: &'static str) -> Self {
        Self {
            name: Some(name),
            about: Some(about),
            ..self
        }
    }

    /// Checks a body; the problem lists all its errors.
    pub(super) fn hold(&self, body: &Object) -> Result<(), Problem> {
        let mut check = BodyCheck::default();
        self.check(&mut check, body);
        check.done(())
    }

    /// Adds all errors in a body to `check`.
    pub(super) fn check(&self, check: &mut BodyCheck, body: &Object) {
        match &self.kind {
            ShapeKind::Object(parts) | ShapeKind::AtLeastOneOf(parts) => {
                for part in parts {
                    part.check(check, body);
                }
            }
            ShapeKind::Map(Some(item)) => body
                .iter()
                .for_each(|(field, value)| item.check_value(check, field, value)),
            ShapeKind::Variants(tag, variants) => {
                let name = body.optional_text(tag);
                match variants.iter().find(|(known, _)| Some(*known) == name.as_deref()) {
                    Some((_, variant)) => variant.check(check, body),
                    None => needs(*tag, self.tag_shape()).check(check, body),
                }
            }
            _ => {}
        }
    }

    /// Adds all errors in the value of a field to `check`.
    fn check_value(&self, check: &mut BodyCheck, field: &str, value: &Value) {
        match (&self.kind, value) {
            (ShapeKind::AnyText, Value::String(_))
            | (ShapeKind::Boolean, Value::Bool(_))
            | (ShapeKind::TextOrNumber, Value::String(_) | Value::Number(_)) => {}
            (ShapeKind::Text | ShapeKind::Uuid | ShapeKind::OneOf(_), Value::String(text)) => {
                self.check_text(check, field, text);
            }
            (ShapeKind::Whole(first, last), value) if in_range(value, *first, *last) => {}
            (ShapeKind::Texts, Value::Array(items)) => check_items(check, field, items),
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
                check.below(field, |check| self.check(check, inner));
            }
            _ => check.note(field, self.describe_type()),
        }
    }

    /// Checks that a text is not blank and fits the shape.
    fn check_text(&self, check: &mut BodyCheck, field: &str, text: &str) {
        match &self.kind {
            _ if text.trim().is_empty() => check.note(field, EMPTY),
            ShapeKind::Uuid if place::uuid(text).is_none() => check.note(field, "must be a UUID"),
            ShapeKind::OneOf(names) if !names.iter().any(|name| name == text) => {
                check.note(field, format!("must be one of {}", names.join(", ")));
            }
            _ => {}
        }
    }

    /// Returns the message for a value of the wrong type.
    fn describe_type(&self) -> String {
        match &self.kind {
            ShapeKind::Text | ShapeKind::AnyText | ShapeKind::Uuid | ShapeKind::OneOf(_) => {
                "must be a string".to_owned()
            }
            ShapeKind::Boolean => "must be true or false".to_owned(),
            ShapeKind::Whole(first, None) => format!("must be an integer from {first}"),
            ShapeKind::Whole(first, Some(last)) => format!("must be an integer from {first} to {last}"),
            ShapeKind::TextOrNumber => "must be a string or a number".to_owned(),
            ShapeKind::Texts => "must be an array of strings".to_owned(),
            ShapeKind::List(item) => format!("must be an array of {}", item.plural()),
            ShapeKind::Object(_)
            | ShapeKind::AtLeastOneOf(_)
            | ShapeKind::Map(_)
            | ShapeKind::Variants(..) => "must be an object".to_owned(),
        }
    }

    /// Returns the word for several values of this shape.
    const fn plural(&self) -> &'static str {
        match &self.kind {
            ShapeKind::Text | ShapeKind::AnyText => "strings",
            ShapeKind::List(_) => "arrays",
            _ => "objects",
        }
    }

    /// Returns the shape of the field that selects one of the variants.
    fn tag_shape(&self) -> Self {
        let ShapeKind::Variants(_, variants) = &self.kind else {
            return text();
        };
        one_of(&variants.iter().map(|(name, _)| *name).collect::<Vec<_>>())
    }
}

fn in_range(value: &Value, first: u64, last: Option<u64>) -> bool {
    whole(value).is_some_and(|number| number >= first && last.is_none_or(|last| number <= last))
}

/// Checks that a list has items, and that each is a text that is not empty.
fn check_items(check: &mut BodyCheck, field: &str, items: &[Value]) {
    if items.is_empty() {
        check.note(field, EMPTY);
    }
    for (index, item) in items.iter().enumerate() {
        match item.as_str() {
            Some("") => check.note(&format!("{field}[{index}]"), EMPTY),
            Some(_) => {}
            None => check.note(&format!("{field}[{index}]"), "must be a string"),
        }
    }
}

impl ShapePart {
    /// Checks a field of an object, or a rule about the object.
    fn check(&self, check: &mut BodyCheck, object: &Object) {
        let member = match self {
            Self::Rule(rule) => return (rule.check)(check, object),
            Self::Member(member) => member,
        };
        match (object.given(&member.field), &member.presence) {
            (Some(value), _) => member.shape.check_value(check, &member.field, value),
            (None, Presence::Needed(message)) => check.note(&member.field, *message),
            (None, Presence::Free | Presence::Ruled) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use sluicegate_test_support::json_schema::hold;

    fn found(shape: &Shape, body: &Value) -> String {
        let mut check = BodyCheck::default();
        shape.check(&mut check, body.as_object().unwrap());
        let found = check
            .findings
            .iter()
            .map(|f| format!("{}: {}", f.field, f.message));
        found.collect::<Vec<_>>().join("\n")
    }

    /// Checks that the shape's own JSON schema rejects a body exactly if the check finds errors.
    fn both_say_the_same(shape: &Shape, body: &Value) {
        let mut named = Object::new();
        let schema = shape.describe(&mut named);
        let schema = json!({"allOf": [schema], "components": {"schemas": named}});
        let held = hold(&schema, body);
        assert_eq!(held.is_ok(), found(shape, body).is_empty(), "{held:?}\n{schema}");
    }

    #[test]
    fn everything_wrong_is_found_at_once() {
        let shape = object(
            ["a", "b", "c"]
                .map(|field| needs(field, text()))
                .into_iter()
                .chain(["d", "e", "f", "g"].map(|field| needs(field, texts())))
                .chain(["h", "i"].map(|field| needs(field, boolean()))),
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
        assert!(shape.hold(body.as_object().unwrap()).is_err());
    }

    #[test]
    fn findings_stand_below_the_object_that_they_are_in() {
        let shape = object([
            needs("a", object([needs("b", object([needs("c", text())]))])),
            needs("d", list_of(object([needs("id", uuid())]))),
            may("e", any_object()),
            needs("kind", one_of(&["one", "two"])),
            may("f", text()),
            needs("f", any_object()),
            fills("g", text()),
            ruled("h", text()),
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
    fn shape_checks_bodies_as_its_description_says() {
        let variant = |name: &'static str| object([needs("kind", one_of(&[name])), needs(name, boolean())]);
        let shape = object([
            needs("text", text()),
            may("any", any_text()),
            may("whole", whole_from(1, Some(9))),
            may("either", text_or_number()),
            may("names", texts()),
            may("one", one_of(&["x", "y"])),
            may("map", map_of(any_text())),
            may(
                "some",
                variants("kind", [("a", variant("a")), ("b", variant("b"))]).named("Some", "One of two."),
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
