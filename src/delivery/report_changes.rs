//! The changes in a report that was read from a file, and drawings of unchanged pipelines.

use super::Delivery;
use crate::document_content::read_document;
use crate::gate::changes::change_list::find_changed_pipelines;
use crate::gate::changes::page_pictures::{MAX_PICTURE_ATTEMPTS, MAX_PICTURES};
use crate::gate::changes::pipeline_change::limit_canvas;
use sluicegate_pipelines::findings::{ChangeSummary, Report};
use sluicegate_pipelines::picture::Canvas;
use sluicegate_reports::ChangedFile;
use std::collections::{BTreeMap, BTreeSet};

/// Returns the changes that a report from a file lists. The report has only a summary of each change. If the clone has
/// both commits, they are compared again to add the lines and the picture of each change.
pub(super) fn list_report_changes(delivery: &Delivery<'_>) -> Vec<ChangedFile> {
    let summaries_by_path: BTreeMap<&str, &ChangeSummary> = delivery
        .report
        .changes
        .iter()
        .flatten()
        .map(|summary| (summary.path.as_str(), summary))
        .collect();
    let mut compared_files: BTreeMap<String, ChangedFile> = BTreeMap::new();
    if !summaries_by_path.is_empty()
        && let Some((repo, snapshot)) = delivery.files
        && let Ok(Some(files)) = find_changed_pipelines(
            repo,
            snapshot,
            delivery.report,
            delivery.compared_changes,
            &|path| summaries_by_path.contains_key(path),
        )
    {
        compared_files.extend(files.into_iter().map(|file| (file.summary.path.clone(), file)));
    }
    summaries_by_path
        .into_values()
        .map(|summary| {
            let compared_file = compared_files.remove(&summary.path);
            match compared_file {
                Some(file) => ChangedFile {
                    summary: summary.clone(),
                    ..file
                },
                None => ChangedFile {
                    summary: summary.clone(),
                    change_lines: Vec::new(),
                    picture: None,
                    touched_ranges: None,
                },
            }
        })
        .collect()
}

/// Draws unchanged pipelines with findings about components, up to [`MAX_PICTURES`] in [`MAX_PICTURE_ATTEMPTS`]
/// attempts; changed pipelines are drawn with their change instead. A pipeline that cannot be read, or whose drawing is
/// too large, is omitted. Also returns the paths of the pipelines beyond the limits.
pub(super) fn draw_unchanged_pipelines(
    delivery: &Delivery<'_>,
    report: &Report,
    changes: &[ChangedFile],
) -> (BTreeMap<String, Canvas>, BTreeSet<String>) {
    let mut canvases = BTreeMap::new();
    let mut omitted_paths = BTreeSet::new();
    let Some((repo, snapshot)) = delivery.files else {
        return (canvases, omitted_paths);
    };
    let changed_paths: BTreeSet<&str> = changes.iter().map(|file| file.summary.path.as_str()).collect();
    let files_with_findings = report
        .files
        .iter()
        .filter(|file| file.findings().iter().any(|finding| finding.about.is_some()));
    let paths: BTreeSet<&str> = files_with_findings
        .map(|file| file.path.as_str())
        .filter(|path| !changed_paths.contains(path))
        .collect();
    let files = snapshot.find_files(&paths).unwrap_or_default();
    for (file_index, file) in files.into_iter().enumerate() {
        if canvases.len() == MAX_PICTURES || file_index >= MAX_PICTURE_ATTEMPTS {
            omitted_paths.insert(file.path);
        } else if let Ok(Ok(content)) = read_document(repo, &file)
            && let Ok(canvas) = Canvas::from_pipeline(&content)
            && let Some(drawn_canvas) = limit_canvas(canvas)
        {
            canvases.insert(file.path, drawn_canvas);
        }
    }
    (canvases, omitted_paths)
}
