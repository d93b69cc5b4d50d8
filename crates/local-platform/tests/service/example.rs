//! Runs the example.

#[allow(dead_code, reason = "the test does not call the example's main function")]
#[path = "../../examples/serve_in_memory.rs"]
mod serve_in_memory;

#[tokio::test]
async fn example_prints_list_of_projects() {
    // The HTTP client of the example needs a cryptography provider, also for plain HTTP.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let response = serve_in_memory::request_projects().await.unwrap();
    assert!(response.contains("results"), "{response}");
}
