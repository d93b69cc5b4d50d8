//! `sluicegate context`: what the program knows about a run.

mod complete_output;
mod explanation;
