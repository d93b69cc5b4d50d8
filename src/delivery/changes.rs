//! The changes of a report that was read from a file, and drawings of unchanged pipelines.

use super::Delivery;
use crate::document_content::read_document;
use crate::gate::changes::change_list::changes;
use crate::gate::changes::pipeline_change::{MOST_PICTURES, bounded};
use crate::report::ChangedFile;
use sluicegate_pipelines::findings::{ChangeSummary, Report};
use sluicegate_pipelines::picture::Canvas;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the changes listed in a report that was read from a file, with their text if the clone has both commits.
pub(super) fn of_report(delivery: &Delivery<'_>) -> Vec<ChangedFile> {
    let numbers = delivery.report.changes.iter().flatten();
    let known: BTreeMap<&str, &ChangeSummary> =
        numbers.map(|changed| (changed.path.as_str(), changed)).collect();
    let wants = |path: &str| known.contains_key(path);
    let found = delivery
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
    let one = |changed: &ChangeSummary| {
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

/// Returns drawings of the first unchanged pipelines with findings.
pub(super) fn pictures(
    delivery: &Delivery<'_>,
    report: &Report,
    changes: &[ChangedFile],
) -> BTreeMap<String, Canvas> {
    let Some((repo, snapshot)) = delivery.files else {
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
        let content = read_document(repo, &file).ok()?.ok()?;
        Some((file.path, bounded(Canvas::from_pipeline(&content).ok()?)?))
    });
    canvases.collect()
}
