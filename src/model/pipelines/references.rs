//! The files that a pipeline names, and which files those are.

use super::model::{Call, Component, Kind, Pipeline, ReferenceKind};
use crate::model::yaml::Position;
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReferenceTarget {
    /// A path from the repository root, or a bare file name.
    Path(String),
    /// A text with a variable in it (`${…}`), which is known only when the pipeline runs.
    Expression(String),
}

/// A component's mention of another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub kind: ReferenceKind,
    pub target: ReferenceTarget,
    pub position: Position,
    pub component: String,
}

impl Pipeline {
    /// The files that the components name, skipped components included: they may be switched on again, and a
    /// file too many does less harm than one too few.
    pub fn references(&self) -> Vec<Reference> {
        self.components
            .iter()
            .flat_map(|component| component.calls.iter().map(|call| Reference::new(component, call)))
            .collect()
    }
}

impl Reference {
    fn new(component: &Component, call: &Call) -> Self {
        let target = call.target.clone();
        Self {
            kind: call.kind,
            target: if target.contains("${") {
                ReferenceTarget::Expression(target)
            } else {
                ReferenceTarget::Path(target)
            },
            position: call.position,
            component: component.name.clone(),
        }
    }
}

/// The pipeline files of a repository, to find those that a pipeline calls.
#[derive(Debug)]
pub struct PipelineFiles<'f> {
    /// By file name; the paths in the order given.
    by_name: HashMap<&'f str, Vec<&'f str>>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Resolved<'r> {
    File(&'r str),
    /// There is none.
    Missing,
    /// A bare file name that several files have.
    Ambiguous(&'r [&'r str]),
}

impl<'f> PipelineFiles<'f> {
    /// From paths relative to the repository root, with `/`; those that are no pipelines are left out.
    pub fn new(paths: impl IntoIterator<Item = &'f str>) -> Self {
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in paths.into_iter().filter(|path| Kind::from_path(path).is_some()) {
            by_name.entry(file_name(path)).or_default().push(path);
        }
        Self { by_name }
    }

    /// Returns the file that `target` calls. Newer exports write the path with the kind's extension, older ones without;
    /// a bare file name is the one file of that name in any folder.
    pub fn resolve(&self, target: &str, kind: Kind) -> Resolved<'_> {
        if is_named(target, kind) {
            let as_written = self.find(target, target);
            if as_written != Resolved::Missing {
                return as_written;
            }
        }
        self.find(&format!("{target}{}", kind.extension()), target)
    }

    fn find(&self, path: &str, target: &str) -> Resolved<'_> {
        let candidates: &[&str] = self.by_name.get(file_name(path)).map_or(&[], Vec::as_slice);
        if let Some(file) = candidates.iter().find(|candidate| **candidate == path) {
            return Resolved::File(file);
        }
        match candidates {
            _ if target.contains('/') => Resolved::Missing,
            [] => Resolved::Missing,
            [file] => Resolved::File(file),
            several => Resolved::Ambiguous(several),
        }
    }
}

/// Whether the target has the kind's extension, and a name before it.
fn is_named(target: &str, kind: Kind) -> bool {
    let name = file_name(target).strip_suffix(kind.extension());
    name.is_some_and(|name| !name.is_empty())
}

fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Orchestration, Transformation};

    #[test]
    fn a_call_is_a_path_or_a_bare_file_name() {
        let files = PipelineFiles::new([
            "a/load.orch.yaml",
            "a/clean it.tran.yaml",
            "b/clean it.tran.yaml",
            "top.orch.yaml",
            "b/top.orch.yaml",
            "a/load.sql",
            "twice.orch.yaml.orch.yaml",
        ]);
        assert_eq!(
            files.resolve("twice.orch.yaml", Orchestration),
            Resolved::File("twice.orch.yaml.orch.yaml")
        );
        assert_eq!(
            files.resolve("a/load", Orchestration),
            Resolved::File("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("load", Orchestration),
            Resolved::File("a/load.orch.yaml")
        );
        assert_eq!(files.resolve("load", Transformation), Resolved::Missing);
        assert_eq!(files.resolve("b/load", Orchestration), Resolved::Missing);
        assert_eq!(
            files.resolve("top", Orchestration),
            Resolved::File("top.orch.yaml")
        );
        assert_eq!(
            files.resolve("clean it", Transformation),
            Resolved::Ambiguous(&["a/clean it.tran.yaml", "b/clean it.tran.yaml"])
        );
        // The same with the extension, as newer exports write it.
        assert_eq!(
            files.resolve("a/load.orch.yaml", Orchestration),
            Resolved::File("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("load.orch.yaml", Orchestration),
            Resolved::File("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("a/load.orch.yaml", Transformation),
            Resolved::Missing
        );
        assert_eq!(
            files.resolve("b/load.orch.yaml", Orchestration),
            Resolved::Missing
        );
        assert_eq!(
            files.resolve("clean it.tran.yaml", Transformation),
            Resolved::Ambiguous(&["a/clean it.tran.yaml", "b/clean it.tran.yaml"])
        );
        assert_eq!(files.resolve(".orch.yaml", Orchestration), Resolved::Missing);
        assert_eq!(files.resolve("", Orchestration), Resolved::Missing);
        assert_eq!(files.resolve("../load", Orchestration), Resolved::Missing);
    }
}
