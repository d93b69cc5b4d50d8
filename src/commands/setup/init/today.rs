//! What the rules find today: judged as `check` judges all pipelines on disk, by the rules file that is there, else by the one
//! that would be written.

use crate::base::error::Failure;
use crate::base::git::{Repository, Snapshot, SnapshotFile};
use crate::commands::gate::waivers::{baseline, found};
use crate::commands::gate::workspace::Workspace;
use crate::gate::Tally;
use crate::job::cli::Adopt;
use crate::model::findings::{Enforcement, FileResults, RuleResult, Severity};
use crate::model::pipelines::RULES_FILE;
use crate::model::project::ProjectCheck;
use crate::model::rules::{self, RuleOutline, RuleSet, RuleState};
use crate::model::yaml::DOCUMENT_LIMIT;

/// Why the findings of the first day are allowed.
const REASON: &str = "found before the gate";

/// What a file of such waivers begins with.
const HEADING: &str = "\
# What was found before the gate came: each line is a finding that is allowed.
# `sluicegate waivers list` tells which are still needed, `sluicegate waivers prune` removes the others.
";

/// What the rules find today, and what is written because of it.
pub(super) struct Today {
    /// How the gate is to be taken up, if that was said.
    pub(super) asked: Option<Adopt>,
    pub(super) files: Vec<FileResults>,
    /// What the checks of the project find.
    pub(super) project: Vec<FileResults>,
    /// What the rules file says of each rule; none where it cannot be read.
    pub(super) rules: Option<Vec<RuleOutline>>,
    /// The branch that changes go to has no such rules file, so all pipelines are judged in the change that brings it.
    pub(super) brings_rules: bool,
    /// Where a new rules file goes, and its text; none where one is there or none was asked for.
    pub(super) rules_file: Option<(String, String)>,
    /// The text of a new file of waivers, if they were asked for.
    pub(super) waivers: Option<String>,
    /// Only new findings count already, whatever is written.
    pub(super) is_new_only: bool,
}

impl Today {
    /// How many findings this check of the project has.
    pub(super) fn of_check(&self, check: ProjectCheck) -> usize {
        let findings = self.project.iter().flat_map(FileResults::findings);
        findings.filter(|finding| finding.rule == check.id()).count()
    }

    /// Looks. `folder` is where a new rules file would go.
    pub(super) fn look(
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        rules_file: Option<&SnapshotFile>,
        folder: Option<&str>,
        asked: Option<Adopt>,
    ) -> Result<Self, Failure> {
        let template = rules::template(Enforcement::Error);
        let document = match rules_file {
            Some(file) => workspace.read(file)?,
            None => Ok(template.clone().into_bytes()),
        };
        let found = found(workspace, snapshot, &RuleSet::read(&document))?;
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
            rules: document.ok().and_then(|bytes| rules::outline(&bytes).ok()),
            rules_file: goes.map(|folder| (format!("{folder}/{RULES_FILE}"), template)),
            waivers,
            is_new_only: workspace.sources.new_only(false)?,
            files,
            project,
        })
    }

    pub(super) fn affected(&self) -> usize {
        let has_some = |file: &&FileResults| file.results.iter().any(|result| result.severity().is_some());
        self.files.iter().filter(has_some).count()
    }

    /// How many findings count where only errors do, without those that could not be evaluated.
    pub(super) fn errors(&self) -> usize {
        let counts =
            |result: &&RuleResult| result.status.can_be_old() && result.severity() == Some(Severity::Error);
        let results = self.files.iter().flat_map(FileResults::told).filter(counts);
        results.map(|result| result.findings("").len()).sum()
    }

    /// The files in which something could not be evaluated, which is never excused.
    pub(super) fn unevaluated(&self) -> Vec<&str> {
        let is_one = |result: &RuleResult| result.severity().is_some() && !result.status.can_be_old();
        let files = self.files.iter().filter(|file| file.results.iter().any(is_one));
        files.map(|file| file.path.as_str()).collect()
    }

    /// The rules that report and do not stop a change.
    pub(super) fn mild(&self) -> Vec<&str> {
        let is_mild = |rule: &&RuleOutline| rule.state == RuleState::Enabled(Enforcement::Warn);
        let rules = self.rules.iter().flatten().filter(is_mild);
        rules.map(|rule| rule.id.as_str()).collect()
    }
}

/// Whether the branch that changes go to has the file with this content. Without a remote that is what is committed here.
fn is_on_default_branch(repo: &Repository, path: &str, content: &[u8]) -> Result<bool, Failure> {
    let tip = match repo.likely_default_branch()? {
        Some(branch) => Some(branch.tip),
        None => repo.head().ok().map(|head| head.commit),
    };
    let Some(tip) = tip else { return Ok(false) };
    match repo.find_file(&tip, path)? {
        Some(file) => Ok(repo.read_blob(&file.blob, DOCUMENT_LIMIT)? == content),
        None => Ok(false),
    }
}
