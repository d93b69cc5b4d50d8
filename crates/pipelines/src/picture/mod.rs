//! Pictures of a pipeline: the canvas that people know, and a flowchart for hosts that render one.
//!
//! A [`Canvas`] contains the items to draw and their positions on the platform's canvas; SVG and Mermaid are rendered
//! from it. For SVG, `places` and `grid` take over the rows and columns of the canvas, `ports` assigns the place where
//! each link leaves and enters a box, `router` leads the links through the space between the boxes, and `layout`
//! converts the result to pixels. A picture with a wrong link would be worse than no picture, so boxes do not overlap,
//! links cross no other boxes, and links do not overlap each other. This holds by construction, because no box and no
//! label reaches into the space of the links.
//!
//! The code has no side effects. Every name comes from a repository that anybody may have changed, so names are
//! escaped.

mod box_spans;
mod canvas;
mod canvas_part;
mod canvas_point;
mod channels;
mod component_drawing;
mod grid;
mod label;
mod layers;
mod layout;
mod link_drawing;
mod mermaid;
mod places;
mod ports;
mod router;
mod sentence;
mod slots;
mod svg;

pub use canvas::{Badge, Canvas};
pub use component_drawing::ElementIds;
pub use mermaid::render_mermaid;
pub use sentence::{render_sentence, render_sentence_chart};
pub use svg::{COLUMN_WIDTH, PAGE_WIDTH, Picture, PictureFrame, STYLE, render_document, render_markers};

#[cfg(test)]
mod geometry;
#[cfg(test)]
mod tests;
