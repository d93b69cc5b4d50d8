//! `sluicegate ci`: reviews and publishes in one command.

pub mod publish_after_review;
