//! Secrets of runners (API document, "Projects, environments, provisioning").

use super::Resource;
use crate::app::App;
use crate::body::JsonObject;
use crate::body_check::BodyCheck;
use crate::json_fields::JsonFields as _;
use crate::problem::Problem;
use crate::request_path::RequestPath;
use crate::shape::{Shape, any_text, map_of, object, required_member, rule, text};
use crate::store::secrets;
use crate::tokens::Caller;
use crate::vocabulary::Vocabulary;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The routes and the request bodies.
pub(super) const RESOURCE: Resource = Resource { routes, shapes };

/// Returns the HTTP routes for secrets.
fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(create_secret))
}

/// Returns the shapes of the request bodies, whose schemas are added to the API description.
fn shapes(_: &Vocabulary) -> Vec<Shape> {
    vec![secret_request_shape()]
}

/// Returns the shape of a request to store a secret.
fn secret_request_shape() -> Shape {
    object([
        required_member("name", text())
            .with_description("The name that other requests use to refer to the secret."),
        required_member("type", text()).with_description("`DWH_PASSWORD` for warehouse credentials."),
        required_member("key", text()).with_description("The name of the only property of `value`."),
        // This rule has no JSON schema.
        rule(check_secret_value, None),
        required_member("value", map_of(any_text())).with_description(
            "An object whose only property is the secret; `key` contains the property's name.",
        ),
    ])
    .with_name_and_description("SecretRequest", "The body of a request to store a secret.")
}

/// A reference to a stored secret.
#[derive(Debug, Serialize, ToSchema)]
struct CreatedSecret {
    /// The name that environments use to refer to the secret.
    #[serde(rename = "vaultSecretName")]
    vault_secret_name: String,
    /// The reference to the stored value.
    resolver_ref: String,
}

/// Stores a secret for a runner of the full SaaS deployment. Any UUID is accepted as a runner's ID, except that of a
/// runner that only environments of hybrid projects use.
#[utoipa::path(
    post,
    path = "/v1/secrets/{agentId}/secret-value",
    operation_id = "createSecret",
    tag = "Projects",
    params(("agentId" = String, Path, format = "uuid", description = "The ID of the project's runner.")),
    request_body = ref("#/components/schemas/SecretRequest"),
    responses((status = 201, body = CreatedSecret, description = "The runner can read the secret."))
)]
async fn create_secret(
    caller: Caller,
    State(app): State<Arc<App>>,
    request_path: RequestPath,
    JsonObject(body): JsonObject,
) -> Result<(StatusCode, Json<CreatedSecret>), Problem> {
    let agent = request_path.uuid_parameter("agentId")?;
    secret_request_shape().validate(&body)?;
    // The value of the secret is checked, but not stored.
    let secret = ["name", "type", "key"].map(|field| body.text_or_empty(field));
    let [vault_secret_name, ..] = secret.clone();
    let author = app.author_for(&caller);
    app.store()
        .try_change(move |transaction| {
            if secrets::is_hybrid_runner(transaction, agent)? {
                return Ok(Err(Problem::invalid_field(
                    "agentId",
                    "must not be the ID of a hybrid project's runner: only a full SaaS project has secrets",
                )));
            }
            let secret = secret.each_ref().map(String::as_str);
            secrets::insert_or_replace(transaction, agent, secret, &author).map(Ok)
        })
        .await??;
    Ok((
        StatusCode::CREATED,
        Json(CreatedSecret {
            resolver_ref: format!("vault:{agent}/{vault_secret_name}"),
            vault_secret_name,
        }),
    ))
}

/// Checks that the object in `value` has exactly one property, the one that `key` names, and that this property is not
/// empty. The shapes of the members report a missing `value`, a property that is not a string, and a missing or empty
/// `key`; without a key, the check
/// reports the properties of `value`, too.
fn check_secret_value(check: &mut BodyCheck, body: &Map<String, Value>) {
    let Some(value) = body.find_object("value") else {
        return;
    };
    let key = body.text_or_empty("key");
    check.read_nested_field("value", |check| {
        match value.get(&key) {
            None if !key.is_empty() => check.add_error(&key, "must not be null"),
            Some(Value::String(text)) if text.trim().is_empty() => check.add_error(&key, "must not be empty"),
            _ => {}
        }
        // The shape of `value` already reports a property that is not a string.
        for (name, _) in value
            .iter()
            .filter(|(name, value)| **name != key && value.is_string())
        {
            check.add_error(
                name,
                "is not allowed: `value` contains only the property that `key` names",
            );
        }
    });
}
