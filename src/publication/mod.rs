//! One publish of a version: plans, compares with the platform, uploads once, verifies, writes a receipt.

pub(crate) mod compared_offer;
mod consumer_changes;
pub(crate) mod consumer_impact;
mod dry_run;
mod earlier_omissions;
mod earlier_selection;
mod existing_version;
mod junit_report;
mod local_preview;
mod merged_commit;
mod needed_hashes;
mod next_version_name;
mod outcome_hints;
mod outcome_report;
mod planned_publish;
mod policy_guard;
mod publication_statement;
mod publish_comparison;
mod publish_decision;
mod publish_notes;
mod publish_preview;
mod publish_selection;
mod published_commit;
mod receipt_output;
mod repeated_content;
mod replaced_version;
mod required_review;
mod rerun_comparison;
mod smoke;
mod superseded_version;
pub(crate) mod version_comparison;
mod version_history;
mod version_order;
mod version_upload;

pub(crate) use merged_commit::{MergedCommit, require_merged, warn_of_unpushed_commit};
pub(crate) use planned_publish::{
    PlannedPublish, complete_run, explain_no_publish, find_acceptance_reason, reject_lost_publish_on,
};
pub(crate) use policy_guard::{check_stricter_gate, resolve_settings_and_connection};
pub(crate) use publish_comparison::PublishComparison;
pub(crate) use publish_notes::PublishNotes;
pub(crate) use required_review::{RequiredReport, RequiredReview};
pub(crate) use smoke::compare_smoke_runs;
pub(crate) use version_history::VersionHistory;

use publish_decision::{PublishDecision, PublishedVersion};
use sluicegate_base::text::{self, List, format_count};

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::{self, Positions};
use crate::job::cli::OnIgnored;
use crate::job::context::Target;
use crate::job::settings::{Connection, PublishSettings, ReviewExclusions};
use crate::publish::{self, FileSource, OutcomeKind, Plan, PublishError, PublishRequest, Receipt};
use crate::session::step_report::PUBLISH_FAILED;
use crate::session::{CommandResult, Session};
use crate::ui::Ui;
use crate::workspace::Workspace;
use crate::workspace::unusable_publish_settings::reject_next_without_comparison;
use jiff::Timestamp;
use sluicegate_git::{CommitId, Repository};
use sluicegate_platform::api::Platform;
use std::path::PathBuf;

/// Placeholder for the next version until it is computed.
const DRAFT_VERSION: &str = "0.0.0";

/// The inputs of a publish.
pub(crate) struct Publication<'a> {
    pub(crate) session: &'a Session,
    pub(crate) workspace: &'a Workspace<'a>,
    pub(crate) settings: &'a PublishSettings,
    pub(crate) connection: &'a Connection,
    pub(crate) target: &'a Target,
    /// The pipelines published without a review, because the configuration excludes them from reviews.
    pub(crate) unreviewed_selection: ReviewExclusions,
    /// The review that must have passed and must cover the plan, if one is required.
    pub(crate) required_review: Option<RequiredReview<'a>>,
    /// The proof that the commit may be published, which `publish` and `ci` both need.
    #[expect(dead_code, reason = "the field proves that the check ran and is never read")]
    pub(crate) merged_commit: MergedCommit,
    /// The versions of the prefix before the upload, once requested.
    pub(crate) history: VersionHistory,
    /// The changes for consumers, once compared.
    pub(crate) comparison: Option<PublishComparison>,
    /// The warnings about the version that consumers get, for the step summary and the JUnit report.
    pub(crate) notes: PublishNotes,
    /// Whether standard output is reserved for a report.
    pub(crate) is_output_reserved: bool,
    /// Whether this is part of `sluicegate ci`, which publishes without a user's attention.
    pub(crate) is_ci_command: bool,
    pub(crate) started_at: Timestamp,
}

impl Publication<'_> {
    /// Publishes the plan, or makes a dry run of it. Fails before anything else if the path of an output file leads
    /// through a symbolic link that git tracks.
    pub(crate) fn execute(mut self, plan: Result<Plan, PublishError>) -> CommandResult {
        let output_paths = [&self.settings.receipt, &self.settings.junit]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
            .chain(self.settings.attestation.list_paths());
        self.session
            .reject_linked_paths(&self.workspace.repo, output_paths)?;
        self.check_settings()?;
        if !self.settings.dry_run {
            self.require_writable_files()?;
        }
        let mut plan = match plan {
            // A dry run can print the problems as JSON.
            Err(error) if self.settings.dry_run => return self.report_plan_error(error),
            plan => plan?,
        };
        self.require_covering_review(&plan)?;
        if self.settings.dry_run {
            self.print_plan_warnings(&plan);
            return self.execute_dry_run(plan);
        }
        let platform = self.session.create_platform_client(self.connection)?;
        let decision = match self.decide_on_upload(&platform, &mut plan) {
            Ok(decision) => decision,
            Err(failure) => return Ok(self.finish_undecided_publish(plan, &failure)),
        };
        match decision {
            PublishDecision::AlreadyPublished(published_version) => {
                self.finish_without_upload(&platform, &plan, &published_version)
            }
            PublishDecision::Refuse(failure) => Ok(self.finish_refused_publish(&plan, &failure)),
            PublishDecision::Upload => {
                if let Some(comparison) = &self.comparison {
                    self.print_consumer_changes(&plan, comparison.reported_changes());
                }
                self.execute_upload(&platform, &plan)
            }
        }
    }

    /// Fails if the settings do not allow this publish: the required review did not pass, it covers a commit but the
    /// working tree is to be published, or the name needs `{next}` and the comparison is turned off.
    fn check_settings(&self) -> Result<(), Failure> {
        if let Some(review) = &self.required_review {
            review.require_passed(&self.target.head)?;
            required_review::reject_review_of_worktree(self.settings)?;
        }
        reject_next_without_comparison(self.settings)
    }

    /// Fails if the required review does not cover all pipelines of the plan. Warns of pipelines that the configuration
    /// excludes from reviews.
    fn require_covering_review(&self, plan: &Plan) -> Result<(), Failure> {
        let Some(review) = &self.required_review else {
            return Ok(());
        };
        let rules = self
            .workspace
            .read_rules_at(&self.workspace.repo.snapshot(self.target.head.clone()))?;
        let positions = Positions::new(&self.workspace.repo, &self.target.head);
        // A pipeline without a result is covered only if no rule of the commit's rules file may apply to it.
        let needs_result = |path: &str| gate::needs_result(rules.as_ref(), &positions, path);
        let uncovered_paths = review.list_uncovered_pipelines(plan, &needs_result);
        review.require_coverage(&uncovered_paths, &self.unreviewed_selection)?;
        self.warn_of_unreviewed_pipelines(&uncovered_paths);
        Ok(())
    }

    /// Ends without an upload, because a version with the same content exists. Runs its smoke runs, or continues those
    /// that an earlier run started.
    fn finish_without_upload(
        &self,
        platform: &Platform,
        plan: &Plan,
        published_version: &PublishedVersion,
    ) -> CommandResult {
        let omissions = self.list_earlier_omissions(&published_version.version, &published_version.commit);
        if !omissions.is_empty() && self.settings.on_ignored != OnIgnored::Warn {
            return Ok(self.finish_incomplete_version(plan, published_version, &omissions));
        }
        let message = format!("{}: nothing is published", published_version.reason);
        let mut problems = Vec::new();
        let print_result = self.print_result(&(text::escape_line(&message) + "\n"));
        let print_status = self.report_lost_output(print_result.map(|()| ExitStatus::Success), &mut problems);
        let (hashes, hash_status) = self.compute_needed_hashes(plan);
        let receipt = Receipt::for_unchanged_files(
            plan,
            &hashes,
            &published_version.version,
            &published_version.commit,
            self.history.find_branch(&published_version.version),
        )
        .with_ignored_resources(&omissions);
        let receipt = self.complete_receipt(receipt);
        let smoke = self.smoke_test_existing_version(platform, published_version, &receipt)?;
        let result = outcome_report::report_unchanged_version(self, plan, published_version, smoke.as_ref());
        let mut status = print_status
            .worse(hash_status)
            .worse(self.report_lost_output(result, &mut problems));
        status = self.add_signal_status(status, &mut problems);
        status = self.report_junit(&message, status, &problems, smoke.as_ref());
        let receipt = receipt.with_smoke(smoke.as_ref().map(|smoke| &smoke.record));
        Ok(status.worse(if published_version.is_disabled {
            self.write_records_without_version(receipt, "the version is disabled")
        } else if self.has_smoke_runs() && smoke.is_none() {
            let reason = "this job did not run the smoke runs of the version";
            self.write_records_without_version(receipt, reason)
        } else {
            self.write_records(receipt)
        }))
    }

    /// Ends without an upload, because the decision about it failed with an error. If `{next}` has no value yet, the
    /// messages show the template instead of the placeholder version in the plan.
    fn finish_undecided_publish(&self, mut plan: Plan, failure: &Failure) -> ExitStatus {
        if self.lacks_version_name() {
            plan.version_name.clone_from(&self.settings.version_name);
        }
        self.finish_refused_publish(&plan, failure)
    }

    /// Ends without an upload, because the publish is not allowed, or because an error prevented the decision about it.
    fn finish_refused_publish(&self, plan: &Plan, failure: &Failure) -> ExitStatus {
        let name = plan.describe_version();
        let adjective = match failure.status() {
            ExitStatus::Undecided | ExitStatus::Denied => "undecided",
            _ => "refused",
        };
        let title = format!("{PUBLISH_FAILED}: {name} ({adjective})");
        let status = self.session.report_failure_as(&title, failure);
        let (hashes, hash_status) = self.compute_needed_hashes(plan);
        let receipt = Receipt::for_rejected_plan(plan, &hashes);
        let problem = format!("nothing was sent: {}", failure.describe_on_one_line());
        let status = self.report_junit(&name, status.worse(hash_status), &[problem], None);
        status.worse(self.write_records(receipt))
    }

    fn print_plan_warnings(&self, plan: &Plan) {
        for warning in &plan.warning_summary {
            self.session.ui.warn(warning);
        }
    }

    /// Warns if pipelines without a review are published, because the configuration excludes them from reviews.
    fn warn_of_unreviewed_pipelines(&self, unreviewed_paths: &[&str]) {
        if !unreviewed_paths.is_empty() {
            let pipeline_count = format_count(unreviewed_paths.len(), "pipeline");
            let path_list = List::with_limit(unreviewed_paths, required_review::MAX_LISTED_PIPELINES);
            self.session.ui.warn(&format!(
                "publishing without a review because of `review.include` or `review.exclude`: {pipeline_count} ({path_list})"
            ));
        }
    }

    /// Uploads the plan, runs the smoke runs, and reports the outcome. The version is disabled if a newer commit was
    /// published meanwhile, or if smoke runs are due but the version may be incomplete. If there are smoke runs, a
    /// signal does not end the run before their end, because the version may have to be disabled until then. Without
    /// smoke runs, a signal ends the run until the outcome is known. Then it ends no run, so that the reports and the
    /// receipt agree.
    fn execute_upload(&self, platform: &Platform, plan: &Plan) -> CommandResult {
        let outcome = self.upload(platform, plan)?;
        let outcome = self.disable_superseded_version(platform, plan, outcome)?;
        let outcome = self.disable_unproven_version(platform, plan, outcome)?;
        let outcome = self.add_earlier_omissions(plan, outcome);
        self.session.signals.hold();
        let smoke = self.smoke_test_uploaded_version(platform, plan, &outcome)?;
        // The warnings about an existing version were printed when it was published.
        if outcome.kind.may_have_published() {
            self.print_plan_warnings(plan);
        }
        let hashes = outcome.hashes.as_deref().unwrap_or_default();
        let receipt = Receipt::for_outcome(plan, hashes, &outcome)
            .with_smoke(smoke.as_ref().map(|smoke| &smoke.record));
        let mut problems = outcome.list_sentences();
        let result = outcome_report::report_outcome(self, platform, plan, &outcome, smoke.as_ref());
        let mut status = self.report_lost_output(result, &mut problems);
        // The status of an incomplete version has priority, because consumers may use that version.
        if status != ExitStatus::Incomplete {
            status = self.add_signal_status(status, &mut problems);
        }
        let mut case_name = format!("{}: {}", plan.describe_version(), outcome.kind);
        if smoke.as_ref().is_some_and(|smoke| !smoke.is_passed()) {
            // A smoke run that did not succeed changes the outcome of the receipt.
            case_name = format!("{}: {}", plan.describe_version(), receipt.outcome());
        }
        status = self.report_junit(&case_name, status, &problems, smoke.as_ref());
        let is_version_missing = matches!(outcome.kind, OutcomeKind::Conflict | OutcomeKind::Failed);
        if let Some(error) = outcome.hash_error.filter(|_| !is_version_missing) {
            status = status.worse(self.report_missing_hashes(error));
        }
        Ok(status.worse(self.write_records(receipt)))
    }

    /// Plans a publish of an older commit with the settings of this publish, for a comparison. `repository` has the
    /// commit.
    fn build_old_plan(&self, repository: &Repository, commit: &CommitId) -> Result<Plan, PublishError> {
        let request = PublishRequest {
            source: FileSource::Commit,
            ..build_publish_request(self.workspace, self.settings, self.target)
        };
        publish::build_plan(repository, commit, &request)
    }

    /// Returns the settings for the execution of the plan.
    fn publish_options(&self, plan: &Plan) -> publish::PublishOptions {
        let settings = self.settings;
        publish::PublishOptions {
            on_ignored: settings.on_ignored,
            if_exists: self.choose_if_exists(plan),
            verify: settings.verify,
            lookup_timeout: settings.lookup_timeout,
            // Content hashes cost time, so they are computed only if used.
            needs_hashes: settings.receipt.is_some()
                || settings.json
                || settings.attestation.is_requested()
                || self.session.has_outputs()
                || self.has_smoke_runs(),
            retries: self.connection.retries,
        }
    }

    /// Prints a result on standard output, or on standard error if a report goes to standard output.
    fn print_result(&self, text: &str) -> Result<(), Failure> {
        if self.is_output_reserved {
            Ui::print_to_stderr(text)
        } else {
            self.session.ui.print_result(text)
        }
    }
}

/// Plans the publish of the target's commit, from the source in the settings.
pub(crate) fn build_target_plan(
    workspace: &Workspace<'_>,
    settings: &PublishSettings,
    target: &Target,
) -> Result<Plan, PublishError> {
    let request = build_publish_request(workspace, settings, target);
    publish::build_plan(&workspace.repo, &target.head, &request)
}

/// Builds the request for a publish of the target with these settings. In a version name with `{next}`, a placeholder
/// version is used until the comparison with the latest version sets the real one.
fn build_publish_request<'s>(
    workspace: &Workspace<'_>,
    settings: &'s PublishSettings,
    target: &Target,
) -> PublishRequest<'s> {
    PublishRequest {
        prefix: settings.prefix.clone(),
        version_template: settings.version_name.clone(),
        globs: &settings.selection,
        selection: settings.select,
        config_dir: workspace.named_config_dir.clone(),
        source: settings.from,
        branch: target.certain_branch().map(str::to_owned),
        tag: target.tag.clone(),
        run_number: target.run_number.clone(),
        next_version: Some(DRAFT_VERSION.to_owned()),
    }
}
