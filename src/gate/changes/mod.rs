//! The changes to pipelines for the reports: the contents of both versions, counts, text and drawings.

pub(crate) mod background_comparison;
pub(crate) mod change_list;
pub(crate) mod changed_contents;
mod copied_pipelines;
pub(crate) mod page_pictures;
pub(crate) mod pipeline_change;
