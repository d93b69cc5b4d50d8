//! Takes a secret out of what a server says.

use secrecy::{ExposeSecret, SecretString};

/// A shorter text is no secret, and stands in every second word.
const SHORTEST_SECRET: usize = 3;

/// The text without the secret, in case a server repeats what it was sent.
pub(super) fn redacted(text: &str, secret: &SecretString) -> String {
    /// A shorter line of a key is no secret by itself, and would stand in other words.
    const SHORTEST_LINE: usize = 8;
    let secret = secret.expose_secret();
    if secret.len() < SHORTEST_SECRET {
        return text.to_owned();
    }
    let hidden = text.replace(secret, "***");
    if !secret.contains('\n') {
        return hidden;
    }
    let lines = secret
        .lines()
        .map(str::trim)
        .filter(|line| line.len() >= SHORTEST_LINE);
    lines.fold(hidden, |text, line| text.replace(line, "***"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_key_that_the_server_repeats_is_hidden() {
        let key = SecretString::from("-----BEGIN KEY-----\nc2VjcmV0bGluZQ==\n-----END KEY-----");
        assert_eq!(redacted("not base64: c2VjcmV0bGluZQ==", &key), "not base64: ***");
        assert_eq!(redacted("nothing of it", &key), "nothing of it");
    }
}
