//! Published pipelines and their executions: API document, section "Pipeline execution".

use super::lenient_values::{none_if_empty, read_resource_id};
use super::{ApiList, ApiValue, Platform};
use crate::http::{HttpError, Method, Repeat, Request, Success};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use uuid::Uuid;

const EXECUTIONS: &str = "pipeline-executions";

/// A pipeline that can be executed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishedPipeline {
    /// The name that starts an execution.
    pub name: Option<String>,
    /// Publication time, ISO 8601.
    pub published_time: Option<String>,
}

/// The request to execute a pipeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewExecution {
    pub pipeline_name: String,
    pub environment_name: String,
    /// At most one execution with this tag runs at a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution_tag: Option<String>,
    /// Values of scalar variables, by name. The API document does not define the field, so it is sent only if needed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub scalar_variables: BTreeMap<String, String>,
    /// Rows of grid variables, by name; like `scalar_variables`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub grid_variables: BTreeMap<String, Grid>,
}

/// The rows of a grid variable.
pub type Grid = Vec<Vec<String>>;

/// The response to a started or terminated execution.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionId {
    /// `None` if the response contains no usable id.
    #[serde(default, deserialize_with = "read_resource_id")]
    pub pipeline_execution_id: Option<String>,
}

/// The response with the state of an execution.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct ExecutionResponse {
    /// State of the execution.
    pub result: Execution,
}

/// The state of an execution.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    /// `RUNNING`, or a value that the API document does not define. The values in this file are those that clients
    /// encounter.
    pub status: Option<String>,
    /// The platform's message, if it is not empty.
    #[serde(default, deserialize_with = "none_if_empty")]
    pub message: Option<String>,
    /// Start time, ISO 8601.
    pub started_at: Option<String>,
    /// End time, ISO 8601.
    pub finished_at: Option<String>,
}

impl Execution {
    /// Returns whether the status shows that the execution has not ended.
    pub fn is_running(&self) -> bool {
        self.has_status(&["RUNNING", "QUEUED"])
    }

    pub(crate) fn has_succeeded(&self) -> bool {
        self.status.as_deref().is_some_and(is_success_status)
    }

    /// Returns whether the status shows that the execution ended without success.
    pub(crate) fn has_failed(&self) -> bool {
        self.has_status(&["FAILED", "FAILURE", "ERROR", "CANCELLED", "SKIPPED"])
    }

    /// Returns whether the status is one of these names, in any case.
    fn has_status(&self, names: &[&str]) -> bool {
        let status = self.status.as_deref().unwrap_or_default();
        names.iter().any(|name| status.eq_ignore_ascii_case(name))
    }
}

/// Returns whether this is the status of an execution that succeeded.
pub fn is_success_status(status: &str) -> bool {
    status.eq_ignore_ascii_case("SUCCESS")
}

impl Platform {
    /// Returns all published pipelines: `GET /v1/projects/{projectId}/published-pipelines`, page by page.
    pub async fn fetch_published_pipelines(
        &self,
        project: Uuid,
    ) -> Result<ApiList<PublishedPipeline>, HttpError> {
        self.fetch_all_entries(self.project_url(project, "published-pipelines", &[])?)
            .await
    }

    /// Executes a pipeline: `POST /v1/projects/{projectId}/pipeline-executions`. The platform responds with 409 if an
    /// execution with this tag is already running. The API document does not define the success status. Without a tag,
    /// the request is repeated only if it was certainly not processed.
    pub async fn start_execution(
        &self,
        project: Uuid,
        execution: &NewExecution,
    ) -> Result<ApiValue<ExecutionId>, HttpError> {
        let url = self.project_url(project, EXECUTIONS, &[])?;
        let repeat = match execution.execution_tag {
            Some(_) => Repeat::RejectedByServer,
            None => Repeat::OnlyIfUnprocessed,
        };
        let request = Request::new(Method::POST, url, repeat).json(&json!(execution));
        self.send_and_parse(&request.with_success(Success::Accepted))
            .await
    }

    /// Returns the state of an execution: `GET /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}`.
    pub async fn fetch_execution(
        &self,
        project: Uuid,
        id: &str,
    ) -> Result<ApiValue<ExecutionResponse>, HttpError> {
        self.send_and_parse(&Request::get(self.project_url(project, EXECUTIONS, &[id])?))
            .await
    }

    /// Terminates an execution: `PATCH /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}`. `is_forced`
    /// is sent as `forceUpdate`. The API document does not define the values of `status`. An execution ends only once,
    /// so the request may be repeated. Returns `None` for a success without a body, such as 204: the API document does
    /// not define the success status.
    pub async fn terminate_execution(
        &self,
        project: Uuid,
        id: &str,
        status: &str,
        is_forced: bool,
    ) -> Result<Option<ApiValue<ExecutionId>>, HttpError> {
        let url = self.project_url(project, EXECUTIONS, &[id])?;
        let body = json!({ "forceUpdate": is_forced, "status": status });
        let request = Request::new(Method::PATCH, url, Repeat::Safe).json(&body);
        self.send_and_parse_optional(&request.with_success(Success::AcceptedOrEmpty))
            .await
    }
}
