//! The input of a run: turns flags, variables, files, CI host and repository into settings and one target.
//!
//! Start with [`cli`], then [`settings`], which resolves file, environment and flags into values. [`policy`] is the
//! layer of settings that a change may not edit. [`ci`] reads the CI host's context, and [`context`] compares it with
//! the repository.

pub mod ci;
pub mod cli;
pub mod context;
pub mod policy;
pub mod settings;
