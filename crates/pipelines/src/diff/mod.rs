//! Compares two versions of a pipeline and returns the changes as data.
//!
//! Text, JSON and pictures all show the same model, a [`PipelineDiff`]. It is complete by construction: every leaf of
//! the two documents that differs is in exactly one place (a component's fields, the links, the variables, the rest),
//! or is layout. So the head can be rebuilt from the base and the diff, which a test does.
//!
//! The values of the YAML are compared. The quoting and folding of a scalar, and the order of keys and links, are
//! layout, as is everything below `design`.

mod compare;
mod component_rename;
mod diff_document;
mod field_groups;
mod headline;
mod leaf;
mod line;
mod line_diff;
mod links;
mod model;
mod pair;
mod plain;
mod value_text;
mod walk;
mod words;

pub use compare::{SideTrees, Sides, compare, compare_trees};
pub use line::{Line, Sign};
pub use model::{ComponentChange, LinkChange, LinkDiff, PipelineDiff};
pub use plain::plain;
pub use words::words;

#[cfg(test)]
mod tests;
