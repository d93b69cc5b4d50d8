//! The predicate of a review: the reviewed pipelines, the rules and the result.

use super::{FileDigest, PolicyDigests, PredicateKind, Statement, Subject, Tool};
use serde::{Deserialize, Serialize};
use sluicegate_pipelines::findings::{
    Engine, FailOn, FindingTotals, Report, ResultCounts, ReviewPlatform, Verdict,
};

/// The content of the statement that attests a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the statement")]
pub(crate) struct ReviewPredicate {
    /// Full id of the reviewed commit.
    pub(crate) commit: String,
    /// The branch of the commit in `repository`; `None` if it is unknown, or if the change comes from a fork.
    pub(crate) branch: Option<String>,
    /// Host and path of the repository, without credentials; `None` if no host is known.
    pub(crate) repository: Option<String>,
    /// The commits that the change was compared with; empty if all pipelines were selected.
    pub(crate) bases: Vec<String>,
    pub(crate) verdict: Verdict,
    pub(crate) engine: Engine,
    /// The platform that evaluated the pipelines; `None` for a local engine.
    pub(crate) platform: Option<ReviewPlatform>,
    pub(crate) fail_on: FailOn,
    pub(crate) new_only: bool,
    /// The job turned all project checks off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) project_checks_off: bool,
    /// The job turned the team rules off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) team_rules_off: bool,
    /// The team rules file that the job named in place of that of the policy; `None` if it named no other file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) team_rules: Option<String>,
    /// The team rules file that applied to the review could not be used, so not all of its rules were evaluated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) team_rules_unusable: bool,
    /// The globs that selected the pipelines.
    pub(crate) include: Vec<String>,
    pub(crate) exclude: Vec<String>,
    pub(crate) policy: PolicyDigests,
    /// The platform's rules file in the reviewed commit; `None` if the commit has none.
    pub(crate) rules: Option<FileDigest>,
    /// The files of the gate configuration that the change edits, by path. They apply after its merge.
    pub(crate) gate_changes: Vec<String>,
    pub(crate) counts: ResultCounts,
    pub(crate) findings: FindingTotals,
    pub(crate) tool: Tool,
}

impl ReviewPredicate {
    /// Creates the predicate about the review in a report, completed by facts that the report does not contain.
    pub(crate) fn from_report(
        report: &Report,
        commit: &str,
        branch: Option<String>,
        repository: Option<String>,
        policy: PolicyDigests,
        rules: Option<FileDigest>,
    ) -> Self {
        let context = &report.context;
        Self {
            commit: commit.to_owned(),
            branch,
            repository,
            bases: context.base.iter().chain(&context.other_bases).cloned().collect(),
            verdict: report.verdict,
            engine: report.engine,
            platform: context.platform.clone(),
            fail_on: report.fail_on(),
            new_only: context.new_only,
            project_checks_off: context.project_checks_off,
            team_rules_off: context.team_rules_off,
            team_rules: context.team_rules.clone(),
            team_rules_unusable: context.team_rules_unusable,
            include: context.include.clone(),
            exclude: context.exclude.clone(),
            policy,
            rules,
            gate_changes: report
                .gate_changes
                .iter()
                .map(|change| change.path.clone())
                .collect(),
            counts: report.count_results(),
            findings: report.finding_totals(),
            tool: Tool::current(),
        }
    }

    /// Creates the statement with this predicate. Its subjects are the reviewed commit and each reviewed pipeline.
    pub(crate) fn into_statement(self, pipelines: &[FileDigest]) -> Statement<Self> {
        let mut subjects = vec![Subject::for_commit(self.repository.as_deref(), &self.commit)];
        subjects.extend(
            pipelines
                .iter()
                .map(|file| Subject::for_content(&file.path, &file.sha256)),
        );
        Statement::new(PredicateKind::Review, subjects, self)
    }
}
