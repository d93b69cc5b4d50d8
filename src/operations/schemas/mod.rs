//! The JSON schemas of the files that people edit, and of documents that the program writes.

use crate::job::cli::SchemaDocument;
use crate::job::settings;
use serde_json::Value;
use sluicegate_pipelines::team_rules::{pipeline_schema, team_rules_schema};

/// Returns the schema of a document.
pub(crate) fn load_schema(document: SchemaDocument) -> Value {
    let text = match document {
        SchemaDocument::Settings => return settings::json_schema(),
        SchemaDocument::TeamRules => return team_rules_schema(),
        SchemaDocument::Pipeline => return pipeline_schema(),
        SchemaDocument::Waivers => include_str!("waivers.json"),
        SchemaDocument::Rules => include_str!("rules.json"),
        SchemaDocument::SharedPipelines => include_str!("shared-pipelines.json"),
        SchemaDocument::Report => include_str!("report.json"),
        SchemaDocument::Receipt => include_str!("receipt.json"),
        SchemaDocument::Attestation => include_str!("attestation.json"),
    };
    // A test parses every file.
    serde_json::from_str(text).unwrap_or_default()
}
