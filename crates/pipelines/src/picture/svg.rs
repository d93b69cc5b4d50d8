//! Renders the canvas as SVG: self-contained, without scripts, readable in light and dark mode.
//!
//! Color shows only the change, and a sign or a dash has the same meaning. Colors are classes, so that a page with many
//! pictures contains the style once. Other code styles and tests the picture by its markup (`component`, `link` and
//! their `data-` attributes), so the markup must stay stable.

use super::canvas::{Arrow, Canvas, CanvasBox, ChangeMark};
use super::label;
use super::lanes::{BOX_HEIGHT, BOX_WIDTH};
use super::layout::{Label, Layout, PixelPoint, lay_out, lay_out_within};
use sluicegate_base::text::{self, List};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The colors and lines of pictures.
pub const STYLE: &str = include_str!("style.css");

/// The margin around the picture, in pixels.
const MARGIN: i32 = 16;

/// The width of a page of changes, in pixels; the part that is shown first fits into it.
pub const PAGE_WIDTH: i32 = 1216;

/// The available width beside the lists of a report, in pixels.
pub const COLUMN_WIDTH: i32 = 856;

/// The height of the legend, and the minimum width of a picture with a legend.
const LEGEND_HEIGHT: i32 = 22;
const MIN_LEGEND_WIDTH: i32 = 230;

/// Maximum radius of the corners of a link.
const MAX_CORNER_RADIUS: i32 = 6;

/// Minimum number of boxes that are shown first, regardless of the number of links.
const MIN_FIRST_BOXES: usize = 4;

/// Maximum number of names in the description.
const MAX_LISTED_NAMES: usize = 20;

/// A picture with computed positions.
pub struct Picture<'c> {
    canvas: Cow<'c, Canvas>,
    layout: Layout,
}

impl<'c> Picture<'c> {
    /// Creates the picture with its natural width.
    pub fn with_natural_width(canvas: &'c Canvas) -> Self {
        Self {
            layout: lay_out(canvas),
            canvas: Cow::Borrowed(canvas),
        }
    }

    /// Creates the picture with at most this width in pixels, as far as possible.
    pub fn with_max_width(canvas: &'c Canvas, max_width: i32) -> Self {
        Self {
            layout: lay_out_within(canvas, max_width - 2 * MARGIN),
            canvas: Cow::Borrowed(canvas),
        }
    }

    /// Creates a picture of the part of a canvas to look at first: as many boxes as fit the width, at most `max_boxes`.
    /// Also returns the number of omitted boxes.
    pub fn select_changed_part(canvas: &Canvas, max_boxes: usize, width: i32) -> (Picture<'static>, usize) {
        let mut box_limit = max_boxes;
        loop {
            let (part, omitted_count) = canvas.select_changed_part(box_limit);
            let layout = lay_out_within(&part, width - 2 * MARGIN);
            let picture = Picture {
                canvas: Cow::Owned(part),
                layout,
            };
            if box_limit <= MIN_FIRST_BOXES || picture.fits_width(width) {
                return (picture, omitted_count);
            }
            box_limit -= MIN_FIRST_BOXES;
        }
    }

    pub fn canvas(&self) -> &Canvas {
        &self.canvas
    }

    /// Returns whether the picture has at most this width.
    pub fn fits_width(&self, width: i32) -> bool {
        self.width() <= width
    }

    fn has_changes(&self) -> bool {
        let has_changed_box = self
            .canvas
            .boxes
            .iter()
            .any(|canvas_box| canvas_box.mark != ChangeMark::Unchanged);
        has_changed_box
            || self
                .canvas
                .arrows
                .iter()
                .any(|arrow| arrow.mark != ChangeMark::Unchanged)
    }

    fn width(&self) -> i32 {
        let min_width = if self.has_changes() { MIN_LEGEND_WIDTH } else { 0 };
        self.layout.width.max(min_width) + 2 * MARGIN
    }

    /// Returns the picture as a separate file.
    pub fn render_document(&self, title: &str) -> String {
        let definitions = format!("<style>{STYLE}</style>{}", render_markers());
        self.render(title, None, &definitions)
    }

    /// Returns the picture for a page that contains [`STYLE`] and [`render_markers`] once. `ids` returns the id of a
    /// component and of the element that it leads to.
    pub fn render_fragment(&self, title: &str, ids: &dyn Fn(usize) -> ElementIds) -> String {
        self.render(title, Some(ids), "")
    }

    fn render(&self, title: &str, ids: Option<&dyn Fn(usize) -> ElementIds>, definitions: &str) -> String {
        let legend_height = if self.has_changes() { LEGEND_HEIGHT } else { 0 };
        let (width, height) = (self.width(), self.layout.height + 2 * MARGIN + legend_height);
        // A picture with the role `img` hides its links from screen readers.
        let role = if ids.is_some() { "group" } else { "img" };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sg-picture\" role=\"{role}\" viewBox=\"{} {} {width} {height}\" \
             width=\"{width}\" height=\"{height}\"><title>{}</title><desc>{}</desc>{definitions}",
            -MARGIN,
            -MARGIN,
            text::escape_markup(title),
            text::escape_markup(&describe_canvas(&self.canvas))
        );
        self.draw_links(&mut svg);
        let names = label::display_names(&self.canvas);
        for (index, canvas_box) in self.canvas.boxes.iter().enumerate() {
            let ids = ids.map(|ids| ids(index)).unwrap_or_default();
            draw_component(
                &mut svg,
                canvas_box,
                self.layout.boxes[index],
                &names[index],
                &ids,
            );
        }
        if legend_height > 0 {
            let y = self.layout.height + legend_height;
            let _ = write!(
                svg,
                "<text class=\"sg-legend\" x=\"0\" y=\"{y}\">+ added   \u{2212} removed   ~ changed</text>"
            );
        }
        svg.push_str("</svg>");
        svg
    }

    /// Draws the changed links above the others, and their texts above all.
    fn draw_links(&self, svg: &mut String) {
        let (unchanged_arrows, changed_arrows): (Vec<_>, Vec<_>) = self
            .canvas
            .arrows
            .iter()
            .enumerate()
            .partition(|(_, arrow)| arrow.mark == ChangeMark::Unchanged);
        for (index, arrow) in unchanged_arrows.into_iter().chain(changed_arrows) {
            if let (Some(from_box), Some(to_box)) = (
                self.canvas.boxes.get(arrow.from_box),
                self.canvas.boxes.get(arrow.to_box),
            ) {
                draw_link(svg, arrow, from_box, to_box, &self.layout.wires[index]);
            }
        }
        for (label, arrow) in self.layout.labels.iter().zip(&self.canvas.arrows) {
            if let Some(label) = label {
                draw_label(svg, label, arrow.mark);
            }
        }
    }
}

/// The id of a component on its page, and the id of the element that it leads to.
#[derive(Debug, Clone, Default)]
pub struct ElementIds {
    pub component_id: Option<String>,
    pub target_id: Option<String>,
}

/// Returns the arrow heads, one for each color.
pub fn render_markers() -> String {
    let mut defs = String::from("<defs>");
    for mark in [ChangeMark::Unchanged, ChangeMark::Added, ChangeMark::Removed] {
        let name = mark.word();
        let _ = write!(
            defs,
            "<marker id=\"sg-{name}\" class=\"sg-head sg-{name}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" \
             markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker>"
        );
    }
    defs.push_str("</defs>");
    defs
}

/// Describes the picture as text, for people who do not see it.
fn describe_canvas(canvas: &Canvas) -> String {
    let mut description = format!(
        "{} components, {} links.",
        canvas.boxes.len(),
        canvas.arrows.len()
    );
    for mark in [ChangeMark::Added, ChangeMark::Removed, ChangeMark::Changed] {
        let names: Vec<&str> = canvas
            .boxes
            .iter()
            .filter(|canvas_box| canvas_box.mark == mark)
            .map(|canvas_box| canvas_box.name.as_str())
            .collect();
        if !names.is_empty() {
            let list = List::with_limit(&names, MAX_LISTED_NAMES);
            let _ = write!(description, " {} {}: {list}.", names.len(), mark.word());
        }
    }
    description
}

fn draw_link(svg: &mut String, arrow: &Arrow, from_box: &CanvasBox, to_box: &CanvasBox, wire: &[PixelPoint]) {
    let change = arrow.mark.word();
    let _ = write!(
        svg,
        "<path class=\"link sg-link sg-{change}\" data-from=\"{}\" data-to=\"{}\" data-kind=\"{}\" data-change=\"{change}\" d=\"{}\" \
         marker-end=\"url(#sg-{change})\"/>",
        text::escape_markup(&from_box.name),
        text::escape_markup(&to_box.name),
        text::escape_markup(&arrow.kind),
        rounded_path(wire)
    );
}

/// Returns a line along these corners, each rounded as far as the line segments allow.
fn rounded_path(points: &[PixelPoint]) -> String {
    let Some((x, y)) = points.first() else {
        return String::new();
    };
    let mut path = format!("M{x} {y}");
    for window in points.windows(3) {
        let [previous, corner, next] = *window else {
            continue;
        };
        let radius = MAX_CORNER_RADIUS
            .min(distance(previous, corner) / 2)
            .min(distance(corner, next) / 2);
        let start = move_towards(corner, previous, radius);
        let end = move_towards(corner, next, radius);
        let _ = write!(
            path,
            "L{} {}Q{} {} {} {}",
            start.0, start.1, corner.0, corner.1, end.0, end.1
        );
    }
    if let Some((x, y)) = points.last().filter(|_| points.len() > 1) {
        let _ = write!(path, "L{x} {y}");
    }
    path
}

fn distance(start: PixelPoint, end: PixelPoint) -> i32 {
    (start.0 - end.0).abs() + (start.1 - end.1).abs()
}

fn move_towards(start: PixelPoint, end: PixelPoint, step_length: i32) -> PixelPoint {
    let step = |start: i32, end: i32| start + (end - start).signum() * step_length;
    (step(start.0, end.0), step(start.1, end.1))
}

fn draw_label(svg: &mut String, label: &Label, mark: ChangeMark) {
    let anchor = if label.is_end { " text-anchor=\"end\"" } else { "" };
    let _ = write!(
        svg,
        "<text class=\"sg-word sg-{}\" x=\"{}\" y=\"{}\"{anchor}>{}</text>",
        mark.word(),
        label.position.0,
        label.position.1,
        text::escape_markup(&label.text)
    );
}

fn draw_component(
    svg: &mut String,
    canvas_box: &CanvasBox,
    corner: PixelPoint,
    name: &[String],
    ids: &ElementIds,
) {
    let (x, y) = corner;
    let id = ids
        .component_id
        .as_ref()
        .map(|id| format!(" id=\"{}\"", text::escape_markup(id)))
        .unwrap_or_default();
    if let Some(target) = &ids.target_id {
        let _ = write!(svg, "<a href=\"#{}\">", text::escape_markup(target));
    }
    let kind = canvas_box.kind.as_deref().unwrap_or("no type");
    let change = canvas_box.mark.word();
    let _ = write!(
        svg,
        "<g{id} class=\"component sg-box sg-{change}\" data-name=\"{}\" data-change=\"{change}\"><title>{}</title>\
         <rect x=\"{x}\" y=\"{y}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"7\"/>",
        text::escape_markup(&canvas_box.name),
        text::escape_markup(&describe_box(canvas_box, kind)),
    );
    let first = if name.len() > 1 { 19 } else { 26 };
    for (line, y_offset) in name.iter().zip([first, first + 15]) {
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            x + 12,
            y + y_offset,
            text::escape_markup(line)
        );
    }
    let y_offset = if name.len() > 1 { 51 } else { 45 };
    let _ = write!(
        svg,
        "<text class=\"sg-kind\" x=\"{}\" y=\"{}\">{}</text>",
        x + 12,
        y + y_offset,
        text::escape_markup(&label::truncate_kind(kind))
    );
    if canvas_box.mark != ChangeMark::Unchanged {
        let sign = canvas_box.mark.sign();
        let _ = write!(
            svg,
            "<text class=\"sg-sign\" x=\"{}\" y=\"{}\">{sign}</text>",
            x + BOX_WIDTH - 11,
            y + 19
        );
    }
    if let Some(badge) = &canvas_box.badge {
        let _ = write!(
            svg,
            "<g class=\"sg-badge\"><circle cx=\"{}\" cy=\"{}\" r=\"9\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
            x + BOX_WIDTH - 14,
            y + BOX_HEIGHT - 14,
            x + BOX_WIDTH - 14,
            y + BOX_HEIGHT - 10,
            badge.count.min(99)
        );
    }
    svg.push_str("</g>");
    if ids.target_id.is_some() {
        svg.push_str("</a>");
    }
}

fn describe_box(canvas_box: &CanvasBox, kind: &str) -> String {
    let mut description = format!("{} ({kind})", canvas_box.name);
    if canvas_box.mark != ChangeMark::Unchanged {
        let _ = write!(description, ", {}", canvas_box.mark.word());
    }
    if let Some(old) = &canvas_box.previous_name {
        let _ = write!(description, ", was {old}");
    }
    if let Some(badge) = &canvas_box.badge {
        let _ = write!(description, ", findings: {}", badge.count);
    }
    description
}
