//! The platform's resources: a small file for each, with its calls, requests and responses.
//!
//! Requests are exactly those of the API document. Responses are parsed leniently: unknown fields and values are
//! accepted, fields that may be missing are `Option`s, and if a command prints the platform's JSON, the response keeps
//! it as `raw`. A value of the wrong type is an error with its path in the JSON.

mod access_check;
mod api_value;
mod artifacts;
mod connections;
mod environments;
mod events;
mod executions;
mod header;
mod lenient_values;
mod list_page;
mod lists;
mod multipart;
mod platform_time;
mod projects;
mod publish;
mod repositories;
mod review;
mod secrets;
mod shared_pipelines;
mod streaming;
mod task_messages;
mod tasks;
mod variables;

pub use api_value::{ApiList, ApiValue};
pub use artifacts::*;
pub use connections::*;
pub use environments::*;
pub use events::*;
pub use executions::*;
pub use header::{HeaderError, to_header_value};
pub use multipart::{PartSource, UploadPart, escape_part_name};
pub use platform_time::{measure_duration, parse_platform_time};
pub use projects::*;
pub use publish::*;
pub use repositories::*;
pub use review::*;
pub use secrets::*;
pub use shared_pipelines::*;
pub use streaming::*;
pub use task_messages::*;
pub use tasks::*;
pub use variables::*;

use crate::http::{Client, HttpError, Observer, Url};
use uuid::Uuid;

/// The platform's API. Clones share connections and the token.
#[derive(Clone)]
pub struct Platform {
    client: Client,
}

impl Platform {
    pub fn new(client: Client) -> Self {
        Self { client }
    }

    pub fn observer(&self) -> &Observer {
        self.client.observer()
    }

    /// Returns the URL of a project's resource, with `subpath` below it.
    fn project_url(&self, project: Uuid, resource: &str, subpath: &[&str]) -> Result<Url, HttpError> {
        let project_id = project.to_string();
        let path = [&["projects", &project_id, resource], subpath].concat();
        self.client.url(&path)
    }
}

/// Hint for a 403 of the shared pipeline endpoints.
const ADMIN_ROLE_HINT: &str =
    "shared pipelines and their artifacts need a token with the account role Admin or Super Admin";

/// Adds the hint that shared pipelines need the role Admin or Super Admin to an error with status 403. Other errors are
/// returned unchanged.
fn add_role_hint(error: HttpError) -> HttpError {
    match error.kind() {
        crate::http::ErrorKind::Forbidden => error.with_hint(ADMIN_ROLE_HINT),
        _ => error,
    }
}
