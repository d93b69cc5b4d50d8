//! `sluicegate diff`.

mod change_text;
mod components;
mod pages;
mod pictures;
mod size_limits;
