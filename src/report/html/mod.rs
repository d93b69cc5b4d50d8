//! A page of its own: one file, for the artifacts of a job or a mail.
//!
//! It asks for nothing from anywhere: style and script are inside, and its content security policy allows those two by
//! their hashes and nothing else. What a review says is text in elements, never a part of the script; the script only
//! hides what the filter does not want, so the page can be read without it. It is also well-formed XML, by which its
//! tests read it back.

mod charts;
mod results;
mod why;

use self::results::{RuleNumbers, name};
use super::About;
use super::wording::{excluded, gate_change, numbers, run_problem, unreviewed};
use crate::findings::{Counts, FileResults, Finding, Report, RuleResult, Totals, Verdict};
use crate::text::markup as escape;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use std::cmp::Reverse;
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A list of more entries is folded, so that the findings stay near the top.
const LONG_LIST: usize = 12;

/// Where more files have findings, they are folded.
const MOST_OPEN: usize = 20;

/// The review as an HTML page.
pub fn render(report: &Report, about: &About) -> String {
    let mut page = head(report);
    page.push_str(&top(report, about));
    page.push_str("<main>\n");
    page.push_str(&tiles(report.counts(), report.totals()));
    page.push_str(&why::section(report, about));
    page.push_str(&remarks(report));
    page.push_str(&charts::charts(&report.findings()));
    page.push_str(&findings(report, about));
    page.push_str("</main>\n");
    let _ = write!(
        page,
        "<footer><p>sluicegate {}</p></footer>\n</div>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        escape(about.tool_version)
    );
    page
}

/// <https://www.w3.org/TR/CSP3/#framework-directive-source-list>
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

fn head(report: &Report) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>\n\
         <title>Review {} - sluicegate</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n<div class=\"page\">\n",
        policy(),
        report.verdict
    )
}

fn top(report: &Report, about: &About) -> String {
    let (sign, tone) = match report.verdict {
        Verdict::Passed => ("✓", "passed"),
        Verdict::Failed => ("✕", "failed"),
        Verdict::Undecided => ("?", "undecided"),
    };
    let mut shown = format!(
        "<header>\n<p class=\"brand\">Pipeline review</p>\n<h1><span class=\"verdict {tone}\"><span aria-hidden=\"true\">{sign}</span> \
         Review {}</span></h1>\n<p class=\"problem\">{}</p>\n",
        report.verdict,
        escape(&run_problem(report).unwrap_or_else(|| numbers(report)))
    );
    shown.push_str("<dl class=\"facts\">");
    for (label, value) in facts(report, about) {
        let _ = write!(shown, "<div><dt>{label}</dt><dd>{}</dd></div>", escape(&value));
    }
    shown + "</dl>\n</header>\n"
}

fn facts(report: &Report, about: &About) -> Vec<(&'static str, String)> {
    let context = &report.context;
    let short = |commit: &String| commit.chars().take(12).collect::<String>();
    let repository = about.repository_url.as_deref();
    let optional = [
        (
            "Repository",
            repository.map(|url| url.trim_start_matches("https://").to_owned()),
        ),
        ("Branch", context.branch.clone()),
        ("Commit", context.head.as_ref().map(short)),
        ("Compared with", context.base.as_ref().map(short)),
        ("Part", context.shard.map(|shard| shard.to_string())),
    ];
    let mut facts: Vec<_> = optional
        .into_iter()
        .filter_map(|(label, value)| Some((label, value?)))
        .collect();
    facts.push(("Engine", report.engine.to_string()));
    facts.push(("Run by", run_by(&context.ci, &context.event)));
    // A report that was made by another program may not tell.
    if report.started_at > Timestamp::UNIX_EPOCH {
        let began = report.started_at.strftime("%Y-%m-%d %H:%M:%S UTC");
        facts.push(("Began", began.to_string()));
        facts.push(("Took", format!("{:.1} s", report.elapsed.as_secs_f64())));
    }
    facts
}

/// The host and its event; outside of CI there is neither.
fn run_by(host: &str, event: &str) -> String {
    match host {
        "" | "none" => "somebody's own machine".to_owned(),
        host => format!("{host}, {event}"),
    }
}

fn tiles(counts: Counts, totals: Totals) -> String {
    let tiles = [
        ("Errors", totals.errors, "error"),
        ("Warnings", totals.warnings, "warning"),
        ("Not evaluated", totals.not_evaluated, "broken"),
        ("Rules passed", counts.passed, "passed"),
        ("Files", counts.files, "none"),
        ("Excluded", counts.excluded, "none"),
        ("Not reviewed", counts.unreviewed, "error"),
    ];
    let mut shown = String::from("<section aria-label=\"Numbers\"><dl class=\"tiles\">");
    for (label, number, tone) in tiles {
        let tone = if number == 0 { "none" } else { tone };
        let _ = write!(
            shown,
            "<div class=\"{tone}\"><dt>{label}</dt><dd>{number}</dd></div>"
        );
    }
    shown + "</dl></section>\n"
}

/// What is to be known besides the findings; nothing where there is nothing.
fn remarks(report: &Report) -> String {
    let lists = [
        list(
            "Changes to the gate itself",
            report.gate_changes.iter().map(gate_change),
        ),
        list(
            "Not reviewed",
            report
                .unreviewed
                .iter()
                .map(|file| format!("{}: {}", file.path, unreviewed(&file.reason))),
        ),
        list("Notes", report.notes.iter().cloned()),
        list("Excluded", excluded(report).into_iter()),
    ];
    let lists = lists.concat();
    if lists.is_empty() {
        return lists;
    }
    format!(
        "<section aria-labelledby=\"remarks\"><h2 id=\"remarks\">Worth knowing</h2>\n<div class=\"card remarks\">{lists}</div></section>\n"
    )
}

fn list(title: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("<li>{}</li>", escape(&item))).collect();
    if items.is_empty() {
        return String::new();
    }
    let (start, end) = if items.len() > LONG_LIST {
        let summary = format!("<details><summary>{} entries</summary>", items.len());
        (summary, "</details>")
    } else {
        (String::new(), "")
    };
    let items = items.join("\n");
    format!("<div><h3>{title}</h3>{start}<ul class=\"plain\">{items}</ul>{end}</div>\n")
}

fn worst(file: &FileResults) -> usize {
    file.results
        .iter()
        .filter_map(RuleResult::severity)
        .map(|severity| severity as usize + 1)
        .max()
        .unwrap_or(0)
}

fn findings(report: &Report, about: &About) -> String {
    let all = report.findings();
    let results = report.files.iter().flat_map(|file| &file.results);
    let mut names: Vec<&str> = results.map(|result| result.rule.as_str()).collect();
    names.extend(all.iter().map(|finding| finding.rule));
    names.sort_unstable();
    names.dedup();
    let numbers: RuleNumbers<'_> = names.iter().copied().zip(1..).collect();
    let mut files: Vec<&FileResults> = report.files.iter().collect();
    files.sort_by_key(|file| (Reverse(worst(file)), &file.path));
    let mut shown = String::from(
        "<section aria-labelledby=\"findings\"><h2 id=\"findings\" tabindex=\"-1\">Findings</h2>\n",
    );
    if files.is_empty() {
        return shown + "<p>There is nothing here: no pipeline was reviewed.</p></section>\n";
    }
    shown.push_str(&filter(&names, &all, report.counts().passed));
    let open = files.iter().filter(|file| worst(file) > 0).count() <= MOST_OPEN;
    let mut number = 0;
    for file in files {
        shown.push_str(&results::file(file, open, &numbers, &mut number, about));
    }
    shown + "</section>\n"
}

/// Hidden until the script runs, as it does nothing without it.
fn filter(names: &[&str], findings: &[Finding<'_>], passed: usize) -> String {
    let mut shown = String::from(
        "<form id=\"filter\" class=\"card\" hidden=\"\" role=\"search\" aria-label=\"Filter the findings\">\n\
         <label class=\"field\" for=\"text\">Text<input id=\"text\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"/></label>\n\
         <label class=\"field\" for=\"rule\">Rule<select id=\"rule\"><option value=\"\">All rules</option>",
    );
    for (rule, number) in names.iter().zip(1..) {
        let _ = write!(shown, "<option value=\"{number}\">{}</option>", name(rule));
    }
    shown.push_str("</select></label>\n<fieldset><legend>Status</legend>");
    let of = |wanted: &str| {
        let same = findings
            .iter()
            .filter(|finding| results::status(finding).0 == wanted);
        same.count()
    };
    let statuses = [
        ("error", "Errors", of("error")),
        ("warning", "Warnings", of("warning")),
        ("broken", "Not evaluated", of("broken")),
        ("passed", "Passed", passed),
    ];
    for (status, label, number) in statuses {
        // Passed rules are many; they are there when asked for, or when they are all there is.
        let checked = status != "passed" || findings.is_empty();
        let checked = if checked { " checked=\"\"" } else { "" };
        let _ = write!(
            shown,
            "<label><input type=\"checkbox\" value=\"{status}\"{checked}/>{label} ({number})</label>"
        );
    }
    shown
        + "</fieldset>\n<div class=\"result-line\"><p id=\"shown\" role=\"status\"></p><button type=\"reset\">Reset the filter</button></div></form>\n"
}

#[cfg(test)]
mod tests;
