//! A broken reference, and the results that report it.

use super::messages::describe_dangling_link;
use super::{CheckLevels, ProjectCheck};
use crate::findings::{
    Enforcement, FileResults, Origin, ProposedFix, RuleResult, Severity, Status, Violation,
};
use crate::pipelines::{DanglingLink, Reference};
use sluicegate_base::text::shorten_name;
use sluicegate_yaml::Position;
use std::collections::BTreeMap;

/// A broken reference, before its level is known.
pub(super) struct ReferenceProblem {
    pub check: ProjectCheck,
    pub line: u32,
    pub subject: Option<String>,
    pub text: String,
    /// True if the problem is at most a warning, whatever the level of the check is, because nothing is broken yet.
    pub is_minor: bool,
    /// True if the problem is at most a warning because it is unknown whether something is broken. Unlike a minor
    /// problem, it is worse than the minor problem that the base may have.
    pub is_uncertain: bool,
    pub fix: Option<ProposedFix>,
}

/// Builds a problem in the shared-pipelines file. `subject` is the id of the affected entry, if there is one.
pub(super) fn build_shared_file_problem(
    line: u32,
    subject: Option<String>,
    text: String,
) -> ReferenceProblem {
    ReferenceProblem {
        check: ProjectCheck::Shared,
        line,
        subject,
        text,
        is_minor: false,
        is_uncertain: false,
        fix: None,
    }
}

/// Builds a problem with a component's reference; `message` is the text after the component's name.
pub(super) fn build_reference_problem(
    check: ProjectCheck,
    reference: &Reference,
    message: &str,
) -> ReferenceProblem {
    build_component_problem(check, &reference.component, reference.position, message)
}

/// Builds a problem with a component; `message` is the text after the component's name.
pub(super) fn build_component_problem(
    check: ProjectCheck,
    component: &str,
    position: Position,
    message: &str,
) -> ReferenceProblem {
    // A component may have thousands of problems, so its name is shortened in each.
    let component = shorten_name(component);
    ReferenceProblem {
        check,
        line: position.line,
        subject: Some(component.clone().into_owned()),
        text: format!("component `{component}` {message}"),
        is_minor: false,
        is_uncertain: false,
        fix: None,
    }
}

/// Returns whether the violation reports this link to a missing component.
pub fn is_about_link(violation: &Violation, link: &DanglingLink) -> bool {
    let message = describe_dangling_link(link.role, &link.name);
    let problem = build_component_problem(ProjectCheck::Link, &link.component, link.position, &message);
    violation.line == Some(problem.line) && violation.text.starts_with(&problem.text)
}

/// Groups the problems in a file into one result for each check and level, in the order of the checks. Drops the
/// problems of checks that are off. A minor or uncertain problem is only a warning.
pub(super) fn group_problems(
    path: &str,
    problems: Vec<ReferenceProblem>,
    levels: CheckLevels,
) -> FileResults {
    let mut violations_by_check: BTreeMap<(ProjectCheck, Enforcement), Vec<Violation>> = BTreeMap::new();
    for problem in problems {
        let Some(level) = levels.enforcement_of(problem.check) else {
            continue;
        };
        let level = if problem.is_minor || problem.is_uncertain {
            Enforcement::Warn
        } else {
            level
        };
        violations_by_check
            .entry((problem.check, level))
            .or_default()
            .push(Violation {
                line: Some(problem.line),
                about: problem.subject,
                is_minor: problem.is_minor,
                proposed_fix: problem.fix.map(Box::new),
                ..Violation::new(problem.text)
            });
    }
    let results = violations_by_check
        .into_iter()
        .map(|((check, level), mut violations)| {
            violations.sort_by_key(|violation| violation.line);
            let status = Status::Failed(Severity::from_enforcement(level));
            RuleResult {
                origin: Origin::Project,
                ..RuleResult::new(check.id().to_owned(), status, Some(level), violations)
            }
        });
    FileResults {
        path: path.to_owned(),
        results: results.collect(),
        is_reviewed: false,
    }
}
