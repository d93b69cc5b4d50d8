//! The names that a change gives to pipelines and components.

use super::messages::{REPAIR_HINT, rename_hint};
use crate::pipelines::{PipelineFiles, PipelineKind, file_name};
use std::collections::BTreeMap;

/// The pipelines and components that the change renames.
pub struct Renames<'p> {
    /// The new path of each renamed pipeline, by its old path.
    pub pipelines: BTreeMap<String, String>,
    /// Returns the new name of a component of the pipeline at this path, given the old name.
    pub find_component_name: &'p dyn Fn(&str, &str) -> Option<String>,
}

impl Renames<'_> {
    /// Returns the help for a broken call of a pipeline that the change renames.
    pub(super) fn call_hint(
        &self,
        files: &PipelineFiles<'_>,
        target: &str,
        kind: PipelineKind,
    ) -> Option<String> {
        let new = self.find_new_pipeline_path(target, kind)?;
        let is_only = matches!(files.files_named(target, kind), [one] if *one == new);
        Some(rename_hint(new) + if is_only { REPAIR_HINT } else { "" })
    }

    /// Returns the help for a broken link to a component that the change renames.
    pub(super) fn link_hint(&self, path: &str, name: &str) -> Option<String> {
        (self.find_component_name)(path, name).map(|new| rename_hint(&new))
    }

    /// Returns the new path of the pipeline that a call means, if the change renames it. The call may omit the
    /// extension. A call without a directory means the only renamed pipeline of that file name.
    fn find_new_pipeline_path(&self, target: &str, kind: PipelineKind) -> Option<&str> {
        let with_extension = format!("{target}{}", kind.extension());
        let new = [target, &with_extension]
            .into_iter()
            .filter(|path| path.ends_with(kind.extension()))
            .find_map(|path| self.pipelines.get(path));
        if new.is_some() || target.contains('/') {
            return new.map(String::as_str);
        }
        let mut candidates = self
            .pipelines
            .iter()
            .filter(|(old, _)| [target, &with_extension].contains(&file_name(old)));
        match (candidates.next(), candidates.next()) {
            (Some((_, new)), None) => Some(new),
            _ => None,
        }
    }
}
