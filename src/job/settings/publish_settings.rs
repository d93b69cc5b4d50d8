//! The settings of a publish.

use super::attestation_files::{
    AttestationFiles, reject_invalid_output, requested_path, requested_publish_attestation,
};
use super::config_file::{ANY_NAME, list_publish_on_globs};
use super::layers::{SettingSource, reject_unexpanded_value};
use super::needed_flags::reject_without_comparison;
use super::placeholder_mask::mask_placeholders;
use super::selection::{SelectionPurpose, compile_globs, compile_ref_globs};
use super::setting_names::find_setting_by_variable;
use super::setting_table::variable;
use super::shared_destinations::reject_shared_paths;
use super::{CompatibilitySettings, Layers, Selection, SettingSources, SettingsError, SmokeSettings};
use crate::env::Env;
use crate::job::cli::{
    CiArgs, FileSelection, FileSource, IfExists, OnIgnored, OutputFormat, PublishArgs, PublishFlags,
    RequiredEngine, parse_value,
};
use crate::job::context::RequestedRevisions;
use globset::GlobSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting")]
pub struct PublishSettings {
    pub prefix: String,
    /// The template of the version name.
    pub version_name: String,
    pub version_name_source: SettingSource,
    /// The commit to publish, and the branch to record with the version. The base is always `None`.
    pub revisions: RequestedRevisions,
    pub selection: Selection,
    /// True if a flag or a variable of the job, and not only the configuration file, selects the files to publish.
    pub has_job_selection: bool,
    pub compatibility: CompatibilitySettings,
    /// The version to compare the interface with, or `None` for the latest enabled version.
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

/// What a path in the settings is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathPurpose {
    Input,
    Output,
}

/// The files that a publish writes.
#[derive(Debug, Clone, Default)]
pub struct PublishFiles {
    pub receipt: Option<PathBuf>,
    pub junit: Option<PathBuf>,
    pub attestation: AttestationFiles,
}

impl PublishFiles {
    /// Returns the paths of all files that are written.
    pub fn list_paths(&self) -> impl Iterator<Item = &Path> {
        let written_paths = [&self.receipt, &self.junit].into_iter().flatten();
        written_paths
            .map(PathBuf::as_path)
            .chain(self.attestation.list_paths())
    }
}

/// Returns the output files of a publish that flags or variables of the job set. They are known before the
/// configuration file is read, so that they can be written even if it is invalid.
pub fn requested_publish_files(flags: &PublishFlags, env: &Env) -> PublishFiles {
    PublishFiles {
        receipt: requested_path(flags.receipt.as_ref(), variable::RECEIPT, env),
        junit: requested_path(flags.junit.as_ref(), variable::PUBLISH_JUNIT, env),
        attestation: requested_publish_attestation(flags, env),
    }
}

/// Returns whether the flag or the variable requests a dry run. An invalid variable is treated as false here, because
/// the error is reported when all settings are resolved.
pub fn is_dry_run(is_flag_set: bool, env: &Env) -> bool {
    Layers::new(env)
        .resolve_switch(is_flag_set, variable::DRY_RUN, None)
        .unwrap_or(false)
}

impl SettingSources<'_> {
    /// Resolves the settings of a publish. Fails if smoke runs are configured but `--no-verify` skips the check of the
    /// published version, which they need.
    pub fn resolve_publish_settings(&self, args: &PublishArgs) -> Result<PublishSettings, SettingsError> {
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
        let require_review = self.resolve_required_review_file(args)?;
        let require_review_engine = self.resolve_required_engine(args, require_review.is_some())?;
        let files = self.resolve_publish_files(&args.flags)?;
        let (version_name, source) = self.resolve_version_name(args.flags.version_name.clone())?;
        let smoke = self.resolve_smoke_settings(&args.flags.smoke)?;
        let is_check_skipped =
            layers.resolve_switch(args.flags.no_verify, variable::NO_VERIFY, file.no_verify)?;
        if is_check_skipped && !smoke.runs.is_empty() {
            let message = "the smoke runs need the check of the published version, which --no-verify skips";
            return Err(SettingsError::new(message).with_hint("remove --no-verify, or the smoke runs"));
        }
        let compatibility = self.resolve_compatibility_settings(&args.compat)?;
        reject_without_comparison("--against", args.flags.against.is_some(), compatibility.mode)?;
        let selection = self.resolve_selection(&args.globs, SelectionPurpose::Publish)?;
        let (job_include, job_exclude) = selection.job_patterns();
        let has_job_globs = !job_include.is_empty() || !job_exclude.is_empty();
        Ok(PublishSettings {
            has_job_selection: has_job_globs
                || args.flags.select.is_some()
                || self.env.get(variable::SELECT).is_some(),
            prefix: self.resolve_prefix(args.flags.prefix.clone())?,
            version_name,
            version_name_source: source,
            revisions: self.resolve_revisions_to_publish(args)?,
            selection,
            compatibility,
            against: layers.resolve_filled_text(args.flags.against.clone(), variable::AGAINST, None)?,
            select: self.resolve_file_selection(args.flags.select)?,
            from: layers
                .resolve_setting(args.flags.from, variable::FROM, parse_value, file.from)?
                .unwrap_or_default(),
            if_exists: if_exists.unwrap_or_default(),
            on_ignored: on_ignored.unwrap_or_default(),
            verify: !is_check_skipped,
            lookup_timeout: self.resolve_lookup_timeout(args.flags.lookup_timeout)?,
            dry_run: layers.resolve_switch(args.dry_run, variable::DRY_RUN, None)?,
            json: args.json || args.output == Some(OutputFormat::Json),
            require_review,
            require_review_engine,
            receipt: files.receipt,
            junit: files.junit,
            attestation: files.attestation,
            smoke,
        })
    }

    /// Resolves which of the selected files are published.
    pub fn resolve_file_selection(
        &self,
        flag: Option<FileSelection>,
    ) -> Result<FileSelection, SettingsError> {
        let file = self.file.publish.select;
        let selection = self
            .layers()
            .resolve_setting(flag, variable::SELECT, parse_value, file)?;
        Ok(selection.unwrap_or_default())
    }

    /// Resolves the files that a publish writes: the receipt, the JUnit file and the statement. Fails if two of them
    /// have the same path.
    pub fn resolve_publish_files(&self, flags: &PublishFlags) -> Result<PublishFiles, SettingsError> {
        let file = &self.file.publish;
        let files = PublishFiles {
            receipt: self.resolve_output(variable::RECEIPT, flags.receipt.as_ref(), file.receipt.as_ref())?,
            junit: self.resolve_output(variable::PUBLISH_JUNIT, flags.junit.as_ref(), file.junit.as_ref())?,
            attestation: self.resolve_publish_attestation(flags)?,
        };
        reject_shared_paths(files.list_paths())?;
        Ok(files)
    }

    /// Resolves the path of an output file. A path from the configuration file must be inside the checkout.
    pub(super) fn resolve_output(
        &self,
        variable: &str,
        flag: Option<&PathBuf>,
        file: Option<&PathBuf>,
    ) -> Result<Option<PathBuf>, SettingsError> {
        self.resolve_path(variable, flag, file, PathPurpose::Output)
    }

    /// Resolves the path of the review report that a publish requires, if it requires one.
    pub fn resolve_required_review_file(&self, args: &PublishArgs) -> Result<Option<PathBuf>, SettingsError> {
        self.resolve_path(
            variable::REQUIRE_REVIEW,
            args.require_review.as_ref(),
            self.file.publish.require_review.as_ref(),
            PathPurpose::Input,
        )
    }

    /// Resolves a path relative to the current directory. A path from the configuration file must stay in the checkout.
    /// If the job sets a path, the path from the file is neither used nor checked.
    fn resolve_path(
        &self,
        variable: &str,
        flag: Option<&PathBuf>,
        file: Option<&PathBuf>,
        purpose: PathPurpose,
    ) -> Result<Option<PathBuf>, SettingsError> {
        let key = find_setting_by_variable(variable).map_or(variable, |setting| setting.key);
        let (flag, file) = (flag.cloned(), file.cloned());
        let Some((path, source)) = self.layers().resolve_with_source(flag, variable, file) else {
            return Ok(None);
        };
        reject_unexpanded_value(&path.to_string_lossy(), source, variable)?;
        if purpose == PathPurpose::Output {
            let name = match source {
                SettingSource::File => key,
                SettingSource::Flag | SettingSource::Variable => variable,
            };
            reject_invalid_output(&path, name)?;
        }
        let path = match (source, purpose) {
            (SettingSource::File, PathPurpose::Output) => self.resolve_output_path(key, &path)?,
            (SettingSource::File, PathPurpose::Input) => self.resolve_file_path(key, &path)?,
            (SettingSource::Flag | SettingSource::Variable, _) => path,
        };
        Ok(Some(self.env.current_dir().join(path)))
    }

    /// Resolves the maximum time to wait until the platform shows a new version, or the change of one.
    pub fn resolve_lookup_timeout(&self, flag: Option<u64>) -> Result<Duration, SettingsError> {
        let file = self.file.publish.lookup_timeout;
        let seconds =
            self.layers()
                .resolve_integer(flag, variable::LOOKUP_TIMEOUT, file, "lookup timeout")?;
        Ok(Duration::from_secs(seconds))
    }

    /// Resolves the revisions of a publish, which only flags and variables of the job may set. A publish always
    /// includes all pipelines, so it has no base.
    pub fn resolve_revisions_to_publish(
        &self,
        args: &PublishArgs,
    ) -> Result<RequestedRevisions, SettingsError> {
        let layers = self.layers();
        Ok(RequestedRevisions {
            all: true,
            base: None,
            head: layers.resolve_filled_text(args.head.clone(), variable::HEAD, None)?,
            branch: layers.resolve_filled_text(args.branch.clone(), variable::BRANCH, None)?,
            deepen: self.resolve_deepen(args.deepen)?,
        })
    }

    /// Resolves the template of the version name, and where it comes from. Fails if it is not set, or if it contains a
    /// variable that the CI host did not replace. Placeholders such as `{date}` are replaced later.
    fn resolve_version_name(&self, flag: Option<String>) -> Result<(String, SettingSource), SettingsError> {
        let file = self.file.publish.version_name.clone();
        let (name, source) = self
            .layers()
            .resolve_with_source(flag, variable::VERSION_NAME, file)
            .ok_or_else(|| {
                missing_publish_setting_error("version name", "--version-name", variable::VERSION_NAME)
            })?;
        reject_unexpanded_value(&mask_placeholders(&name), source, variable::VERSION_NAME)?;
        Ok((name, source))
    }

    /// Fails if the name of an existing version contains a variable that the CI host did not replace.
    pub fn require_expanded_version(&self, version: &str) -> Result<(), SettingsError> {
        reject_unexpanded_value(version, SettingSource::Flag, variable::VERSION_NAME)
    }

    /// Resolves the prefix of the artifact, which most requests for artifacts need. Fails if it is not set.
    pub fn resolve_prefix(&self, flag: Option<String>) -> Result<String, SettingsError> {
        self.resolve_optional_prefix(flag)?
            .ok_or_else(|| missing_publish_setting_error("prefix", "--prefix", variable::PREFIX))
    }

    /// Resolves the prefix of the artifact, if it is set.
    pub fn resolve_optional_prefix(&self, flag: Option<String>) -> Result<Option<String>, SettingsError> {
        let file = self.file.publish.prefix.clone();
        self.layers().resolve_filled_text(flag, variable::PREFIX, file)
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
    /// Returns the reason why no run publishes, or `None` if `publish-on` lists a branch or a tag.
    pub fn explain_no_publish(&self) -> Option<&'static str> {
        if !self.branches.is_empty() || !self.tags.is_empty() {
            return None;
        }
        Some(if self.is_file_unused {
            "`publish-on` in the checkout's file does not apply to this run"
        } else {
            "`publish-on` does not list a branch or a tag"
        })
    }

    /// Returns whether `publish-on` lists the branch, so that a run on it publishes.
    pub fn has_branch(&self, branch: &str) -> bool {
        self.branches.is_match(branch)
    }

    /// Returns whether `publish-on` lists the tag, so that a run for it publishes.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.is_match(tag)
    }
}

impl SettingSources<'_> {
    /// Returns whether `sluicegate ci` may publish from a local run. Only a flag or a variable can allow it.
    pub fn allows_local_publish(&self, args: &CiArgs) -> Result<bool, SettingsError> {
        self.layers()
            .resolve_switch(args.local_publish, variable::PUBLISH, None)
    }

    /// Resolves the globs of the branches and tags whose commits are published. The error for an invalid glob shows a
    /// valid one as an example.
    pub fn resolve_publish_on(&self, args: &CiArgs) -> Result<PublishOn, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.publish_on);
        let branches = layers.resolve_ref_globs(
            &args.publish_on_branch,
            variable::PUBLISH_ON_BRANCHES,
            file.branches.as_ref(),
        )?;
        let tags = layers.resolve_ref_globs(
            &args.publish_on_tag,
            variable::PUBLISH_ON_TAGS,
            file.tags.as_ref(),
        )?;
        Ok(PublishOn {
            branches: compile_ref_globs(&branches, "release/*")?,
            tags: compile_ref_globs(&tags, "v*")?,
            is_file_unused: self.has_unused_publish_on,
        })
    }

    /// Returns the branches and tags of a publish with those that the policy revision's file lists if it cannot be
    /// used; the job's own have precedence. Invalid globs may match any name. Returns `None` without such a file, or if
    /// the change repairs it.
    pub fn find_unusable_publish_on(&self, args: &CiArgs) -> Option<PublishOn> {
        let text = self
            .unusable_file_text
            .as_ref()
            .filter(|_| self.has_lost_policy())?;
        let [file_branches, file_tags] = list_publish_on_globs(text);
        let layers = self.layers();
        let branches = layers.resolve_ref_globs(
            &args.publish_on_branch,
            variable::PUBLISH_ON_BRANCHES,
            Some(&file_branches),
        );
        let tags =
            layers.resolve_ref_globs(&args.publish_on_tag, variable::PUBLISH_ON_TAGS, Some(&file_tags));
        // An invalid list of the job is reported where the publish is planned.
        let (Ok(branches), Ok(tags)) = (branches, tags) else {
            return None;
        };
        let any_name = compile_globs(&[ANY_NAME.to_owned()], ANY_NAME).ok()?;
        Some(PublishOn {
            branches: compile_ref_globs(&branches, "release/*").unwrap_or_else(|_| any_name.clone()),
            tags: compile_ref_globs(&tags, "v*").unwrap_or(any_name),
            is_file_unused: true,
        })
    }
}

fn missing_publish_setting_error(name: &str, flag: &str, variable: &str) -> SettingsError {
    SettingsError::new(format!("the {name} is not set")).with_hint(format!("pass {flag} or set {variable}"))
}
