//! Constructors of shapes.

use super::{
    EMPTY_MESSAGE, MISSING_MESSAGE, Member, Object, Presence, Shape, ShapeKind, ShapePart, ShapeRule,
};
use crate::body_check::BodyCheck;
use serde_json::Value;

/// Creates a shape without a name and a description.
const fn unnamed_shape(kind: ShapeKind) -> Shape {
    Shape {
        kind,
        name: None,
        description: None,
    }
}

/// Creates the shape of a non-empty string.
pub(crate) const fn text() -> Shape {
    unnamed_shape(ShapeKind::Text)
}

/// Creates the shape of a string that may be empty.
pub(crate) const fn any_text() -> Shape {
    unnamed_shape(ShapeKind::AnyText)
}

/// Creates the shape of a string that is a UUID with hyphens.
pub(crate) const fn uuid() -> Shape {
    unnamed_shape(ShapeKind::Uuid)
}

/// Creates the shape of a boolean.
pub(crate) const fn boolean() -> Shape {
    unnamed_shape(ShapeKind::Boolean)
}

/// Creates the shape of a string that is one of these names.
pub(crate) fn one_of(names: &[impl ToString]) -> Shape {
    unnamed_shape(ShapeKind::OneOf(names.iter().map(ToString::to_string).collect()))
}

/// Creates the shape of an integer from `first`, up to `last` if there is one.
pub(crate) const fn whole_number_from(first: u64, last: Option<u64>) -> Shape {
    unnamed_shape(ShapeKind::Whole(first, last))
}

/// Creates the shape of a string, which may be empty, or a number.
pub(crate) const fn text_or_number() -> Shape {
    unnamed_shape(ShapeKind::TextOrNumber)
}

/// Creates the shape of a non-empty list of non-empty strings.
pub(crate) const fn texts() -> Shape {
    unnamed_shape(ShapeKind::Texts)
}

/// Creates the shape of a list, which may be empty, of values with the shape `item`.
pub(crate) fn list_of(item: Shape) -> Shape {
    unnamed_shape(ShapeKind::List(Box::new(item)))
}

/// Creates the shape of an object with these parts; other members are allowed.
pub(crate) fn object(parts: impl IntoIterator<Item = ShapePart>) -> Shape {
    unnamed_shape(ShapeKind::Object(parts.into_iter().collect()))
}

/// Creates the shape of an object with at least one member. The check does not count members, so a rule among the parts
/// must report an empty object.
pub(crate) fn at_least_one_of(parts: impl IntoIterator<Item = ShapePart>) -> Shape {
    unnamed_shape(ShapeKind::AtLeastOneOf(parts.into_iter().collect()))
}

/// Creates the shape of an object whose members all have the shape `item`.
pub(crate) fn map_of(item: Shape) -> Shape {
    unnamed_shape(ShapeKind::Map(Some(Box::new(item))))
}

/// Creates the shape of an object with any members.
pub(crate) const fn any_object() -> Shape {
    unnamed_shape(ShapeKind::Map(None))
}

/// Creates the shape of an object that has one of several shapes. The value of its member `tag` is the name of one of
/// the `variants`.
pub(crate) fn variants(
    tag: &'static str,
    variants: impl IntoIterator<Item = (&'static str, Shape)>,
) -> Shape {
    unnamed_shape(ShapeKind::Variants(tag, variants.into_iter().collect()))
}

/// Creates a required member. A missing or null member is reported as null.
pub(crate) fn required_member(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Required(MISSING_MESSAGE))
}

/// Creates a required member. A missing or null member is reported as empty.
pub(crate) fn nonempty_member(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Required(EMPTY_MESSAGE))
}

/// Creates a member that may be missing or null.
pub(crate) fn optional_member(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Optional)
}

/// Creates a required member whose absence is reported by one of the object's rules.
pub(crate) fn rule_checked_member(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::CheckedByRule)
}

/// Creates a member of an object's shape.
fn member(field: impl Into<String>, shape: Shape, presence: Presence) -> ShapePart {
    ShapePart::Member(Member {
        field: field.into(),
        shape,
        description: None,
        presence,
    })
}

/// Creates a rule about an object: `check` reports the errors, and `schema` is the JSON schema that expresses the rule,
/// if there is one.
pub(crate) fn rule(check: impl Fn(&mut BodyCheck, &Object) + 'static, schema: Option<Value>) -> ShapePart {
    ShapePart::Rule(ShapeRule {
        check: Box::new(check),
        schema,
    })
}
