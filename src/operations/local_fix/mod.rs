//! Applies the proven fixes of findings: `sluicegate fix`.

pub(crate) mod fix_execution;
pub(crate) mod fix_search;
pub(crate) mod fix_summary;
