//! The id of the run of a review, by which hosts keep results apart.

use super::sarif_log::AutomationDetails;
use crate::ReportContext;
use sluicegate_pipelines::findings::Report;
use std::collections::BTreeMap;

/// Builds the SARIF id and properties of the run. On Azure DevOps, which requires an id that names the pipeline's run,
/// the category follows that id.
pub(super) fn build_automation_details(report: &Report, context: &ReportContext) -> AutomationDetails {
    let category = automation_category(report, context);
    match &context.azure_build {
        Some(build) => AutomationDetails {
            id: format!("{}{category}", build.automation_id()),
            properties: build.properties(),
        },
        None => AutomationDetails {
            id: category,
            properties: BTreeMap::new(),
        },
    }
}

/// Returns the category of the review with a final `/`: GitHub uses the text before the last `/` of the id as the
/// category. Each shard of a review has its own category, because it would otherwise close the alerts of the other
/// shards.
fn automation_category(report: &Report, context: &ReportContext) -> String {
    let base = match context.category.trim_matches('/') {
        "" => "sluicegate",
        category => category,
    };
    match report.context.shard {
        Some(shard) => format!("{base}/shard-{}-of-{}/", shard.index, shard.total),
        None => format!("{base}/"),
    }
}
