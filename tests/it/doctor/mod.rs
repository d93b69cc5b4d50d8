//! `sluicegate doctor`.

mod problems;
