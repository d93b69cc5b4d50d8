//! The shape of a request with a further instruction for a task.

use super::{AGENT_NAME, granted_tools_shape};
use crate::agent::AgentMode;
use crate::body_check::BodyCheck;
use crate::shape::{Shape, ShapePart, object, one_of, optional_member, required_member, rule, text};
use serde_json::{Map, Value, json};

/// The fields of a task's configuration that a message cannot override.
const FIXED_CONFIG_FIELDS: [&str; 6] = [
    "projectId",
    "sourceBranchName",
    "environmentName",
    "generateBranch",
    "graphId",
    "workingDirectory",
];

/// Returns the shape of a request with a further instruction.
pub(super) fn follow_up_request_shape() -> Shape {
    let config = object([
        required_member("name", one_of(&[AGENT_NAME])),
        optional_member("mode", one_of(AgentMode::ALL)),
        optional_member("targetBranchName", text()),
        fixed_fields_rule(),
    ])
    .with_name_and_description("AgentConfigChange", "Changes to the configuration of a task.");
    object([
        required_member("message", text()),
        optional_member("grantedPermissions", granted_tools_shape())
            .with_description("Additional tools that the agent may use without permission."),
        optional_member("agentConfig", config),
    ])
    .with_name_and_description("FollowUp", "The body of a request with a further instruction.")
}

/// Returns the rule that the message does not contain fields of the configuration that it cannot override, with the
/// rule's JSON schema.
fn fixed_fields_rule() -> ShapePart {
    let field_schemas = FIXED_CONFIG_FIELDS.map(|field| json!({"required": [field]}));
    rule(check_fixed_fields, Some(json!({"not": {"anyOf": field_schemas}})))
}

/// Reports each field that a message cannot override.
fn check_fixed_fields(check: &mut BodyCheck, config: &Map<String, Value>) {
    for field in FIXED_CONFIG_FIELDS {
        if config.contains_key(field) {
            check.add_error(field, "cannot be overridden: only mode and targetBranchName can");
        }
    }
}
