//! Collects the changes for the reports that include them: numbers for the JSON report, text and drawings for
//! human-readable reports.

use crate::error::Failure;
use crate::gate::changes::page_pictures::PagePictures;
use crate::gate::changes::pipeline_change::build_changed_file_with_facts;
use crate::gate::pipeline_positions::PositionCache;
use crate::gate::{ComparedChanges, VersionPairs, is_within};
use crate::job::ci::Host;
use crate::job::cli::{Annotations, Changes};
use crate::job::settings::ReportDestinations;
use crate::publish::{CallGraph, MAX_LISTED_CALLERS};
use crate::session::Session;
use crate::session::step_report::STEP_SUMMARY;
use sluicegate_git::{Change, CommitId, GitError, Repository, Snapshot};
use sluicegate_pipelines::findings::{FileChange, Report, Shard};
use sluicegate_pipelines::pipelines::{PipelineFacts, is_pipeline};
use sluicegate_reports::{ChangedFile, Format};
use std::collections::BTreeSet;

/// Returns whether any configured output includes the list of changes.
pub(crate) fn needs_change_list(session: &Session, host: Host, destinations: &ReportDestinations) -> bool {
    destinations.changes == Changes::Auto && has_output(session, host, destinations, Format::needs_changes)
}

/// Returns whether the run writes an output whose format has this property. Comments, the step summary and annotations
/// of Buildkite are Markdown.
pub(crate) fn has_output(
    session: &Session,
    host: Host,
    destinations: &ReportDestinations,
    has_property: fn(Format) -> bool,
) -> bool {
    let has_markdown = destinations.comment
        || (destinations.annotations != Annotations::None && host == Host::Buildkite)
        || session.env.get(STEP_SUMMARY).is_some();
    destinations.has_report(has_property) || (has_markdown && has_property(Format::Markdown))
}

/// Lists the pipelines that differ between the reviewed files and the bases that the report names, if `is_selected`
/// accepts their paths. Returns `None` if the report does not name a base or the clone lacks one.
pub(crate) fn find_changed_pipelines(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    report: &Report,
    comparison: Option<&ComparedChanges>,
    is_selected: &dyn Fn(&str) -> bool,
) -> Result<Option<Vec<ChangedFile>>, Failure> {
    let bases = find_report_bases(repo, report);
    if bases.is_empty() {
        return Ok(None);
    }
    // The rename of a pipeline is found only if its old path is wanted, too.
    let mut changes = find_changes_since(snapshot, &bases, comparison, &is_pipeline)?;
    let context = &report.context;
    changes.retain(|change| is_included(change, is_selected, &context.paths, context.shard));
    // The positions and the facts are not needed after the review.
    Ok(Some(compare_changes(
        repo,
        snapshot,
        &bases,
        &changes,
        None,
        |_| (),
    )?))
}

/// Returns whether the list of changes contains this change: to a selected pipeline, within the given paths and the
/// shard. Without `paths`, every path is included.
pub(crate) fn is_included(
    change: &Change,
    is_selected: &dyn Fn(&str) -> bool,
    paths: &[String],
    shard: Option<Shard>,
) -> bool {
    let is_in_paths =
        |path: &str| paths.is_empty() || paths.iter().any(|path_filter| is_within(path, path_filter));
    change.paths().any(|path| is_pipeline(path) && is_selected(path))
        && change.paths().any(is_in_paths)
        && shard.is_none_or(|shard| shard.contains(&change.path))
}

/// The facts about pipelines of the head, by path.
pub(crate) type ChangedPipelineFacts = Vec<(String, PipelineFacts)>;

/// Compares both versions of each changed file, finds out which were copied, and counts the callers of the pipelines.
/// Adds the positions in the pipelines of head to `positions` while it compares. Calls `pass_facts` with the facts
/// about the pipelines before the callers are searched, so that the recipient need not wait for this search.
pub(crate) fn compare_changes(
    repo: &Repository,
    head: &Snapshot<'_>,
    bases: &[CommitId],
    changes: &[Change],
    positions: Option<&PositionCache>,
    pass_facts: impl FnOnce(&ChangedPipelineFacts),
) -> Result<Vec<ChangedFile>, GitError> {
    let pairs = VersionPairs { repo, head, bases };
    let pictures = PagePictures::default();
    let mut compared_files = pairs.map_differing_versions(changes, &|index, contents| {
        (
            index,
            build_changed_file_with_facts(contents, index, &pictures, positions),
        )
    })?;
    pictures.move_into_files(compared_files.iter_mut().map(|(index, (file, _))| (*index, file)));
    let mut copy_sources = pairs.find_copy_sources(changes)?;
    let mut changed_files: Vec<ChangedFile> = Vec::with_capacity(compared_files.len());
    let mut facts_by_path = ChangedPipelineFacts::new();
    for (_, (mut file, facts)) in compared_files {
        if file.summary.change == FileChange::Added {
            file.summary.previous_path = copy_sources.remove(&file.summary.path);
        }
        // If the change renamed a pipeline, its new name may no longer be that of a pipeline.
        if let Some(facts) = facts.filter(|_| is_pipeline(&file.summary.path)) {
            facts_by_path.push((file.summary.path.clone(), facts));
        }
        changed_files.push(file);
    }
    pass_facts(&facts_by_path);
    add_callers(repo, head, &mut changed_files, facts_by_path);
    Ok(changed_files)
}

/// Returns the files accepted by `is_wanted` that differ from the bases. Reuses the comparison of the selection if it
/// has the same bases.
pub(crate) fn find_changes_since(
    snapshot: &Snapshot<'_>,
    bases: &[CommitId],
    comparison: Option<&ComparedChanges>,
    is_wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Change>, GitError> {
    match comparison.filter(|comparison| comparison.bases == bases) {
        Some(comparison) => {
            let has_wanted_path = |change: &&Change| change.paths().any(is_wanted);
            Ok(comparison
                .changes
                .iter()
                .filter(has_wanted_path)
                .cloned()
                .collect())
        }
        None => snapshot.find_changes(bases, is_wanted),
    }
}

/// Returns the bases that the report names. Returns an empty list if the clone lacks one of them or cannot read it.
pub(crate) fn find_report_bases(repo: &Repository, report: &Report) -> Vec<CommitId> {
    let context = &report.context;
    let ids = context.base.iter().chain(&context.other_bases);
    let bases: Option<Vec<CommitId>> = ids
        .map(|id| repo.find_commit_with_id(id).ok().flatten())
        .collect();
    bases.unwrap_or_default()
}

/// Adds the number of callers of each changed pipeline, and the first of them; also of the pipelines that may call it.
/// A file that cannot be read is not a caller here, because it is reported elsewhere. If git fails, the callers are
/// omitted and the error is only logged.
fn add_callers(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    changed_files: &mut [ChangedFile],
    facts: ChangedPipelineFacts,
) {
    if changed_files.is_empty() {
        return;
    }
    let changed_paths: BTreeSet<&str> = changed_files
        .iter()
        .map(|file| file.summary.path.as_str())
        .collect();
    match CallGraph::read_callers_of(repo, snapshot, &changed_paths, facts.into_iter().collect()) {
        Ok(call_graph) => {
            for file in changed_files {
                let summary = &mut file.summary;
                let callers = call_graph.callers_of(&summary.path);
                summary.called_by = Some(callers.certain.len());
                summary.callers = list_first_callers(&callers.certain);
                summary.may_be_called_by = callers.possible.len();
                summary.possible_callers = list_first_callers(&callers.possible);
            }
        }
        Err(error) => tracing::debug!("could not read the callers of the changed pipelines: {error}"),
    }
}

/// Returns the callers that a report lists.
fn list_first_callers(paths: &[&str]) -> Vec<String> {
    let listed_paths = paths.iter().take(MAX_LISTED_CALLERS);
    listed_paths.map(ToString::to_string).collect()
}
