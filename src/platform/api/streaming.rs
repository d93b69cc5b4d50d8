//! Streaming pipelines: API document, sections "Streaming pipeline" and "Streaming pipelines".

use super::{Answer, Platform};
use crate::platform::http::{HttpError, Method, Repeat, Request, Success, Url};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

/// A streaming pipeline, as the platform keeps it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StreamingPipeline {
    pub streaming_pipeline_id: Option<String>,
    pub name: Option<String>,
    /// The streaming agent that runs it.
    pub agent_id: Option<String>,
    pub streaming_source: Option<StreamingSide>,
    pub streaming_target: Option<StreamingSide>,
    pub advanced_properties: Option<Map<String, Value>>,
}

/// One side of a streaming pipeline.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct StreamingSide {
    /// The kind of database or warehouse.
    pub r#type: Option<String>,
    pub connection: Option<Map<String, Value>>,
    /// Everything else that this side has.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct StreamingStatus {
    /// `starting`, `streaming`, or something the document does not know; to be compared without case.
    pub status: Option<String>,
}

/// What a streaming pipeline is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamingCommand {
    Start,
    Stop,
}

impl StreamingCommand {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
        }
    }
}

impl Platform {
    /// Makes a streaming pipeline: `POST /v1/projects/{projectId}/streaming-pipelines`, with the definition as it
    /// stands. Sent again only if surely not processed. Of a 400, [`HttpError::violations`] names the fields.
    pub async fn create_streaming_pipeline(
        &self,
        project: Uuid,
        definition: &Value,
    ) -> Result<Answer<StreamingPipeline>, HttpError> {
        let url = self.streaming_url(project, &[])?;
        self.ask(&Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(definition))
            .await
    }

    /// Its definition: `GET /v1/projects/{projectId}/streaming-pipelines/{streamingPipelineId}`.
    pub async fn streaming_pipeline(
        &self,
        project: Uuid,
        id: &str,
    ) -> Result<Answer<StreamingPipeline>, HttpError> {
        self.ask(&Request::get(self.streaming_url(project, &[id])?)).await
    }

    /// Starts or stops it: `POST …/{streamingPipelineId}/commands`. A success means that the agent was told, not that
    /// it is done. It names the state to be in, so telling it twice is telling it once.
    pub async fn command_streaming_pipeline(
        &self,
        project: Uuid,
        id: &str,
        command: StreamingCommand,
    ) -> Result<Value, HttpError> {
        let url = self.streaming_url(project, &[id, "commands"])?;
        let body = json!({ "command": command.word() });
        let request = Request::new(Method::POST, url, Repeat::Safe).json(&body);
        self.tell(&request.succeeds_by(Success::NotShown)).await
    }

    /// How it goes: `GET …/{streamingPipelineId}/status`.
    pub async fn streaming_status(
        &self,
        project: Uuid,
        id: &str,
    ) -> Result<Answer<StreamingStatus>, HttpError> {
        self.ask(&Request::get(self.streaming_url(project, &[id, "status"])?))
            .await
    }

    fn streaming_url(&self, project: Uuid, rest: &[&str]) -> Result<Url, HttpError> {
        self.project_url(project, "streaming-pipelines", rest)
    }
}
