//! The review required for a publish: a passed, complete review of the commit to publish and of every planned pipeline.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::reports::SavedReports;
use crate::gate::reports::saved_report::{SIZE_LIMIT, understood};
use crate::gate::run::GateRun;
use crate::gate::run::run_subject::{ReportFile, RunSubject};
use crate::gate::{self,why_partial};
use crate::job::cli::RequiredEngine;
use crate::job::settings::{Connection, PublishSettings, ReviewExclusions};
use crate::publish::{Plan, ReviewEvidence, content_hash};
use crate::session::named_file::read_bounded;
use sluicegate_base::text::{List, count};
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::{
    Engine, FailOn, Finding, Report, ReviewPlatform, State, Status, Verdict,
};
use sluicegate_pipelines::pipelines::Kind;
use std::collections::BTreeSet;

/// Maximum number of pipelines in a message.
pub(super) const NAMED: usize = 10;

/// Hint for writing a suitable report.
const HINT: &str = "write it with `sluicegate review --all --report json=FILE` on the commit to publish";

/// The report of a run that a publish relies on, and its source.
pub(crate) struct Evidence<'r> {
    report: &'r Report,
    place: String,
    /// Hash of the report file; `None` if the review was part of this run.
    sha256: Option<&'r str>,
}

impl GateRun<'_, SavedReports<'_>> {
    /// Reads the review that the settings require, if any. Rejects a partial review, a review that could not fail, and a
    /// review by a local engine; only the last can be allowed.
    pub(crate) fn read_required_review(
        &mut self,
        settings: &PublishSettings,
        connection: &Connection,
    ) -> Result<(), Failure> {
        let Some(path) = &settings.require_review else {
            return Ok(());
        };
        let bytes = read_bounded(path, SIZE_LIMIT)?;
        let file = ReportFile {
            name: path.display().to_string(),
            sha256: content_hash(&bytes),
        };
        let report = understood(&bytes, &file.name).map_err(|failure| failure.hint(HINT))?;
        let evidence = Evidence::new(&
            report, Some(&file));
        if let Some(why) = evidence.why_not(settings.require_review_engine) {
            return Err(evidence.refused(&why));
        }
        // A dry run without a platform cannot compare the platform of the review.
        if !settings.dry_run || connection.base_url().is_ok() {
            evidence.is_of_platform(connection)?;
        }
        evidence.knows_nothing()?;
        self.status = gate::status(report.verdict);
        self.report = Some(report);
        self.subject.report_file = Some(file);
        Ok(())
    }
}

impl<'r> Evidence<'r> {
    /// Returns the evidence of a run; `None` if the run has no report.
    pub(crate) fn of_run<S: RunSubject>(run: &'r GateRun<'_, S>) -> Option<Self> {
        let report = run.report.as_ref()?;
        Some(Self::new(report, run.subject.report_file()))
    }

    fn new(report: &'r Report, file: Option<&'r ReportFile>) -> Self {
        let place = match file {
            Some(file) => format!("the review {}", file.name),
            None => "the review".to_owned(),
        };
        Self {
            report,
            place,
            sha256: file.map(|file| file.sha256.as_str()),
        }
    }

    /// Returns an error if another platform, or another project, evaluated the files: it may have other rules.
    fn is_of_platform(&self, connection: &Connection) -> Result<(), Failure> {
        if self.report.engine == Engine::Local {
            return Ok(());
        }
        let publishing = ReviewPlatform {
            url: connection.base_url()?.normalized(),
            project: connection.project_id()?.to_string(),
        };
        let why = match &self.report.context.platform {
            Some(reviewing) if *reviewing == publishing => return Ok(()),
            Some(reviewing) => format!("it was reviewed by {reviewing}, but the publish is for {publishing}"),
            None => "the report does not contain the platform that evaluated the files".to_owned(),
        };
        Err(self.refused(&why))
    }

    /// Returns an error if a finding passed only because its base had it: the base may differ from the published
    /// version, so the next push would publish findings that failed before.
    fn knows_nothing(&self) -> Result<(), Failure> {
        let fail_on = self.report.context.fail_on.unwrap_or(FailOn::Warn);
        let is_let_pass = |finding: &Finding<'_>| {
            finding.state == Some(State::Known) && fail_on.fails(&Status::Failed(finding.severity))
        };
        let known = self.report.findings().iter().filter(|it| is_let_pass(it)).count();
        if known == 0 {
            return Ok(());
        }
        let message = format!(
            "cannot rely on {}: it passed despite {} of its base (--new-only)",
            self.place,
            count(known, "finding")
        );
        Err(Failure::usage(message)
            .hint("use `sluicegate ci --new-only`, which compares with the published version"))
    }

    fn why_not(&self, engine: RequiredEngine) -> Option<String> {
        let context = &self.report.context;
        let Some(fail_on) = context.fail_on else {
            return Some("the report has no `failOn`".to_owned());
        };
        if context.compared_with.is_some() {
            return Some("the report is a comparison (`report --compare`), not a review".to_owned());
        }
        let is_local = self.report.engine == Engine::Local && engine == RequiredEngine::Remote;
        why_partial(context.shard, &context.paths, fail_on).or_else(|| {
            is_local.then(|| "the review was local, not by the platform (--require-review-engine)".to_owned())
        })
    }

    fn refused(&self, why: &str) -> Failure {
        let hint = match self.report.context.shard {
            Some(_) => "run `sluicegate report PART.json… --report json=FILE` to merge all shards",
            None => HINT,
        };
        Failure::usage(format!("cannot rely on {}: {why}", self.place)).hint(hint)
    }

    /// Returns an error unless this commit passed.
    pub(super) fn passed(&self, head: &CommitId) -> Result<(), Failure> {
        let (context, verdict) = (&self.report.context, self.report.verdict);
        if context.head.as_deref() != Some(head.as_str()) {
            let reviewed = context.head.as_deref().unwrap_or("no commit");
            let message = format!(
                "{} covers {reviewed}, not the commit to publish, {head}",
                self.place
            );
            return Err(Failure::usage(message).hint(HINT));
        }
        if verdict == Verdict::Passed {
            return Ok(());
        }
        let short = head.short();
        let message = format!(
            "{} of {short} did not pass: its verdict is `{verdict}`",
            self.place
        );
        Err(Failure::new(ExitStatus::GateFailed, anyhow::Error::msg(message)).hint("nothing was published"))
    }

    /// Returns the evidence for the plan, or an error unless every pipeline has results, except those that the policy
    /// excludes from review. A pipeline that the reviewer excluded for any reason has no result, and so has a pipeline
    /// without any rule result if `expects_result` requires one.
    pub(super) fn covers(
        &self,
        plan: &Plan,
        left: &ReviewExclusions,
        expects_result: &dyn Fn(&str) -> bool,
    ) -> Result<ReviewEvidence, Failure> {
        let files = self.report.files.iter();
        let judged = files.filter(|file| file.is_reviewed());
        let judged = judged.filter(|file| !file.results.is_empty() || !expects_result(&file.path));
        let reviewed: BTreeSet<&str> = judged.map(|file| file.path.as_str()).collect();
        let missing: Vec<&str> = pipelines(plan)
            .filter(|path| !reviewed.contains(path) && !left.contains(path))
            .collect();
        if !missing.is_empty() {
            return Err(self.uncovered(&missing));
        }
        Ok(ReviewEvidence {
            verdict: self.report.verdict.to_string(),
            engine: self.report.engine.to_string(),
            head: plan.commit_hash.clone(),
            report_sha256: self.sha256.map(str::to_owned),
        })
    }

    fn uncovered(&self, missing: &[&str]) -> Failure {
        let named = List::with_limit(missing, NAMED);
        let what = count(missing.len(), "pipeline");
        let message = format!("{} has no result for {what} of the plan: {named}", self.place);
        match self.sha256 {
            Some(_) => Failure::usage(message).hint(HINT),
            None => Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message))
                .hint("nothing was published; pass --exclude for files that need no review"),
        }
    }
}

pub(crate) fn pipelines(plan: &Plan) -> impl Iterator<Item = &str> {
    let paths = plan.files.iter().map(|file| file.path.as_str());
    paths.filter(|path| Kind::from_path(path).is_some())
}
