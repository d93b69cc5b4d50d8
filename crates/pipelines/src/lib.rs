//! Reads and analyzes the documents of a data pipeline's repository, without a network, a process, the environment or
//! git: everything takes contents as values.
//!
//! Begin with [`pipelines`], which reads documents. [`rules`] evaluates them; the results of any reviewer
//! become [`findings`], the core type of the gate, and [`waivers`] allow some of them. [`diff`] compares two
//! pipelines, and [`picture`] draws the differences. [`project`] finds broken references between files, [`file_moves`]
//! computes the effects of moving files, and [`interface`] finds changes that break consumers of shared pipelines.
//!
//! ```
//! use sluicegate_pipelines::findings::Enforcement;
//! use sluicegate_pipelines::rules::{RuleSet, render_rules_file_template};
//!
//! let rules = RuleSet::parse(render_rules_file_template(Enforcement::Error).as_bytes());
//! assert_eq!(rules.enforcement("unused-components"), Some(Enforcement::Error));
//! ```

pub mod pipelines;

pub mod rules;
pub mod team_rules;

pub mod findings;
pub mod waivers;

pub mod diff;
pub mod picture;

pub mod file_moves;
pub mod interface;
pub mod project;
