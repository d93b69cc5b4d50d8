//! The table of all kinds of changes: how each affects consumers, and what consumers must do.

use sluicegate_base::words::words;

/// The importance of a change, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeClass {
    None,
    /// Another part of the version changed.
    Content,
    /// A change that is worth a note. A comparison with no more important change has the class `Content`.
    Note,
    Addition,
    /// Consumers fail unless they change something.
    Breaking,
}

words!(ChangeClass {
    None => "none",
    Content => "content",
    Note => "note",
    Addition => "addition",
    Breaking => "breaking",
});

impl ChangeClass {
    /// Returns the class of a comparison whose most important change has this class. A comparison never has the class
    /// `Note`: a note only asks for attention, so the comparison has the class `Content`.
    #[must_use]
    pub const fn to_comparison_class(self) -> Self {
        match self {
            Self::Note => Self::Content,
            class => class,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InterfaceChangeKind {
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

words!(InterfaceChangeKind {
    PipelineRemoved => "pipeline-removed",
    PipelineDisabled => "pipeline-disabled",
    KindChanged => "kind-changed",
    ParameterRemoved => "parameter-removed",
    ParameterRequired => "parameter-required",
    TypeChanged => "type-changed",
    DefaultRemoved => "default-removed",
    ExportWithdrawn => "export-withdrawn",
    ColumnRemoved => "column-removed",
    ColumnTypeChanged => "column-type-changed",
    PipelineAdded => "pipeline-added",
    ParameterAdded => "parameter-added",
    DefaultAdded => "default-added",
    ExportAllowed => "export-allowed",
    ColumnAdded => "column-added",
    DefaultChanged => "default-changed",
    DescriptionChanged => "description-changed",
    ParameterDescriptionChanged => "parameter-description-changed",
    NameChanged => "name-changed",
    PathChanged => "path-changed",
    FileAdded => "file-added",
    FileModified => "file-modified",
    FileRemoved => "file-removed",
});

#[derive(Debug, Clone, Copy)]
pub struct ChangeEffect {
    pub kind: InterfaceChangeKind,
    pub class: ChangeClass,
    /// A description of the change, with placeholders for its parts in braces.
    pub description: &'static str,
    /// The action that consumers must or can take.
    pub consumer_action: &'static str,
}

/// Creates a row of the table [`EFFECTS`], with the class in the first column.
const fn build_effect(
    class: ChangeClass,
    kind: InterfaceChangeKind,
    description: &'static str,
    consumer_action: &'static str,
) -> ChangeEffect {
    ChangeEffect {
        kind,
        class,
        description,
        consumer_action,
    }
}

/// The text for changes that do not affect consumers.
const NO_ACTION: &str = "nothing to do";

/// All changes, one row each.
#[rustfmt::skip]
pub(super) const EFFECTS: [ChangeEffect; 23] = {
    use ChangeClass::{Addition, Breaking, Content, Note};
    [
        build_effect(Breaking, InterfaceChangeKind::PipelineRemoved, "the shared pipeline is no longer offered",
            "run another shared pipeline, or request a version that still offers this pipeline"),
        build_effect(Breaking, InterfaceChangeKind::PipelineDisabled, "the shared pipeline is disabled and therefore no longer offered",
            "run another shared pipeline, or request a version that still offers this pipeline"),
        build_effect(Breaking, InterfaceChangeKind::KindChanged, "the pipeline's kind changed from {before} to {after}",
            "replace the component that runs the pipeline with a component for the new kind"),
        build_effect(Breaking, InterfaceChangeKind::ParameterRemoved, "the parameter `{parameter}` was removed",
            "stop setting the parameter, or set its replacement"),
        build_effect(Breaking, InterfaceChangeKind::ParameterRequired, "the parameter `{parameter}` is new and has no default",
            "set the parameter"),
        build_effect(Breaking, InterfaceChangeKind::TypeChanged, "the type of the parameter `{parameter}` changed from {before} to {after}",
            "set a value of the new type"),
        build_effect(Breaking, InterfaceChangeKind::DefaultRemoved, "the parameter `{parameter}` no longer has a default",
            "set the parameter"),
        build_effect(Breaking, InterfaceChangeKind::ExportWithdrawn, "the value of the parameter `{parameter}` is no longer returned",
            "stop reading the value after the run"),
        build_effect(Breaking, InterfaceChangeKind::ColumnRemoved, "the column `{column}` of the parameter `{parameter}` was removed",
            "remove the column from the grid"),
        build_effect(Breaking, InterfaceChangeKind::ColumnTypeChanged,
            "the type of the column `{column}` of the parameter `{parameter}` changed from {before} to {after}",
            "fill the column with values of the new type"),
        build_effect(Addition, InterfaceChangeKind::PipelineAdded, "the shared pipeline is new", "the shared pipeline can be run"),
        build_effect(Addition, InterfaceChangeKind::ParameterAdded, "the parameter `{parameter}` is new, with a default", "the parameter can be set"),
        build_effect(Addition, InterfaceChangeKind::DefaultAdded, "the parameter `{parameter}` now has a default", "the parameter no longer needs to be set"),
        build_effect(Addition, InterfaceChangeKind::ExportAllowed, "the value of the parameter `{parameter}` is now returned",
            "the value can be read after the run"),
        build_effect(Addition, InterfaceChangeKind::ColumnAdded, "the column `{column}` of the parameter `{parameter}` is new",
            "the grid can contain the column"),
        build_effect(Note, InterfaceChangeKind::DefaultChanged, "the default of the parameter `{parameter}` changed from {before} to {after}",
            "set the parameter if the old default is needed"),
        build_effect(Note, InterfaceChangeKind::DescriptionChanged, "the pipeline's description changed", NO_ACTION),
        build_effect(Note, InterfaceChangeKind::ParameterDescriptionChanged, "the description of the parameter `{parameter}` changed", NO_ACTION),
        build_effect(Note, InterfaceChangeKind::NameChanged, "the pipeline's display name changed from {before} to {after}", NO_ACTION),
        build_effect(Note, InterfaceChangeKind::PathChanged, "the pipeline moved from {before} to {after}", NO_ACTION),
        build_effect(Content, InterfaceChangeKind::FileAdded, "the file is new", NO_ACTION),
        build_effect(Content, InterfaceChangeKind::FileModified, "the file changed", NO_ACTION),
        build_effect(Content, InterfaceChangeKind::FileRemoved, "the file was removed", NO_ACTION),
    ]
};

impl InterfaceChangeKind {
    /// Returns the row of this kind of change in the table. A test checks that every kind has one, so the fallback to
    /// the first row is never used.
    pub fn effect(self) -> &'static ChangeEffect {
        let effect = EFFECTS.iter().find(|effect| effect.kind == self);
        effect.unwrap_or(&EFFECTS[0])
    }
}
