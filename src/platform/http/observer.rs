//! Reports waits, so that no wait is silent.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

/// Time without progress after which a wait is reported.
pub(super) const SILENCE: Duration = Duration::from_secs(2);

/// Receives a sentence for each wait and each retry, with its reason. The texts contain the server's messages
/// unchanged; the code that shows them has to escape them.
#[derive(Clone, Default)]
pub struct Observer(Option<Arc<Listener>>);

type Listener = dyn Fn(&str) + Send + Sync;

impl Observer {
    /// Creates an observer that passes each sentence to `told`.
    pub fn new(told: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(told)))
    }

    pub(super) fn say(&self, sentence: &str) {
        tracing::info!("{sentence}");
        if let Some(told) = &self.0 {
            told(sentence);
        }
    }

    /// Returns the outcome of `work`; reports `what` once if it takes longer than `SILENCE`.
    pub async fn waiting<T>(&self, work: impl Future<Output = T>, what: impl FnOnce() -> String) -> T {
        self.during(work, tokio::time::sleep(SILENCE), what).await
    }

    /// Returns the outcome of `work`; reports `what` once if `silence` ends first.
    pub(super) async fn during<T>(
        &self,
        work: impl Future<Output = T>,
        silence: impl Future<Output = ()>,
        what: impl FnOnce() -> String,
    ) -> T {
        let mut work = pin!(work);
        tokio::select! {
            biased;
            outcome = &mut work => return outcome,
            () = silence => self.say(&what()),
        }
        work.await
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}
