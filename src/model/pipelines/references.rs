//! The files that a pipeline names, and which files those are.

use super::model::{Argument, Call, Component, Kind, Pipeline, ReferenceKind};
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
    /// The variables of a called pipeline that the component sets.
    pub arguments: Box<[Argument]>,
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
    /// The pipelines that a file's call may mean.
    pub fn called<'r>(&self, files: &'r PipelineFiles<'_>, caller: &str) -> Vec<&'r str> {
        let (ReferenceKind::Pipeline(kind), ReferenceTarget::Path(target)) = (self.kind, &self.target) else {
            return Vec::new();
        };
        match files.resolve(target, kind, caller) {
            Resolved::File(path) | Resolved::Bare(path) => vec![path],
            Resolved::Ambiguous(paths) => paths.to_vec(),
            Resolved::Missing => Vec::new(),
        }
    }

    /// The path of the script that is named.
    pub fn script(&self) -> Option<&str> {
        match (self.kind, &self.target) {
            (ReferenceKind::Script, ReferenceTarget::Path(path)) => Some(path),
            _ => None,
        }
    }

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
            arguments: match call.kind {
                ReferenceKind::Pipeline(_) => component.arguments.clone().into(),
                ReferenceKind::Script => Box::default(),
            },
        }
    }
}

/// The pipeline files of a repository, to find those that a pipeline calls.
#[derive(Debug)]
pub struct PipelineFiles<'f> {
    /// By file name; the paths in the order given.
    by_name: HashMap<&'f str, Vec<&'f str>>,
}

/// What a call leads to.
#[derive(Debug, PartialEq, Eq)]
pub enum Resolved<'r> {
    File(&'r str),
    /// The call has a bare file name, and this is the file that is meant: the one beside the caller, else the only one of that
    /// name. The platform itself rewrites such calls, so nobody should rely on them.
    Bare(&'r str),
    /// There is none.
    Missing,
    /// A bare file name that several files have, none of them beside the caller.
    Ambiguous(&'r [&'r str]),
}

impl<'r> Resolved<'r> {
    /// The file that is called, if that is certain.
    pub const fn file(&self) -> Option<&'r str> {
        match self {
            Self::File(path) | Self::Bare(path) => Some(path),
            Self::Missing | Self::Ambiguous(_) => None,
        }
    }
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

    /// Returns the file that `target` calls from the file `caller`. Newer exports write the path with the kind's extension,
    /// older ones without.
    pub fn resolve(&self, target: &str, kind: Kind, caller: &str) -> Resolved<'_> {
        if is_named(target, kind) {
            let as_written = self.find(target, caller);
            if as_written != Resolved::Missing {
                return as_written;
            }
        }
        self.find(&format!("{target}{}", kind.extension()), caller)
    }

    /// The files of this kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &'f str> {
        let all = self.by_name.values().flatten().copied();
        all.filter(move |path| path.ends_with(kind.extension()))
    }

    /// The files with the name that `target` has, whatever their folder.
    pub fn of_name(&self, target: &str, kind: Kind) -> &[&'f str] {
        let named = |path: &str| self.by_name.get(file_name(path)).map(Vec::as_slice);
        let as_written = if is_named(target, kind) {
            named(target)
        } else {
            None
        };
        as_written
            .or_else(|| named(&format!("{target}{}", kind.extension())))
            .unwrap_or_default()
    }

    fn find(&self, path: &str, caller: &str) -> Resolved<'_> {
        let candidates: &[&str] = self.by_name.get(file_name(path)).map_or(&[], Vec::as_slice);
        if let Some(file) = candidates.iter().find(|candidate| **candidate == path) {
            return Resolved::File(file);
        }
        if path.contains('/') {
            return Resolved::Missing;
        }
        let folder = folder(caller);
        match candidates {
            [] => Resolved::Missing,
            [file] => Resolved::Bare(file),
            several => match several.iter().find(|file| self::folder(file) == folder) {
                Some(file) => Resolved::Bare(file),
                None => Resolved::Ambiguous(several),
            },
        }
    }
}

/// Whether the target has the kind's extension, and a name before it.
fn is_named(target: &str, kind: Kind) -> bool {
    let name = file_name(target).strip_suffix(kind.extension());
    name.is_some_and(|name| !name.is_empty())
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name of a file, without its folder.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{Orchestration, Transformation};

    #[test]
    #[expect(clippy::too_many_lines, reason = "a test tells its story in one piece")]
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
            files.resolve("twice.orch.yaml", Orchestration, "c/caller.orch.yaml"),
            Resolved::File("twice.orch.yaml.orch.yaml")
        );
        assert_eq!(
            files.resolve("a/load", Orchestration, "c/caller.orch.yaml"),
            Resolved::File("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("load", Orchestration, "c/caller.orch.yaml"),
            Resolved::Bare("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("load", Transformation, "c/caller.orch.yaml"),
            Resolved::Missing
        );
        assert_eq!(
            files.resolve("b/load", Orchestration, "c/caller.orch.yaml"),
            Resolved::Missing
        );
        assert_eq!(
            files.resolve("top", Orchestration, "c/caller.orch.yaml"),
            Resolved::File("top.orch.yaml")
        );
        assert_eq!(
            files.resolve("clean it", Transformation, "c/caller.orch.yaml"),
            Resolved::Ambiguous(&["a/clean it.tran.yaml", "b/clean it.tran.yaml"])
        );
        assert_eq!(
            files.resolve("clean it", Transformation, "b/caller.orch.yaml"),
            Resolved::Bare("b/clean it.tran.yaml")
        );
        // The same with the extension, as newer exports write it.
        assert_eq!(
            files.resolve("a/load.orch.yaml", Orchestration, "c/caller.orch.yaml"),
            Resolved::File("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("load.orch.yaml", Orchestration, "c/caller.orch.yaml"),
            Resolved::Bare("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("a/load.orch.yaml", Transformation, "c/caller.orch.yaml"),
            Resolved::Missing
        );
        assert_eq!(
            files.resolve("b/load.orch.yaml", Orchestration, "c/caller.orch.yaml"),
            Resolved::Missing
        );
        assert_eq!(
            files.resolve("clean it.tran.yaml", Transformation, "c/caller.orch.yaml"),
            Resolved::Ambiguous(&["a/clean it.tran.yaml", "b/clean it.tran.yaml"])
        );
        assert_eq!(
            files.resolve(".orch.yaml", Orchestration, "c/caller.orch.yaml"),
            Resolved::Missing
        );
        assert_eq!(
            files.resolve("", Orchestration, "c/caller.orch.yaml"),
            Resolved::Missing
        );
        assert_eq!(
            files.resolve("../load", Orchestration, "c/caller.orch.yaml"),
            Resolved::Missing
        );
    }
}
