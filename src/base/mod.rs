//! What every room uses, and nothing that knows of pipelines, reviews or artifacts.
//!
//! Begin with [`exit`] and [`error`]: how a run ends, and how a failure is told. [`env`](mod@env), [`input`] and [`write`](mod@write) are the edge to the
//! system: the environment is read once, input never without a limit, files whole or not at all. [`text`] makes what comes from
//! outside safe to show, [`ui`] shows it. [`git`] is all that knows how git is read.

pub mod env;
pub(crate) mod error;
pub mod exit;
pub mod git;
pub(crate) mod globs;
pub(crate) mod input;
pub(crate) mod text;
pub(crate) mod ui;
pub(crate) mod words;
pub(crate) mod write;
