//! Finds every value to replace and computes the new files before anything is written.

use super::file_edit::{FileEdit, Referrer, ValueEdit, build_file_edit};
use super::gate_file_edits::find_gate_file_edits;
use super::kept_references::{KeptReference, UnreadFile};
use super::reference_reader::{ReadFile, ReferenceReader};
use super::repair_edits::{build_repair_edit, describe_repair_error};
use super::unparsable_mentions::reject_unparsable_call;
use super::waiver_repairs::find_waiver_repairs;
use crate::error::Failure;
use crate::gate::VersionPairs;
use crate::gate::project_checks::earlier_callees::{BasePipelines, EarlierCallees};
use crate::gate::project_checks::renamed_files::RenamedFiles;
use crate::job::cli::SelectionArgs;
use crate::job::context::RequestedRevisions;
use crate::job::settings::ProjectCheckSettings;
use crate::session::Session;
use sluicegate_git::{Change, CommitId, FileKind, SnapshotFile};
use sluicegate_pipelines::file_moves::{PathMove, ReferenceRepair, Relocation};
use sluicegate_pipelines::pipelines::{
    PipelineFiles, Reference, ReferenceKind, ReferenceTarget, is_pipeline,
};
use sluicegate_pipelines::project::{FindEarlierCallee, Renames};
use std::collections::{BTreeMap, BTreeSet};

/// The changes to make.
pub(crate) struct MovePlan {
    /// `None` for a repair.
    pub path_move: Option<PathMove>,
    /// The files to move.
    pub moved_files: Vec<MovedFile>,
    pub edits: Vec<FileEdit>,
    /// The references that keep their text: those that a repair cannot correct, and the conditions of team rules
    /// and globs that a move does not rewrite.
    pub kept_references: Vec<KeptReference>,
    /// The files whose references are unknown, each with the reason.
    pub unread_files: Vec<UnreadFile>,
}

pub(crate) struct MovedFile {
    pub path: String,
    pub is_script: bool,
}

/// Plans a move without changing a file: which files move, and which references to them are rewritten in pipelines and
/// in the gate configuration.
pub(crate) fn plan_move(reader: &ReferenceReader<'_>, path_move: PathMove) -> Result<MovePlan, Failure> {
    let files = reader.list_regular_pipelines()?;
    let old_paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let new_paths: Vec<String> = old_paths
        .iter()
        .map(|path| path_move.path_after_move(path))
        .collect();
    let relocation = Relocation {
        path_move: &path_move,
        old_files: &PipelineFiles::new(old_paths.iter().map(String::as_str)),
        new_files: &PipelineFiles::new(new_paths.iter().map(String::as_str)),
    };
    let (mut edits, mut unread_files) = (Vec::new(), Vec::new());
    let (mut script_paths, mut kept_references) = (BTreeSet::new(), Vec::new());
    for file in &files {
        let (bytes, facts) = match reader.read_references(file)? {
            ReadFile::Pipeline(bytes, facts) => (bytes, facts),
            ReadFile::WithoutReferences => continue,
            ReadFile::Unparsable(bytes, reason) => {
                reject_unparsable_call(&path_move, &file.path, &bytes, &reason)?;
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
                None => kept_references.extend(find_unclear_call(&relocation, reference, &file.path)),
                Some(Ok(new_target)) => values.push(build_reference_edit(reference, new_target)),
                Some(Err(reason)) => return Err(reference_failure(&file.path, reference, &reason)),
            }
        }
        edits.extend(build_file_edit(reader, &file.path, bytes, values)?);
    }
    let moved_files = reader
        .snapshot
        .list_files(&|path| path_move.moved_path(path).is_some())?;
    let gate_edits = find_gate_file_edits(reader, &path_move, &moved_files)?;
    edits.extend(gate_edits.edits);
    unread_files.extend(gate_edits.unread_files);
    kept_references.extend(gate_edits.kept_references);
    Ok(MovePlan {
        moved_files: moved_files
            .into_iter()
            .map(|file| MovedFile {
                is_script: script_paths.contains(&file.path),
                path: file.path,
            })
            .collect(),
        path_move: Some(path_move),
        edits,
        kept_references,
        unread_files,
    })
}

/// Returns the reference if the move does not rewrite it, although it can mean another pipeline: it reads like the name
/// of another pipeline, as before the move, or several pipelines had its name before.
fn find_unclear_call(
    relocation: &Relocation<'_>,
    reference: &Reference,
    caller: &str,
) -> Option<KeptReference> {
    let ReferenceTarget::Path(target) = &reference.target else {
        return None;
    };
    let reason = if let Some(path) = relocation.find_narrowed_call(reference, caller) {
        format!("several files had that name before the move, and now the call means `{path}`")
    } else {
        let clashing_path = relocation.find_kept_clash(reference, caller)?;
        format!(
            "the reference reads like `{clashing_path}`, as before the move, but it calls a file in the root"
        )
    };
    Some(KeptReference {
        path: relocation.path_move.path_after_move(caller),
        line: reference.position.line,
        target: target.clone(),
        reason,
    })
}

/// Plans how references to missing files are repaired: a reference is rewritten if the change renamed the file, or if
/// exactly one file has that name. A waiver is rewritten only if the change renamed its file. The plan lists the other
/// references with the reason, for example that the value has a YAML anchor. Targets that the settings declare as
/// external are ignored. Pipelines that cannot be read or parsed are listed, too.
pub(crate) fn plan_repair(session: &Session, reader: &ReferenceReader<'_>) -> Result<MovePlan, Failure> {
    let mut files = reader.snapshot.list_files(&|_| true)?;
    files.retain(|file| file.kind == FileKind::Regular);
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let (mut bases, base_source) = find_bases(session, reader)?;
    let (mut changes, mut problem) = (Vec::new(), base_source);
    if !bases.is_empty() {
        match reader.snapshot.find_changes(&bases, &is_pipeline) {
            Ok(found_changes) => changes = found_changes,
            Err(error) => {
                problem = Failure::from(error).describe_on_one_line();
                bases.clear();
            }
        }
    }
    let pairs = VersionPairs {
        repo: &reader.workspace.repo,
        head: reader.snapshot,
        bases: &bases,
    };
    let renamed_files = RenamedFiles::new(pairs, changes.iter());
    let base_pipelines = BasePipelines::new();
    let earlier_callees = EarlierCallees::new(pairs, changes.iter(), &base_pipelines);
    let renames = Renames {
        pipelines: list_renamed_paths(&changes),
        find_script_path: &|old_path| renamed_files.find_script_path(old_path),
        is_uncertain: &|new_path| renamed_files.is_uncertain(new_path),
        ..Renames::NONE
    };
    let find_earlier_callee: &FindEarlierCallee<'_> =
        &|caller, reference, path| earlier_callees.find_callee(caller, reference, path);
    let repair = ReferenceRepair::new(&paths, &renames, find_earlier_callee);
    let mut plan = plan_reference_repairs(reader, &files, &repair)?;
    let waiver_edits = find_waiver_repairs(reader, &renames)?;
    plan.edits.extend(waiver_edits.edits);
    plan.kept_references.extend(waiver_edits.kept_references);
    plan.unread_files.extend(waiver_edits.unread_files);
    if bases.is_empty() && !(plan.edits.is_empty() && plan.kept_references.is_empty()) {
        session
            .ui
            .say(&format!("it is unknown what the change renamed: {problem}"));
    }
    Ok(plan)
}

/// Returns the commits that show what the change renamed, and where they come from, or why there are none. Only a base
/// that the job names is required, because a repair can do without.
fn find_bases(session: &Session, reader: &ReferenceReader<'_>) -> Result<(Vec<CommitId>, String), Failure> {
    let sources = &reader.workspace.sources;
    let revisions = RequestedRevisions {
        // Only files on disk are repaired.
        head: None,
        all: false,
        ..sources.resolve_revisions(&SelectionArgs::default(), None)?
    };
    match reader.workspace.resolve_checkout_comparison(session, &revisions) {
        Ok(comparison) => Ok((comparison.bases, comparison.base_source)),
        Err(failure) if revisions.base.is_some() => Err(failure),
        Err(failure) => Ok((Vec::new(), failure.describe_on_one_line())),
    }
}

/// Returns the new path of each renamed pipeline, by its old path.
fn list_renamed_paths(changes: &[Change]) -> BTreeMap<String, String> {
    let mut new_paths = BTreeMap::new();
    for change in changes {
        if let Some(old_path) = change.rename_source() {
            new_paths.insert(old_path.to_owned(), change.path.clone());
        }
    }
    new_paths
}

/// Plans the repair of the references in the pipelines of these files.
fn plan_reference_repairs(
    reader: &ReferenceReader<'_>,
    files: &[SnapshotFile],
    repair: &ReferenceRepair<'_>,
) -> Result<MovePlan, Failure> {
    let no_flag = None;
    let settings = reader.workspace.sources.resolve_project_checks(no_flag)?;
    let (mut edits, mut kept_references, mut unread_files) = (Vec::new(), Vec::new(), Vec::new());
    for file in files.iter().filter(|file| is_pipeline(&file.path)) {
        let (bytes, facts) = match reader.read_references(file)? {
            ReadFile::Pipeline(bytes, facts) => (bytes, facts),
            ReadFile::WithoutReferences => continue,
            ReadFile::Unparsable(_, reason) | ReadFile::Unreadable(reason) => {
                let path = file.path.clone();
                unread_files.push(UnreadFile { path, reason });
                continue;
            }
        };
        let (mut values, mut file_references) = (Vec::new(), Vec::new());
        let mut positions = BTreeSet::new();
        for reference in &facts.references {
            let ReferenceTarget::Path(target) = &reference.target else {
                continue;
            };
            if is_external(&settings, reference.kind, target) {
                continue;
            }
            match repair.find_corrected_target(reference, &file.path) {
                None => {}
                // YAML aliases share a value, which is listed once.
                Some(_) if !positions.insert(reference.position) => {}
                Some(Ok(new_target)) => values.push(build_reference_edit(reference, new_target)),
                Some(Err(error)) => file_references.push(KeptReference {
                    path: file.path.clone(),
                    line: reference.position.line,
                    target: target.clone(),
                    reason: describe_repair_error(&error),
                }),
            }
        }
        let edit = build_repair_edit(reader, &file.path, bytes, values, &mut file_references)?;
        edits.extend(edit);
        file_references.sort_by_key(|reference| reference.line);
        kept_references.extend(file_references);
    }
    Ok(MovePlan {
        path_move: None,
        moved_files: Vec::new(),
        edits,
        kept_references,
        unread_files,
    })
}

/// Returns whether the settings declare the target as external, as in the project checks.
fn is_external(settings: &ProjectCheckSettings, kind: ReferenceKind, target: &str) -> bool {
    let spellings = kind.list_spellings(target);
    spellings.iter().any(|path| settings.is_external(path))
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
    Failure::usage(format!("{path}:{}: {reason}", reference.position.line))
        .with_hint("nothing was changed: correct this reference in the file, then run the command again")
}
