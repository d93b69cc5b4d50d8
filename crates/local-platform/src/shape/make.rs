//! Constructors of shapes.

use super::{EMPTY, MISSING, Member, Object, Presence, Shape, ShapeKind, ShapePart, ShapeRule};
use crate::check::BodyCheck;
use serde_json::Value;

/// Creates a shape without a name and a description.
const fn shape(kind: ShapeKind) -> Shape {
    Shape {
        kind,
        name: None,
        about: None,
    }
}

/// Creates the shape of a non-empty string.
pub(crate) const fn text() -> Shape {
    shape(ShapeKind::Text)
}

pub(crate) const fn any_text() -> Shape {
    shape(ShapeKind::AnyText)
}

/// Creates the shape of a UUID in its usual form.
pub(crate) const fn uuid() -> Shape {
    shape(ShapeKind::Uuid)
}

pub(crate) const fn boolean() -> Shape {
    shape(ShapeKind::Boolean)
}

pub(crate) fn one_of(names: &[impl ToString]) -> Shape {
    shape(ShapeKind::OneOf(names.iter().map(ToString::to_string).collect()))
}

/// Creates the shape of an integer from `first`, up to `last` if there is one.
pub(crate) const fn whole_from(first: u64, last: Option<u64>) -> Shape {
    shape(ShapeKind::Whole(first, last))
}

pub(crate) const fn text_or_number() -> Shape {
    shape(ShapeKind::TextOrNumber)
}

/// Creates the shape of a non-empty list of non-empty strings.
pub(crate) const fn texts() -> Shape {
    shape(ShapeKind::Texts)
}

/// Creates the shape of a list, which may be empty.
pub(crate) fn list_of(item: Shape) -> Shape {
    shape(ShapeKind::List(Box::new(item)))
}

/// Creates the shape of an object with these parts; other members are allowed.
pub(crate) fn object(parts: impl IntoIterator<Item = ShapePart>) -> Shape {
    shape(ShapeKind::Object(parts.into_iter().collect()))
}

/// Creates the shape of an object with at least one member. The check does not count members, so a rule among the parts
/// must report an empty object.
pub(crate) fn at_least_one_of(parts: impl IntoIterator<Item = ShapePart>) -> Shape {
    shape(ShapeKind::AtLeastOneOf(parts.into_iter().collect()))
}

/// Creates the shape of an object whose members all have the shape `item`.
pub(crate) fn map_of(item: Shape) -> Shape {
    shape(ShapeKind::Map(Some(Box::new(item))))
}

pub(crate) const fn any_object() -> Shape {
    shape(ShapeKind::Map(None))
}

/// Creates the shape of an object that has one of several shapes, selected by its member `tag`.
pub(crate) fn variants(
    tag: &'static str,
    variants: impl IntoIterator<Item = (&'static str, Shape)>,
) -> Shape {
    shape(ShapeKind::Variants(tag, variants.into_iter().collect()))
}

/// Creates a required member.
pub(crate) fn needs(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Needed(MISSING))
}

/// Creates a required member that is reported as empty if it is missing.
pub(crate) fn fills(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Needed(EMPTY))
}

/// Creates a member that may be missing or null.
pub(crate) fn may(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Free)
}

/// Creates a required member whose absence is reported by a rule of the object.
pub(crate) fn ruled(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Ruled)
}

/// Creates a field of an object.
fn member(field: impl Into<String>, shape: Shape, presence: Presence) -> ShapePart {
    ShapePart::Member(Member {
        field: field.into(),
        shape,
        about: None,
        presence,
    })
}

/// Creates a rule, with the JSON schema that expresses it if there is one.
pub(crate) fn rule(check: impl Fn(&mut BodyCheck, &Object) + 'static, schema: Option<Value>) -> ShapePart {
    ShapePart::Rule(ShapeRule {
        check: Box::new(check),
        schema,
    })
}
