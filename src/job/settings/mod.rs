//! Resolves settings from flag, environment, file and default once, into values that need no further checks.
//!
//! One table lists who may set each setting. Only the job may set where secrets go, which programs run, which commit is
//! reviewed and whether it is reviewed. The configuration file may set the rest, in the version that `policy` selected.
//! If only the change itself has a file, settings that affect the verdict have their defaults.

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

pub use layers::SettingSource;

pub(crate) use layers::Layers;

use crate::base::env::Env;
use crate::job::policy::{self, GateFile};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

const ANY_PATH: &str = "to use any path, pass the flag or set the variable in the job";

/// An invalid setting, with its place and a hint.
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

/// The checkout that contains a configuration file.
pub struct Checkout<'a> {
    pub root: &'a Path,
    /// Returns whether git tracks, or may track, a file with this path relative to the root.
    pub tracks: &'a dyn Fn(&str) -> bool,
}

/// The sources of settings below the flags: the environment and the file.
pub struct Sources<'a> {
    env: &'a Env,
    file: FileConfig,
    /// The checkout that the file's paths must stay in, or `None` if the file belongs to the job.
    checkout: Option<PathBuf>,
    /// The output paths in the file at which git tracks, or may track, a file.
    tracked: HashSet<PathBuf>,
    /// The file's settings that affect the verdict are ignored.
    facts_only: bool,
    note: Option<String>,
}

impl<'a> Sources<'a> {
    /// Reads the settings from this configuration file, which belongs to the job or is in this checkout. The checkout's
    /// version must be valid even if it is not in force, because it will be after its merge.
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

    /// Returns the note for reports if the target branch has no configuration file: the ignored keys, and how to use
    /// the checkout's file.
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

    /// Checks an output path from the file. Tracked files are refused: they contain work, and later steps of the job
    /// use them.
    fn kept_to_write(&self, key: &str, path: &Path) -> Result<PathBuf, SettingsError> {
        if self.tracked.contains(path) {
            let shown = path.display();
            let message = format!(
                "{FILE_NAME}: `{key}` is {shown}: git tracks this file, so it must not be overwritten"
            );
            return Err(SettingsError::new(message)
                .with_hint(format!("choose a file that is not in the repository; {ANY_PATH}")));
        }
        self.kept(key, path)
    }

    /// Checks a path from the file, which must stay in the checkout unless the file belongs to the job.
    fn kept(&self, key: &str, path: &Path) -> Result<PathBuf, SettingsError> {
        let Some(root) = &self.checkout else {
            return Ok(path.to_path_buf());
        };
        policy::in_checkout(root, self.env.current_dir(), path).map_err(|why| {
            let shown = path.display();
            let message =
                format!("{FILE_NAME}: `{key}` is {shown}, but the path must stay inside the checkout: {why}");
            SettingsError::new(message).with_hint(ANY_PATH)
        })
    }
}

impl Checkout<'_> {
    /// Returns whether git tracks the file that this path leads to.
    fn tracks_file(&self, here: &Path, path: &Path) -> bool {
        let Ok(full) = policy::in_checkout(self.root, here, path) else {
            return false;
        };
        policy::names_in_repository(self.root, &full)
            .iter()
            .any(|name| (self.tracks)(name))
    }
}

/// Returns whether this version of the configuration file sets `new-only`.
pub fn says_new_only(text: &policy::Text) -> bool {
    file::parse(text).is_ok_and(|file| file.review.new_only == Some(true))
}

fn facts_alone((why, ignored): (&String, Vec<&str>)) -> String {
    let keys: Vec<String> = ignored.iter().map(|key| format!("`{key}`")).collect();
    let what = match keys.as_slice() {
        [] => "the checkout's file sets none of them".to_owned(),
        [key] => format!("{key} of the checkout's file is ignored"),
        keys => format!("{} of the checkout's file are ignored", keys.join(", ")),
    };
    format!(
        "{why}, so settings that affect the verdict have their defaults: {what}. To use the checkout's file \
         in this run, the job can set --policy head (SLUICEGATE_POLICY)"
    )
}
