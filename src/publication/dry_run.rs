//! Runs the dry run: shows the plan, the reasons to refuse it, and its changes for consumers, with read requests only.

use super::Publication;
use super::earlier_selection::EarlierSelection;
use super::publish_decision::{PublishDecision, PublishedVersion};
use super::publish_preview::{Preview, PublishedState, build_preview_document, render_preview};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::settings::SmokeRun;
use crate::publish::{Plan, PlanChanges, PublishError, Receipt, compare_plans, is_same_commit};
use crate::session::CommandResult;
use crate::session::response_output::format_json;
use crate::session::step_report::PUBLISH_FAILED;
use serde_json::{Value, json};
use sluicegate_base::text::{escape_line, format_count};
use sluicegate_pipelines::interface::list_breaking_changes;
use sluicegate_platform::api::{ArtifactDetails, Platform};
use sluicegate_platform::http::HttpError;
use sluicegate_reports::SummaryChanges;

impl Publication<'_> {
    /// Prints what a publish of the plan would do, and writes the receipt. Returns the exit status of the publish, as
    /// far as it can be predicted; for example, the gate fails if the publish would break consumers.
    pub(super) fn execute_dry_run(mut self, mut plan: Plan) -> CommandResult {
        let platform = self.open_platform()?;
        let decision = match &platform {
            Some(platform) => self.decide_on_upload(platform, &mut plan)?,
            // Without a platform, nothing can be compared.
            None => PublishDecision::Upload,
        };
        let plan = &plan;
        let hashes = plan.hash_all_files()?;
        let published_state = self.request_published_state(platform.as_ref(), plan)?;
        let changes = self.compare_with_latest(plan, &hashes, &published_state);
        let mut refusals = Vec::new();
        let mut refusal_hint = None;
        let is_upload_planned = matches!(decision, PublishDecision::Upload);
        let decision = self.decide_after_lookup(decision, plan, published_state.planned_version.as_ref());
        let smoke_runs = self.list_following_smoke_runs(&decision, published_state.latest.as_ref());
        let mut status = ExitStatus::Success;
        let mut receipt = Receipt::from_plan(plan, &hashes);
        let mut skip_reason = None;
        match decision {
            PublishDecision::Upload => {}
            PublishDecision::AlreadyPublished(PublishedVersion {
                reason,
                version,
                commit,
                ..
            }) => {
                // A publish decides this only at its upload, so the receipt stays that of the plan.
                if !is_upload_planned {
                    let branch = self.history.find_branch(&version);
                    receipt = Receipt::for_unchanged_files(plan, &hashes, &version, &commit, branch);
                }
                skip_reason = Some(reason);
            }
            PublishDecision::Refuse(failure) => {
                status = failure.status();
                refusals = self.list_refusal_reasons(&failure);
                refusal_hint = failure.own_hint().map(str::to_owned);
            }
        }
        let preview = Preview {
            receipt_digest: receipt.digest.clone(),
            hashes: hashes.clone(),
            published_state,
            refusals,
            refusal_hint,
            skip_reason,
            changes,
            smoke_runs,
            compat: self
                .comparison
                .as_ref()
                .map(|comparison| comparison.reported_changes().clone()),
        };
        let output = if self.settings.json {
            format_json(&build_preview_document(plan, &preview))
        } else {
            render_preview(plan, &preview, self.session.global.verbose > 0)
        };
        self.print_result(&output)?;
        self.summarize_dry_run(plan, &preview, status);
        Ok(status.worse(self.write_records(receipt)))
    }

    /// Returns the smoke runs that follow a publish. An existing version is tested, too, if it is of the same commit and
    /// consumers get it.
    fn list_following_smoke_runs(
        &self,
        decision: &PublishDecision,
        latest: Option<&ArtifactDetails>,
    ) -> Vec<SmokeRun> {
        let are_due = match decision {
            PublishDecision::Upload => true,
            PublishDecision::AlreadyPublished(PublishedVersion { version, commit, .. }) => {
                is_same_commit(Some(commit), self.target.head.as_str())
                    && latest.is_some_and(|latest| latest.artifact.version_name.as_ref() == Some(version))
            }
            PublishDecision::Refuse(_) => false,
        };
        if are_due {
            self.settings.smoke.runs.clone()
        } else {
            Vec::new()
        }
    }

    /// Returns the reasons of a refused publish: the breaking changes if the gate failed after a comparison, otherwise
    /// the message of the failure.
    fn list_refusal_reasons(&self, failure: &Failure) -> Vec<String> {
        match &self.comparison {
            Some(comparison) if failure.status() == ExitStatus::GateFailed => {
                list_breaking_changes(&comparison.compat)
            }
            _ => vec![failure.describe_on_one_line()],
        }
    }

    /// Writes the step summary of a dry run. If the publish would fail, reports the reasons as an annotation instead.
    fn summarize_dry_run(&self, plan: &Plan, preview: &Preview, status: ExitStatus) {
        let name = plan.describe_version();
        let files = format_count(plan.files.len(), "file");
        if status != ExitStatus::Success {
            let title = format!("{PUBLISH_FAILED}: {name} (dry run)");
            let refusals = preview.refusals.iter().map(|refusal| escape_line(refusal));
            let hint = preview
                .refusal_hint
                .iter()
                .map(|hint| format!("hint: {}", escape_line(hint)));
            let lines: Vec<String> = refusals.chain(hint).collect();
            self.session.annotate_failure(&title, status, &lines.join("\n"));
        } else if let Some(reason) = &preview.skip_reason {
            let title = format!("Dry run: nothing to publish: {reason}");
            self.write_summary(&title, plan, &files, &[], None, SummaryChanges::Omitted);
        } else {
            let changes = self.select_summary_changes(plan, true);
            let title = format!("Dry run: would publish {name}");
            self.write_summary(&title, plan, &files, &[], None, changes);
        }
    }

    /// Creates the platform's client if a URL and a token are configured. Without them, returns `None`, because a dry
    /// run works without the platform. Only a version name with `{next}` needs the platform, so a missing URL or token
    /// is then an error.
    fn open_platform(&self) -> Result<Option<Platform>, Failure> {
        if !self.connection.can_send_requests() && !self.needs_next_version() {
            return Ok(None);
        }
        Ok(Some(self.session.create_platform_client(self.connection)?))
    }

    /// Ends a dry run whose plan failed, by returning the error. With `--json`, first prints its reasons as JSON.
    pub(super) fn report_plan_error(&self, error: PublishError) -> CommandResult {
        if self.settings.json {
            let refusals: Vec<Value> = match &error {
                PublishError::Incomplete(problems) | PublishError::UndeclaredParameters(problems) => problems
                    .iter()
                    .map(|problem| json!({ "what": problem.description, "path": problem.path, "line": problem.line, "component": problem.component }))
                    .collect(),
                error => vec![json!({ "what": error.to_full_text() })],
            };
            let head = self.target.head.as_str();
            self.print_result(&format_json(
                &json!({ "schema": "sluicegate.plan/v1", "commitHash": head, "refused": refusals }),
            ))?;
        }
        Err(error.into())
    }

    /// Requests the planned version, which may exist, and the latest version. Without a platform, both are unknown. An
    /// error of the platform is only a warning, because the plan does not need it.
    fn request_published_state(
        &self,
        platform: Option<&Platform>,
        plan: &Plan,
    ) -> Result<PublishedState, Failure> {
        let Some(platform) = platform else {
            return Ok(PublishedState::default());
        };
        let response = self.session.block_on(async {
            Ok::<_, HttpError>(PublishedState {
                is_known: true,
                planned_version: platform.find_artifact(&plan.prefix, &plan.version_name).await?,
                latest: platform.find_latest_artifact(&plan.prefix).await?,
            })
        })?;
        match response {
            Ok(published_state) => Ok(published_state),
            Err(error) => {
                self.session
                    .ui
                    .warn(&format!("could not determine the published version: {error}"));
                Ok(PublishedState::default())
            }
        }
    }

    /// Returns why there is no latest version to compare with: it is unknown, every version is disabled, or there is no
    /// version.
    fn explain_missing_latest(&self, prefix: &str, is_known: bool) -> String {
        if !is_known {
            "the latest version is unknown".to_owned()
        } else if self.history.is_disabled() {
            format!("every version of {prefix} is disabled")
        } else {
            format!("no version of {prefix} is published")
        }
    }

    /// Compares the files of the plan with those that the latest version's commit would publish. Returns that commit
    /// and the changes. The error is the reason why they are unknown, for example because the clone lacks the commit.
    fn compare_with_latest(
        &self,
        plan: &Plan,
        hashes: &[String],
        published_state: &PublishedState,
    ) -> Result<(String, PlanChanges), String> {
        let latest = published_state
            .latest
            .as_ref()
            .ok_or_else(|| self.explain_missing_latest(&plan.prefix, published_state.is_known))?;
        let latest_id = latest
            .artifact
            .commit_hash
            .as_deref()
            .ok_or("the platform reports no commit for the latest version")?;
        // The comparison of the offers may have fetched the commit and its history.
        let repo = self.workspace.repo.reopen().map_err(|error| error.to_string())?;
        if !repo.has_commit(latest_id) {
            return Err(format!("the clone does not have commit {latest_id}"));
        }
        let latest_commit = repo.resolve(latest_id).map_err(|error| error.to_string())?;
        // Only a commit of the same history can be compared: files that only another branch has would look as if this
        // publish removed them. An older commit than the latest version's really removes files.
        match repo.contains_commit(&self.target.head, &latest_commit) {
            Ok(true) => {}
            Ok(false)
                if repo
                    .contains_commit(&latest_commit, &self.target.head)
                    .unwrap_or(false) => {}
            Ok(false) if repo.is_shallow() => {
                return Err(format!(
                    "this shallow clone does not show whether commit {latest_id} is in the history of the commit to \
                     publish"
                ));
            }
            Ok(false) => {
                return Err(format!(
                    "commit {latest_id} is not in the history of the commit to publish"
                ));
            }
            Err(error) => return Err(error.to_string()),
        }
        let earlier_selection = self
            .find_earlier_selection(&repo, &latest_commit)
            .map_err(|failure| failure.describe_on_one_line())?;
        let old_plan = match earlier_selection {
            EarlierSelection::Plan(old_plan) => Ok(*old_plan),
            _ => self.build_old_plan(&repo, &latest_commit),
        };
        old_plan
            .and_then(|old_plan| compare_plans(&old_plan, plan, hashes))
            .map(|changes| (latest_id.to_owned(), changes))
            .map_err(|error| {
                format!(
                    "commit {latest_id} could not be compared with the commit to publish: {}",
                    Failure::from(error).describe_on_one_line()
                )
            })
    }
}
