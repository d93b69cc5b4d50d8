//! Evaluates on this machine the pipelines that the platform did not review, so that a change cannot pass by making the
//! platform fail. These pipelines remain unreviewed.

use crate::error::Failure;
use crate::gate::local_review;
use crate::gate::{BasePaths, RunFindings, evaluate_files};
use crate::workspace::Workspace;
use sluicegate_base::text::format_count;
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::rules::RuleSet;
use std::collections::BTreeSet;

/// The pipelines that were evaluated on this machine, because the platform did not review them.
#[derive(Default)]
pub(crate) struct LocalFallback {
    paths: BTreeSet<String>,
}

impl LocalFallback {
    /// Evaluates the rules locally on files that the platform did not review, and adds the results and a note to
    /// `run_findings`. Returns the evaluated files. Without `rules`, each file gets a result about the missing rules
    /// file, as in a local check.
    pub(crate) fn evaluate_unreviewed_files(
        workspace: &Workspace<'_>,
        snapshot: &Snapshot<'_>,
        rules: Option<&RuleSet>,
        paths: &BTreeSet<String>,
        run_findings: &mut RunFindings,
    ) -> Result<Self, Failure> {
        let files = snapshot.find_files(&paths.iter().map(String::as_str).collect())?;
        let has_rules_file = rules.is_some();
        // This variable is declared here because `rules` may refer to it until the end of the function.
        let rule_set_without_file;
        let rules = if let Some(rules) = rules {
            rules
        } else {
            rule_set_without_file = workspace.create_rule_set_without_file(snapshot)?;
            &rule_set_without_file
        };
        // The parsed pipelines are not needed after the evaluation.
        let local_findings = evaluate_files(&workspace.repo, rules, files, &|_, _, _| {})?;
        let evaluated_paths: BTreeSet<String> = local_findings
            .files
            .iter()
            .map(|file| file.path.clone())
            .collect();
        if !evaluated_paths.is_empty() {
            let pipelines = format_count(evaluated_paths.len(), "pipeline");
            run_findings.notes.push(if has_rules_file {
                format!(
                    "checked {pipelines} locally with the rules file of the commit, because the platform gave no \
                     usable response"
                )
            } else {
                format!(
                    "could not check {pipelines} locally, because the commit has no usable rules file; the platform \
                     gave no usable response"
                )
            });
        }
        run_findings.files.extend(local_findings.files);
        run_findings.files.sort_by(|a, b| a.path.cmp(&b.path));
        // A file that could not be read locally either was not evaluated at all, so an unavailable platform does not
        // excuse it.
        for local_file in local_findings.unreviewed_files {
            let unreviewed_files = run_findings.unreviewed_files.iter_mut();
            for file in unreviewed_files.filter(|file| file.path == local_file.path) {
                file.clone_from(&local_file);
            }
        }
        Ok(Self {
            paths: evaluated_paths,
        })
    }

    /// Returns whether the file at this path was evaluated locally.
    pub(crate) fn contains(&self, path: &str) -> bool {
        self.paths.contains(path)
    }
}

/// Evaluates the base versions of the files that were evaluated locally.
pub(crate) fn evaluate_fallback_base(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    rules: Option<&RuleSet>,
    base: &CommitId,
    base_paths: &BasePaths,
) -> Result<RunFindings, Failure> {
    if base_paths.collect_base_paths().is_empty() {
        return Ok(RunFindings::default());
    }
    match rules {
        Some(rules) => local_review::evaluate_at_base(&workspace.repo, rules, base, base_paths),
        None => local_review::evaluate_at_base(
            &workspace.repo,
            &workspace.create_rule_set_without_file(snapshot)?,
            base,
            base_paths,
        ),
    }
}
