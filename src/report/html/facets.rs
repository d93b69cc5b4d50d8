//! Renders bars with the numbers of findings by rule, project check and directory; each bar is a filter.

use super::parts::name;
use crate::report::view::{Tally, View};
use sluicegate_base::text::{escape_markup as escape, format_more};
use sluicegate_pipelines::findings::Origin;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Number of bars of a list that are not folded.
const FIRST: usize = 8;

/// Returns the lists of bars; empty if there are no findings.
pub(super) fn facets(view: &View<'_>) -> String {
    if view.findings.is_empty() {
        return String::new();
    }
    let folders = view.folders.iter().map(|(path, tally)| (escape(path), tally));
    let between = of_project(view);
    let (between, rules): (Vec<_>, Vec<_>) = view
        .rules
        .iter()
        .map(|(rule, tally)| (*rule, (name(rule), tally)))
        .partition(|(rule, _)| between.contains(rule));
    let rows = |named: Vec<(&str, _)>| named.into_iter().map(|(_, row)| row).collect::<Vec<_>>();
    format!(
        "<aside class=\"facets\" aria-label=\"Findings by rule and folder\">\n{}{}{}</aside>\n",
        facet("Rules", "rule", &rows(rules)),
        facet("Project checks", "rule", &rows(between)),
        facet("Folders", "folder", &folders.collect::<Vec<_>>())
    )
}

/// Returns the project checks with findings.
fn of_project<'v>(view: &View<'v>) -> BTreeSet<&'v str> {
    let results = view.report.files.iter().flat_map(|file| &file.results);
    let of_project = results.filter(|result| result.origin == Origin::Project);
    of_project.map(|result| result.rule.as_str()).collect()
}

/// Returns a list of bars, or an empty text if there are no rows; the names are already escaped.
fn facet(title: &str, filter: &str, rows: &[(String, &Tally<'_>)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let longest = rows.iter().map(|(_, tally)| tally.total()).max().unwrap_or(1);
    let rows: Vec<String> = rows
        .iter()
        .map(|(name, tally)| row(filter, name, tally, longest))
        .collect();
    let (first, rest) = rows.split_at(rows.len().min(FIRST));
    let mut shown = format!("<section><h2>{title}</h2>\n<ul>{}</ul>\n", first.concat());
    if !rest.is_empty() {
        let _ = writeln!(
            shown,
            "<details><summary>{}</summary><ul>{}</ul></details>",
            format_more(rest.len()),
            rest.concat()
        );
    }
    shown + "</section>\n"
}

fn row(filter: &str, name: &str, tally: &Tally<'_>, longest: usize) -> String {
    let words: Vec<String> = tally.parts().map(|(tone, number)| tone.counted(number)).collect();
    format!(
        "<li><button type=\"button\" class=\"bar\" name=\"{filter}\" value=\"{name}\" aria-pressed=\"false\" disabled=\"\">\
         <span class=\"name\">{name}</span> <span class=\"number\">{}</span>{}<span class=\"unseen\"> {}: {}</span></button></li>\n",
        tally.total(),
        bar(tally, longest),
        if tally.total() == 1 { "finding" } else { "findings" },
        words.join(", ")
    )
}

fn bar(tally: &Tally<'_>, longest: usize) -> String {
    let mut shown =
        String::from("<svg viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">");
    let mut from = 0;
    for (tone, number) in tally.parts() {
        let (x, width) = (from * 1_000 / longest, number * 1_000 / longest);
        let _ = write!(
            shown,
            "<rect class=\"{}\" x=\"{x}\" y=\"0\" width=\"{}\" height=\"10\"/>",
            tone.class(),
            width.max(1)
        );
        from += number;
    }
    shown + "</svg>"
}
