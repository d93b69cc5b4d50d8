//! A page about nothing but what changed: without a script, as there is nothing to filter.

use super::changes;
use super::document::{Page, document};
use crate::findings::FileChange;
use crate::report::ChangedFile;
use crate::text::count;
use crate::text::markup as escape;

/// Where more files changed, each is folded.
const MOST_OPEN: usize = 20;

/// The changed files as an HTML page. `compared` says what is compared, in a sentence.
pub fn render(files: &[ChangedFile], compared: &str, tool_version: &str) -> String {
    let title = match files {
        [] => "No pipeline differs".to_owned(),
        [one] => format!("What changed in {}", one.changed.path),
        several => format!("What changed in {}", count(several.len(), "pipeline")),
    };
    let layout = files
        .iter()
        .filter(|file| file.changed.change == FileChange::Layout);
    let layout = match layout.count() {
        0 => String::new(),
        number => format!(" In {number} of them only the layout changed."),
    };
    let mut body = format!(
        "<header class=\"top passed\">\n<p class=\"brand\">Pipelines, compared</p>\n<h1>{}</h1>\n<p class=\"lead\">{}</p>\n</header>\n\
         <main class=\"findings\" id=\"changes\" tabindex=\"-1\">\n<h2 class=\"unseen\">Pipelines</h2>\n",
        escape(&title),
        escape(&format!("{compared}{layout}"))
    );
    for (number, file) in files.iter().enumerate() {
        body.push_str(&changes::one(
            file,
            &format!("change-{number}"),
            files.len() <= MOST_OPEN,
        ));
    }
    body.push_str("</main>\n");
    document(&Page {
        title: &title,
        skip: ("changes", "Skip to the changes"),
        body: &body,
        script: None,
        tool_version,
    })
}
