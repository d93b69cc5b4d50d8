//! Refusals: every one has a status and a JSON body that says what was wrong.
//!
//! The body of a 400 is the API document's ("Errors"); what that leaves open for the other statuses has the same
//! first four members. Handlers make a [`Problem`]; [`answer`] writes it out, because only there the path is known.

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A refused or failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    status: StatusCode,
    detail: String,
    findings: Vec<FieldError>,
    /// Whether the body is a [`ShortBody`].
    short: bool,
}

/// One thing that is wrong with a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct FieldError {
    /// The dotted path into the request; empty for the request as a whole.
    pub field: String,
    /// The rule that it breaks.
    pub message: String,
}

/// The body of every refusal.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct ProblemBody {
    /// The status in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// What was wrong.
    detail: String,
    /// The path of the request.
    instance: String,
    /// With 400: everything that was found.
    #[serde(rename = "validation-errors", skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    validation_errors: Vec<FieldError>,
}

/// The body that the API document gives to the 409 of an execution whose tag is taken.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ExecutionConflict)]
pub(super) struct ShortBody {
    /// What was wrong.
    error: String,
    /// The HTTP status.
    status: u16,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Body {
    Full(ProblemBody),
    Short(ShortBody),
}

impl Problem {
    fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            findings: Vec::new(),
            short: false,
        }
    }

    /// 400 with everything that was found.
    pub(super) fn invalid(findings: Vec<FieldError>) -> Self {
        let count = findings.len();
        let detail = match count {
            1 => "the request has a validation error".to_owned(),
            _ => format!("the request has {count} validation errors"),
        };
        Self {
            findings,
            ..Self::new(StatusCode::BAD_REQUEST, detail)
        }
    }

    /// 400 with one finding.
    pub(super) fn invalid_field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid(vec![FieldError {
            field: field.into(),
            message: message.into(),
        }])
    }

    /// 401: no token, or none that is known.
    pub(super) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "a known bearer token is needed")
    }

    /// 403: the caller's role does not suffice.
    pub(super) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    /// 404.
    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// 405; which methods there are stands in the `Allow` header.
    pub(super) fn method_not_allowed() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "this path does not have this method",
        )
    }

    /// 408: the body came too slowly.
    pub(super) fn too_slow() -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "the rest of the body did not come in time",
        )
    }

    /// 409.
    pub(super) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    /// 409 in the short form.
    pub(super) fn short_conflict(detail: impl Into<String>) -> Self {
        Self {
            short: true,
            ..Self::conflict(detail)
        }
    }

    /// 413: more than `limit` bytes, of what `subject` says.
    pub(super) fn too_large(subject: &str, limit: u64) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("{subject} may have {limit} bytes"),
        )
    }

    /// 500: the fault is this side's.
    pub(super) fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }

    /// 500 for a handler that panicked.
    pub(super) fn panicked() -> Response {
        Self::internal("a defect of the local platform ended this request").into_response()
    }

    fn body(self, instance: String) -> Body {
        let status = self.status.as_u16();
        if self.short {
            return Body::Short(ShortBody {
                error: self.detail,
                status,
            });
        }
        Body::Full(ProblemBody {
            title: self.status.canonical_reason().unwrap_or("Error"),
            status,
            detail: self.detail,
            instance,
            validation_errors: self.findings,
        })
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            let headers = response.headers_mut();
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes out the body of a refusal and gives every answer a request id.
pub(super) async fn answer(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let (parts, body) = Json(problem.body(path)).into_response().into_parts();
        response.headers_mut().remove(header::CONTENT_LENGTH);
        response.headers_mut().extend(parts.headers);
        *response.body_mut() = body;
    }
    if let Ok(id) = HeaderValue::try_from(Uuid::new_v4().to_string()) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::Problem;

    #[test]
    fn a_refused_request_has_the_shape_of_the_api_document() {
        let problem = Problem::invalid_field("a.b", "must not be empty").body("/v1/x".into());
        insta::assert_snapshot!(serde_json::to_string_pretty(&problem).unwrap(), @r#"
        {
          "title": "Bad Request",
          "status": 400,
          "detail": "the request has a validation error",
          "instance": "/v1/x",
          "validation-errors": [
            {
              "field": "a.b",
              "message": "must not be empty"
            }
          ]
        }
        "#);
        let problem = Problem::conflict("taken").body("/v1/x".into());
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            r#"{"title":"Conflict","status":409,"detail":"taken","instance":"/v1/x"}"#
        );
        let problem = Problem::short_conflict("taken").body("/v1/x".into());
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            r#"{"error":"taken","status":409}"#
        );
    }
}
