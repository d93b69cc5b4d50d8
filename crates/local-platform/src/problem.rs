//! Rejections: each one has an HTTP status and a JSON body that describes the error.
//!
//! The body of a 400 follows the API document ("Errors"); for the other statuses, which the document leaves open, the
//! body has the same first four members. Handlers create a [`Problem`]; [`finish_response`] writes it as a response,
//! because only there the path is known.

use axum::Json;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// An error response to a request: its status, its message and the invalid fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    status: StatusCode,
    detail: String,
    field_errors: Vec<FieldError>,
    /// Whether the body is a [`ShortBody`].
    has_short_body: bool,
}

/// An error in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct FieldError {
    /// The dotted path of the invalid field; empty for the entire request.
    pub field: String,
    /// The rule that the field violates.
    pub message: String,
}

/// The body of every rejection.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(super) struct ProblemBody {
    /// Reason phrase of the HTTP status.
    title: &'static str,
    status: u16,
    /// Description of the error.
    detail: String,
    instance: String,
    /// With status 400: all validation errors.
    #[serde(rename = "validation-errors", skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    validation_errors: Vec<FieldError>,
}

/// The body that the API document defines for the 409 of an execution whose tag is in use.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ExecutionConflict)]
pub(super) struct ShortBody {
    /// Description of the error.
    error: String,
    status: u16,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Body {
    Full(ProblemBody),
    Short(ShortBody),
}

impl Problem {
    /// Creates an error response with this status.
    fn new(status: StatusCode, detail: impl Into<String>) -> Self {
        Self {
            status,
            detail: detail.into(),
            field_errors: Vec::new(),
            has_short_body: false,
        }
    }

    /// Creates a 400 that lists all validation errors; its detail states only the number of errors.
    pub(super) fn invalid(field_errors: Vec<FieldError>) -> Self {
        let count = field_errors.len();
        let detail = match count {
            1 => "the request has a validation error".to_owned(),
            _ => format!("the request has {count} validation errors"),
        };
        Self {
            field_errors,
            ..Self::new(StatusCode::BAD_REQUEST, detail)
        }
    }

    /// Creates a 400 with one validation error. An empty `field` means that the error is about the entire request.
    pub(super) fn invalid_field(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self::invalid(vec![FieldError {
            field: field.into(),
            message: message.into(),
        }])
    }

    /// Creates a 401: the token is missing or unknown.
    pub(super) fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "the request needs a valid bearer token")
    }

    /// Creates a 403: the caller's role is not sufficient.
    pub(super) fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, detail)
    }

    /// Creates a 404: the resource does not exist, or the caller may not see it.
    pub(super) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, detail)
    }

    /// Creates a 405; axum adds the `Allow` header, which lists the methods of the path.
    pub(super) fn method_not_allowed() -> Self {
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "this path does not support this method",
        )
    }

    /// Creates a 408: the body arrived too slowly.
    pub(super) fn slow_body() -> Self {
        Self::new(
            StatusCode::REQUEST_TIMEOUT,
            "the rest of the body did not arrive in time",
        )
    }

    /// Creates a 409: the request contradicts the current state of the resource.
    pub(super) fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, detail)
    }

    /// Creates a 409 with the short body that the API document defines for an execution whose tag is in use.
    pub(super) fn short_conflict(detail: impl Into<String>) -> Self {
        Self {
            has_short_body: true,
            ..Self::conflict(detail)
        }
    }

    /// Creates a 413: `subject` is larger than `limit` bytes.
    pub(super) fn too_large(subject: &str, limit: u64) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("{subject} may have at most {limit} bytes"),
        )
    }

    /// Creates a 500: the error is in the local platform.
    pub(super) fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, detail)
    }

    /// Returns the 500 for a handler that panicked.
    pub(super) fn panic_response() -> Response {
        Self::internal("this request failed because of a bug in the local platform").into_response()
    }

    /// Converts the problem to the JSON body of the response. `instance` is the path of the request.
    fn into_body(self, instance: String) -> Body {
        let status = self.status.as_u16();
        if self.has_short_body {
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
            validation_errors: self.field_errors,
        })
    }
}

impl IntoResponse for Problem {
    /// Creates the response without a body and attaches the problem to it; [`finish_response`] adds the body later,
    /// when the path of the request is known.
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

/// Adds the JSON body to a response that was created from a [`Problem`], and a request ID to every response.
pub(super) async fn finish_response(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let mut response = next.run(request).await;
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let (parts, body) = Json(problem.into_body(path)).into_response().into_parts();
        // The router may already have set the length of the empty body.
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
    fn refused_request_has_shape_of_api_document() {
        let problem = Problem::invalid_field("a.b", "must not be empty").into_body("/v1/x".into());
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
        let problem = Problem::conflict("taken").into_body("/v1/x".into());
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            r#"{"title":"Conflict","status":409,"detail":"taken","instance":"/v1/x"}"#
        );
        let problem = Problem::short_conflict("taken").into_body("/v1/x".into());
        assert_eq!(
            serde_json::to_string(&problem).unwrap(),
            r#"{"error":"taken","status":409}"#
        );
    }
}
