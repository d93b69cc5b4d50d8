//! The documented fields that an expression sees.

use sluicegate_base::words::words;

/// The part of a pipeline that a rule is about. The rule is evaluated once for each such part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleSubject {
    Pipeline,
    Component,
    Link,
    Variable,
    Call,
}

words!(RuleSubject {
    Pipeline => "pipeline",
    Component => "component",
    Link => "link",
    Variable => "variable",
    Call => "call",
});

/// A kind of record: the subjects of rules, and the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordKind {
    Pipeline,
    Component,
    Link,
    Variable,
    Call,
    Project,
}

words!(RecordKind {
    Pipeline => "pipeline",
    Component => "component",
    Link => "link",
    Variable => "variable",
    Call => "call",
    Project => "project",
});

/// The type of a documented field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldType {
    Text,
    Boolean,
    /// A map with the content of the file.
    Map,
    /// Any value of the pipeline file.
    Any,
    Texts,
    Records(RecordKind),
}

/// A documented field of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordField {
    pub name: &'static str,
    pub field_type: FieldType,
    pub meaning: &'static str,
}

const fn build_field(name: &'static str, field_type: FieldType, meaning: &'static str) -> RecordField {
    RecordField {
        name,
        field_type,
        meaning,
    }
}

const PIPELINE_FIELDS: [RecordField; 9] = [
    build_field("path", FieldType::Text, "the path from the repository root"),
    build_field("name", FieldType::Text, "the file name without the extension"),
    build_field(
        "folder",
        FieldType::Text,
        "the folder of the file; empty in the root",
    ),
    build_field("kind", FieldType::Text, "`orchestration` or `transformation`"),
    build_field(
        "components",
        FieldType::Records(RecordKind::Component),
        "all components",
    ),
    build_field(
        "links",
        FieldType::Records(RecordKind::Link),
        "all links between components",
    ),
    build_field(
        "variables",
        FieldType::Records(RecordKind::Variable),
        "all variables",
    ),
    build_field(
        "calls",
        FieldType::Records(RecordKind::Call),
        "the pipelines and scripts that components run",
    ),
    build_field(
        "document",
        FieldType::Map,
        "the content of the file, without `design`",
    ),
];

const COMPONENT_FIELDS: [RecordField; 6] = [
    build_field("name", FieldType::Text, "the name, which is the key in the file"),
    build_field("type", FieldType::Text, "the type, such as `python-script`"),
    build_field("parameters", FieldType::Map, "the parameters"),
    build_field("skipped", FieldType::Boolean, "whether a run skips the component"),
    build_field(
        "incoming",
        FieldType::Records(RecordKind::Link),
        "the links that lead to the component",
    ),
    build_field(
        "outgoing",
        FieldType::Records(RecordKind::Link),
        "the links that leave the component",
    ),
];

const LINK_FIELDS: [RecordField; 3] = [
    build_field(
        "from",
        FieldType::Text,
        "the component that runs first, or that data comes from",
    ),
    build_field("to", FieldType::Text, "the component that the link leads to"),
    build_field(
        "kind",
        FieldType::Text,
        "`unconditional`, `success`, `failure`, `true`, `false`, `iteration` or `source`",
    ),
];

const VARIABLE_FIELDS: [RecordField; 6] = [
    build_field("name", FieldType::Text, "the name"),
    build_field("type", FieldType::Text, "`TEXT`, `NUMBER` or `GRID`"),
    build_field("scope", FieldType::Text, "`COPIED` or `SHARED`"),
    build_field("visibility", FieldType::Text, "`PUBLIC` or `PRIVATE`"),
    build_field("default", FieldType::Any, "the default value"),
    build_field("description", FieldType::Text, "the description"),
];

const CALL_FIELDS: [RecordField; 4] = [
    build_field("from", FieldType::Text, "the name of the component that calls"),
    build_field(
        "kind",
        FieldType::Text,
        "`orchestration`, `transformation` or `script`",
    ),
    build_field(
        "target",
        FieldType::Text,
        "the path of the called file, or the path as written if the project has no such pipeline",
    ),
    build_field(
        "arguments",
        FieldType::Map,
        "the values of the variables that the call sets (for a grid variable, its complete entry, with the rows in \
         `call.arguments.NAME.gridValues`)",
    ),
];

const PROJECT_FIELDS: [RecordField; 1] = [build_field(
    "pipelines",
    FieldType::Texts,
    "the paths of all pipelines of the project",
)];

impl RecordKind {
    /// Returns the documented fields of this kind of record.
    pub const fn fields(self) -> &'static [RecordField] {
        match self {
            Self::Pipeline => &PIPELINE_FIELDS,
            Self::Component => &COMPONENT_FIELDS,
            Self::Link => &LINK_FIELDS,
            Self::Variable => &VARIABLE_FIELDS,
            Self::Call => &CALL_FIELDS,
            Self::Project => &PROJECT_FIELDS,
        }
    }

    /// Returns the index of the field with this name among [`Self::fields`].
    pub(super) fn find_field_index(self, name: &str) -> Option<usize> {
        self.fields().iter().position(|field| field.name == name)
    }
}

impl RuleSubject {
    /// Returns the kind of record that a rule about this kind of subject is evaluated for.
    pub const fn record_kind(self) -> RecordKind {
        match self {
            Self::Pipeline => RecordKind::Pipeline,
            Self::Component => RecordKind::Component,
            Self::Link => RecordKind::Link,
            Self::Variable => RecordKind::Variable,
            Self::Call => RecordKind::Call,
        }
    }
}

impl FieldType {
    /// Returns the name of the field's type, for the documentation.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Boolean => "boolean",
            Self::Map => "map",
            Self::Any => "any value",
            Self::Texts => "list of strings",
            Self::Records(RecordKind::Component) => "list of components",
            Self::Records(RecordKind::Link) => "list of links",
            Self::Records(RecordKind::Variable) => "list of variables",
            Self::Records(_) => "list of calls",
        }
    }
}
