//! Renders a self-contained HTML page, for the artifacts of a job or an email.
//!
//! The page loads no external resources: style and script are inline, and its content security policy allows only these
//! two, by their hashes. Texts of a review are text in elements, never a part of the script. The script only hides and
//! regroups findings, so the page can be read without it. The page is also well-formed XML, so that tests can parse it.

mod change_folds;
mod changes_page;
mod component_figures;
mod elements;
mod facets;
mod file_changes;
mod files;
mod filter_bar;
mod finding_anchors;
mod name_direction;
mod page_frame;
mod repeats;
mod review_header;
mod rule_explanations;

pub use changes_page::render_changes_page;

use self::elements::render_notice;
use self::file_changes::PageChanges;
use self::finding_anchors::{FileFindings, group_anchored_findings};
use self::page_frame::{HtmlPage, render_page};
use super::ReportContext;
use super::sentences::{capitalize, run_noun};
use super::view::{Notice, View, ViewMedium};
use sluicegate_pipelines::findings::{Report, Verdict};

/// The script; the CDATA marks make it text for an XML parser.
const SCRIPT: &str = concat!(
    "//<![CDATA[\n",
    include_str!("script/findings.js"),
    include_str!("script/filter.js"),
    include_str!("script/copy.js"),
    include_str!("script/csv.js"),
    include_str!("script/start.js"),
    "//]]>\n"
);

/// Renders the review as an HTML page, from the most important section to the facts about the run.
pub(super) fn render(report: &Report, context: &ReportContext) -> String {
    let view = View::new(report, context, ViewMedium::Page);
    let files = group_anchored_findings(&view);
    let facets = facets::render_facets(&view);
    let mut changes = PageChanges::new(&view, !facets.is_empty());
    let mut body = review_header::render_header(&view);
    body.push_str("<main>\n");
    // An undecided run may pass nevertheless (`--on-unavailable pass`), so its notices do not always fail the gate.
    let decisive_title = match report.verdict {
        Verdict::Passed | Verdict::Failed => "Fails the gate",
        Verdict::Undecided => "Not decided",
    };
    body.push_str(&render_notices(&view, decisive_title, |notice| {
        notice.affects_verdict
    }));
    // These effects are above the findings, because a list of findings may be long.
    body.push_str(&render_notices(&view, "Effects of the change", |notice| {
        !notice.affects_verdict && notice.kind.concerns_change()
    }));
    body.push_str(&changes.render_list_above_findings(&files));
    body.push_str("<div class=\"columns\">\n");
    body.push_str(&facets);
    body.push_str(&render_findings(&view, &files, &changes));
    body.push_str("</div>\n");
    body.push_str(&changes.render_list_below_findings(&files));
    body.push_str(&render_notices(&view, "Worth knowing", |notice| {
        !notice.affects_verdict && !notice.kind.concerns_change()
    }));
    body.push_str(&review_header::render_background(&view));
    body.push_str(&rule_explanations::render_explanations(&view));
    body.push_str("</main>\n");
    let name = review_header::repository_name(&view).map(|name| format!(" - {name}"));
    render_page(&HtmlPage {
        title: &format!(
            "{} {}{}",
            capitalize(run_noun(report)),
            report.verdict,
            name.unwrap_or_default()
        ),
        skip_link: ("findings", "Skip to the findings"),
        body: &body,
        script: Some(SCRIPT),
        tool_version: context.tool_version,
    })
}

/// Renders the notices for which `is_selected` is true, below a title; empty if there are none.
fn render_notices(view: &View<'_>, title: &str, is_selected: impl Fn(&Notice<'_>) -> bool) -> String {
    let rendered_notices: String = view
        .notices
        .iter()
        .filter(|notice| is_selected(notice))
        .map(render_notice)
        .collect();
    if rendered_notices.is_empty() {
        return rendered_notices;
    }
    format!(
        "<section class=\"remarks card\" aria-label=\"{title}\"><h2>{title}</h2>\n<div class=\"kinds\">{rendered_notices}</div></section>\n"
    )
}

/// Renders the section of findings: the filter bar, the findings by file and by rule, and the files without findings.
fn render_findings(view: &View<'_>, files: &[FileFindings<'_, '_>], changes: &PageChanges<'_, '_>) -> String {
    let mut html = String::from(
        "<section class=\"findings\" aria-labelledby=\"findings\"><h2 id=\"findings\" tabindex=\"-1\">Findings</h2>\n",
    );
    if view.report.reviewed_files().next().is_none() && view.findings.is_empty() {
        return html + "<p>No findings: no pipeline was reviewed.</p></section>\n";
    }
    if !files.is_empty() {
        html.push_str(&filter_bar::render_filter_bar(view));
        html.push_str(&files::render_file_cards(view, files, changes));
        html.push_str(&rule_explanations::render_rule_groups(view));
    }
    html.push_str(&files::render_clean_files(view));
    html + "</section>\n"
}

#[cfg(test)]
mod tests;
