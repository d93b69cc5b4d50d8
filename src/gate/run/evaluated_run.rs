//! A run with its report.

use crate::exit::ExitStatus;
use crate::gate::ComparedChanges;
use crate::gate::changes::background_comparison::BackgroundComparison;
use crate::gate::run::report_subject::ReviewedFiles;
use crate::session::Session;
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::Report;
use sluicegate_pipelines::team_rules::TeamRuleSet;

/// A run with its report: it evaluated files, or read the reports of earlier runs.
pub(crate) struct EvaluatedRun<'a, S = ReviewedFiles<'a>> {
    pub(crate) session: &'a Session,
    pub(crate) subject: S,
    pub(crate) report: Report,
    pub(crate) status: ExitStatus,
    /// The rules of the team, whose texts explain their findings.
    pub(crate) team_rules: TeamRuleSet,
    pub(crate) facts: EvaluationFacts,
}

/// The facts about an evaluation that are not in its report; by default, those of a run that only reads reports.
#[derive(Default)]
pub(crate) struct EvaluationFacts {
    /// The changes that the selection found, for the list of changes in the reports.
    pub(crate) compared_changes: Option<ComparedChanges>,
    /// The list of changes, if it was compared while the platform responded.
    pub(crate) background_comparison: Option<BackgroundComparison>,
    /// The commits whose common findings are known, if only new ones fail the gate.
    pub(crate) baseline_commits: Vec<CommitId>,
    /// True if the newest commit of the target is stricter than the change, or has other rules.
    pub(crate) has_stricter_target: bool,
    /// True if unchanged pipelines were reviewed, too, because a publish follows.
    pub(crate) is_before_publish: bool,
    /// True if only runs in CI refuse the change, because it makes a file of the gate configuration unusable.
    pub(crate) is_refused_only_in_ci: bool,
}
