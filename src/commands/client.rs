//! Makes the platform's client from the settings.

use super::Run;
use crate::api::Platform;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::http;
use crate::settings::Connection;
use tokio::runtime::{Builder, Runtime};

impl Run {
    /// A client of the platform; asks for the settings that every request needs.
    pub(crate) fn platform(&self, connection: &Connection) -> Result<Platform, Failure> {
        for warning in &connection.warnings {
            self.ui.warn(warning);
        }
        let base_url = connection.base_url()?.clone();
        if base_url.is_plain_http_to_remote() {
            self.ui.warn(&format!(
                "{base_url} is not encrypted: the token can be read on the way"
            ));
        }
        let client = http::Client::new(http::Settings {
            base_url,
            token: connection.token()?.clone(),
            timeout: connection.timeout,
            retries: connection.retries,
            ca_cert: connection.ca_cert.clone(),
        })?;
        Ok(Platform::new(client))
    }
}

/// The runtime for a command's requests.
pub(super) fn runtime() -> Result<Runtime, Failure> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| {
        Failure::new(ExitStatus::Usage, error).context("the program cannot start its threads")
    })
}

/// Runs a command's requests to their end.
pub(super) fn requests<T>(requests: impl Future<Output = T>) -> Result<T, Failure> {
    Ok(runtime()?.block_on(requests))
}
