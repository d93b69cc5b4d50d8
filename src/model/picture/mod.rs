//! A pipeline drawn: on the canvas that people know, and as a flowchart where the host renders one.
//!
//! A [`Canvas`] says what is drawn and where; SVG and Mermaid are two readers of it. Both are pure, and every name in
//! them comes from a repository that anybody may have changed, so none can leave its box.

mod canvas;
mod mermaid;
mod place;
mod svg;

pub(crate) use canvas::{Badge, Canvas};
pub(crate) use mermaid::mermaid;
pub(crate) use svg::{STYLE, document, fragment, markers};

#[cfg(test)]
mod tests;
