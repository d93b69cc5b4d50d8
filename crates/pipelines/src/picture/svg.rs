//! Renders the canvas as SVG: self-contained, without scripts, readable in light and dark mode.
//!
//! Color shows only the change, and a sign or a dash has the same meaning. Colors are classes, so that a page with many
//! pictures contains the style once. Other code styles and tests the picture by its markup (`component`, `link` and
//! their `data-` attributes), so the markup must stay stable.

use super::canvas::{Arrow, Box, Canvas, Mark};
use super::label;
use super::lanes::{HEIGHT, WIDTH};
use super::layout::{Label, Layout, StackPlace, fitting, whole};
use sluicegate_base::text::{self, List};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The colors and lines of pictures.
pub const STYLE: &str = include_str!("style.css");

/// The margin around the picture, in pixels.
const MARGIN: i32 = 16;

/// The width of a page of changes, in pixels; the part that is shown first fits into it.
pub const PAGE: i32 = 1216;

/// The available width beside the lists of a report, in pixels.
pub const COLUMN: i32 = 856;

/// The height of the legend, and the minimum width of a picture with a legend.
const LEGEND: i32 = 22;
const LEGEND_WIDTH: i32 = 230;

/// Maximum radius of the corners of a link.
const ROUND: i32 = 6;

/// Minimum number of boxes that are shown first, regardless of the number of links.
const LEAST_FIRST: usize = 4;

/// Maximum number of names in the description.
const NAMED: usize = 20;

/// A picture with computed positions.
pub struct Picture<'c> {
    canvas: Cow<'c, Canvas>,
    layout: Layout,
}

impl<'c> Picture<'c> {
    /// Creates the picture with its natural width.
    pub fn whole(canvas: &'c Canvas) -> Self {
        Self {
            layout: whole(canvas),
            canvas: Cow::Borrowed(canvas),
        }
    }

    /// Creates the picture with at most this width in pixels, as far as possible.
    pub fn fitting(canvas: &'c Canvas, most: i32) -> Self {
        Self {
            layout: fitting(canvas, most - 2 * MARGIN),
            canvas: Cow::Borrowed(canvas),
        }
    }

    /// Creates a picture of the part of a canvas to look at first: as many boxes as fit the width, at most `most`. Also
    /// returns the number of omitted boxes.
    pub fn first_part(canvas: &Canvas, most: usize, width: i32) -> (Picture<'static>, usize) {
        let mut room = most;
        loop {
            let (part, left_out) = canvas.changed_part(room);
            let layout = fitting(&part, width - 2 * MARGIN);
            let picture = Picture {
                canvas: Cow::Owned(part),
                layout,
            };
            if room <= LEAST_FIRST || picture.fits(width) {
                return (picture, left_out);
            }
            room -= LEAST_FIRST;
        }
    }

    pub fn canvas(&self) -> &Canvas {
        &self.canvas
    }

    /// Returns whether the picture has at most this width.
    pub fn fits(&self, width: i32) -> bool {
        self.width() <= width
    }

    fn has_changes(&self) -> bool {
        let boxes = self.canvas.boxes.iter().any(|drawn| drawn.mark != Mark::Same);
        boxes || self.canvas.arrows.iter().any(|arrow| arrow.mark != Mark::Same)
    }

    fn width(&self) -> i32 {
        let least = if self.has_changes() { LEGEND_WIDTH } else { 0 };
        self.layout.width.max(least) + 2 * MARGIN
    }

    /// Returns the picture as a separate file.
    pub fn document(&self, title: &str) -> String {
        let inside = format!("<style>{STYLE}</style>{}", markers());
        self.drawn(title, None, &inside)
    }

    /// Returns the picture for a page that contains [`STYLE`] and [`markers`] once. `ids` returns the id of a component
    /// and of the element that it leads to.
    pub fn fragment(&self, title: &str, ids: &dyn Fn(usize) -> Ids) -> String {
        self.drawn(title, Some(ids), "")
    }

    fn drawn(&self, title: &str, ids: Option<&dyn Fn(usize) -> Ids>, inside: &str) -> String {
        let legend = if self.has_changes() { LEGEND } else { 0 };
        let (width, height) = (self.width(), self.layout.height + 2 * MARGIN + legend);
        // A picture with the role `img` hides its links from screen readers.
        let role = if ids.is_some() { "group" } else { "img" };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sg-picture\" role=\"{role}\" viewBox=\"{} {} {width} {height}\" \
             width=\"{width}\" height=\"{height}\"><title>{}</title><desc>{}</desc>{inside}",
            -MARGIN,
            -MARGIN,
            text::escape_markup(title),
            text::escape_markup(&description(&self.canvas))
        );
        self.links(&mut svg);
        let names = label::names(&self.canvas);
        for (at, drawn) in self.canvas.boxes.iter().enumerate() {
            let ids = ids.map(|ids| ids(at)).unwrap_or_default();
            component(&mut svg, drawn, self.layout.boxes[at], &names[at], &ids);
        }
        if legend > 0 {
            let y = self.layout.height + legend;
            let _ = write!(
                svg,
                "<text class=\"sg-legend\" x=\"0\" y=\"{y}\">+ added   \u{2212} removed   ~ changed</text>"
            );
        }
        svg.push_str("</svg>");
        svg
    }

    /// Draws the changed links above the others, and their texts above all.
    fn links(&self, svg: &mut String) {
        let arrows = || self.canvas.arrows.iter().enumerate();
        let same = arrows().filter(|(_, arrow)| arrow.mark == Mark::Same);
        let changed = arrows().filter(|(_, arrow)| arrow.mark != Mark::Same);
        for (at, arrow) in same.chain(changed) {
            if let (Some(from), Some(to)) =
                (self.canvas.boxes.get(arrow.from), self.canvas.boxes.get(arrow.to))
            {
                link(svg, arrow, (from, to), &self.layout.wires[at]);
            }
        }
        for (label, arrow) in self.layout.labels.iter().zip(&self.canvas.arrows) {
            if let Some(label) = label {
                word(svg, label, arrow.mark);
            }
        }
    }
}

/// The id of a component on its page, and the id of the element that it leads to.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    pub own: Option<String>,
    pub leads_to: Option<String>,
}

/// Returns the arrow heads, one for each color.
pub fn markers() -> String {
    let mut defs = String::from("<defs>");
    for mark in [Mark::Same, Mark::Added, Mark::Removed] {
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
fn description(canvas: &Canvas) -> String {
    let mut said = format!(
        "{} components, {} links.",
        canvas.boxes.len(),
        canvas.arrows.len()
    );
    for mark in [Mark::Added, Mark::Removed, Mark::Changed] {
        let marked = canvas.boxes.iter().filter(|drawn| drawn.mark == mark);
        let names: Vec<&str> = marked.map(|drawn| drawn.name.as_str()).collect();
        if !names.is_empty() {
            let list = List::with_limit(&names, NAMED);
            let _ = write!(said, " {} {}: {list}.", names.len(), mark.word());
        }
    }
    said
}

fn link(svg: &mut String, arrow: &Arrow, (from, to): (&Box, &Box), wire: &[StackPlace]) {
    let change = arrow.mark.word();
    let _ = write!(
        svg,
        "<path class=\"link sg-link sg-{change}\" data-from=\"{}\" data-to=\"{}\" data-kind=\"{}\" data-change=\"{change}\" d=\"{}\" \
         marker-end=\"url(#sg-{change})\"/>",
        text::escape_markup(&from.name),
        text::escape_markup(&to.name),
        text::escape_markup(&arrow.kind),
        rounded(wire)
    );
}

/// Returns a line along these corners, each rounded as far as the line segments allow.
fn rounded(points: &[StackPlace]) -> String {
    let Some((x, y)) = points.first() else {
        return String::new();
    };
    let mut path = format!("M{x} {y}");
    for corner in points.windows(3) {
        let [before, at, after] = *corner else { continue };
        let radius = ROUND.min(length(before, at) / 2).min(length(at, after) / 2);
        let (start, end) = (towards(at, before, radius), towards(at, after, radius));
        let _ = write!(
            path,
            "L{} {}Q{} {} {} {}",
            start.0, start.1, at.0, at.1, end.0, end.1
        );
    }
    if let Some((x, y)) = points.last().filter(|_| points.len() > 1) {
        let _ = write!(path, "L{x} {y}");
    }
    path
}

fn length(one: StackPlace, other: StackPlace) -> i32 {
    (one.0 - other.0).abs() + (one.1 - other.1).abs()
}

fn towards(from: StackPlace, to: StackPlace, by: i32) -> StackPlace {
    let step = |from: i32, to: i32| from + (to - from).signum() * by;
    (step(from.0, to.0), step(from.1, to.1))
}

fn word(svg: &mut String, label: &Label, mark: Mark) {
    let anchor = if label.is_end { " text-anchor=\"end\"" } else { "" };
    let _ = write!(
        svg,
        "<text class=\"sg-word sg-{}\" x=\"{}\" y=\"{}\"{anchor}>{}</text>",
        mark.word(),
        label.at.0,
        label.at.1,
        text::escape_markup(&label.text)
    );
}

fn component(svg: &mut String, drawn: &Box, (x, y): StackPlace, name: &[String], ids: &Ids) {
    let id = ids
        .own
        .as_ref()
        .map(|id| format!(" id=\"{}\"", text::escape_markup(id)))
        .unwrap_or_default();
    if let Some(target) = &ids.leads_to {
        let _ = write!(svg, "<a href=\"#{}\">", text::escape_markup(target));
    }
    let kind = drawn.kind.as_deref().unwrap_or("no type");
    let change = drawn.mark.word();
    let _ = write!(
        svg,
        "<g{id} class=\"component sg-box sg-{change}\" data-name=\"{}\" data-change=\"{change}\"><title>{}</title>\
         <rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"7\"/>",
        text::escape_markup(&drawn.name),
        text::escape_markup(&title(drawn, kind)),
    );
    let first = if name.len() > 1 { 19 } else { 26 };
    for (line, down) in name.iter().zip([first, first + 15]) {
        let _ = write!(
            svg,
            "<text x=\"{}\" y=\"{}\">{}</text>",
            x + 12,
            y + down,
            text::escape_markup(line)
        );
    }
    let down = if name.len() > 1 { 51 } else { 45 };
    let _ = write!(
        svg,
        "<text class=\"sg-kind\" x=\"{}\" y=\"{}\">{}</text>",
        x + 12,
        y + down,
        text::escape_markup(&label::kind(kind))
    );
    if drawn.mark != Mark::Same {
        let sign = drawn.mark.sign();
        let _ = write!(
            svg,
            "<text class=\"sg-sign\" x=\"{}\" y=\"{}\">{sign}</text>",
            x + WIDTH - 11,
            y + 19
        );
    }
    if let Some(badge) = &drawn.badge {
        let _ = write!(
            svg,
            "<g class=\"sg-badge\"><circle cx=\"{}\" cy=\"{}\" r=\"9\"/><text x=\"{}\" y=\"{}\">{}</text></g>",
            x + WIDTH - 14,
            y + HEIGHT - 14,
            x + WIDTH - 14,
            y + HEIGHT - 10,
            badge.count.min(99)
        );
    }
    svg.push_str("</g>");
    if ids.leads_to.is_some() {
        svg.push_str("</a>");
    }
}

fn title(drawn: &Box, kind: &str) -> String {
    let mut said = format!("{} ({kind})", drawn.name);
    if drawn.mark != Mark::Same {
        let _ = write!(said, ", {}", drawn.mark.word());
    }
    if let Some(old) = &drawn.previous_name {
        let _ = write!(said, ", was {old}");
    }
    if let Some(badge) = &drawn.badge {
        let _ = write!(said, ", findings: {}", badge.count);
    }
    said
}
