//! A page of its own: one file, for the artifacts of a job or a mail.
//!
//! It asks for nothing from anywhere: style and script are inside, and its content security policy allows those two by
//! their hashes and nothing else. What a review says is text in elements, never a part of the script; the script only
//! hides and regroups findings, so the page can be read without it. It is also well-formed XML, by which its tests read
//! it back.

mod facets;
mod files;
mod filter;
mod parts;
mod rules;
mod tiles;
mod top;
mod view;

use self::parts::list;
use self::view::View;
use super::About;
use super::wording::{excluded, gate_change, unreviewed};
use crate::findings::Report;
use crate::text::markup as escape;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

const STYLE: &str = concat!(
    include_str!("style/base.css"),
    include_str!("style/top.css"),
    include_str!("style/findings.css"),
    include_str!("style/narrow.css"),
    include_str!("style/print.css"),
);

/// The marks let a reader of XML take it as text.
const SCRIPT: &str = concat!(
    "//<![CDATA[\n",
    include_str!("script/findings.js"),
    include_str!("script/filter.js"),
    include_str!("script/copy.js"),
    include_str!("script/csv.js"),
    include_str!("script/start.js"),
    "//]]>\n"
);

/// The review as an HTML page.
pub fn render(report: &Report, about: &About) -> String {
    let view = View::of(report, about);
    let mut page = head(&view);
    page.push_str(&top::header(&view));
    page.push_str("<main>\n");
    page.push_str(&tiles::tiles(&view));
    page.push_str(&remarks(report));
    page.push_str("<div class=\"columns\">\n");
    page.push_str(&facets::facets(&view));
    page.push_str(&findings(&view));
    page.push_str("</div>\n");
    page.push_str(&rules::explanations(&view));
    let _ = write!(
        page,
        "</main>\n<footer><p>sluicegate {}</p></footer>\n</div>\n<script type=\"module\">{SCRIPT}</script>\n</body>\n</html>\n",
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

fn head(view: &View<'_>) -> String {
    let name = top::repository(view).map(|name| format!(" - {}", escape(name)));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>\n\
         <title>Review {}{}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#findings\">Skip to the findings</a>\n<div class=\"page\">\n",
        policy(),
        view.report.verdict,
        name.unwrap_or_default()
    )
}

/// What is to be known besides the findings; nothing where there is nothing.
fn remarks(report: &Report) -> String {
    let not_reviewed = report.unreviewed.iter();
    let lists = [
        list(
            "Changes to the gate itself",
            report.gate_changes.iter().map(gate_change),
        ),
        list(
            "Not reviewed",
            not_reviewed.map(|file| format!("{}: {}", file.path, unreviewed(&file.reason))),
        ),
        list("Notes", report.notes.iter().cloned()),
        list("Excluded", excluded(report).into_iter()),
    ];
    let lists = lists.concat();
    if lists.is_empty() {
        return lists;
    }
    format!(
        "<section class=\"remarks card\" aria-labelledby=\"remarks\"><h2 id=\"remarks\">Worth knowing</h2>\n{lists}</section>\n"
    )
}

fn findings(view: &View<'_>) -> String {
    let mut shown = String::from(
        "<section class=\"findings\" aria-labelledby=\"findings\"><h2 id=\"findings\" tabindex=\"-1\">Findings</h2>\n",
    );
    if view.report.files.is_empty() {
        return shown + "<p>There is nothing here: no pipeline was reviewed.</p></section>\n";
    }
    if !view.files.is_empty() {
        shown.push_str(&filter::bar(view));
        shown.push_str(&files::groups(view));
        shown.push_str(&rules::groups(view));
    }
    shown.push_str(&files::clean(view));
    shown + "</section>\n"
}

#[cfg(test)]
mod tests;
