//! One publish of a version: plans, compares with the platform, uploads once, verifies, writes a receipt.

mod again;
mod announcement;
mod compat;
pub(crate) mod consumer_impact;
mod evidence;
mod history;
mod intent;
mod junit;
mod merged;
pub(crate) mod offered_side;
mod order;
mod planned_publish;
mod policy_guard;
mod preview;
mod superseded;
mod tell;
pub(crate) mod version_comparison;

pub(crate) use compat::PublishComparison;
pub(crate) use evidence::{Evidence, pipelines};
pub(crate) use history::VersionHistory;
pub(crate) use merged::{MergedCommit, check_local_commit, require_merged};
pub(crate) use planned_publish::{PlannedPublish, find_reason_against_publish};
pub(crate) use policy_guard::{refuse_outdated_gate, resolve_settings};

use intent::{Intent, PublishedBefore};
use sluicegate_base::text::{self, List, count};

use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::{self, Positions};
use crate::job::context::Target;
use crate::job::settings::{Connection, PublishSettings, ReviewExclusions};
use crate::publish::{self, Plan, Progress, PublishError, Receipt, ReviewEvidence, Source, Wish};
use crate::report::publish_summary;
use crate::session::failure::not_written;
use crate::session::step_report::PUBLISH_FAILED;
use crate::session::{CommandResult, Run};
use crate::ui::{ProgressDisplay, Ui};
use crate::workspace::Workspace;
use jiff::Timestamp;
use sluicegate_git::CommitId;
use sluicegate_platform::api::Platform;
use std::path::PathBuf;
use std::sync::Arc;

/// The inputs of a publish.
pub(crate) struct Publishing<'a> {
    pub(crate) run: &'a Run,
    pub(crate) workspace: &'a Workspace<'a>,
    pub(crate) settings: &'a PublishSettings,
    pub(crate) connection: &'a Connection,
    pub(crate) target: &'a Target,
    /// The files published without a review.
    pub(crate) left_of_review: ReviewExclusions,
    /// The evidence of the required review.
    pub(crate) review: Option<ReviewEvidence>,
    /// The check of the commit, which both commands need.
    #[expect(dead_code, reason = "a proof has no content")]
    pub(crate) merged: MergedCommit,
    /// The versions of the prefix before the upload, once requested.
    pub(crate) history: VersionHistory,
    /// The changes for consumers, once compared.
    pub(crate) compared: Option<PublishComparison>,
    /// Whether standard output is reserved for a report.
    pub(crate) takes_output: bool,
    /// Whether this is part of `sluicegate ci`, which publishes without a user's attention.
    pub(crate) is_ci: bool,
    pub(crate) started: Timestamp,
}

impl Publishing<'_> {
    /// Publishes the plan; with evidence, only if it covers the plan.
    pub(crate) fn run(
        mut self,
        plan: Result<Plan, PublishError>,
        evidence: Option<Evidence<'_>>,
    ) -> CommandResult {
        let written = [&self.settings.receipt, &self.settings.junit];
        let written = written.into_iter().flatten().map(PathBuf::as_path);
        self.run.refuse_links(&self.workspace.repo, written)?;
        self.check_settings(evidence.as_ref())?;
        let mut plan = match plan {
            Err(error) if self.settings.dry_run => return self.show_refusal(error),
            planned => planned?,
        };
        self.check_coverage(&plan, evidence)?;
        if self.settings.dry_run {
            self.warn(&plan);
            return self.preview(plan);
        }
        let platform = self.run.platform(self.connection)?;
        let intent = match self.intent(&platform, &mut plan) {
            Ok(intent) => intent,
            Err(failure) => return self.unsettled(plan, &failure),
        };
        match intent {
            Intent::Nothing(before) => self.published_before(&plan, &before),
            Intent::Refuse(failure) => self.refuse(&plan, &failure, "nothing was sent".to_owned()),
            Intent::Send => {
                if let Some(compared) = &self.compared {
                    self.tell_compat(&plan, &compared.compat);
                }
                self.send(&platform, &plan)
            }
        }
    }

    /// Returns an error if the settings do not allow this publish: the review did not pass or is not of these files, or a
    /// counted version name cannot be determined.
    fn check_settings(&self, evidence: Option<&Evidence<'_>>) -> Result<(), Failure> {
        if let Some(evidence) = evidence {
            evidence.passed(&self.target.head)?;
        }
        if evidence.is_some() && self.settings.from == Source::Worktree {
            let message = "a review covers a commit, not the files of the working tree";
            return Err(Failure::usage(message).hint("publish from the commit: `--from commit`"));
        }
        self.refuse_next_without_comparison()
    }

    /// Returns an error if the review does not cover the plan; otherwise, keeps the review for the receipt.
    fn check_coverage(&mut self, plan: &Plan, evidence: Option<Evidence<'_>>) -> Result<(), Failure> {
        let Some(evidence) = evidence else {
            return Ok(());
        };
        let rules = self
            .workspace
            .rules(&self.workspace.repo.snapshot(self.target.head.clone()))?;
        let positions = Positions::new(&self.workspace.repo, &self.target.head);
        let expects_result = |path: &str| gate::expects_result(rules.as_ref(), &positions, path);
        self.review = Some(evidence.covers(plan, &self.left_of_review, &expects_result)?);
        self.warn_of_unreviewed(plan);
        Ok(())
    }

    /// Ends without an upload, because this version of this commit exists.
    fn published_before(&self, plan: &Plan, before: &PublishedBefore) -> CommandResult {
        let said = format!("{}: nothing is published", before.said);
        self.show(&(text::line(&said) + "\n"))?;
        let receipt = Receipt::unchanged(plan, &self.hashes(plan)?, &before.version, &before.commit);
        self.tell_junit(&said, ExitStatus::Success, &[]);
        self.summarize(&format!("Nothing published: {}", before.said), plan, &[]);
        Ok(self.record(receipt))
    }

    /// Ends without an upload, because the published version could not be determined; a counted version has no name
    /// then.
    fn unsettled(&self, mut plan: Plan, failure: &Failure) -> CommandResult {
        if self.asks_for_next() && self.compared.is_none() {
            plan.version_name.clone_from(&self.settings.version_name);
        }
        self.refuse(&plan, failure, format!("nothing was sent: {}", failure.chain()))
    }

    /// Ends without an upload, because consumers would break without permission, or the breaks are unknown.
    fn refuse(&self, plan: &Plan, failure: &Failure, problem: String) -> CommandResult {
        let what = format!("version {} of {}", plan.version_name, plan.prefix);
        let title = format!("{PUBLISH_FAILED}: {what} (refused)");
        let status = self.run.report_failure_as(&title, failure);
        let receipt = Receipt::refused(plan, &self.hashes(plan)?);
        self.tell_junit(&what, status, &[problem]);
        Ok(status.worse(self.record(receipt)))
    }

    /// Returns the content hashes if they are used.
    fn hashes(&self, plan: &Plan) -> Result<Vec<String>, Failure> {
        Ok(if self.options().hash {
            plan.hash_all()?
        } else {
            Vec::new()
        })
    }

    fn warn(&self, plan: &Plan) {
        for warning in &plan.told {
            self.run.ui.warn(warning);
        }
    }

    fn warn_of_unreviewed(&self, plan: &Plan) {
        let left: Vec<&str> = pipelines(plan)
            .filter(|path| self.left_of_review.contains(path))
            .collect();
        if !left.is_empty() {
            let what = count(left.len(), "pipeline");
            let named = List::with_limit(&left, evidence::NAMED);
            self.run.ui.warn(&format!(
                "publishing without a review because of `review.include` or `review.exclude`: {what} ({named})"
            ));
        }
    }

    fn send(&self, platform: &Platform, plan: &Plan) -> CommandResult {
        let what = count(plan.files.len(), "file");
        self.run.ui.say(&format!(
            "publishing {what} as version {} of {}",
            plan.version_name, plan.prefix
        ));
        let bar = self.run.ui.progress("publishing").count_bytes();
        let ended = self.run.requests(publish::publish(
            platform,
            plan,
            self.options(),
            Some(progress(&bar, plan)),
        ))?;
        bar.clear();
        let ended = self.check_superseded(platform, plan, ended)?;
        // The warnings about an existing version were printed when it was published.
        if ended.kind.may_be_new() {
            self.warn(plan);
        }
        let status = tell::tell(self, plan, &ended)?;
        let hashes = ended.hashes.as_deref().unwrap_or_default();
        let receipt = Receipt::of(plan, hashes, &ended);
        let what = format!("version {} of {}: {}", plan.version_name, plan.prefix, ended.kind);
        self.tell_junit(&what, status, &ended.problems);
        Ok(status.worse(self.record(receipt)))
    }

    pub(crate) fn plan(&self) -> Result<Plan, PublishError> {
        self.plan_of(&self.target.head, self.settings.from)
    }

    fn plan_of(&self, commit: &CommitId, source: Source) -> Result<Plan, PublishError> {
        plan_of(self.workspace, self.settings, self.target, commit, source)
    }

    fn options(&self) -> publish::Options {
        let settings = self.settings;
        publish::Options {
            on_ignored: settings.on_ignored,
            if_exists: settings.if_exists,
            verify: settings.verify,
            patience: settings.lookup_timeout,
            // Content hashes cost time, so they are computed only if used.
            hash: settings.receipt.is_some() || self.run.has_outputs(),
        }
    }

    /// Prints a result: on standard output, or on standard error if a report is on standard output.
    fn show(&self, text: &str) -> Result<(), Failure> {
        if self.takes_output {
            Ui::print_result_to_stderr(text)
        } else {
            self.run.ui.print_result(text)
        }
    }

    /// Writes the receipt and the step outputs, and reports failures to write them.
    fn record(&self, receipt: Receipt) -> ExitStatus {
        let (run, settings) = (self.run, self.settings);
        let compat = self.compared.as_ref().map(|compared| &compared.compat);
        let receipt = receipt.with_review(self.review.as_ref()).with_compat(compat);
        let mut status = ExitStatus::Success;
        let mut check = |result: Result<(), Failure>| {
            if let Err(failure) = result {
                status = status.worse(run.report_failure_as("A file was not written", &failure));
            }
        };
        if let Some(path) = &settings.receipt {
            let written = atomic_file::write_file_with(path, |out| receipt.write(out));
            check(written.map_err(not_written("the receipt ", path)));
        }
        check(run.write_outputs(&self.step_outputs(receipt)));
        status
    }

    /// Returns the step outputs. Later steps deploy the version that they name, so a version that was not published is
    /// not named.
    fn step_outputs(&self, receipt: Receipt) -> Vec<(&'static str, String)> {
        let compared = self.compared.as_ref();
        let next_name = compared.map(PublishComparison::next_name).unwrap_or_default();
        let class = compat::class_of(compared.map(|compared| &compared.compat));
        let mut outputs = vec![("compat", class), ("next-version", next_name)];
        if receipt.is_of_published_version() {
            outputs.push(("version-name", receipt.version_name));
            outputs.push(("digest", receipt.digest));
        }
        outputs
    }

    /// Writes the step summary of a publish that did not fail: the version, and what changed for consumers. A summary
    /// that cannot be written is a warning, because the version is published.
    fn summarize(&self, title: &str, plan: &Plan, warnings: &[String]) {
        let files = count(plan.files.len(), "file");
        let commit = plan.commit_hash.as_str();
        let mut facts = vec![("commit", commit), ("files", files.as_str())];
        facts.extend(plan.branch.as_deref().map(|branch| ("branch", branch)));
        facts.extend(warnings.iter().map(|warning| ("warning", warning.as_str())));
        let compat = self.compared.as_ref().map(|compared| &compared.compat);
        if let Err(failure) = self.run.append_summary(|| publish_summary(title, &facts, compat)) {
            self.run.ui.warn(&failure.describe());
        }
    }
}

/// Returns the publish plan of this commit for these settings; a counted version name is a draft.
pub(crate) fn plan_of(
    workspace: &Workspace<'_>,
    settings: &PublishSettings,
    target: &Target,
    commit: &CommitId,
    source: Source,
) -> Result<Plan, PublishError> {
    let draft = compat::DRAFT.to_owned();
    with_wish((workspace, settings, target), source, draft, |wish| {
        publish::plan(&workspace.repo, commit, wish)
    })
}

fn with_wish<T>(
    (workspace, settings, target): (&Workspace<'_>, &PublishSettings, &Target),
    source: Source,
    next: String,
    work: impl FnOnce(&Wish<'_>) -> Result<T, PublishError>,
) -> Result<T, PublishError> {
    work(&Wish {
        prefix: settings.prefix.clone(),
        version_template: settings.version_name.clone(),
        include: &|path| settings.selection.includes(path),
        exclude: &|path| settings.selection.excludes(path),
        select: settings.select,
        config_dir: workspace.named_folder.clone(),
        source,
        branch: target.certain_branch().map(str::to_owned),
        tag: target.tag.clone(),
        run_number: target.run_number.clone(),
        next: Some(next),
    })
}

/// The request body is slightly larger than the files.
fn progress(bar: &ProgressDisplay, plan: &Plan) -> Progress {
    let (bar, total) = (bar.clone(), plan.total_bytes());
    Arc::new(move |sent| bar.set(sent.min(total), total))
}
