//! The rooms of the house. Arrows between them point one way; `docs/ARCHITECTURE.md` has the picture and
//! `tests/architecture.rs` holds the code to it.

pub mod api;
pub mod ci;
pub mod cli;
pub mod context;
pub mod env;
pub mod error;
pub mod exit;
pub mod findings;
pub mod gate;
pub mod git;
pub mod http;
pub mod pipelines;
pub mod publish;
pub mod report;
pub mod rules;
pub mod service;
pub mod settings;
pub mod text;
pub mod ui;
