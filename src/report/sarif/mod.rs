//! SARIF 2.1.0, for the security tab and other readers of code scanning results.
//!
//! Every finding is a result: a FAILED rule's violations, and what could not be evaluated, which readers of results
//! alone would miss. What kept a rule or a file from being evaluated is a notification too, and the run is then no
//! successful execution. The document is whole, but for a host with limits, such as GitHub
//! (<https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning>):
//! there the worst stays, and what was cut is a notification. It has no line break inside, so it can be printed anywhere.

mod rules;
mod schema;

use self::rules::{Rules, level};
use self::schema::{
    ArtifactLocation, AutomationDetails, Descriptor, Driver, Fingerprints, Help, Invocation, Location, Log,
    Mapped, Notification, PhysicalLocation, Provenance, Region, RuleReference, SarifBase, SarifReference,
    SarifResult, SarifRun, SarifText, Suppression, Tool,
};
use super::remark::{Remark, RemarkKind, remarks};
use super::view::Order;
use super::wording::excluded;
use super::{About, SarifLimits, shorten, uri, write_json};
use crate::base::text::count;
use crate::model::findings::{Finding, Fingerprint, Report, State, Verdict};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The most notifications, which nobody reads by the thousand.
const MOST_NOTIFICATIONS: usize = 1_000;
/// Where the program is shown; empty until there is such a place.
const HOMEPAGE: &str = env!("CARGO_PKG_HOMEPAGE");
/// The longest message, in characters.
const MESSAGE_LIMIT: usize = 2_000;
/// The longest line of a file that is repeated, in characters.
const SNIPPET_LIMIT: usize = 200;
const ROOT: &str = "%SRCROOT%";

/// What notifications are about: id, meaning, and what to do, in the order of the driver's list.
const KINDS: [(&str, &str, &str); 6] = [
    (
        "not-evaluated",
        "A rule could not be evaluated.",
        "Mend the pipeline by what the message says; until then the gate fails.",
    ),
    (
        "not-reviewed",
        "A file has no answer.",
        "Run the review again; until then it is not known whether the file passes.",
    ),
    (
        "gate-change",
        "The change touches the gate itself.",
        "Look at the change to the rules or the settings before the verdict is believed.",
    ),
    (
        "note",
        "What else is to be known of the review.",
        "There is nothing to mend.",
    ),
    (
        "cut",
        "Something was left out to stay within the limits of readers.",
        "The JSON report has everything.",
    ),
    (
        "breaks-consumers",
        "The change breaks consumers of shared pipelines.",
        "Keep what they name, or agree with them on what they must do.",
    ),
];

/// The review as a SARIF log with one run.
pub(super) fn render(report: &Report, about: &About, out: &mut dyn Write) -> io::Result<()> {
    let rules = Rules::of(report, about);
    let (results, cut) = results(report, about, &rules);
    let mut notifications = notifications(report, &rules);
    let left_out = notifications.len().saturating_sub(MOST_NOTIFICATIONS);
    notifications.truncate(MOST_NOTIFICATIONS);
    for (number, what) in [(cut, "result"), (left_out, "notification")] {
        if number > 0 {
            let words = format!("{} left out: see the JSON report", count(number, what));
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
            information_uri: Some(HOMEPAGE).filter(|uri| !uri.is_empty()),
            rules: rules.list,
            notifications: KINDS.map(kind).into(),
        },
    }
}

/// GitHub takes what stands before the last `/` as the category. A part of a review has one of its own, as it would
/// close the alerts of the other parts.
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

/// Which commit of which repository was reviewed, where both are known.
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
    let whole = report.counts().errors == 0 && report.unreviewed.is_empty();
    let ended = report
        .started_at
        .checked_add(jiff::SignedDuration::try_from(report.elapsed).unwrap_or_default());
    Invocation {
        execution_successful: whole && report.verdict != Verdict::Undecided,
        start_time_utc: time(report.started_at),
        end_time_utc: ended.ok().and_then(time),
        tool_execution_notifications: notifications,
    }
}

/// The time as the schema writes it; a clock outside of that form is left out.
fn time(at: jiff::Timestamp) -> Option<String> {
    let text = at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    text.starts_with(|c: char| c.is_ascii_digit()).then_some(text)
}

/// How many results a host with these limits would not get.
pub(crate) fn left_out(report: &Report, about: &About) -> usize {
    results(report, about, &Rules::of(report, about)).1
}

/// The results in the order of the change, and how many were left out.
fn results<'a>(report: &'a Report, about: &About, rules: &Rules<'a>) -> (Vec<SarifResult<'a>>, usize) {
    let findings = report.findings();
    let prints = Fingerprint::of(&findings);
    let mut ranked: Vec<(Finding<'a>, Fingerprint)> = findings.into_iter().zip(prints).collect();
    let order = Order::of(report, about);
    ranked.sort_by_cached_key(|(finding, _)| (order.rank(finding), finding.path, finding.line));
    let mut results = Vec::new();
    let mut bytes = 0;
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
    let cut = ranked.len() - results.len();
    (results, cut)
}

/// About what the result takes, in bytes.
fn size(result: &SarifResult<'_>) -> usize {
    let [place] = &result.locations;
    let place = &place.physical_location;
    let snippet = place.region.as_ref().and_then(|region| region.snippet.as_ref());
    400 + result.message.text.len()
        + result.rule_id.len()
        + place.artifact_location.uri.len()
        + snippet.map_or(0, |snippet| snippet.text.len())
}

/// A waiver, which stands in a file beside the pipelines.
fn suppression(finding: &Finding<'_>) -> Option<Suppression> {
    let waiver = finding.waiver.filter(|_| finding.state == Some(State::Waived))?;
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
            Some(State::New) => Some("new"),
            Some(State::Known) => Some("unchanged"),
            Some(State::Waived) | None => None,
        },
        suppressions: suppression(finding).map(|why| [why]),
    }
}

/// The line, with what stands on it where that is known: from its first sign to its end. A line that was cut has no
/// known end.
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
