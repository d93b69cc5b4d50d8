//! Renders the findings of a file as Markdown: each file once, and one entry for the components of a rule.

use super::ReportContext;
use super::finding_tone::Tone;
use super::markdown::{escape, escape_prose, render_code, render_source_link};
use super::truncation;
use super::view::{FindingEntry, UnevaluatedCause};
use crate::PathBase;
use sluicegate_base::text::{List, format_and_more_of, format_count};
use sluicegate_pipelines::findings::Finding;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Maximum length of a message, in characters.
pub(super) const MESSAGE_LIMIT: usize = 1_000;

/// Maximum length of a path or rule name, in characters.
const NAME_LIMIT: usize = 300;

/// Maximum number of further places that a finding lists.
const MAX_OTHER_PLACES: usize = 5;

/// The listed findings of a file.
pub(super) type FileEntries<'v, 'a> = (&'a str, Vec<&'v FindingEntry<'a>>);

/// Returns whether the finding is an error that is neither known nor waived.
pub(super) fn is_error(entry: &FindingEntry<'_>) -> bool {
    Tone::for_finding(&entry.finding) == Tone::Error
}

/// An item of a list of findings.
pub(super) struct FindingItem<'a> {
    pub text: String,
    pub finding_count: usize,
    /// The number of findings that `text` only counts.
    pub omitted_count: usize,
    /// The files of the findings.
    pub paths: Vec<&'a str>,
}

/// Renders an item for the findings of each file. `max_bytes` is the limit of the list: each file gets an equal part of
/// it, but at least `min_file_bytes`.
pub(super) fn render_finding_items<'a>(
    files: &[FileEntries<'_, 'a>],
    context: &ReportContext,
    max_bytes: usize,
    min_file_bytes: usize,
) -> Vec<FindingItem<'a>> {
    let max_file_bytes = min_file_bytes.max(max_bytes / files.len().max(1));
    files
        .iter()
        .map(|(path, entries)| {
            let (text, omitted_count) = render_file_findings(path, entries, context, max_file_bytes);
            FindingItem {
                text,
                finding_count: entries.iter().map(|entry| entry.findings().count()).sum(),
                omitted_count,
                paths: vec![path],
            }
        })
        .collect()
}

/// Renders the items as a list of at most `max_bytes` and `max_lines`, but at least the first item. If others are
/// omitted, the last line counts their findings and the files of these. Also returns the number of omitted findings.
pub(super) fn render_finding_list(
    items: &[FindingItem<'_>],
    max_bytes: usize,
    max_lines: usize,
) -> (String, usize) {
    let mut list = String::new();
    let mut omitted_count = 0;
    for (item_index, item) in items.iter().enumerate() {
        let is_full = item_index > 0 && list.len() + item.text.len() > max_bytes;
        if is_full || item_index == max_lines {
            let omitted_items = items.get(item_index..).unwrap_or_default();
            let finding_count: usize = omitted_items.iter().map(|item| item.finding_count).sum();
            let paths: BTreeSet<&str> = omitted_items
                .iter()
                .flat_map(|item| item.paths.iter().copied())
                .collect();
            let _ = writeln!(
                list,
                "- {} in {}",
                format_and_more_of(finding_count, "finding"),
                format_count(paths.len(), "file")
            );
            omitted_count += finding_count;
            break;
        }
        let _ = writeln!(list, "- {}", item.text);
        omitted_count += item.omitted_count;
    }
    (list, omitted_count)
}

/// Renders the findings of a file as the text of a list item. A single finding includes the path; several findings are
/// a nested list below the path. A list that becomes longer than `max_bytes` begins with the most severe findings and
/// ends with the number of omitted ones, which is also returned.
fn render_file_findings(
    path: &str,
    entries: &[&FindingEntry<'_>],
    context: &ReportContext,
    max_bytes: usize,
) -> (String, usize) {
    if let [entry] = entries {
        let place = render_place(&entry.finding, context);
        return (render_entry(entry, &place, context), 0);
    }
    let heading = render_code(&limit_name_length(path));
    let mut remaining_bytes = max_bytes.saturating_sub(heading.len());
    let mut items: Vec<(&FindingEntry<'_>, String)> = entries
        .iter()
        .map(|entry| {
            let place = render_line_link(&entry.finding, &format!("line {}", entry.finding.line), context);
            (*entry, format!("\n  - {}", render_entry(entry, &place, context)))
        })
        .collect();
    if items.iter().map(|(_, item)| item.len()).sum::<usize>() > remaining_bytes {
        items.sort_by_key(|(entry, _)| Tone::for_finding(&entry.finding));
    }
    let mut markdown = heading;
    let mut omitted_count = 0;
    for (item_index, (entry, item)) in items.iter().enumerate() {
        if omitted_count == 0 && (item_index == 0 || item.len() <= remaining_bytes) {
            remaining_bytes = remaining_bytes.saturating_sub(item.len());
            markdown.push_str(item);
        } else {
            omitted_count += entry.findings().count();
        }
    }
    if omitted_count > 0 {
        let _ = write!(markdown, "\n  - {}", format_and_more_of(omitted_count, "finding"));
    }
    (markdown, omitted_count)
}

/// Renders an entry after its rendered `place`: level, message and rule, then the places of equal findings. If related
/// findings have a joint message, the names that it is about follow; otherwise a sentence about these findings.
fn render_entry(entry: &FindingEntry<'_>, place: &str, context: &ReportContext) -> String {
    let finding = &entry.finding;
    let mark = match Tone::for_finding(finding) {
        Tone::Broken => "⚠️",
        Tone::Error => "❌",
        Tone::Warning => "🟡",
        Tone::Old => "⚪",
    };
    let (message, related_text) = match entry.describe_block() {
        Some((joint_message, names)) => (joint_message, Some(names)),
        None => (finding.message(), entry.describe_related_findings()),
    };
    let mut markdown = format!(
        "{mark} {place}: {} ({})",
        escape(&shorten_message(&message)),
        render_code(&limit_name_length(finding.rule)),
    );
    if !entry.equal_findings.is_empty() {
        let other_places = List::with_limit(&entry.equal_findings, MAX_OTHER_PLACES)
            .with_noun("place")
            .map(|other_finding| render_place(other_finding, context));
        let _ = write!(markdown, "<br>Also in {other_places}");
    }
    if let Some(related_text) = related_text {
        let _ = write!(
            markdown,
            "<br>{}",
            escape(&truncation::truncate(&related_text, 2 * MESSAGE_LIMIT))
        );
    }
    markdown
}

/// Renders the path and the line of a finding. They are a link if the host can show files.
fn render_place(finding: &Finding<'_>, context: &ReportContext) -> String {
    let place = format!("{}:{}", limit_name_length(finding.path), finding.line);
    render_line_link(finding, &place, context)
}

/// Renders `text` as a link to the finding's line, or as code if there is no URL template for the host's files.
fn render_line_link(finding: &Finding<'_>, text: &str, context: &ReportContext) -> String {
    match &context.blob_url {
        Some(url_template) => render_source_link(url_template, finding.path, finding.line, text),
        None => render_code(text),
    }
}

/// Renders an error in the rules file that prevented the evaluation of pipelines: its message and places, the
/// affected files, and how to fix it.
pub(super) fn render_cause(cause: &UnevaluatedCause<'_>, context: &ReportContext) -> String {
    let message = escape(&shorten_message(&cause.finding.message()));
    let places: Vec<String> = context
        .list_rules_file_places(&cause.finding)
        .iter()
        .map(|place| render_code(&limit_name_length(place)))
        .collect();
    let preposition = if places.is_empty() { "" } else { ", at " };
    format!(
        "{message}{preposition}{}: {}. To fix the problem: {}",
        places.join(", "),
        escape(&shorten_message(&cause.describe_affected_files(&PathBase::Root))),
        escape_prose(&shorten_message(context.rules_file_hint(&cause.finding)))
    )
}

/// Truncates a path or a rule's name.
pub(super) fn limit_name_length(name: &str) -> String {
    truncation::truncate(name, NAME_LIMIT)
}

/// Truncates a message to its maximum length in a comment.
pub(super) fn shorten_message(text: &str) -> String {
    truncation::truncate(text, MESSAGE_LIMIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn omission_counts_each_file_once_and_each_finding() {
        let item = |finding_count, paths: &[&'static str]| FindingItem {
            text: "text".to_owned(),
            finding_count,
            omitted_count: 0,
            paths: paths.to_vec(),
        };
        let items = [
            item(1, &["a"]),
            item(2, &["a", "b"]),
            item(2, &["a", "b"]),
            item(3, &["c"]),
        ];
        assert_eq!(
            render_finding_list(&items, 1_000, 1),
            ("- text\n- and 7 more findings in 3 files\n".to_owned(), 7)
        );
        assert_eq!(
            render_finding_list(&items[..1], 1_000, 1),
            ("- text\n".to_owned(), 0)
        );
    }
}
