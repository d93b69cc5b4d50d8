//! Evaluates the current findings as `check` does for all pipelines on disk, by the existing rules file, otherwise by
//! the one to write.

use crate::error::Failure;
use crate::gate::Tally;
use crate::gate::local_review::evaluate_all;
use crate::job::cli::Adopt;
use crate::operations::waivers::baseline;
use crate::workspace::Workspace;
use sluicegate_git::{Repository, Snapshot, SnapshotFile};
use sluicegate_pipelines::findings::{Enforcement, FileResults, RuleResult, Severity};
use sluicegate_pipelines::pipelines::RULES_FILE;
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules::{self, RuleOutline, RuleSet, RuleState};
use sluicegate_pipelines::yaml::MAX_DOCUMENT_BYTES;

/// The reason for waivers of existing findings.
const REASON: &str = "found before the gate";

/// Heading of a file with such waivers.
const HEADING: &str = "\
# Findings from before the gate: each line allows one finding.
# `sluicegate waivers list` shows which are still needed, `sluicegate waivers prune` removes the others.
";

/// The current findings, and the files to write because of them.
pub(crate) struct Today {
    /// The chosen way to adopt the gate, if any.
    pub(crate) asked: Option<Adopt>,
    pub(crate) files: Vec<FileResults>,
    /// The findings of the project checks.
    pub(crate) project: Vec<FileResults>,
    /// The settings of each rule; `None` if the rules file cannot be read.
    pub(crate) rules: Option<Vec<RuleOutline>>,
    /// Whether the target branch lacks this rules file, so that the change that adds it is reviewed with all pipelines.
    pub(crate) brings_rules: bool,
    /// Path and text of a new rules file; `None` if one exists or none was requested.
    pub(crate) rules_file: Option<(String, String)>,
    /// The text of a new waivers file, if requested.
    pub(crate) waivers: Option<String>,
    /// Whether only new findings count already, regardless of the files to write.
    pub(crate) is_new_only: bool,
}

impl Today {
    /// Returns the number of findings of this project check.
    pub(crate) fn of_check(&self, check: ProjectCheck) -> usize {
        let findings = self.project.iter().flat_map(FileResults::findings);
        findings.filter(|finding| finding.rule == check.id()).count()
    }

    /// Evaluates the current findings. `folder` is the directory for a new rules file.
    pub(crate) fn look(
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        rules_file: Option<&SnapshotFile>,
        folder: Option<&str>,
        asked: Option<Adopt>,
    ) -> Result<Self, Failure> {
        let template = rules::rules_file_template(Enforcement::Error);
        let document = match rules_file {
            Some(file) => workspace.read(file)?,
            None => Ok(template.clone().into_bytes()),
        };
        let found = evaluate_all(workspace, snapshot, &RuleSet::read(&document))?;
        let all: Vec<FileResults> = found.all_files().cloned().collect();
        let Tally { files, project, .. } = found;
        let waivers = match asked {
            Some(Adopt::Waivers) => Some(baseline(&all, HEADING, REASON)?),
            _ => None,
        };
        let goes = folder.filter(|_| asked.is_some() && rules_file.is_none());
        let brings_rules = match (rules_file, &document) {
            (Some(file), Ok(bytes)) => !is_on_default_branch(&workspace.repo, &file.path, bytes)?,
            _ => true,
        };
        Ok(Self {
            asked,
            brings_rules,
            rules: document.ok().and_then(|bytes| rules::list_rules(&bytes).ok()),
            rules_file: goes.map(|folder| (format!("{folder}/{RULES_FILE}"), template)),
            waivers,
            is_new_only: workspace.sources.new_only(false)?,
            files,
            project,
        })
    }

    pub(crate) fn affected(&self) -> usize {
        let has_some = |file: &&FileResults| file.results.iter().any(|result| result.severity().is_some());
        self.files.iter().filter(has_some).count()
    }

    /// Returns the number of findings that count if only errors do, without those that could not be evaluated.
    pub(crate) fn errors(&self) -> usize {
        let counts =
            |result: &&RuleResult| result.status.is_excusable() && result.severity() == Some(Severity::Error);
        let results = self
            .files
            .iter()
            .flat_map(FileResults::distinct_results)
            .filter(counts);
        results.map(|result| result.findings("").len()).sum()
    }

    /// Returns the files that could not be evaluated completely, which is never excused.
    pub(crate) fn unevaluated(&self) -> Vec<&str> {
        let is_one = |result: &RuleResult| result.severity().is_some() && !result.status.is_excusable();
        let files = self.files.iter().filter(|file| file.results.iter().any(is_one));
        files.map(|file| file.path.as_str()).collect()
    }

    /// Returns the state of current findings that do not fail the gate, or `None` if they may fail it.
    pub(crate) const fn excuse(&self) -> Option<&'static str> {
        match self.asked {
            Some(Adopt::NewOnly) => Some("known"),
            Some(Adopt::Waivers) => Some("waived"),
            Some(Adopt::Strict) | None => None,
        }
    }

    /// Returns the rules that report findings without failing a change.
    pub(crate) fn mild(&self) -> Vec<&str> {
        let is_mild = |rule: &&RuleOutline| rule.state == RuleState::Enabled(Enforcement::Warn);
        let rules = self.rules.iter().flatten().filter(is_mild);
        rules.map(|rule| rule.id.as_str()).collect()
    }
}

/// Returns whether the default branch has the file with this content. Without a remote, the checked-out commit is used.
fn is_on_default_branch(repo: &Repository, path: &str, content: &[u8]) -> Result<bool, Failure> {
    let tip = match repo.likely_default_branch()? {
        Some(branch) => Some(branch.tip),
        None => repo.head().ok().map(|head| head.commit),
    };
    let Some(tip) = tip else { return Ok(false) };
    match repo.find_file(&tip, path)? {
        Some(file) => Ok(repo.read_blob(&file.blob, MAX_DOCUMENT_BYTES)? == content),
        None => Ok(false),
    }
}
