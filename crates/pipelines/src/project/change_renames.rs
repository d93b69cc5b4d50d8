//! The names that a change gives to pipelines, scripts and components, the files that it deletes, and the pipelines that
//! calls meant before it.

use crate::pipelines::{PipelineKind, Reference, file_name};
use std::collections::BTreeMap;

/// The pipelines, scripts and components that the change renames, and the files that it deletes.
pub struct Renames<'p> {
    /// The new path of each renamed pipeline, by its old path.
    pub pipelines: BTreeMap<String, String>,
    /// Returns whether it is uncertain that the file at this new path was renamed: another file of the change may be
    /// the old or the new one.
    pub is_uncertain: &'p dyn Fn(&str) -> bool,
    /// Returns the new name of a component of the pipeline at this path, given the old name.
    pub find_component_name: &'p dyn Fn(&str, &str) -> Option<String>,
    /// Returns the new path of a file that is not a pipeline, given the old path.
    pub find_script_path: &'p dyn Fn(&str) -> Option<String>,
    /// Returns whether the change deletes the pipeline or script at this path.
    pub is_deleted: &'p dyn Fn(&str) -> bool,
}

/// The pipeline that a call meant before the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierCallee {
    /// The path before the change.
    pub path: String,
    /// The new path if the change renamed the pipeline.
    pub new_path: Option<String>,
    /// True if the change deleted the pipeline.
    pub deleted: bool,
    /// False if several pipelines had the name, so that the call could mean any of them.
    pub is_certain: bool,
}

impl EarlierCallee {
    /// Returns whether the change broke the call: it certainly meant a pipeline that no longer exists at its path.
    pub(super) const fn is_broken_call(&self) -> bool {
        self.is_certain && (self.deleted || self.new_path.is_some())
    }
}

/// Returns the pipeline that a call in the pipeline at this path meant before the change. Returns `None` if the call
/// still means the same pipeline, whose path is the last argument, or if it meant none.
pub type FindEarlierCallee<'f> = dyn Fn(&str, &Reference, Option<&str>) -> Option<EarlierCallee> + 'f;

impl Renames<'_> {
    /// No renames and no deleted files, for a check that compares no versions.
    pub const NONE: Renames<'static> = Renames {
        pipelines: BTreeMap::new(),
        is_uncertain: &|_| false,
        find_component_name: &|_, _| None,
        find_script_path: &|_| None,
        is_deleted: &|_| false,
    };

    /// Returns the new path of the pipeline that a call of `target` means, if the change renames this pipeline. The
    /// target may omit the extension. A target without a directory means the only renamed pipeline with that file name;
    /// the result is `None` if there are several.
    pub(crate) fn find_new_pipeline_path(&self, target: &str, kind: PipelineKind) -> Option<&str> {
        let full_target = format!("{target}{}", kind.extension());
        let mut old_paths = vec![target, &full_target];
        old_paths.retain(|path| path.ends_with(kind.extension()));
        let new_path = old_paths.iter().find_map(|path| self.pipelines.get(*path));
        if new_path.is_some() || target.contains('/') {
            return new_path.map(String::as_str);
        }
        let mut candidates = self
            .pipelines
            .iter()
            .filter(|(old_path, _)| old_paths.contains(&file_name(old_path)));
        match (candidates.next(), candidates.next()) {
            (Some((_, new_path)), None) => Some(new_path),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn call_means_renamed_pipeline_of_its_kind() {
        let renames = Renames {
            pipelines: BTreeMap::from([("a/load.tran.yaml".to_owned(), "a/new.tran.yaml".to_owned())]),
            ..Renames::NONE
        };
        let find = |target, kind| renames.find_new_pipeline_path(target, kind);
        for target in ["load", "load.tran.yaml", "a/load"] {
            assert_eq!(
                find(target, PipelineKind::Transformation),
                Some("a/new.tran.yaml"),
                "{target}"
            );
            assert_eq!(find(target, PipelineKind::Orchestration), None, "{target}");
        }
    }
}
