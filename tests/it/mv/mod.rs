//! `sluicegate mv`.

mod references;
