//! The settings of a publish.

use super::attestation_files::{AttestationFiles, job_path, job_publish_attestation, reject_shared_paths};
use super::layers::{SettingSource, reject_unexpanded};
use super::selection::{SelectionPurpose, compile_globs};
use super::setting_names::find_by_variable;
use super::setting_table::variable;
use super::{CompatibilitySettings, Layers, Selection, SettingSources, SettingsError, SmokeSettings};
use crate::env::Env;
use crate::job::cli::{
    CiArgs, FileSelection, FileSource, IfExists, OnIgnored, OutputFormat, PublishArgs, PublishFlags,
    RequiredEngine, parse_value,
};
use crate::job::context::RequestedRevisions;
use globset::GlobSet;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct PublishSettings {
    pub prefix: String,
    /// The template of the version name.
    pub version_name: String,
    pub version_name_source: SettingSource,
    /// The commit to publish, and the branch to record with the version. The base is always `None`.
    pub revisions: RequestedRevisions,
    pub selection: Selection,
    pub compatibility: CompatibilitySettings,
    /// The version to compare the interface with, or `None` for the latest enabled one.
    pub against: Option<String>,
    pub select: FileSelection,
    pub from: FileSource,
    pub if_exists: IfExists,
    pub on_ignored: OnIgnored,
    pub verify: bool,
    /// Maximum time to look for an uploaded version that may still appear.
    pub lookup_timeout: Duration,
    /// The report of the required review of the same commit.
    pub require_review: Option<PathBuf>,
    pub require_review_engine: RequiredEngine,
    pub dry_run: bool,
    /// Prints the plan of a dry run as JSON.
    pub json: bool,
    pub receipt: Option<PathBuf>,
    /// The file to write the outcome to as JUnit XML.
    pub junit: Option<PathBuf>,
    pub attestation: AttestationFiles,
    pub smoke: SmokeSettings,
}

/// The files that a publish writes.
#[derive(Debug, Clone, Default)]
pub struct PublishFiles {
    pub receipt: Option<PathBuf>,
    pub junit: Option<PathBuf>,
    pub attestation: AttestationFiles,
}

/// Returns the files of a publish that the job itself names. They are known before the configuration file is read.
pub fn job_publish_files(flags: &PublishFlags, env: &Env) -> PublishFiles {
    PublishFiles {
        receipt: job_path(flags.receipt.as_ref(), variable::RECEIPT, env),
        junit: job_path(flags.junit.as_ref(), variable::PUBLISH_JUNIT, env),
        attestation: job_publish_attestation(flags, env),
    }
}

/// Returns whether flag or environment request a dry run. An invalid value is reported where all settings are read.
pub fn is_dry_run(flag: bool, env: &Env) -> bool {
    Layers::new(env)
        .resolve_switch(flag, variable::DRY_RUN, None)
        .unwrap_or(false)
}

impl SettingSources<'_> {
    /// Resolves the settings of a publish.
    pub fn publish_settings(&self, args: &PublishArgs) -> Result<PublishSettings, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.publish);
        let if_exists = layers.resolve_setting(
            args.flags.if_exists,
            variable::IF_EXISTS,
            parse_value,
            file.if_exists,
        )?;
        let on_ignored = layers.resolve_setting(
            args.flags.on_ignored,
            variable::ON_IGNORED,
            parse_value,
            file.on_ignored,
        )?;
        let engine = layers.resolve_setting(
            args.require_review_engine,
            variable::REQUIRE_REVIEW_ENGINE,
            parse_value,
            None,
        )?;
        let files = self.publish_files(&args.flags)?;
        let (version_name, source) = self.version_name(args.flags.version_name.clone())?;
        let smoke = self.smoke_settings(&args.flags.smoke)?;
        let is_check_skipped =
            layers.resolve_switch(args.flags.no_verify, variable::NO_VERIFY, file.no_verify)?;
        if is_check_skipped && !smoke.runs.is_empty() {
            let message = "the smoke runs need the check of the published version, which --no-verify skips";
            return Err(SettingsError::new(message).with_hint("remove --no-verify, or the smoke runs"));
        }
        Ok(PublishSettings {
            prefix: self.prefix(args.flags.prefix.clone())?,
            version_name,
            version_name_source: source,
            revisions: self.revisions_to_publish(args)?,
            selection: self.selection(&args.globs, SelectionPurpose::Publish)?,
            compatibility: self.compatibility_settings(&args.compat)?,
            against: layers.resolve_text(args.flags.against.clone(), variable::AGAINST, None),
            select: layers
                .resolve_setting(args.flags.select, variable::SELECT, parse_value, file.select)?
                .unwrap_or_default(),
            from: layers
                .resolve_setting(args.flags.from, variable::FROM, parse_value, file.from)?
                .unwrap_or_default(),
            if_exists: if_exists.unwrap_or_default(),
            on_ignored: on_ignored.unwrap_or_default(),
            verify: !is_check_skipped,
            lookup_timeout: self.lookup_timeout(args)?,
            dry_run: layers.resolve_switch(args.dry_run, variable::DRY_RUN, None)?,
            json: args.json || args.output == Some(OutputFormat::Json),
            require_review: self.required_review_file(args)?,
            require_review_engine: engine.unwrap_or_default(),
            receipt: files.receipt,
            junit: files.junit,
            attestation: files.attestation,
            smoke,
        })
    }

    /// Resolves the files that a publish writes: the receipt, the JUnit file and the statement.
    pub fn publish_files(&self, flags: &PublishFlags) -> Result<PublishFiles, SettingsError> {
        let file = &self.file.publish;
        let files = PublishFiles {
            receipt: self.resolve_output(variable::RECEIPT, flags.receipt.as_ref(), file.receipt.as_ref())?,
            junit: self.resolve_output(variable::PUBLISH_JUNIT, flags.junit.as_ref(), file.junit.as_ref())?,
            attestation: self.publish_attestation(flags)?,
        };
        let written_paths = [&files.receipt, &files.junit].into_iter().flatten();
        reject_shared_paths(
            written_paths
                .map(PathBuf::as_path)
                .chain(files.attestation.list_paths()),
        )?;
        Ok(files)
    }

    /// Resolves the path of a file that a run writes.
    pub(super) fn resolve_output(
        &self,
        variable: &str,
        flag: Option<&PathBuf>,
        file: Option<&PathBuf>,
    ) -> Result<Option<PathBuf>, SettingsError> {
        self.resolve_path(variable, flag, file, |key, path| {
            self.resolve_output_path(key, path)
        })
    }

    /// Returns the file of the required review, if one is required.
    pub fn required_review_file(&self, args: &PublishArgs) -> Result<Option<PathBuf>, SettingsError> {
        self.resolve_path(
            variable::REQUIRE_REVIEW,
            args.require_review.as_ref(),
            self.file.publish.require_review.as_ref(),
            |key, path| self.resolve_file_path(key, path),
        )
    }

    /// Resolves a path relative to the current directory. `check_file_path` is applied to a path that the configuration
    /// file sets, which must stay in the checkout, and only if the job does not set a path.
    fn resolve_path(
        &self,
        variable: &str,
        flag: Option<&PathBuf>,
        file: Option<&PathBuf>,
        check_file_path: impl Fn(&str, &PathBuf) -> Result<PathBuf, SettingsError>,
    ) -> Result<Option<PathBuf>, SettingsError> {
        let key = find_by_variable(variable).map_or(variable, |setting| setting.key);
        let is_set_by_job = flag.is_some() || self.env.get(variable).is_some();
        let file_path = match file {
            Some(path) if !is_set_by_job => Some(check_file_path(key, path)?),
            _ => None,
        };
        let path = self.layers().resolve_setting(
            flag.cloned(),
            variable,
            |text| Ok(PathBuf::from(text)),
            file_path,
        )?;
        Ok(path.map(|path| self.env.current_dir().join(path)))
    }

    /// Returns the maximum time to wait until the platform lists the new version.
    fn lookup_timeout(&self, args: &PublishArgs) -> Result<Duration, SettingsError> {
        let (flag, file) = (args.flags.lookup_timeout, self.file.publish.lookup_timeout);
        let seconds =
            self.layers()
                .resolve_integer(flag, variable::LOOKUP_TIMEOUT, file, "lookup timeout")?;
        Ok(Duration::from_secs(seconds))
    }

    /// Returns the revisions of a publish, which only the job may set.
    pub fn revisions_to_publish(&self, args: &PublishArgs) -> Result<RequestedRevisions, SettingsError> {
        let layers = self.layers();
        Ok(RequestedRevisions {
            all: true,
            base: None,
            head: layers.resolve_text(args.head.clone(), variable::HEAD, None),
            branch: layers.resolve_expanded_text(args.branch.clone(), variable::BRANCH, None)?,
            deepen: self.deepen(args.deepen)?,
        })
    }

    /// Returns the template of the version name, and where it comes from. Fails if a variable of the CI host was left
    /// in it; `{placeholders}` are replaced later.
    fn version_name(&self, flag: Option<String>) -> Result<(String, SettingSource), SettingsError> {
        let file = self.file.publish.version_name.clone();
        let (name, source) = self
            .layers()
            .resolve_text_with_source(flag, variable::VERSION_NAME, file)
            .ok_or_else(|| {
                reject_missing_publish_setting("version name", "--version-name", variable::VERSION_NAME)
            })?;
        reject_unexpanded(&mask_placeholders(&name), source, variable::VERSION_NAME)?;
        Ok((name, source))
    }

    /// Returns the prefix of the artifact, which most requests for artifacts need.
    pub fn prefix(&self, flag: Option<String>) -> Result<String, SettingsError> {
        self.optional_prefix(flag)?
            .ok_or_else(|| reject_missing_publish_setting("prefix", "--prefix", variable::PREFIX))
    }

    /// Returns the prefix of the artifact, if set.
    pub fn optional_prefix(&self, flag: Option<String>) -> Result<Option<String>, SettingsError> {
        let file = self.file.publish.prefix.clone();
        self.layers().resolve_expanded_text(flag, variable::PREFIX, file)
    }
}

/// The branches and tags on which `sluicegate ci` publishes.
#[derive(Debug, Clone)]
pub struct PublishOn {
    branches: GlobSet,
    tags: GlobSet,
    /// The checkout's file sets branches or tags, but is not used.
    is_file_unused: bool,
}

impl PublishOn {
    /// Returns why no branch and no tag can lead to a publish, or `None` if one can.
    pub fn explain_no_publish(&self) -> Option<&'static str> {
        if !self.branches.is_empty() || !self.tags.is_empty() {
            return None;
        }
        Some(if self.is_file_unused {
            "`publish-on` of the checkout's file does not apply here"
        } else {
            "`publish-on` does not list a branch or a tag"
        })
    }

    /// Returns whether a run on the branch publishes.
    pub fn has_branch(&self, branch: &str) -> bool {
        self.branches.is_match(branch)
    }

    /// Returns whether a run on the tag publishes.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.is_match(tag)
    }
}

impl SettingSources<'_> {
    /// Returns whether `ci` may publish from a local run. Only the job may allow it.
    pub fn allows_local_publish(&self, args: &CiArgs) -> Result<bool, SettingsError> {
        self.layers()
            .resolve_switch(args.local_publish, variable::PUBLISH, None)
    }

    /// Resolves the branches and tags whose commits are published.
    pub fn publish_on(&self, args: &CiArgs) -> Result<PublishOn, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.publish_on);
        let parse_line = |line: &str| Ok(line.to_owned());
        let (branches, tags) = (&args.publish_on_branch, &args.publish_on_tag);
        let branches = layers.resolve_list(
            branches.clone(),
            variable::PUBLISH_ON_BRANCHES,
            parse_line,
            file.branches.clone(),
        )?;
        let tags = layers.resolve_list(
            tags.clone(),
            variable::PUBLISH_ON_TAGS,
            parse_line,
            file.tags.clone(),
        )?;
        Ok(PublishOn {
            branches: compile_globs(&branches, "release/*")?,
            tags: compile_globs(&tags, "v*")?,
            is_file_unused: self.has_unused_publish_on,
        })
    }
}

/// Replaces each placeholder such as `{date}` in the template with a character that no variable contains, so that
/// [`reject_unexpanded`] does not take the placeholder for a variable. `${tag}` is a variable, so it stays.
fn mask_placeholders(template: &str) -> String {
    let mut literal = String::new();
    let mut remaining_text = template;
    while let Some((prefix, suffix)) = remaining_text.split_once('{') {
        literal.push_str(prefix);
        match suffix.split_once('}') {
            Some((name, text_after_name)) if is_placeholder_name(name) && !prefix.ends_with('$') => {
                literal.push('\u{fffd}');
                remaining_text = text_after_name;
            }
            _ => {
                literal.push('{');
                remaining_text = suffix;
            }
        }
    }
    literal + remaining_text
}

fn is_placeholder_name(text: &str) -> bool {
    text.chars()
        .all(|character| character.is_ascii_lowercase() || character == '-')
}

fn reject_missing_publish_setting(name: &str, flag: &str, variable: &str) -> SettingsError {
    SettingsError::new(format!("the {name} is not set")).with_hint(format!("pass {flag} or set {variable}"))
}
