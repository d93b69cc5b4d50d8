//! The platform's resources: a small file each, with its call, request and answer.
//!
//! Requests are exactly what the API document shows. Answers are read leniently: unknown fields and values pass
//! through, what may be missing is an `Option`, and where a command prints the platform's own shape, the answer
//! keeps it as `raw`. What has the wrong shape is an error that names the place in the JSON.

mod artifacts;
mod header;
mod lenient;
mod lists;
mod multipart;
mod publish;
mod reach;
mod review;
mod shared_pipelines;

pub use artifacts::{Artifact, ArtifactDetails, DetailedPipeline};
pub use header::{HeaderError, header_value};
pub use publish::{PartSource, PublishAnswer, Upload, UploadPart};
pub use review::{ReviewAnswer, ReviewRequest, RuleAnswer};
pub use shared_pipelines::SharedPipeline;

use crate::http::Client;

/// The platform, as its API. A clone shares connections and token.
#[derive(Clone)]
pub struct Platform {
    client: Client,
}

impl Platform {
    /// The platform that this client reaches.
    pub fn new(client: Client) -> Self {
        Self { client }
    }
}

/// What to do about a 403 of the shared pipeline endpoints.
const NEEDS_ADMIN: &str =
    "shared pipelines and their artifacts need a token with the account role Admin or Super Admin";

/// The failure with the role that is needed, if it is a 403.
fn naming_role(error: crate::http::HttpError) -> crate::http::HttpError {
    match error.kind() {
        crate::http::ErrorKind::Forbidden => error.with_hint(NEEDS_ADMIN),
        _ => error,
    }
}
