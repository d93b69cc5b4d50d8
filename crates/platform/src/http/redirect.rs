//! Redirects: followed only within the origin that the token is for.

use super::ErrorKind;
use super::error::HttpError;
use super::response::ResponseHead;
use reqwest::header::LOCATION;
use reqwest::{Method, StatusCode, Url};

/// Maximum number of redirects that are followed for one request.
pub(super) const MOST: u32 = 5;

/// Returns the URL to go to next, or `None` if the response is not a redirect. A redirect that is not followed is a
/// failure that shows only the target's origin.
pub(super) fn next(head: &ResponseHead, method: &Method, from: &Url) -> Result<Option<Url>, HttpError> {
    if !is_redirect(head.status) {
        return Ok(None);
    }
    let Some(location) = head.headers.get(LOCATION) else {
        return Ok(None);
    };
    let target = std::str::from_utf8(location.as_bytes())
        .ok()
        .and_then(|text| from.join(text).ok());
    let Some(target) = target else {
        return Err(refused(head, "a redirect to something that is not a URL"));
    };
    if target.origin() != from.origin() {
        let origin = target.origin().ascii_serialization();
        return Err(refused(
            head,
            &format!("a redirect to another origin, {origin}, is not followed"),
        )
        .with_hint("if this origin is the platform, set it as the base URL"));
    }
    if method != Method::GET && !keeps_method(head.status) {
        return Err(refused(
            head,
            &format!("a redirect that would turn {method} into GET is not followed"),
        ));
    }
    Ok(Some(target))
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn keeps_method(status: StatusCode) -> bool {
    matches!(status.as_u16(), 307 | 308)
}

fn refused(head: &ResponseHead, why: &str) -> HttpError {
    let error = head.failure(ErrorKind::BadAnswer, why);
    if keeps_method(head.status) {
        error
    } else {
        error.maybe_processed()
    }
}
