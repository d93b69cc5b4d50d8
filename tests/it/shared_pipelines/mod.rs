//! `sluicegate shared-pipelines`.

mod add;
