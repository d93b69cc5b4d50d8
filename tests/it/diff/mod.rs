//! `sluicegate diff`.

mod components;
mod pictures;
