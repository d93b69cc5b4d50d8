//! Collects the context that the writers need besides the review: lines of files, changed lines, texts of rules, links.

use super::needed_lines::Needed;
use super::{Delivery, changes, report_files, repository_links, reproduction};
use crate::document_content::read_document;
use crate::gate::ComparedChanges;
use crate::gate::changes::change_list;
use crate::job::ci::Host;
use crate::job::settings::FILE_NAME;
use crate::report::{About, ChangedFile, Format, PathBase, RuleText, SarifLimits, touched_lines};
use crate::session::Run;
use sluicegate_base::overlap;
use sluicegate_git::{
    BlobId, Change, CommitId, Content, FormerContent, GitError, Repository, Snapshot, SnapshotFile,
};
use sluicegate_pipelines::findings::{Report, Verdict};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules;
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

/// Returns the context for the writers. Unreadable files are left out: a review is shown even if its files cannot be.
pub(super) fn about(run: &Run, delivery: &Delivery<'_>, changes: Option<Vec<ChangedFile>>) -> About {
    let (report, to) = (delivery.report, delivery.to);
    let has_links = change_list::has_output(run, delivery.host(), to, Format::needs_links);
    let mut about = About {
        tool_version: env!("CARGO_PKG_VERSION"),
        blob_url: has_links
            .then(|| repository_links::blob_url(run, delivery, report))
            .flatten(),
        repository_url: repository_links::repository_url(run, delivery.host()),
        repository: repository_links::repository(run, delivery),
        project: run.global.project_id.clone().or_else(|| to.project_id.clone()),
        sarif_limits: (delivery.host() == Host::GitHub).then_some(SarifLimits::GITHUB),
        category: to.category.clone(),
        show: to.show,
        path_base: path_base(run, delivery),
        told: run.shown_texts(),
        wrong_rules: delivery.wrong_rules.clone(),
        missing_rules_hint: delivery.missing_rules_hint.clone(),
        reproduce: reproduction::command(run, delivery),
        reports: report_files::places(run, delivery.host(), delivery),
        rules: rule_texts(),
        any_file: any_file(delivery, report),
        ..About::default()
    };
    if change_list::writes_changes(run, delivery.host(), to) {
        about.changes = changes.unwrap_or_else(|| changes::of_report(delivery));
    }
    if to.has_report(Format::is_page) {
        about.pictures = changes::pictures(delivery, report, &about.changes);
    }
    read_files(run, delivery, &mut about);
    about
}

/// Returns the directory that the paths of the log are relative to: in a local run the current directory, so that an
/// editor or a shell finds the files; in CI the repository root, as in the reports.
fn path_base(run: &Run, delivery: &Delivery<'_>) -> PathBase {
    let Some((repo, _)) = delivery
        .files
        .filter(|(repo, _)| delivery.host().is_local() && !repo.is_bare())
    else {
        return PathBase::Root;
    };
    let (root, here) = (repo.root().canonicalize(), run.env.current_dir().canonicalize());
    let (Ok(root), Ok(here)) = (root, here) else {
        return PathBase::Root;
    };
    if let Ok(below) = here.strip_prefix(&root) {
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        return if parts.is_empty() {
            PathBase::Root
        } else {
            PathBase::Below(parts.join("/"))
        };
    }
    let root = root.strip_prefix(&here).unwrap_or(&root);
    PathBase::Outside(root.to_string_lossy().into_owned())
}

/// Returns a file of the reviewed commit if an entry about the run needs one: the configuration file if there is one.
fn any_file(delivery: &Delivery<'_>, report: &Report) -> Option<String> {
    let has_path = !report.files.is_empty() || !report.unreviewed_files.is_empty();
    if has_path || (report.verdict == Verdict::Passed && report.limits.is_empty()) {
        return None;
    }
    let (_, snapshot) = delivery.files?;
    if let Ok(Some(file)) = snapshot.find(FILE_NAME) {
        return Some(file.path);
    }
    let mut files = snapshot.files(&|_| true).ok()?;
    (!files.is_empty()).then(|| files.swap_remove(0).path)
}

/// Reads the lines that the writers show, and determines which of them the change touched.
fn read_files(run: &Run, delivery: &Delivery<'_>, about: &mut About) {
    let Some((repo, snapshot)) = delivery.files else {
        return;
    };
    let files = ReportedFiles {
        repo,
        snapshot,
        bases: change_list::bases(repo, delivery.report),
        compared: delivery.compared,
    };
    let read = |needed: &Needed<'_>, about: &mut About| {
        if needed.is_nothing() {
            return;
        }
        if let Err(error) = files.read(needed, about) {
            tracing::debug!("could not read the lines of findings: {error}");
        }
    };
    let mut needed = Needed::default();
    if !files.bases.is_empty() {
        needed = Needed::for_order(run, delivery);
    }
    if Needed::lines_depend_on_order(run, delivery) {
        read(&needed, about);
        needed = Needed::default();
    }
    needed.add_lines(run, delivery, &about.changed);
    read(&needed, about);
}

/// The files that a report is about.
struct ReportedFiles<'a> {
    repo: &'a Repository,
    snapshot: &'a Snapshot<'a>,
    bases: Vec<CommitId>,
    compared: Option<&'a ComparedChanges>,
}

/// A file whose lines are shown or compared.
struct ReportedFile<'n> {
    path: String,
    content: Vec<u8>,
    lines: Option<&'n BTreeSet<u32>>,
    /// The content at the base, if it is compared.
    former: Option<FormerContent>,
}

impl ReportedFile<'_> {
    fn size(&self) -> usize {
        let former = match &self.former {
            Some(FormerContent::Held(former)) => former.len(),
            _ => 0,
        };
        self.content.len() + former
    }

    /// Compares the file, and returns it with those of the lines of findings that the change touched.
    fn compared(self, needed: &Needed<'_>) -> (Self, Option<BTreeSet<u32>>) {
        let touched = self.touched(needed);
        (self, touched)
    }

    /// Returns the touched lines; `None` if they are not wanted or the file cannot be compared.
    fn touched(&self, needed: &Needed<'_>) -> Option<BTreeSet<u32>> {
        let hunks = self.former.as_ref()?.changed_lines(&self.content).ok()?;
        let lines = needed.touched.get(self.path.as_str());
        let text = String::from_utf8_lossy(&self.content);
        Some(touched_lines(&text, lines.into_iter().flatten().copied(), &hunks))
    }
}

impl ReportedFiles<'_> {
    fn read(&self, needed: &Needed<'_>, about: &mut About) -> Result<(), GitError> {
        let files = self.snapshot.files(&|path| needed.takes(path))?;
        let former = self.former(&needed.touched.keys().copied().collect())?;
        let is_full = Cell::new(about.sources.is_full());
        let reported = files.iter().filter_map(|file| {
            let lines = needed.lines.get(file.path.as_str());
            let lines = lines.filter(|_| !is_full.get());
            let reported = self.reported(file, lines, former.get(&file.path))?;
            let size = reported.size();
            Some(Ok((reported, size)))
        });
        overlap::each(reported, &|file| file.compared(needed), |(file, touched)| {
            if let Some(lines) = file.lines {
                about.sources.add(&file.path, &file.content, lines);
                is_full.set(about.sources.is_full());
            }
            if let Some(touched) = touched {
                about.changed.add(file.path, touched);
            }
        })
    }

    /// Reads a file; `None` if nothing of it is needed or it cannot be read.
    fn reported<'n>(
        &self,
        file: &SnapshotFile,
        lines: Option<&'n BTreeSet<u32>>,
        old: Option<&Option<BlobId>>,
    ) -> Option<ReportedFile<'n>> {
        if lines.is_none() && old.is_none() {
            return None;
        }
        Some(ReportedFile {
            path: file.path.clone(),
            content: read_document(self.repo, file).ok()?.ok()?,
            lines,
            former: old.and_then(|old| self.repo.former_content(old.as_ref()).ok()),
        })
    }

    /// Returns the blob at the base of each of these files that changed; `None` for an added file.
    fn former(&self, meant: &BTreeSet<&str>) -> Result<HashMap<String, Option<BlobId>>, GitError> {
        if self.bases.is_empty() || meant.is_empty() {
            return Ok(HashMap::new());
        }
        let wanted = |path: &str| meant.contains(path) || is_pipeline(path);
        let mut changes = change_list::since(self.snapshot, &self.bases, self.compared, &wanted)?;
        changes.retain(|change| meant.contains(change.path.as_str()));
        let mut former = HashMap::new();
        for (at, base) in self.bases.iter().enumerate() {
            let since: Vec<&Change> = changes.iter().filter(|change| change.base == at).collect();
            let paths: BTreeSet<&str> = since.iter().filter_map(|change| change.path_before()).collect();
            let before = self.repo.snapshot(base.clone()).find_all(&paths)?;
            let old = |change: &Change| match before.get(change.path_before()?)?.content {
                Content::Blob(blob) => Some(blob),
                Content::Disk(_) => None,
            };
            former.extend(since.iter().map(|change| (change.path.clone(), old(change))));
        }
        Ok(former)
    }
}

/// Returns the texts of this program's rules, which are the platform's, and of the project checks.
fn rule_texts() -> Vec<RuleText> {
    let text = |rule: &&dyn rules::Rule| {
        let known = rule.documentation();
        let help = std::iter::once(known.reason).chain(known.details.iter().copied());
        RuleText {
            id: known.id.to_owned(),
            summary: known.summary.to_owned(),
            fix: known.fix.to_owned(),
            help: help
                .chain(known.assumptions.iter().copied())
                .map(str::to_owned)
                .collect(),
            blocks: known.blocks(),
        }
    };
    let checks = ProjectCheck::ALL
        .map(ProjectCheck::documentation)
        .into_iter()
        .map(|known| {
            let help = std::iter::once(known.reason).chain(known.details.iter().copied());
            RuleText {
                id: known.check.id().to_owned(),
                summary: known.summary.to_owned(),
                fix: known.fix.to_owned(),
                help: help.chain([known.fix]).map(str::to_owned).collect(),
                blocks: known.blocks(),
            }
        });
    rules::registry().iter().map(text).chain(checks).collect()
}
