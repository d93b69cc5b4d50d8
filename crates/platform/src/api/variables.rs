//! Project variables: API document, sections "Project variable" and "Project variables".

use super::lenient_values::default_if_null;
use super::{ApiList, ApiValue, Platform};
use crate::http::{HttpError, Method, Repeat, Request, Success, Url};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use uuid::Uuid;

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Variable {
    pub id: Option<String>,
    /// Unique name, which never changes.
    pub name: Option<String>,
    /// `TEXT`, `NUMBER`, or a value that the API document does not define.
    pub r#type: Option<String>,
    /// `SHARED`, `COPIED`, or a value that the API document does not define.
    pub behaviour: Option<String>,
    pub description: Option<String>,
    /// Value: text or number, according to the type.
    pub value: Option<Value>,
    /// Whether the value may refer to other variables.
    pub supports_double_resolution: Option<bool>,
}

/// A variable to be created. The API document does not show which fields are required: `None` fields are not sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewVariable {
    pub name: String,
    #[serde(flatten)]
    pub fields: VariableFields,
}

/// The fields of a variable that can be set; `None` fields are not sent.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VariableFields {
    /// `TEXT` or `NUMBER`. Required for an update, even if it does not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// `SHARED` or `COPIED`. Required for an update, even if it does not change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behaviour: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Value: text or number, according to the type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Whether the value may refer to other variables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supports_double_resolution: Option<bool>,
}

/// The platform's response to the creation of a variable.
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
    /// The variable, with `id`, `name` and `type`.
    #[serde(default, deserialize_with = "default_if_null")]
    pub variable: Variable,
    /// Required, because a response without the list does not show that the variable has no overrides.
    #[serde(deserialize_with = "default_if_null")]
    pub overrides: Vec<Override>,
}

/// The platform's response to setting overrides. The API document does not define the fields of an entry.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OverridesSet {
    pub variable_name: Option<String>,
    pub r#type: Option<String>,
    /// Overrides that were set; `None` if the response has no such list.
    pub successful_overrides: Option<Vec<Value>>,
    /// Overrides that could not be set; `None` if the response has no such list.
    pub failed_overrides: Option<Vec<Value>>,
}

impl Platform {
    /// Returns all variables: `GET /v1/projects/{projectId}/variables`, page by page.
    pub async fn fetch_variables(&self, project: Uuid) -> Result<ApiList<Variable>, HttpError> {
        self.fetch_all_entries(self.variable_url(project, &[])?).await
    }

    /// Creates a variable: `POST /v1/projects/{projectId}/variables`. The request is repeated only if it was certainly
    /// not processed. Fails without a request if no later request could contain the variable's name in its path.
    pub async fn create_variable(
        &self,
        project: Uuid,
        variable: &NewVariable,
    ) -> Result<ApiValue<VariableCreated>, HttpError> {
        self.variable_url(project, &[&variable.name])?;
        let url = self.variable_url(project, &[])?;
        self.send_and_parse(
            &Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed).json(&json!(variable)),
        )
        .await
    }

    /// Updates a variable: `PATCH /v1/projects/{projectId}/variables/{variableName}`. `fields` must have a type and a
    /// behaviour. The request sets absolute values, so it is idempotent.
    pub async fn update_variable(
        &self,
        project: Uuid,
        name: &str,
        fields: &VariableFields,
    ) -> Result<(), HttpError> {
        let url = self.variable_url(project, &[name])?;
        let request = Request::new(Method::PATCH, url, Repeat::Safe).json(&json!(fields));
        self.send_and_read_body(&request.with_success(Success::NoContent))
            .await
            .map(drop)
    }

    /// Deletes a variable and all its overrides: `DELETE /v1/projects/{projectId}/variables/{variableName}`.
    pub async fn delete_variable(&self, project: Uuid, name: &str) -> Result<(), HttpError> {
        self.delete_resource(self.variable_url(project, &[name])?).await
    }

    /// Returns the overrides of a variable, in one environment or in all:
    /// `GET /v1/projects/{projectId}/variables/{variableName}/environment-overrides`.
    pub async fn fetch_variable_overrides(
        &self,
        project: Uuid,
        name: &str,
        environment: Option<&str>,
    ) -> Result<ApiValue<Overrides>, HttpError> {
        let mut request = Request::get(self.variable_url(project, &[name, "environment-overrides"])?);
        if let Some(environment) = environment {
            request = request.query("environmentName", environment);
        }
        self.send_and_parse(&request).await
    }

    /// Creates or replaces overrides: `POST …/environment-overrides`. The request is idempotent. Some overrides may
    /// fail although the response is a success.
    pub async fn set_overrides(
        &self,
        project: Uuid,
        name: &str,
        overrides: &[Override],
    ) -> Result<ApiValue<OverridesSet>, HttpError> {
        for entry in overrides {
            self.variable_url(project, &[name, "environment-overrides", &entry.environment_name])?;
        }
        let url = self.variable_url(project, &[name, "environment-overrides"])?;
        let body = json!({ "overrides": overrides });
        self.send_and_parse(&Request::new(Method::POST, url, Repeat::Safe).json(&body))
            .await
    }

    /// Removes an override: `DELETE …/environment-overrides/{environmentName}`.
    pub async fn delete_override(
        &self,
        project: Uuid,
        name: &str,
        environment: &str,
    ) -> Result<(), HttpError> {
        self.delete_resource(self.variable_url(project, &[name, "environment-overrides", environment])?)
            .await
    }

    fn variable_url(&self, project: Uuid, subpath: &[&str]) -> Result<Url, HttpError> {
        self.project_url(project, "variables", subpath)
    }
}
