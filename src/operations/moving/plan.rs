//! Finds every value to replace and computes the new files before anything is written.

use super::edit::{FileEdit, Referrer, ValueEdit};
use super::read::{ReadFile, Reading};
use crate::error::Failure;
use crate::job::settings::path_glob_keys;
use sluicegate_git::{FileKind, SnapshotFile};
use sluicegate_pipelines::file_moves::{PathMove, ReferenceRepair, Relocation, RepairError};
use sluicegate_pipelines::pipelines::{
    PipelineFiles, PipelineKind, Reference, ReferenceKind, ReferenceTarget, SHARED_PIPELINES_FILE,
    SharedEntry, SharedPipelines, is_pipeline,
};
use sluicegate_pipelines::waivers::FILE_NAME;
use sluicegate_pipelines::yaml::{NodeRef, Position, Tree, Value};
use std::collections::BTreeSet;

/// The changes to make.
pub(crate) struct Plan {
    /// `None` for a repair.
    pub moves: Option<PathMove>,
    /// The files to move.
    pub moved: Vec<MovedFile>,
    pub edits: Vec<FileEdit>,
    /// The references that a repair keeps.
    pub left: Vec<LeftReference>,
}

pub(crate) struct MovedFile {
    pub path: String,
    pub is_script: bool,
}

pub(crate) struct LeftReference {
    pub path: String,
    pub line: u32,
    pub target: String,
    pub why: RepairError,
}

pub(crate) fn moving(reading: &Reading<'_>, moves: PathMove) -> Result<Plan, Failure> {
    let files = reading.pipelines()?;
    let before: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let after: Vec<String> = before.iter().map(|path| moves.path_after(path)).collect();
    let relocation = Relocation {
        moves: &moves,
        old_files: &PipelineFiles::new(before.iter().map(String::as_str)),
        new_files: &PipelineFiles::new(after.iter().map(String::as_str)),
    };
    let mut edits = Vec::new();
    let mut scripts = BTreeSet::new();
    for file in &files {
        let (bytes, facts) = match reading.read(file)? {
            ReadFile::Pipeline(bytes, facts) => (bytes, facts),
            ReadFile::NamesNothing => continue,
            ReadFile::Unread(bytes, why) => {
                refuse_unread(&moves, file, &bytes, &why)?;
                continue;
            }
        };
        let mut values = Vec::new();
        let named = facts.references.iter().filter_map(Reference::script_path);
        scripts.extend(named.map(str::to_owned));
        for reference in &facts.references {
            let new = relocation.new_target(reference, &file.path).transpose();
            let new = new.map_err(|why| at(&file.path, reference, &why))?;
            values.extend(new.map(|new| edit(reference, new)));
        }
        edits.extend(written(reading, file, bytes, values)?);
    }
    edits.extend(of_gate(reading, &moves)?);
    let going = reading.snapshot.files(&|path| moves.moved_path(path).is_some())?;
    let going = going.into_iter().map(|file| MovedFile {
        is_script: scripts.contains(&file.path),
        path: file.path,
    });
    Ok(Plan {
        moved: going.collect(),
        moves: Some(moves),
        edits,
        left: Vec::new(),
    })
}

pub(crate) fn repairing(reading: &Reading<'_>) -> Result<Plan, Failure> {
    let settings = reading.workspace.sources.project_checks(None)?;
    let mut files = reading.snapshot.files(&|_| true)?;
    files.retain(|file| file.kind == FileKind::Regular);
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let repair = ReferenceRepair::new(&paths);
    let (mut edits, mut left) = (Vec::new(), Vec::new());
    for file in files.iter().filter(|file| is_pipeline(&file.path)) {
        let ReadFile::Pipeline(bytes, facts) = reading.read(file)? else {
            continue;
        };
        let mut values = Vec::new();
        for reference in &facts.references {
            let ReferenceTarget::Path(target) = &reference.target else {
                continue;
            };
            if settings.is_external(target) {
                continue;
            }
            match repair.corrected_target(reference, &file.path) {
                None => {}
                Some(Ok(new)) => values.push(edit(reference, new)),
                Some(Err(why)) => left.push(LeftReference {
                    path: file.path.clone(),
                    line: reference.position.line,
                    target: target.clone(),
                    why,
                }),
            }
        }
        edits.extend(written(reading, file, bytes, values)?);
    }
    Ok(Plan {
        moves: None,
        moved: Vec::new(),
        edits,
        left,
    })
}

fn edit(reference: &Reference, new: String) -> ValueEdit {
    let (ReferenceTarget::Path(old) | ReferenceTarget::Expression(old)) = &reference.target;
    ValueEdit {
        what: match reference.kind {
            ReferenceKind::Pipeline(_) => Referrer::Call,
            ReferenceKind::Script => Referrer::Script,
        },
        position: reference.position,
        old: old.clone(),
        new,
    }
}

fn at(path: &str, reference: &Reference, why: &str) -> Failure {
    Failure::usage(format!("{path}:{}: {why}", reference.position.line)).hint("nothing was changed")
}

/// Returns the file with these values replaced, or `None` if there are none.
fn written(
    reading: &Reading<'_>,
    file: &SnapshotFile,
    bytes: Vec<u8>,
    values: Vec<ValueEdit>,
) -> Result<Option<FileEdit>, Failure> {
    if values.is_empty() {
        return Ok(None);
    }
    let path = &file.path;
    if !reading.is_on_disk(path) {
        let line = values.first().map_or(1, |value| value.position.line);
        return Err(Failure::usage(format!(
            "{path}:{line}: the file is not checked out (sparse checkout)"
        ))
        .hint("nothing was changed: check out the file, then run the command again"));
    }
    FileEdit::make(path, bytes, values).map(Some)
}

/// Returns an error if a file that cannot be parsed as a pipeline contains the moved path.
fn refuse_unread(moves: &PathMove, file: &SnapshotFile, bytes: &[u8], why: &str) -> Result<(), Failure> {
    let kind = PipelineKind::from_path(&moves.old_path);
    let named = kind.and_then(|kind| moves.old_path.strip_suffix(kind.extension()));
    let named = named.unwrap_or(&moves.old_path);
    let Some(at) = memchr::memmem::find(bytes, named.as_bytes()) else {
        return Ok(());
    };
    let line = bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
    let path = &file.path;
    Err(Failure::usage(format!(
        "{path}:{line}: this file contains `{named}` and cannot be parsed: {why}"
    ))
    .hint("nothing was changed: fix the file, then run the command again"))
}

/// Returns the references in the gate configuration and in the shared-pipelines file.
fn of_gate(reading: &Reading<'_>, moves: &PathMove) -> Result<Vec<FileEdit>, Failure> {
    let folder = reading.workspace.config_dir(reading.snapshot)?;
    let shared = folder.map(|folder| format!("{folder}/{SHARED_PIPELINES_FILE}"));
    let mut edits = Vec::new();
    let mut look = |path: &str, find: &dyn Fn(&[u8]) -> Vec<ValueEdit>| {
        if let Some(bytes) = reading.of_gate(path)? {
            let values = find(&bytes);
            if !values.is_empty() {
                edits.push(FileEdit::make(path, bytes, values)?);
            }
        }
        Ok::<(), Failure>(())
    };
    if let Some(path) = shared {
        look(&path, &|bytes| of_shared(bytes, moves))?;
    }
    look(FILE_NAME, &|bytes| of_waivers(bytes, moves))?;
    if let Some(path) = &reading.workspace.config_file {
        look(path, &|bytes| of_settings(bytes, moves))?;
    }
    Ok(edits)
}

fn of_shared(bytes: &[u8], moves: &PathMove) -> Vec<ValueEdit> {
    let entries = SharedPipelines::parse(bytes)
        .map(|shared| shared.entries)
        .unwrap_or_default();
    let edit = |entry: &SharedEntry| {
        Some(ValueEdit {
            what: Referrer::Shared,
            position: entry.pipeline_position,
            new: moves.moved_path(&entry.pipeline)?,
            old: entry.pipeline.clone(),
        })
    };
    entries.iter().filter_map(edit).collect()
}

fn of_waivers(bytes: &[u8], moves: &PathMove) -> Vec<ValueEdit> {
    let Ok(tree) = Tree::read(bytes, None) else {
        return Vec::new();
    };
    let paths = tree
        .root()
        .items()
        .into_iter()
        .flatten()
        .filter_map(|item| item.get("path"));
    paths
        .filter_map(|node| glob(node, Referrer::Waiver, &|glob| moves.glob_after(glob)))
        .collect()
}

fn of_settings(bytes: &[u8], moves: &PathMove) -> Vec<ValueEdit> {
    let Ok(tree) = Tree::read(bytes, None) else {
        return Vec::new();
    };
    let extension = PipelineKind::from_path(&moves.old_path).map(PipelineKind::extension);
    let mut edits = Vec::new();
    for (key, is_over_calls) in path_glob_keys() {
        let mut parts = key.split('.');
        let Some(node) = parts.try_fold(tree.root(), NodeRef::get) else {
            continue;
        };
        let extension = extension.filter(|_| is_over_calls);
        let renamed = |glob: &str| moves.call_glob_after(glob, extension);
        edits.extend(
            node.items()
                .into_iter()
                .flatten()
                .filter_map(|item| glob(item, Referrer::Glob, &renamed)),
        );
    }
    edits.sort_by_key(|edit: &ValueEdit| edit.position);
    edits
}

fn glob(node: NodeRef<'_, '_>, what: Referrer, moved: &dyn Fn(&str) -> Option<String>) -> Option<ValueEdit> {
    let Some(Value::Text(old)) = node.value() else {
        return None;
    };
    let position: Position = node.position();
    Some(ValueEdit {
        what,
        position,
        new: moved(old)?,
        old: old.to_owned(),
    })
}
