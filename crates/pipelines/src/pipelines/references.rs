//! The files that a pipeline refers to, and how they are found.

use super::pipeline_model::{Call, CallArgument, Component, Pipeline, PipelineKind, ReferenceKind};
use sluicegate_yaml::Position;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ReferenceTarget {
    /// A path from the repository root, or a file name without a directory.
    Path(String),
    /// A text that contains a variable (`${…}`), whose value is known only when the pipeline runs.
    Expression(String),
}

/// A component's reference to another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub kind: ReferenceKind,
    pub target: ReferenceTarget,
    pub position: Position,
    /// The component's name, which all of its references share.
    pub component: Arc<str>,
    /// The variables of the called pipeline that the component sets.
    pub arguments: Box<[CallArgument]>,
}

impl Pipeline {
    /// Returns the references of all components to other files. Skipped components are included, because they may be
    /// enabled again: to publish an unneeded file does less harm than to omit a needed one.
    pub fn list_references(&self) -> Vec<Reference> {
        self.components
            .iter()
            .flat_map(|component| {
                let name: Arc<str> = component.name.as_str().into();
                let calls = component.calls.iter();
                calls.map(move |call| Reference::new(&name, component, call))
            })
            .collect()
    }
}

impl Reference {
    /// Finds the pipeline that this reference in the file `caller` means. Returns `Missing` for a script, which is not
    /// a pipeline, and for an expression, whose value is unknown.
    pub fn resolve<'r>(&self, files: &'r PipelineFiles<'_>, caller: &str) -> CallResolution<'r> {
        match (self.kind, &self.target) {
            (ReferenceKind::Pipeline(kind), ReferenceTarget::Path(target)) => {
                files.resolve(target, kind, caller)
            }
            _ => CallResolution::Missing,
        }
    }

    /// Returns the path of the referenced script; `None` for a pipeline or an expression.
    pub fn script_path(&self) -> Option<&str> {
        match (self.kind, &self.target) {
            (ReferenceKind::Script, ReferenceTarget::Path(path)) => Some(path),
            _ => None,
        }
    }

    /// Creates the reference for a call of a component. `name` is the component's name, which its references share. A
    /// target with `${` is an expression, whose value is unknown.
    fn new(name: &Arc<str>, component: &Component, call: &Call) -> Self {
        let target = call.target.clone();
        Self {
            kind: call.kind,
            target: if is_expression(&target) {
                ReferenceTarget::Expression(target)
            } else {
                ReferenceTarget::Path(target)
            },
            position: call.position,
            component: Arc::clone(name),
            arguments: match call.kind {
                ReferenceKind::Pipeline(_) => component.arguments.clone().into(),
                ReferenceKind::Script => Box::default(),
            },
        }
    }
}

/// A walk along calls. Thousands of calls may mean thousands of files of one name each, so a walk visits the files of
/// an ambiguous name only once.
#[derive(Debug, Default)]
pub struct CallWalk<'r> {
    visited_names: HashSet<&'r str>,
}

impl<'r> CallWalk<'r> {
    /// Returns the pipelines that a reference in the file `caller` may mean. The files with an ambiguous name are
    /// returned only for the first reference to this name, because the walk needs each file only once.
    pub fn list_called_pipelines(
        &mut self,
        files: &'r PipelineFiles<'_>,
        reference: &Reference,
        caller: &str,
    ) -> Vec<&'r str> {
        match reference.resolve(files, caller) {
            CallResolution::File(path) | CallResolution::ByName(path) => vec![path],
            CallResolution::Ambiguous(paths) => {
                let name = paths.first().map(|path| file_name(path));
                let is_new = name.is_some_and(|name| self.visited_names.insert(name));
                if is_new { paths.to_vec() } else { Vec::new() }
            }
            CallResolution::Missing => Vec::new(),
        }
    }
}

/// The pipeline files of a repository, used to find called pipelines.
#[derive(Debug)]
pub struct PipelineFiles<'f> {
    /// The paths by file name, in the given order.
    by_name: HashMap<&'f str, Vec<&'f str>>,
    /// All paths, sorted.
    paths: Vec<&'f str>,
}

/// The result of resolving a call.
#[derive(Debug, PartialEq, Eq)]
pub enum CallResolution<'r> {
    File(&'r str),
    /// The call contains only a file name. It means this file: the one in the caller's directory, otherwise the only
    /// file with that name. The platform itself rewrites such calls, so nobody should rely on them.
    ByName(&'r str),
    /// No pipeline matches the call.
    Missing,
    /// The call contains only a file name that several files have, none of them in the caller's directory.
    Ambiguous(&'r [&'r str]),
}

impl<'r> CallResolution<'r> {
    /// Returns the called file; `None` if it is missing or ambiguous.
    pub const fn file(&self) -> Option<&'r str> {
        match self {
            Self::File(path) | Self::ByName(path) => Some(path),
            Self::Missing | Self::Ambiguous(_) => None,
        }
    }
}

impl<'f> PipelineFiles<'f> {
    /// Creates the index from paths relative to the repository root, with `/`; files that are not pipelines are
    /// skipped.
    pub fn new(paths: impl IntoIterator<Item = &'f str>) -> Self {
        let paths = paths.into_iter();
        let (expected_count, _) = paths.size_hint();
        let mut by_name: HashMap<&str, Vec<&str>> = HashMap::with_capacity(expected_count);
        let mut all_paths = Vec::with_capacity(expected_count);
        for path in paths.filter(|path| PipelineKind::from_path(path).is_some()) {
            by_name.entry(file_name(path)).or_default().push(path);
            all_paths.push(path);
        }
        all_paths.sort_unstable();
        Self {
            by_name,
            paths: all_paths,
        }
    }

    /// Returns the file that `target` in the file `caller` refers to. Tries the target as written and with the kind's
    /// extension added, because older exports write it without an extension.
    pub fn resolve(&self, target: &str, kind: PipelineKind, caller: &str) -> CallResolution<'_> {
        if has_name_and_extension(target, kind) {
            let literal_resolution = self.resolve_path(target, caller);
            if literal_resolution != CallResolution::Missing {
                return literal_resolution;
            }
        }
        self.resolve_path(&format!("{target}{}", kind.extension()), caller)
    }

    /// Returns the target that replaces `old_target` in `caller` to call the file at `path`: the complete path, with
    /// the extension if `old_target` has it in any letter case. If this target does not call the file, adds or removes
    /// the extension. Returns `None` if neither target calls the file, or if the path would be read as an expression.
    pub(crate) fn find_call_target(
        &self,
        old_target: &str,
        kind: PipelineKind,
        path: &str,
        caller: &str,
    ) -> Option<String> {
        if is_expression(path) {
            return None;
        }
        let short_path = path.strip_suffix(kind.extension())?;
        let mut candidates = [short_path, path];
        if trim_extension_of_any_case(old_target, kind).is_some() {
            candidates.reverse();
        }
        candidates
            .into_iter()
            .find(|candidate| self.resolve(candidate, kind, caller) == CallResolution::File(path))
            .map(str::to_owned)
    }

    /// Returns the paths of all pipelines, sorted.
    pub(crate) fn paths(&self) -> &[&'f str] {
        &self.paths
    }

    /// Returns whether the repository has a pipeline with this path.
    pub(crate) fn has_path(&self, path: &str) -> bool {
        self.file_at(path).is_some()
    }

    /// Returns whether the folder of `caller` contains another pipeline with the name of this file in the root.
    pub(crate) fn has_file_of_same_name_beside(&self, caller: &str, path: &str) -> bool {
        let sibling = sibling_path(caller, path);
        !path.contains('/') && sibling != path && self.has_path(&sibling)
    }

    /// Returns the paths of all pipelines of this kind, in no particular order.
    pub(crate) fn files_of_kind(&self, kind: PipelineKind) -> impl Iterator<Item = &'f str> {
        self.by_name
            .values()
            .flatten()
            .copied()
            .filter(move |path| path.ends_with(kind.extension()))
    }

    /// Returns the paths of the files in any directory that have the file name of `target`, whose extension may be
    /// written in any letter case. If there are none, or if the target has no extension, returns the files whose name
    /// is that of the target plus the kind's extension.
    pub(crate) fn files_named(&self, target: &str, kind: PipelineKind) -> &[&'f str] {
        let find_paths = |path: &str| self.by_name.get(file_name(path)).map(Vec::as_slice);
        find_paths(&complete_path(target, kind))
            .or_else(|| find_paths(&format!("{target}{}", kind.extension())))
            .unwrap_or_default()
    }

    /// Returns the kind of the pipeline with exactly this path if it is another one than `kind`, as which a call of
    /// that kind cannot find it.
    pub fn find_other_kind(&self, path: &str, kind: PipelineKind) -> Option<PipelineKind> {
        PipelineKind::from_path(self.file_at(path)?).filter(|file_kind| *file_kind != kind)
    }

    /// Returns the pipeline with exactly this path, by a binary search in the sorted paths.
    fn file_at(&self, path: &str) -> Option<&'f str> {
        let index = self.paths.binary_search(&path).ok()?;
        self.paths.get(index).copied()
    }

    /// Returns the file that the path means in a call by `caller`. A path with a directory must be exact. A name
    /// without a directory means the only file with that name or, if there are several, the file in the caller's
    /// directory.
    fn resolve_path(&self, path: &str, caller: &str) -> CallResolution<'_> {
        if let Some(file) = self.file_at(path) {
            return CallResolution::File(file);
        }
        if path.contains('/') {
            return CallResolution::Missing;
        }
        match self.by_name.get(path).map_or(&[][..], Vec::as_slice) {
            [] => CallResolution::Missing,
            [file] => CallResolution::ByName(file),
            paths => match self.file_at(&sibling_path(caller, path)) {
                Some(file) => CallResolution::ByName(file),
                None => CallResolution::Ambiguous(paths),
            },
        }
    }
}

/// Returns whether the text of a reference contains a variable, so that it is not read as a path.
pub(crate) fn is_expression(target: &str) -> bool {
    target.contains("${")
}

/// Returns whether the target ends in the kind's extension and has a file name before it. Only such a target can be a
/// path without adding the extension.
fn has_name_and_extension(target: &str, kind: PipelineKind) -> bool {
    let name = file_name(target).strip_suffix(kind.extension());
    name.is_some_and(|name| !name.is_empty())
}

/// Returns the target without the kind's extension, which may be written in any letter case. Returns `None` if the
/// target has no such extension, or no file name before it.
fn trim_extension_of_any_case(target: &str, kind: PipelineKind) -> Option<&str> {
    let extension = kind.extension();
    let stem_length = target.len().checked_sub(extension.len())?;
    let (stem, end) = target.split_at_checked(stem_length)?;
    (end.eq_ignore_ascii_case(extension) && !file_name(stem).is_empty()).then_some(stem)
}

/// Returns the target of a call with the extension of its kind. An extension in another letter case is replaced.
pub(crate) fn complete_path(target: &str, kind: PipelineKind) -> String {
    let stem = trim_extension_of_any_case(target, kind).unwrap_or(target);
    format!("{stem}{}", kind.extension())
}

/// Returns the path of a file with this name in the directory of `caller`.
pub(crate) fn sibling_path(caller: &str, name: &str) -> String {
    let directory = caller.rsplit_once('/').map(|(directory, _)| directory);
    directory.map_or_else(|| name.to_owned(), |directory| format!("{directory}/{name}"))
}

/// Returns the name of a file, without its directory.
pub fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use PipelineKind::{Orchestration, Transformation};

    #[test]
    #[expect(clippy::too_many_lines, reason = "a test tells its story in one piece")]
    fn call_is_resolved_by_path_or_file_name() {
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
            CallResolution::File("twice.orch.yaml.orch.yaml")
        );
        assert_eq!(
            files.resolve("a/load", Orchestration, "c/caller.orch.yaml"),
            CallResolution::File("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("load", Orchestration, "c/caller.orch.yaml"),
            CallResolution::ByName("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("load", Transformation, "c/caller.orch.yaml"),
            CallResolution::Missing
        );
        assert_eq!(
            files.resolve("b/load", Orchestration, "c/caller.orch.yaml"),
            CallResolution::Missing
        );
        assert_eq!(
            files.resolve("top", Orchestration, "c/caller.orch.yaml"),
            CallResolution::File("top.orch.yaml")
        );
        assert_eq!(
            files.resolve("clean it", Transformation, "c/caller.orch.yaml"),
            CallResolution::Ambiguous(&["a/clean it.tran.yaml", "b/clean it.tran.yaml"])
        );
        assert_eq!(
            files.resolve("clean it", Transformation, "b/caller.orch.yaml"),
            CallResolution::ByName("b/clean it.tran.yaml")
        );
        // The call with the extension, as newer exports write it.
        assert_eq!(
            files.resolve("a/load.orch.yaml", Orchestration, "c/caller.orch.yaml"),
            CallResolution::File("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("load.orch.yaml", Orchestration, "c/caller.orch.yaml"),
            CallResolution::ByName("a/load.orch.yaml")
        );
        assert_eq!(
            files.resolve("a/load.orch.yaml", Transformation, "c/caller.orch.yaml"),
            CallResolution::Missing
        );
        assert_eq!(
            files.resolve("b/load.orch.yaml", Orchestration, "c/caller.orch.yaml"),
            CallResolution::Missing
        );
        assert_eq!(
            files.resolve("clean it.tran.yaml", Transformation, "c/caller.orch.yaml"),
            CallResolution::Ambiguous(&["a/clean it.tran.yaml", "b/clean it.tran.yaml"])
        );
        assert_eq!(
            files.resolve(".orch.yaml", Orchestration, "c/caller.orch.yaml"),
            CallResolution::Missing
        );
        assert_eq!(
            files.resolve("", Orchestration, "c/caller.orch.yaml"),
            CallResolution::Missing
        );
        assert_eq!(
            files.resolve("../load", Orchestration, "c/caller.orch.yaml"),
            CallResolution::Missing
        );
    }

    #[test]
    fn walk_visits_files_of_ambiguous_name_once() {
        let paths: Vec<String> = (0..300)
            .map(|number| format!("d{number}/main.orch.yaml"))
            .collect();
        let files = PipelineFiles::new(paths.iter().map(String::as_str));
        let reference = Reference {
            kind: ReferenceKind::Pipeline(Orchestration),
            target: ReferenceTarget::Path("main".to_owned()),
            position: Position { line: 1, column: 1 },
            component: "Call".into(),
            arguments: Box::default(),
        };
        let mut walk = CallWalk::default();
        let called = (0..2000).map(|_| {
            walk.list_called_pipelines(&files, &reference, "caller.orch.yaml")
                .len()
        });
        assert_eq!(called.sum::<usize>(), 300);
        // The file beside the caller is the only one that this call means.
        assert_eq!(
            walk.list_called_pipelines(&files, &reference, "d7/caller.orch.yaml"),
            ["d7/main.orch.yaml"]
        );
    }
}
