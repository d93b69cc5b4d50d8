//! What changed in a pipeline, as data.
//!
//! One model, several readers: words, JSON and pictures all show a [`PipelineDiff`]. It is whole by construction: every
//! leaf of the two documents that differs stands in exactly one place of it (a component's fields, the links, the
//! variables, the rest), or is layout. So the head can be rebuilt from the base and the diff, which a test does.
//!
//! Compared is what the YAML means. How a scalar is quoted or folded, and the order of keys and links, is layout, like
//! everything below `design`.

mod compare;
mod document;
mod headline;
mod leaf;
mod line;
mod lines;
mod links;
mod model;
mod pair;
mod plain;
mod rename;
mod rows;
mod values;
mod walk;
mod words;

pub(crate) use compare::{Sides, compare};
pub(crate) use line::{Line, Sign};
pub(crate) use model::{ComponentChange, LinkChange, LinkDiff, PipelineDiff};
pub(crate) use plain::plain;
pub(crate) use words::words;

#[cfg(test)]
mod tests;
