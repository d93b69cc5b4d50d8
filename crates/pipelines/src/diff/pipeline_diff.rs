//! The model of a change.

use super::leaf::{Leaf, PathStep};
use super::value_text::format_renamed_names;
use crate::findings::FileChange;
use crate::pipelines::PipelineKind;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ComponentChange {
    Added,
    Removed,
    Renamed,
    Modified,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VariableChange {
    Added,
    Removed,
    Modified,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkChange {
    Added,
    Removed,
}

/// A leaf that differs. A side without the leaf has no value, which differs from null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldDiff {
    /// The path from the component, the variable, or the document.
    pub path: Vec<PathStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Leaf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Leaf>,
    /// The first cell of the list row that contains the leaf, for the text output.
    #[serde(skip)]
    pub row: Option<Arc<str>>,
    /// The names of the list entries above the leaf, for the text output.
    #[serde(skip)]
    pub entry_names: Vec<EntryName>,
}

/// The name of a list entry, which is a map in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryName {
    /// The position of the entry's index in the path of a leaf.
    pub position: usize,
    pub name: Arc<str>,
    /// Whether only one version has the entry.
    pub is_unpaired: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComponentDiff {
    /// The name in the head; in the base if the component was removed.
    pub name: String,
    /// The name in the base, if the component was renamed.
    pub previous_name: Option<String>,
    /// The type in the head; in the base if the component was removed.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub change: ComponentChange,
    /// Whether a renamed component still has its old name in the parameter `componentName`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keeps_component_name: bool,
    /// Whether a run of the base executes the component.
    #[serde(skip)]
    pub runs_in_base: bool,
    /// All leaves that differ, except links.
    pub fields: Vec<FieldDiff>,
    /// The differences to describe, if they are others than `fields`: list entries with the same content belong
    /// together, also if an entry before them was inserted.
    #[serde(skip)]
    pub told_fields: Option<Vec<FieldDiff>>,
}

/// An added or removed link.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LinkDiff {
    /// The component that runs first or provides the data.
    pub from: String,
    /// The component that runs next or receives the data.
    pub to: String,
    /// The key of the transition, `iteration`, or `source`.
    pub kind: String,
    pub change: LinkChange,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VariableDiff {
    pub name: String,
    pub change: VariableChange,
    pub fields: Vec<FieldDiff>,
    /// The differences to describe, as in [`ComponentDiff::told_fields`].
    #[serde(skip)]
    pub told_fields: Option<Vec<FieldDiff>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PipelineDiff {
    /// The path from the repository root; the old path if the file was deleted.
    pub path: String,
    /// The path in the base of a renamed pipeline, or of the pipeline from which a new one was copied.
    pub previous_path: Option<String>,
    pub change: FileChange,
    /// The version that cannot be read (`in the base: …` or `in the head: …`), and the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The kind in the head; in the base if the file was deleted. `None` if it cannot be read.
    #[serde(rename = "type", serialize_with = "serialize_kind")]
    pub kind: Option<PipelineKind>,
    /// In file order of the head, followed by the removed ones.
    pub components: Vec<ComponentDiff>,
    /// The links, sorted by name.
    pub links: Vec<LinkDiff>,
    /// In file order of the head, followed by the removed ones.
    pub variables: Vec<VariableDiff>,
    /// All other leaves that differ.
    pub other: Vec<FieldDiff>,
    /// The differences to describe, as in [`ComponentDiff::told_fields`].
    #[serde(skip)]
    pub told_other: Option<Vec<FieldDiff>>,
    /// Whether the canvas or the formatting of the file changed too.
    pub layout: bool,
    /// The old names of components by their new names, if a link of the head still leads to the old name. The diff
    /// shows such a component as removed and added, because the link did not change.
    #[serde(skip)]
    pub incomplete_renames: BTreeMap<String, String>,
}

/// Writes the name of the kind; null if the kind is unknown.
#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes the field to this function by reference"
)]
fn serialize_kind<S: Serializer>(kind: &Option<PipelineKind>, serializer: S) -> Result<S::Ok, S::Error> {
    kind.map(PipelineKind::name).serialize(serializer)
}

impl PipelineDiff {
    /// Returns whether anything except the layout differs.
    pub(super) fn has_content_change(&self) -> bool {
        !(self.components.is_empty()
            && self.links.is_empty()
            && self.variables.is_empty()
            && self.other.is_empty())
    }
}

impl PipelineDiff {
    pub(crate) fn is_new_pipeline(&self) -> bool {
        self.change == FileChange::Added
    }

    pub(crate) fn is_removed_pipeline(&self) -> bool {
        self.change == FileChange::Removed
    }
}

impl VariableDiff {
    /// Returns the differences to describe.
    pub(super) fn fields_to_tell(&self) -> &[FieldDiff] {
        self.told_fields.as_ref().unwrap_or(&self.fields)
    }
}

impl ComponentDiff {
    /// Returns the differences to describe.
    pub(super) fn fields_to_tell(&self) -> &[FieldDiff] {
        self.told_fields.as_ref().unwrap_or(&self.fields)
    }

    /// Returns a short description of the change to a component that both versions have, for its box in a picture: its
    /// old name if it was renamed, otherwise the names of the changed fields. A single field is described with its new
    /// value, unless this has several lines. Returns `None` if no field changed.
    pub(crate) fn describe_briefly(&self) -> Option<String> {
        if let Some(previous_name) = &self.previous_name {
            let (_, previous_text) = format_renamed_names(&self.name, previous_name);
            return Some(format!("was {previous_text}"));
        }
        let fields = self.fields_to_tell();
        let mut names: Vec<&str> = Vec::new();
        for name in fields.iter().filter_map(FieldDiff::short_name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        if let [field] = fields
            && let Some(new_value) = &field.after
            && new_value.find_multiline_text().is_none()
        {
            return Some(format!("{} \u{2192} {new_value}", names.first()?));
        }
        (!names.is_empty()).then(|| names.join(", "))
    }
}

impl FieldDiff {
    /// Returns the outermost list entry around the field that only one version has; `None` if both have all entries.
    pub(super) fn unpaired_entry(&self) -> Option<&EntryName> {
        self.entry_names.iter().find(|entry| entry.is_unpaired)
    }

    /// Returns the approximate size of the field in memory, in bytes. The names of rows and entries are shared.
    pub(super) fn byte_count(&self) -> usize {
        let key_bytes: usize = self.path.iter().filter_map(PathStep::as_key).map(str::len).sum();
        let value_bytes: usize = [&self.before, &self.after]
            .into_iter()
            .flatten()
            .map(Leaf::text_size)
            .sum();
        size_of::<Self>()
            + size_of_val(self.path.as_slice())
            + size_of_val(self.entry_names.as_slice())
            + key_bytes
            + value_bytes
    }

    /// Returns the name of the table row that contains the leaf, or else the last key of its path.
    fn short_name(&self) -> Option<&str> {
        let key = self.path.iter().rev().find_map(PathStep::as_key);
        self.row.as_deref().or(key)
    }
}
