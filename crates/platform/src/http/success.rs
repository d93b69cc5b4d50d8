//! The definition of success: only the responses that the API document shows for an endpoint, not any 2xx.

use super::HttpError;
use super::response::Response;

/// The response with which an endpoint reports success.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Success {
    /// 200 or 201 with JSON.
    #[default]
    Body,
    /// 202 with JSON, or as [`Success::Body`]: the server accepted the request and continues to work on it, or the API
    /// document does not define the status.
    Accepted,
    /// Any success of [`Success::Accepted`], or a response without a body: nothing in the body is needed.
    AcceptedOrEmpty,
    /// 204, and no body.
    NoContent,
    /// The document does not define a body: 204, or 200 or 201 with anything but a page of HTML.
    Undocumented,
}

impl Response {
    /// Returns the response if it is the success that the request expects. For any other 2xx response, it is unknown
    /// whether the work was done, so it is an error. If the API document does not define a body, an HTML page is an
    /// error, too, because a proxy may have sent it.
    pub(super) fn require_success(self, success: Success) -> Result<Self, HttpError> {
        let status = self.head.status.as_u16();
        let is_expected = match success {
            Success::Body => matches!(status, 200 | 201),
            Success::Accepted => matches!(status, 200..=202),
            Success::AcceptedOrEmpty => matches!(status, 200..=202 | 204),
            Success::NoContent => status == 204,
            Success::Undocumented => matches!(status, 200 | 201 | 204),
        };
        if !is_expected {
            return Err(self.unusable_error(&self.describe_unexpected_status(success)));
        }
        match success {
            Success::Body | Success::Accepted if self.is_empty() => {
                Err(self.unusable_error("the body is empty"))
            }
            Success::Undocumented if self.is_html() => {
                Err(self.unusable_error(&format!("the body is an HTML page: {}", self.message_text())))
            }
            _ => Ok(self),
        }
    }

    /// Describes which statuses were expected, followed by the response's message if it has one.
    fn describe_unexpected_status(&self, success: Success) -> String {
        let expected_status = match success {
            Success::Body => "200 or 201",
            Success::Accepted => "200, 201 or 202",
            Success::AcceptedOrEmpty => "200, 201, 202 or 204",
            Success::Undocumented => "200, 201 or 204",
            Success::NoContent => "204",
        };
        let message = self.message_text();
        if message.is_empty() {
            format!("expected status {expected_status}")
        } else {
            format!("expected status {expected_status}: {message}")
        }
    }
}
