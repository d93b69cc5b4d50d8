//! The sources of settings below the flags: the environment and the configuration file.

use super::SettingsError;
use super::config_file::{self, FILE_NAME};
use super::layers::Layers;
use super::setting_table::FileConfig;
use super::shared_destinations;
use super::unused_file::UnusedFile;
use crate::env::Env;
use crate::job::policy::{self, GateFile, NamedText, UnusableFile};
use sluicegate_base::text::format_path;
use std::collections::HashSet;
use std::mem;
use std::path::{Path, PathBuf};

const ANY_PATH: &str = "to use any path, pass the flag or set the variable in the job";

/// The checkout that contains a configuration file.
pub struct Checkout<'a> {
    pub root: &'a Path,
    /// The path of the configuration file relative to the root.
    pub config_file: &'a str,
    /// Returns whether git tracks, or may track, a file with this path relative to the root.
    pub is_tracked: &'a dyn Fn(&str) -> bool,
}

/// The text of a configuration file whose settings are used.
#[derive(Clone)]
pub(super) struct UsedText {
    pub(super) text: NamedText,
    /// Only the settings that cannot hide findings are used, because the target branch does not have the file.
    pub(super) is_first_file: bool,
}

impl UsedText {
    const fn new(text: NamedText, is_first_file: bool) -> Self {
        Self { text, is_first_file }
    }
}

/// The sources of settings below the flags: the environment and the configuration file of the policy revision.
#[derive(Clone)]
pub struct SettingSources<'a> {
    pub(super) env: &'a Env,
    pub(super) file: FileConfig,
    /// The name of the configuration file in messages.
    file_name: String,
    pub(super) file_text: Option<UsedText>,
    /// The checkout that the file's paths must stay in, or `None` if the file belongs to the job.
    checkout: Option<PathBuf>,
    /// The output paths in the file at which git tracks, or may track, a file.
    tracked_outputs: HashSet<PathBuf>,
    /// The settings of the checkout's file that cannot hide findings. They are used if the policy revision has no file.
    pub(super) first_file: FileConfig,
    /// The text of `first_file`.
    first_file_text: Option<NamedText>,
    /// The keys of output paths that were removed from `file`, because none of their paths may be written.
    pub(super) removed_outputs: Vec<&'static str>,
    /// The keys of output paths that were removed from `first_file`.
    removed_first_outputs: Vec<&'static str>,
    /// True if the checkout's file sets `publish-on`, but is not used.
    pub(super) has_unused_publish_on: bool,
    on_unusable: UnusableFile,
    /// Reason why the policy revision's file cannot be used.
    pub(super) unusable_reason: Option<String>,
    /// The text of the policy revision's file if it cannot be used, but read.
    pub(super) unusable_file_text: Option<NamedText>,
    /// True if the checked-out change edits the file, and its version can be parsed.
    is_repairable: bool,
    note: Option<String>,
}

impl<'a> SettingSources<'a> {
    /// Combines the environment with a configuration file, which belongs to the job or is in this checkout. With
    /// [`UnusableFile::Reject`], the checkout's version must be valid even if the policy revision has another one,
    /// because the checkout's version decides after the merge. Otherwise an unusable file becomes a note.
    pub fn new(
        env: &'a Env,
        file: &GateFile,
        checkout: Option<&Checkout<'_>>,
        on_unusable: UnusableFile,
    ) -> Result<Self, SettingsError> {
        let mut unusable_reason = file.unusable_reason().map(str::to_owned);
        let policy_config = parse_optional_config(file.policy_text());
        let checkout_config = match parse_optional_config(file.checkout_text.as_ref()) {
            Err(error) if on_unusable == UnusableFile::Reject => return Err(error),
            // The policy revision's file does not have the forbidden key, so the change adds the key.
            Err(error) if error.is_job_key() && policy_config.is_ok() => return Err(error),
            config => config.ok().flatten(),
        };
        let usable_policy_config = match policy_config {
            Err(error) if on_unusable == UnusableFile::Reject => return Err(error),
            Err(error) => {
                unusable_reason = Some(error.to_note());
                None
            }
            Ok(config) => config,
        };
        let is_repairable = file.is_edited && checkout_config.is_some();
        let publish_on = checkout_config.as_ref().map(|config| &config.publish_on);
        let has_publish_on = publish_on.is_some_and(|globs| globs.branches.is_some() || globs.tags.is_some());
        let is_missing = file.missing_reason().is_some() || unusable_reason.is_some();
        // An invalid file of the checkout sets nothing, so its text is not shown as the source of a value.
        let first_file_text = file.checkout_text.clone().filter(|_| checkout_config.is_some());
        let file_text = if is_missing {
            first_file_text.clone()
        } else {
            file.policy_text().cloned()
        };
        let mut first_file = checkout_config.unwrap_or_default();
        first_file.retain_first_file_settings();
        let config = if is_missing {
            first_file.clone()
        } else {
            usable_policy_config.unwrap_or_default()
        };
        let note =
            UnusedFile::find(file, unusable_reason.as_deref(), is_repairable).map(|file| file.to_string());
        let unusable_file_text = file.policy_text().filter(|_| unusable_reason.is_some());
        let mut sources = Self {
            env,
            checkout: checkout.map(|checkout| checkout.root.to_path_buf()),
            tracked_outputs: HashSet::new(),
            file: config,
            file_name: checkout
                .map_or(FILE_NAME, |checkout| checkout.config_file)
                .to_owned(),
            file_text: file_text.map(|text| UsedText::new(text, is_missing)),
            first_file,
            first_file_text,
            removed_outputs: Vec::new(),
            removed_first_outputs: Vec::new(),
            has_unused_publish_on: is_missing && has_publish_on,
            on_unusable,
            unusable_reason,
            unusable_file_text: unusable_file_text.cloned(),
            is_repairable,
            note,
        };
        sources.record_tracked_outputs(checkout);
        if on_unusable == UnusableFile::TreatAsMissing {
            sources.remove_unusable_outputs();
        }
        Ok(sources)
    }

    /// Returns these sources with another version of the configuration file, to check whether that version is valid. It
    /// is parsed strictly, and output paths that git tracks in it are recorded.
    pub fn with_file_version(
        &self,
        version: &NamedText,
        is_tracked: &dyn Fn(&str) -> bool,
    ) -> Result<Self, SettingsError> {
        let mut sources = Self {
            file: config_file::parse_config(version)?,
            on_unusable: UnusableFile::Reject,
            unusable_reason: None,
            unusable_file_text: None,
            note: None,
            ..self.clone()
        };
        if let Some(root) = &self.checkout {
            sources.record_tracked_outputs(Some(&Checkout {
                root,
                config_file: &self.file_name,
                is_tracked,
            }));
        }
        Ok(sources)
    }

    /// Returns these sources without a configuration file, so that only flags, variables and defaults apply.
    #[must_use]
    pub fn without_file(&self) -> Self {
        Self {
            file: FileConfig::default(),
            on_unusable: UnusableFile::Reject,
            // Otherwise, the levels would have their strictest values.
            unusable_reason: None,
            ..self.clone()
        }
    }

    /// Records the output paths at which git tracks a file, because reports must not overwrite such a file.
    fn record_tracked_outputs(&mut self, checkout: Option<&Checkout<'_>>) {
        let current_dir = self.env.current_dir();
        let outputs = [self.file.list_output_paths(), self.first_file.list_output_paths()].concat();
        self.tracked_outputs = outputs
            .into_iter()
            .map(|(_, path)| path)
            .filter(|path| checkout.is_some_and(|checkout| checkout.tracks_file(current_dir, path)))
            .collect();
    }

    /// Removes the output paths that must not be written from the configuration, and adds a note about them. The other
    /// settings of the file are kept, because a change must not be able to disable the policy by adding a file at such
    /// a path.
    fn remove_unusable_outputs(&mut self) {
        let messages: Vec<String> = self.output_path_errors().map(|error| error.to_string()).collect();
        if messages.is_empty() {
            return;
        }
        let mut file = mem::take(&mut self.file);
        self.removed_outputs = file.retain_outputs(|key, path| self.resolve_output_path(key, path).is_ok());
        self.file = file;
        let mut first_file = mem::take(&mut self.first_file);
        self.removed_first_outputs =
            first_file.retain_outputs(|key, path| self.resolve_output_path(key, path).is_ok());
        self.first_file = first_file;
        let warning = format!(
            "the following output paths are ignored, so their files are not written: {}",
            messages.join("; ")
        );
        self.note = Some(match self.note.take() {
            Some(note) => format!("{note}. Also, {warning}"),
            None => warning,
        });
    }

    /// Returns the error for each output path of the file that must not be written, or that two reports share.
    pub fn output_path_errors(&self) -> impl Iterator<Item = SettingsError> {
        let reports = self.file.review.report.as_deref().unwrap_or_default();
        let duplicate = shared_destinations::reject_duplicate_destinations(reports).err();
        let errors = self.find_rejected_outputs().map(|(_, error)| error);
        errors.chain(duplicate)
    }

    /// Returns each output path of the file that must not be written, with the error.
    fn find_rejected_outputs(&self) -> impl Iterator<Item = (PathBuf, SettingsError)> {
        let paths = self.file.list_output_paths().into_iter();
        paths.filter_map(|(key, path)| {
            let error = self.resolve_output_path(key, &path).err()?;
            Some((path, error))
        })
    }

    /// Returns the full paths in the configuration file that must not be written, or that leave the checkout, because
    /// of its files and links. A path that is invalid in itself, for example because of `..`, is omitted.
    pub fn list_unusable_paths(&self) -> Vec<PathBuf> {
        let Some(root) = &self.checkout else {
            return Vec::new();
        };
        let mut paths: Vec<PathBuf> = self.find_rejected_outputs().map(|(path, _)| path).collect();
        if let Some(path) = &self.file.publish.require_review
            && self.resolve_file_path("publish.require-review", path).is_err()
        {
            paths.push(path.clone());
        }
        let current_dir = self.env.current_dir();
        paths
            .into_iter()
            .filter(|path| policy::reject_invalid_parts(path).is_ok())
            .map(|path| policy::place_in_checkout(root, current_dir, &path))
            .collect()
    }

    /// Resolves settings with `resolve`. If that fails, and unusable files are treated as missing, the settings are
    /// resolved again without the configuration file. If the second attempt succeeds, the file caused the error and is
    /// not used from now on; otherwise the first error is returned.
    pub fn resolve_or_drop_file<T>(
        &mut self,
        resolve: impl Fn(&Self) -> Result<T, SettingsError>,
    ) -> Result<T, SettingsError> {
        let error = match resolve(self) {
            Err(error) if self.on_unusable == UnusableFile::TreatAsMissing => error,
            result => return result,
        };
        let reason = format!("{}: {}", self.file_name, error.to_note());
        self.resolve_without_file(&reason, resolve).map_err(|_| error)
    }

    /// Stops using the configuration file for this reason, and resolves settings with `resolve`: first with those
    /// settings of the checkout's file that cannot hide findings and, if that fails, with the defaults alone.
    pub fn resolve_without_file<T>(
        &mut self,
        reason: &str,
        resolve: impl Fn(&Self) -> Result<T, SettingsError>,
    ) -> Result<T, SettingsError> {
        let first_file_text = self.first_file_text.clone().map(|text| UsedText {
            text,
            is_first_file: true,
        });
        let first_file_sources = Self {
            removed_outputs: self.removed_first_outputs.clone(),
            ..self.with_replacement_file(self.first_file.clone(), first_file_text, reason)
        };
        if let Ok(value) = resolve(&first_file_sources) {
            *self = first_file_sources;
            return Ok(value);
        }
        let default_sources = self.with_replacement_file(FileConfig::default(), None, reason);
        let value = resolve(&default_sources)?;
        *self = default_sources;
        Ok(value)
    }

    /// Returns these sources with `file` and its text in place of the policy revision's file, which cannot be used for
    /// this reason.
    fn with_replacement_file(&self, file: FileConfig, file_text: Option<UsedText>, reason: &str) -> Self {
        let used_file_text = self.file_text.as_ref().map(|used| &used.text);
        let unused_file = UnusedFile::Unusable {
            reason,
            is_repairable: self.is_repairable,
        };
        Self {
            file,
            file_text,
            unusable_file_text: self.unusable_file_text.as_ref().or(used_file_text).cloned(),
            note: Some(unused_file.to_string()),
            unusable_reason: Some(reason.to_owned()),
            ..self.clone()
        }
    }

    /// Returns the name of the configuration file in messages: its path in the repository.
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// Returns the note for reports if the target branch has no configuration file, or none that can be used: the
    /// ignored keys, and how to use the checkout's file.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Returns why the policy revision's file cannot be used, if it is therefore treated as missing.
    pub fn unusable_reason(&self) -> Option<&str> {
        self.unusable_reason.as_deref()
    }

    /// Returns whether the policy revision has a file that cannot be used. Nobody knows which levels it sets, so the
    /// strictest ones apply, unless the job sets others. The defaults apply to the change that repairs the file, so
    /// that it can pass; if its version cannot be used, it fails anyway.
    pub(super) const fn has_lost_policy(&self) -> bool {
        self.unusable_reason.is_some() && !self.is_repairable
    }

    /// Returns the level that applies if no source sets one: the default, or `strictest_level` if the policy is lost.
    pub(super) fn choose_unset_level<T: Default>(&self, strictest_level: T) -> T {
        if self.has_lost_policy() {
            strictest_level
        } else {
            T::default()
        }
    }

    pub(super) const fn layers(&self) -> Layers<'_> {
        Layers::new(self.env)
    }

    /// Returns the full path of an output file that the configuration file sets. Fails if git tracks a file at this
    /// path, because the file contains work, and later steps of the job may use it.
    pub(super) fn resolve_output_path(&self, key: &str, path: &Path) -> Result<PathBuf, SettingsError> {
        if self.tracked_outputs.contains(path) {
            let displayed_path = format_path(path);
            let message = format!(
                "{}: `{key}` is {displayed_path}: git tracks this file, so it must not be overwritten",
                self.file_name
            );
            return Err(SettingsError::new(message)
                .with_hint(format!("choose a file that is not in the repository, or remove the file from git with `git rm --cached`; {ANY_PATH}")));
        }
        self.resolve_file_path(key, path)
    }

    /// Returns the full path for a path in the configuration file. The path must stay in the checkout, unless the
    /// configuration file belongs to the job.
    pub(super) fn resolve_file_path(&self, key: &str, path: &Path) -> Result<PathBuf, SettingsError> {
        let Some(root) = &self.checkout else {
            return Ok(path.to_path_buf());
        };
        policy::resolve_in_checkout(root, self.env.current_dir(), path).map_err(|reason| {
            let displayed_path = format_path(path);
            let message = format!(
                "{}: `{key}` is {displayed_path}, but the path must stay inside the checkout: {reason}",
                self.file_name
            );
            SettingsError::new(message).with_hint(ANY_PATH)
        })
    }
}

impl Checkout<'_> {
    /// Returns whether git tracks, or may track, the file at this path or the file that its symbolic links lead to. A
    /// path outside the checkout is not tracked.
    fn tracks_file(&self, current_dir: &Path, path: &Path) -> bool {
        let Ok(full) = policy::resolve_in_checkout(self.root, current_dir, path) else {
            return false;
        };
        policy::list_tracked_paths(self.root, &full)
            .iter()
            .any(|name| (self.is_tracked)(name))
    }
}

/// Parses a version of the configuration file, if it exists.
fn parse_optional_config(text: Option<&NamedText>) -> Result<Option<FileConfig>, SettingsError> {
    text.map(config_file::parse_config).transpose()
}
