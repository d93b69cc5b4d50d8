//! The facts about a run that its report contains.

use crate::gate::run::GateRun;
use crate::job::settings::Connection;
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::{ReviewContext, ReviewPlatform};

impl GateRun<'_> {
    /// Returns the settings and revisions of the run for its report. They show whether two reports belong to the same
    /// review.
    pub(crate) fn review_context(&self, connection: Option<&Connection>) -> ReviewContext {
        let workspace = self.subject.workspace;
        let (include, exclude) = self.subject.settings.selection.patterns();
        let policy = workspace.policy_revision.commit();
        let comparison = &self.subject.comparison;
        let verdict_settings = &self.subject.settings.verdict;
        ReviewContext {
            ci: comparison.host.to_string(),
            event: comparison.event.clone(),
            branch: comparison.branch.clone(),
            head: self.subject.snapshot.commit().map(CommitId::to_string),
            base: comparison.bases.first().map(CommitId::to_string),
            other_bases: comparison.bases.iter().skip(1).map(CommitId::to_string).collect(),
            shard: self.shard_selection.shard,
            fail_on: Some(verdict_settings.fail_on),
            paths: self.subject.paths.list_paths(),
            max_known: verdict_settings.max_known,
            // Only `sluicegate report --compare` compares a report with an older report.
            compared_with: None,
            new_only: verdict_settings.new_only,
            include: include.to_vec(),
            exclude: exclude.to_vec(),
            policy: policy.map(CommitId::to_string),
            platform: connection.and_then(review_platform),
            // The engine knows whether the job named a rules file.
            rules: None,
            project_checks_off: verdict_settings.project_checks.are_turned_off_by_job,
            team_rules_off: workspace.are_team_rules_turned_off_by_job(),
            team_rules: workspace.find_team_rules_path_of_job(),
            team_rules_unusable: !self.team_rules.unusable_files.is_empty(),
            config: workspace.find_config_file_of_job(),
            config_sha256: workspace
                .config_digest_of_job
                .as_ref()
                .map(|file| file.sha256.clone()),
            config_dir: workspace.find_config_dir_of_job(&self.subject.snapshot),
        }
    }
}

/// Returns the address of the platform and the project that review the files. Returns `None` if one of them is not set.
pub(crate) fn review_platform(connection: &Connection) -> Option<ReviewPlatform> {
    Some(ReviewPlatform {
        url: connection.require_base_url().ok()?.to_string(),
        project: connection.require_project_id().ok()?.to_string(),
    })
}

/// Returns a description if another platform, or another project, reviewed the files than that of the run. `run` names
/// the run, for example `this job`.
pub(crate) fn explain_other_platform(
    review_platform: &ReviewPlatform,
    run: &str,
    run_platform: &ReviewPlatform,
) -> Option<String> {
    (review_platform != run_platform)
        .then(|| format!("the files were reviewed by {review_platform}, but {run} is for {run_platform}"))
}
