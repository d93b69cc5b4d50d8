//! Renders the list of changes to a file, with a fold for each part that has details.

use super::name_direction::escape_arrow_line;
use sluicegate_base::text::escape_markup as escape;
use sluicegate_pipelines::diff::{DiffLine, Sign};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Number of lines of details above which a part is folded, and number of lines in all unfolded parts of a file.
const MAX_OPEN_PART_LINES: usize = 24;
const MAX_OPEN_LINES: usize = 48;

/// The list of changes to a file.
#[derive(Clone, Copy)]
pub(super) struct ChangeFolds<'l> {
    pub path: &'l str,
    /// The prefix of the HTML ids of the lines.
    pub id: &'l str,
    pub lines: &'l [DiffLine],
}

impl<'l> ChangeFolds<'l> {
    /// Maps each component named in the list to the id of its details, or of its line if it has no details. Pictures
    /// link their components to these ids.
    pub(super) fn collect_line_ids(&self) -> HashMap<&'l str, String> {
        let named_lines = self.lines.iter().enumerate();
        named_lines
            .filter_map(|(line_index, line)| Some((line.component.as_deref()?, self.line_id(line_index))))
            .collect()
    }

    /// Returns the HTML id of a line. The index makes it unique on the page.
    fn line_id(&self, line_index: usize) -> String {
        format!("{}-word-{line_index}", self.id)
    }

    /// Renders the list of changes, with details in folds that are open while there is space for their lines.
    /// `component_ids` has the ids of components in a picture; their lines link to the picture.
    pub(super) fn render(&self, component_ids: &HashMap<String, String>) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let mut html = format!(
            "<ul class=\"told\" aria-label=\"Changes in {}\">",
            escape(self.path)
        );
        let (mut line_index, mut open_line_count) = (0, 0);
        // A part is a line of the first level with the deeper lines below it.
        for part in self.lines.chunk_by(|_, next| next.depth > 1) {
            let Some((line, details)) = part.split_first() else {
                continue;
            };
            let component_id = line.component.as_ref().and_then(|name| component_ids.get(name));
            // Only a component in a picture links back to the line.
            let line_id = component_id.map(|_| self.line_id(line_index));
            if details.is_empty() {
                html.push_str(&render_single_line(line, line_id, component_id));
            } else {
                let is_open =
                    details.len() <= MAX_OPEN_PART_LINES && open_line_count + details.len() <= MAX_OPEN_LINES;
                if is_open {
                    open_line_count += details.len();
                }
                html.push_str(&render_fold(line, details, is_open, line_id, component_id));
            }
            line_index += part.len();
        }
        html + "</ul>\n"
    }
}

/// Renders a line without details. If a picture shows the component of the line, the line links to `component_id` in
/// the picture, and `line_id` is the id for the link back.
fn render_single_line(line: &DiffLine, line_id: Option<String>, component_id: Option<&String>) -> String {
    let text = match component_id {
        Some(component_id) => format!(
            "{}<a class=\"there\" href=\"#{component_id}\">{}</a>",
            render_sign(line),
            escape_text(line)
        ),
        None => format!("{}{}", render_sign(line), escape_text(line)),
    };
    format!(
        "<li{} class=\"{}\">{text}</li>",
        id_attribute(line_id),
        css_classes(line)
    )
}

/// Renders a line with its details as a fold. `line_id` is the id of the details, so that a link to it opens the fold.
/// If a picture shows the component, the last item links to `component_id` in the picture.
fn render_fold(
    line: &DiffLine,
    details: &[DiffLine],
    is_open: bool,
    line_id: Option<String>,
    component_id: Option<&String>,
) -> String {
    let mut html = format!(
        "<li class=\"{}\"><details class=\"fold\"{}><summary>{}{}</summary><ul{}>",
        css_classes(line),
        if is_open { " open=\"\"" } else { "" },
        render_sign(line),
        escape_text(line),
        id_attribute(line_id),
    );
    for detail in details {
        let _ = write!(
            html,
            "<li class=\"{}\">{}{}</li>",
            css_classes(detail),
            render_sign(detail),
            escape_text(detail)
        );
    }
    if let Some(component_id) = component_id {
        let _ = write!(
            html,
            "<li class=\"in-2\"><a class=\"quiet\" href=\"#{component_id}\">Show in picture</a></li>"
        );
    }
    html + "</ul></details></li>"
}

/// Escapes the text of a line. A line of a value stays in one piece.
fn escape_text(line: &DiffLine) -> String {
    if line.is_value {
        escape(&line.text)
    } else {
        escape_arrow_line(&line.text)
    }
}

/// Returns the HTML attribute `id`, with a space before it; empty without an id.
fn id_attribute(id: Option<String>) -> String {
    id.map(|id| format!(" id=\"{id}\"")).unwrap_or_default()
}

/// Returns the CSS classes of a line: its indentation (at most four levels), its sign, and `value` for the font of a
/// value.
fn css_classes(line: &DiffLine) -> String {
    let value = if line.is_value { " value" } else { "" };
    format!("in-{} is-{}{value}", line.depth.min(4), line.sign.name())
}

/// Renders the sign of a line, such as `+`, which screen readers read as a word; empty without a sign.
fn render_sign(line: &DiffLine) -> String {
    match line.sign {
        Sign::None => String::new(),
        sign => format!(
            "<b aria-label=\"{}\" role=\"img\">{}</b> ",
            sign.name(),
            sign.symbol()
        ),
    }
}
