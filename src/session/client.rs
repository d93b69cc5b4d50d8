//! Creates the platform's client from the settings.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::settings::Connection;
use crate::session::Session;
use crate::session::worker_threads::{RAISE_LIMITS_HINT, check_thread_count};
use sluicegate_platform::api::Platform;
use sluicegate_platform::http;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio::runtime::{Builder, Runtime};

/// Number of threads that wait for responses.
const WORKER_THREAD_COUNT: usize = 2;

impl Session {
    /// Returns the runtime for requests, created at the first use and then shared.
    pub(crate) fn runtime(&self) -> Result<&Runtime, Failure> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let runtime = build_runtime()?;
        Ok(self.runtime.get_or_init(|| runtime))
    }

    /// Blocks this thread until the requests end, and returns their result.
    pub(crate) fn block_on<T>(&self, requests: impl Future<Output = T>) -> Result<T, Failure> {
        Ok(self.runtime()?.block_on(requests))
    }

    /// Returns an observer that prints the messages of a client, for example about a retry.
    pub(crate) fn create_observer(&self) -> http::Observer {
        let ui = self.ui;
        http::Observer::new(move |sentence| ui.say(sentence))
            .with_pending_changes(self.signals.pending_changes().clone())
    }

    /// Returns whether the platform responded to any request of this run.
    pub(crate) fn has_platform_responded(&self) -> bool {
        self.has_platform_responded.load(Ordering::Relaxed)
    }

    /// Rejects proxy variables that requests to `url` would need and that cannot be used.
    pub(crate) fn check_proxy_variables(&self, url: &http::Url) -> Result<(), Failure> {
        Ok(http::check_proxy_variables(url, |name| self.env.get(name))?)
    }

    /// Creates a client of the platform for this connection, and prints the warnings about the connection. Fails if a
    /// required setting is missing or a needed proxy variable cannot be used.
    pub(crate) fn create_platform_client(&self, connection: &Connection) -> Result<Platform, Failure> {
        for warning in &connection.warnings {
            self.ui.warn(warning);
        }
        let base_url = connection.require_base_url()?.clone();
        self.check_proxy_variables(base_url.url())?;
        if base_url.is_plain_http_to_remote() {
            self.ui.warn(&format!(
                "requests to {base_url} are not encrypted: others can read the token in transit"
            ));
        }
        let token = connection.require_token()?.clone();
        if let Some(token_url) = token.token_url() {
            self.check_proxy_variables(token_url)?;
        }
        let client = http::Client::new(http::Settings {
            base_url,
            token,
            timeout: connection.timeout,
            retries: connection.retries,
            ca_cert: connection.ca_cert.clone(),
            client_certificate: connection.client_certificate.clone(),
            observer: self
                .create_observer()
                .with_response_flag(Arc::clone(&self.has_platform_responded)),
        })?;
        Ok(Platform::new(client))
    }
}

/// Creates the runtime for requests. Two threads suffice for the few requests of a run; a third one looks up names.
fn build_runtime() -> Result<Runtime, Failure> {
    check_thread_count(WORKER_THREAD_COUNT + 1)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(WORKER_THREAD_COUNT)
        .enable_all()
        .build();
    runtime.map_err(|error| {
        Failure::new(ExitStatus::Usage, error)
            .context("could not start the program's threads")
            .with_hint(RAISE_LIMITS_HINT)
    })
}
