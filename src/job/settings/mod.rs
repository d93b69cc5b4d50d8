//! Flag, environment, file and default, resolved once into values that nobody needs to question again.
//!
//! Who may say a setting stands in one table. What decides where a secret goes, what runs, which commit is judged or
//! whether at all is for the job alone. The rest may stand in the configuration file, in the version that `policy` chose;
//! where that is only the change's own, what counts has its defaults.

mod breaks;
mod check;
mod destinations;
mod file;
mod given;
mod global;
mod judging;
mod known;
mod layers;
mod look;
mod platform;
mod project;
mod publish;
mod remote;
mod review;
mod schema;
mod selection;
mod table;
#[cfg(test)]
mod tests;

pub use breaks::Breaks;
pub use check::CheckSettings;
pub use destinations::Destinations;
pub use file::FILE_NAME;
pub use global::{
    color, gate_changes, host, named_config, named_config_dir, named_repository, policy_choice,
};
pub use judging::Judging;
pub use known::{known, unknown_variables};
pub use platform::Connection;
pub use project::ProjectCheckSettings;
pub use publish::{Publish, PublishOn};
pub use remote::{PlatformNames, Waiting};
pub use review::{RequestFields, Review, Revisions};
pub use schema::schema;
pub use selection::{LeftOfReview, Of, Selection};
pub use table::{FileConfig, Setting, SettingKind, all, globs_over_paths, variable};

pub(crate) use layers::Layers;

use crate::base::env::Env;
use crate::job::policy::{self, GateFile};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Who may name what the configuration file may not.
const ANY_PATH: &str = "the job may name any path, by the flag or the variable";

/// A setting that cannot be used: what and where, and what to do.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SettingsError {
    message: String,
    hint: Option<String>,
}

impl SettingsError {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
        }
    }

    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// The checkout that a configuration file lies in.
pub struct Checkout<'a> {
    /// Its root.
    pub root: &'a Path,
    /// Whether git tracks a file with this path from the root, or perhaps does.
    pub tracks: &'a dyn Fn(&str) -> bool,
}

/// The sources of settings below the flags: the environment and the file.
pub struct Sources<'a> {
    env: &'a Env,
    file: FileConfig,
    /// The checkout that the file's paths must stay in; none where the file is the job's.
    checkout: Option<PathBuf>,
    /// Those of the file's paths to write to at which git tracks a file, or perhaps does.
    tracked: HashSet<PathBuf>,
    /// What counts is not taken from the file.
    facts_only: bool,
    note: Option<String>,
}

impl<'a> Sources<'a> {
    /// The settings with this configuration file, which is the job's own or lies in this checkout. The checkout's version
    /// must be sound even where it does not count, as it will after its merge.
    pub fn new(
        env: &'a Env,
        file: &GateFile,
        checkout: Option<&Checkout<'_>>,
    ) -> Result<Self, SettingsError> {
        let own = file.checkout.as_ref().map(file::parse).transpose()?;
        let counts = file.counts.as_ref().map(file::parse).transpose()?;
        let ignored = file.checkout.as_ref().map(file::what_counts);
        let config = match file.missing {
            Some(_) => own.unwrap_or_default(),
            None => counts.unwrap_or_default(),
        };
        let is_tracked = |path: &&PathBuf| checkout.is_some_and(|it| it.tracks_file(env.current_dir(), path));
        Ok(Self {
            env,
            checkout: checkout.map(|checkout| checkout.root.to_path_buf()),
            tracked: config.written().filter(is_tracked).cloned().collect(),
            facts_only: file.missing.is_some(),
            note: file.missing.as_ref().zip(ignored).map(facts_alone),
            file: config,
        })
    }

    /// What every report says of a configuration file that the base does not have: which of its keys do not count yet, and
    /// the way out.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    const fn layers(&self) -> Layers<'_> {
        if self.facts_only {
            Layers::facts_only(self.env)
        } else {
            Layers::new(self.env)
        }
    }

    /// A path of the file to write to. What git tracks is somebody's work, and what later steps of the job rely on.
    fn kept_to_write(&self, key: &str, path: &Path) -> Result<PathBuf, SettingsError> {
        if self.tracked.contains(path) {
            let shown = path.display();
            let message =
                format!("{FILE_NAME}: `{key}` names {shown}, which git tracks and nothing may overwrite");
            return Err(SettingsError::new(message)
                .with_hint(format!("name a file that is not in the repository; {ANY_PATH}")));
        }
        self.kept(key, path)
    }

    /// A path of the file, which must stay in the checkout unless the file is the job's.
    fn kept(&self, key: &str, path: &Path) -> Result<PathBuf, SettingsError> {
        let Some(root) = &self.checkout else {
            return Ok(path.to_path_buf());
        };
        policy::in_checkout(root, self.env.current_dir(), path).map_err(|why| {
            let shown = path.display();
            let message =
                format!("{FILE_NAME}: `{key}` names {shown}, which must stay inside the checkout: {why}");
            SettingsError::new(message).with_hint(ANY_PATH)
        })
    }
}

impl Checkout<'_> {
    /// Whether git tracks a file where this path leads to.
    fn tracks_file(&self, here: &Path, path: &Path) -> bool {
        let Ok(full) = policy::in_checkout(self.root, here, path) else {
            return false;
        };
        policy::names_in_repository(self.root, &full)
            .iter()
            .any(|name| (self.tracks)(name))
    }
}

/// Whether this version of the configuration file says `new-only`.
pub fn says_new_only(text: &policy::Text) -> bool {
    file::parse(text).is_ok_and(|file| file.review.new_only == Some(true))
}

fn facts_alone((why, ignored): (&String, Vec<&str>)) -> String {
    let keys: Vec<String> = ignored.iter().map(|key| format!("`{key}`")).collect();
    let what = match keys.as_slice() {
        [] => "the checkout's file says nothing of that, and what it says counts".to_owned(),
        [key] => format!("{key} of the checkout's file does not count"),
        keys => format!("{} of the checkout's file do not count", keys.join(", ")),
    };
    format!(
        "{why}, so what decides what counts has its defaults: {what}. For this one run the job can say --policy head \
         (SLUICEGATE_POLICY)"
    )
}
