//! Secrets of the full SaaS deployment: API document, section "Secret".

use super::{ApiValue, Platform};
use crate::http::{HttpError, Method, Repeat, Request};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

/// A secret to be stored. Its value cannot be printed.
#[derive(Debug, Clone)]
pub struct NewSecret {
    /// Name for later references.
    pub name: String,
    /// `DWH_PASSWORD` for warehouse credentials.
    pub r#type: String,
    /// Name of the property that contains the secret's value.
    pub key: String,
    pub value: SecretString,
}

/// A stored secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct SecretCreated {
    #[serde(rename = "vaultSecretName")]
    pub vault_secret_name: Option<String>,
    pub resolver_ref: Option<String>,
}

impl Platform {
    /// Stores a secret: `POST /v1/secrets/{agentId}/secret-value`, only for the full SaaS deployment. The request is
    /// repeated only if it was certainly not processed. The secret is removed from the response if the platform returns
    /// it.
    pub async fn create_secret(
        &self,
        agent: &str,
        secret: &NewSecret,
    ) -> Result<ApiValue<SecretCreated>, HttpError> {
        let url = self.client.url(&["secrets", agent, "secret-value"])?;
        let value = Value::String(secret.value.expose_secret().to_owned());
        let body = json!({
            "name": secret.name,
            "type": secret.r#type,
            "key": secret.key,
            "value": { secret.key.as_str(): value },
        });
        let request = Request::new(Method::POST, url, Repeat::OnlyIfUnprocessed)
            .json(&body)
            .with_secret(secret.value.clone());
        self.send_and_parse(&request).await
    }
}
