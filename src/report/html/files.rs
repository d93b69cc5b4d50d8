//! Renders the findings by file, with their source lines.

use super::changes::{self, Numbered};
use super::parts::{MESSAGE_LIMIT, copy, heading, name, rule, tally};
use super::repeats::{OtherPlace, Repeats};
use crate::report::tone::Tone;
use crate::report::view::{FileView, View};
use crate::report::{SourceLines, shorten, uri};
use sluicegate_base::text::count;
use sluicegate_base::text::markup as escape;
use sluicegate_pipelines::findings::{FileResults, Finding, Status};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Maximum number of unfolded files. If there are more files, those without counting findings are folded.
pub(super) const MOST_OPEN: usize = 20;

/// Returns all files with findings; the findings are numbered consecutively.
pub(super) fn groups(view: &View<'_>, files: &[FileView<'_, '_>]) -> String {
    let mut shown = String::from("<div id=\"by-file\">\n");
    let mut numbers = 1..;
    let repeats = Repeats::of(files);
    let results: HashMap<&str, &FileResults> = view
        .report
        .files
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect();
    for (at, file) in files.iter().enumerate() {
        let numbered: Vec<Numbered<'_, '_>> = (&mut numbers).zip(file.findings.iter().copied()).collect();
        let above = changes::above(view, file.path, (at, files.len()), &numbered);
        let is_said_above = numbered
            .iter()
            .all(|(number, finding)| repeats.first(finding, *number).is_some());
        let has_new = file.findings.iter().any(|finding| finding.is_counted());
        let is_open = at < MOST_OPEN && !is_said_above && (has_new || files.len() <= MOST_OPEN);
        let open = if is_open { " open=\"\"" } else { "" };
        push_head(&mut shown, file, open);
        shown.push_str(&above.shown);
        shown.push_str("<div class=\"list\">");
        for (number, finding) in numbered {
            if let Some(first) = repeats.first(finding, number) {
                push_repeat(&mut shown, finding, number, first, view);
                continue;
            }
            let others = repeats.others(finding);
            push_finding(&mut shown, (finding, number), above.place(finding), others, view);
        }
        shown.push_str("</div>\n");
        push_foot(&mut shown, results.get(file.path).copied());
    }
    shown + "</div>\n"
}

fn push_head(shown: &mut String, file: &FileView<'_, '_>, open: &str) {
    let _ = writeln!(
        shown,
        "<details class=\"group card\"{open}><summary>{} {}</summary>",
        heading(file.path),
        tally(&file.tally),
    );
}

/// Adds the passed checks and the end of the group.
fn push_foot(shown: &mut String, results: Option<&FileResults>) {
    let _ = writeln!(
        shown,
        "<p class=\"note\">{} <span>{}</span></p></details>",
        copy("Copy path"),
        results.map(passed).unwrap_or_default()
    );
}

fn passed(file: &FileResults) -> String {
    let passed = file.results.iter().filter(|r| r.status == Status::Passed);
    let names: Vec<String> = passed.map(|r| name(&r.rule)).collect();
    match names.len() {
        0 => "No check passed.".to_owned(),
        number => format!("{} passed: {}", count(number, "check"), names.join(", ")),
    }
}

fn push_finding(
    shown: &mut String,
    (finding, number): (&Finding<'_>, usize),
    component: Option<&str>,
    others: &[OtherPlace<'_>],
    view: &View<'_>,
) {
    let class = Tone::of(finding).class();
    let component = component.map(|id| format!("<a class=\"quiet\" href=\"#{id}\">Show in picture</a> "));
    let _ = write!(
        shown,
        "<article id=\"finding-{number}\" class=\"{class}\"><header><span class=\"badge\">{}</span> {} {}\
         <span class=\"tools\">{}{} <a class=\"quiet\" href=\"#finding-{number}\">Link</a></span></header>\n\
         <p class=\"message\">{}</p>\n",
        badge(finding),
        rule(view, finding.rule),
        place(finding, view),
        component.unwrap_or_default(),
        copy("Copy path"),
        escape(&shorten::to_chars(&finding.message(), MESSAGE_LIMIT))
    );
    push_lines(shown, finding, &view.about.sources);
    push_others(shown, others);
    shown.push_str("</article>\n");
}

/// Adds a finding that the page shows completely further up.
fn push_repeat(shown: &mut String, finding: &Finding<'_>, number: usize, first: usize, view: &View<'_>) {
    let _ = writeln!(
        shown,
        "<article id=\"finding-{number}\" class=\"{} repeat\"><header><span class=\"badge\">{}</span> {} {}\
         <span class=\"tools\"><a class=\"quiet\" href=\"#finding-{first}\">All places</a></span></header>\n\
         <p class=\"message\">{}</p></article>",
        Tone::of(finding).class(),
        badge(finding),
        rule(view, finding.rule),
        place(finding, view),
        escape(&shorten::to_chars(&finding.message(), MESSAGE_LIMIT))
    );
}

/// Adds the other places of a finding, folded.
fn push_others(shown: &mut String, others: &[OtherPlace<'_>]) {
    if others.is_empty() {
        return;
    }
    let _ = writeln!(
        shown,
        "<details class=\"places\"><summary>Also in {}</summary><ul class=\"plain\">",
        count(others.len(), "other place")
    );
    for (number, path, line) in others {
        let _ = writeln!(
            shown,
            "<li><a href=\"#finding-{number}\"><code>{}:{line}</code></a></li>",
            escape(path)
        );
    }
    shown.push_str("</ul></details>\n");
}

/// Returns the level, with the state if the finding does not count.
fn badge(finding: &Finding<'_>) -> String {
    let level = match finding.error_type {
        Some(_) => "not evaluated".to_owned(),
        None => finding.severity.to_string(),
    };
    match finding.state.filter(|_| !finding.is_counted()) {
        Some(state) => format!("{} {level}", state.name()),
        None => level,
    }
}

/// Returns the place of the finding. The path is shown only if the findings are grouped by rule.
fn place(finding: &Finding<'_>, view: &View<'_>) -> String {
    let line = finding.line;
    let place = format!(
        "<code class=\"place copied\"><span class=\"path\">{}:</span>{line}</code>",
        escape(finding.path)
    );
    let form = view.about.blob_url.as_deref();
    let linked = match form.filter(|form| form.starts_with("https://")) {
        Some(form) => {
            let address = escape(&uri::blob(form, finding.path, line));
            format!("<a href=\"{address}\" rel=\"noreferrer\">{place}</a>")
        }
        None => place,
    };
    let changed = view.about.changed.touch(finding.path, line);
    linked
        + if changed {
            " <span class=\"changed\">changed here</span>"
        } else {
            ""
        }
}

/// Adds the source lines of the finding.
fn push_lines(shown: &mut String, finding: &Finding<'_>, sources: &SourceLines) {
    let lines = sources.context(finding);
    if lines.is_empty() {
        return;
    }
    shown.push_str("<pre>");
    for (number, line) in &lines {
        let hit = if *number == finding.line {
            " class=\"hit\""
        } else {
            ""
        };
        let _ = write!(shown, "<span data-line=\"{number}\"{hit}>{}</span>", escape(line));
    }
    shown.push_str("</pre>\n");
}

/// Returns the list of files without findings.
pub(super) fn clean(view: &View<'_>) -> String {
    let files = view.report.files.iter();
    let clean: Vec<String> = files
        .filter(|file| file.findings().is_empty())
        .map(|file| {
            format!(
                "<li><code>{}</code> {}</li>",
                escape(&file.path),
                count(file.results.len(), "check")
            )
        })
        .collect();
    if clean.is_empty() {
        return String::new();
    }
    format!(
        "<details class=\"clean card\"><summary><h3>{} without findings</h3></summary><ul class=\"plain\">{}</ul></details>\n",
        count(clean.len(), "file"),
        clean.join("\n")
    )
}
