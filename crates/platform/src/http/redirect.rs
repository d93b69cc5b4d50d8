//! Redirects: followed only within the origin that the token is for.

use super::ErrorKind;
use super::error::HttpError;
use super::response::ResponseHead;
use reqwest::header::LOCATION;
use reqwest::{Method, StatusCode, Url};

/// Maximum number of redirects that are followed for one request.
pub(super) const MAX_REDIRECTS: u32 = 5;

/// Returns the URL to request next, or `None` if the response is not a redirect or does not name a target. Fails for a
/// redirect that is not followed: to an invalid URL, to another origin, or with another method. The error shows only
/// the target's origin.
pub(super) fn find_redirect_target(
    head: &ResponseHead,
    method: &Method,
    url: &Url,
) -> Result<Option<Url>, HttpError> {
    if !is_redirect(head.status) {
        return Ok(None);
    }
    let Some(location) = head.headers.get(LOCATION) else {
        return Ok(None);
    };
    let Some(target) = std::str::from_utf8(location.as_bytes())
        .ok()
        .and_then(|text| url.join(text).ok())
    else {
        return Err(redirect_error(head, "the target of the redirect is not a URL"));
    };
    if target.origin() != url.origin() {
        let origin = target.origin().ascii_serialization();
        return Err(redirect_error(
            head,
            &format!("a redirect to another origin, {origin}, is not followed"),
        )
        .with_hint("if this origin is the platform, set it as the base URL"));
    }
    if method != Method::GET && !keeps_method(head.status) {
        return Err(redirect_error(
            head,
            &format!("a redirect that would turn {method} into GET is not followed"),
        ));
    }
    Ok(Some(target))
}

fn is_redirect(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

/// Returns whether a redirect with this status repeats the request with the same method.
fn keeps_method(status: StatusCode) -> bool {
    matches!(status.as_u16(), 307 | 308)
}

/// Creates the error for a redirect that is not followed. If the status would have changed the method, the request may
/// have had its effect.
fn redirect_error(head: &ResponseHead, reason: &str) -> HttpError {
    let error = head.build_error(ErrorKind::BadResponse, reason);
    if keeps_method(head.status) {
        error
    } else {
        error.mark_maybe_processed()
    }
}
