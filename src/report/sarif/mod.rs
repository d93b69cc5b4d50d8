//! Writes SARIF 2.1.0, for the security tab and other readers of code scanning results.
//!
//! Every finding is a result: the violations of a FAILED rule, and evaluation errors, which readers of results alone
//! would miss otherwise. Evaluation errors and unreviewed files are notifications too, and the execution is then not
//! successful. The document is complete, except for a host with limits, such as GitHub
//! (<https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning>):
//! then it has the worst results, and a notification about the omitted ones. The document is a single line, so it can
//! be printed anywhere.

mod rules;
mod schema;

use self::rules::{Rules, level};
use self::schema::{
    ArtifactLocation, AutomationDetails, Descriptor, Driver, Fingerprints, Help, Invocation, Location, Log,
    Mapped, Notification, PhysicalLocation, Provenance, Region, RuleReference, SarifBase, SarifReference,
    SarifResult, SarifRun, SarifText, Suppression, Tool,
};
use super::remark::{Remark, RemarkKind, remarks, verdict_remark};
use super::view::Order;
use super::wording::excluded;
use super::{About, SarifLimits, shorten, uri, write_json};
use sluicegate_base::address;
use sluicegate_base::text::count;
use sluicegate_pipelines::findings::{Finding, FindingState, Fingerprint, Report, Severity, Verdict};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Maximum number of notifications, as nobody reads thousands of them.
const MOST_NOTIFICATIONS: usize = 1_000;
/// Maximum length of a message, in characters.
const MESSAGE_LIMIT: usize = 2_000;
/// Maximum length of a source line, in characters.
const SNIPPET_LIMIT: usize = 200;
const ROOT: &str = "%SRCROOT%";

/// The kinds of notifications: id, meaning, and advice, in the order of the driver's list.
const KINDS: [(&str, &str, &str); 6] = [
    (
        "not-evaluated",
        "A rule could not be evaluated.",
        "Fix the problem that the message describes; until then, the gate fails.",
    ),
    (
        "not-reviewed",
        "A file was not reviewed.",
        "Run the review again; until then, it is unknown whether the file passes.",
    ),
    (
        "gate-change",
        "The change edits the gate configuration.",
        "Check the change to the rules or settings before you rely on the verdict.",
    ),
    (
        "note",
        "A note about the review, which is not a finding.",
        "There is nothing to fix.",
    ),
    (
        "cut",
        "Results or notifications were omitted to stay within size limits.",
        "See the JSON report, which is complete.",
    ),
    (
        "breaks-consumers",
        "The change breaks consumers of shared pipelines.",
        "Keep the ids and parameters that consumers use, or agree with them on the necessary changes.",
    ),
];

/// Writes the review as a SARIF log with one run.
pub(super) fn render(report: &Report, about: &About, out: &mut dyn Write) -> io::Result<()> {
    let rules = Rules::of(report, about);
    let (results, cut) = results(report, about, &rules);
    let mut notifications = notifications(report, &rules);
    let left_out = notifications.len().saturating_sub(MOST_NOTIFICATIONS);
    notifications.truncate(MOST_NOTIFICATIONS);
    for (number, what) in [(cut, "result"), (left_out, "notification")] {
        if number > 0 {
            let words = format!("{} omitted: see the JSON report", count(number, what));
            notifications.push(notification("cut", "warning", &words));
        }
    }
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [SarifRun {
            tool: tool(rules, about),
            automation_details: AutomationDetails {
                id: category(report, about),
            },
            invocations: [invocation(report, notifications)],
            original_uri_base_ids: BTreeMap::from([(ROOT, root())]),
            version_control_provenance: provenance(report, about).into_iter().collect(),
            column_kind: "utf16CodeUnits",
            results,
        }],
    };
    write_json(out, |json| serde_json::to_writer(json, &log))
}

fn tool<'a>(rules: Rules<'a>, about: &About) -> Tool<'a> {
    let kind = |(id, meaning, advice): (&'static str, &str, &str)| {
        let text = |text: String| SarifText { text };
        Descriptor {
            id,
            short_description: text(meaning.to_owned()),
            full_description: text(format!("{meaning} {advice}")),
            help: Help {
                text: format!("{meaning} {advice}"),
                markdown: format!("**{meaning}**\n\n{advice}\n"),
            },
        }
    };
    Tool {
        driver: Driver {
            name: "sluicegate",
            full_name: format!("sluicegate {}", about.tool_version),
            version: about.tool_version,
            semantic_version: about.tool_version,
            information_uri: address::repository(),
            rules: rules.list,
            notifications: KINDS.map(kind).into(),
        },
    }
}

/// Returns the automation id. GitHub uses the text before the last `/` as the category. Each shard of a review has its
/// own category, as it would otherwise close the alerts of the other shards.
fn category(report: &Report, about: &About) -> String {
    let base = match about.category.trim_matches('/') {
        "" => "sluicegate",
        given => given,
    };
    match report.context.shard {
        Some(shard) => format!("{base}/shard-{}-of-{}/", shard.index, shard.total),
        None => format!("{base}/"),
    }
}

/// Returns the reviewed repository and commit, if both are known.
fn provenance(report: &Report, about: &About) -> Option<Provenance> {
    Some(Provenance {
        repository_uri: about.repository_url.clone()?,
        revision_id: report.context.head.clone()?,
        branch: report.context.branch.clone(),
        mapped_to: Mapped { uri_base_id: ROOT },
    })
}

fn root() -> SarifBase {
    SarifBase {
        description: SarifText {
            text: "The root of the repository.".to_owned(),
        },
    }
}

fn invocation(report: &Report, notifications: Vec<Notification>) -> Invocation {
    let whole = report.count_results().errors == 0 && report.unreviewed_files.is_empty();
    let ended = report
        .started_at
        .checked_add(jiff::SignedDuration::try_from(report.duration).unwrap_or_default());
    Invocation {
        execution_successful: whole && report.verdict != Verdict::Undecided,
        start_time_utc: time(report.started_at),
        end_time_utc: ended.ok().and_then(time),
        tool_execution_notifications: notifications,
    }
}

/// Returns the time in the format of the schema; `None` if the format cannot express it.
fn time(at: jiff::Timestamp) -> Option<String> {
    let text = at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    text.starts_with(|c: char| c.is_ascii_digit()).then_some(text)
}

/// Returns the number of results that are omitted because of the host's limits.
pub(crate) fn left_out(report: &Report, about: &About) -> usize {
    results(report, about, &Rules::of(report, about)).1
}

/// Returns the results in the order of [`Order`], and the number of omitted ones.
fn results<'a>(report: &'a Report, about: &About, rules: &Rules<'a>) -> (Vec<SarifResult<'a>>, usize) {
    let findings = report.findings();
    let prints = Fingerprint::for_findings(&findings);
    let mut ranked: Vec<(Finding<'a>, Fingerprint)> = findings.into_iter().zip(prints).collect();
    let order = Order::of(report, about);
    ranked.sort_by_cached_key(|(finding, _)| order.key(finding));
    let mut results: Vec<SarifResult<'a>> = verdict_result(report, about, rules).into_iter().collect();
    let verdict_count = results.len();
    let mut bytes: usize = results.iter().map(size).sum();
    for (finding, print) in &ranked {
        let Some(index) = rules.index(finding.rule) else {
            continue;
        };
        let result = result(finding, *print, index, about);
        bytes += size(&result);
        let is_full = |limits: SarifLimits| results.len() == limits.results || bytes > limits.bytes;
        if about.sarif_limits.is_some_and(is_full) {
            break;
        }
        results.push(result);
    }
    let cut = ranked.len() + verdict_count - results.len();
    (results, cut)
}

/// Returns the result that explains a failed run without a finding that fails it, for readers of results alone.
fn verdict_result<'a>(report: &Report, about: &About, rules: &Rules<'a>) -> Option<SarifResult<'a>> {
    let (id, rule_index) = rules.verdict()?;
    let remark = verdict_remark(report, about)?;
    Some(SarifResult {
        rule_id: id,
        rule_index,
        level: level(Severity::Error),
        message: SarifText {
            text: shorten::to_chars(&remark.text, MESSAGE_LIMIT),
        },
        locations: [location(remark.path, Some(region(1, None)))],
        partial_fingerprints: Fingerprints {
            sluicegate: remark.print.to_string(),
        },
        baseline_state: None,
        suppressions: None,
    })
}

/// Returns the approximate size of the result, in bytes.
fn size(result: &SarifResult<'_>) -> usize {
    let [place] = &result.locations;
    let place = &place.physical_location;
    let snippet = place.region.as_ref().and_then(|region| region.snippet.as_ref());
    400 + result.message.text.len()
        + result.rule_id.len()
        + place.artifact_location.uri.len()
        + snippet.map_or(0, |snippet| snippet.text.len())
}

/// Returns the suppression of a waived finding.
fn suppression(finding: &Finding<'_>) -> Option<Suppression> {
    let waiver = finding
        .waiver
        .filter(|_| finding.state == Some(FindingState::Waived))?;
    Some(Suppression {
        kind: "external",
        status: "accepted",
        justification: shorten::to_chars(&waiver.reason, MESSAGE_LIMIT),
    })
}

fn result<'a>(
    finding: &Finding<'a>,
    print: Fingerprint,
    rule_index: usize,
    about: &About,
) -> SarifResult<'a> {
    let line = finding.line.max(1);
    let region = region(line, about.sources.line(finding.path, line));
    SarifResult {
        rule_id: finding.rule,
        rule_index,
        level: level(finding.severity),
        message: SarifText {
            text: shorten::to_chars(&finding.message(), MESSAGE_LIMIT),
        },
        locations: [location(finding.path, Some(region))],
        partial_fingerprints: Fingerprints {
            sluicegate: print.to_string(),
        },
        baseline_state: match finding.state {
            Some(FindingState::New) => Some("new"),
            Some(FindingState::Known) => Some("unchanged"),
            Some(FindingState::Waived) | None => None,
        },
        suppressions: suppression(finding).map(|why| [why]),
    }
}

/// Returns the region of a line: from its first character to its end, if its text is known. The end of a truncated line
/// is unknown.
fn region(line: u32, known: Option<&str>) -> Region {
    let whole = known.filter(|text| !text.trim().is_empty() && !text.ends_with('…'));
    let column = |text: &str| text.encode_utf16().count() + 1;
    let indent = |text: &str| column(&text[..text.len() - text.trim_start().len()]);
    Region {
        start_line: line,
        start_column: whole.map(indent),
        end_line: whole.map(|_| line),
        end_column: whole.map(column),
        snippet: known.map(|text| SarifText {
            text: shorten::to_chars(text, SNIPPET_LIMIT),
        }),
    }
}

fn location(path: &str, region: Option<Region>) -> Location {
    Location {
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation {
                uri: uri::encoded(path),
                uri_base_id: ROOT,
            },
            region,
        },
    }
}

fn notifications(report: &Report, rules: &Rules<'_>) -> Vec<Notification> {
    let mut all: Vec<Notification> = report
        .findings()
        .iter()
        .filter(|finding| finding.error_type.is_some())
        .map(|finding| not_evaluated(finding, rules))
        .collect();
    all.extend(remarks(report).iter().map(about_remark));
    all.extend(excluded(report).map(|line| notification("note", "note", &line)));
    let undecided = report.verdict == Verdict::Undecided;
    let weight = if undecided { "error" } else { "note" };
    all.extend(report.notes.iter().map(|note| notification("note", weight, note)));
    all
}

fn about_remark(remark: &Remark<'_>) -> Notification {
    let descriptor = match remark.kind {
        RemarkKind::Unreviewed => "not-reviewed",
        RemarkKind::GateChange => "gate-change",
        RemarkKind::Break => "breaks-consumers",
        RemarkKind::Verdict | RemarkKind::Limit => "note",
    };
    let weight = if remark.weighs { "error" } else { "warning" };
    let place = remark.line.map(|line| region(line, None));
    Notification {
        locations: vec![location(remark.path, place)],
        ..notification(descriptor, weight, &remark.text)
    }
}

fn not_evaluated(finding: &Finding<'_>, rules: &Rules<'_>) -> Notification {
    let region = region(finding.line.max(1), None);
    Notification {
        associated_rule: rules.index(finding.rule).map(|index| RuleReference {
            id: finding.rule.to_owned(),
            index,
        }),
        locations: vec![location(finding.path, Some(region))],
        ..notification("not-evaluated", "error", &finding.message())
    }
}

fn notification(kind: &'static str, level: &'static str, words: &str) -> Notification {
    let index = KINDS.iter().position(|(id, ..)| *id == kind).unwrap_or_default();
    Notification {
        descriptor: SarifReference { id: kind, index },
        associated_rule: None,
        level,
        message: SarifText {
            text: shorten::to_chars(words, MESSAGE_LIMIT),
        },
        locations: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
