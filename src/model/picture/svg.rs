//! The canvas as SVG: self-contained, no script, readable in light and dark.
//!
//! Colours are classes, so that a page with many pictures has the style once; every colour has a sign or a dash that says
//! the same.

use super::canvas::{Arrow, Box, Canvas, Mark};
use super::place::{HEIGHT, Point, WIDTH};
use crate::base::text;
use crate::model::findings::Severity;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthChar as _;

/// The colours and lines of pictures.
pub(crate) const STYLE: &str = include_str!("style.css");

/// Around the picture, in pixels.
const MARGIN: f64 = 24.0;

/// Columns of text that fit into a box, beside its signs.
const NAME_COLUMNS: usize = 19;
const KIND_COLUMNS: usize = 24;

/// The kinds of link that have a colour; others are drawn as the first.
const KINDS: [&str; 7] = [
    "unconditional",
    "success",
    "failure",
    "true",
    "false",
    "iteration",
    "source",
];

/// A picture that stands alone, as a file.
pub(crate) fn document(canvas: &Canvas, title: &str) -> String {
    let inside = format!("<style>{STYLE}</style>{}", markers());
    drawn(canvas, title, None, &inside)
}

/// A picture in a page that has [`STYLE`] and [`markers`] once. `id` is a name of its own in the page, of letters,
/// digits and `-`; a component has the id `ID-NUMBER`, its place in the list of boxes, and leads to its findings if
/// it has any.
pub(crate) fn fragment(canvas: &Canvas, title: &str, id: &str) -> String {
    drawn(canvas, title, Some(id), "")
}

/// The arrow heads, one of each colour.
pub(crate) fn markers() -> String {
    let mut defs = String::from("<defs>");
    for name in KINDS.iter().chain(&["gone", "new"]) {
        let _ = write!(
            defs,
            "<marker id=\"sg-{name}\" class=\"sg-head sg-{name}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto-start-reverse\"><path d=\"M0 0 8 4 0 8z\"/></marker>"
        );
    }
    defs.push_str("</defs>");
    defs
}

fn drawn(canvas: &Canvas, title: &str, id: Option<&str>, inside: &str) -> String {
    let (width, height) = size(canvas);
    // What is one image to a reader of screens hides the links in it.
    let role = if id.is_some() && canvas.boxes.iter().any(|drawn| drawn.badge.is_some()) {
        "group"
    } else {
        "img"
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sg-picture\" role=\"{role}\" viewBox=\"{:.0} {:.0} {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\"><title>{}</title><desc>{}</desc>{inside}",
        -MARGIN,
        -MARGIN,
        text::markup(title),
        text::markup(&description(canvas))
    );
    for arrow in &canvas.arrows {
        line(&mut svg, canvas, arrow);
    }
    for (at, drawn) in canvas.boxes.iter().enumerate() {
        component(&mut svg, drawn, id.map(|id| format!("{id}-{at}")).as_deref());
    }
    svg.push_str("</svg>");
    svg
}

fn size(canvas: &Canvas) -> (f64, f64) {
    let most = |pick: fn(&Point) -> f64| {
        canvas
            .boxes
            .iter()
            .map(|drawn| pick(&drawn.at))
            .fold(0.0, f64::max)
    };
    let (right, bottom) = (most(|at| at.x), most(|at| at.y));
    (right + WIDTH + 2.0 * MARGIN, bottom + HEIGHT + 2.0 * MARGIN)
}

/// The picture in words, for those who do not see it.
fn description(canvas: &Canvas) -> String {
    let mut said = format!(
        "{} components, {} links.",
        canvas.boxes.len(),
        canvas.arrows.len()
    );
    for mark in [Mark::Added, Mark::Removed, Mark::Changed] {
        let names: Vec<&str> = canvas
            .boxes
            .iter()
            .filter(|drawn| drawn.mark == mark)
            .map(|drawn| drawn.name.as_str())
            .collect();
        if !names.is_empty() {
            let more = names.len().saturating_sub(20);
            let shown = names.iter().take(20).copied().collect::<Vec<_>>().join(", ");
            let _ = write!(said, " {} {}: {shown}", names.len(), mark.word());
            if more > 0 {
                let _ = write!(said, " and {more} more");
            }
            said.push('.');
        }
    }
    said
}

fn line(svg: &mut String, canvas: &Canvas, arrow: &Arrow) {
    let (Some(from), Some(to)) = (canvas.boxes.get(arrow.from), canvas.boxes.get(arrow.to)) else {
        return;
    };
    let kind = KINDS
        .iter()
        .find(|kind| **kind == arrow.kind)
        .unwrap_or(&KINDS[0]);
    let head = match arrow.mark {
        Mark::Removed => "gone",
        Mark::Added => "new",
        Mark::Same | Mark::Changed => kind,
    };
    let _ = write!(
        svg,
        "<path class=\"sg-link sg-{kind} sg-{}\" d=\"{}\" marker-end=\"url(#sg-{head})\"/>",
        arrow.mark.word(),
        curve(from.at, to.at)
    );
}

/// From the right edge of one box to the left edge of the other; backwards and to itself, around below.
fn curve(from: Point, to: Point) -> String {
    let start = (from.x + WIDTH, from.y + HEIGHT / 2.0);
    let end = (to.x, to.y + HEIGHT / 2.0);
    if end.0 > start.0 - WIDTH / 2.0 {
        let bend = ((end.0 - start.0) / 2.0).max(24.0);
        return format!(
            "M{:.0} {:.0}C{:.0} {:.0} {:.0} {:.0} {:.0} {:.0}",
            start.0,
            start.1,
            start.0 + bend,
            start.1,
            end.0 - bend,
            end.1,
            end.0,
            end.1
        );
    }
    let below = from.y.max(to.y) + HEIGHT + 18.0;
    let (out, back) = (from.x + WIDTH / 2.0, to.x + WIDTH / 2.0);
    format!(
        "M{out:.0} {:.0}C{out:.0} {below:.0} {back:.0} {below:.0} {back:.0} {:.0}",
        from.y + HEIGHT,
        to.y + HEIGHT
    )
}

fn component(svg: &mut String, drawn: &Box, id: Option<&str>) {
    let id = id.map(|id| format!(" id=\"{id}\"")).unwrap_or_default();
    let link = drawn.badge.as_ref().filter(|_| !id.is_empty());
    if let Some(badge) = link {
        let _ = write!(svg, "<a href=\"#{}\">", text::markup(&badge.leads_to));
    }
    let kind = drawn.kind.as_deref().unwrap_or("no type");
    let _ = write!(
        svg,
        "<g{id} class=\"sg-box sg-{}\" transform=\"translate({:.0} {:.0})\"><title>{}</title>\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"7\"/>\
         <text x=\"12\" y=\"22\">{}</text><text class=\"sg-kind\" x=\"12\" y=\"40\">{}</text>",
        drawn.mark.word(),
        drawn.at.x,
        drawn.at.y,
        text::markup(&title(drawn, kind)),
        text::markup(&cut(&drawn.name, NAME_COLUMNS)),
        text::markup(&cut(kind, KIND_COLUMNS))
    );
    if drawn.mark != Mark::Same {
        let sign = drawn.mark.sign();
        let _ = write!(
            svg,
            "<text class=\"sg-sign\" x=\"{}\" y=\"23\">{sign}</text>",
            WIDTH - 20.0
        );
    }
    badge(svg, drawn);
    svg.push_str("</g>");
    if link.is_some() {
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

fn badge(svg: &mut String, drawn: &Box) {
    let Some(badge) = &drawn.badge else { return };
    let level = match badge.worst {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let _ = write!(
        svg,
        "<g class=\"sg-badge sg-{level}\"><circle cx=\"{WIDTH}\" cy=\"0\" r=\"12\"/><text x=\"{WIDTH}\" y=\"4\">{}</text></g>",
        badge.count.min(99)
    );
}

/// The text within so many columns; what is cut ends in `…`.
fn cut(name: &str, columns: usize) -> String {
    let line = text::line(name);
    let (mut used, mut shown) = (0, String::new());
    for c in line.chars() {
        used += c.width().unwrap_or(0);
        if used > columns {
            while shown.chars().count() >= columns {
                shown.pop();
            }
            shown.push('\u{2026}');
            return shown;
        }
        shown.push(c);
    }
    shown
}
