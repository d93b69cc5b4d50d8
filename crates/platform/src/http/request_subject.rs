//! Formats the request that a message is about.

use super::server_text;
use reqwest::Method;
use url::Url;

/// Returns the request for messages: its method, and its URL without credentials and fragment. The query of a URL that
/// this program did not build may contain a secret, so `has_safe_query` is false for it.
pub(super) fn format_subject(method: &Method, url: &Url, has_safe_query: bool) -> String {
    let mut display_url = url.clone();
    // Both setters fail only on URLs that cannot have the part that is removed.
    let _ = display_url.set_username("");
    let _ = display_url.set_password(None);
    display_url.set_fragment(None);
    if !has_safe_query {
        display_url.set_query(None);
    }
    format!("{method} {}", server_text::truncate_url(display_url.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subject_shows_no_secret() {
        let url = Url::parse("https://me:pw@h/a?token=t#f").unwrap();
        assert_eq!(format_subject(&Method::GET, &url, false), "GET https://h/a");
        let ours = Url::parse("https://h/a?page=0").unwrap();
        assert_eq!(
            format_subject(&Method::GET, &ours, true),
            "GET https://h/a?page=0"
        );
    }
}
