//! What a version changes for consumers, as it is told and recorded.

use super::semantic::announces_break;
use super::{Change, Class, What};
use crate::base::git::short_id;
use crate::base::text;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What a break means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Exit 1, unless it is accepted.
    Fail,
    /// It is told.
    #[default]
    Warn,
    /// Nothing is compared.
    Off,
}

/// The side that consumers have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Against {
    /// The version; none where nothing is published, or a commit is meant.
    pub version: Option<String>,
    /// Its commit.
    pub commit: Option<String>,
}

/// What changed from one version to another. In a receipt the first four keys are those of the contract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Compat {
    /// The version that it is compared with; none where there is none.
    pub against: Option<String>,
    /// How much all changes matter; none where that is not known.
    pub class: Option<Class>,
    /// Why a break is allowed; none where there is none, or where it is not.
    pub accepted: Option<String>,
    /// What changed.
    pub changes: Vec<Change>,
    /// The commit that it is compared with.
    #[serde(default)]
    pub against_commit: Option<String>,
    /// Only ids were compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ids_only: bool,
    /// A break fails the gate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

impl Compat {
    /// Of what changed.
    pub fn new(against: Against, changes: Vec<Change>) -> Self {
        let class = changes.iter().map(|change| change.class).max();
        Self {
            against: against.version,
            against_commit: against.commit,
            class: Some(class.unwrap_or(Class::None).of_all()),
            accepted: None,
            changes,
            ids_only: false,
            refused: false,
        }
    }

    /// Compares ids alone. What else changed is unknown, so the class is `None` unless a break was found.
    pub fn of_ids<'a>(
        against: Against,
        old: &[String],
        offered: &(impl Iterator<Item = &'a str> + Clone),
    ) -> Self {
        let is_old = |id: &str| old.iter().any(|old| old == id);
        let gone = old.iter().filter(|id| !offered.clone().any(|new| new == **id));
        let mut changes: Vec<Change> = gone.map(|id| Change::of(What::PipelineRemoved, id)).collect();
        let new = offered.clone().filter(|id| !is_old(id));
        changes.extend(new.map(|id| Change::of(What::PipelineAdded, id)));
        let found = Self::new(against, changes);
        Self {
            class: found.class.filter(|class| *class == Class::Breaking),
            ids_only: true,
            ..found
        }
    }

    /// Whether there was no version before.
    pub fn is_first(&self) -> bool {
        self.against.is_none() && self.against_commit.is_none() && !self.ids_only
    }

    /// Whether consumers must do something.
    pub fn is_breaking(&self) -> bool {
        self.class == Some(Class::Breaking)
    }

    /// The changes that break.
    pub fn breaks(&self) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(|change| change.class == Class::Breaking)
    }

    /// Allows a break for this reason.
    #[must_use]
    pub fn accept(mut self, reason: Option<String>) -> Self {
        self.accepted = reason.filter(|_| self.is_breaking());
        self
    }

    /// What it is compared with, for people, in one line.
    pub fn old_name(&self) -> String {
        text::line(&match (&self.against, &self.against_commit) {
            (Some(version), _) => format!("version {version}"),
            (None, Some(commit)) => format!("commit {}", short_id(commit)),
            (None, None) => "nothing".to_owned(),
        })
    }
}

/// Why the names of the versions allow a break; none where they do not.
pub fn accepted_by_name(old: Option<&str>, new: &str) -> Option<String> {
    announces_break(old?, new)
}
