//! The instruction that fetches the history that a clone lacks.

use crate::job::ci::{CiContext, HistoryFetch, Host};
use sluicegate_git::FULL_HISTORY_HINT;

/// The means to get the history that the clone of a run lacks: a setting of its host, or `--deepen`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HistoryRemedy {
    pub host: Host,
    /// The run already has `--deepen`, so no text advises it.
    pub is_deepened: bool,
}

impl HistoryRemedy {
    pub(super) const fn for_run(ci: &CiContext) -> Self {
        Self {
            host: ci.host,
            is_deepened: matches!(ci.history_fetch, HistoryFetch::Requested),
        }
    }

    /// Describes how to fetch the full history in a job of this host.
    pub(super) fn describe_step(self) -> String {
        match (self.host, self.host.full_history_setting()) {
            (Host::None, _) => "fetch the full history: run `git fetch --unshallow`".to_owned(),
            (_, Some(setting)) => format!("fetch the full history: {setting}"),
            (_, None) => FULL_HISTORY_HINT.to_owned(),
        }
    }

    /// Returns the hint that fetches the full history in a job of this host.
    pub(super) fn hint(self) -> String {
        self.describe_step()
            + self.choose_advice("; or pass --deepen (SLUICEGATE_DEEPEN=true) to fetch the missing commits")
    }

    /// Returns the advice to pass `--deepen`, or an empty text if the run already has this flag.
    pub(super) const fn choose_advice(self, advice: &str) -> &str {
        if self.is_deepened { "" } else { advice }
    }
}
