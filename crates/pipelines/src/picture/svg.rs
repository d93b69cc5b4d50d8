//! Renders the canvas as SVG: self-contained, without scripts, readable in light and dark mode.
//!
//! Color shows only changes, and signs and dashed lines show the same changes without color. Sizes and the colors of
//! light mode are attributes, so that the picture is right without its style sheet. Other code styles and tests the
//! picture by its markup (`component`, `link`, `stub` and their `data-` attributes), so the markup must stay stable.

use super::canvas::{Canvas, ChangeMark, PipelineState};
use super::component_drawing::{ComponentDrawing, ElementIds, INK, dash_attribute, line_and_fill_colors};
use super::label::{self, FONT_SIZE};
use super::layout::{Layout, lay_out_canvas, lay_out_within_width};
use super::link_drawing::{draw_label, draw_link, draw_stub};
use sluicegate_base::text::{self, List};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The style of pictures in dark mode; light mode needs none.
pub const STYLE: &str = include_str!("style.css");

/// The margin around the picture, in pixels.
pub(super) const MARGIN: i32 = 12;

/// The width of a page of changes, in pixels; the part that is shown first fits into it.
pub const PAGE_WIDTH: i32 = 1216;

/// The available width next to the lists of a report, in pixels.
pub const COLUMN_WIDTH: i32 = 856;

/// The height of the legend above the picture, in pixels.
const LEGEND_HEIGHT: i32 = 30;

/// The width that an entry of the legend has in addition to its text, in pixels.
const LEGEND_PADDING: i32 = 18;

/// The distance between two entries of the legend, in pixels.
const LEGEND_GAP: i32 = 10;

/// The height of a heading above one of two pictures.
const HEADING_HEIGHT: i32 = 24;

/// Maximum number of names in the description.
const MAX_LISTED_NAMES: usize = 20;

pub(super) const FONT_FAMILY: &str = "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif";

/// A picture with computed positions.
pub struct Picture<'c> {
    canvas: Cow<'c, Canvas>,
    layout: Layout,
}

/// The properties that a page gives to one of its pictures.
pub struct PictureFrame<'f> {
    /// The prefix of the ids of title and description.
    pub id: &'f str,
    pub title: &'f str,
    /// Maximum width of the picture in the page, in pixels. A wider picture is scaled down.
    pub max_width: Option<i32>,
    /// The id of the element that a click outside the components leads to.
    pub background_target: Option<&'f str>,
    /// Returns the ids of a component.
    pub element_ids: &'f dyn Fn(usize) -> ElementIds,
}

impl<'c> Picture<'c> {
    /// Computes the layout of a picture without limiting its width.
    pub fn with_natural_width(canvas: &'c Canvas) -> Self {
        Self {
            layout: lay_out_canvas(canvas),
            canvas: Cow::Borrowed(canvas),
        }
    }

    /// Computes the layout of a picture with at most this width in pixels, if possible. A picture that is too wide
    /// continues below, like wrapped text.
    pub fn with_max_width(canvas: Canvas, max_width: i32) -> Picture<'static> {
        Picture {
            layout: lay_out_within_width(&canvas, max_width - 2 * MARGIN),
            canvas: Cow::Owned(canvas),
        }
    }

    pub fn canvas(&self) -> &Canvas {
        &self.canvas
    }

    /// Returns whether the picture is legible at this width in pixels, to which it may be scaled down by up to 10
    /// percent.
    pub fn fits_width(&self, width: i32) -> bool {
        9 * self.width() <= 10 * width
    }

    /// Returns whether the picture has a legend, which explains the marks of changes.
    fn has_legend(&self) -> bool {
        self.canvas.has_changes()
    }

    /// Returns the width with the margins, in pixels. The legend may be wider than the drawing.
    pub(super) fn width(&self) -> i32 {
        let min_width = if self.has_legend() {
            let (_, legend_width) = self.render_legend();
            legend_width
        } else {
            0
        };
        self.layout.width.max(min_width) + 2 * MARGIN
    }

    /// Returns the height with the margins and the legend, in pixels.
    fn height(&self) -> i32 {
        self.layout.height + MARGIN + self.header_height()
    }

    /// Renders the picture as a separate file, with its style and arrow heads.
    pub(super) fn render_document(&self, title: &str) -> String {
        self.render(&file_frame("sg", title), "img", &render_definitions())
    }

    /// Renders the picture for a page that contains [`STYLE`] and the arrow heads from [`render_markers`] once.
    pub fn render_fragment(&self, frame: &PictureFrame<'_>) -> String {
        // A picture with the role `img` hides its links from screen readers.
        let role = "group";
        let definitions = "";
        self.render(frame, role, definitions)
    }

    /// Renders a copy of the picture that is scaled down to the maximum width of the frame. To keep the page small, it
    /// refers to the drawing of the picture with the id `original_id` in the same page.
    pub fn render_overview(&self, frame: &PictureFrame<'_>, original_id: &str) -> String {
        let mut svg = self.format_svg_start(frame, "group");
        self.draw_background(&mut svg, frame);
        let _ = write!(
            svg,
            "<use href=\"#{}-drawing\"/></svg>",
            text::escape_markup(original_id)
        );
        svg
    }

    /// Renders the picture. `role` is its ARIA role. `definitions` contains the style and the arrow heads; it is empty
    /// if the page contains them.
    fn render(&self, frame: &PictureFrame<'_>, role: &str, definitions: &str) -> String {
        let mut svg = self.format_svg_start(frame, role);
        svg.push_str(definitions);
        self.draw_background(&mut svg, frame);
        let _ = write!(svg, "<g id=\"{}-drawing\">", text::escape_markup(frame.id));
        if self.has_legend() {
            let (legend, _) = self.render_legend();
            svg.push_str(&legend);
        }
        self.draw_links_and_labels(&mut svg);
        for (index, canvas_box) in self.canvas.boxes.iter().enumerate() {
            let component = ComponentDrawing {
                canvas_box,
                text: &self.layout.texts[index],
                frame: self.layout.frames[index],
                ids: (frame.element_ids)(index),
                color_mark: self.canvas.shown_mark(canvas_box.mark),
            };
            component.draw(&mut svg);
        }
        svg.push_str("</g></svg>");
        svg
    }

    /// Returns the start tag of the SVG with a title and a description for screen readers. A picture that is wider than
    /// `frame.max_width` is shown smaller.
    fn format_svg_start(&self, frame: &PictureFrame<'_>, role: &str) -> String {
        let (width, height) = (self.width(), self.height());
        let shown_width = frame.max_width.map_or(width, |max_width| width.min(max_width));
        let shown_height = i64::from(height) * i64::from(shown_width) / i64::from(width);
        let id = text::escape_markup(frame.id);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sg-picture\" role=\"{role}\" \
             aria-labelledby=\"{id}-title {id}-desc\" viewBox=\"{} {} {width} {height}\" width=\"{shown_width}\" \
             height=\"{shown_height}\" font-family=\"{FONT_FAMILY}\" font-size=\"{FONT_SIZE}\">\
             <title id=\"{id}-title\">{}</title><desc id=\"{id}-desc\">{}</desc>",
            -MARGIN,
            -self.header_height(),
            text::escape_markup(frame.title),
            text::escape_markup(&describe_canvas(&self.canvas))
        )
    }

    /// Draws an invisible area behind the components that links to the picture at full size, if the frame has a target.
    fn draw_background(&self, svg: &mut String, frame: &PictureFrame<'_>) {
        if let Some(target) = frame.background_target {
            let _ = write!(
                svg,
                "<a class=\"sg-enlarge\" href=\"#{}\" aria-label=\"{}\"><path d=\"M{} {}h{}V{}H{}z\" fill=\"#000000\" fill-opacity=\"0\"/></a>",
                text::escape_markup(target),
                text::escape_markup(&format!("Full size: {}", frame.title)),
                -MARGIN,
                -self.header_height(),
                self.width(),
                self.height() - self.header_height(),
                -MARGIN,
            );
        }
    }

    /// Returns the height of the margin and the legend above the drawing, in pixels.
    fn header_height(&self) -> i32 {
        MARGIN + if self.has_legend() { LEGEND_HEIGHT } else { 0 }
    }

    /// Renders the legend, and returns it with its width in pixels. It explains each kind of change in the picture, or
    /// says that the pipeline is new or removed.
    fn render_legend(&self) -> (String, i32) {
        let entries = match self.canvas.state {
            PipelineState::New => vec![(ChangeMark::Added, "+ new pipeline".to_owned())],
            PipelineState::Removed => vec![(ChangeMark::Removed, "\u{2212} removed pipeline".to_owned())],
            PipelineState::Existing => [ChangeMark::Added, ChangeMark::Removed, ChangeMark::Changed]
                .into_iter()
                .filter(|mark| self.has_mark(*mark))
                .map(|mark| (mark, format!("{} {}", mark.sign(), mark.name())))
                .collect(),
        };
        let mut legend = String::new();
        let mut x = 0;
        for (mark, entry_text) in entries {
            let (line_color, fill) = line_and_fill_colors(mark);
            let width = label::text_width(&entry_text) + LEGEND_PADDING;
            let _ = write!(
                legend,
                "<g class=\"sg-legend sg-{mark_word}\"><rect class=\"sg-frame\" x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"20\" \
                 rx=\"10\" fill=\"{fill}\" stroke=\"{line_color}\"{}/><text class=\"sg-name\" x=\"{}\" y=\"{}\" \
                 text-anchor=\"middle\" fill=\"{INK}\">{entry_text}</text></g>",
                -LEGEND_HEIGHT,
                dash_attribute(mark),
                x + width / 2,
                14 - LEGEND_HEIGHT,
                mark_word = mark.name(),
            );
            x += width + LEGEND_GAP;
        }
        // The last entry has no gap after it.
        (legend, x - LEGEND_GAP)
    }

    /// Returns whether a component or a link in the picture has this mark.
    fn has_mark(&self, mark: ChangeMark) -> bool {
        let has_box = self.canvas.boxes.iter().any(|canvas_box| canvas_box.mark == mark);
        has_box || self.canvas.arrows.iter().any(|arrow| arrow.mark == mark)
    }

    /// Draws all stubs (links to components that the picture omits), links and labels. Later elements cover earlier
    /// ones: added links are above removed links, removed links above the others, and labels above all links.
    fn draw_links_and_labels(&self, svg: &mut String) {
        for (stub, wire) in self.canvas.stubs.iter().zip(&self.layout.stubs) {
            draw_stub(svg, &self.canvas, stub, wire);
        }
        for mark in [
            ChangeMark::Unchanged,
            ChangeMark::Changed,
            ChangeMark::Removed,
            ChangeMark::Added,
        ] {
            let arrows = self.canvas.arrows.iter().zip(&self.layout.wires);
            for (arrow, wire) in arrows.filter(|(arrow, _)| arrow.mark == mark) {
                draw_link(svg, &self.canvas, arrow, wire);
            }
        }
        for label in &self.layout.labels {
            draw_label(svg, label, self.canvas.shown_mark(label.mark));
        }
    }
}

/// Renders the picture of a canvas as a separate file. If most components were replaced, the file shows the pipeline
/// before the change and, below it, after the change.
pub fn render_document(canvas: &Canvas, title: &str) -> String {
    let Some(versions) = canvas.split_versions() else {
        return Picture::with_natural_width(canvas).render_document(title);
    };
    let (mut drawings, mut width, mut height) = (String::new(), 0, 0);
    // The file contains the definitions once, outside of both pictures.
    let definitions = "";
    for (version, name) in versions.iter().zip(["Before", "After"]) {
        let picture = Picture::with_natural_width(version);
        let frame = file_frame(name, name);
        let _ = write!(
            drawings,
            "<text class=\"sg-name\" x=\"{MARGIN}\" y=\"{}\" font-weight=\"600\" fill=\"{INK}\">{name}</text>\
             <g transform=\"translate(0 {})\">{}</g>",
            height + 18,
            height + HEADING_HEIGHT,
            picture.render(&frame, "img", definitions)
        );
        width = width.max(picture.width());
        height += HEADING_HEIGHT + picture.height();
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sg-picture\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"{FONT_FAMILY}\" font-size=\"{FONT_SIZE}\">\
         <title>{}</title>{}{drawings}</svg>",
        text::escape_markup(title),
        render_definitions()
    )
}

/// Returns the frame of a picture in a file of its own: without a maximum width and without links.
fn file_frame<'f>(id: &'f str, title: &'f str) -> PictureFrame<'f> {
    PictureFrame {
        id,
        title,
        max_width: None,
        background_target: None,
        element_ids: &|_| ElementIds::default(),
    }
}

/// Renders the style and the arrow heads that a picture in a file of its own needs.
fn render_definitions() -> String {
    format!("<style>{STYLE}</style>{}", render_markers())
}

/// Renders the arrow heads of links, one for each color, which all pictures of a page share. A link is added or
/// removed, but never marked as changed, so there is no arrow head for changed links.
pub fn render_markers() -> String {
    let mut defs = String::from("<defs>");
    for mark in [ChangeMark::Unchanged, ChangeMark::Added, ChangeMark::Removed] {
        let name = mark.name();
        let (line_color, _) = line_and_fill_colors(mark);
        let _ = write!(
            defs,
            "<marker id=\"sg-{name}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
             markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"sg-head sg-{name}\" d=\"M0 0 8 4 0 8z\" fill=\"{line_color}\"/>\
             </marker>"
        );
    }
    defs.push_str("</defs>");
    defs
}

/// Describes the picture as text for screen readers: numbers of components and links, and names of changed components.
fn describe_canvas(canvas: &Canvas) -> String {
    let mut description = format!(
        "{}, {}.",
        text::format_count(canvas.component_count(), "component"),
        text::format_count(canvas.arrows.len(), "link")
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
            let _ = write!(description, " {} {}: {list}.", names.len(), mark.name());
        }
    }
    description
}
