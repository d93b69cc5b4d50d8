//! Hides secrets in the messages of the git program. Git repeats the URL of a remote, and the text of a server, which
//! may repeat a header.

use super::git_environment::passed_environment;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use sluicegate_base::{redaction::redact, remote_url::RemoteUrl};

/// The sections of git's configuration that contain URLs, in their settings or as their names.
const SECTIONS_WITH_URLS: [&str; 5] = ["branch.", "http.", "remote.", "submodule.", "url."];
/// Minimum length of a user name or a part of a query that may be a secret, in bytes. A token is longer, and a shorter
/// name, such as `git`, occurs in many messages.
const MIN_TOKEN_LENGTH: usize = 8;

/// Returns a message of git without the secrets of git's configuration: user names, passwords, queries and fragments of
/// URLs, and values of `http.extraHeader`. `settings` is the output of `git config --null --list`.
pub(super) fn redact_message(text: &str, settings: &str) -> String {
    let mut secrets = Vec::new();
    for setting in settings.split('\0') {
        let (key, value) = setting.split_once('\n').unwrap_or((setting, ""));
        let (subject, variable) = key.rsplit_once('.').unwrap_or((key, ""));
        if variable == "extraheader" {
            secrets.extend(list_header_secrets(value));
        }
        if SECTIONS_WITH_URLS.iter().any(|section| key.starts_with(section)) {
            secrets.extend(list_url_secrets(subject));
            secrets.extend(list_url_secrets(value));
        }
    }
    for (name, value) in passed_environment() {
        if name.to_string_lossy().to_ascii_lowercase().ends_with("_proxy") {
            secrets.extend(list_url_secrets(&value.to_string_lossy()));
        }
    }
    let decoded_secrets: Vec<String> = secrets
        .iter()
        .map(|secret| decode_percent_escapes(secret))
        .collect();
    secrets.extend(decoded_secrets);
    // A long secret may contain a short one.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    let redacted_text = secrets
        .into_iter()
        .fold(text.to_owned(), |text, secret| redact(&text, &secret.into()));
    redact_urls(&redacted_text)
}

/// Returns the text with each URL that has a user, a query or a fragment reduced to host and path.
pub(super) fn redact_urls(text: &str) -> String {
    let mut output = String::new();
    let is_delimiter = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '<' | '>');
    for word in text.split_inclusive(is_delimiter) {
        let url = word.trim_end_matches(is_delimiter);
        if url.contains("://") && url.contains(['@', '?', '#']) {
            let repository = RemoteUrl::parse(url);
            output.push_str(&repository.map_or_else(|| "…".to_owned(), |repository| repository.to_string()));
        } else {
            output.push_str(url);
        }
        output.push_str(word.get(url.len()..).unwrap_or_default());
    }
    output
}

/// Returns the parts of a URL that may be secrets. A password may contain a slash, so everything before the last `@` is
/// the user with the password.
fn list_url_secrets(url: &str) -> Vec<String> {
    let (_, location) = url.split_once("://").unwrap_or(("", url));
    let (credentials, _) = location.rsplit_once('@').unwrap_or_default();
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let mut secrets = vec![password.to_owned()];
    // Of a long secret, the search also finds the base64 itself.
    if !password.is_empty() {
        secrets.push(STANDARD.encode(decode_percent_escapes(credentials)));
    } else if user.len() >= MIN_TOKEN_LENGTH {
        // Git sends a user without a password as `user:`.
        secrets.push(STANDARD.encode(decode_percent_escapes(user) + ":"));
    }
    let (_, query) = url.split_once(['?', '#']).unwrap_or_default();
    let query_values = query
        .split(['?', '#', '&'])
        .map(|part| part.split_once('=').map_or(part, |(_, value)| value));
    for token in query_values.chain([user]) {
        let token = token.trim_end_matches('/');
        if token.len() >= MIN_TOKEN_LENGTH {
            secrets.push(token.to_owned());
        }
    }
    secrets
}

/// Returns the secrets of a header such as `Authorization: Basic dTpw`: the value, its part after the scheme, and the
/// password and a long user in it.
fn list_header_secrets(header: &str) -> Vec<String> {
    let (_, value) = header.split_once(':').unwrap_or(("", header));
    let value = value.trim();
    let (_, credentials) = value.rsplit_once(' ').unwrap_or(("", value));
    let mut secrets = vec![value.to_owned(), credentials.to_owned()];
    if let Some(text) = STANDARD
        .decode(credentials)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok())
        && let Some((user, password)) = text.split_once(':')
    {
        secrets.push(password.to_owned());
        // A token can be the user, with a fixed word as its password.
        if user.len() >= MIN_TOKEN_LENGTH {
            secrets.push(user.to_owned());
        }
    }
    secrets
}

/// Returns the text with its percent escapes decoded, because a server may repeat a password as it received it.
fn decode_percent_escapes(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut tail = text.as_bytes();
    while let Some((byte, next)) = tail.split_first() {
        let digits = next
            .get(..2)
            .filter(|_| *byte == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(decoded_byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(decoded_byte);
            tail = next.get(2..).unwrap_or_default();
        } else {
            bytes.push(*byte);
            tail = next;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_settings_are_not_in_a_message() {
        for (setting, message, shown_message) in [
            (
                "remote.o.url\nhttps://u:p%40ssword@h/o",
                "password `p@ssword`",
                "password `***`",
            ),
            (
                "remote.o.url\nhttps://u:p/SECRET@h/o",
                "no port 'p/SECRET'",
                "no port '***'",
            ),
            (
                "remote.o.url\nhttps://u:SECRET@h/o",
                "Basic dTpTRUNSRVQ=",
                "Basic ***",
            ),
            (
                "remote.o.url\nhttps://h/o?token=SECRETTOKEN",
                "?token=SECRETTOKEN/info",
                "?token=***/info",
            ),
            (
                "url.https://u:SECRET@h/.insteadof\nhttps://h/",
                "https://u:SECRET@h/o",
                "h/o",
            ),
            (
                "http.https://h/.extraheader\nAUTHORIZATION: basic dTpTRUNSRVQ=",
                "got SECRET",
                "got ***",
            ),
            (
                "http.extraheader\nX: dTpTRUNSRVQ=",
                "got `dTpTRUNSRVQ=`",
                "got `***`",
            ),
            ("http.proxy\nu:SECRET@proxy:80", "proxy u:SECRET", "proxy u:***"),
            ("", "at 'https://u:SECRET@h/o?SECRET': no", "at 'h/o': no"),
            (
                "remote.o.url\nssh://git@h/o",
                "git: see https://h/help",
                "git: see https://h/help",
            ),
            ("user.email\nsomebody@h", "somebody", "somebody"),
        ] {
            assert_eq!(redact_message(message, &format!("{setting}\0")), shown_message);
        }
    }
}
