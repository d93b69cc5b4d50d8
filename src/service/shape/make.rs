//! The words that shapes are made with.

use super::{EMPTY, MISSING, Member, Object, Presence, Shape, ShapeKind, ShapePart, ShapeRule};
use crate::service::check::BodyCheck;
use serde_json::Value;

const fn shape(kind: ShapeKind) -> Shape {
    Shape {
        kind,
        name: None,
        about: None,
    }
}

/// A text that is not empty.
pub(crate) const fn text() -> Shape {
    shape(ShapeKind::Text)
}

pub(crate) const fn any_text() -> Shape {
    shape(ShapeKind::AnyText)
}

/// A UUID in its usual form.
pub(crate) const fn uuid() -> Shape {
    shape(ShapeKind::Uuid)
}

pub(crate) const fn boolean() -> Shape {
    shape(ShapeKind::Boolean)
}

pub(crate) fn one_of(names: &[impl ToString]) -> Shape {
    shape(ShapeKind::OneOf(names.iter().map(ToString::to_string).collect()))
}

/// A whole number from the first to the last, if there is one.
pub(crate) const fn whole_from(first: u64, last: Option<u64>) -> Shape {
    shape(ShapeKind::Whole(first, last))
}

pub(crate) const fn text_or_number() -> Shape {
    shape(ShapeKind::TextOrNumber)
}

/// A list of texts that is not empty, and none of which is.
pub(crate) const fn texts() -> Shape {
    shape(ShapeKind::Texts)
}

/// A list of objects of this shape, which may be empty.
pub(crate) fn list_of(item: Shape) -> Shape {
    shape(ShapeKind::List(Box::new(item)))
}

/// An object with these parts, and with any other members.
pub(crate) fn object(parts: impl IntoIterator<Item = ShapePart>) -> Shape {
    shape(ShapeKind::Object(parts.into_iter().collect()))
}

/// An object with at least one member, of these parts; a rule says it to a body.
pub(crate) fn at_least_one_of(parts: impl IntoIterator<Item = ShapePart>) -> Shape {
    shape(ShapeKind::AtLeastOneOf(parts.into_iter().collect()))
}

/// An object all of whose members are of this shape.
pub(crate) fn map_of(item: Shape) -> Shape {
    shape(ShapeKind::Map(Some(Box::new(item))))
}

pub(crate) const fn any_object() -> Shape {
    shape(ShapeKind::Map(None))
}

/// An object of the shape that its `tag` names.
pub(crate) fn variants(
    tag: &'static str,
    variants: impl IntoIterator<Item = (&'static str, Shape)>,
) -> Shape {
    shape(ShapeKind::Variants(tag, variants.into_iter().collect()))
}

/// A member that must be there.
pub(crate) fn needs(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Needed(MISSING))
}

/// A member that counts as empty if it is missing, and must not be.
pub(crate) fn fills(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Needed(EMPTY))
}

/// A member that may be missing or null.
pub(crate) fn may(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Free)
}

/// A member that must be there, as a rule of the object says.
pub(crate) fn ruled(field: impl Into<String>, shape: Shape) -> ShapePart {
    member(field, shape, Presence::Ruled)
}

fn member(field: impl Into<String>, shape: Shape, presence: Presence) -> ShapePart {
    ShapePart::Member(Member {
        field: field.into(),
        shape,
        about: None,
        presence,
    })
}

/// A rule, and what a JSON schema can say of it.
pub(crate) fn rule(check: impl Fn(&mut BodyCheck, &Object) + 'static, schema: Option<Value>) -> ShapePart {
    ShapePart::Rule(ShapeRule {
        check: Box::new(check),
        schema,
    })
}
