//! Draws a component of a picture, in the colors of its change.

use super::canvas::{CanvasBox, ChangeMark, MISSING_NOTE};
use super::channels::LINE_HEIGHT;
use super::label::BoxText;
use super::layout::{BoxFrame, PixelPoint};
use crate::diff::format_renamed_names;
use sluicegate_base::text;
use std::fmt::Write as _;

/// The colors of texts in light mode.
pub(super) const INK: &str = "#1f2328";
pub(super) const SOFT_INK: &str = "#59636e";

/// Returns the color of lines and signs, and the fill color of a box, for a change in light mode.
pub(super) const fn line_and_fill_colors(mark: ChangeMark) -> (&'static str, &'static str) {
    match mark {
        ChangeMark::Unchanged => ("#57606a", "#ffffff"),
        ChangeMark::Added => ("#1a7f37", "#e6f6ea"),
        ChangeMark::Removed => ("#cf222e", "#fdeceb"),
        ChangeMark::Changed => ("#9a6700", "#fff5d6"),
    }
}

/// The attribute that draws a line dashed.
const DASHES: &str = " stroke-dasharray=\"6 4\"";

/// Returns the attribute that draws the lines of removed items dashed; empty for all other items.
pub(super) const fn dash_attribute(mark: ChangeMark) -> &'static str {
    match mark {
        ChangeMark::Removed => DASHES,
        _ => "",
    }
}

/// The ids that connect a component in the picture with other elements of its page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElementIds {
    /// The id of the component's own element.
    pub component_id: Option<String>,
    /// The id of the element that the component links to.
    pub target_id: Option<String>,
}

/// A component with its position in the picture and its texts.
pub(super) struct ComponentDrawing<'p> {
    pub canvas_box: &'p CanvasBox,
    pub text: &'p BoxText,
    pub frame: BoxFrame,
    pub ids: ElementIds,
    /// The change that the colors show, which is none in a new or removed pipeline.
    pub color_mark: ChangeMark,
}

impl ComponentDrawing<'_> {
    /// Adds the component to the picture `svg`: its box with its texts, the sign of its change and the number of its
    /// findings. The complete box is a link if `ids` contains a target. In a new or removed pipeline, no box has the
    /// color of its change, but the attribute `data-change` still names the change.
    pub(super) fn draw(&self, svg: &mut String) {
        let id = self
            .ids
            .component_id
            .as_ref()
            .map(|id| format!(" id=\"{}\"", text::escape_markup(id)))
            .unwrap_or_default();
        if let Some(target) = &self.ids.target_id {
            let _ = write!(svg, "<a href=\"#{}\">", text::escape_markup(target));
        }
        let (line_color, fill) = line_and_fill_colors(self.color_mark);
        let BoxFrame {
            left,
            top,
            width,
            height,
        } = self.frame;
        let line_width = if self.color_mark == ChangeMark::Unchanged {
            "1.2"
        } else {
            "2"
        };
        let _ = write!(
            svg,
            "<g{id} class=\"component sg-{}\" data-name=\"{}\" data-change=\"{}\"><title>{}</title>\
             <rect class=\"sg-frame\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" rx=\"6\" fill=\"{fill}\" \
             stroke=\"{line_color}\" stroke-width=\"{line_width}\"{}/>",
            self.color_mark.name(),
            text::escape_markup(&self.canvas_box.name),
            self.canvas_box.mark.name(),
            text::escape_markup(&self.describe()),
            if self.canvas_box.is_missing {
                DASHES
            } else {
                dash_attribute(self.color_mark)
            },
        );
        self.draw_text_lines(svg);
        if self.color_mark != ChangeMark::Unchanged {
            draw_dot(svg, "sg-dot", (left, top), line_color, self.color_mark.sign());
        }
        if let Some(badge) = &self.canvas_box.badge {
            // A larger number does not fit into the dot.
            let count = badge.count.min(99).to_string();
            draw_dot(svg, "sg-badge", (left + width, top), SOFT_INK, &count);
        }
        svg.push_str("</g>");
        if self.ids.target_id.is_some() {
            svg.push_str("</a>");
        }
    }

    /// Draws the lines of the name and the note, centered in the box.
    fn draw_text_lines(&self, svg: &mut String) {
        let center = self.frame.left + self.frame.width / 2;
        let line_count = i32::try_from(self.text.line_count()).unwrap_or(1);
        // The baseline is 11 pixels below the top of a line.
        let mut y = self.frame.top + (self.frame.height - line_count * LINE_HEIGHT) / 2 + 11;
        let lines = self.text.name.iter().map(|line| (line, "sg-name", INK));
        let notes = self.text.note.iter().map(|note| (note, "sg-text", SOFT_INK));
        for (line, class, color) in lines.chain(notes) {
            let _ = write!(
                svg,
                "<text class=\"{class}\" x=\"{center}\" y=\"{y}\" text-anchor=\"middle\" fill=\"{color}\">{}</text>",
                text::escape_markup(line)
            );
            y += LINE_HEIGHT;
        }
    }

    /// Returns the tooltip of the component, which screen readers also use: name, type, change, previous name and
    /// number of findings.
    fn describe(&self) -> String {
        let canvas_box = self.canvas_box;
        let kind = match &canvas_box.kind {
            None if canvas_box.is_missing => MISSING_NOTE,
            kind => kind.as_deref().unwrap_or("no type"),
        };
        let names = canvas_box
            .previous_name
            .as_ref()
            .map(|previous_name| format_renamed_names(&canvas_box.name, previous_name));
        let name = names.as_ref().map_or(&canvas_box.name, |(name, _)| name);
        let mut description = format!("{name} ({kind})");
        if canvas_box.mark != ChangeMark::Unchanged {
            let _ = write!(description, ", {}", canvas_box.mark.name());
        }
        if let Some((_, previous_name)) = &names {
            let _ = write!(description, ", was {previous_name}");
        }
        if let Some(badge) = &canvas_box.badge {
            let _ = write!(description, ", findings: {}", badge.count);
        }
        description
    }
}

/// Draws a filled circle with `content`, a sign or a number, at a corner of a box.
fn draw_dot(svg: &mut String, class: &str, center: PixelPoint, fill: &str, content: &str) {
    let (x, y) = center;
    // The baseline that makes the content appear vertically centered.
    let baseline = y + 4;
    let _ = write!(
        svg,
        "<g><circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"8\" fill=\"{fill}\"/><text class=\"sg-dot-text\" x=\"{x}\" y=\"{baseline}\" \
         text-anchor=\"middle\" font-weight=\"700\" fill=\"#ffffff\">{content}</text></g>"
    );
}
