//! Reports waits, so that no wait is silent, and records whether the server responds.

use super::response::find_server_time;
use reqwest::header::HeaderMap;
use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// Time without progress after which a wait is reported.
pub(super) const SILENCE_LIMIT: Duration = Duration::from_secs(2);

/// Receives a sentence for each wait and each retry, with its reason. The texts contain the server's messages
/// unchanged; the code that shows them has to escape them. Also records facts about the server's responses.
#[derive(Clone, Default)]
pub struct Observer {
    listener: Option<Arc<Listener>>,
    response_flag: Arc<AtomicBool>,
    server_time: Arc<Mutex<Option<SystemTime>>>,
}

type Listener = dyn Fn(&str) + Send + Sync;

impl Observer {
    /// Creates an observer that passes each sentence to `listener`.
    pub fn new(listener: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self {
            listener: Some(Arc::new(listener)),
            ..Self::default()
        }
    }

    /// Uses this flag to record that the server has responded (see [`Self::has_responded`]). Several clients of one
    /// server can share the flag.
    #[must_use]
    pub fn with_response_flag(self, response_flag: Arc<AtomicBool>) -> Self {
        Self {
            response_flag,
            ..self
        }
    }

    /// Returns whether the server has responded to any request with a token, with a status below 500.
    pub fn has_responded(&self) -> bool {
        self.response_flag.load(Ordering::Relaxed)
    }

    /// Returns the time of the last response to a request with a token, by the server's clock. Returns `None` if that
    /// response has no usable date.
    pub fn server_time(&self) -> Option<SystemTime> {
        *self.server_time.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that the server has responded to a request with a token, and the time of the response by the server's
    /// clock.
    pub(super) fn record_response(&self, headers: &HeaderMap) {
        self.response_flag.store(true, Ordering::Relaxed);
        *self.server_time.lock().unwrap_or_else(PoisonError::into_inner) = find_server_time(headers);
    }

    /// Passes a sentence about the state of a request to the log, and to the listener if there is one.
    pub(super) fn report(&self, sentence: &str) {
        tracing::info!("{sentence}");
        if let Some(listener) = &self.listener {
            listener(sentence);
        }
    }

    /// Awaits `work` and returns its outcome. Reports `description` once if it takes longer than `SILENCE_LIMIT`.
    pub async fn await_with_report<T>(
        &self,
        work: impl Future<Output = T>,
        description: impl FnOnce() -> String,
    ) -> T {
        self.await_with_report_after(work, tokio::time::sleep(SILENCE_LIMIT), description)
            .await
    }

    /// Awaits `work` and returns its outcome. Reports `description` once if `silence` ends first.
    pub(super) async fn await_with_report_after<T>(
        &self,
        work: impl Future<Output = T>,
        silence: impl Future<Output = ()>,
        description: impl FnOnce() -> String,
    ) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            outcome = &mut work => return outcome,
            () = silence => self.report(&description()),
        }
        work.await
    }
}

impl fmt::Debug for Observer {
    /// Writes only the name of the type, because a listener cannot be printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
