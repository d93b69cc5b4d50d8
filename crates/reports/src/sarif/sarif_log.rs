//! The subset of SARIF 2.1.0 that this program writes.
//!
//! <https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html>

use serde::Serialize;
use serde_json::Value;
use sluicegate_base::text::escape_controls;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct Log<'a> {
    #[serde(rename = "$schema")]
    pub schema: &'static str,
    pub version: &'static str,
    pub runs: [SarifRun<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifRun<'a> {
    pub tool: Tool<'a>,
    pub automation_details: AutomationDetails,
    pub invocations: [Invocation; 1],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub original_uri_base_ids: BTreeMap<&'static str, SarifBase>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub version_control_provenance: Vec<Provenance>,
    pub column_kind: &'static str,
    pub results: Vec<SarifResult<'a>>,
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub driver: Driver<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Driver<'a> {
    pub name: &'static str,
    pub full_name: String,
    pub version: &'static str,
    pub semantic_version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub information_uri: Option<&'static str>,
    pub rules: Vec<SarifRule<'a>>,
    pub notifications: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifRule<'a> {
    pub id: &'a str,
    /// The id in Pascal case.
    pub name: String,
    pub short_description: SarifText,
    pub full_description: SarifText,
    pub help: Help,
    pub default_configuration: Configuration,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Descriptor {
    pub id: &'static str,
    /// The id in Pascal case.
    pub name: String,
    pub short_description: SarifText,
    pub full_description: SarifText,
    pub help: Help,
}

#[derive(Serialize)]
pub(super) struct SarifText {
    pub text: String,
}

impl From<&str> for SarifText {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for SarifText {
    /// Converts a message or a description. Viewers show `[text](target)` in it as a link (SARIF 2.1.0, section
    /// 3.11.6), which a name from a file must not create: an invisible word joiner between the brackets prevents that.
    /// Control characters and those that change the direction of text become visible.
    fn from(text: String) -> Self {
        Self {
            text: escape_controls(&text).replace("](", "]\u{2060}("),
        }
    }
}

#[derive(Serialize)]
pub(super) struct Help {
    pub text: String,
    pub markdown: String,
}

#[derive(Serialize)]
pub(super) struct Configuration {
    pub level: &'static str,
}

#[derive(Serialize)]
pub(super) struct AutomationDetails {
    pub id: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, Value>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Invocation {
    pub execution_successful: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time_utc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time_utc: Option<String>,
    pub tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Notification {
    pub descriptor: SarifReference,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub associated_rule: Option<RuleReference>,
    pub level: &'static str,
    pub message: SarifText,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub locations: Vec<Location>,
}

#[derive(Serialize)]
pub(super) struct SarifReference {
    pub id: &'static str,
    pub index: usize,
}

#[derive(Serialize)]
pub(super) struct RuleReference {
    pub id: String,
    pub index: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Provenance {
    pub repository_uri: String,
    pub revision_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    pub mapped_to: MappedPath,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MappedPath {
    pub uri_base_id: &'static str,
}

#[derive(Serialize)]
pub(super) struct SarifBase {
    pub description: SarifText,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifResult<'a> {
    pub rule_id: &'a str,
    pub rule_index: usize,
    pub level: &'static str,
    pub message: SarifText,
    pub locations: [Location; 1],
    pub partial_fingerprints: Fingerprints,
    /// `new` or `unchanged`; `None` if there was no comparison.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppressions: Option<[Suppression; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixes: Option<[SarifFix; 1]>,
}

/// An edit of the file that makes the result disappear.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SarifFix {
    pub description: SarifText,
    pub artifact_changes: [ArtifactChange; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactChange {
    pub artifact_location: ArtifactLocation,
    pub replacements: [Replacement; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Replacement {
    pub deleted_region: Region,
    pub inserted_content: SarifText,
}

/// The reason why a result does not fail the gate.
#[derive(Serialize)]
pub(super) struct Suppression {
    pub kind: &'static str,
    pub status: &'static str,
    pub justification: String,
}

#[derive(Serialize)]
pub(super) struct Fingerprints {
    /// Uses a separate key: GitHub computes `primaryLocationLineHash` itself, and warns about each result that has a
    /// different one
    /// (<https://docs.github.com/code-security/code-scanning/integrating-with-code-scanning/sarif-support-for-code-scanning#data-for-preventing-duplicated-alerts>).
    #[serde(rename = "sluicegate/v1")]
    pub sluicegate: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    pub physical_location: PhysicalLocation,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PhysicalLocation {
    pub artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<Region>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ArtifactLocation {
    pub uri: String,
    pub uri_base_id: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Region {
    pub start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_column: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<SarifText>,
}
