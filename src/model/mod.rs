//! The documents of a repository and what can be said of them: pure, without a platform, a host or a setting.
//!
//! Begin with [`pipelines`], which reads documents on top of [`yaml`]. [`rules`] judges them; what any reviewer finds ends in [`findings`],
//! the waist of the program, and [`waivers`] allow some of it. [`diff`] says what changed between two pipelines, [`picture`] draws it,
//! [`project`] finds references between files that lead nowhere, [`moving`] says what a move of files means for them, [`interface`] says what of it breaks consumers of shared pipelines.

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
