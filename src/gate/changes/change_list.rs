//! The changes for the reports that include them: counts for the JSON report, text and drawings for human-readable
//! reports.

use crate::error::Failure;
use crate::gate::changes::pipeline_change::told_with_facts;
use crate::gate::{ComparedChanges, Pairs, is_within};
use crate::job::ci::Host;
use crate::job::cli::{Annotations, Changes};
use crate::job::settings::ReportDestinations;
use crate::publish::{Callers, MOST_CALLERS};
use crate::report::{ChangedFile, Format};
use crate::session::Run;
use crate::session::step_report::STEP_SUMMARY;
use sluicegate_git::{Change, CommitId, GitError, Repository, Snapshot};
use sluicegate_pipelines::findings::{Report, Shard};
use sluicegate_pipelines::pipelines::{PipelineFacts, is_pipeline};
use std::collections::BTreeSet;

/// Returns whether any configured output includes the list of changes.
pub(crate) fn writes_changes(run: &Run, host: Host, to: &ReportDestinations) -> bool {
    to.changes == Changes::Auto && has_output(run, host, to, Format::needs_changes)
}

/// Returns whether any configured output has this property of a format. A comment, the step summary and an annotation
/// of Buildkite are Markdown.
pub(crate) fn has_output(
    run: &Run,
    host: Host,
    to: &ReportDestinations,
    has_property: fn(Format) -> bool,
) -> bool {
    let has_markdown = to.comment
        || (to.annotations != Annotations::None && host == Host::Buildkite)
        || run.env.get(STEP_SUMMARY).is_some();
    to.has_report(has_property) || (has_markdown && has_property(Format::Markdown))
}

/// Returns the changed pipelines that `wants` accepts, from the base of the report to the reviewed files, or `None` if
/// there was no comparison.
pub(crate) fn changes(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    report: &Report,
    compared: Option<&ComparedChanges>,
    wants: &dyn Fn(&str) -> bool,
) -> Result<Option<Vec<ChangedFile>>, Failure> {
    let bases = bases(repo, report);
    if bases.is_empty() {
        return Ok(None);
    }
    let mut changes = since(snapshot, &bases, compared, &|path| {
        is_pipeline(path) && wants(path)
    })?;
    let context = &report.context;
    changes.retain(|change| is_included(change, wants, &context.paths, context.shard));
    Ok(Some(compared_pairs(repo, snapshot, &bases, &changes, |_| ())?))
}

/// Returns whether the list of changes includes this one: a wanted pipeline within the given paths and the shard.
pub(crate) fn is_included(
    change: &Change,
    wants: &dyn Fn(&str) -> bool,
    paths: &[String],
    shard: Option<Shard>,
) -> bool {
    let is_meant = |path: &str| paths.is_empty() || paths.iter().any(|wanted| is_within(path, wanted));
    change.paths().any(|path| is_pipeline(path) && wants(path))
        && change.paths().any(is_meant)
        && shard.is_none_or(|shard| shard.contains(&change.path))
}

/// The facts about pipelines of the head, by path.
pub(crate) type FactsOfFiles = Vec<(String, PipelineFacts)>;

/// Compares both sides of each change, passes the facts about the changed pipelines to `read`, and counts the callers.
pub(crate) fn compared_pairs(
    repo: &Repository,
    head: &Snapshot<'_>,
    bases: &[CommitId],
    changes: &[Change],
    read: impl FnOnce(&FactsOfFiles),
) -> Result<Vec<ChangedFile>, GitError> {
    let pairs = Pairs { repo, head, bases };
    let compared = pairs.each(changes, &|at, contents| told_with_facts(contents, at))?;
    let (mut all, facts): (Vec<ChangedFile>, Vec<_>) = compared.into_iter().unzip();
    let of_files = all.iter().map(|file| &file.changed.path).zip(facts);
    let of_pipelines = of_files.filter(|(path, _)| is_pipeline(path));
    let facts = of_pipelines.filter_map(|(path, facts)| Some((path.clone(), facts?)));
    let facts = facts.collect();
    read(&facts);
    count_callers(repo, head, &mut all, facts);
    Ok(all)
}

/// Returns the wanted files that differ from the bases, reusing the changes of the selection if it has the same bases.
pub(crate) fn since(
    snapshot: &Snapshot<'_>,
    bases: &[CommitId],
    compared: Option<&ComparedChanges>,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<Change>, GitError> {
    match compared.filter(|compared| compared.since == bases) {
        Some(compared) => {
            let is_wanted = |change: &&Change| change.paths().any(wanted);
            Ok(compared.changes.iter().filter(is_wanted).cloned().collect())
        }
        None => snapshot.changes(bases, wanted),
    }
}

/// Returns the bases of the report, or an empty list if the clone lacks one of them.
pub(crate) fn bases(repo: &Repository, report: &Report) -> Vec<CommitId> {
    let context = &report.context;
    let ids = context.base.iter().chain(&context.other_bases);
    let found: Option<Vec<CommitId>> = ids.map(|id| repo.commit_with_id(id)).collect();
    found.unwrap_or_default()
}

/// Counts the callers of each changed pipeline. Unreadable files are reported elsewhere; here they count as no caller.
fn count_callers(repo: &Repository, snapshot: &Snapshot<'_>, told: &mut [ChangedFile], read: FactsOfFiles) {
    if told.is_empty() {
        return;
    }
    let paths: BTreeSet<String> = told.iter().map(|file| file.changed.path.clone()).collect();
    let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    match Callers::calling(repo, snapshot, &paths, read.into_iter().collect()) {
        Ok(callers) => {
            for file in told {
                let named = callers.of(&file.changed.path);
                file.changed.called_by = Some(named.len());
                let first = named.into_iter().take(MOST_CALLERS);
                file.changed.callers = first.map(str::to_owned).collect();
            }
        }
        Err(why) => tracing::debug!("could not read the callers of the changed pipelines: {why}"),
    }
}
