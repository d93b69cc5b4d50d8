//! What can change, how much it matters to consumers, and what they must do: the one table of it.

use crate::base::words::words;
use serde::{Deserialize, Serialize};

/// How much a change matters, the least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    None,
    /// Something else of the version changed.
    Content,
    /// Worth a note; as a whole it is content.
    Note,
    Addition,
    /// Consumers must do something, or fail.
    Breaking,
}

words!(Class {
    None => "none",
    Content => "content",
    Note => "note",
    Addition => "addition",
    Breaking => "breaking",
});

impl Class {
    /// As the class of a whole, which is no note.
    #[must_use]
    pub const fn of_all(self) -> Self {
        match self {
            Self::Note => Self::Content,
            other => other,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    PipelineRemoved,
    PipelineDisabled,
    KindChanged,
    ParameterRemoved,
    ParameterRequired,
    TypeChanged,
    DefaultRemoved,
    ExportWithdrawn,
    ColumnRemoved,
    ColumnTypeChanged,
    PipelineAdded,
    ParameterAdded,
    DefaultAdded,
    ExportAllowed,
    ColumnAdded,
    DefaultChanged,
    DescriptionChanged,
    ParameterDescriptionChanged,
    NameChanged,
    PathChanged,
    FileAdded,
    FileModified,
    FileRemoved,
}

#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub what: What,
    pub class: Class,
    /// The change in words, with the names of its parts in braces.
    pub words: &'static str,
    /// What consumers must do, or can.
    pub consumers: &'static str,
}

const fn row(class: Class, what: What, words: &'static str, consumers: &'static str) -> Row {
    Row {
        what,
        class,
        words,
        consumers,
    }
}

/// What stays as it was for consumers.
const NOTHING: &str = "nothing to do";

/// Every change, one row each.
#[rustfmt::skip]
pub(super) const TABLE: [Row; 23] = {
    use Class::{Addition, Breaking, Content, Note};
    [
        row(Breaking, What::PipelineRemoved, "it is not offered any more",
            "run another shared pipeline, or ask for a version that still has it"),
        row(Breaking, What::PipelineDisabled, "it is disabled, and so not offered any more",
            "run another shared pipeline, or ask for a version that still has it"),
        row(Breaking, What::KindChanged, "it was of kind {before} and is of kind {after}",
            "replace the component that runs it by one for the new kind"),
        row(Breaking, What::ParameterRemoved, "the parameter `{parameter}` is gone",
            "stop setting it, or set the one that took its place"),
        row(Breaking, What::ParameterRequired, "the parameter `{parameter}` is new and has no default",
            "set it"),
        row(Breaking, What::TypeChanged, "the parameter `{parameter}` was of type {before} and is of type {after}",
            "set a value of the new type"),
        row(Breaking, What::DefaultRemoved, "the parameter `{parameter}` has no default any more",
            "set it"),
        row(Breaking, What::ExportWithdrawn, "the value of the parameter `{parameter}` is not handed back any more",
            "stop reading it after the run"),
        row(Breaking, What::ColumnRemoved, "the column `{column}` of the parameter `{parameter}` is gone",
            "leave it out of the grid"),
        row(Breaking, What::ColumnTypeChanged,
            "the column `{column}` of the parameter `{parameter}` was of type {before} and is of type {after}",
            "fill it with values of the new type"),
        row(Addition, What::PipelineAdded, "it is new", "it can be run"),
        row(Addition, What::ParameterAdded, "the parameter `{parameter}` is new, with a default", "it can be set"),
        row(Addition, What::DefaultAdded, "the parameter `{parameter}` has a default now", "it need not be set any more"),
        row(Addition, What::ExportAllowed, "the value of the parameter `{parameter}` is handed back now",
            "it can be read after the run"),
        row(Addition, What::ColumnAdded, "the column `{column}` of the parameter `{parameter}` is new",
            "the grid can have it"),
        row(Note, What::DefaultChanged, "the default of the parameter `{parameter}` was {before} and is {after}",
            "set it where the old default is meant"),
        row(Note, What::DescriptionChanged, "its description changed", NOTHING),
        row(Note, What::ParameterDescriptionChanged, "the description of the parameter `{parameter}` changed", NOTHING),
        row(Note, What::NameChanged, "its display name was {before} and is {after}", NOTHING),
        row(Note, What::PathChanged, "it moved from {before} to {after}", NOTHING),
        row(Content, What::FileAdded, "the file is new", NOTHING),
        row(Content, What::FileModified, "the file changed", NOTHING),
        row(Content, What::FileRemoved, "the file is gone", NOTHING),
    ]
};

impl What {
    /// The word for it in JSON.
    pub fn name(self) -> String {
        let word = serde_json::to_value(self).unwrap_or_default();
        word.as_str().unwrap_or_default().to_owned()
    }

    /// Its row. Every one has one, which a test proves.
    pub fn row(self) -> &'static Row {
        let found = TABLE.iter().find(|row| row.what == self);
        found.unwrap_or(&TABLE[0])
    }
}
