//! The changes to pipelines for the reports: the contents of both versions, counts, text and drawings.

pub(crate) mod background_comparison;
pub(crate) mod change_list;
pub(crate) mod changed_contents;
pub(crate) mod pipeline_change;
