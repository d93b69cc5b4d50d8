//! Lists the published versions of the shared pipelines.
//!
//! usage: list_versions BASE_URL TOKEN_FILE

use sluicegate_platform::api::Platform;
use sluicegate_platform::http::{BaseUrl, Client, HttpError, Observer, Settings, TokenSource};
use std::error::Error;
use std::io::{self, Write as _};
use std::{env, time::Duration};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (Some(base_url), Some(token_file)) = (args.next(), args.next()) else {
        return Ok(writeln!(
            io::stderr(),
            "usage: list_versions BASE_URL TOKEN_FILE"
        )?);
    };
    let token = TokenSource::File(token_file.into());
    for line in list_versions(BaseUrl::parse(&base_url)?, token).await? {
        writeln!(io::stdout(), "{line}")?;
    }
    Ok(())
}

/// Returns a line for each version.
async fn list_versions(base_url: BaseUrl, token: TokenSource) -> Result<Vec<String>, HttpError> {
    let client = Client::new(Settings {
        base_url,
        token,
        timeout: Duration::from_secs(30),
        retries: 3,
        ca_cert: None,
        client_certificate: None,
        observer: Observer::default(),
    })?;
    let versions = Platform::new(client).fetch_artifacts(None).await?;
    let mut lines = Vec::new();
    for version in versions.iter() {
        let commit = version.commit_hash.as_deref().unwrap_or("unknown");
        lines.push(format!("version {}, commit {commit}", version.display_name()));
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::list_versions;
    use secrecy::SecretString;
    use sluicegate_platform::http::{BaseUrl, TokenSource};
    use wiremock::matchers::{header, method, path};
    use wiremock::{Mock, MockServer, ResponseTemplate};

    #[tokio::test]
    #[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    async fn example_lists_versions() {
        let body = include_str!("../../../tests/fixtures/api/artifacts.json");
        let server = MockServer::start().await;
        Mock::given(method("GET"))
            .and(path("/v1/shared-pipelines/artifacts"))
            .and(header("authorization", "Bearer token"))
            .respond_with(ResponseTemplate::new(200).set_body_raw(body, "application/json"))
            .expect(1)
            .mount(&server)
            .await;
        let base_url = BaseUrl::parse(&server.uri()).unwrap();
        let token = TokenSource::Value(SecretString::from("token"));
        let lines = list_versions(base_url, token).await.unwrap();
        assert!(!lines.is_empty());
        assert!(lines.iter().all(|line| line.starts_with("version ")), "{lines:?}");
    }
}
