//! `sluicegate demo`.

mod story;
