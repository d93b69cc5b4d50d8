//! Values that are sent as headers: the agent version, and the metadata of a published artifact.

use crate::http::HeaderValue;

/// The reason why a text cannot be a header value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The text is empty.
    #[error("the value is empty")]
    Empty,
    /// The text has surrounding blanks, which would be lost in transit.
    #[error("the value begins or ends with a blank")]
    Blank,
    /// A line break, tab or other control character.
    #[error("the value contains the control character {0:?}, which no header allows")]
    Control(char),
}

/// Converts a text to a header value, so that it can be checked before anything is sent.
///
/// Visible ASCII and inner blanks are sent unchanged. Other characters are sent as raw UTF-8 bytes, because branches
/// and versions may use any script and the API document defines no encoding; HTTP/1.1 and HTTP/2 both transmit such
/// bytes (`obs-text` in <https://www.rfc-editor.org/rfc/rfc9110#section-5.5>).
pub fn to_header_value(text: &str) -> Result<HeaderValue, HeaderError> {
    if text.is_empty() {
        return Err(HeaderError::Empty);
    }
    if let Some(control) = text.chars().find(|character| character.is_control()) {
        return Err(HeaderError::Control(control));
    }
    if text.trim() != text {
        return Err(HeaderError::Blank);
    }
    // Only control characters are invalid here, and they are rejected above.
    HeaderValue::from_bytes(text.as_bytes()).map_err(|_| HeaderError::Control('\u{0}'))
}

#[cfg(test)]
mod tests {
    use super::{HeaderError, to_header_value};
    use proptest::prelude::*;

    #[test]
    fn texts_go_as_they_are_or_not_at_all() {
        assert_eq!(
            to_header_value("1.2.0 (größer)").unwrap().as_bytes(),
            "1.2.0 (größer)".as_bytes()
        );
        assert_eq!(to_header_value(""), Err(HeaderError::Empty));
        assert_eq!(to_header_value("a "), Err(HeaderError::Blank));
        assert_eq!(to_header_value("a\r\nx: y"), Err(HeaderError::Control('\r')));
        assert_eq!(to_header_value("a\u{85}"), Err(HeaderError::Control('\u{85}')));
    }

    proptest! {
        #[test]
        fn accepted_value_is_unchanged(text: String) {
            if let Ok(value) = to_header_value(&text) {
                prop_assert_eq!(value.as_bytes(), text.as_bytes());
                prop_assert!(!text.contains(['\r', '\n', '\0']));
            }
        }
    }
}
