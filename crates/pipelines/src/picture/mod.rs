//! Pictures of a pipeline: the canvas that people know, and a flowchart for hosts that render one.
//!
//! A [`Canvas`] contains the items to draw and their positions on the platform's canvas; SVG and Mermaid are rendered
//! from it. For SVG, `stacks`, `layers` and `grid` assign a row and a column to every box, `lanes` and `router` lead
//! the links between them, and `layout` converts the result to pixels. A picture with a wrong link would be worse than
//! no picture, so boxes do not overlap, links cross no other boxes, and links do not overlap each other. This holds by
//! construction, because links run in lanes that no box reaches into.
//!
//! The code has no side effects. Every name comes from a repository that anybody may have changed, so names are
//! escaped.

mod canvas;
mod grid;
mod label;
mod lanes;
mod layers;
mod layout;
mod mermaid;
mod route;
mod router;
mod stacks;
mod svg;

pub use canvas::{Badge, Canvas};
pub use mermaid::render_mermaid;
pub use svg::{COLUMN_WIDTH, ElementIds, PAGE_WIDTH, Picture, STYLE, render_markers};

#[cfg(test)]
mod geometry;
#[cfg(test)]
mod tests;
