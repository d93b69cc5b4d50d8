//! Reads the run of Azure Pipelines from the job's variables.
//!
//! Variables: <https://learn.microsoft.com/azure/devops/pipelines/build/variables>.

use crate::session::Session;
use sluicegate_reports::AzureBuild;
use uuid::Uuid;

/// Returns the facts about this run of Azure Pipelines from its variables, for the id of the SARIF report. Returns
/// `None` if a variable is missing or invalid. Without these facts, the SARIF report has the same id as on other hosts.
pub(super) fn find_azure_build(session: &Session) -> Option<AzureBuild> {
    let env = &session.env;
    let text = |name: &str| env.get(name).filter(|value| !value.is_empty()).map(str::to_owned);
    // If the agent does not set the id of the phase, the id of the job replaces it.
    let phase_id = env.get("SYSTEM_PHASEID").or(env.get("SYSTEM_JOBID"))?;
    Some(AzureBuild {
        organization: find_organization(env.get("SYSTEM_COLLECTIONURI")?)?,
        project: text("SYSTEM_TEAMPROJECT")?,
        definition_id: env
            .get("SYSTEM_DEFINITIONID")?
            .parse()
            .ok()
            .filter(|id| *id > 0)?,
        definition_name: text("BUILD_DEFINITIONNAME")?,
        phase_id: Uuid::try_parse(phase_id).ok().filter(|id| !id.is_nil())?,
        phase_name: text("SYSTEM_PHASEDISPLAYNAME").or_else(|| text("SYSTEM_PHASENAME"))?,
        branch: text("BUILD_SOURCEBRANCH")?,
        build_id: text("BUILD_BUILDID")?,
    })
}

/// Returns `ORG` from `https://dev.azure.com/ORG/` or `https://ORG.visualstudio.com/`; `None` for any other address.
fn find_organization(collection_uri: &str) -> Option<String> {
    let address = collection_uri.strip_prefix("https://")?.trim_end_matches('/');
    let name = match address.strip_prefix("dev.azure.com/") {
        Some(path) => path,
        None => address.strip_suffix(".visualstudio.com")?,
    };
    (!name.is_empty()).then(|| name.to_owned())
}
