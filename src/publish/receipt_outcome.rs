//! The outcome of a publish as the receipt and the statement store it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The outcome of a publish in a receipt, which has fewer outcomes than [`super::OutcomeKind`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ReceiptOutcome {
    /// The plan was not executed.
    Planned,
    Published,
    AlreadyPublished,
    Conflict,
    Incomplete,
    Failed,
    /// A word that this program never writes; the file may be edited.
    Unknown(String),
}

impl ReceiptOutcome {
    /// The outcomes that this program writes.
    const WRITTEN: [Self; 6] = [
        Self::Planned,
        Self::Published,
        Self::AlreadyPublished,
        Self::Conflict,
        Self::Incomplete,
        Self::Failed,
    ];

    /// Returns the word in the document.
    fn word(&self) -> &str {
        match self {
            Self::Planned => "planned",
            Self::Published => "published",
            Self::AlreadyPublished => "already-published",
            Self::Conflict => "conflict",
            Self::Incomplete => "incomplete",
            Self::Failed => "failed",
            Self::Unknown(word) => word,
        }
    }

    /// Returns whether the version exists and the run found no problem with it.
    pub const fn has_published_version(&self) -> bool {
        matches!(self, Self::Published | Self::AlreadyPublished)
    }
}

impl fmt::Display for ReceiptOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl From<String> for ReceiptOutcome {
    fn from(word: String) -> Self {
        let mut outcomes = Self::WRITTEN.into_iter();
        outcomes
            .find(|outcome| outcome.word() == word)
            .unwrap_or(Self::Unknown(word))
    }
}

impl From<ReceiptOutcome> for String {
    fn from(outcome: ReceiptOutcome) -> Self {
        outcome.to_string()
    }
}
