//! Finds the values to replace in the gate configuration if files move.

use super::file_edit::{FileEdit, Referrer, ValueEdit, build_file_edit, build_value_edit};
use super::kept_references::UnreadFile;
use super::reference_reader::ReferenceReader;
use super::team_rule_edits::find_team_rule_edits;
use super::unparsed_mentions::reject_unparsed_path;
use crate::error::Failure;
use crate::job::settings::list_path_glob_keys;
use sluicegate_pipelines::file_moves::PathMove;
use sluicegate_pipelines::pipelines::{PipelineKind, SHARED_PIPELINES_FILE, SharedPipelines};
use sluicegate_pipelines::waivers::FILE_NAME;
use sluicegate_yaml::{DocumentError, NodeRef, Tree, is_blank};

/// Returns the edits of the gate configuration: the shared-pipelines file, the waivers file, `sluicegate.yaml` and the
/// team rules file. A missing file needs none. Fails if a file that cannot be parsed contains the old path.
pub(super) fn find_gate_file_edits(
    reader: &ReferenceReader<'_>,
    moves: &PathMove,
    unread_files: &mut Vec<UnreadFile>,
) -> Result<Vec<FileEdit>, Failure> {
    let config_dir = reader.workspace.find_config_dir(reader.snapshot)?;
    let shared_path = config_dir.map(|config_dir| format!("{config_dir}/{SHARED_PIPELINES_FILE}"));
    let config_file = reader.workspace.config_file.as_deref();
    let files: [(Option<&str>, FindEdits); 4] = [
        (shared_path.as_deref(), find_shared_pipeline_edits),
        (Some(FILE_NAME), find_waiver_edits),
        (config_file, find_setting_edits),
        (reader.workspace.team_rules_path.as_deref(), find_team_rule_edits),
    ];
    let mut edits = Vec::new();
    for (path, find_edits) in files {
        let Some(path) = path else { continue };
        let Some(file) = reader.find_gate_file(path)? else {
            continue;
        };
        let path = file.path.clone();
        let bytes = match reader.read_bytes(&file)? {
            Ok(bytes) => bytes,
            Err(error) => {
                let reason = error.message;
                unread_files.push(UnreadFile { path, reason });
                continue;
            }
        };
        match find_edits(&bytes, moves) {
            // A file with comments alone sets nothing.
            Err(_) if is_blank(&bytes) => {}
            Ok(values) => edits.extend(build_file_edit(reader, &path, bytes, values)?),
            Err(error) => reject_unparsed_path(moves, &path, &bytes, &error.message)?,
        }
    }
    Ok(edits)
}

/// Finds the values of a file that contain a moved path. Fails if the file cannot be parsed.
type FindEdits = fn(&[u8], &PathMove) -> Result<Vec<ValueEdit>, DocumentError>;

/// Returns the edits of the shared-pipelines file: the paths of moved pipelines.
fn find_shared_pipeline_edits(bytes: &[u8], moves: &PathMove) -> Result<Vec<ValueEdit>, DocumentError> {
    let edits = SharedPipelines::parse(bytes)?
        .entries
        .into_iter()
        .filter_map(|entry| {
            Some(ValueEdit {
                referrer: Referrer::Shared,
                position: entry.pipeline_position,
                new: moves.moved_path(&entry.pipeline)?,
                old: entry.pipeline,
            })
        })
        .collect();
    Ok(edits)
}

/// Returns the edits of the waivers file: the globs in `path` that match moved files.
fn find_waiver_edits(bytes: &[u8], moves: &PathMove) -> Result<Vec<ValueEdit>, DocumentError> {
    let tree = Tree::parse(bytes)?;
    let paths = tree
        .root()
        .items()
        .into_iter()
        .flatten()
        .filter_map(|item| item.get("path"));
    Ok(paths
        .filter_map(|node| build_value_edit(node, Referrer::Waiver, &|glob| moves.glob_after_move(glob)))
        .collect())
}

/// Returns the edits of `sluicegate.yaml`: the globs that match moved files, and the path of a moved team rules file.
/// Some of these globs match the targets of calls, which may omit the extension.
fn find_setting_edits(bytes: &[u8], moves: &PathMove) -> Result<Vec<ValueEdit>, DocumentError> {
    let tree = Tree::parse(bytes)?;
    let extension = PipelineKind::from_path(&moves.old_path).map(PipelineKind::extension);
    let mut edits = Vec::new();
    for (key, has_call_globs) in list_path_glob_keys() {
        let mut parts = key.split('.');
        let Some(node) = parts.try_fold(tree.root(), NodeRef::get) else {
            continue;
        };
        let extension = extension.filter(|_| has_call_globs);
        edits.extend(node.items().into_iter().flatten().filter_map(|item| {
            build_value_edit(item, Referrer::Glob, &|glob| {
                moves.call_glob_after_move(glob, extension)
            })
        }));
    }
    let review = tree.root().get("review");
    if let Some(team_rules) = review.and_then(|section| section.get("team-rules")) {
        edits.extend(build_value_edit(team_rules, Referrer::Setting, &|path| {
            moves.moved_path(path.trim_start_matches("./"))
        }));
    }
    edits.sort_by_key(|edit: &ValueEdit| edit.position);
    Ok(edits)
}
