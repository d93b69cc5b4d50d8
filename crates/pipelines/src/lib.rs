//! Reads and evaluates the documents of a repository, without a platform, a host or settings.
//!
//! Begin with [`pipelines`], which reads documents with [`yaml`]. [`rules`] evaluates them; the results of any reviewer
//! become [`findings`], the core type of the program, and [`waivers`] allow some of them. [`diff`] compares two
//! pipelines, and [`picture`] draws the differences. [`project`] finds broken references between files, [`moving`]
//! computes the effects of moving files, and [`interface`] finds changes that break consumers of shared pipelines.

pub(crate) mod diff;
pub mod findings;
pub mod interface;
pub(crate) mod moving;
pub(crate) mod picture;
pub mod pipelines;
pub mod project;
pub mod rules;
pub mod waivers;
pub mod yaml;
