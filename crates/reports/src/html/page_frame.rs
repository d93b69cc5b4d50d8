//! Renders the frame of every page: head, content security policy, and style.

use super::component_figures::render_arrow_heads;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use sluicegate_base::text::escape_markup as escape;
use sluicegate_pipelines::picture;
use std::fmt::Write as _;

const STYLE: [&str; 7] = [
    include_str!("style/base.css"),
    include_str!("style/top.css"),
    include_str!("style/findings.css"),
    include_str!("style/changes.css"),
    picture::STYLE,
    include_str!("style/narrow.css"),
    include_str!("style/print.css"),
];

pub(super) struct HtmlPage<'p> {
    pub title: &'p str,
    /// The id of the main content, and the text of the link to it.
    pub skip_link: (&'static str, &'static str),
    pub body: &'p str,
    /// The script; `None` if the page does not need one.
    pub script: Option<&'static str>,
    pub tool_version: &'p str,
}

/// Renders a complete HTML page around its body: head, security policy, style sheet, footer and script. If the body has
/// pictures, adds the arrow heads to which they refer.
pub(super) fn render_page(page: &HtmlPage<'_>) -> String {
    let style = build_style_sheet();
    let (skip_id, skip_text) = page.skip_link;
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n<meta name=\"referrer\" content=\"no-referrer\"/>\n\
         <title>{}</title>\n<style>{style}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#{skip_id}\">{skip_text}</a>\n<div class=\"page\">\n",
        content_security_policy(&style, page.script),
        escape(page.title),
    );
    if page.body.contains("class=\"sg-picture\"") {
        html.push_str(&render_arrow_heads());
    }
    html.push_str(page.body);
    let _ = write!(
        html,
        "<footer><p>sluicegate {}</p></footer>\n</div>\n",
        escape(page.tool_version)
    );
    if let Some(script) = page.script {
        let _ = writeln!(html, "<script type=\"module\">{script}</script>");
    }
    html + "</body>\n</html>\n"
}

/// Returns the style sheet of all pages.
pub(super) fn build_style_sheet() -> String {
    STYLE.concat()
}

/// Returns the content security policy, which allows only this style sheet and this script, by their hashes
/// (<https://www.w3.org/TR/CSP3/#framework-directive-source-list>).
fn content_security_policy(style: &str, script: Option<&str>) -> String {
    let hash_source = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())));
    let script = script.map_or_else(|| "'none'".to_owned(), hash_source);
    format!(
        "default-src 'none'; style-src {}; script-src {script}; base-uri 'none'; form-action 'none'",
        hash_source(style),
    )
}
