//! The model of a change.

use super::leaf::{Leaf, PathStep};
use crate::model::findings::{Changed, FileChange, Numbers};
use crate::model::pipelines::Kind;
use serde::{Serialize, Serializer};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ComponentChange {
    Added,
    Removed,
    Renamed,
    Modified,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum VariableChange {
    Added,
    Removed,
    Modified,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LinkChange {
    Added,
    Removed,
}

/// A leaf that differs. A side that does not have it has no value, which is not null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Field {
    /// From the component, the variable, or the document.
    pub path: Vec<PathStep>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Leaf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Leaf>,
    /// The first cell of the row of a list that it is in, for words.
    #[serde(skip)]
    pub row: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ComponentDiff {
    /// In the head; of one that is gone, in the base.
    pub name: String,
    /// In the base, of one that was renamed.
    pub previous_name: Option<String>,
    /// In the head; of one that is gone, in the base.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub change: ComponentChange,
    /// Whether a renamed component still has its old name in the parameter that repeats it, `componentName`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keeps_component_name: bool,
    /// Each leaf that differs, links aside.
    pub fields: Vec<Field>,
}

/// A link that came or went.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(crate) struct LinkDiff {
    /// The component that runs or gives first.
    pub from: String,
    /// The component that runs or takes next.
    pub to: String,
    /// The key of the transition, `iteration`, or `source`.
    pub kind: String,
    pub change: LinkChange,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct VariableDiff {
    pub name: String,
    pub change: VariableChange,
    pub fields: Vec<Field>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PipelineDiff {
    /// From the repository root; of a file that is gone, where it was.
    pub path: String,
    pub previous_path: Option<String>,
    pub change: FileChange,
    /// Which side cannot be read, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// In the head; of a file that is gone, in the base. None where it cannot be read.
    #[serde(rename = "type", serialize_with = "kind")]
    pub kind: Option<Kind>,
    /// In file order of the head, then those that are gone.
    pub components: Vec<ComponentDiff>,
    /// By name.
    pub links: Vec<LinkDiff>,
    /// In file order of the head, then those that are gone.
    pub variables: Vec<VariableDiff>,
    /// Each leaf that differs and stands nowhere above.
    pub other: Vec<Field>,
    /// Whether the canvas changed too, or the way the file is written.
    pub layout: bool,
}

#[expect(
    clippy::ref_option,
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field by reference"
)]
fn kind<S: Serializer>(kind: &Option<Kind>, serializer: S) -> Result<S::Ok, S::Error> {
    kind.map(Kind::name).serialize(serializer)
}

impl PipelineDiff {
    /// Whether the content differs in anything but layout.
    pub(super) fn has_content(&self) -> bool {
        !(self.components.is_empty()
            && self.links.is_empty()
            && self.variables.is_empty()
            && self.other.is_empty())
    }
}

impl PipelineDiff {
    /// How much of each kind changed.
    pub(crate) fn in_numbers(&self) -> Changed {
        let components = |change| self.components.iter().filter(|it| it.change == change).count();
        let links = |change| self.links.iter().filter(|it| it.change == change).count();
        let variables = |change| self.variables.iter().filter(|it| it.change == change).count();
        Changed {
            path: self.path.clone(),
            previous_path: self.previous_path.clone(),
            change: self.change,
            components: Numbers {
                added: components(ComponentChange::Added),
                removed: components(ComponentChange::Removed),
                renamed: components(ComponentChange::Renamed),
                modified: components(ComponentChange::Modified),
            },
            links: Numbers {
                added: links(LinkChange::Added),
                removed: links(LinkChange::Removed),
                ..Numbers::default()
            },
            variables: Numbers {
                added: variables(VariableChange::Added),
                removed: variables(VariableChange::Removed),
                modified: variables(VariableChange::Modified),
                ..Numbers::default()
            },
            other: self.other.len(),
            layout: self.layout,
            called_by: None,
            callers: Vec::new(),
        }
    }
}
