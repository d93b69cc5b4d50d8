//! Renders a page that shows only changes; it has no script, as it has no filter.

use super::changes::one;
use super::document::{HtmlPage, document};
use crate::report::changes::{ChangesPage, MOST_LISTED};
use sluicegate_base::text::{List, count, markup as escape};
use sluicegate_pipelines::picture::PAGE_WIDTH;
use std::fmt::Write as _;

/// Number of changed files above which each is folded.
const MOST_OPEN: usize = 20;

/// Returns the changes as an HTML page.
pub(crate) fn render(changes: &ChangesPage, tool_version: &str) -> String {
    let ChangesPage { files, compared, .. } = changes;
    let title = match files.as_slice() {
        [] => "No pipeline changed".to_owned(),
        [one] => format!("Changes in {}", one.changed.path),
        several => format!("Changes in {}", count(several.len(), "pipeline")),
    };
    let layout = files.iter().filter(|file| file.changed.is_layout_only());
    let layout = match layout.count() {
        0 => String::new(),
        number => format!(" In {number} of them only the layout changed."),
    };
    let mut body = format!(
        "<header class=\"top neutral\">\n<p class=\"brand\">Pipeline comparison</p>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n</header>\n\
         <main class=\"findings\" id=\"changes\" tabindex=\"-1\">\n<h2 class=\"unseen\">Pipelines</h2>\n",
        escape(&title),
        escape(&format!("{compared}{layout}"))
    );
    body.extend(
        changes
            .consumers
            .as_ref()
            .map(|found| section(found.list(&escape))),
    );
    body.extend(changes.callers.as_ref().map(|found| section(found.list(&escape))));
    for (number, file) in files.iter().enumerate() {
        body.push_str(&one(
            file,
            &format!("change-{number}"),
            PAGE_WIDTH,
            files.len() <= MOST_OPEN,
        ));
    }
    body.push_str("</main>\n");
    document(&HtmlPage {
        title: &title,
        skip: ("changes", "Skip to the changes"),
        body: &body,
        script: None,
        tool_version,
    })
}

fn section((title, items): (String, Vec<String>)) -> String {
    let mut shown = format!("<h2>{}</h2>\n<ul>\n", escape(&title));
    for entry in List::with_limit(items, MOST_LISTED).entries() {
        let _ = writeln!(shown, "<li>{entry}</li>");
    }
    shown + "</ul>\n"
}
