//! `sluicegate diff`.

mod components;
