//! The definition of success: only the responses that the API document shows for an endpoint, not any 2xx.

use super::HttpError;
use super::response::Response;

/// The response with which an endpoint reports success.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Success {
    /// 200 or 201 with JSON.
    #[default]
    Body,
    /// 202 with JSON, or as [`Success::Body`]: the server accepted the request and continues to work on it.
    Accepted,
    /// 204, and no body.
    Nothing,
    /// The document shows no body: 204, or 200 or 201 with anything but a page of HTML.
    NotShown,
}

impl Response {
    /// Returns the response if it is the expected success. Any other response leaves open whether the work was done.
    pub(super) fn expect_success(self, success: Success) -> Result<Self, HttpError> {
        let status = self.head.status.as_u16();
        let fits = match success {
            Success::Body => matches!(status, 200 | 201),
            Success::Accepted => matches!(status, 200..=202),
            Success::Nothing => status == 204,
            Success::NotShown => matches!(status, 200 | 201 | 204),
        };
        let empty = self.body.iter().all(u8::is_ascii_whitespace);
        if !fits {
            return Err(self.unusable(&self.instead(success)));
        }
        match success {
            Success::Body | Success::Accepted if empty => Err(self.unusable("the body is empty")),
            Success::NotShown if self.is_page() => {
                Err(self.unusable(&format!("the body is an HTML page: {}", self.said())))
            }
            _ => Ok(self),
        }
    }

    fn instead(&self, success: Success) -> String {
        let due = match success {
            Success::Body | Success::NotShown => "200 or 201",
            Success::Accepted => "202",
            Success::Nothing => "204",
        };
        let said = self.said();
        let said = if said.is_empty() {
            said
        } else {
            format!(": {said}")
        };
        format!("expected status {due}{said}")
    }
}
