//! Renders the findings by file, with their source lines.

use super::elements::{
    MESSAGE_LIMIT, escape_rule_name, render_copy_button, render_path_heading, render_rule, render_tally,
};
use super::file_changes::{self, NumberedFinding};
use super::repeats::{EqualFindings, OtherPlace};
use crate::report::finding_tone::Tone;
use crate::report::view::{FileView, View};
use crate::report::{SourceLines, file_uri, truncation};
use sluicegate_base::text::escape_markup as escape;
use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{FileResults, Finding, Status};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Maximum number of unfolded files. If there are more files, those without counting findings are folded.
pub(super) const MAX_OPEN_FILES: usize = 20;

/// Returns all files with findings; the findings are numbered consecutively.
pub(super) fn render_file_groups(view: &View<'_>, files: &[FileView<'_, '_>]) -> String {
    let mut html = String::from("<div id=\"by-file\">\n");
    let mut numbers = 1..;
    let repeats = EqualFindings::collect(files);
    let results: HashMap<&str, &FileResults> = view
        .report
        .files
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect();
    for (file_index, file) in files.iter().enumerate() {
        let numbered_findings: Vec<NumberedFinding<'_, '_>> =
            (&mut numbers).zip(file.findings.iter().copied()).collect();
        let file_changes = file_changes::render_changes_above_findings(
            view,
            file.path,
            file_index,
            files.len(),
            &numbered_findings,
        );
        let is_shown_above = numbered_findings
            .iter()
            .all(|(number, finding)| repeats.first_number(finding, *number).is_some());
        let has_counting_finding = file.findings.iter().any(|finding| finding.is_counted());
        let is_open = file_index < MAX_OPEN_FILES
            && !is_shown_above
            && (has_counting_finding || files.len() <= MAX_OPEN_FILES);
        let open_attribute = if is_open { " open=\"\"" } else { "" };
        push_group_head(&mut html, file, open_attribute);
        html.push_str(&file_changes.html);
        html.push_str("<div class=\"list\">");
        for (number, finding) in numbered_findings {
            if let Some(first) = repeats.first_number(finding, number) {
                push_repeat(&mut html, finding, number, first, view);
                continue;
            }
            let other_places = repeats.other_places(finding);
            push_finding(
                &mut html,
                finding,
                number,
                file_changes.component_id(finding),
                other_places,
                view,
            );
        }
        html.push_str("</div>\n");
        push_group_foot(&mut html, results.get(file.path).copied());
    }
    html + "</div>\n"
}

fn push_group_head(html: &mut String, file: &FileView<'_, '_>, open_attribute: &str) {
    let _ = writeln!(
        html,
        "<details class=\"group card\"{open_attribute}><summary>{} {}</summary>",
        render_path_heading(file.path),
        render_tally(&file.tally),
    );
}

/// Adds the passed checks and the end of the group.
fn push_group_foot(html: &mut String, results: Option<&FileResults>) {
    let _ = writeln!(
        html,
        "<p class=\"note\">{} <span>{}</span></p></details>",
        render_copy_button("Copy path"),
        results.map(describe_passed_checks).unwrap_or_default()
    );
}

fn describe_passed_checks(file: &FileResults) -> String {
    let names: Vec<String> = file
        .results
        .iter()
        .filter(|result| result.status == Status::Passed)
        .map(|result| escape_rule_name(&result.rule))
        .collect();
    match names.len() {
        0 => String::new(),
        number => format!("{} passed: {}", format_count(number, "check"), names.join(", ")),
    }
}

fn push_finding(
    html: &mut String,
    finding: &Finding<'_>,
    number: usize,
    component_id: Option<&str>,
    other_places: &[OtherPlace<'_>],
    view: &View<'_>,
) {
    let class = Tone::for_finding(finding).class();
    let component_id =
        component_id.map(|id| format!("<a class=\"quiet\" href=\"#{id}\">Show in picture</a> "));
    let _ = write!(
        html,
        "<article id=\"finding-{number}\" class=\"{class}\"><header><span class=\"badge\">{}</span> {} {}\
         <span class=\"tools\">{}{} <a class=\"quiet\" href=\"#finding-{number}\">Link</a></span></header>\n\
         <p class=\"message\">{}</p>\n",
        describe_badge(finding),
        render_rule(view, finding.rule),
        render_place(finding, view),
        component_id.unwrap_or_default(),
        render_copy_button("Copy path"),
        escape(&truncation::truncate(&finding.message(), MESSAGE_LIMIT))
    );
    push_source_lines(html, finding, &view.context.sources);
    push_other_places(html, other_places);
    html.push_str("</article>\n");
}

/// Adds a finding that the page shows completely further up.
fn push_repeat(
    html: &mut String,
    finding: &Finding<'_>,
    number: usize,
    first_number: usize,
    view: &View<'_>,
) {
    let _ = writeln!(
        html,
        "<article id=\"finding-{number}\" class=\"{} repeat\"><header><span class=\"badge\">{}</span> {} {}\
         <span class=\"tools\"><a class=\"quiet\" href=\"#finding-{first_number}\">All places</a></span></header>\n\
         <p class=\"message\">{}</p></article>",
        Tone::for_finding(finding).class(),
        describe_badge(finding),
        render_rule(view, finding.rule),
        render_place(finding, view),
        escape(&truncation::truncate(&finding.message(), MESSAGE_LIMIT))
    );
}

/// Adds the other places of a finding, folded.
fn push_other_places(html: &mut String, other_places: &[OtherPlace<'_>]) {
    if other_places.is_empty() {
        return;
    }
    let _ = writeln!(
        html,
        "<details class=\"places\"><summary>Also in {}</summary><ul class=\"plain\">",
        format_count(other_places.len(), "other place")
    );
    for (number, path, line) in other_places {
        let _ = writeln!(
            html,
            "<li><a href=\"#finding-{number}\"><code>{}:{line}</code></a></li>",
            escape(path)
        );
    }
    html.push_str("</ul></details>\n");
}

/// Returns the level, with the state if the finding does not count.
fn describe_badge(finding: &Finding<'_>) -> String {
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
fn render_place(finding: &Finding<'_>, view: &View<'_>) -> String {
    let line = finding.line;
    let place = format!(
        "<code class=\"place copied\"><span class=\"path\">{}:</span>{line}</code>",
        escape(finding.path)
    );
    let url_template = view.context.blob_url.as_deref();
    let anchor = match url_template.filter(|url_template| url_template.starts_with("https://")) {
        Some(url_template) => {
            let address = escape(&file_uri::build_line_url(url_template, finding.path, line));
            format!("<a href=\"{address}\" rel=\"noreferrer\">{place}</a>")
        }
        None => place,
    };
    let is_changed = view.context.changed_lines.contains(finding.path, line);
    anchor
        + if is_changed {
            " <span class=\"changed\">changed here</span>"
        } else {
            ""
        }
}

/// Adds the source lines of the finding.
fn push_source_lines(html: &mut String, finding: &Finding<'_>, sources: &SourceLines) {
    let lines = sources.select_excerpt(finding);
    if lines.is_empty() {
        return;
    }
    html.push_str("<pre>");
    for (number, line) in &lines {
        let attribute = if *number == finding.line {
            " class=\"hit\""
        } else {
            ""
        };
        let _ = write!(
            html,
            "<span data-line=\"{number}\"{attribute}>{}</span>",
            escape(line)
        );
    }
    html.push_str("</pre>\n");
}

/// Returns the list of files without findings.
pub(super) fn render_clean_files(view: &View<'_>) -> String {
    let files = view.report.files.iter();
    let clean: Vec<String> = files
        .filter(|file| file.findings().is_empty())
        .map(|file| {
            format!(
                "<li><code>{}</code> {}</li>",
                escape(&file.path),
                format_count(file.results.len(), "check")
            )
        })
        .collect();
    if clean.is_empty() {
        return String::new();
    }
    format!(
        "<details class=\"clean card\"><summary><h3>{} without findings</h3></summary><ul class=\"plain\">{}</ul></details>\n",
        format_count(clean.len(), "file"),
        clean.join("\n")
    )
}
