//! Refuses a move of gate configuration that the gate would no longer find: its rules and waivers would silently have
//! no effect.

use super::reference_reader::ReferenceReader;
use crate::error::Failure;
use crate::job::policy::follow_links;
use crate::workspace::gate_files::list_hidden_root_entries;
use sluicegate_pipelines::file_moves::PathMove;
use sluicegate_pipelines::pipelines::{rules_path, shared_pipelines_path};
use sluicegate_pipelines::waivers;
use std::collections::BTreeSet;

/// Fails if the move contains a file of the gate configuration, a link to it or the target of such a link. A team rules
/// file without links may move if the move also rewrites the setting with its path, unless the job names the file.
pub(super) fn reject_gate_file_moves(
    reader: &ReferenceReader<'_>,
    path_move: &PathMove,
    has_setting_edit: bool,
) -> Result<(), Failure> {
    let workspace = reader.workspace;
    if let Some(path) = &workspace.config_file {
        let hint = "move it with `git mv`, and pass its new path with `--config`";
        reject_moved_path(reader, path_move, &list_link_path(reader, path)?, hint)?;
    }
    let hint = format!("the waivers are always read from `{}`", waivers::FILE_NAME);
    reject_moved_path(
        reader,
        path_move,
        &list_link_path(reader, waivers::FILE_NAME)?,
        &hint,
    )?;
    if let Some(path) = &workspace.team_rules_path {
        let paths = list_link_path(reader, path)?;
        // An edit of the setting has no effect on a file that the job names.
        if workspace.has_team_rules_of_job {
            let hint =
                "move it with `git mv`, and pass its new path with `--team-rules` (SLUICEGATE_TEAM_RULES)";
            reject_moved_path(reader, path_move, &paths, hint)?;
        } else if !(has_setting_edit && paths.len() == 1) {
            let hint = "move it with `git mv`, and set `review.team-rules` to its new path";
            reject_moved_path(reader, path_move, &paths, hint)?;
        }
    }
    for config_dir in list_config_dirs(reader)? {
        let paths = [rules_path(&config_dir), shared_pipelines_path(&config_dir)];
        let hint = "move it with `git mv`, and set `config-dir` if the hidden directory has a new name";
        for path in paths {
            reject_moved_path(reader, path_move, &[path], hint)?;
        }
    }
    Ok(())
}

/// Returns the hidden directories at the root that may be those of a project. A repository can contain several
/// projects, each with a hidden directory of its own.
pub(super) fn list_config_dirs(reader: &ReferenceReader<'_>) -> Result<BTreeSet<String>, Failure> {
    let mut config_dirs: BTreeSet<String> = list_hidden_root_entries(reader.snapshot)?.into_iter().collect();
    config_dirs.extend(reader.workspace.find_config_dir(reader.snapshot)?);
    Ok(config_dirs)
}

/// Returns the path, each link in it and the file that the links lead to; none if the file is missing.
fn list_link_path(reader: &ReferenceReader<'_>, path: &str) -> Result<Vec<String>, Failure> {
    let resolved_path = follow_links(&reader.workspace.repo, reader.snapshot, path)?;
    Ok(match resolved_path.file {
        Some(_) => resolved_path.paths,
        None => Vec::new(),
    })
}

/// Fails if one of these paths moves. The first path is the one at which the gate reads a file, and the others are the
/// links to the file, and the file.
fn reject_moved_path(
    reader: &ReferenceReader<'_>,
    path_move: &PathMove,
    paths: &[String],
    hint: &str,
) -> Result<(), Failure> {
    for path in paths {
        let is_moved_file =
            path_move.moved_path(path).is_some() && reader.snapshot.find_file(path)?.is_some();
        if !is_moved_file {
            continue;
        }
        let old_path = &path_move.old_path;
        let message =
            format!("cannot move `{old_path}`: the gate would no longer find its configuration `{path}`");
        let hint = match paths.first() {
            Some(first_path) if first_path != path => {
                format!("move it with `git mv`, and correct the symbolic link of `{first_path}`")
            }
            _ => hint.to_owned(),
        };
        return Err(Failure::usage(message).with_hint(format!("nothing was changed: {hint}")));
    }
    Ok(())
}
