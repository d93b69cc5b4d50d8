//! Finds every value to replace and computes the new files before anything is written.

use super::file_edit::{FileEdit, Referrer, ValueEdit};
use super::reference_reader::{ReadFile, ReferenceReader};
use crate::error::Failure;
use crate::job::settings::{ProjectCheckSettings, list_path_glob_keys};
use sluicegate_git::{FileKind, SnapshotFile};
use sluicegate_pipelines::file_moves::{PathMove, ReferenceRepair, Relocation, RepairError};
use sluicegate_pipelines::pipelines::{
    PipelineFiles, PipelineKind, Reference, ReferenceKind, ReferenceTarget, SHARED_PIPELINES_FILE,
    SharedPipelines, is_pipeline,
};
use sluicegate_pipelines::waivers::FILE_NAME;
use sluicegate_yaml::{NodeRef, Position, Tree, Value};
use std::collections::BTreeSet;

/// The changes to make.
pub(crate) struct MovePlan {
    /// `None` for a repair.
    pub moves: Option<PathMove>,
    /// The files to move.
    pub moved_files: Vec<MovedFile>,
    pub edits: Vec<FileEdit>,
    /// The references that a repair keeps.
    pub kept_references: Vec<KeptReference>,
}

pub(crate) struct MovedFile {
    pub path: String,
    pub is_script: bool,
}

pub(crate) struct KeptReference {
    pub path: String,
    pub line: u32,
    pub target: String,
    pub error: RepairError,
}

/// Plans a move without changing a file: which files move, and which references to them are rewritten in pipelines and
/// in the gate configuration.
pub(crate) fn plan_move(reader: &ReferenceReader<'_>, moves: PathMove) -> Result<MovePlan, Failure> {
    let files = reader.list_regular_pipelines()?;
    let old_paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let new_paths: Vec<String> = old_paths.iter().map(|path| moves.path_after_move(path)).collect();
    let relocation = Relocation {
        path_move: &moves,
        old_files: &PipelineFiles::new(old_paths.iter().map(String::as_str)),
        new_files: &PipelineFiles::new(new_paths.iter().map(String::as_str)),
    };
    let mut edits = Vec::new();
    let mut script_paths = BTreeSet::new();
    for file in &files {
        let (bytes, facts) = match reader.read_references(file)? {
            ReadFile::Pipeline(bytes, facts) => (bytes, facts),
            ReadFile::WithoutReferences => continue,
            ReadFile::Unreadable(bytes, reason) => {
                reject_unparsed_mention(&moves, file, &bytes, &reason)?;
                continue;
            }
        };
        let mut values = Vec::new();
        let referenced_scripts = facts.references.iter().filter_map(Reference::script_path);
        script_paths.extend(referenced_scripts.map(str::to_owned));
        for reference in &facts.references {
            match relocation.find_new_target(reference, &file.path) {
                // The reference does not change.
                None => {}
                Some(Ok(new_target)) => values.push(build_reference_edit(reference, new_target)),
                Some(Err(reason)) => return Err(reference_failure(&file.path, reference, &reason)),
            }
        }
        edits.extend(build_file_edit(reader, file, bytes, values)?);
    }
    edits.extend(find_gate_file_edits(reader, &moves)?);
    let moved_files = reader
        .snapshot
        .list_files(&|path| moves.moved_path(path).is_some())?;
    Ok(MovePlan {
        moved_files: moved_files
            .into_iter()
            .map(|file| MovedFile {
                is_script: script_paths.contains(&file.path),
                path: file.path,
            })
            .collect(),
        moves: Some(moves),
        edits,
        // A move that cannot rewrite a reference fails instead.
        kept_references: Vec::new(),
    })
}

/// Plans how references to missing files are repaired: a reference is rewritten if exactly one file has that name.
/// The plan lists the other references with the reason. Targets that the settings declare as external are ignored, and
/// pipelines that cannot be parsed are skipped.
pub(crate) fn plan_repair(reader: &ReferenceReader<'_>) -> Result<MovePlan, Failure> {
    let no_flag = None;
    let settings = reader.workspace.sources.resolve_project_checks(no_flag)?;
    let mut files = reader.snapshot.list_files(&|_| true)?;
    files.retain(|file| file.kind == FileKind::Regular);
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let repair = ReferenceRepair::new(&paths);
    let (mut edits, mut kept_references) = (Vec::new(), Vec::new());
    for file in files.iter().filter(|file| is_pipeline(&file.path)) {
        let ReadFile::Pipeline(bytes, facts) = reader.read_references(file)? else {
            continue;
        };
        let mut values = Vec::new();
        for reference in &facts.references {
            let ReferenceTarget::Path(target) = &reference.target else {
                continue;
            };
            if is_external(&settings, reference.kind, target) {
                continue;
            }
            match repair.find_corrected_target(reference, &file.path) {
                None => {}
                Some(Ok(new_target)) => values.push(build_reference_edit(reference, new_target)),
                Some(Err(error)) => kept_references.push(KeptReference {
                    path: file.path.clone(),
                    line: reference.position.line,
                    target: target.clone(),
                    error,
                }),
            }
        }
        edits.extend(build_file_edit(reader, file, bytes, values)?);
    }
    Ok(MovePlan {
        moves: None,
        moved_files: Vec::new(),
        edits,
        kept_references,
    })
}

/// Returns whether the settings declare the target as external. As in the project checks, the globs are compared with the
/// path that has the extension, which a call may omit.
fn is_external(settings: &ProjectCheckSettings, kind: ReferenceKind, target: &str) -> bool {
    let extension = match kind {
        ReferenceKind::Pipeline(kind) => kind.extension(),
        ReferenceKind::Script => "",
    };
    settings.is_external(target) || settings.is_external(&format!("{target}{extension}"))
}

/// Returns the edit that replaces the target of the reference by `new`.
fn build_reference_edit(reference: &Reference, new: String) -> ValueEdit {
    let (ReferenceTarget::Path(old) | ReferenceTarget::Expression(old)) = &reference.target;
    ValueEdit {
        referrer: match reference.kind {
            ReferenceKind::Pipeline(_) => Referrer::Call,
            ReferenceKind::Script => Referrer::Script,
        },
        position: reference.position,
        old: old.clone(),
        new,
    }
}

/// Returns the error for a reference that cannot be rewritten, with its location.
fn reference_failure(path: &str, reference: &Reference, reason: &str) -> Failure {
    Failure::usage(format!("{path}:{}: {reason}", reference.position.line)).with_hint("nothing was changed")
}

/// Returns the file with these values replaced; `None` without values. Fails if the file is not checked out, because it
/// could not be written.
fn build_file_edit(
    reader: &ReferenceReader<'_>,
    file: &SnapshotFile,
    bytes: Vec<u8>,
    values: Vec<ValueEdit>,
) -> Result<Option<FileEdit>, Failure> {
    if values.is_empty() {
        return Ok(None);
    }
    let path = &file.path;
    if !reader.is_on_disk(path) {
        let line = values.first().map_or(1, |value| value.position.line);
        return Err(Failure::usage(format!(
            "{path}:{line}: the file is not checked out (sparse checkout)"
        ))
        .with_hint("nothing was changed: check out the file, then run the command again"));
    }
    FileEdit::new(path, bytes, values).map(Some)
}

/// Fails if a file that cannot be parsed contains the old path, because a reference in it could not be rewritten. The
/// path of a pipeline is searched without the extension, which a reference may omit.
fn reject_unparsed_mention(
    moves: &PathMove,
    file: &SnapshotFile,
    bytes: &[u8],
    reason: &str,
) -> Result<(), Failure> {
    let kind = PipelineKind::from_path(&moves.old_path);
    let name = kind.and_then(|kind| moves.old_path.strip_suffix(kind.extension()));
    let searched_text = name.unwrap_or(&moves.old_path);
    let Some(offset) = memchr::memmem::find(bytes, searched_text.as_bytes()) else {
        return Ok(());
    };
    let line = bytes.iter().take(offset).filter(|byte| **byte == b'\n').count() + 1;
    let path = &file.path;
    Err(Failure::usage(format!(
        "{path}:{line}: this file contains `{searched_text}` and cannot be parsed: {reason}"
    ))
    .with_hint("nothing was changed: fix the file, then run the command again"))
}

/// Returns the edits of the gate configuration: the shared-pipelines file, the waivers file and `sluicegate.yaml`. A
/// missing file needs none.
fn find_gate_file_edits(reader: &ReferenceReader<'_>, moves: &PathMove) -> Result<Vec<FileEdit>, Failure> {
    let config_dir = reader.workspace.find_config_dir(reader.snapshot)?;
    let shared_path = config_dir.map(|config_dir| format!("{config_dir}/{SHARED_PIPELINES_FILE}"));
    let config_file = reader.workspace.config_file.as_deref();
    let files: [(Option<&str>, FindEdits); 3] = [
        (shared_path.as_deref(), find_shared_pipeline_edits),
        (Some(FILE_NAME), find_waiver_edits),
        (config_file, find_setting_edits),
    ];
    let mut edits = Vec::new();
    for (path, find_edits) in files {
        let Some(path) = path else { continue };
        if let Some(bytes) = reader.read_regular_file(path)? {
            let values = find_edits(&bytes, moves);
            if !values.is_empty() {
                edits.push(FileEdit::new(path, bytes, values)?);
            }
        }
    }
    Ok(edits)
}

/// Finds the values of a file that contain a moved path.
type FindEdits = fn(&[u8], &PathMove) -> Vec<ValueEdit>;

/// Returns the edits of the shared-pipelines file: the paths of moved pipelines. A file that cannot be parsed needs
/// none.
fn find_shared_pipeline_edits(bytes: &[u8], moves: &PathMove) -> Vec<ValueEdit> {
    let entries = SharedPipelines::parse(bytes)
        .map(|file| file.entries)
        .unwrap_or_default();
    entries
        .into_iter()
        .filter_map(|entry| {
            Some(ValueEdit {
                referrer: Referrer::Shared,
                position: entry.pipeline_position,
                new: moves.moved_path(&entry.pipeline)?,
                old: entry.pipeline,
            })
        })
        .collect()
}

/// Returns the edits of the waivers file: the globs in `path` that match moved files. A file that cannot be parsed
/// needs none.
fn find_waiver_edits(bytes: &[u8], moves: &PathMove) -> Vec<ValueEdit> {
    let Ok(tree) = Tree::parse(bytes) else {
        return Vec::new();
    };
    let paths = tree
        .root()
        .items()
        .into_iter()
        .flatten()
        .filter_map(|item| item.get("path"));
    paths
        .filter_map(|node| build_glob_edit(node, Referrer::Waiver, &|glob| moves.glob_after_move(glob)))
        .collect()
}

/// Returns the edits of `sluicegate.yaml`: the globs that match moved files. Some of these globs match the targets of
/// calls, which may omit the extension. A file that cannot be parsed needs none.
fn find_setting_edits(bytes: &[u8], moves: &PathMove) -> Vec<ValueEdit> {
    let Ok(tree) = Tree::parse(bytes) else {
        return Vec::new();
    };
    let extension = PipelineKind::from_path(&moves.old_path).map(PipelineKind::extension);
    let mut edits = Vec::new();
    for (key, has_call_globs) in list_path_glob_keys() {
        let mut parts = key.split('.');
        let Some(node) = parts.try_fold(tree.root(), NodeRef::get) else {
            continue;
        };
        let extension = extension.filter(|_| has_call_globs);
        edits.extend(node.items().into_iter().flatten().filter_map(|item| {
            build_glob_edit(item, Referrer::Glob, &|glob| {
                moves.call_glob_after_move(glob, extension)
            })
        }));
    }
    edits.sort_by_key(|edit: &ValueEdit| edit.position);
    edits
}

/// Returns the edit of the glob in this node; `None` if the move does not affect it. `move_glob` returns the glob after
/// the move.
fn build_glob_edit(
    node: NodeRef<'_, '_>,
    referrer: Referrer,
    move_glob: &dyn Fn(&str) -> Option<String>,
) -> Option<ValueEdit> {
    let Some(Value::Text(old)) = node.value() else {
        return None;
    };
    let position: Position = node.position();
    Some(ValueEdit {
        referrer,
        position,
        new: move_glob(old)?,
        old: old.to_owned(),
    })
}
