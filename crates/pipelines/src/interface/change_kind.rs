//! The table of all changes: how they affect consumers, and what consumers must do.

use serde::{Deserialize, Serialize};
use sluicegate_base::words::words;

/// The importance of a change, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    None,
    /// Another part of the version changed.
    Content,
    /// Worth a note; in a total it counts as content.
    Note,
    Addition,
    /// Consumers fail unless they do something.
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
    /// Returns the class for a total, which is never a note.
    #[must_use]
    pub const fn of_all(self) -> Self {
        match self {
            Self::Note => Self::Content,
            class => class,
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
    /// A description of the change, with placeholders for its parts in braces.
    pub words: &'static str,
    /// What consumers must do or can do.
    pub consumers: &'static str,
}

const fn effect(class: Class, kind: What, words: &'static str, consumers: &'static str) -> Row {
    Row {
        what: kind,
        class,
        words,
        consumers,
    }
}

/// The text for changes that do not affect consumers.
const NO_ACTION: &str = "nothing to do";

/// All changes, one row each.
#[rustfmt::skip]
pub(super) const EFFECTS: [Row; 23] = {
    use Class::{Addition, Breaking, Content, Note};
    [
        effect(Breaking, What::PipelineRemoved, "it is no longer offered",
            "run another shared pipeline, or request a version that still has it"),
        effect(Breaking, What::PipelineDisabled, "it is disabled and therefore no longer offered",
            "run another shared pipeline, or request a version that still has it"),
        effect(Breaking, What::KindChanged, "its kind changed from {before} to {after}",
            "replace the component that runs it with one for the new kind"),
        effect(Breaking, What::ParameterRemoved, "the parameter `{parameter}` is gone",
            "stop setting it, or set its replacement"),
        effect(Breaking, What::ParameterRequired, "the parameter `{parameter}` is new and has no default",
            "set it"),
        effect(Breaking, What::TypeChanged, "the type of the parameter `{parameter}` changed from {before} to {after}",
            "set a value of the new type"),
        effect(Breaking, What::DefaultRemoved, "the parameter `{parameter}` no longer has a default",
            "set it"),
        effect(Breaking, What::ExportWithdrawn, "the value of the parameter `{parameter}` is no longer returned",
            "stop reading it after the run"),
        effect(Breaking, What::ColumnRemoved, "the column `{column}` of the parameter `{parameter}` is gone",
            "remove it from the grid"),
        effect(Breaking, What::ColumnTypeChanged,
            "the type of the column `{column}` of the parameter `{parameter}` changed from {before} to {after}",
            "fill it with values of the new type"),
        effect(Addition, What::PipelineAdded, "it is new", "it can be run"),
        effect(Addition, What::ParameterAdded, "the parameter `{parameter}` is new, with a default", "it can be set"),
        effect(Addition, What::DefaultAdded, "the parameter `{parameter}` has a default now", "it no longer needs to be set"),
        effect(Addition, What::ExportAllowed, "the value of the parameter `{parameter}` is now returned",
            "it can be read after the run"),
        effect(Addition, What::ColumnAdded, "the column `{column}` of the parameter `{parameter}` is new",
            "the grid can have it"),
        effect(Note, What::DefaultChanged, "the default of the parameter `{parameter}` changed from {before} to {after}",
            "set it if the old default is needed"),
        effect(Note, What::DescriptionChanged, "its description changed", NO_ACTION),
        effect(Note, What::ParameterDescriptionChanged, "the description of the parameter `{parameter}` changed", NO_ACTION),
        effect(Note, What::NameChanged, "its display name changed from {before} to {after}", NO_ACTION),
        effect(Note, What::PathChanged, "it moved from {before} to {after}", NO_ACTION),
        effect(Content, What::FileAdded, "the file is new", NO_ACTION),
        effect(Content, What::FileModified, "the file changed", NO_ACTION),
        effect(Content, What::FileRemoved, "the file is gone", NO_ACTION),
    ]
};

impl What {
    /// Returns the name of the change in JSON.
    pub fn name(self) -> String {
        let word = serde_json::to_value(self).unwrap_or_default();
        word.as_str().unwrap_or_default().to_owned()
    }

    /// Returns its row. A test checks that every change has one.
    pub fn row(self) -> &'static Row {
        let effect = EFFECTS.iter().find(|row| row.what == self);
        effect.unwrap_or(&EFFECTS[0])
    }
}
