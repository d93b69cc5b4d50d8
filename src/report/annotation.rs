//! Collects annotations independently of a host: the most important first, within the host's limit.

use super::About;
use super::remark::{Remark, RemarkKind, remarks};
use super::view::Order;
use super::wording::{causes_of_the_run, excluded, next_step_in_log, run_problem};
use crate::model::findings::{Finding, Report, Severity, Verdict};
use sluicegate_base::text::count;
use std::cmp::Reverse;
use std::fmt::Write as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    Notice,
}

impl Level {
    const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Notice];

    const fn noun(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

/// An annotation. All its text may come from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Annotation {
    pub level: Level,
    /// File and line; `None` if the annotation is about the run.
    pub place: Option<(String, u32)>,
    pub title: String,
    pub message: String,
}

/// Collects the annotations; known and waived findings have none. First comes the annotation about the run, then
/// errors, unreviewed files, warnings and notes. In each group, findings on changed lines come first, as hosts show
/// them in the change itself; then the order is by path and line. A reason that was already reported for the run is
/// reported once for the run, not for each file that it kept from being reviewed.
pub(super) fn collect(report: &Report, about: &About) -> Vec<Annotation> {
    let mut findings = report.findings();
    findings.retain(Finding::counts);
    Order::of(report, about).sort(&mut findings);
    findings.sort_by_key(|finding| Reverse(finding.severity));
    let first_warning = findings.partition_point(|finding| finding.severity == Severity::Error);
    let mut all: Vec<Annotation> = of_run(report, about).into_iter().collect();
    all.extend(findings[..first_warning].iter().map(about_finding));
    all.extend(
        remarks(report)
            .into_iter()
            .filter_map(|remark| about_remark(remark, about)),
    );
    all.extend(findings[first_warning..].iter().map(about_finding));
    all.extend(excluded(report).map(notice));
    all.extend(notes(report));
    all
}

/// Returns the annotation that explains why the run does not pass and why files were not reviewed.
fn of_run(report: &Report, about: &About) -> Option<Annotation> {
    let causes = causes_of_the_run(report, &about.told);
    let said: Vec<String> = run_problem(report).into_iter().chain(causes).collect();
    let mut message = said.join(" ");
    if let Some(step) = next_step_in_log(report, &about.told) {
        let stop = if message.ends_with('.') { "" } else { "." };
        let _ = write!(message, "{stop} To do: {step}.");
    }
    (!said.is_empty()).then(|| Annotation {
        level: Level::Error,
        place: None,
        title: "review".to_owned(),
        message,
    })
}

fn about_finding(finding: &Finding<'_>) -> Annotation {
    let level = match finding.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
    };
    at(level, finding.path, finding.line, finding.rule, finding.message())
}

/// Returns the annotation of a remark; `None` if its reason was already reported for the run.
fn about_remark(remark: Remark<'_>, about: &About) -> Option<Annotation> {
    let title = match remark.kind {
        RemarkKind::Unreviewed => "unreviewed",
        RemarkKind::GateChange => "gate change",
        RemarkKind::Break => "breaks consumers",
        RemarkKind::Verdict | RemarkKind::Limit => "review",
    };
    let level = if remark.weighs {
        Level::Error
    } else {
        Level::Warning
    };
    let is_told = remark
        .reason
        .is_some_and(|reason| about.told.iter().any(|told| told == reason));
    let line = remark.line.unwrap_or(1);
    (!is_told).then(|| at(level, remark.path, line, title, remark.text))
}

fn at(level: Level, path: &str, line: u32, title: &str, message: String) -> Annotation {
    Annotation {
        level,
        place: Some((path.to_owned(), line)),
        title: title.to_owned(),
        message,
    }
}

/// Returns the notes as annotations, unless the annotation about the run already contains them.
fn notes(report: &Report) -> Vec<Annotation> {
    if report.verdict == Verdict::Undecided || run_problem(report).is_some() {
        return Vec::new();
    }
    report.notes.iter().cloned().map(notice).collect()
}

fn notice(message: String) -> Annotation {
    Annotation {
        level: Level::Notice,
        place: None,
        title: "review".to_owned(),
        message,
    }
}

/// Returns at most `limit` annotations of each level. If there are more, the last one states their number and where to
/// find them.
pub(super) fn cap(annotations: &[Annotation], limit: usize, elsewhere: &str) -> Vec<Annotation> {
    let mut capped = Vec::new();
    for level in Level::ALL {
        let of_level = annotations.iter().filter(|annotation| annotation.level == level);
        let total = of_level.clone().count();
        if total <= limit {
            capped.extend(of_level.cloned());
        } else {
            let shown = limit.saturating_sub(1);
            capped.extend(of_level.take(shown).cloned());
            capped.push(Annotation {
                level,
                place: None,
                title: "review".to_owned(),
                message: format!("{} omitted: see {elsewhere}", count(total - shown, level.noun())),
            });
        }
    }
    capped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{sample, touched_lines};

    fn shown(annotations: &[Annotation]) -> Vec<String> {
        let line = |a: &Annotation| format!("{:?} {:?} {}: {}", a.level, a.place, a.title, a.message);
        annotations.iter().map(line).collect()
    }

    #[test]
    fn errors_come_first_then_by_path_and_line() {
        let all = collect(&sample::report(), &About::default());
        insta::assert_snapshot!(shown(&all).join("\n"), @r#"
        Error Some(("load/it.orch.yaml", 9)) component-naming-convention: `Run B` is not
        Error Some(("load/it.orch.yaml", 12)) component-naming-convention: `Run A` is not in the pattern
        Error Some(("a.tran.yaml", 1)) unused-components: the rule could not be evaluated: designer/no-start-component
        Error Some(("late.orch.yaml", 1)) unreviewed: The file was not reviewed: the batch timed out
        Warning Some(("sluicegate.yaml", 1)) gate change: This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)
        Warning Some(("a.tran.yaml", 1)) maximum-outputs: 3 outputs
        Notice None review: Excluded: 1 file: notes.txt (not a file that is reviewed)
        "#);
    }

    #[test]
    fn errors_on_changed_lines_come_before_other_errors() {
        let mut about = About::default();
        let changed = &mut about.changed;
        changed.add("load/it.orch.yaml", touched_lines("", [9, 12], &[10..=12]));
        let places: Vec<_> = collect(&sample::report(), &about)
            .into_iter()
            .filter_map(|annotation| annotation.place)
            .map(|(path, line)| format!("{path}:{line}"))
            .collect();
        let expected = [
            "load/it.orch.yaml:12",
            "load/it.orch.yaml:9",
            "a.tran.yaml:1",
            "late.orch.yaml:1",
        ];
        assert_eq!(places[..4], expected);
    }

    #[test]
    fn an_undecided_run_has_its_error_first() {
        let mut report = sample::report();
        report.verdict = Verdict::Undecided;
        report.notes = vec!["No answer.".to_owned()];
        let first = &collect(&report, &About::default())[0];
        assert_eq!((first.level, &first.place), (Level::Error, &None));
        assert!(first.message.contains("undecided") && first.message.contains("No answer."));
    }

    #[test]
    fn notes_of_a_decided_run_are_notices() {
        let mut report = sample::empty(Verdict::Passed);
        report.notes = vec!["The rules file is not known.".to_owned()];
        let all = collect(&report, &About::default());
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].level, Level::Notice);
    }

    #[test]
    fn what_does_not_fit_is_said_for_each_level() {
        let one = |level, n: u32| at(level, "a", n, "r", "m".to_owned());
        let mut many: Vec<Annotation> = (0..12).map(|n| one(Level::Error, n)).collect();
        many.extend((0..3).map(|n| one(Level::Warning, n)));
        let capped = cap(&many, 3, "the report");
        assert_eq!(capped.len(), 6);
        assert_eq!(capped[2].message, "10 errors omitted: see the report");
        assert_eq!(
            (capped[5].level, capped[5].place.as_ref().unwrap().1),
            (Level::Warning, 2)
        );
    }
}
