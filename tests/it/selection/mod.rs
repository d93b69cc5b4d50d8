//! The pipelines that a run evaluates.

mod filters;
mod replaced_directories;
