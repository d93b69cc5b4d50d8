//! Renders a self-contained HTML page, for the artifacts of a job or an email.
//!
//! The page loads no external resources: style and script are inline, and its content security policy allows only these
//! two, by their hashes. Texts of a review are text in elements, never a part of the script. The script only hides and
//! regroups findings, so the page can be read without it. The page is also well-formed XML, so that tests can parse it.

mod changes;
mod document;
mod facets;
mod files;
mod filter;
mod page_of_changes;
mod parts;
mod repeats;
mod rules;
mod top;

pub(crate) use page_of_changes::render as changes_page;

use self::document::{HtmlPage, document};
use self::parts::notice;
use super::About;
use super::view::{FileView, Medium, Notice, View, by_file};
use sluicegate_pipelines::findings::Report;

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

/// Returns the review as an HTML page.
pub(super) fn render(report: &Report, about: &About) -> String {
    let view = View::of(report, about, Medium::Page);
    let files = by_file(&view.findings);
    let mut body = top::header(&view);
    body.push_str("<main>\n");
    body.push_str(&notices(&view, "Fails the gate", |notice| notice.weighs));
    body.push_str("<div class=\"columns\">\n");
    body.push_str(&facets::facets(&view));
    body.push_str(&findings(&view, &files));
    body.push_str("</div>\n");
    body.push_str(&notices(&view, "Worth knowing", |notice| !notice.weighs));
    body.push_str(&changes::others(&view, &files));
    body.push_str(&top::background(&view));
    body.push_str(&rules::explanations(&view));
    body.push_str("</main>\n");
    let name = top::repository(&view).map(|name| format!(" - {name}"));
    document(&HtmlPage {
        title: &format!("Review {}{}", report.verdict, name.unwrap_or_default()),
        skip: ("findings", "Skip to the findings"),
        body: &body,
        script: Some(SCRIPT),
        tool_version: about.tool_version,
    })
}

/// Returns the notices for which `takes` is true, below a title; empty if there are none.
fn notices(view: &View<'_>, title: &str, takes: impl Fn(&Notice<'_>) -> bool) -> String {
    let lists: String = view.notices.iter().filter(|it| takes(it)).map(notice).collect();
    if lists.is_empty() {
        return lists;
    }
    format!("<section class=\"remarks card\" aria-label=\"{title}\"><h2>{title}</h2>\n{lists}</section>\n")
}

fn findings(view: &View<'_>, files: &[FileView<'_, '_>]) -> String {
    let mut shown = String::from(
        "<section class=\"findings\" aria-labelledby=\"findings\"><h2 id=\"findings\" tabindex=\"-1\">Findings</h2>\n",
    );
    if view.report.reviewed_files().next().is_none() && view.findings.is_empty() {
        return shown + "<p>No findings: no pipeline was reviewed.</p></section>\n";
    }
    if !files.is_empty() {
        shown.push_str(&filter::bar(view));
        shown.push_str(&files::groups(view, files));
        shown.push_str(&rules::groups(view));
    }
    shown.push_str(&files::clean(view));
    shown + "</section>\n"
}

#[cfg(test)]
mod tests;
