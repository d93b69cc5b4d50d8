//! Renders a page that shows only changes; it has no script, as it has no filter.

use super::file_changes::render_file_changes;
use super::page_frame::{HtmlPage, render_page};
use crate::report::changes_markdown::{ChangesPage, MAX_LISTED_ITEMS, TitledList};
use sluicegate_base::text::{List, escape_markup as escape, format_count};
use sluicegate_pipelines::picture::PAGE_WIDTH;
use std::fmt::Write as _;

/// Number of changed files above which each is folded.
const MOST_OPEN: usize = 20;

/// Returns the changes as an HTML page.
pub(crate) fn render_changes_page(changes: &ChangesPage, tool_version: &str) -> String {
    let files = &changes.files;
    let title = match files.as_slice() {
        [] => "No pipeline changed".to_owned(),
        [one] => format!("Changes in {}", one.summary.path),
        several => format!("Changes in {}", format_count(several.len(), "pipeline")),
    };
    let layout_changes = files.iter().filter(|file| file.summary.is_layout_only());
    let layout_sentence = match layout_changes.count() {
        0 => String::new(),
        number => format!(" In {number} of them only the layout changed."),
    };
    let mut body = format!(
        "<header class=\"top neutral\">\n<p class=\"brand\">Pipeline comparison</p>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n</header>\n\
         <main class=\"findings\" id=\"changes\" tabindex=\"-1\">\n<h2 class=\"unseen\">Pipelines</h2>\n",
        escape(&title),
        escape(&format!("{}{layout_sentence}", changes.comparison))
    );
    body.extend(
        changes
            .consumers
            .as_ref()
            .map(|consumers| render_section(consumers.render_list(&escape))),
    );
    body.extend(
        changes
            .callers
            .as_ref()
            .map(|callers| render_section(callers.render_list(&escape))),
    );
    for (number, file) in files.iter().enumerate() {
        body.push_str(&render_file_changes(
            file,
            &format!("change-{number}"),
            PAGE_WIDTH,
            files.len() <= MOST_OPEN,
        ));
    }
    body.push_str("</main>\n");
    render_page(&HtmlPage {
        title: &title,
        skip_link: ("changes", "Skip to the changes"),
        body: &body,
        script: None,
        tool_version,
    })
}

fn render_section(list: TitledList) -> String {
    let mut html = format!("<h2>{}</h2>\n<ul>\n", escape(&list.title));
    for entry in List::with_limit(list.items, MAX_LISTED_ITEMS).entries() {
        let _ = writeln!(html, "<li>{entry}</li>");
    }
    html + "</ul>\n"
}
