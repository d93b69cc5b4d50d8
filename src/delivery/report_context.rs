//! Collects the facts that report writers need in addition to the report: lines of files, changed lines, texts about
//! the rules, links.

use super::azure_variables::find_azure_build;
use super::needed_lines::NeededLines;
use super::{Delivery, report_changes, report_files, repository_links, reproduction};
use crate::document_content::read_document;
use crate::gate::ComparedChanges;
use crate::gate::changes::change_list;
use crate::job::ci::Host;
use crate::job::settings::FILE_NAME;
use crate::report::terminal::TerminalLinks;
use crate::report::{
    ChangedFile, Format, PathBase, ReportContext, RuleText, SarifLimits, select_touched_lines,
};
use crate::session::Run;
use sluicegate_base::{address, overlap};
use sluicegate_git::{
    BlobId, Change, CommitId, FileContent, GitError, OldContent, Repository, Snapshot, SnapshotFile,
};
use sluicegate_pipelines::findings::{Report, Verdict};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules;
use sluicegate_pipelines::team_rules::{TeamRule, TeamRuleSet};
use std::cell::Cell;
use std::collections::{BTreeSet, HashMap};

/// Collects the facts that the outputs show in addition to the report: links, texts about the rules, lines of the
/// files. Facts that cannot be read are omitted, because the result of the review does not depend on them. This run
/// provides `changes` if it compared the pipelines.
pub(super) fn build_report_context(
    run: &Run,
    delivery: &Delivery<'_>,
    changes: Option<Vec<ChangedFile>>,
) -> ReportContext {
    let (report, destinations) = (delivery.report, delivery.destinations);
    let has_links = change_list::has_output(run, delivery.host(), destinations, Format::needs_links);
    let mut context = ReportContext {
        tool_version: env!("CARGO_PKG_VERSION"),
        blob_url: has_links
            .then(|| repository_links::build_blob_url_template(run, delivery, report))
            .flatten(),
        repository_url: repository_links::find_repository_url(run, delivery.host()),
        repository: repository_links::find_repository_name(run, delivery),
        project: run
            .global
            .project_id
            .clone()
            .or_else(|| destinations.project_id.clone()),
        sarif_limits: (delivery.host() == Host::GitHub).then_some(SarifLimits::GITHUB),
        azure_build: (delivery.host() == Host::Azure)
            .then(|| find_azure_build(run))
            .flatten(),
        category: destinations.category.clone(),
        show: destinations.show,
        path_base: find_path_base(run, delivery),
        links: build_terminal_links(run, delivery),
        logged_reasons: run.shown_texts(),
        rules_file_errors: delivery.rules_file_errors.clone(),
        missing_rules_hint: delivery.missing_rules_hint.clone(),
        reproduction_command: reproduction::build_reproduction_command(run, delivery),
        reports: if reproduction::is_failed_review_in_ci(delivery) {
            report_files::describe_report_locations(run, delivery.host(), delivery)
        } else {
            Vec::new()
        },
        rules: list_rule_texts(delivery.team_rules),
        existing_file: find_anchor_file(delivery, report),
        ..ReportContext::default()
    };
    if change_list::needs_change_list(run, delivery.host(), destinations) {
        context.changes = changes.unwrap_or_else(|| report_changes::list_report_changes(delivery));
    }
    if destinations.has_report(Format::is_html_page) {
        context.pictures = report_changes::draw_unchanged_pipelines(delivery, report, &context.changes);
    }
    add_file_lines(delivery, &mut context);
    context
}

/// Returns the addresses for links in the log: to the files of the checkout, and to the documentation of this version.
/// Without support for links in the terminal, returns none.
fn build_terminal_links(run: &Run, delivery: &Delivery<'_>) -> TerminalLinks {
    let is_supported = if delivery.destinations.has_stdout_report() {
        run.ui.links_messages()
    } else {
        run.ui.links_output()
    };
    if !is_supported {
        return TerminalLinks::default();
    }
    let checkout = delivery.files.filter(|(repo, _)| !repo.is_bare());
    let root = checkout.and_then(|(repo, _)| repo.root().canonicalize().ok());
    TerminalLinks {
        root: root.map(|root| root.to_string_lossy().into_owned()),
        documentation: address::repository_url()
            .map(|url| format!("{url}/blob/v{}/docs", env!("CARGO_PKG_VERSION"))),
    }
}

/// Returns the directory that the paths in the log are relative to. In a local run, this is the current directory, even
/// outside the repository, because an editor or a shell finds the files from there. In CI, or if the current directory
/// cannot be determined, it is the repository root, as in reports.
fn find_path_base(run: &Run, delivery: &Delivery<'_>) -> PathBase {
    let Some((repo, _)) = delivery
        .files
        .filter(|(repo, _)| delivery.host().is_local() && !repo.is_bare())
    else {
        return PathBase::Root;
    };
    let (root, current_dir) = (repo.root().canonicalize(), run.env.current_dir().canonicalize());
    let (Ok(root), Ok(current_dir)) = (root, current_dir) else {
        return PathBase::Root;
    };
    if let Ok(directory) = current_dir.strip_prefix(&root) {
        let parts: Vec<_> = directory.iter().map(|part| part.to_string_lossy()).collect();
        return if parts.is_empty() {
            PathBase::Root
        } else {
            PathBase::Subdirectory(parts.join("/"))
        };
    }
    // If the root is below the current directory, its relative path is enough.
    let root = root.strip_prefix(&current_dir).unwrap_or(&root);
    PathBase::Outside(root.to_string_lossy().into_owned())
}

/// Returns a file of the reviewed commit, preferably the configuration file, for formats in which an entry about the
/// whole run must name a file. Returns `None` if the report lists a file, or there is nothing to report about the run.
fn find_anchor_file(delivery: &Delivery<'_>, report: &Report) -> Option<String> {
    let has_path = !report.files.is_empty() || !report.unreviewed_files.is_empty();
    if has_path || (report.verdict == Verdict::Passed && report.limits.is_empty()) {
        return None;
    }
    let (_, snapshot) = delivery.files?;
    if let Ok(Some(file)) = snapshot.find_file(FILE_NAME) {
        return Some(file.path);
    }
    let mut files = snapshot.list_files(&|_| true).ok()?;
    (!files.is_empty()).then(|| files.swap_remove(0).path)
}

/// Adds to the context the text of the lines that the outputs show, and which lines with findings the change touched.
/// If the shown lines depend on the touched lines, the files are first only compared with the base.
fn add_file_lines(delivery: &Delivery<'_>, context: &mut ReportContext) {
    let Some((repo, snapshot)) = delivery.files else {
        return;
    };
    let files = ReportedFiles {
        repo,
        snapshot,
        bases: change_list::find_report_bases(repo, delivery.report),
        compared_changes: delivery.compared_changes,
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
}

/// A file whose lines are shown or compared.
struct ReportedFile<'n> {
    path: String,
    content: Vec<u8>,
    lines: Option<&'n BTreeSet<u32>>,
    /// The content at the base, if it is compared.
    old_content: Option<OldContent>,
}

impl ReportedFile<'_> {
    /// Returns the size of the new and the old content in memory, in bytes.
    fn size(&self) -> usize {
        let old_size = match &self.old_content {
            Some(OldContent::Loaded(old_bytes)) => old_bytes.len(),
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

    /// Returns the lines with findings that the change touched. Returns `None` if no old content was read for a
    /// comparison, or if the contents cannot be compared.
    fn find_touched_lines(&self, needed_lines: &NeededLines<'_>) -> Option<BTreeSet<u32>> {
        let hunks = self
            .old_content
            .as_ref()?
            .find_changed_lines(&self.content)
            .ok()?;
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
        let files = self.snapshot.list_files(&|path| needed_lines.needs_file(path))?;
        let old_blobs = self.find_old_blobs(&needed_lines.compared_lines.keys().copied().collect())?;
        // The last closure sets this while later files are still to be read by the first one.
        let is_full = Cell::new(context.sources.is_full());
        let reported_files = files.iter().filter_map(|file| {
            let shown_lines = needed_lines
                .shown_lines
                .get(file.path.as_str())
                .filter(|_| !is_full.get());
            let reported_file = self.read_file(file, shown_lines, old_blobs.get(&file.path))?;
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

    /// Reads a file; `None` if nothing in it is needed or it cannot be read. `old_blob` is `None` if the file is not
    /// compared, and `Some(None)` if it is compared but did not exist at the base.
    fn read_file<'n>(
        &self,
        file: &SnapshotFile,
        lines: Option<&'n BTreeSet<u32>>,
        old_blob: Option<&Option<BlobId>>,
    ) -> Option<ReportedFile<'n>> {
        if lines.is_none() && old_blob.is_none() {
            return None;
        }
        Some(ReportedFile {
            path: file.path.clone(),
            content: read_document(self.repo, file).ok()?.ok()?,
            lines,
            old_content: old_blob.and_then(|blob| self.repo.read_old_content(blob.as_ref()).ok()),
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
        let mut changes =
            change_list::find_changes_since(self.snapshot, &self.bases, self.compared_changes, &is_wanted)?;
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
            let old_files = self.repo.snapshot(base.clone()).find_files(&old_paths)?;
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

/// Returns the texts about all rules, team rules and project checks, for formats that explain the rules.
fn list_rule_texts(team_rules: &TeamRuleSet) -> Vec<RuleText> {
    let checks = ProjectCheck::ALL
        .map(ProjectCheck::documentation)
        .into_iter()
        .map(|documentation| {
            let help = std::iter::once(documentation.reason).chain(documentation.details.iter().copied());
            RuleText {
                id: documentation.check.id().to_owned(),
                summary: documentation.summary.to_owned(),
                fix: documentation.fix.to_owned(),
                help: help.chain([documentation.fix]).map(str::to_owned).collect(),
                blocks: documentation.build_blocks(),
            }
        });
    rules::registry()
        .iter()
        .map(|rule| build_rule_text(*rule))
        .chain(team_rules.rules().iter().map(build_team_rule_text))
        .chain(checks)
        .collect()
}

/// Returns the texts about a rule from the team's rules file: its summary, its condition and the fix.
fn build_team_rule_text(rule: &TeamRule) -> RuleText {
    let fix = rule.help.clone().unwrap_or_else(|| rule.default_fix());
    RuleText {
        id: rule.full_id(),
        summary: rule.summary(),
        help: vec![rule.describe_condition(), fix.clone()],
        fix,
        blocks: rule.build_blocks(),
    }
}

/// Returns the texts about one rule: its summary, the help and the fix. Unlike the help of team rules and project
/// checks, this help does not repeat the fix.
fn build_rule_text(rule: &dyn rules::Rule) -> RuleText {
    let documentation = rule.documentation();
    let help = std::iter::once(documentation.reason).chain(documentation.details.iter().copied());
    RuleText {
        id: documentation.id.to_owned(),
        summary: documentation.summary.to_owned(),
        fix: documentation.fix.to_owned(),
        help: help
            .chain(documentation.assumptions.iter().copied())
            .map(str::to_owned)
            .collect(),
        blocks: documentation.build_blocks(),
    }
}
