//! What changed, for the reports that tell it: in numbers for the JSON report, in words and drawn for people.

use super::{Delivery, DeliveryPlace};
use crate::base::error::Failure;
use crate::base::git::{Change, CommitId, GitError, Repository, Snapshot};
use crate::commands::Run;
use crate::commands::gate::changed::{MOST_PICTURES, bounded, told};
use crate::gate::{ComparedChanges, Pairs, is_within};
use crate::job::ci::Host;
use crate::job::cli::{Annotations, Changes};
use crate::job::settings::Destinations;
use crate::model::findings::{Changed, Report, Shard};
use crate::model::picture::Canvas;
use crate::model::pipelines::{document, is_pipeline};
use crate::publish::{Callers, MOST_CALLERS};
use crate::report::{ChangedFile, Format};
use std::collections::{BTreeMap, BTreeSet};

/// The file of a step summary, where the host has one.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Whether anything that is delivered tells it.
pub(super) fn is_told(run: &Run, host: Host, to: &Destinations) -> bool {
    let shows = to.annotations != Annotations::None && host == Host::Buildkite;
    to.changes == Changes::Auto
        && (to.has_report(&[Format::Json, Format::Markdown, Format::Html])
            || to.comment
            || shows
            || run.env.get(STEP_SUMMARY).is_some())
}

/// The changed pipelines that `wants` takes, from the base of the report to what was judged; none where nothing was
/// compared.
pub(super) fn changes(
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
    let paths = &report.context.paths;
    let is_meant = |path: &str| paths.is_empty() || paths.iter().any(|wanted| is_within(path, wanted));
    changes.retain(|change| change.paths().any(is_meant));
    changes.retain(|change| {
        report
            .context
            .shard
            .is_none_or(|shard: Shard| shard.holds(&change.path))
    });
    let pairs = Pairs {
        repo,
        head: snapshot,
        bases: &bases,
    };
    let mut all = pairs.each(&changes, &|at, contents| told(contents, at))?;
    count_callers(repo, snapshot, &mut all);
    Ok(Some(all))
}

/// The wanted files that differ from the bases: those that the selection found, where it compared with the same.
pub(super) fn since(
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

/// The bases of the report, as far as the clone has them all.
pub(super) fn bases(repo: &Repository, report: &Report) -> Vec<CommitId> {
    let context = &report.context;
    let ids = context.base.iter().chain(&context.other_bases);
    let found: Option<Vec<CommitId>> = ids.map(|id| repo.commit_with_id(id)).collect();
    found.unwrap_or_default()
}

/// What cannot be read is said elsewhere; here nobody is known to call then.
fn count_callers(repo: &Repository, snapshot: &Snapshot<'_>, told: &mut [ChangedFile]) {
    if told.is_empty() {
        return;
    }
    let paths: BTreeSet<String> = told.iter().map(|file| file.changed.path.clone()).collect();
    let paths: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    match Callers::read(repo, snapshot, &paths) {
        Ok(callers) => {
            for file in told {
                let named = callers.of(&file.changed.path);
                file.changed.called_by = Some(named.len());
                file.changed.callers = named.iter().take(MOST_CALLERS).cloned().collect();
            }
        }
        Err(why) => tracing::debug!("who calls the changed pipelines could not be read: {why}"),
    }
}

/// The changes as a report has them, for a report that was read: in words where the clone has both commits.
pub(super) fn of_report(place: &DeliveryPlace<'_>, delivery: &Delivery<'_>) -> Vec<ChangedFile> {
    let numbers = delivery.report.changes.iter().flatten();
    let known: BTreeMap<&str, &Changed> = numbers.map(|changed| (changed.path.as_str(), changed)).collect();
    let wants = |path: &str| known.contains_key(path);
    let found = place
        .files
        .filter(|_| !known.is_empty())
        .and_then(|(repo, snapshot)| {
            changes(repo, snapshot, delivery.report, delivery.compared, &wants)
                .ok()
                .flatten()
        });
    let mut found: BTreeMap<String, ChangedFile> = found
        .into_iter()
        .flatten()
        .map(|file| (file.changed.path.clone(), file))
        .collect();
    let one = |changed: &Changed| {
        let shown = found.remove(&changed.path);
        let (words, picture) = shown.map(|file| (file.words, file.picture)).unwrap_or_default();
        ChangedFile {
            changed: changed.clone(),
            words,
            picture,
        }
    };
    known.into_values().map(one).collect()
}

/// The pipelines with findings that did not change, drawn; the first ones.
pub(super) fn pictures(
    place: &DeliveryPlace<'_>,
    report: &Report,
    changes: &[ChangedFile],
) -> BTreeMap<String, Canvas> {
    let Some((repo, snapshot)) = place.files else {
        return BTreeMap::new();
    };
    let drawn: BTreeSet<&str> = changes.iter().map(|file| file.changed.path.as_str()).collect();
    let found = report.files.iter().filter(|file| !file.findings().is_empty());
    let wanted: BTreeSet<&str> = found
        .map(|file| file.path.as_str())
        .filter(|path| !drawn.contains(path))
        .take(MOST_PICTURES)
        .collect();
    let files = if wanted.is_empty() {
        Vec::new()
    } else {
        snapshot.files(&|path| wanted.contains(path)).unwrap_or_default()
    };
    let canvases = files.into_iter().filter_map(|file| {
        let content = document(repo, &file).ok()?.ok()?;
        Some((file.path, bounded(Canvas::of(&content).ok()?)?))
    });
    canvases.collect()
}
