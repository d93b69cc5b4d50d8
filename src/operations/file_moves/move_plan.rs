//! Finds every value to replace and computes the new files before anything is written.

use super::file_edit::{FileEdit, Referrer, ValueEdit};
use super::reference_reader::{ReadFile, ReferenceReader};
use super::unparsed_mentions::{reject_unparsed_call, reject_unparsed_path};
use crate::error::Failure;
use crate::job::settings::{ProjectCheckSettings, list_path_glob_keys};
use sluicegate_git::FileKind;
use sluicegate_pipelines::file_moves::{PathMove, ReferenceRepair, Relocation, RepairError};
use sluicegate_pipelines::pipelines::{
    PipelineFiles, PipelineKind, Reference, ReferenceKind, ReferenceTarget, SHARED_PIPELINES_FILE,
    SharedPipelines, is_pipeline,
};
use sluicegate_pipelines::waivers::FILE_NAME;
use sluicegate_yaml::{DocumentError, NodeRef, Position, Tree, Value, is_blank};
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
    /// The files whose references are unknown, each with the reason.
    pub unread_files: Vec<UnreadFile>,
}

/// A file that was not searched for references.
pub(crate) struct UnreadFile {
    pub path: String,
    pub reason: String,
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
    let (mut edits, mut unread_files) = (Vec::new(), Vec::new());
    let mut script_paths = BTreeSet::new();
    for file in &files {
        let (bytes, facts) = match reader.read_references(file)? {
            ReadFile::Pipeline(bytes, facts) => (bytes, facts),
            ReadFile::WithoutReferences => continue,
            ReadFile::Unparsed(bytes, reason) => {
                reject_unparsed_call(&moves, &file.path, &bytes, &reason)?;
                continue;
            }
            ReadFile::Unreadable(reason) => {
                let path = file.path.clone();
                unread_files.push(UnreadFile { path, reason });
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
        edits.extend(build_file_edit(reader, &file.path, bytes, values)?);
    }
    edits.extend(find_gate_file_edits(reader, &moves, &mut unread_files)?);
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
        unread_files,
    })
}

/// Plans how references to missing files are repaired: a reference is rewritten if exactly one file has that name.
/// The plan lists the other references with the reason. Targets that the settings declare as external are ignored.
/// Pipelines that cannot be read or parsed are listed, too.
pub(crate) fn plan_repair(reader: &ReferenceReader<'_>) -> Result<MovePlan, Failure> {
    let no_flag = None;
    let settings = reader.workspace.sources.resolve_project_checks(no_flag)?;
    let mut files = reader.snapshot.list_files(&|_| true)?;
    files.retain(|file| file.kind == FileKind::Regular);
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let repair = ReferenceRepair::new(&paths);
    let (mut edits, mut kept_references, mut unread_files) = (Vec::new(), Vec::new(), Vec::new());
    for file in files.iter().filter(|file| is_pipeline(&file.path)) {
        let (bytes, facts) = match reader.read_references(file)? {
            ReadFile::Pipeline(bytes, facts) => (bytes, facts),
            ReadFile::WithoutReferences => continue,
            ReadFile::Unparsed(_, reason) | ReadFile::Unreadable(reason) => {
                let path = file.path.clone();
                unread_files.push(UnreadFile { path, reason });
                continue;
            }
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
        edits.extend(build_file_edit(reader, &file.path, bytes, values)?);
    }
    Ok(MovePlan {
        moves: None,
        moved_files: Vec::new(),
        edits,
        kept_references,
        unread_files,
    })
}

/// Returns whether the settings declare the target as external. As in the project checks, the globs are compared with
/// the path that has the extension, which a call may omit.
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
    path: &str,
    bytes: Vec<u8>,
    values: Vec<ValueEdit>,
) -> Result<Option<FileEdit>, Failure> {
    if values.is_empty() {
        return Ok(None);
    }
    if !reader.is_on_disk(path) {
        let line = values.first().map_or(1, |value| value.position.line);
        return Err(Failure::usage(format!(
            "{path}:{line}: the file is not checked out (sparse checkout)"
        ))
        .with_hint("nothing was changed: check out the file, then run the command again"));
    }
    FileEdit::new(path, bytes, values).map(Some)
}

/// Returns the edits of the gate configuration: the shared-pipelines file, the waivers file and `sluicegate.yaml`. A
/// missing file needs none. Fails if a file that cannot be parsed contains the old path.
fn find_gate_file_edits(
    reader: &ReferenceReader<'_>,
    moves: &PathMove,
    unread_files: &mut Vec<UnreadFile>,
) -> Result<Vec<FileEdit>, Failure> {
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
        .filter_map(|node| build_glob_edit(node, Referrer::Waiver, &|glob| moves.glob_after_move(glob)))
        .collect())
}

/// Returns the edits of `sluicegate.yaml`: the globs that match moved files. Some of these globs match the targets of
/// calls, which may omit the extension.
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
            build_glob_edit(item, Referrer::Glob, &|glob| {
                moves.call_glob_after_move(glob, extension)
            })
        }));
    }
    edits.sort_by_key(|edit: &ValueEdit| edit.position);
    Ok(edits)
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
