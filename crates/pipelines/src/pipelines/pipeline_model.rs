//! The parts of a pipeline that the rules and the publisher read.

use super::subject_index::SubjectIndex;
use sluicegate_yaml::Position;
use std::collections::HashSet;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PipelineKind {
    /// An orchestration, whose components run one after the other: `*.orch.yaml`.
    Orchestration,
    /// A transformation, in which data flows from component to component: `*.tran.yaml`.
    Transformation,
}

/// Returns whether the path has the extension of a pipeline file.
pub fn is_pipeline(path: &str) -> bool {
    PipelineKind::from_path(path).is_some()
}

/// Returns the path of a pipeline without its extension, `.orch.yaml` or `.tran.yaml`. The path of another file is
/// returned unchanged.
pub fn trim_pipeline_extension(path: &str) -> &str {
    match PipelineKind::from_path(path) {
        Some(kind) => path.strip_suffix(kind.extension()).unwrap_or(path),
        None => path,
    }
}

impl PipelineKind {
    pub const ALL: [Self; 2] = [Self::Orchestration, Self::Transformation];

    /// Returns the kind that the extension of the path states; `None` if the file is not a pipeline.
    pub fn from_path(path: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| path.ends_with(kind.extension()))
    }

    /// Returns the extension of files of this kind.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Orchestration => ".orch.yaml",
            Self::Transformation => ".tran.yaml",
        }
    }

    /// Returns the kind as written in the `type` key.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orchestration => "orchestration",
            Self::Transformation => "transformation",
        }
    }

    /// Returns the name of the kind with its indefinite article.
    pub const fn name_with_article(self) -> &'static str {
        match self {
            Self::Orchestration => "an orchestration",
            Self::Transformation => "a transformation",
        }
    }
}

/// A pipeline without its layout.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// The kind of the pipeline, from the key `type`.
    pub kind: PipelineKind,
    /// The components, in file order.
    pub components: Vec<Component>,
    /// The variables, in file order.
    pub variables: Vec<PipelineVariable>,
}

/// The keys that name an entry of a list in a component, such as a parameter or a column.
pub(crate) const NAME_KEYS: [&str; 3] = ["name", "variable", "columnName"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Component {
    /// The name, which is the key in `pipeline.components`, as written.
    pub name: String,
    pub position: Position,
    /// The value of `type`, such as `end-success`.
    pub kind: Option<String>,
    /// Whether the component is skipped when the pipeline runs.
    pub skipped: bool,
    /// The links that the component declares, in file order. Broken links are included.
    pub links: Vec<Link>,
    /// The value of the parameter `concurrency`.
    pub concurrency: Option<String>,
    /// The variables that an iterator sets, for the known types of iterator.
    pub iteration_variables: Vec<String>,
    pub calls: Vec<Call>,
    /// The variables of the called pipelines that the component sets.
    pub arguments: Vec<CallArgument>,
}

/// A variable of the called pipeline that a call sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallArgument {
    pub name: String,
    pub position: Position,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkRole {
    /// A link to a component that runs after this one.
    Transition,
    /// A link to the component that an iterator or a retry wraps.
    IterationTarget,
    /// A link to a component that feeds this one.
    Source,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransitionCondition {
    Unconditional,
    Success,
    Failure,
    /// The transition is taken if the component's condition is met.
    True,
    /// The transition is taken if the component's condition is not met.
    False,
}

impl TransitionCondition {
    const ALL: [Self; 5] = [
        Self::Unconditional,
        Self::Success,
        Self::Failure,
        Self::True,
        Self::False,
    ];

    /// Returns the condition with this key in the `transitions` of a component; `None` for an unknown key. The case of
    /// the key has no effect.
    pub(crate) fn from_key(key: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|condition| condition.key().eq_ignore_ascii_case(key))
    }

    /// Returns the key for this condition in the `transitions` of a component.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Unconditional => "unconditional",
            Self::Success => "success",
            Self::Failure => "failure",
            Self::True => "true",
            Self::False => "false",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub role: LinkRole,
    /// The condition of a transition; `None` for other links.
    pub condition: Option<TransitionCondition>,
    /// The name of the other component, which may not exist.
    pub name: String,
    /// True if the name is a null value in the file. Its text, such as `null`, is a name only if a component has it.
    pub is_null: bool,
    pub position: Position,
}

impl Link {
    /// Returns whether the name of the linked component is null or blank. Such a link is valid only if a
    /// component really has this name.
    pub(crate) fn is_blank(&self) -> bool {
        self.is_null || self.name.trim().is_empty()
    }
}

/// The kind of a referenced file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReferenceKind {
    /// A pipeline of this kind, by its path without extension.
    Pipeline(PipelineKind),
    Script,
}

impl ReferenceKind {
    /// Returns the target of a reference of this kind as written, with the extension of the called pipeline, and
    /// without the extension. The globs of external paths match any of them.
    pub fn list_spellings(self, target: &str) -> Vec<String> {
        let name_start = target.rfind('/').map_or(0, |slash_index| slash_index + 1);
        let short_target = match self {
            Self::Pipeline(kind) => target.strip_suffix(kind.extension()),
            Self::Script => target.rsplit_once('.').map(|(start, _)| start),
        };
        let mut spellings = vec![target.to_owned()];
        // A name that begins with the dot has no extension.
        spellings.extend(
            short_target
                .filter(|short_target| short_target.len() > name_start)
                .map(str::to_owned),
        );
        if let Self::Pipeline(kind) = self {
            spellings.push(format!("{target}{}", kind.extension()));
        }
        spellings
    }
}

/// A component's reference to another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub kind: ReferenceKind,
    pub target: String,
    pub position: Position,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineVariable {
    /// The name, which is the key in `pipeline.variables`, as written.
    pub name: String,
    pub position: Position,
    /// The value of `scope`, such as `COPIED`.
    pub scope: Option<String>,
}

impl Pipeline {
    pub(crate) fn component_names(&self) -> HashSet<&str> {
        self.components
            .iter()
            .map(|component| component.name.as_str())
            .collect()
    }

    /// Builds the index that finds the component or variable that the text of a violation names.
    pub fn build_subject_index(&self) -> SubjectIndex {
        let components = self.components.iter();
        let variables = self.variables.iter();
        SubjectIndex::new(
            components.map(|component| (component.name.as_str(), component.position.line)),
            variables.map(|variable| (variable.name.as_str(), variable.position.line)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_of_path_is_determined_by_whole_extension() {
        assert_eq!(
            PipelineKind::from_path("a/b.orch.yaml"),
            Some(PipelineKind::Orchestration)
        );
        assert_eq!(
            PipelineKind::from_path("b.tran.yaml"),
            Some(PipelineKind::Transformation)
        );
        for other in [
            "b.yaml",
            "orch.yaml",
            "b.orch.yml",
            "b.orch.yaml.txt",
            "b.ORCH.YAML",
            "",
        ] {
            assert_eq!(PipelineKind::from_path(other), None, "{other}");
        }
    }
}
