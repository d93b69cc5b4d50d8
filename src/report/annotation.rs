//! Collects annotations independently of a host: the most important first, within the host's limit.

use super::About;
use super::remark::{Remark, RemarkKind, remarks};
use super::view::{Medium, NoticeEntry, NoticeKind, Order, View};
use super::wording::{GATE_CHANGE, causes};
use crate::report::PathBase;
use sluicegate_base::text::count;
use sluicegate_pipelines::findings::{Finding, Report, Severity};
use std::cmp::Reverse;

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

/// The title of an annotation about the run.
const REVIEW: &str = "review";

/// The title of an annotation about a file without a review.
const UNREVIEWED: &str = "unreviewed";

/// An annotation. All its text may come from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Annotation {
    pub level: Level,
    /// File and line; `None` if the annotation is about the run.
    pub place: Option<(String, u32)>,
    pub title: String,
    pub message: String,
}

/// Collects the annotations of files for a host that shows them apart from the log: errors, unreviewed files and gate
/// changes, then warnings. Known and waived findings have none. In each group, findings on changed lines come first, as
/// hosts show them in the change itself; then the order is by path and line.
pub(super) fn of_files(report: &Report, about: &About) -> Vec<Annotation> {
    let remarks = remarks(report).into_iter().map(about_remark);
    between_findings(report, about, remarks)
}

/// Collects the annotations of files for a log whose notices are annotations, too: the findings, and a mark at each of
/// several files that share a notice. If there are more than `limit` of a level, including the notices, the last one
/// states their number and where to find them.
pub(super) fn beside_notices(
    report: &Report,
    about: &About,
    limit: usize,
    elsewhere: &str,
) -> Vec<Annotation> {
    let causes = causes(report).into_iter();
    let shared = causes.filter(|(reason, paths)| paths.len() > 1 && !about.has_told(reason));
    let marks = shared.flat_map(|(_, paths)| paths).map(|path| {
        let message = "The file was not reviewed.".to_owned();
        at(Level::Error, path, 1, UNREVIEWED, message)
    });
    let all = between_findings(report, about, marks);
    let notices = of_notices(&View::of(report, about, Medium::Log), false);
    let left = |level: Level| {
        let taken = notices.iter().filter(|notice| notice.level == level);
        limit.saturating_sub(taken.count())
    };
    cap(&all, left, elsewhere)
}

/// Returns the findings that are annotated, with these annotations between errors and warnings.
fn between_findings(
    report: &Report,
    about: &About,
    others: impl Iterator<Item = Annotation>,
) -> Vec<Annotation> {
    let mut findings = report.findings();
    findings.retain(Finding::is_counted);
    Order::of(report, about).sort(&mut findings);
    findings.sort_by_key(|finding| Reverse(finding.severity));
    let first_warning = findings.partition_point(|finding| finding.severity == Severity::Error);
    let (errors, warnings) = findings.split_at(first_warning);
    let mut all: Vec<Annotation> = errors.iter().map(about_finding).collect();
    all.extend(others);
    all.extend(warnings.iter().map(about_finding));
    all
}

/// Returns the notices and the problems of the run as annotations, for a log. A run that passes has no errors.
pub(super) fn of_notices(view: &View<'_>, passes: bool) -> Vec<Annotation> {
    let error = if passes { Level::Warning } else { Level::Error };
    let mut all = Vec::new();
    for notice in &view.notices {
        let level = match notice.kind {
            NoticeKind::Notes | NoticeKind::Excluded => Level::Notice,
            _ if notice.weighs => error,
            _ => Level::Warning,
        };
        let entries = notice.entries.iter();
        all.extend(entries.map(|entry| about_notice(notice.kind, level, entry)));
    }
    all.extend(view.problems.iter().map(|problem| Annotation {
        level: error,
        place: None,
        title: REVIEW.to_owned(),
        message: problem.clone(),
    }));
    all
}

fn about_notice(kind: NoticeKind, level: Level, entry: &NoticeEntry<'_>) -> Annotation {
    let (title, message) = match kind {
        NoticeKind::GateChanges => {
            let change = entry.line(&PathBase::Root);
            ("gate change", format!("{GATE_CHANGE}{change}"))
        }
        NoticeKind::Breaks => ("breaks consumers", entry.text.clone()),
        NoticeKind::Unreviewed => (UNREVIEWED, entry.text.clone()),
        NoticeKind::Notes | NoticeKind::Excluded => (REVIEW, entry.text.clone()),
    };
    Annotation {
        level,
        place: entry
            .path
            .clone()
            .map(|path| (path, entry.line_number.unwrap_or(1))),
        title: title.to_owned(),
        message,
    }
}

fn about_finding(finding: &Finding<'_>) -> Annotation {
    let level = match finding.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
    };
    at(level, finding.path, finding.line, finding.rule, finding.message())
}

fn about_remark(remark: Remark<'_>) -> Annotation {
    let title = match remark.kind {
        RemarkKind::Unreviewed => UNREVIEWED,
        RemarkKind::GateChange => "gate change",
        RemarkKind::Break => "breaks consumers",
        RemarkKind::Verdict | RemarkKind::Limit => REVIEW,
    };
    let level = if remark.weighs {
        Level::Error
    } else {
        Level::Warning
    };
    at(level, remark.path, remark.line.unwrap_or(1), title, remark.text)
}

fn at(level: Level, path: &str, line: u32, title: &str, message: String) -> Annotation {
    Annotation {
        level,
        place: Some((path.to_owned(), line)),
        title: title.to_owned(),
        message,
    }
}

/// Returns at most `limit` annotations of each level. If there are more, the last one states their number and where to
/// find them.
fn cap(annotations: &[Annotation], limit: impl Fn(Level) -> usize, elsewhere: &str) -> Vec<Annotation> {
    let mut capped = Vec::new();
    for level in Level::ALL {
        let of_level = annotations.iter().filter(|annotation| annotation.level == level);
        let total = of_level.clone().count();
        let limit = limit(level);
        if total <= limit {
            capped.extend(of_level.cloned());
        } else {
            let shown = limit.saturating_sub(1);
            capped.extend(of_level.take(shown).cloned());
            capped.push(Annotation {
                level,
                place: None,
                title: REVIEW.to_owned(),
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
    use sluicegate_pipelines::findings::{UnreviewedFile, Verdict};

    fn shown(annotations: &[Annotation]) -> Vec<String> {
        let line = |a: &Annotation| format!("{:?} {:?} {}: {}", a.level, a.place, a.title, a.message);
        annotations.iter().map(line).collect()
    }

    fn notices(report: &Report, about: &About, passes: bool) -> Vec<Annotation> {
        of_notices(&View::of(report, about, Medium::Log), passes)
    }

    #[test]
    fn errors_come_first_then_by_path_and_line() {
        let all = of_files(&sample::report(), &About::default());
        insta::assert_snapshot!(shown(&all).join("\n"), @r#"
        Error Some(("load/it.orch.yaml", 9)) component-naming-convention: `Run B` is not
        Error Some(("load/it.orch.yaml", 12)) component-naming-convention: `Run A` is not in the pattern
        Error Some(("a.tran.yaml", 1)) unused-components: the rule could not be evaluated: designer/no-start-component
        Error Some(("late.orch.yaml", 1)) unreviewed: The file was not reviewed: the batch timed out
        Warning Some(("sluicegate.yaml", 1)) gate change: This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)
        Warning Some(("a.tran.yaml", 1)) maximum-outputs: 3 outputs
        "#);
    }

    #[test]
    fn annotations_on_changed_lines_come_before_others_of_level() {
        let mut about = About::default();
        let changed = &mut about.changed;
        changed.add("load/it.orch.yaml", touched_lines("", [9, 12], &[10..=12]));
        let places: Vec<_> = of_files(&sample::report(), &about)
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
    fn annotations_of_log_repeat_no_notice() {
        let mut report = sample::report();
        report.notes = vec!["A note.".to_owned()];
        let about = About::default();
        insta::assert_snapshot!(shown(&notices(&report, &about, false)).join("\n"), @r#"
        Warning Some(("sluicegate.yaml", 1)) gate change: This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)
        Error Some(("late.orch.yaml", 1)) unreviewed: The file was not reviewed: the batch timed out
        Notice None review: A note.
        Notice None review: Excluded: 1 file: notes.txt (not a file that is reviewed)
        "#);
        let findings = beside_notices(&report, &about, 10, "the report");
        assert_eq!(findings.len(), 4, "{:?}", shown(&findings));
        // Several files share the reason: it is in the notice, and each file has a mark.
        report.unreviewed_files.push(UnreviewedFile {
            path: "later.orch.yaml".to_owned(),
            reason: report.unreviewed_files[0].reason.clone(),
        });
        let marks = beside_notices(&report, &about, 10, "the report");
        assert_eq!(marks.len(), 6, "{:?}", shown(&marks));
        let reasons = notices(&report, &about, true).into_iter().chain(marks);
        let reasons: Vec<Annotation> = reasons.filter(|it| it.message.contains("timed out")).collect();
        assert_eq!(reasons.len(), 1, "{:?}", shown(&reasons));
        assert_eq!(reasons[0].level, Level::Warning, "the run passes");
    }

    #[test]
    fn reason_of_undecided_run_is_error_and_other_note_is_notice() {
        let mut report = sample::empty(Verdict::Undecided);
        report.notes = vec!["no answer".to_owned(), "The rules file is not known.".to_owned()];
        report.reasons = vec!["no answer".to_owned()];
        let all = notices(&report, &About::default(), false);
        insta::assert_snapshot!(shown(&all).join("\n"), @r#"
        Notice None review: The rules file is not known.
        Error None review: No answer.
        "#);
    }

    #[test]
    fn what_does_not_fit_is_said_for_each_level() {
        let one = |level, n: u32| at(level, "a", n, "r", "m".to_owned());
        let mut many: Vec<Annotation> = (0..12).map(|n| one(Level::Error, n)).collect();
        many.extend((0..3).map(|n| one(Level::Warning, n)));
        let capped = cap(&many, |_| 3, "the report");
        assert_eq!(capped.len(), 6);
        assert_eq!(capped[2].message, "10 errors omitted: see the report");
        assert_eq!(
            (capped[5].level, capped[5].place.as_ref().unwrap().1),
            (Level::Warning, 2)
        );
    }
}
