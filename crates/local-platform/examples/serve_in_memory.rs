//! Starts a local platform in this process, in memory, and sends one request to it.

use sluicegate_local_platform::{AgentBehavior, Clock, Options, Role, Vocabulary, start};
use std::error::Error;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};

/// Prints the projects that a local platform lists.
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    // The HTTP client needs a cryptography provider, also for plain HTTP. An error means that one is already installed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let response = request_projects().await?;
    Ok(writeln!(io::stdout(), "{response}")?)
}

/// Starts a platform in memory on a free port, requests its projects, and stops it. Returns the body of the response.
async fn request_projects() -> Result<String, Box<dyn Error>> {
    let platform = start(Options {
        listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        data: None,
        projects: Vec::new(),
        tokens: vec![("token".into(), Role::Admin)],
        vocabulary: Vocabulary::default(),
        clock: Clock::default(),
        agent_behavior: AgentBehavior::default(),
    })
    .await?;
    // The platform uses plain HTTP, so the client needs no certificates.
    let client = reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?;
    let request = client
        .get(format!("http://{}/v1/projects", platform.address()))
        .bearer_auth("token");
    let response = request.send().await?.error_for_status()?.text().await?;
    platform.stop().await;
    Ok(response)
}

#[cfg(test)]
mod tests {
    #[tokio::test]
    #[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    async fn example_prints_list_of_projects() {
        // The HTTP client of the example needs a cryptography provider, also for plain HTTP.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let response = super::request_projects().await.unwrap();
        assert!(response.contains("results"), "{response}");
    }
}
