//! Evaluates all pipelines on disk, as `check` does, against the existing rules file, otherwise against the one to
//! write.

use crate::error::Failure;
use crate::gate::RunFindings;
use crate::gate::local_review::evaluate_all;
use crate::job::cli::Adopt;
use crate::job::settings;
use crate::operations::waivers::{has_unwaived_findings, render_new_waivers_file};
use crate::workspace::Workspace;
use crate::workspace::gate_files::MAX_WAIVERS_BYTES;
use sluicegate_base::input;
use sluicegate_git::{Repository, Snapshot, SnapshotFile, TreeFile};
use sluicegate_pipelines::findings::{Enforcement, FileResults, RuleResult, Severity};
use sluicegate_pipelines::pipelines::rules_path;
use sluicegate_pipelines::project::{CheckLevels, ProjectCheck};
use sluicegate_pipelines::rules::{self, RuleOutline, RuleSet, RuleState};
use sluicegate_pipelines::waivers::FILE_NAME as WAIVERS_FILE;
use sluicegate_yaml::MAX_DOCUMENT_BYTES;

/// The reason for waivers of existing findings.
const WAIVER_REASON: &str = "found before the gate";

/// The heading of a new waivers file.
const WAIVERS_HEADING: &str = "\
# Findings from before the gate: each line allows one finding.
# `sluicegate waivers list` shows which are still needed, `sluicegate waivers prune` removes the others.
";

/// The facts about an existing waivers file.
pub(crate) struct ExistingWaivers {
    /// False if a waivers file can be written.
    pub(crate) is_present: bool,
    /// True if the file lacks a waiver for a current finding.
    pub(crate) lacks_waivers: bool,
    /// True if the default branch has the file, so that the next change does not introduce it.
    pub(crate) is_merged: bool,
}

impl ExistingWaivers {
    /// Reads the waivers file on disk. It is compared with the current findings only if waivers are chosen to adopt the
    /// gate.
    fn from_disk(
        workspace: &Workspace<'_>,
        adopt: Option<Adopt>,
        rule_set: &RuleSet,
        all_files: &[FileResults],
    ) -> Result<Self, Failure> {
        let path = workspace.repo.root().join(WAIVERS_FILE);
        let mut existing_waivers = Self {
            is_present: path.symlink_metadata().is_ok(),
            lacks_waivers: true,
            is_merged: false,
        };
        if adopt == Some(Adopt::Waivers)
            && let Ok(text) = input::read_text_file(&path, MAX_WAIVERS_BYTES)
        {
            existing_waivers.is_merged =
                default_branch_has_file(&workspace.repo, WAIVERS_FILE, text.as_bytes())?;
            existing_waivers.lacks_waivers =
                has_unwaived_findings(workspace, text, Some(rule_set), all_files)?;
        }
        Ok(existing_waivers)
    }
}

/// The current findings, and the files to write because of them.
pub(crate) struct CurrentFindings {
    /// The chosen way to adopt the gate, if any.
    pub(crate) adopt: Option<Adopt>,
    pub(crate) files: Vec<FileResults>,
    /// The findings of the project checks.
    pub(crate) project_files: Vec<FileResults>,
    /// The settings of each rule; `None` if the rules file cannot be read.
    pub(crate) rules: Option<Vec<RuleOutline>>,
    /// Whether the target branch lacks this rules file, so that the change that adds it is reviewed with all pipelines.
    pub(crate) adds_rules: bool,
    /// Path and text of a new rules file; `None` if one exists or none was requested.
    pub(crate) rules_file: Option<(String, String)>,
    /// The text of a new waivers file, if requested.
    pub(crate) waivers_file: Option<String>,
    pub(crate) existing_waivers: ExistingWaivers,
    /// True if only new findings fail the gate already, regardless of the files to write.
    pub(crate) is_new_only: bool,
    /// True if the default branch has no `sluicegate.yaml`, so that the change introduces it.
    pub(crate) is_settings_file_new: bool,
    /// The levels of the project checks that apply already, regardless of the files to write.
    pub(crate) check_levels: CheckLevels,
}

impl CurrentFindings {
    /// Returns the number of current findings of this project check.
    pub(crate) fn count_check_findings(&self, check: ProjectCheck) -> usize {
        self.project_files
            .iter()
            .flat_map(FileResults::findings)
            .filter(|finding| finding.rule == check.id())
            .count()
    }

    /// Evaluates all pipelines on disk against the rules file, or against the default rules if it is missing. With a
    /// chosen way to adopt the gate, also prepares the missing rules file in `config_dir`, and for `waivers` the
    /// waivers file.
    pub(crate) fn evaluate(
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        rules_file: Option<&SnapshotFile>,
        config_dir: Option<&str>,
        adopt: Option<Adopt>,
    ) -> Result<Self, Failure> {
        let template = rules::render_rules_file_template(Enforcement::Error);
        // The inner error is the reason why the rules file cannot be read.
        let document = match rules_file {
            Some(file) => workspace.read_document(file)?,
            None => Ok(template.clone().into_bytes()),
        };
        let rule_set = RuleSet::from_document(&document);
        let run_findings = evaluate_all(workspace, snapshot, &rule_set)?;
        let all_files: Vec<FileResults> = run_findings.all_files().cloned().collect();
        let RunFindings {
            files,
            project_files,
            check_levels,
            ..
        } = run_findings;
        let waivers_file = match adopt {
            Some(Adopt::Waivers) => Some(render_new_waivers_file(
                &all_files,
                WAIVERS_HEADING,
                WAIVER_REASON,
            )?),
            _ => None,
        };
        let existing_waivers = ExistingWaivers::from_disk(workspace, adopt, &rule_set, &all_files)?;
        let new_rules_dir = config_dir.filter(|_| adopt.is_some() && rules_file.is_none());
        // If the default branch lacks this version of the rules file, the review of the change covers all pipelines. An
        // unreadable rules file is treated as new, too.
        let adds_rules = match (rules_file, &document) {
            (Some(file), Ok(bytes)) => !default_branch_has_file(&workspace.repo, &file.path, bytes)?,
            _ => true,
        };
        let is_flag_set = false;
        Ok(Self {
            adopt,
            adds_rules,
            rules: document.ok().and_then(|bytes| rules::list_rules(&bytes).ok()),
            rules_file: new_rules_dir.map(|dir| (rules_path(dir), template)),
            waivers_file,
            existing_waivers,
            is_new_only: workspace.sources.is_new_only(is_flag_set)?,
            is_settings_file_new: find_file_in_default_branch(&workspace.repo, settings::FILE_NAME)?
                .is_none(),
            check_levels: check_levels.unwrap_or_default(),
            files,
            project_files,
        })
    }

    /// Returns the number of pipelines with at least one finding.
    pub(crate) fn count_affected_files(&self) -> usize {
        self.files
            .iter()
            .filter(|file| file.results.iter().any(|result| result.severity().is_some()))
            .count()
    }

    /// Returns the number of findings at level `error` that `new-only` or waivers can excuse.
    pub(crate) fn count_excusable_errors(&self) -> usize {
        let errors = self
            .list_excusable_results()
            .into_iter()
            .filter(|result| result.severity() == Some(Severity::Error));
        // Only the number matters, so no path is needed.
        errors.map(|result| result.findings("").len()).sum()
    }

    /// Returns the number of findings of every level that `new-only` can excuse.
    pub(crate) fn count_excusable_findings(&self) -> usize {
        let results = self.list_excusable_results().into_iter();
        results.map(|result| result.findings("").len()).sum()
    }

    /// Returns the results that `new-only` or waivers can excuse. Skips evaluation errors, unless the content of the
    /// pipeline causes them.
    fn list_excusable_results(&self) -> Vec<&RuleResult> {
        self.files
            .iter()
            .chain(&self.project_files)
            .flat_map(FileResults::distinct_results)
            .filter(|result| result.status.is_excusable() && result.severity().is_some())
            .collect()
    }

    /// Returns the paths of the files for which a rule could not be evaluated. Skips evaluation errors that the content
    /// of the pipeline causes, because `new-only` or waivers can excuse them.
    pub(crate) fn list_unevaluated_paths(&self) -> Vec<&str> {
        self.files
            .iter()
            .filter(|file| file.has_unevaluated_result())
            .map(|file| file.path.as_str())
            .collect()
    }

    /// Returns the state that current findings get by the chosen way to adopt the gate. `None` if they still fail the
    /// gate, if no way was chosen, or if the file that excuses them exists already. `writes_config_file` is true if
    /// this run writes `sluicegate.yaml`.
    pub(crate) const fn excused_state(&self, writes_config_file: bool) -> Option<&'static str> {
        match self.adopt {
            Some(Adopt::NewOnly) if writes_config_file || self.is_new_only => Some("known"),
            Some(Adopt::Waivers) if !self.existing_waivers.is_present => Some("waived"),
            _ => None,
        }
    }

    /// Returns the project checks at level `warn`, whose findings do not fail the gate.
    pub(crate) fn list_warn_checks(&self) -> Vec<ProjectCheck> {
        ProjectCheck::ALL
            .into_iter()
            .filter(|check| self.check_levels.enforcement_of(*check) == Some(Enforcement::Warn))
            .collect()
    }

    /// Returns the ids of the rules at level `warn`, whose findings do not fail the gate.
    pub(crate) fn list_warn_rules(&self) -> Vec<&str> {
        self.rules
            .iter()
            .flatten()
            .filter(|rule| rule.state == RuleState::Enabled(Enforcement::Warn))
            .map(|rule| rule.id.as_str())
            .collect()
    }
}

/// Returns whether the default branch has the file with this content.
fn default_branch_has_file(repo: &Repository, path: &str, content: &[u8]) -> Result<bool, Failure> {
    match find_file_in_default_branch(repo, path)? {
        Some(file) => Ok(repo.read_blob(&file.blob, MAX_DOCUMENT_BYTES)?.as_deref() == Some(content)),
        None => Ok(false),
    }
}

/// Returns the file of the remote's default branch; `None` if there is none. If the default branch is unknown, the
/// checked-out commit is used instead.
fn find_file_in_default_branch(repo: &Repository, path: &str) -> Result<Option<TreeFile>, Failure> {
    let tip = match repo.find_likely_default_branch()? {
        Some(branch) => Some(branch.tip),
        None => repo.head().ok().map(|head| head.commit),
    };
    let Some(tip) = tip else { return Ok(None) };
    Ok(repo.find_file(&tip, path)?)
}
