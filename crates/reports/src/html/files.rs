//! Renders the findings by file, with their source lines.

use super::elements::{
    MESSAGE_LIMIT, escape_rule_name, render_copy_button, render_inline_code, render_path_heading,
    render_rule, render_tally,
};
use super::file_changes::PageChanges;
use super::finding_anchors::{AnchoredFinding, FileFindings};
use super::name_direction::escape_path;
use super::repeats::EqualFindings;
use crate::finding_tone::Tone;
use crate::view::View;
use crate::{SourceLines, file_uri, truncation};
use sluicegate_base::text::escape_markup as escape;
use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{FileResults, Finding, Status};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Maximum number of unfolded files. If there are more files, those with only known or waived findings are
/// folded.
pub(super) const MAX_OPEN_FILES: usize = 20;

/// The message of a finding whose reason is at the top of the page.
const NOT_EVALUATED: &str = "The rule could not be evaluated for the reason at the top of the page.";

/// Renders a card for each file with findings: its changes, its findings and its passed checks. A finding that the page
/// explains elsewhere is only a reference. The first cards are open, except those that have only references and, if
/// there are more than [`MAX_OPEN_FILES`] files, those that have only known or waived findings.
pub(super) fn render_file_cards(
    view: &View<'_>,
    files: &[FileFindings<'_, '_>],
    changes: &PageChanges<'_, '_>,
) -> String {
    let mut html = String::from("<div id=\"by-file\">\n");
    let equal_findings = EqualFindings::collect(files);
    let results: HashMap<&str, &FileResults> = view
        .report
        .files
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect();
    for (file_index, file) in files.iter().enumerate() {
        let file_changes = changes.render_changes_and_picture(file, file_index);
        // Such a card has only references: to the header, or to an equal finding further up.
        let is_explained_elsewhere = file.findings.iter().all(|entry| {
            is_explained_in_header(view, entry.finding) || equal_findings.find_first_equal_id(entry).is_some()
        });
        let has_counted_finding = file.findings.iter().any(|entry| entry.finding.is_counted());
        let is_open = file_index < MAX_OPEN_FILES
            && !is_explained_elsewhere
            && (has_counted_finding || files.len() <= MAX_OPEN_FILES);
        let open_attribute = if is_open { " open=\"\"" } else { "" };
        push_card_start(&mut html, file, open_attribute);
        html.push_str(&file_changes.html);
        html.push_str("<div class=\"list\">");
        for entry in &file.findings {
            let component_id = file_changes.find_component_id(entry.finding);
            push_finding_or_reference(&mut html, entry, component_id, &equal_findings, view);
        }
        html.push_str("</div>\n");
        push_card_end(&mut html, results.get(file.path).copied());
    }
    html + "</div>\n"
}

/// Adds a finding. If the page explains it in the header or at an equal finding further up, adds only a reference to
/// that place. `component_id` is its component in a picture.
fn push_finding_or_reference<'a>(
    html: &mut String,
    entry: &AnchoredFinding<'_, 'a>,
    component_id: Option<&str>,
    equal_findings: &EqualFindings<'_, 'a>,
    view: &View<'_>,
) {
    if is_explained_in_header(view, entry.finding) {
        push_finding_reference(html, entry, "causes", "Reason", NOT_EVALUATED, view);
    } else if let Some(first_id) = equal_findings.find_first_equal_id(entry) {
        let message = render_message(entry.finding);
        push_finding_reference(html, entry, first_id, "All places", &message, view);
    } else {
        let other_places = equal_findings.other_places(entry);
        push_finding(html, entry, component_id, other_places, view);
    }
}

/// Returns whether the top of the page explains the finding: an error in the rules file, neither known nor waived.
fn is_explained_in_header(view: &View<'_>, finding: &Finding<'_>) -> bool {
    !view.causes.is_empty() && finding.is_counted() && finding.is_rules_file_error()
}

/// Adds the start of a file's card: its path and the numbers of its findings. [`push_card_end`] closes the element.
fn push_card_start(html: &mut String, file: &FileFindings<'_, '_>, open_attribute: &str) {
    let _ = writeln!(
        html,
        "<details class=\"group card\"{open_attribute}><summary>{} {}</summary>",
        render_path_heading(file.path),
        render_tally(&file.tally),
    );
}

/// Adds the end of a file's card: a button that copies the path, and the passed checks.
fn push_card_end(html: &mut String, results: Option<&FileResults>) {
    let _ = writeln!(
        html,
        "<p class=\"note\">{} <span>{}</span></p></details>",
        render_copy_button("Copy path"),
        results.map(describe_passed_checks).unwrap_or_default()
    );
}

/// Returns the number and the names of the passed checks; empty if there are none.
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

/// Adds a finding with its source lines and the places of equal findings. `component_id` is its component in a picture.
fn push_finding(
    html: &mut String,
    entry: &AnchoredFinding<'_, '_>,
    component_id: Option<&str>,
    other_places: &[&AnchoredFinding<'_, '_>],
    view: &View<'_>,
) {
    let AnchoredFinding { id, finding } = entry;
    let class = Tone::for_finding(finding).css_class();
    let component_link = component_id
        .map(|component_id| format!("<a class=\"quiet\" href=\"#{component_id}\">Show in picture</a> "));
    let _ = write!(
        html,
        "<article id=\"{id}\" class=\"{class}\"><header><span class=\"badge\">{}</span> {} {}\
         <span class=\"tools\">{}{} <a class=\"quiet\" href=\"#{id}\">Link</a></span></header>\n\
         <p class=\"message\">{}</p>\n",
        describe_level_and_state(finding),
        render_rule(view, finding.rule),
        render_place(finding, view),
        component_link.unwrap_or_default(),
        render_copy_button("Copy path"),
        render_message(finding)
    );
    push_source_lines(html, finding, &view.context.sources);
    push_other_places(html, other_places);
    html.push_str("</article>\n");
}

/// Truncates the message of a finding and renders it as HTML.
fn render_message(finding: &Finding<'_>) -> String {
    render_inline_code(&truncation::truncate(&finding.message(), MESSAGE_LIMIT))
}

/// Adds a finding that the page explains elsewhere, with a link to the element `target_id`. `message` is already HTML.
fn push_finding_reference(
    html: &mut String,
    entry: &AnchoredFinding<'_, '_>,
    target_id: &str,
    link_text: &str,
    message: &str,
    view: &View<'_>,
) {
    let AnchoredFinding { id, finding } = entry;
    let _ = writeln!(
        html,
        "<article id=\"{id}\" class=\"{} repeat\"><header><span class=\"badge\">{}</span> {} {}\
         <span class=\"tools\"><a class=\"quiet\" href=\"#{target_id}\">{link_text}</a></span></header>\n\
         <p class=\"message\">{message}</p></article>",
        Tone::for_finding(finding).css_class(),
        describe_level_and_state(finding),
        render_rule(view, finding.rule),
        render_place(finding, view),
    );
}

/// Adds a folded list of the places of equal findings; nothing if there are none.
fn push_other_places(html: &mut String, other_places: &[&AnchoredFinding<'_, '_>]) {
    if other_places.is_empty() {
        return;
    }
    let _ = writeln!(
        html,
        "<details class=\"places\"><summary>Also in {}</summary><ul class=\"plain\">",
        format_count(other_places.len(), "other place")
    );
    for AnchoredFinding { id, finding } in other_places {
        let _ = writeln!(
            html,
            "<li><a href=\"#{id}\"><code>{}:{}</code></a></li>",
            escape_path(finding.path),
            finding.line
        );
    }
    html.push_str("</ul></details>\n");
}

/// Returns the level of a finding, after its state if it is known or waived, such as `known warning`.
fn describe_level_and_state(finding: &Finding<'_>) -> String {
    let level = match finding.error_type {
        Some(_) => "not evaluated".to_owned(),
        None => finding.severity.to_string(),
    };
    match finding.state.filter(|_| !finding.is_counted()) {
        Some(state) => format!("{} {level}", state.name()),
        None => level,
    }
}

/// Renders the path and the line of a finding. They are a link if the host has an `https` URL for files. Marks a
/// changed line. The style sheet hides the path unless the findings are grouped by rule.
fn render_place(finding: &Finding<'_>, view: &View<'_>) -> String {
    let line = finding.line;
    let place = format!(
        "<code class=\"place copied\"><span class=\"path\">{}:</span>{line}</code>",
        escape_path(finding.path)
    );
    let url_template = view.context.blob_url.as_deref();
    let linked_place = match url_template.filter(|url_template| url_template.starts_with("https://")) {
        Some(url_template) => {
            let address = escape(&file_uri::build_line_url(url_template, finding.path, line));
            format!("<a href=\"{address}\" rel=\"noreferrer\">{place}</a>")
        }
        None => place,
    };
    let is_changed = view.context.changed_lines.contains(finding.path, line);
    linked_place
        + if is_changed {
            " <span class=\"changed\">changed here</span>"
        } else {
            ""
        }
}

/// Adds the source lines around a finding and marks its own line; nothing if the lines are not known.
fn push_source_lines(html: &mut String, finding: &Finding<'_>, sources: &SourceLines) {
    let lines = sources.select_excerpt(finding);
    if lines.is_empty() {
        return;
    }
    html.push_str("<pre>");
    // The style sheet makes each span a line; the line breaks are for viewers that ignore it.
    for (number, line) in &lines {
        let attribute = if *number == finding.line {
            " class=\"hit\""
        } else {
            ""
        };
        let _ = write!(
            html,
            "<span data-line=\"{number}\"{attribute}>{}\n</span>",
            escape(line)
        );
    }
    html.push_str("</pre>\n");
}

/// Renders a folded list of the reviewed files without findings; empty if there are none.
pub(super) fn render_clean_files(view: &View<'_>) -> String {
    let files = view.report.files.iter();
    let clean_files: Vec<String> = files
        .filter(|file| file.findings().is_empty())
        .map(|file| {
            format!(
                "<li><code>{}</code> {}</li>",
                escape_path(&file.path),
                format_count(file.results.len(), "check")
            )
        })
        .collect();
    if clean_files.is_empty() {
        return String::new();
    }
    format!(
        "<details class=\"clean card\"><summary><h3>{} without findings</h3></summary><ul class=\"plain\">{}</ul></details>\n",
        format_count(clean_files.len(), "file"),
        clean_files.join("\n")
    )
}
