//! The run of Azure Pipelines that writes a report. GitHub Advanced Security for Azure DevOps attaches SARIF results to
//! it.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Prefix of the keys and of the id that the host's ingestion requires: rules GHAzDO1019 and GHAzDO1020 of
/// <https://github.com/microsoft/sarif-sdk>.
const PREFIX: &str = "azuredevops/pipeline/build/";

/// A run of a pipeline, and the phase that runs this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AzureBuild {
    pub organization: String,
    pub project: String,
    pub definition_id: u64,
    pub definition_name: String,
    pub phase_id: Uuid,
    pub phase_name: String,
    pub branch: String,
    pub build_id: String,
}

impl AzureBuild {
    /// Returns the SARIF id of the run: `azuredevops/pipeline/build/ORG/PROJECT/DEFINITION/PHASE/BRANCH/BUILD/`. A `/`
    /// in a part becomes `_`, because it would add a level.
    pub(super) fn automation_id(&self) -> String {
        let phase_id = self.phase_id.to_string();
        let definition_id = self.definition_id.to_string();
        let parts = [
            &self.organization,
            &self.project,
            &definition_id,
            &phase_id,
            &self.branch,
            &self.build_id,
        ];
        let escaped_parts = parts.map(|part| part.replace('/', "_"));
        format!("{PREFIX}{}/", escaped_parts.join("/"))
    }

    /// Returns the SARIF properties that tell Azure DevOps which pipeline ran. All values are text, because the host's
    /// validator cannot read numbers.
    pub(super) fn properties(&self) -> BTreeMap<String, Value> {
        let values = [
            ("buildDefinitionId", json!(self.definition_id.to_string())),
            ("buildDefinitionName", json!(self.definition_name)),
            ("phaseId", json!(self.phase_id)),
            ("phaseName", json!(self.phase_name)),
        ];
        let named_values = values.map(|(name, value)| (format!("{PREFIX}{name}"), value));
        BTreeMap::from(named_values)
    }
}
