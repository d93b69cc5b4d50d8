//! Finds the values to replace in the gate configuration if files move.

use super::file_edit::{FileEdit, Referrer, ValueEdit, build_file_edit, build_value_edit};
use super::gate_edit_builder::GateEditBuilder;
use super::gate_file_moves::{list_config_dirs, reject_gate_file_moves};
use super::kept_references::{KeptReference, UnreadFile};
use super::reference_reader::ReferenceReader;
use super::team_rule_edits::find_team_rule_edits;
use super::unparsable_mentions::reject_unparsable_path;
use crate::error::Failure;
use crate::job::settings::{GlobSubject, list_glob_keys};
use sluicegate_git::SnapshotFile;
use sluicegate_pipelines::file_moves::PathMove;
use sluicegate_pipelines::pipelines::{PipelineKind, SharedPipelines, shared_pipelines_path};
use sluicegate_pipelines::waivers::FILE_NAME;
use sluicegate_yaml::{DocumentError, NodeRef, Tree, is_blank};
use std::collections::BTreeSet;

/// The effects of a move on the gate configuration.
#[derive(Default)]
pub(super) struct GateFileEdits {
    pub edits: Vec<FileEdit>,
    /// The values that contain the old path but are not rewritten.
    pub kept_references: Vec<KeptReference>,
    pub unread_files: Vec<UnreadFile>,
}

/// Returns the edits of the gate configuration: the shared-pipelines file, the waivers file, `sluicegate.yaml` and the
/// team rules file. A missing file needs none. Fails if a file that cannot be parsed contains the old path, or if the
/// gate would no longer find a file.
pub(super) fn find_gate_file_edits(
    reader: &ReferenceReader<'_>,
    path_move: &PathMove,
    moved_files: &[SnapshotFile],
) -> Result<GateFileEdits, Failure> {
    let workspace = reader.workspace;
    let mut files: Vec<(String, FindEdits)> = Vec::new();
    for config_dir in list_config_dirs(reader)? {
        let path = shared_pipelines_path(&config_dir);
        files.push((path, find_shared_pipeline_edits));
    }
    files.push((FILE_NAME.to_owned(), find_waiver_edits));
    files.extend(
        workspace
            .config_file
            .clone()
            .map(|path| (path, find_setting_edits as FindEdits)),
    );
    files.extend(
        workspace
            .team_rules_path
            .clone()
            .map(|path| (path, find_team_rule_edits as FindEdits)),
    );
    let mut gate_edits = GateFileEdits::default();
    let mut read_paths = BTreeSet::new();
    for (path, find_edits) in files {
        // Two hidden links may lead to one file.
        let Some(file) = reader
            .find_gate_file(&path)?
            .filter(|file| read_paths.insert(file.path.clone()))
        else {
            continue;
        };
        let path = file.path.clone();
        let bytes = match reader.read_bytes(&file)? {
            Ok(bytes) => bytes,
            Err(error) => {
                let reason = error.message;
                gate_edits.unread_files.push(UnreadFile { path, reason });
                continue;
            }
        };
        let mut builder = GateEditBuilder {
            path: &path,
            path_move,
            moved_files,
            values: Vec::new(),
            kept_references: Vec::new(),
        };
        match find_edits(&bytes, &mut builder) {
            // A file with comments alone sets nothing.
            Err(_) if is_blank(&bytes) => {}
            Ok(()) => gate_edits.add_file(reader, bytes, builder)?,
            Err(error) => reject_unparsable_path(path_move, &path, &bytes, &error.message)?,
        }
    }
    let mut values = gate_edits.edits.iter().flat_map(|edit| &edit.values);
    let has_setting_edit = values.any(|value| value.referrer == Referrer::Setting);
    reject_gate_file_moves(reader, path_move, has_setting_edit)?;
    Ok(gate_edits)
}

impl GateFileEdits {
    /// Adds the edits of a file in file order. A value that YAML aliases share is added once.
    fn add_file(
        &mut self,
        reader: &ReferenceReader<'_>,
        bytes: Vec<u8>,
        builder: GateEditBuilder<'_>,
    ) -> Result<(), Failure> {
        let (mut values, mut kept_references) = (builder.values, builder.kept_references);
        values.sort_by_key(|value: &ValueEdit| value.position);
        values.dedup_by_key(|value| value.position);
        kept_references.sort_by_key(|reference| reference.line);
        self.edits
            .extend(build_file_edit(reader, builder.path, bytes, values)?);
        self.kept_references.extend(kept_references);
        Ok(())
    }
}

/// Finds the values of a file that contain a moved path. Fails if the file cannot be parsed.
type FindEdits = fn(&[u8], &mut GateEditBuilder<'_>) -> Result<(), DocumentError>;

/// Adds the edits of the shared-pipelines file: the paths of moved pipelines.
fn find_shared_pipeline_edits(bytes: &[u8], edits: &mut GateEditBuilder<'_>) -> Result<(), DocumentError> {
    for entry in SharedPipelines::parse(bytes)?.entries {
        if let Some(new) = edits.path_move.moved_path(&entry.pipeline) {
            edits.values.push(ValueEdit {
                referrer: Referrer::Shared,
                position: entry.pipeline_position,
                old: entry.pipeline,
                new,
            });
        }
    }
    Ok(())
}

/// Adds the edits of the waivers file: the globs in `path` that match moved files.
fn find_waiver_edits(bytes: &[u8], edits: &mut GateEditBuilder<'_>) -> Result<(), DocumentError> {
    let tree = Tree::parse(bytes)?;
    for waiver in tree.root().items().into_iter().flatten() {
        if let Some(node) = waiver.get("path") {
            edits.add_glob(node, Referrer::Waiver, None);
        }
    }
    Ok(())
}

/// Adds the edits of `sluicegate.yaml`: the globs that match moved files, and the path of a moved team rules file. Some
/// of these globs match the targets of calls, which may omit the extension.
fn find_setting_edits(bytes: &[u8], edits: &mut GateEditBuilder<'_>) -> Result<(), DocumentError> {
    let tree = Tree::parse(bytes)?;
    let extension = PipelineKind::from_path(&edits.path_move.old_path).map(PipelineKind::extension);
    for (key, subject) in list_glob_keys() {
        let omissible_extension = match subject {
            GlobSubject::Refs => continue,
            GlobSubject::Paths => None,
            GlobSubject::CallTargets => extension,
        };
        let mut parts = key.split('.');
        let Some(node) = parts.try_fold(tree.root(), NodeRef::get) else {
            continue;
        };
        for item in node.items().into_iter().flatten() {
            edits.add_glob(item, Referrer::Glob, omissible_extension);
        }
    }
    let review = tree.root().get("review");
    let team_rules = review.and_then(|section| section.get("team-rules"));
    // The value `off` is not a path, even if there is a file with that name.
    if let Some(node) = team_rules.filter(|node| node.text() != Some("off")) {
        let path_move = edits.path_move;
        edits
            .values
            .extend(build_value_edit(node, Referrer::Setting, &|path| {
                path_move.moved_path(path.trim_start_matches("./"))
            }));
    }
    Ok(())
}
