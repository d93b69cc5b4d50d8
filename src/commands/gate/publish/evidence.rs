//! The review that a publish relies on: of the commit to publish, passed as a whole, and of every pipeline of the plan.

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::git::CommitId;
use crate::base::text::count;
use crate::commands::gate::report::{SIZE_LIMIT, understood};
use crate::commands::kit::named_file::read_bounded;
use crate::gate::why_partial;
use crate::job::cli::RequiredEngine;
use crate::job::settings::LeftOfReview;
use crate::model::findings::{Engine, FailOn, Finding, Report, State, Status, Verdict};
use crate::model::pipelines::Kind;
use crate::publish::{Plan, ReviewEvidence, content_hash};
use std::collections::BTreeSet;
use std::path::Path;

/// The most pipelines that are named.
const NAMED: usize = 10;

/// How a report is made that can be relied on.
const HINT: &str = "write it by `sluicegate review --all --report json=FILE` on the commit to publish";

/// A review, and where it came from.
pub(crate) struct Evidence {
    report: Report,
    place: String,
    /// Of the report's file; none if the review was part of this run.
    sha256: Option<String>,
}

impl Evidence {
    pub(crate) fn of_this_run(report: Report) -> Self {
        Self {
            report,
            place: "the review".to_owned(),
            sha256: None,
        }
    }

    /// The report in this file, strictly read. A part, one that could not fail, and one by another engine than the
    /// platform's is refused; the engine alone can be waived.
    pub(super) fn required(path: &Path, engine: RequiredEngine) -> Result<Self, Failure> {
        let bytes = read_bounded(path, SIZE_LIMIT)?;
        let shown = path.display().to_string();
        let report = understood(&bytes, &shown).map_err(|failure| failure.hint(HINT))?;
        let found = Self {
            report,
            place: format!("the review {shown}"),
            sha256: Some(content_hash(&bytes)),
        };
        match found.why_not(engine) {
            None => found.knows_nothing(),
            Some(why) => Err(found.refused(&why)),
        }
    }

    /// A failure where a finding passed only as another commit had it: which one that was is not that of the version
    /// that consumers have, so a push that failed would be published by the next one.
    fn knows_nothing(self) -> Result<Self, Failure> {
        let fail_on = self.report.context.fail_on.unwrap_or(FailOn::Warn);
        let is_let_pass = |finding: &Finding<'_>| {
            finding.state == Some(State::Known) && fail_on.fails(&Status::Failed(finding.severity))
        };
        let known = self.report.findings().iter().filter(|it| is_let_pass(it)).count();
        if known == 0 {
            return Ok(self);
        }
        let message = format!(
            "{} cannot be relied on: it let {} pass that its base had (--new-only)",
            self.place,
            count(known, "finding")
        );
        Err(Failure::usage(message)
            .hint("`sluicegate ci --new-only` publishes what is no worse than the published version"))
    }

    fn why_not(&self, engine: RequiredEngine) -> Option<String> {
        let context = &self.report.context;
        let Some(fail_on) = context.fail_on else {
            return Some("it does not say what could fail it (`failOn`)".to_owned());
        };
        if context.compared_with.is_some() {
            return Some("it compares two reports (`report --compare`), and is no review".to_owned());
        }
        let is_local = self.report.engine == Engine::Local && engine == RequiredEngine::Remote;
        why_partial(context.shard, &context.paths, fail_on).or_else(|| {
            is_local.then(|| {
                "it was evaluated by this program, not by the platform (--require-review-engine)".to_owned()
            })
        })
    }

    fn refused(&self, why: &str) -> Failure {
        let hint = match self.report.context.shard {
            Some(_) => "`sluicegate report PART.json… --report json=FILE` makes one of all parts",
            None => HINT,
        };
        Failure::usage(format!("{} cannot be relied on: {why}", self.place)).hint(hint)
    }

    /// A failure unless this commit passed.
    pub(super) fn passed(&self, head: &CommitId) -> Result<(), Failure> {
        let (context, verdict) = (&self.report.context, self.report.verdict);
        if context.head.as_deref() != Some(head.as_str()) {
            let reviewed = context.head.as_deref().unwrap_or("no commit");
            let message = format!("{} is of {reviewed}, and {head} is to be published", self.place);
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

    /// What is proved of the plan; a failure unless every pipeline of it has results, but for those that the policy leaves
    /// out of the review by name. What the reviewer left out was not judged, for whatever reason, and neither was a pipeline
    /// without any rule result for which `expects_result` says that there must be one.
    pub(super) fn covers(
        &self,
        plan: &Plan,
        left: &LeftOfReview,
        expects_result: &dyn Fn(&str) -> bool,
    ) -> Result<ReviewEvidence, Failure> {
        let files = self.report.files.iter();
        let judged = files.filter(|file| file.is_reviewed());
        let judged = judged.filter(|file| !file.results.is_empty() || !expects_result(&file.path));
        let reviewed: BTreeSet<&str> = judged.map(|file| file.path.as_str()).collect();
        let missing: Vec<&str> = pipelines(plan)
            .filter(|path| !reviewed.contains(path) && !left.has(path))
            .collect();
        if !missing.is_empty() {
            return Err(self.uncovered(&missing));
        }
        Ok(ReviewEvidence {
            verdict: self.report.verdict.to_string(),
            engine: self.report.engine.to_string(),
            head: plan.commit_hash.clone(),
            report_sha256: self.sha256.clone(),
        })
    }

    fn uncovered(&self, missing: &[&str]) -> Failure {
        let named = named(missing);
        let what = count(missing.len(), "pipeline");
        let message = format!("{} has no result for {what} of the plan: {named}", self.place);
        match self.sha256 {
            Some(_) => Failure::usage(message).hint(HINT),
            None => Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message))
                .hint("nothing was published; --exclude leaves out what is not to be reviewed"),
        }
    }
}

/// The first of these, and how many more there are.
pub(super) fn named(paths: &[&str]) -> String {
    let named = paths[..paths.len().min(NAMED)].join(", ");
    match paths.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

pub(crate) fn pipelines(plan: &Plan) -> impl Iterator<Item = &str> {
    let paths = plan.files.iter().map(|file| file.path.as_str());
    paths.filter(|path| Kind::from_path(path).is_some())
}
