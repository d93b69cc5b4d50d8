//! Writes SARIF 2.1.0, for the security tab and other readers of code scanning results.
//!
//! Every finding is a result: the violations of a FAILED rule, and evaluation errors, which readers of results alone
//! would miss otherwise. Evaluation errors and unreviewed files are notifications too, and the execution is then not
//! successful. The document is complete, except for a host with limits, such as GitHub
//! (<https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning>):
//! then it has the worst results, and a notification about the omitted ones. The document is one line.

mod automation_details;
mod sarif_fixes;
mod sarif_log;
mod sarif_notifications;
mod sarif_rules;

use self::automation_details::build_automation_details;
use self::sarif_fixes::build_fix;
use self::sarif_log::{
    ArtifactLocation, Descriptor, Driver, Fingerprints, Help, Invocation, Location, Log, MappedPath,
    Notification, PhysicalLocation, Provenance, Region, SarifBase, SarifResult, SarifRun, SarifText,
    Suppression, Tool,
};
use self::sarif_notifications::{NOTIFICATION_KINDS, build_notification, build_notifications};
use self::sarif_rules::{SarifRules, build_descriptor_name, level_name};
use super::remarks::find_verdict_remark;
use super::view::FindingOrder;
use super::{ReportContext, SarifLimits, file_uri, truncation, write_json};
use sluicegate_base::address;
use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{Finding, FindingState, Fingerprint, Report, Severity, Verdict};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Maximum length of a message, in characters.
const MESSAGE_LIMIT: usize = 2_000;
/// Maximum length of a source line, in characters.
const SNIPPET_LIMIT: usize = 200;
const SOURCE_ROOT: &str = "%SRCROOT%";

/// Writes the review as a SARIF log with one run. Its last notifications count what was omitted because of limits.
pub(super) fn render(report: &Report, context: &ReportContext, writer: &mut dyn Write) -> io::Result<()> {
    let rules = SarifRules::from_report(report, context);
    let (results, omitted_results) = build_results(report, context, &rules);
    let (mut notifications, omitted_notifications) = build_notifications(report, context, &rules);
    for (count, noun) in [
        (omitted_results, "result"),
        (omitted_notifications, "notification"),
    ] {
        if count > 0 {
            let message = format!("{} omitted: see the JSON report", format_count(count, noun));
            notifications.push(build_notification("cut", "warning", &message));
        }
    }
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [SarifRun {
            tool: build_tool(rules, context),
            automation_details: build_automation_details(report, context),
            invocations: [build_invocation(report, notifications)],
            original_uri_base_ids: BTreeMap::from([(SOURCE_ROOT, build_source_root())]),
            version_control_provenance: build_provenance(report, context).into_iter().collect(),
            column_kind: "utf16CodeUnits",
            results,
        }],
    };
    write_json(writer, |json| serde_json::to_writer(json, &log))
}

/// Describes this program, the rules of the review, and the kinds of notifications.
fn build_tool<'a>(rules: SarifRules<'a>, context: &ReportContext) -> Tool<'a> {
    Tool {
        driver: Driver {
            name: "sluicegate",
            full_name: format!("sluicegate {}", context.tool_version),
            version: context.tool_version,
            semantic_version: context.tool_version,
            information_uri: address::repository_url(),
            rules: rules.list,
            notifications: NOTIFICATION_KINDS
                .map(|(id, meaning, advice)| Descriptor {
                    id,
                    name: build_descriptor_name(id),
                    short_description: meaning.into(),
                    full_description: format!("{meaning} {advice}").into(),
                    help: Help {
                        text: format!("{meaning} {advice}"),
                        markdown: format!("**{meaning}**\n\n{advice}\n"),
                    },
                })
                .into(),
        },
    }
}

/// Describes the reviewed repository and commit; `None` unless both are known.
fn build_provenance(report: &Report, context: &ReportContext) -> Option<Provenance> {
    Some(Provenance {
        repository_uri: context.repository_url.clone()?,
        revision_id: report.context.head.clone()?,
        branch: report.context.branch.clone(),
        mapped_to: MappedPath {
            uri_base_id: SOURCE_ROOT,
        },
    })
}

/// Describes `%SRCROOT%`, to which all paths in the log are relative.
fn build_source_root() -> SarifBase {
    SarifBase {
        description: SarifText {
            text: "The root of the repository.".to_owned(),
        },
    }
}

/// Describes the execution of the review. It is successful only if all files were evaluated and the verdict is decided.
fn build_invocation(report: &Report, notifications: Vec<Notification>) -> Invocation {
    let is_complete = report.count_results().errors == 0 && report.unreviewed_files.is_empty();
    let ended_at = report
        .started_at
        .checked_add(jiff::SignedDuration::try_from(report.duration).unwrap_or_default());
    Invocation {
        execution_successful: is_complete && report.verdict != Verdict::Undecided,
        start_time_utc: format_time(report.started_at),
        end_time_utc: ended_at.ok().and_then(format_time),
        tool_execution_notifications: notifications,
    }
}

/// Formats a time as the schema requires; `None` for a year before 0, whose sign the schema does not allow.
fn format_time(timestamp: jiff::Timestamp) -> Option<String> {
    let text = timestamp.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    text.starts_with(|c: char| c.is_ascii_digit()).then_some(text)
}

/// Returns the number of results that are omitted because of the limits of SARIF hosts.
pub(crate) fn count_omitted_results(report: &Report, context: &ReportContext) -> usize {
    let rules = SarifRules::from_report(report, context);
    let (_, omitted_count) = build_results(report, context, &rules);
    omitted_count
}

/// Builds the result that explains the verdict, if needed, then those of the findings in the order of [`FindingOrder`].
/// The host's limits omit the least severe findings. Also returns the number of results omitted because of these
/// limits, or because `rules` omits their rule.
fn build_results<'a>(
    report: &'a Report,
    context: &ReportContext,
    rules: &SarifRules<'a>,
) -> (Vec<SarifResult<'a>>, usize) {
    let findings = report.findings();
    let fingerprints = Fingerprint::for_findings(&findings);
    let mut ranked_findings: Vec<(Finding<'a>, Fingerprint)> =
        findings.into_iter().zip(fingerprints).collect();
    let order = FindingOrder::from_context(report, context);
    ranked_findings.sort_by_cached_key(|(finding, _)| order.choice_key(finding));
    let mut results: Vec<SarifResult<'a>> =
        build_verdict_result(report, context, rules).into_iter().collect();
    let verdict_count = results.len();
    let mut bytes: usize = results.iter().map(estimate_size).sum();
    let mut keyed_results = Vec::new();
    for (finding, fingerprint) in &ranked_findings {
        let Some(rule_index) = rules.find_index(finding.rule) else {
            continue;
        };
        let result = build_result(finding, *fingerprint, rule_index, context);
        bytes += estimate_size(&result);
        let result_count = verdict_count + keyed_results.len();
        let is_full = |limits: SarifLimits| result_count == limits.results || bytes > limits.bytes;
        if context.sarif_limits.is_some_and(is_full) {
            break;
        }
        keyed_results.push((order.sort_key(finding), result));
    }
    keyed_results.sort_by_key(|(sort_key, _)| *sort_key);
    results.extend(keyed_results.into_iter().map(|(_, result)| result));
    let omitted_count = ranked_findings.len() + verdict_count - results.len();
    (results, omitted_count)
}

/// Builds a result with the reason why the run failed although no finding fails it; `None` if there is no such reason.
fn build_verdict_result<'a>(
    report: &Report,
    context: &ReportContext,
    rules: &SarifRules<'a>,
) -> Option<SarifResult<'a>> {
    let (rule_id, rule_index) = rules.find_verdict_rule()?;
    let remark = find_verdict_remark(report, context)?;
    Some(SarifResult {
        rule_id,
        rule_index,
        level: level_name(Severity::Error),
        message: truncation::escape_controls_and_truncate(&remark.text, MESSAGE_LIMIT).into(),
        locations: [build_location(remark.path, Some(build_region(1, None)))],
        partial_fingerprints: Fingerprints {
            sluicegate: remark.fingerprint.to_string(),
        },
        baseline_state: None,
        suppressions: None,
        fixes: None,
    })
}

/// Estimates the size of a result in bytes: its texts, and 400 bytes for the keys and values of fixed size.
fn estimate_size(result: &SarifResult<'_>) -> usize {
    let [location] = &result.locations;
    let place = &location.physical_location;
    let snippet = place.region.as_ref().and_then(|region| region.snippet.as_ref());
    let fixes = result.fixes.iter().flatten();
    400 + fixes.map(sarif_fixes::estimate_size).sum::<usize>()
        + result.message.text.len()
        + result.rule_id.len()
        + place.artifact_location.uri.len()
        + snippet.map_or(0, |snippet| snippet.text.len())
}

/// Builds the suppression of a waived finding from its waiver; `None` for other findings.
fn build_suppression(finding: &Finding<'_>) -> Option<Suppression> {
    let waiver = finding
        .waiver
        .filter(|_| finding.state == Some(FindingState::Waived))?;
    Some(Suppression {
        kind: "external",
        status: "accepted",
        justification: truncation::escape_controls_and_truncate(&waiver.reason, MESSAGE_LIMIT),
    })
}

/// Builds the SARIF result of a finding. A known finding is `unchanged` since the base; a waived one is suppressed.
fn build_result<'a>(
    finding: &Finding<'a>,
    fingerprint: Fingerprint,
    rule_index: usize,
    context: &ReportContext,
) -> SarifResult<'a> {
    let line = finding.line.max(1);
    let region = build_region(line, context.sources.line(finding.path, line));
    SarifResult {
        rule_id: finding.rule,
        rule_index,
        level: level_name(finding.severity),
        message: truncation::escape_controls_and_truncate(&finding.message(), MESSAGE_LIMIT).into(),
        locations: [build_location(finding.path, Some(region))],
        partial_fingerprints: Fingerprints {
            sluicegate: fingerprint.to_string(),
        },
        baseline_state: match finding.state {
            Some(FindingState::New) => Some("new"),
            Some(FindingState::Known) => Some("unchanged"),
            Some(FindingState::Waived) | None => None,
        },
        suppressions: build_suppression(finding).map(|suppression| [suppression]),
        fixes: finding.fix.map(|fix| [build_fix(finding.path, fix)]),
    }
}

/// Builds the region of a line, with the columns from its first character after the indentation to its end. The region
/// has no columns if `source_line` is missing, blank or truncated; a truncated line ends with `…`.
fn build_region(line: u32, source_line: Option<&str>) -> Region {
    let complete_line = source_line.filter(|text| !text.trim().is_empty() && !text.ends_with('…'));
    let column_after = |text: &str| text.encode_utf16().count() + 1;
    let text_column = |text: &str| column_after(&text[..text.len() - text.trim_start().len()]);
    Region {
        start_line: line,
        start_column: complete_line.map(text_column),
        end_line: complete_line.map(|_| line),
        end_column: complete_line.map(column_after),
        snippet: source_line.map(|text| SarifText {
            text: truncation::truncate(text, SNIPPET_LIMIT),
        }),
    }
}

/// Builds the location of a region of a file in the repository; without a region, of the entire file.
fn build_location(path: &str, region: Option<Region>) -> Location {
    Location {
        physical_location: PhysicalLocation {
            artifact_location: build_artifact_location(path),
            region,
        },
    }
}

/// Builds the location of a file, relative to the root of the repository.
fn build_artifact_location(path: &str) -> ArtifactLocation {
    ArtifactLocation {
        uri: file_uri::encode_path(path),
        uri_base_id: SOURCE_ROOT,
    }
}

#[cfg(test)]
mod tests;
