//! The review required for a publish: a passed, complete review of the commit to publish and of every planned pipeline.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::explain_unusable_review;
use crate::gate::reports::saved_report::{MAX_REPORT_SIZE, parse_report};
use crate::gate::run::review_context::explain_other_platform;
use crate::gate::waivers::today;
use crate::job::cli::RequiredEngine;
use crate::job::settings::{Connection, PublishSettings, ReviewExclusions};
use crate::publish::{FileSource, Plan, ReviewEvidence, hash_bytes};
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_base::text::{List, format_count, format_path};
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::{
    Engine, FailOn, FindingState, Report, ReviewPlatform, Status, Verdict, describe_expired_waivers,
};
use sluicegate_pipelines::pipelines::PipelineKind;
use std::collections::BTreeSet;

/// Maximum number of pipelines in a message.
pub(super) const MAX_LISTED_PIPELINES: usize = 10;

/// The hint for an unusable report: how to write a suitable one.
const REPORT_HINT: &str =
    "write the report with `sluicegate review --all --report json=FILE` for the commit to publish";

/// The hint for an unusable report of a local review, which the settings accept.
const LOCAL_REPORT_HINT: &str =
    "write the report with `sluicegate check --all --head HEAD --report json=FILE` for the commit to publish";

/// Fails if the settings select the files of the working tree, which no review covers.
pub(super) fn reject_review_of_worktree(settings: &PublishSettings) -> Result<(), Failure> {
    if settings.from == FileSource::Worktree {
        let message = "a review covers a commit, not the files of the working tree";
        return Err(Failure::usage(message).with_hint("publish from the commit: `--from commit`"));
    }
    Ok(())
}

/// The report of a run that a publish relies on, and its source.
pub(crate) struct RequiredReview<'r> {
    report: &'r Report,
    /// The name of the review in messages.
    name: String,
    /// Hash of the report file; `None` if the review was part of this run.
    sha256: Option<&'r str>,
}

/// The report of the review that the settings require.
pub(crate) struct RequiredReport {
    report: Report,
    /// The name of the report's file.
    name: String,
    sha256: String,
}

impl RequiredReport {
    /// Reads the report of the review that the settings require. Returns `None` if they do not require a review.
    /// Rejects a partial review, a review with `--fail-on never`, a review with other rules, a review by a local engine
    /// unless the settings allow it, a review with another gate configuration or by another platform, and a review that
    /// passed only because findings were known or because of waivers that expired since.
    pub(crate) fn read_required_review(
        session: &Session,
        workspace: &Workspace<'_>,
        settings: &PublishSettings,
        connection: &Connection,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = &settings.require_review else {
            return Ok(None);
        };
        let bytes =
            session
                .read_user_file(path, MAX_REPORT_SIZE)
                .map_err(|failure| match failure.own_hint() {
                    Some(_) => failure,
                    None => failure.with_hint(REPORT_HINT),
                })?;
        let name = format_path(path);
        let required_report = Self {
            report: parse_report(&bytes, &name).map_err(|failure| failure.with_hint(REPORT_HINT))?,
            name,
            sha256: hash_bytes(&bytes),
        };
        let review = required_report.as_required_review();
        let engine = settings.require_review_engine;
        // Only the report of a review that did not finish lacks the level.
        if review.is_undecided() && review.report.context.fail_on.is_none() {
            return Err(review.undecided_failure(ExitStatus::Usage));
        }
        if let Some(reason) = review.find_reason_against(engine) {
            let failure = review.review_failure(&reason);
            return Err(if review.is_by_accepted_engine(engine) {
                failure
            } else {
                failure.with_hint(REPORT_HINT)
            });
        }
        review.require_same_policy(workspace)?;
        // A dry run without a platform cannot compare the platform of the review.
        if !settings.dry_run || connection.require_base_url().is_ok() {
            review.require_platform(connection)?;
        }
        review.require_no_known_findings()?;
        review.require_valid_waivers()?;
        for check_kind in review.list_disabled_checks() {
            session
                .ui
                .warn(&format!("{} ran without {check_kind}", review.name));
        }
        Ok(Some(required_report))
    }

    /// Returns the review of the report.
    pub(crate) fn as_required_review(&self) -> RequiredReview<'_> {
        RequiredReview {
            report: &self.report,
            name: format!("the review {}", self.name),
            sha256: Some(&self.sha256),
        }
    }
}

impl<'r> RequiredReview<'r> {
    /// Creates the required review from the report of this run.
    pub(crate) fn from_report(report: &'r Report) -> Self {
        Self {
            report,
            name: "the review".to_owned(),
            sha256: None,
        }
    }

    /// Fails if the review used another gate configuration than this run, for example that of another target branch.
    fn require_same_policy(&self, workspace: &Workspace<'_>) -> Result<(), Failure> {
        let context = &self.report.context;
        let reason = workspace
            .explain_other_policy(context)?
            .or_else(|| workspace.explain_other_config(context));
        match reason {
            Some(reason) => Err(self.review_failure(&reason)),
            None => Ok(()),
        }
    }

    /// Fails if the review passed only because of waivers that expired since the review.
    fn require_valid_waivers(&self) -> Result<(), Failure> {
        let fail_on = self.report.fail_on();
        let today = today();
        let expired_count = self
            .report
            .findings()
            .iter()
            .filter(|finding| {
                finding.state == Some(FindingState::Waived)
                    && finding.waiver.is_some_and(|waiver| waiver.is_expired(today))
                    && fail_on.is_failure(&Status::Failed(finding.severity))
            })
            .count();
        if expired_count == 0 {
            return Ok(());
        }
        Err(self.review_failure(&describe_expired_waivers(expired_count)))
    }

    /// Fails if another platform or another project reviewed the files, because it may have other rules. Accepts a
    /// review by the local engine: `find_reason_against` rejects that review unless the settings allow it.
    fn require_platform(&self, connection: &Connection) -> Result<(), Failure> {
        if self.report.engine == Engine::Local {
            return Ok(());
        }
        let publish_platform = ReviewPlatform {
            url: connection.require_base_url()?.to_string(),
            project: connection.require_project_id()?.to_string(),
        };
        let reason = match &self.report.context.platform {
            Some(review_platform) => {
                explain_other_platform(review_platform, "the publish", &publish_platform)
            }
            None => Some("the report does not contain the platform that evaluated the files".to_owned()),
        };
        match reason {
            Some(reason) => Err(self.review_failure(&reason)),
            None => Ok(()),
        }
    }

    /// Fails if the review passed only because its base has the same findings (`--new-only`). That base may differ from
    /// the published version, so the findings could be new for consumers.
    fn require_no_known_findings(&self) -> Result<(), Failure> {
        // `find_reason_against` rejects a report without `failOn`, so the default is not used.
        let fail_on = self.report.context.fail_on.unwrap_or(FailOn::Warn);
        let known_count = self
            .report
            .findings()
            .iter()
            .filter(|finding| {
                finding.state == Some(FindingState::Known)
                    && fail_on.is_failure(&Status::Failed(finding.severity))
            })
            .count();
        if known_count == 0 {
            return Ok(());
        }
        let message = format!(
            "cannot rely on {}: the review passed despite {} (--new-only)",
            self.name,
            format_count(known_count, "known finding")
        );
        Err(Failure::usage(message)
            .with_hint("use `sluicegate ci --new-only`, which compares with the published version"))
    }

    /// Returns whether the review has no verdict, for example because the platform was unavailable.
    fn is_undecided(&self) -> bool {
        self.report.verdict == Verdict::Undecided
    }

    /// Returns the error that the review is undecided, with its reasons.
    fn undecided_failure(&self, status: ExitStatus) -> Failure {
        let reasons = self.report.reasons.iter().cloned();
        Failure::from_message(status, format!("cannot rely on {}: it is undecided", self.name))
            .with_entries(reasons)
            .with_hint("review the commit again before publishing it")
    }

    /// Returns why a publish cannot rely on this review, or `None` if it can.
    fn find_reason_against(&self, engine: RequiredEngine) -> Option<String> {
        let context = &self.report.context;
        if context.fail_on.is_none() {
            return Some("the report has no field `failOn`".to_owned());
        }
        if context.compared_with.is_some() {
            return Some("the report is a comparison (`report --compare`), not a review".to_owned());
        }
        if context.team_rules_unusable {
            let reason = "not all team rules were evaluated, because their file could not be used";
            return Some(reason.to_owned());
        }
        explain_unusable_review(context).or_else(|| {
            (!self.is_by_accepted_engine(engine)).then(|| {
                "the review was made locally, not by the platform (--require-review-engine)".to_owned()
            })
        })
    }

    /// Returns whether the settings accept a review by the engine of this review.
    fn is_by_accepted_engine(&self, engine: RequiredEngine) -> bool {
        self.report.engine == Engine::Remote || engine == RequiredEngine::Any
    }

    /// Lists the kinds of checks that the job turned off or replaced for the review. The review is valid, but the
    /// reader of the log must know, because the publish does not run these checks either.
    fn list_disabled_checks(&self) -> Vec<String> {
        let context = &self.report.context;
        let mut check_kinds = Vec::new();
        if context.project_checks_off {
            check_kinds.push("project checks (--project-checks off)".to_owned());
        }
        if context.team_rules_off {
            check_kinds.push("team rules (--team-rules off)".to_owned());
        }
        if let Some(path) = &context.team_rules {
            check_kinds.push(format!("the project's team rules (--team-rules {path})"));
        }
        check_kinds
    }

    /// Returns the error that a publish cannot rely on this review, for this reason.
    fn review_failure(&self, reason: &str) -> Failure {
        let hint = match self.report.context.shard {
            Some(_) => "run `sluicegate report PART.json… --report json=FILE` to merge all shards",
            None => self.report_hint(),
        };
        Failure::usage(format!("cannot rely on {}: {reason}", self.name)).with_hint(hint)
    }

    /// Returns the hint for another report by the same engine, which the settings have accepted.
    fn report_hint(&self) -> &'static str {
        match self.report.engine {
            Engine::Local => LOCAL_REPORT_HINT,
            Engine::Remote => REPORT_HINT,
        }
    }

    /// Fails unless the review is of this commit and passed.
    pub(super) fn require_passed(&self, head: &CommitId) -> Result<(), Failure> {
        let (context, verdict) = (&self.report.context, self.report.verdict);
        if context.head.as_deref() != Some(head.as_str()) {
            let reviewed_commit = context.head.as_deref().unwrap_or("no commit");
            let message = format!(
                "{} covers {reviewed_commit}, not the commit to publish, {head}",
                self.name
            );
            return Err(Failure::usage(message).with_hint(self.report_hint()));
        }
        if verdict == Verdict::Passed {
            return Ok(());
        }
        if self.is_undecided() {
            return Err(self.undecided_failure(ExitStatus::GateFailed));
        }
        let short = head.short();
        let message = format!("{} of {short} did not pass (verdict: `{verdict}`)", self.name);
        Err(Failure::from_message(ExitStatus::GateFailed, message)
            .with_hint("fix the findings of the review, and review the commit again before publishing it"))
    }

    /// Returns the pipelines of the plan that the review does not cover. `needs_result` returns whether a rule may
    /// apply to a pipeline; if the report has no result for such a pipeline, it was not really reviewed.
    pub(super) fn list_uncovered_pipelines<'p>(
        &self,
        plan: &'p Plan,
        needs_result: &dyn Fn(&str) -> bool,
    ) -> Vec<&'p str> {
        let reviewed_paths: BTreeSet<&str> = self
            .report
            .files
            .iter()
            .filter(|file| file.is_reviewed)
            .filter(|file| file.rule_results().next().is_some() || !needs_result(&file.path))
            .map(|file| file.path.as_str())
            .collect();
        pipeline_paths(plan)
            .filter(|path| !reviewed_paths.contains(path))
            .collect()
    }

    /// Fails unless the configuration excludes each uncovered pipeline from reviews.
    pub(super) fn require_coverage(
        &self,
        uncovered_paths: &[&str],
        unreviewed_selection: &ReviewExclusions,
    ) -> Result<(), Failure> {
        let missing_paths: Vec<&str> = uncovered_paths
            .iter()
            .copied()
            .filter(|path| !unreviewed_selection.contains(path))
            .collect();
        if missing_paths.is_empty() {
            Ok(())
        } else {
            Err(self.missing_results_failure(&missing_paths))
        }
    }

    /// Returns the facts about the review of `head` for the receipt.
    pub(super) fn evidence(&self, head: &CommitId) -> ReviewEvidence {
        ReviewEvidence {
            verdict: self.report.verdict.to_string(),
            engine: self.report.engine.to_string(),
            head: head.to_string(),
            report_sha256: self.sha256.map(str::to_owned),
        }
    }

    /// Returns the error that the review has no results for these pipelines of the plan: a usage error if the review
    /// was read from a file, otherwise an undecided run.
    fn missing_results_failure(&self, missing_paths: &[&str]) -> Failure {
        let path_list = List::with_limit(missing_paths, MAX_LISTED_PIPELINES);
        let pipeline_count = format_count(missing_paths.len(), "pipeline");
        let message = format!(
            "{} has no result for {pipeline_count} of the plan: {path_list}",
            self.name
        );
        match self.sha256 {
            Some(_) => Failure::usage(message).with_hint(self.report_hint()),
            None => Failure::from_message(ExitStatus::Undecided, message)
                .with_hint("nothing was published; pass --exclude for files that do not need a review"),
        }
    }
}

/// Returns the paths of those files of the plan that are pipelines.
pub(crate) fn pipeline_paths(plan: &Plan) -> impl Iterator<Item = &str> {
    let paths = plan.files.iter().map(|file| file.path.as_str());
    paths.filter(|path| PipelineKind::from_path(path).is_some())
}
