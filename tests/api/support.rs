//! A client for a server of the test, with waits too short to notice.

use secrecy::SecretString;
use sluicegate::api::Platform;
use sluicegate::http::{BaseUrl, Client, Delays, Settings, TokenSource};
use std::time::Duration;
use wiremock::ResponseTemplate;

/// The token that the tests send, and that no text may show.
pub const TOKEN: &str = "t0ken-s3cret";

/// Settings for a server of the test: two retries, and a time limit that no healthy exchange reaches.
pub fn settings(base_url: &str) -> Settings {
    Settings {
        base_url: BaseUrl::parse(base_url).unwrap(),
        token: TokenSource::Value(SecretString::from(TOKEN)),
        timeout: Duration::from_secs(20),
        retries: 2,
        ca_cert: None,
    }
}

/// Waits of a few milliseconds.
pub const SHORT: Delays = Delays {
    base: Duration::from_millis(1),
    max: Duration::from_millis(4),
    max_asked: Duration::from_millis(60),
};

/// The platform behind these settings.
pub fn platform_with(settings: Settings) -> Platform {
    Platform::new(Client::with_delays(settings, SHORT).unwrap())
}

/// The platform at this URL.
pub fn platform(base_url: &str) -> Platform {
    platform_with(settings(base_url))
}

/// An answer with a JSON body.
pub fn json(status: u16, body: &str) -> ResponseTemplate {
    ResponseTemplate::new(status).set_body_raw(body, "application/json")
}

/// An empty list, as the simplest answer that is understood.
pub fn empty_list() -> ResponseTemplate {
    json(200, r#"{ "results": [], "page": 0, "size": 100, "total": 0 }"#)
}
