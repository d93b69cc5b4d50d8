//! Draws the links of a picture and their labels, in the colors of their changes.

use super::canvas::{Arrow, Canvas, ChangeMark, Stub};
use super::component_drawing::{SOFT_INK, dash_attribute, line_and_fill_colors};
use super::layout::{Label, PixelPoint};
use sluicegate_base::text;
use std::fmt::Write as _;

/// Maximum radius of the corners of a link.
const MAX_CORNER_RADIUS: i32 = 6;

/// Draws a link as a line through the points of `wire`, in the color of its change and with an arrow head. Code that
/// examines the markup finds the ends, the kind and the change in `data-` attributes. Draws nothing if a box at an end
/// is missing.
pub(super) fn draw_link(svg: &mut String, canvas: &Canvas, arrow: &Arrow, wire: &[PixelPoint]) {
    let (Some(from_box), Some(to_box)) = (canvas.boxes.get(arrow.from_box), canvas.boxes.get(arrow.to_box))
    else {
        return;
    };
    let mark = canvas.shown_mark(arrow.mark);
    let mark_word = mark.name();
    let (line_color, _) = line_and_fill_colors(mark);
    let _ = write!(
        svg,
        "<path class=\"link sg-line sg-{mark_word}\" data-from=\"{}\" data-to=\"{}\" data-kind=\"{}\" data-change=\"{}\" \
             d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"{} marker-end=\"url(#sg-{mark_word})\"/>",
        text::escape_markup(&from_box.name),
        text::escape_markup(&to_box.name),
        text::escape_markup(&arrow.kind),
        arrow.mark.name(),
        format_rounded_path(wire),
        line_color,
        line_width(mark),
        dash_attribute(mark),
    );
}

/// Draws a stub as a dotted line through the points of `wire`. A stub represents the links between a box and boxes that
/// the picture does not show.
pub(super) fn draw_stub(svg: &mut String, canvas: &Canvas, stub: &Stub, wire: &[PixelPoint]) {
    let Some(canvas_box) = canvas.boxes.get(stub.canvas_box) else {
        return;
    };
    let end = if stub.is_outgoing { "from" } else { "to" };
    let (line_color, _) = line_and_fill_colors(ChangeMark::Unchanged);
    let _ = write!(
        svg,
        "<path class=\"stub sg-line\" data-{end}=\"{}\" data-count=\"{}\" d=\"{}\" fill=\"none\" stroke=\"{}\" \
             stroke-width=\"{}\" stroke-dasharray=\"2 3\"/>",
        text::escape_markup(&canvas_box.name),
        stub.count,
        format_rounded_path(wire),
        line_color,
        line_width(ChangeMark::Unchanged),
    );
}

/// Returns the width of a line in pixels; changed links are thicker.
const fn line_width(mark: ChangeMark) -> &'static str {
    match mark {
        ChangeMark::Unchanged => "1.4",
        _ => "2.6",
    }
}

/// Returns the SVG path of a line along these points. Rounds each corner as far as the line segments allow.
fn format_rounded_path(points: &[PixelPoint]) -> String {
    let Some((x, y)) = points.first() else {
        return String::new();
    };
    let mut path = format!("M{x} {y}");
    for window in points.windows(3) {
        let [previous, corner, next] = *window else {
            continue;
        };
        let radius = MAX_CORNER_RADIUS
            .min(segment_length(previous, corner) / 2)
            .min(segment_length(corner, next) / 2);
        let (start_x, start_y) = move_towards(corner, previous, radius);
        let (end_x, end_y) = move_towards(corner, next, radius);
        let (corner_x, corner_y) = corner;
        let _ = write!(path, "L{start_x} {start_y}Q{corner_x} {corner_y} {end_x} {end_y}");
    }
    if let Some((x, y)) = points.last().filter(|_| points.len() > 1) {
        let _ = write!(path, "L{x} {y}");
    }
    path
}

/// Returns the length of a horizontal or vertical line.
fn segment_length(start: PixelPoint, end: PixelPoint) -> i32 {
    let ((start_x, start_y), (end_x, end_y)) = (start, end);
    (start_x - end_x).abs() + (start_y - end_y).abs()
}

/// Returns the point at this distance from `start` on the horizontal or vertical line to `end`.
fn move_towards(start: PixelPoint, end: PixelPoint, step_length: i32) -> PixelPoint {
    let ((start_x, start_y), (end_x, end_y)) = (start, end);
    let step = |start: i32, end: i32| start + (end - start).signum() * step_length;
    (step(start_x, end_x), step(start_y, end_y))
}

/// Draws the label of a link or a stub, in the color of the link's change.
pub(super) fn draw_label(svg: &mut String, label: &Label, mark: ChangeMark) {
    let (line_color, _) = line_and_fill_colors(mark);
    let (fill, weight) = match mark {
        ChangeMark::Unchanged => (SOFT_INK, ""),
        _ => (line_color, " font-weight=\"600\""),
    };
    let (x, y) = label.position;
    let _ = write!(
        svg,
        "<text class=\"sg-text sg-{}\" x=\"{x}\" y=\"{y}\" fill=\"{fill}\"{weight}>{}</text>",
        mark.name(),
        text::escape_markup(&label.text)
    );
}
