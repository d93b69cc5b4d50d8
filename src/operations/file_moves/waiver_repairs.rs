//! Finds the waivers that follow the pipelines that the change renamed.

use super::file_edit::{Referrer, build_value_edit};
use super::gate_file_edits::GateFileEdits;
use super::kept_references::{KeptReference, UnreadFile};
use super::reference_reader::ReferenceReader;
use super::repair_edits::{build_repair_edit, describe_repair_error};
use crate::error::Failure;
use crate::job::cli::GlobArgs;
use crate::job::settings::SelectionPurpose;
use sluicegate_base::globs::escape_glob;
use sluicegate_pipelines::file_moves::RepairError;
use sluicegate_pipelines::project::Renames;
use sluicegate_pipelines::waivers::FILE_NAME;
use sluicegate_yaml::{DocumentError, NodeRef, Tree, is_blank};
use std::collections::{BTreeSet, HashMap};

/// Returns the edits of waivers whose path is that of a renamed pipeline. A waiver whose path is a glob for other files,
/// too, stays as it is. The same applies to a waiver at a path that the globs of `sluicegate.yaml` exclude: it did not
/// allow anything there, so it must not allow a finding at the new path. If the rename is uncertain, the waiver is
/// listed instead.
pub(super) fn find_waiver_repairs(
    reader: &ReferenceReader<'_>,
    renames: &Renames<'_>,
) -> Result<GateFileEdits, Failure> {
    let mut gate_edits = GateFileEdits::default();
    let new_paths = map_globs_to_new_paths(reader, renames)?;
    if new_paths.is_empty() {
        return Ok(gate_edits);
    }
    let Some(file) = reader.find_gate_file(FILE_NAME)? else {
        return Ok(gate_edits);
    };
    let bytes = match reader.read_bytes(&file)? {
        Ok(bytes) if is_blank(&bytes) => return Ok(gate_edits),
        Ok(bytes) => bytes,
        Err(error) => return Ok(list_unread_file(file.path, error)),
    };
    let tree = match Tree::parse(&bytes) {
        Ok(tree) => tree,
        Err(error) => return Ok(list_unread_file(file.path, error)),
    };
    let mut values = Vec::new();
    // YAML aliases share a value, which is replaced once.
    let mut positions = BTreeSet::new();
    let waivers = tree.root().items().into_iter().flatten();
    for node in waivers.filter_map(|waiver| waiver.get("path")) {
        let Some((glob, new_path)) = find_new_path(node, &new_paths) else {
            continue;
        };
        if !positions.insert(node.position()) {
            continue;
        }
        if (renames.is_uncertain)(new_path) {
            gate_edits.kept_references.push(KeptReference {
                path: file.path.clone(),
                line: node.position().line,
                target: glob.to_owned(),
                reason: describe_repair_error(&RepairError::UncertainRename(new_path.to_owned())),
            });
            continue;
        }
        let edit = build_value_edit(node, Referrer::Waiver, &|_| Some(escape_glob(new_path)));
        values.extend(edit);
    }
    let edit = build_repair_edit(
        reader,
        &file.path,
        bytes.clone(),
        values,
        &mut gate_edits.kept_references,
    )?;
    gate_edits.edits.extend(edit);
    Ok(gate_edits)
}

/// Maps the glob that matches only the old path of a renamed pipeline to its new path.
fn map_globs_to_new_paths<'r>(
    reader: &ReferenceReader<'_>,
    renames: &'r Renames<'_>,
) -> Result<HashMap<String, &'r str>, Failure> {
    let sources = &reader.workspace.sources;
    let selection = sources.resolve_selection(&GlobArgs::default(), SelectionPurpose::Review)?;
    let mut new_paths: HashMap<String, &str> = HashMap::new();
    for (old_path, new_path) in &renames.pipelines {
        if selection.selects(old_path) {
            // As a glob, a path with brackets or stars matches other files.
            new_paths.insert(escape_glob(old_path), new_path);
        }
    }
    Ok(new_paths)
}

/// Returns the glob in this node with the new path of the renamed pipeline that it matches alone.
fn find_new_path<'n, 'p>(
    node: NodeRef<'n, '_>,
    new_paths: &HashMap<String, &'p str>,
) -> Option<(&'n str, &'p str)> {
    let glob = node.text()?;
    Some((glob, new_paths.get(glob)?))
}

/// Returns no edits, and the file with the reason why it could not be searched.
fn list_unread_file(path: String, error: DocumentError) -> GateFileEdits {
    GateFileEdits {
        unread_files: vec![UnreadFile {
            path,
            reason: error.message,
        }],
        ..GateFileEdits::default()
    }
}
