//! Streaming pipelines: API document, sections "Streaming pipeline" and "Streaming pipelines".

use super::{ApiValue, Platform};
use crate::http::{HttpError, Method, Repeat, Request, Success, Url};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// A streaming pipeline of the platform.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamingPipeline {
    pub streaming_pipeline_id: Option<String>,
    pub name: Option<String>,
    /// The streaming agent that runs the pipeline.
    pub agent_id: Option<String>,
    pub streaming_source: Option<StreamingSide>,
    pub streaming_target: Option<StreamingSide>,
    pub advanced_properties: Option<Map<String, Value>>,
}

/// The source or the target of a streaming pipeline.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct StreamingSide {
    /// Type of the database or warehouse.
    pub r#type: Option<String>,
    pub connection: Option<Map<String, Value>>,
    /// All fields except `type` and `connection`.
    #[serde(flatten)]
    pub other_fields: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct StreamingStatus {
    /// `starting`, `streaming`, or a value that the API document does not define; to be compared without case.
    pub status: Option<String>,
}

/// A command to a streaming pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamingCommand {
    Start,
    Stop,
}

impl StreamingCommand {
    /// Returns the value of `command` in the request.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
        }
    }
}

impl Platform {
    /// Creates a streaming pipeline: `POST /v1/projects/{projectId}/streaming-pipelines`, with the unchanged
    /// definition. The request is repeated only if it was certainly not processed. After a 400,
    /// [`HttpError::violations`] lists the fields.
    pub async fn create_streaming_pipeline(
        &self,
        project: Uuid,
        definition: &Value,
    ) -> Result<ApiValue<StreamingPipeline>, HttpError> {
        let url = self.streaming_url(project, &[])?;
        self.send_and_parse(&Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(definition))
            .await
    }

    /// Returns the definition of a streaming pipeline:
    /// `GET /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}`.
    pub async fn fetch_streaming_pipeline(
        &self,
        project: Uuid,
        id: &str,
    ) -> Result<ApiValue<StreamingPipeline>, HttpError> {
        self.send_and_parse(&Request::get(self.streaming_url(project, &[id])?))
            .await
    }

    /// Starts or stops a streaming pipeline: `POST …/{streamingPipelineId}/commands`. Success means that the agent
    /// received the command, not that the command had its effect. The command states the desired state, so it is
    /// idempotent.
    pub async fn send_streaming_command(
        &self,
        project: Uuid,
        id: &str,
        command: StreamingCommand,
    ) -> Result<Value, HttpError> {
        let url = self.streaming_url(project, &[id, "commands"])?;
        let body = json!({ "command": command.name() });
        let request = Request::new(Method::POST, url, Repeat::Safe).json(&body);
        self.send_and_read_body(&request.with_success(Success::Undocumented))
            .await
    }

    /// Returns the state of a streaming pipeline: `GET …/{streamingPipelineId}/status`.
    pub async fn fetch_streaming_status(
        &self,
        project: Uuid,
        id: &str,
    ) -> Result<ApiValue<StreamingStatus>, HttpError> {
        self.send_and_parse(&Request::get(self.streaming_url(project, &[id, "status"])?))
            .await
    }

    fn streaming_url(&self, project: Uuid, subpath: &[&str]) -> Result<Url, HttpError> {
        self.project_url(project, "streaming-pipelines", subpath)
    }
}
