//! Collects what a move changes in one file of the gate configuration, and what it must not rewrite.

use super::file_edit::{Referrer, ValueEdit, build_value_edit};
use super::kept_references::KeptReference;
use super::unparsable_mentions::find_line;
use sluicegate_base::globs::parse_glob;
use sluicegate_git::SnapshotFile;
use sluicegate_pipelines::file_moves::PathMove;
use sluicegate_pipelines::pipelines::trim_pipeline_extension;
use sluicegate_yaml::NodeRef;

/// The edits of one file, and its values that contain the old path but keep their text.
pub(super) struct GateEditBuilder<'m> {
    pub path: &'m str,
    pub path_move: &'m PathMove,
    pub moved_files: &'m [SnapshotFile],
    pub values: Vec<ValueEdit>,
    pub kept_references: Vec<KeptReference>,
}

impl GateEditBuilder<'_> {
    /// Adds the edit of a glob that the move affects. The glob is listed instead if it loses a moved file and cannot be
    /// rewritten, such as `{old,stage}/**`, `old/*` or `a[[]1].orch.yaml`. A glob with `**` is listed only if it
    /// contains the old path, because `old/**` is about a directory and not about the file. With `extension`, the glob
    /// may omit it.
    pub(super) fn add_glob(&mut self, node: NodeRef<'_, '_>, referrer: Referrer, extension: Option<&str>) {
        let edit = build_value_edit(node, referrer, &|glob| {
            self.path_move.call_glob_after_move(glob, extension)
        });
        match (edit, node.text()) {
            (Some(edit), _) => self.values.push(edit),
            (None, Some(glob))
                if (self.is_mention(glob) || !glob.contains("**")) && self.loses_moved_file(glob) =>
            {
                self.keep_value(node, glob, "the glob does not match the new path");
            }
            _ => {}
        }
    }

    /// Adds the edit of a path, if the move affects it.
    pub(super) fn add_path(&mut self, node: NodeRef<'_, '_>, referrer: Referrer) {
        let edit = build_value_edit(node, referrer, &|path| self.path_move.moved_path(path));
        self.values.extend(edit);
    }

    /// Lists a value that keeps its text, with the reason.
    pub(super) fn keep_value(&mut self, node: NodeRef<'_, '_>, target: &str, reason: &str) {
        self.kept_references.push(KeptReference {
            path: self.path.to_owned(),
            line: node.position().line,
            target: target.to_owned(),
            reason: reason.to_owned(),
        });
    }

    /// Returns whether the text contains the old path as a whole word, for a pipeline without its extension.
    pub(super) fn is_mention(&self, text: &str) -> bool {
        find_line(text.as_bytes(), trim_pipeline_extension(&self.path_move.old_path)).is_some()
    }

    /// Returns whether the glob matches a moved file, but not its new path.
    fn loses_moved_file(&self, glob: &str) -> bool {
        let Ok(glob) = parse_glob(glob) else {
            return false;
        };
        let matcher = glob.compile_matcher();
        self.moved_files.iter().any(|file| {
            matcher.is_match(&file.path) && !matcher.is_match(self.path_move.path_after_move(&file.path))
        })
    }
}
