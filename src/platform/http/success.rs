//! What a success is: only what the API document shows for an endpoint, never any 2xx.

use super::HttpError;
use super::response::Response;

/// What an endpoint answers when it did what it was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Success {
    /// 200 or 201 with JSON.
    #[default]
    Body,
    /// 202 with JSON, or as [`Success::Body`]: it is taken, and goes on.
    Accepted,
    /// 204, and no body.
    Nothing,
    /// The document shows no body: 204, or 200 or 201 with anything but a page of HTML.
    NotShown,
}

impl Response {
    /// The answer, if it is the success that was to come. Anything else leaves open whether it was done.
    pub(super) fn shown_as(self, success: Success) -> Result<Self, HttpError> {
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
            Success::Body | Success::Accepted if empty => {
                Err(self.unusable("it is empty, and a body is due"))
            }
            Success::NotShown if self.is_page() => {
                Err(self.unusable(&format!("it is a page for people: {}", self.said())))
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
        format!("this status is no success here, where {due} is{said}")
    }
}
