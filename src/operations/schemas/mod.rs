//! The JSON schemas of the files that people edit, and of documents that the program writes.

use crate::job::cli::SchemaDocument;
use crate::job::settings;
use serde_json::Value;
use sluicegate_pipelines::team_rules::{pipeline_schema, team_rules_schema};

/// Returns the JSON schema of a document. The schemas are built into the program.
pub(crate) fn load_schema(document: SchemaDocument) -> Value {
    // The first schemas are built from the definitions in the code; the others are files of this directory.
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
        SchemaDocument::Variables => include_str!("variables.json"),
        SchemaDocument::Provisioning => include_str!("provisioning.json"),
        SchemaDocument::ProvisionState => include_str!("provision-state.json"),
        SchemaDocument::Cursor => include_str!("cursor.json"),
        SchemaDocument::Context => include_str!("context.json"),
        SchemaDocument::EffectiveSettings => include_str!("effective-settings.json"),
        SchemaDocument::Doctor => include_str!("doctor.json"),
        SchemaDocument::Init => include_str!("init.json"),
        SchemaDocument::Diff => include_str!("diff.json"),
        SchemaDocument::Fix => include_str!("fix.json"),
        SchemaDocument::AgentFix => include_str!("agent-fix.json"),
        SchemaDocument::AgentPlan => include_str!("agent-plan.json"),
        SchemaDocument::ReviewPlan => include_str!("review-plan.json"),
        SchemaDocument::Plan => include_str!("plan.json"),
        SchemaDocument::Verification => include_str!("verification.json"),
        SchemaDocument::Interface => include_str!("interface.json"),
        SchemaDocument::Impact => include_str!("impact.json"),
        SchemaDocument::Rule => include_str!("rule.json"),
        SchemaDocument::Lint => include_str!("lint.json"),
        SchemaDocument::RulesTest => include_str!("rules-test.json"),
        SchemaDocument::RulesNew => include_str!("rules-new.json"),
        SchemaDocument::RulesInit => include_str!("rules-init.json"),
    };
    // Parsing cannot fail, because a test parses every file. The default only avoids a panic.
    serde_json::from_str(text).unwrap_or_default()
}
