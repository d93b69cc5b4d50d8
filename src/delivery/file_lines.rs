//! Adds to the facts for report writers the lines of the files that they show, and which lines the change touched.

use super::Delivery;
use super::needed_lines::NeededLines;
use crate::document_content::read_document;
use crate::gate::ComparedChanges;
use crate::gate::changes::change_list;
use sluicegate_base::input::is_utf_16;
use sluicegate_base::overlap;
use sluicegate_git::{
    BlobId, Change, CommitId, FileContent, GitError, OldContent, Repository, Snapshot, SnapshotFile,
};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_reports::{ChangedFile, ReportContext, select_touched_lines};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

/// Adds to the context the text of the lines that the outputs show, and which lines with findings the change touched.
/// If the shown lines depend on the touched lines, the files are first only compared with the base.
pub(super) fn add_file_lines(delivery: &Delivery<'_>, context: &mut ReportContext) {
    let Some((repo, snapshot)) = delivery.files else {
        return;
    };
    let files = ReportedFiles {
        repo,
        snapshot,
        bases: change_list::find_report_bases(repo, delivery.report),
        compared_changes: delivery.compared_changes,
        touched_ranges: find_touched_ranges(&context.changes),
    };
    let mut needed_lines = NeededLines::default();
    if !files.bases.is_empty() {
        needed_lines = NeededLines::for_sorting(delivery);
    }
    if NeededLines::depends_on_touched_lines(delivery) {
        files.add_lines_or_log(&needed_lines, context);
        needed_lines = NeededLines::default();
    }
    needed_lines.add_shown_lines(delivery, &context.changed_lines);
    files.add_lines_or_log(&needed_lines, context);
}

/// The files that a report is about.
struct ReportedFiles<'a> {
    repo: &'a Repository,
    snapshot: &'a Snapshot<'a>,
    bases: Vec<CommitId>,
    compared_changes: Option<&'a ComparedChanges>,
    /// The touched lines of the pipelines that this run compared, by path.
    touched_ranges: HashMap<String, Vec<RangeInclusive<u32>>>,
}

/// Returns the touched lines of the compared pipelines, by path.
fn find_touched_ranges(changes: &[ChangedFile]) -> HashMap<String, Vec<RangeInclusive<u32>>> {
    let mut ranges_by_path = HashMap::new();
    for file in changes {
        if let Some(ranges) = &file.touched_ranges {
            ranges_by_path.insert(file.summary.path.clone(), ranges.clone());
        }
    }
    ranges_by_path
}

/// A file whose lines are shown or compared.
struct ReportedFile<'n> {
    path: String,
    content: Vec<u8>,
    lines: Option<&'n BTreeSet<u32>>,
    /// The difference from the base, if it is needed.
    difference: Option<BaseDifference<'n>>,
}

/// The difference of a file from the base: found by an earlier comparison, or yet to be found.
enum BaseDifference<'n> {
    TouchedRanges(&'n [RangeInclusive<u32>]),
    OldContent(OldContent),
}

impl ReportedFile<'_> {
    /// Returns the size of the new and the old content in memory, in bytes.
    fn size(&self) -> usize {
        let old_size = match &self.difference {
            Some(BaseDifference::OldContent(OldContent::Loaded(old_bytes))) => old_bytes.len(),
            _ => 0,
        };
        self.content.len() + old_size
    }

    /// Returns the file together with its touched lines, see [`Self::find_touched_lines`]. The files are compared in
    /// parallel, so each result must contain its file.
    fn with_touched_lines(self, needed_lines: &NeededLines<'_>) -> (Self, Option<BTreeSet<u32>>) {
        let touched_lines = self.find_touched_lines(needed_lines);
        (self, touched_lines)
    }

    /// Returns the lines with findings that the change touched. Returns `None` if the file is not compared.
    fn find_touched_lines(&self, needed_lines: &NeededLines<'_>) -> Option<BTreeSet<u32>> {
        let hunks = match self.difference.as_ref()? {
            BaseDifference::TouchedRanges(ranges) => Cow::Borrowed(*ranges),
            BaseDifference::OldContent(old_content) => {
                Cow::Owned(old_content.find_changed_lines(&self.content))
            }
        };
        let lines = needed_lines.compared_lines.get(self.path.as_str());
        let text = String::from_utf8_lossy(&self.content);
        Some(select_touched_lines(
            &text,
            lines.into_iter().flatten().copied(),
            &hunks,
        ))
    }
}

impl ReportedFiles<'_> {
    /// Adds the needed lines to the context. An error is only logged, because reports can omit the lines.
    fn add_lines_or_log(&self, needed_lines: &NeededLines<'_>, context: &mut ReportContext) {
        if needed_lines.is_empty() {
            return;
        }
        if let Err(error) = self.add_lines(needed_lines, context) {
            tracing::debug!("could not read the lines of findings: {error}");
        }
    }

    /// Reads the files with needed lines, compares them with the base in parallel, and adds the lines to the context.
    /// Once the context has its maximum amount of text, only touched lines are added.
    fn add_lines(&self, needed_lines: &NeededLines<'_>, context: &mut ReportContext) -> Result<(), GitError> {
        let files = self.snapshot.find_files(&needed_lines.collect_paths())?;
        let mut compared_paths: BTreeSet<&str> = needed_lines.compared_lines.keys().copied().collect();
        compared_paths.retain(|path| !self.touched_ranges.contains_key(*path));
        let old_blobs = self.find_old_blobs(&compared_paths)?;
        // The last closure sets this while later files are still to be read by the first one.
        let is_full = Cell::new(context.sources.is_full());
        let reported_files = files.iter().filter_map(|file| {
            let shown_lines = needed_lines
                .shown_lines
                .get(file.path.as_str())
                .filter(|_| !is_full.get());
            let difference = needed_lines
                .compared_lines
                .contains_key(file.path.as_str())
                .then(|| self.find_difference(&file.path, &old_blobs))
                .flatten();
            let reported_file = self.read_file(file, shown_lines, difference)?;
            // The size limits the number of files that are in memory at the same time.
            let size = reported_file.size();
            Some(Ok((reported_file, size)))
        });
        overlap::compute_each(
            reported_files,
            &|file| file.with_touched_lines(needed_lines),
            |(file, touched_lines)| {
                if let Some(lines) = file.lines {
                    context.sources.keep_lines_near(&file.path, &file.content, lines);
                    is_full.set(context.sources.is_full());
                }
                if let Some(touched_lines) = touched_lines {
                    context.changed_lines.add(file.path, touched_lines);
                }
            },
        )
    }

    /// Returns the difference of a file from the base. Returns `None` if the file did not change, or if its old content
    /// cannot be read. `old_blobs` are those of [`Self::find_old_blobs`].
    fn find_difference(
        &self,
        path: &str,
        old_blobs: &HashMap<String, Option<BlobId>>,
    ) -> Option<BaseDifference<'_>> {
        if let Some(ranges) = self.touched_ranges.get(path) {
            return Some(BaseDifference::TouchedRanges(ranges));
        }
        let old_content = self.repo.read_old_content(old_blobs.get(path)?.as_ref()).ok()?;
        Some(BaseDifference::OldContent(old_content))
    }

    /// Reads a file; `None` if nothing in it is needed or it cannot be read.
    fn read_file<'n>(
        &self,
        file: &SnapshotFile,
        lines: Option<&'n BTreeSet<u32>>,
        difference: Option<BaseDifference<'n>>,
    ) -> Option<ReportedFile<'n>> {
        if lines.is_none() && difference.is_none() {
            return None;
        }
        let content = read_document(self.repo, file).ok()?.ok()?;
        // The lines of an encrypted file, or of one in UTF-16, would be unreadable.
        let has_readable_lines = !is_utf_16(&content) && !content.starts_with(&[0]);
        Some(ReportedFile {
            path: file.path.clone(),
            content,
            lines: lines.filter(|_| has_readable_lines),
            difference,
        })
    }

    /// Returns the old content (the git blob) of each of these files that changed since its base, by the file's current
    /// path. The blob is `None` if the file did not exist at the base.
    fn find_old_blobs(&self, paths: &BTreeSet<&str>) -> Result<HashMap<String, Option<BlobId>>, GitError> {
        if self.bases.is_empty() || paths.is_empty() {
            return Ok(HashMap::new());
        }
        // The rename of a pipeline is found only if its old path is wanted, too.
        let is_wanted = |path: &str| paths.contains(path) || is_pipeline(path);
        // The comparison of the selection contains no other files, such as the shared-pipelines file.
        let compared_changes = self
            .compared_changes
            .filter(|_| paths.iter().all(|path| is_pipeline(path)));
        let mut changes =
            change_list::find_changes_since(self.snapshot, &self.bases, compared_changes, &is_wanted)?;
        changes.retain(|change| paths.contains(change.path.as_str()));
        let mut old_blobs = HashMap::new();
        for (base_index, base) in self.bases.iter().enumerate() {
            let base_changes: Vec<&Change> = changes
                .iter()
                .filter(|change| change.base_index == base_index)
                .collect();
            let old_paths: BTreeSet<&str> = base_changes
                .iter()
                .filter_map(|change| change.old_path())
                .collect();
            let old_files = self.repo.snapshot(base.clone()).find_files_by_path(&old_paths)?;
            for change in base_changes {
                let old_file = change.old_path().and_then(|path| old_files.get(path));
                // A file in a commit is always a blob.
                let old_blob = old_file.and_then(|file| match file.content {
                    FileContent::Blob(blob) => Some(blob),
                    FileContent::Disk(_) => None,
                });
                old_blobs.insert(change.path.clone(), old_blob);
            }
        }
        Ok(old_blobs)
    }
}
