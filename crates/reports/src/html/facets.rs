//! Renders bars with the numbers of findings by rule, team rule, project check and directory; each bar is a filter.

use super::elements::truncate_rule_name;
use super::name_direction::escape_path;
use crate::view::{Tally, View};
use sluicegate_base::text::{escape_markup as escape, format_more, format_number};
use sluicegate_pipelines::findings::Origin;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Number of bars of a list that are not folded.
const MAX_OPEN_ROWS: usize = 8;

/// Number of findings up to which bars do not help.
pub(super) const MAX_UNFILTERED_FINDINGS: usize = 10;

/// Renders the facets: lists of rules and folders with bars for their findings. Each bar filters the page. Returns
/// an empty text for at most [`MAX_UNFILTERED_FINDINGS`] findings.
pub(super) fn render_facets(view: &View<'_>) -> String {
    if view.findings.len() <= MAX_UNFILTERED_FINDINGS {
        return String::new();
    }
    let folders = view
        .folders
        .iter()
        .map(|(path, tally)| ((*path).to_owned(), tally));
    let project_checks = list_rules_of_origin(view, Origin::Project);
    let team_rules = list_rules_of_origin(view, Origin::Team);
    let (mut rule_rows, mut team_rule_rows, mut project_check_rows) = (Vec::new(), Vec::new(), Vec::new());
    for (rule, tally) in &view.rules {
        let row = (truncate_rule_name(rule), tally);
        if project_checks.contains(rule) {
            project_check_rows.push(row);
        } else if team_rules.contains(rule) {
            team_rule_rows.push(row);
        } else {
            rule_rows.push(row);
        }
    }
    format!(
        "<aside class=\"facets\" aria-label=\"Findings by rule and folder\">\n{}{}{}{}</aside>\n",
        render_facet("Rules", "rule", &rule_rows),
        render_facet("Team rules", "rule", &team_rule_rows),
        render_facet("Project checks", "rule", &project_check_rows),
        render_facet("Folders", "folder", &folders.collect::<Vec<_>>())
    )
}

/// Lists the rules of this origin that have results in the report.
fn list_rules_of_origin<'v>(view: &View<'v>, origin: Origin) -> BTreeSet<&'v str> {
    view.report
        .files
        .iter()
        .flat_map(|file| &file.results)
        .filter(|result| result.origin == origin)
        .map(|result| result.rule.as_str())
        .collect()
}

/// Renders a list of bars, and folds those after the first [`MAX_OPEN_ROWS`]; empty if there are no rows.
fn render_facet(title: &str, filter_name: &str, rows: &[(String, &Tally<'_>)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let max_total = rows.iter().map(|(_, tally)| tally.total()).max().unwrap_or(1);
    let rows: Vec<String> = rows
        .iter()
        .map(|(name, tally)| render_row(filter_name, name, tally, max_total))
        .collect();
    let (first_rows, remaining_rows) = rows.split_at(rows.len().min(MAX_OPEN_ROWS));
    let mut html = format!("<section><h2>{title}</h2>\n<ul>{}</ul>\n", first_rows.concat());
    if !remaining_rows.is_empty() {
        let _ = writeln!(
            html,
            "<details><summary>{}</summary><ul>{}</ul></details>",
            format_more(remaining_rows.len()),
            remaining_rows.concat()
        );
    }
    html + "</section>\n"
}

/// Renders a row: a button that filters by this rule or directory, with the number of its findings as a bar. The script
/// enables the button.
fn render_row(filter_name: &str, name: &str, tally: &Tally<'_>, max_total: usize) -> String {
    let counts: Vec<String> = tally
        .counts_by_tone()
        .map(|(tone, number)| tone.describe_count(number))
        .collect();
    let (value, text) = (escape(name), escape_path(name));
    format!(
        "<li><button type=\"button\" class=\"bar\" name=\"{filter_name}\" value=\"{value}\" aria-pressed=\"false\" disabled=\"\">\
         <span class=\"name\">{text}</span> <span class=\"number\">{}</span>{}<span class=\"unseen\"> {}: {}</span></button></li>\n",
        format_number(tally.total()),
        render_bar(tally, max_total),
        if tally.total() == 1 { "finding" } else { "findings" },
        counts.join(", ")
    )
}

/// Renders a bar with a segment for each tone. `max_total` findings fill the entire width of 1,000 units; a segment has
/// at least one unit, so that few findings are visible too.
fn render_bar(tally: &Tally<'_>, max_total: usize) -> String {
    let mut html = String::from(
        "<svg viewBox=\"0 0 1000 10\" width=\"200\" height=\"5\" preserveAspectRatio=\"none\" aria-hidden=\"true\">",
    );
    let mut start = 0;
    for (tone, number) in tally.counts_by_tone() {
        let (x, width) = (start * 1_000 / max_total, number * 1_000 / max_total);
        let _ = write!(
            html,
            "<rect class=\"{}\" x=\"{x}\" y=\"0\" width=\"{}\" height=\"10\" fill=\"#8b94a0\"/>",
            tone.css_class(),
            width.max(1)
        );
        start += number;
    }
    html + "</svg>"
}
