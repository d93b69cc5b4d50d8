//! The values of an expression: those of the document are borrowed from it.

use super::record_field::RecordKind;
use crate::pipelines::PipelineFiles;
use sluicegate_yaml::{NodeRef, Value};
use std::borrow::Cow;
use std::rc::Rc;

/// A value during the evaluation of an expression.
#[derive(Debug, Clone)]
pub(super) enum ExpressionValue<'m> {
    Null,
    Boolean(bool),
    Integer(i64),
    Unsigned(u64),
    Double(f64),
    Text(Cow<'m, str>),
    List(Rc<Vec<ExpressionValue<'m>>>),
    Map(Rc<Vec<(ExpressionValue<'m>, ExpressionValue<'m>)>>),
    Record(Rc<Record<'m>>),
    /// A list or a map of the document.
    Node(NodeRef<'m, 'm>),
    /// The paths of the pipelines of the project.
    Paths(&'m PipelineFiles<'m>),
}

/// A part of a pipeline with its documented fields, in the order of [`RecordKind::fields`].
#[derive(Debug)]
pub(super) struct Record<'m> {
    pub kind: RecordKind,
    pub line: u32,
    pub fields: Vec<ExpressionValue<'m>>,
}

impl<'m> Record<'m> {
    /// Returns the value of a documented field; `None` if this kind of record has no such field.
    pub(super) fn field(&self, name: &str) -> Option<&ExpressionValue<'m>> {
        self.fields.get(self.kind.find_field_index(name)?)
    }

    /// Returns the text of a documented field; empty if the field is missing or of another type.
    pub(super) fn text_field(&self, name: &str) -> &str {
        match self.field(name) {
            Some(ExpressionValue::Text(text)) => text,
            _ => "",
        }
    }
}

impl<'m> ExpressionValue<'m> {
    pub(super) const fn from_text(text: &'m str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    pub(super) fn from_items(items: Vec<Self>) -> Self {
        Self::List(Rc::new(items))
    }

    /// Converts a node of the document to a value. A scalar is interpreted by the YAML core schema.
    pub(super) fn from_node(node: NodeRef<'m, 'm>) -> Self {
        match node.value() {
            None => Self::Node(node),
            Some(Value::Null) => Self::Null,
            Some(Value::Boolean(value)) => Self::Boolean(value),
            Some(Value::Natural(number)) => {
                i64::try_from(number).map_or(Self::Unsigned(number), Self::Integer)
            }
            Some(Value::OtherNumber) => parse_other_number(node.text().unwrap_or_default()),
            Some(Value::Text(text)) => Self::from_text(text),
        }
    }

    /// Returns whether the value can have keys. For any other value, `has` is false and does not fail, because exported
    /// documents contain sometimes a map and sometimes a string at the same key.
    pub(super) fn can_have_keys(&self) -> bool {
        match self {
            Self::Map(_) | Self::Record(_) => true,
            Self::Node(node) => node.is_map(),
            _ => false,
        }
    }

    /// Returns the name of the value's type, for messages.
    pub(super) const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "a boolean",
            Self::Integer(_) | Self::Unsigned(_) | Self::Double(_) => "a number",
            Self::Text(_) => "a string",
            Self::List(_) | Self::Paths(_) => "a list",
            Self::Map(_) => "a map",
            Self::Record(_) => "a part of the pipeline",
            Self::Node(_) => "a list or a map",
        }
    }
}

/// Parses a negative integer, or any other number as a decimal number. Only a hexadecimal or octal number of more than
/// 64 bits is returned as a string, which an expression cannot mistake for another number.
fn parse_other_number(text: &str) -> ExpressionValue<'_> {
    if let Ok(number) = text.parse() {
        return ExpressionValue::Integer(number);
    }
    match text {
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => ExpressionValue::Double(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => ExpressionValue::Double(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => ExpressionValue::Double(f64::NAN),
        _ => text
            .parse()
            .map_or_else(|_| ExpressionValue::from_text(text), ExpressionValue::Double),
    }
}
