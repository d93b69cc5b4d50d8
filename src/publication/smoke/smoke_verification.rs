//! Compares the smoke runs in a receipt with the executions on the platform.

use crate::error::Failure;
use crate::publish::{Receipt, SmokeExecution};
use crate::session::Session;
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::{ErrorKind, HttpError};
use uuid::Uuid;

/// Returns the differences between the smoke runs in the receipt and the executions on the platform.
pub(crate) fn compare_smoke_runs(
    session: &Session,
    platform: &Platform,
    receipt: &Receipt,
) -> Result<Vec<String>, Failure> {
    let mut differences = Vec::new();
    for smoke_run in receipt.smoke.iter().flat_map(|smoke| &smoke.runs) {
        differences.extend(session.block_on(compare_execution(platform, smoke_run))??);
    }
    Ok(differences)
}

/// Returns how the execution on the platform differs from the recorded smoke run, or why they cannot be compared;
/// `None` if they agree.
async fn compare_execution(platform: &Platform, run: &SmokeExecution) -> Result<Option<String>, HttpError> {
    let Some(id) = &run.execution_id else {
        return Ok(Some(format!(
            "the smoke run of {} has no execution id",
            run.subject()
        )));
    };
    let Ok(project) = Uuid::parse_str(&run.project_id) else {
        return Ok(Some(format!(
            "the project id {:?} of a smoke run is not a UUID",
            run.project_id
        )));
    };
    let execution = match platform.fetch_execution(project, id).await {
        Ok(response) => response.result.clone(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Some(format!(
                "the platform has no execution {id}, the smoke run of {}",
                run.subject()
            )));
        }
        Err(error) => return Err(error),
    };
    let recorded_values = (&run.status, &run.started_at, &run.finished_at);
    let has_same_values =
        recorded_values == (&execution.status, &execution.started_at, &execution.finished_at);
    Ok((!has_same_values).then(|| {
        format!(
            "the status or times of execution {id}, the smoke run of {}, differ between the platform and the receipt",
            run.subject()
        )
    }))
}
