//! Reports of earlier runs: reads, merges and compares them, and checks that they belong to the commit of the event.

pub(crate) mod merged_reports;
pub(crate) mod report_comparison;
pub(crate) mod reported_commit;
pub(crate) mod saved_report;
