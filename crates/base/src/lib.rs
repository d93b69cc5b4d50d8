//! Helpers that every room uses; nothing here knows pipelines, reviews or artifacts.
//!
//! Begin with [`exit`] and [`error`]: how a run ends and how a failure is shown. [`env`](mod@env), [`input`] and
//! [`write`](mod@write) are the edge to the system: the environment is read once, input always has a size limit, files
//! are written atomically. [`overlap`] reads while others compute. [`text`] makes text from outside safe to show, and
//! [`ui`] shows it. [`git`] reads repositories.

pub(crate) mod address;
pub(crate) mod duplicate_key;
pub mod env;
pub(crate) mod error;
pub mod exit;
pub(crate) mod file_defect;
pub mod git;
pub(crate) mod globs;
pub(crate) mod input;
pub(crate) mod overlap;
pub(crate) mod text;
pub(crate) mod ui;
pub(crate) mod unexpanded;
pub(crate) mod words;
pub(crate) mod write;
