//! Secrets of runners (API document, "Projects, environments, provisioning").

use crate::service::app::App;
use crate::service::body::JsonObject;
use crate::service::check::{Check, given};
use crate::service::place::Place;
use crate::service::problem::Problem;
use crate::service::store::secrets;
use crate::service::tokens::Caller;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The routes of this resource.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create))
}

/// The body of a secret.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct SecretRequest {
    /// The name by which the secret is referred to later.
    #[schema(pattern = r"\S")]
    name: String,
    /// `DWH_PASSWORD` for warehouse credentials.
    #[schema(pattern = r"\S")]
    r#type: String,
    /// The name of the one property of `value`.
    #[schema(pattern = r"\S")]
    key: String,
    /// One property, named by `key`, that holds the secret.
    #[schema(value_type = BTreeMap<String, String>)]
    value: BTreeMap<String, String>,
}

/// Where a secret is.
#[derive(Debug, Serialize, ToSchema)]
struct CreatedSecret {
    /// The name by which environments refer to it.
    #[serde(rename = "vaultSecretName")]
    vault_secret_name: String,
    /// What stands for the stored value.
    resolver_ref: String,
}

/// Stores a secret for a runner of the full SaaS deployment. Any identifier is that of a runner.
#[utoipa::path(
    post,
    path = "/v1/secrets/{agentId}/secret-value",
    operation_id = "createSecret",
    tag = "Projects",
    params(("agentId" = String, Path, format = "uuid", description = "The runner of the project.")),
    request_body = SecretRequest,
    responses((status = 201, body = CreatedSecret, description = "The runner can read the secret."))
)]
async fn create(
    caller: Caller,
    State(app): State<Arc<App>>,
    place: Place,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<CreatedSecret>), Problem> {
    let agent = place.uuid("agentId")?;
    let mut check = Check::default();
    let words = [
        check.text(&body, "name"),
        check.text(&body, "type"),
        check.text(&body, "key"),
    ];
    check_value(&mut check, &body);
    let words = check.done(words)?;
    let [vault_secret_name, ..] = words.clone();
    let author = app.author(&caller);
    app.store()
        .change(move |transaction| {
            secrets::put(transaction, agent, words.each_ref().map(String::as_str), &author)
        })
        .await?;
    Ok((
        StatusCode::CREATED,
        Json(CreatedSecret {
            resolver_ref: format!("vault:{agent}/{vault_secret_name}"),
            vault_secret_name,
        }),
    ))
}

/// Exactly the property that `key` names, and it holds a text.
fn check_value(check: &mut Check, body: &Map<String, Value>) {
    let key = given(body, "key")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    check.object(body, "value", |check, value| {
        if !key.is_empty() {
            check.text(value, &key);
        }
        for other in value.keys().filter(|other| **other != key) {
            check.note(
                other,
                "must not be there: the value has one property, the one that `key` names",
            );
        }
    });
}
