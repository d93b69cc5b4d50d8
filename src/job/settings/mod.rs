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
mod kind;
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
pub use destinations::{Destinations, job_annotations, job_reports};
pub use file::FILE_NAME;
pub use global::{
    color, gate_changes, host, named_config, named_config_dir, named_repository, policy_choice,
    target_repositories,
};
pub use judging::Judging;
pub use kind::SettingKind;
pub use known::{known, unknown_variables};
pub use platform::Connection;
pub use project::ProjectCheckSettings;
pub use publish::{Publish, PublishFiles, PublishOn, is_dry_run, job_publish_files};
pub use remote::Waiting;
pub use review::{GateSettings, RequestFields, Review, Revisions};
pub use schema::schema;
pub use selection::{LeftOfReview, Of, Selection};
pub use table::{FileConfig, Setting, all, globs_over_paths, variable};

pub use layers::SettingSource;

pub(crate) use layers::Layers;

use crate::env::Env;
use crate::job::policy::{self, GateFile, UnusableFile};
use std::collections::HashSet;
use std::mem;
use std::path::{Path, PathBuf};

const ANY_PATH: &str = "to use any path, pass the flag or set the variable in the job";

/// An invalid setting, with its place and a hint.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SettingsError {
    message: String,
    hint: Option<String>,
    is_job_key: bool,
}

impl SettingsError {
    fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            is_job_key: false,
        }
    }

    fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the message with the hint, for a note.
    pub fn in_one_line(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{} ({hint})", self.message),
            None => self.message.clone(),
        }
    }

    /// Returns whether the file sets a key that only the job may set.
    pub const fn is_job_key(&self) -> bool {
        self.is_job_key
    }
}

/// The checkout that contains a configuration file.
pub struct Checkout<'a> {
    pub root: &'a Path,
    /// Returns whether git tracks, or may track, a file with this path relative to the root.
    pub tracks: &'a dyn Fn(&str) -> bool,
}

/// The sources of settings below the flags: the environment and the file.
#[derive(Clone)]
pub struct Sources<'a> {
    env: &'a Env,
    file: FileConfig,
    /// The checkout that the file's paths must stay in, or `None` if the file belongs to the job.
    checkout: Option<PathBuf>,
    /// The output paths in the file at which git tracks, or may track, a file.
    tracked: HashSet<PathBuf>,
    /// The checkout's file, if the version in force is missing; without the settings that only that version may set.
    first_file: FileConfig,
    /// True if the checkout's file sets `publish-on`, but is not in force.
    has_unused_publish_on: bool,
    on_unusable: UnusableFile,
    /// Reason why the version in force cannot be used.
    unusable: Option<String>,
    note: Option<String>,
}

impl<'a> Sources<'a> {
    /// Reads the settings from this configuration file, which belongs to the job or is in this checkout. Unless an
    /// unusable file is treated as missing, the checkout's version must be valid even if it is not in force, because it
    /// will be after its merge.
    pub fn new(
        env: &'a Env,
        file: &GateFile,
        checkout: Option<&Checkout<'_>>,
        on_unusable: UnusableFile,
    ) -> Result<Self, SettingsError> {
        let mut unusable = file.unusable.clone();
        let policy = file.counts.as_ref().map(file::parse).transpose();
        let own = match file.checkout.as_ref().map(file::parse).transpose() {
            Err(error) if on_unusable == UnusableFile::Reject => return Err(error),
            // The version in force does not have the key, so the change adds it.
            Err(error) if error.is_job_key && policy.is_ok() => return Err(error),
            own => own.ok().flatten(),
        };
        let policy = match policy {
            Err(error) if on_unusable == UnusableFile::Reject => return Err(error),
            Err(error) => {
                unusable = Some(error.in_one_line());
                None
            }
            Ok(policy) => policy,
        };
        let publish_on = own.as_ref().map(|own| &own.publish_on);
        let has_publish_on = publish_on.is_some_and(|on| on.branches.is_some() || on.tags.is_some());
        let is_missing = file.missing.is_some() || unusable.is_some();
        let mut first_file = own.unwrap_or_default();
        first_file.retain_first_file_settings();
        let config = if is_missing {
            first_file.clone()
        } else {
            policy.unwrap_or_default()
        };
        let ignored = file.checkout.as_ref().map(file::enforcement_keys);
        let note = match &unusable {
            Some(reason) => Some(describe_unusable_file(reason)),
            None => file.missing.as_ref().zip(ignored).map(facts_alone),
        };
        let mut sources = Self {
            env,
            checkout: checkout.map(|checkout| checkout.root.to_path_buf()),
            tracked: HashSet::new(),
            file: config,
            first_file,
            has_unused_publish_on: is_missing && has_publish_on,
            on_unusable,
            unusable,
            note,
        };
        sources.find_tracked_outputs(checkout);
        if on_unusable == UnusableFile::TreatAsMissing {
            sources.drop_unusable_outputs();
        }
        Ok(sources)
    }

    /// Returns these sources with this version of the checkout's file in force.
    pub fn with_version(
        &self,
        version: &policy::Text,
        tracks: &dyn Fn(&str) -> bool,
    ) -> Result<Self, SettingsError> {
        let mut sources = Self {
            file: file::parse(version)?,
            on_unusable: UnusableFile::Reject,
            unusable: None,
            note: None,
            ..self.clone()
        };
        if let Some(root) = &self.checkout {
            sources.find_tracked_outputs(Some(&Checkout { root, tracks }));
        }
        Ok(sources)
    }

    /// Returns these sources without a configuration file.
    #[must_use]
    pub fn without_file(&self) -> Self {
        Self {
            file: FileConfig::default(),
            on_unusable: UnusableFile::Reject,
            ..self.clone()
        }
    }

    fn find_tracked_outputs(&mut self, checkout: Option<&Checkout<'_>>) {
        let here = self.env.current_dir();
        let outputs = [self.file.outputs(), self.first_file.outputs()].concat();
        let written = outputs.iter().map(|(_, path)| *path);
        let is_tracked = |path: &&PathBuf| checkout.is_some_and(|it| it.tracks_file(here, path));
        let tracked: HashSet<PathBuf> = written.filter(is_tracked).cloned().collect();
        self.tracked = tracked;
    }

    /// Removes the output paths that must not be written, with a note. The rest of the file stays in force: a change
    /// that adds a file at such a path must not set the policy aside.
    fn drop_unusable_outputs(&mut self) {
        let problems: Vec<String> = self.unusable_outputs().map(|error| error.message).collect();
        if problems.is_empty() {
            return;
        }
        let mut file = mem::take(&mut self.file);
        file.retain_outputs(|key, path| self.kept_to_write(key, path).is_ok());
        self.file = file;
        let mut first_file = mem::take(&mut self.first_file);
        first_file.retain_outputs(|key, path| self.kept_to_write(key, path).is_ok());
        self.first_file = first_file;
        let ignored = format!("ignored, and nothing is written there: {}", problems.join("; "));
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note}. Also {ignored}"),
            None => ignored,
        });
    }

    /// Returns the error for each output path of the file that must not be written, or that two reports share.
    pub fn unusable_outputs(&self) -> impl Iterator<Item = SettingsError> {
        let reports = self.file.review.report.as_deref().unwrap_or_default();
        let twins = destinations::refuse_twins(reports).err();
        let outputs = self.file.outputs().into_iter();
        let paths = outputs.filter_map(|(key, path)| self.kept_to_write(key, path).err());
        paths.chain(twins)
    }

    /// Resolves settings with `read`. If a value of the file in force is the only reason for an error, and an unusable
    /// file is treated as missing, resolves them without that file.
    pub fn resolve<T>(
        &mut self,
        read: impl Fn(&Self) -> Result<T, SettingsError>,
    ) -> Result<T, SettingsError> {
        let error = match read(self) {
            Err(error) if self.on_unusable == UnusableFile::TreatAsMissing => error,
            result => return result,
        };
        let reason = format!("{FILE_NAME}: {}", error.in_one_line());
        self.resolve_without_file(&reason, read).map_err(|_| error)
    }

    /// Treats the file in force as missing for this reason, and resolves settings with `read`.
    pub fn resolve_without_file<T>(
        &mut self,
        reason: &str,
        read: impl Fn(&Self) -> Result<T, SettingsError>,
    ) -> Result<T, SettingsError> {
        let with_file = |file: FileConfig| Self {
            file,
            note: Some(describe_unusable_file(reason)),
            unusable: Some(reason.to_owned()),
            ..self.clone()
        };
        let first = with_file(self.first_file.clone());
        if let Ok(value) = read(&first) {
            *self = first;
            return Ok(value);
        }
        let defaults = with_file(FileConfig::default());
        let value = read(&defaults)?;
        *self = defaults;
        Ok(value)
    }

    /// Returns the note for reports if the target branch has no configuration file, or none that can be used: the
    /// ignored keys, and how to use the checkout's file.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns why the version of the file in force cannot be used, if it is treated as missing.
    pub fn unusable(&self) -> Option<&str> {
        self.unusable.as_deref()
    }

    const fn layers(&self) -> Layers<'_> {
        Layers::new(self.env)
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

fn describe_unusable_file(reason: &str) -> String {
    format!(
        "the configuration file in force cannot be used, so it is treated as missing, and settings that affect the \
         verdict have their defaults: {reason}"
    )
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
