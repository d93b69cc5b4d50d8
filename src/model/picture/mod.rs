//! A pipeline drawn: on the canvas that people know, and as a flowchart where the host renders one.
//!
//! A [`Canvas`] says what is drawn and where it stands on the platform's canvas; SVG and Mermaid are two readers of it. For SVG,
//! `stacks`, `layers` and `grid` put every box into a row and a column of its own, `lanes` and `routes` lead the links between them, and
//! `layout` turns that into pixels. A picture that shows a link that is not there is worse than none, so no two boxes
//! overlap, no link crosses a box that is not its own, and no two links lie on each other: that holds by construction, since links run in
//! lanes that no box reaches into.
//!
//! All of it is pure, and every name comes from a repository that anybody may have changed, so none can leave its box.

mod canvas;
mod grid;
mod label;
mod lanes;
mod layers;
mod layout;
mod mermaid;
mod routes;
mod stacks;
mod svg;

pub(crate) use canvas::{Badge, Canvas};
pub(crate) use mermaid::mermaid;
pub(crate) use svg::{COLUMN, Ids, PAGE, Picture, STYLE, markers};

#[cfg(test)]
mod geometry;
#[cfg(test)]
mod tests;
