//! `sluicegate mv`.

mod references;
mod unsearched_files;
