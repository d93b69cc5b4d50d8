//! Names that become path segments: encoded once, and rejected if the path would then lead to another resource.

use super::HttpError;
use reqwest::Url;

/// Rejects a path with a segment that would lead to another resource: the URL standard drops `.`, `..`, tabs and line
/// breaks, and servers ignore an empty segment.
pub(super) fn reject_invalid_segments(path: &[&str]) -> Result<(), HttpError> {
    for (index, segment) in path.iter().enumerate() {
        if let Some(reason) = find_segment_problem(segment) {
            let parent = path[..index].join("/");
            return Err(HttpError::invalid_name(format!(
                "the name {segment:?} cannot be used in a path below /{parent}: {reason}"
            )));
        }
    }
    Ok(())
}

/// Returns the reason why a text cannot be a path segment, or `None` if it can.
pub(crate) fn find_segment_problem(segment: &str) -> Option<String> {
    match segment {
        "" => return Some("the name is empty".to_owned()),
        "." | ".." => return Some("the name would change the path".to_owned()),
        _ => {}
    }
    if segment.trim().is_empty() {
        return Some("the name is blank".to_owned());
    }
    let control = segment.chars().find(|c| c.is_control())?;
    Some(format!("the name contains the control character {control:?}"))
}

/// Returns the URL with these segments appended to its path, each encoded separately.
pub(super) fn append_segments(url: &Url, path: &[&str]) -> Url {
    let mut url = url.clone();
    // Only URLs without a host have no segments.
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

#[cfg(test)]
mod tests {
    use crate::http::BaseUrl;
    use proptest::prelude::*;

    #[test]
    fn name_is_encoded_once_and_cannot_climb() {
        let base = BaseUrl::parse("https://h/dpc").unwrap();
        let path = |id| {
            base.resource_url(&["projects", id, "reviews"])
                .map(|url| url.path().to_owned())
        };
        assert_eq!(path("a/../b").unwrap(), "/dpc/v1/projects/a%2F..%2Fb/reviews");
        assert_eq!(
            path("a?x#y\\z").unwrap(),
            "/dpc/v1/projects/a%3Fx%23y%5Cz/reviews"
        );
        assert_eq!(path("%2E%2E").unwrap(), "/dpc/v1/projects/%252E%252E/reviews");
        for (name, why) in [
            ("", "the name is empty"),
            (" ", "the name is blank"),
            (".", "the name would change the path"),
            ("..", "the name would change the path"),
            ("a\tb", "the name contains the control character '\\t'"),
            (".\n.", "the name contains the control character '\\n'"),
            ("\u{9b}", "the name contains the control character '\\u{9b}'"),
        ] {
            let error = path(name).unwrap_err();
            assert!(error.to_string().ends_with(why), "{error}");
            assert!(!error.hint().is_empty());
        }
    }

    proptest! {
        #[test]
        fn segment_is_one_segment_or_refused(id in "\\PC{0,12}|[./%\\\\?#\\t\\n]{0,6}") {
            if let Ok(url) = BaseUrl::parse("https://h/dpc").unwrap().resource_url(&["a", &id, "b"]) {
                prop_assert_eq!(url.host_str(), Some("h"));
                let again = url::Url::parse(url.as_str()).unwrap();
                let segments: Vec<_> = again.path_segments().unwrap().collect();
                prop_assert_eq!(segments.len(), 5, "{}", url);
                prop_assert_eq!((segments[2], segments[4]), ("a", "b"));
                prop_assert!(url.query().is_none() && url.fragment().is_none());
            }
        }
    }
}
