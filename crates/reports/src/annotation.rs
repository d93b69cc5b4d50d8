//! Collects annotations independently of a host: the most important first, within the host's limit.

use super::ReportContext;
use super::remarks::{Remark, RemarkKind, collect_limit_remarks, collect_remarks, find_unexplained_verdict};
use super::sentences::{GATE_CHANGE_INTRO, to_sentence};
use super::unreviewed_files::{UnreviewedFileStates, group_unreviewed_by_reason};
use super::view::{
    FindingOrder, NoticeEntry, NoticeKind, UnevaluatedCause, View, ViewMedium, take_rules_file_causes,
};
use crate::PathBase;
use sluicegate_base::text::{self, format_count};
use sluicegate_pipelines::findings::{Finding, Report, Severity};
use std::cmp::Reverse;
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Error,
    Warning,
    Notice,
}

impl Level {
    const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Notice];

    /// Returns the noun for an annotation of this level, for counts such as `3 errors`.
    const fn noun(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Notice => "notice",
        }
    }
}

/// The limits of a host for annotations.
pub(super) struct AnnotationLimits {
    /// Maximum number of annotations of each level, including the notices of the log.
    pub level_count: usize,
    /// Whether the host shows notices as such. Otherwise, they are shown as warnings.
    pub has_notices: bool,
    /// The place with all annotations, for the remark about omitted ones.
    pub overflow_place: &'static str,
}

impl AnnotationLimits {
    /// Returns the level at which the host shows an annotation of this level.
    fn shown_level(&self, level: Level) -> Level {
        if level == Level::Notice && !self.has_notices {
            Level::Warning
        } else {
            level
        }
    }
}

/// The title of an annotation about the run.
pub(super) const REVIEW_TITLE: &str = RemarkKind::Verdict.title();

/// An annotation, whose texts are not escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Annotation {
    pub level: Level,
    /// File and line; `None` if the annotation is about the run.
    pub place: Option<(String, u32)>,
    pub title: String,
    pub message: String,
}

/// Collects the annotations of files for a host that shows them apart from the log: errors, then remarks on files
/// (files without a review, gate changes and breaking changes), then warnings. Known and waived findings are not
/// annotated. Errors and warnings on changed lines come first, because hosts show them in the diff.
pub(super) fn collect_file_annotations(report: &Report, context: &ReportContext) -> Vec<Annotation> {
    let remarks = collect_remarks(report, context).into_iter().map(annotate_remark);
    annotate_findings(report, context, remarks)
}

/// Collects the annotations for a report: those of files, the reason for the verdict if they do not explain all of it,
/// and the notes that limit the verdict.
pub(super) fn collect_report_annotations(report: &Report, context: &ReportContext) -> Vec<Annotation> {
    let mut annotations = collect_file_annotations(report, context);
    annotations.extend(find_unexplained_verdict(report, context).map(annotate_remark));
    annotations.extend(
        collect_limit_remarks(report, context)
            .into_iter()
            .map(annotate_remark),
    );
    annotations
}

/// Collects the annotations of files for a host that also shows the notices of the log as annotations. They are the
/// findings, and the unreviewed files that share one notice, because such a notice is not shown at a file. Files with a
/// reason that the log has already shown are omitted. The errors of the log count towards the limit. `is_passing`
/// states whether the run passes regardless of the verdict. If there are more annotations than the host shows, the last
/// one of a level states their number.
pub(super) fn collect_limited_file_annotations(
    report: &Report,
    context: &ReportContext,
    limits: &AnnotationLimits,
    is_passing: bool,
) -> Vec<Annotation> {
    let unreviewed_states = UnreviewedFileStates::from_report(report);
    let unreviewed_annotations = group_unreviewed_by_reason(report)
        .into_iter()
        .filter(|(reason, paths)| paths.len() > 1 && !context.has_logged_reason(reason))
        .flat_map(|(_, paths)| paths)
        .map(|path| {
            let first_line = 1;
            let message = format!("{}.", unreviewed_states.describe(path));
            annotate_file(
                Level::Error,
                path,
                first_line,
                RemarkKind::Unreviewed.title(),
                message,
            )
        });
    let annotations = annotate_findings(report, context, unreviewed_annotations);
    let notices = annotate_notices(&View::new(report, context, ViewMedium::Log), is_passing);
    limit_annotations(
        &annotations,
        |level| {
            let level_notices = notices
                .iter()
                .filter(|notice| limits.shown_level(notice.level) == level);
            let earlier_count = match level {
                Level::Error => context.annotated_error_count,
                Level::Warning | Level::Notice => 0,
            };
            limits
                .level_count
                .saturating_sub(level_notices.count() + earlier_count)
        },
        limits.overflow_place,
    )
}

/// Returns annotations of all findings that are neither known nor waived, those of the errors in the rules file first,
/// with `other_annotations` between the errors and the warnings. Hosts show only the first annotations, so the order
/// prefers variety, see [`spread_findings`].
fn annotate_findings(
    report: &Report,
    context: &ReportContext,
    other_annotations: impl Iterator<Item = Annotation>,
) -> Vec<Annotation> {
    let mut findings = report.findings();
    findings.retain(Finding::is_counted);
    FindingOrder::from_context(report, context).sort(&mut findings);
    let causes = take_rules_file_causes(&mut findings);
    let findings = spread_findings(findings);
    let first_warning = findings.partition_point(|finding| finding.severity == Severity::Error);
    let (errors, warnings) = findings.split_at(first_warning);
    let mut annotations: Vec<Annotation> = causes
        .iter()
        .map(|cause| annotate_cause(cause, context))
        .collect();
    annotations.extend(errors.iter().map(annotate_finding));
    annotations.extend(other_annotations);
    annotations.extend(warnings.iter().map(annotate_finding));
    annotations
}

/// Sorts the findings by level, the errors first. Within a level, the first finding of each rule in each file comes
/// before the second finding of any rule: hosts show only the first annotations, and a rule with many findings must
/// not hide the others.
fn spread_findings(findings: Vec<Finding<'_>>) -> Vec<Finding<'_>> {
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    let mut numbered_findings = Vec::with_capacity(findings.len());
    for finding in findings {
        let count = counts.entry((finding.path, finding.rule)).or_default();
        *count += 1;
        numbered_findings.push((*count, finding));
    }
    numbered_findings.sort_by_key(|(number, finding)| (Reverse(finding.severity), *number));
    numbered_findings
        .into_iter()
        .map(|(_, finding)| finding)
        .collect()
}

/// Returns the notices and the problems of the run as annotations, for a log. If the run passes, what would be an error
/// is a warning.
pub(super) fn annotate_notices(view: &View<'_>, is_passing: bool) -> Vec<Annotation> {
    let problem_level = if is_passing { Level::Warning } else { Level::Error };
    let mut annotations = Vec::new();
    for notice in &view.notices {
        for entry in &notice.entries {
            let level = match notice.kind {
                _ if entry.is_warning => Level::Warning,
                NoticeKind::Notes | NoticeKind::Excluded => Level::Notice,
                _ if notice.affects_verdict => problem_level,
                _ => Level::Warning,
            };
            annotations.push(annotate_notice(notice.kind, level, entry));
        }
    }
    annotations.extend(view.problems.iter().map(|problem| Annotation {
        level: problem_level,
        place: None,
        title: REVIEW_TITLE.to_owned(),
        message: problem.clone(),
    }));
    annotations
}

/// Creates the annotation of an entry of a notice: at its file if it has one, with a title for the kind of notice.
fn annotate_notice(kind: NoticeKind, level: Level, entry: &NoticeEntry<'_>) -> Annotation {
    let (title, message) = match kind {
        NoticeKind::GateChanges => {
            // The text has only the changed settings, or is empty if they are unknown.
            let change = entry.render_line(&PathBase::Root);
            (
                RemarkKind::GateChange.title(),
                format!("{GATE_CHANGE_INTRO}{change}"),
            )
        }
        NoticeKind::Breaks => (RemarkKind::Break.title(), entry.text.clone()),
        NoticeKind::Unreviewed => (RemarkKind::Unreviewed.title(), entry.text.clone()),
        NoticeKind::Notes | NoticeKind::Excluded => (REVIEW_TITLE, entry.text.clone()),
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

/// Creates the annotation of a finding at its line. The title is the name of the rule.
fn annotate_finding(finding: &Finding<'_>) -> Annotation {
    let level = match finding.severity {
        Severity::Error => Level::Error,
        Severity::Warning => Level::Warning,
    };
    annotate_file(level, finding.path, finding.line, finding.rule, finding.message())
}

/// Creates the annotation of an error in the rules file, at the first file that it affects: with the number of these
/// files and the hint how to fix it. An annotation of each file would use up the limit of the host.
fn annotate_cause(cause: &UnevaluatedCause<'_>, context: &ReportContext) -> Annotation {
    let finding = &cause.finding;
    let message = format!(
        "{} This affects {}. To fix the problem: {}",
        to_sentence(&finding.message()),
        cause.describe_affected_files(&PathBase::Root),
        context.rules_file_hint(finding)
    );
    annotate_file(Level::Error, finding.path, finding.line, finding.rule, message)
}

/// Creates the annotation of a remark, at the first line of the file if the remark has no line. It is an error if the
/// remark affects the verdict, and a warning otherwise.
fn annotate_remark(remark: Remark<'_>) -> Annotation {
    let title = remark.kind.title();
    let level = if remark.affects_verdict {
        Level::Error
    } else {
        Level::Warning
    };
    annotate_file(level, remark.path, remark.line.unwrap_or(1), title, remark.text)
}

/// Creates an annotation at a line of a file.
fn annotate_file(level: Level, path: &str, line: u32, title: &str, message: String) -> Annotation {
    Annotation {
        level,
        place: Some((path.to_owned(), line)),
        title: title.to_owned(),
        message,
    }
}

/// Returns the text as one safe line for a property of a host's command. A property is never at the start of a line,
/// where alone `::` has a meaning, so `::` stays as it is: otherwise a path would name another file.
pub(super) fn escape_property_text(property: &str) -> String {
    const LINE_START: char = '=';
    let line = text::escape_line(&format!("{LINE_START}{property}"));
    line.strip_prefix(LINE_START).unwrap_or(&line).to_owned()
}

/// Returns at most `limit_for(level)` annotations of each level. If there are more, the last one states the number of
/// omitted annotations and that `overflow_place` has them; it is added even if the limit is 0.
fn limit_annotations(
    annotations: &[Annotation],
    limit_for: impl Fn(Level) -> usize,
    overflow_place: &str,
) -> Vec<Annotation> {
    let mut limited_annotations = Vec::new();
    for level in Level::ALL {
        let level_annotations: Vec<&Annotation> = annotations
            .iter()
            .filter(|annotation| annotation.level == level)
            .collect();
        let total = level_annotations.len();
        let limit = limit_for(level);
        if total <= limit {
            limited_annotations.extend(level_annotations.into_iter().cloned());
            continue;
        }
        // The last annotation states the number of omitted ones.
        let shown_count = limit.saturating_sub(1);
        limited_annotations.extend(level_annotations.into_iter().take(shown_count).cloned());
        limited_annotations.push(Annotation {
            level,
            place: None,
            title: REVIEW_TITLE.to_owned(),
            message: format!(
                "{} omitted: see {overflow_place}",
                format_count(total - shown_count, level.noun())
            ),
        });
    }
    limited_annotations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{sample, select_touched_lines};
    use sluicegate_pipelines::findings::{Status, UnreviewedFile, Verdict};

    fn shown(annotations: &[Annotation]) -> Vec<String> {
        let line = |a: &Annotation| format!("{:?} {:?} {}: {}", a.level, a.place, a.title, a.message);
        annotations.iter().map(line).collect()
    }

    fn notices(report: &Report, context: &ReportContext, is_passing: bool) -> Vec<Annotation> {
        annotate_notices(&View::new(report, context, ViewMedium::Log), is_passing)
    }

    #[test]
    fn errors_come_first_then_by_path_and_line() {
        let all = collect_file_annotations(&sample::report(), &ReportContext::default());
        insta::assert_snapshot!(shown(&all).join("\n"), @r#"
        Error Some(("load/it.orch.yaml", 9)) component-naming-convention: `Run B` is not
        Error Some(("a.tran.yaml", 1)) unused-components: the rule could not be evaluated: designer/no-start-component
        Error Some(("load/it.orch.yaml", 12)) component-naming-convention: `Run A` is not in the pattern
        Error Some(("late.orch.yaml", 1)) unreviewed: The file was not reviewed: the batch timed out
        Warning Some(("sluicegate.yaml", 1)) gate change: This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)
        Warning Some(("a.tran.yaml", 1)) maximum-outputs: 3 outputs
        "#);
    }

    #[test]
    fn annotations_on_changed_lines_come_before_others_of_level() {
        let mut context = ReportContext::default();
        let changed = &mut context.changed_lines;
        changed.add("load/it.orch.yaml", select_touched_lines("", [9, 12], &[10..=12]));
        let places: Vec<_> = collect_file_annotations(&sample::report(), &context)
            .into_iter()
            .filter_map(|annotation| annotation.place)
            .map(|(path, line)| format!("{path}:{line}"))
            .collect();
        let expected = [
            "load/it.orch.yaml:12",
            "a.tran.yaml:1",
            "load/it.orch.yaml:9",
            "late.orch.yaml:1",
        ];
        assert_eq!(places[..4], expected);
    }

    #[test]
    fn annotations_have_one_for_each_file_and_rule_before_second_ones() {
        let mut report = sample::report();
        let mut other_file = report.files[0].clone();
        other_file.path = "z/last.orch.yaml".to_owned();
        report.files.push(other_file);
        let annotations = collect_file_annotations(&report, &ReportContext::default());
        let errors = annotations
            .iter()
            .filter(|annotation| annotation.level == Level::Error);
        let places: Vec<String> = errors
            .filter_map(|annotation| annotation.place.as_ref())
            .map(|(path, line)| format!("{path}:{line}"))
            .collect();
        let second_ones = places.iter().position(|place| place.ends_with(":12")).unwrap();
        let firsts = &places[..second_ones];
        assert!(
            firsts.iter().any(|place| place.starts_with("z/last")),
            "{places:?}"
        );
    }

    #[test]
    fn annotations_of_log_repeat_no_notice() {
        let mut report = sample::report();
        report.notes = vec!["A note.".to_owned()];
        let context = ReportContext::default();
        insta::assert_snapshot!(shown(&notices(&report, &context, false)).join("\n"), @r#"
        Warning Some(("sluicegate.yaml", 1)) gate change: This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)
        Error Some(("late.orch.yaml", 1)) unreviewed: The file was not reviewed: the batch timed out
        Notice None review: A note.
        Notice None review: Excluded: 1 file: notes.txt (not a file that is reviewed)
        "#);
        let limits = AnnotationLimits {
            level_count: 10,
            has_notices: true,
            overflow_place: "the report",
        };
        let findings = collect_limited_file_annotations(&report, &context, &limits, false);
        assert_eq!(findings.len(), 4, "{:?}", shown(&findings));
        // Several files share the reason: it is in the notice, and each file has a mark.
        report.unreviewed_files.push(UnreviewedFile {
            path: "later.orch.yaml".to_owned(),
            ..report.unreviewed_files[0].clone()
        });
        let marks = collect_limited_file_annotations(&report, &context, &limits, false);
        assert_eq!(marks.len(), 6, "{:?}", shown(&marks));
        let reasons = notices(&report, &context, true).into_iter().chain(marks);
        let reasons: Vec<Annotation> = reasons.filter(|it| it.message.contains("timed out")).collect();
        assert_eq!(reasons.len(), 1, "{:?}", shown(&reasons));
        assert_eq!(reasons[0].level, Level::Warning, "the run passes");
    }

    #[test]
    fn annotation_of_unreviewed_file_states_local_check() {
        let mut report = sample::report();
        let locally_checked_path = report.files[0].path.clone();
        let group = [&locally_checked_path, "later.orch.yaml"].map(|path| UnreviewedFile {
            path: path.to_owned(),
            ..report.unreviewed_files[0].clone()
        });
        report.unreviewed_files = group.to_vec();
        let limits = AnnotationLimits {
            level_count: 10,
            has_notices: true,
            overflow_place: "the report",
        };
        let context = ReportContext::default();
        let annotations = collect_limited_file_annotations(&report, &context, &limits, false);
        let marks = annotations
            .iter()
            .filter(|annotation| annotation.title == "unreviewed");
        let texts: Vec<&str> = marks.map(|mark| mark.message.as_str()).collect();
        assert_eq!(
            texts,
            [
                "The file was checked locally, but not reviewed by the platform.",
                "The file was not reviewed."
            ]
        );
    }

    #[test]
    fn reason_of_undecided_run_is_error_and_other_note_is_notice() {
        let mut report = sample::empty(Verdict::Undecided);
        report.notes = vec!["no answer".to_owned(), "The rules file is not known.".to_owned()];
        report.reasons = vec!["no answer".to_owned()];
        let all = notices(&report, &ReportContext::default(), false);
        insta::assert_snapshot!(shown(&all).join("\n"), @r#"
        Notice None review: The rules file is not known.
        Error None review: No answer.
        "#);
    }

    #[test]
    fn notices_that_host_shows_as_warnings_use_up_the_limit_of_warnings() {
        let mut report = sample::empty(Verdict::Undecided);
        let violations = (0..10).map(|n| sample::violation(&format!("`V{n}` is bad"), Some(n)));
        let result = sample::result("r", Status::Failed(Severity::Warning), violations.collect());
        report.files = vec![sample::file("a.orch.yaml", vec![result])];
        report.notes = vec!["A note.".to_owned()];
        let count_findings = |report: &Report, has_notices: bool, is_passing: bool| {
            let limits = AnnotationLimits {
                level_count: 10,
                has_notices,
                overflow_place: "the report",
            };
            let context = ReportContext::default();
            let annotations = collect_limited_file_annotations(report, &context, &limits, is_passing);
            annotations
                .iter()
                .filter(|annotation| annotation.place.is_some())
                .count()
        };
        assert_eq!(count_findings(&report, true, false), 10);
        assert_eq!(count_findings(&report, false, false), 8);
        // A run that passes despite its verdict shows its problems as warnings.
        report.reasons = report.notes.clone();
        assert_eq!(count_findings(&report, true, false), 10);
        assert_eq!(count_findings(&report, true, true), 8);
    }

    #[test]
    fn errors_that_the_log_has_annotated_use_up_the_limit_of_errors() {
        let mut report = sample::empty(Verdict::Failed);
        let violations = (0..10).map(|n| sample::violation(&format!("`V{n}` is bad"), Some(n)));
        let result = sample::result("r", Status::Failed(Severity::Error), violations.collect());
        report.files = vec![sample::file("a.orch.yaml", vec![result])];
        let limits = AnnotationLimits {
            level_count: 10,
            has_notices: true,
            overflow_place: "the report",
        };
        for (annotated_error_count, expected_count) in [(0, 10), (2, 8), (9, 1), (20, 1)] {
            let context = ReportContext {
                annotated_error_count,
                ..ReportContext::default()
            };
            let annotations = collect_limited_file_annotations(&report, &context, &limits, false);
            assert_eq!(annotations.len(), expected_count, "{annotated_error_count}");
        }
    }

    #[test]
    fn omitted_annotations_are_counted_for_each_level() {
        let one = |level, n: u32| annotate_file(level, "a", n, "r", "m".to_owned());
        let mut many: Vec<Annotation> = (0..12).map(|n| one(Level::Error, n)).collect();
        many.extend((0..3).map(|n| one(Level::Warning, n)));
        let capped = limit_annotations(&many, |_| 3, "the report");
        assert_eq!(capped.len(), 6);
        assert_eq!(capped[2].message, "10 errors omitted: see the report");
        assert_eq!(
            (capped[5].level, capped[5].place.as_ref().unwrap().1),
            (Level::Warning, 2)
        );
    }
}
