//! Project variables: API document, sections "Project variable" and "Project variables".

use super::lenient::null_is_default;
use super::{Answer, Platform};
use crate::platform::http::{HttpError, Method, Repeat, Request, Success, Url};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    pub id: Option<String>,
    /// Its name, which never changes.
    pub name: Option<String>,
    /// `TEXT`, `NUMBER`, or something the document does not know.
    pub r#type: Option<String>,
    /// `SHARED`, `COPIED`, or something the document does not know.
    pub behaviour: Option<String>,
    pub description: Option<String>,
    /// Its value: text or number, as its type.
    pub value: Option<Value>,
    /// Whether its value may name variables in turn.
    pub supports_double_resolution: Option<bool>,
}

/// A variable to be made. The document does not show which fields are required: what is none is not sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewVariable {
    pub name: String,
    #[serde(flatten)]
    pub fields: VariableFields,
}

/// The fields of a variable that can be set; what is none is not sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VariableFields {
    /// `TEXT` or `NUMBER`. A change must have it, changed or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// `SHARED` or `COPIED`. A change must have it, changed or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behaviour: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its value: text or number, as its type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Whether its value may name variables in turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_double_resolution: Option<bool>,
}

/// What the platform says of a variable that it made.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct VariableCreated {
    pub id: Option<String>,
    pub name: Option<String>,
    pub value: Option<Value>,
}

/// The value of a variable in one environment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Override {
    pub environment_name: String,
    pub value: Value,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
pub struct Overrides {
    /// Which variable: `id`, `name` and `type`.
    #[serde(default, deserialize_with = "null_is_default")]
    pub variable: Variable,
    #[serde(default, deserialize_with = "null_is_default")]
    pub overrides: Vec<Override>,
}

/// What became of overrides that were to be set. The document does not show what an entry looks like.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OverridesSet {
    pub variable_name: Option<String>,
    pub r#type: Option<String>,
    /// Those that hold now; none if the answer does not tell.
    pub successful_overrides: Option<Vec<Value>>,
    /// Those that could not be set; none if the answer does not tell.
    pub failed_overrides: Option<Vec<Value>>,
}

impl Platform {
    /// All variables: `GET /v1/projects/{projectId}/variables`, page by page.
    pub async fn variables(&self, project: Uuid) -> Result<Vec<Answer<Variable>>, HttpError> {
        self.all(self.variable_url(project, &[])?).await
    }

    /// Makes a variable: `POST /v1/projects/{projectId}/variables`. Sent again only if surely not processed.
    pub async fn create_variable(
        &self,
        project: Uuid,
        variable: &NewVariable,
    ) -> Result<Answer<VariableCreated>, HttpError> {
        let url = self.variable_url(project, &[])?;
        self.ask(&Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(&json!(variable)))
            .await
    }

    /// Changes a variable: `PATCH /v1/projects/{projectId}/variables/{variableName}`; `fields` must have type and
    /// behaviour. It says what is to be, not by how much, so sending it twice is sending it once.
    pub async fn update_variable(
        &self,
        project: Uuid,
        name: &str,
        fields: &VariableFields,
    ) -> Result<(), HttpError> {
        let url = self.variable_url(project, &[name])?;
        let request = Request::new(Method::PATCH, url, Repeat::Safe).json(&json!(fields));
        self.tell(&request.succeeds_by(Success::Nothing)).await.map(drop)
    }

    /// Deletes a variable and all its overrides: `DELETE /v1/projects/{projectId}/variables/{variableName}`.
    pub async fn delete_variable(&self, project: Uuid, name: &str) -> Result<(), HttpError> {
        self.remove(self.variable_url(project, &[name])?).await
    }

    /// The overrides of a variable, in one environment or in all:
    /// `GET /v1/projects/{projectId}/variables/{variableName}/environment-overrides`.
    pub async fn overrides(
        &self,
        project: Uuid,
        name: &str,
        environment: Option<&str>,
    ) -> Result<Answer<Overrides>, HttpError> {
        let mut request = Request::get(self.variable_url(project, &[name, "environment-overrides"])?);
        if let Some(environment) = environment {
            request = request.query("environmentName", environment);
        }
        self.ask(&request).await
    }

    /// Sets overrides, there or not: `POST …/environment-overrides`. Setting a value twice is setting it once, so it
    /// may be repeated. Some may fail although the answer is a success.
    pub async fn set_overrides(
        &self,
        project: Uuid,
        name: &str,
        overrides: &[Override],
    ) -> Result<Answer<OverridesSet>, HttpError> {
        let url = self.variable_url(project, &[name, "environment-overrides"])?;
        let body = json!({ "overrides": overrides });
        self.ask(&Request::new(Method::POST, url, Repeat::Safe).json(&body))
            .await
    }

    /// Takes an override away: `DELETE …/environment-overrides/{environmentName}`.
    pub async fn delete_override(
        &self,
        project: Uuid,
        name: &str,
        environment: &str,
    ) -> Result<(), HttpError> {
        self.remove(self.variable_url(project, &[name, "environment-overrides", environment])?)
            .await
    }

    fn variable_url(&self, project: Uuid, rest: &[&str]) -> Result<Url, HttpError> {
        self.project_url(project, "variables", rest)
    }
}
