//! Renders a page that shows only changes. The page has no filter and therefore no script.

use super::elements::render_inline_code;
use super::file_changes::render_file_changes;
use super::name_direction::escape_path;
use super::page_frame::{HtmlPage, render_page};
use crate::changes_markdown::{ChangesPage, MAX_LISTED_ITEMS, TitledList};
use sluicegate_base::text::{List, escape_markup as escape, format_count};
use std::fmt::Write as _;

/// Number of unfolded files.
const MAX_OPEN_FILES: usize = 20;

/// Renders a comparison of pipelines as an HTML page: the consumers and callers that the changes affect, then a card
/// for each changed file. Only the first cards are open.
pub fn render_changes_page(changes: &ChangesPage, tool_version: &str) -> String {
    let files = &changes.files;
    let title = match files.as_slice() {
        [] => "No pipeline changed".to_owned(),
        [file] => format!("Changes in {}", file.summary.path),
        several => format!("Changes in {}", format_count(several.len(), "pipeline")),
    };
    // The heading shows only the name of a single file, because its card below shows the complete path.
    let heading = match files.as_slice() {
        [file] => {
            let path = &file.summary.path;
            let name = path.rsplit('/').next().unwrap_or(path);
            format!("Changes in <span class=\"name\">{}</span>", escape_path(name))
        }
        _ => escape(&title),
    };
    let layout_changes = files.iter().filter(|file| file.summary.is_layout_only());
    // For a single file, its card says this.
    let layout_sentence = match (files.len(), layout_changes.count()) {
        (_, 0) | (1, _) => String::new(),
        (_, number) => format!(" In {number} of the pipelines, only the layout changed."),
    };
    let mut body = format!(
        "<header class=\"top neutral\">\n<p class=\"brand\">Pipeline comparison</p>\n<h1>{heading}</h1>\n<p class=\"lead\">{}</p>\n</header>\n\
         <main class=\"findings\" id=\"changes\" tabindex=\"-1\">\n<h2 class=\"unseen\">Pipelines</h2>\n",
        render_inline_code(&format!("{}{layout_sentence}", changes.comparison))
    );
    if let Some(consumers) = &changes.consumers {
        body.push_str(&render_section(consumers.to_titled_list(&escape_path)));
    }
    if let Some(callers) = &changes.callers {
        body.push_str(&render_section(callers.to_titled_list(&escape_path)));
    }
    for (file_index, file) in files.iter().enumerate() {
        body.push_str(&render_file_changes(
            file,
            &format!("change-{file_index}"),
            file_index < MAX_OPEN_FILES,
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

/// Renders a section with a list, whose items are already escaped. If it has more than [`MAX_LISTED_ITEMS`] items, the
/// last one counts the rest.
fn render_section(list: TitledList) -> String {
    let mut html = format!("<h2>{}</h2>\n<ul>\n", escape(&list.title));
    for entry in List::with_limit(list.items, MAX_LISTED_ITEMS).entries() {
        let _ = writeln!(html, "<li>{entry}</li>");
    }
    html + "</ul>\n"
}
