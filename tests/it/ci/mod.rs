//! `sluicegate ci`: reviews and publishes in one command.

mod publish_after_review;
