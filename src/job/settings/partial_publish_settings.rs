//! The settings of a publish in a run that does not publish.

use super::setting_table::variable;
use super::{PublishSettings, SettingSources, SettingsError};
use crate::job::cli::{PublishArgs, PublishFlags, SmokeFlags};

/// The value of a name that is not set.
const UNSET_NAME: &str = "unset";
/// The value of a project that is not set.
const UNSET_PROJECT: &str = "00000000-0000-0000-0000-000000000000";

impl SettingSources<'_> {
    /// Resolves the settings of a publish. A missing setting is not an error, because only the job that publishes may
    /// set it, and has any valid value.
    pub fn resolve_partial_publish_settings(&self) -> Result<PublishSettings, SettingsError> {
        let has_prefix = self.resolve_optional_prefix(None)?.is_some();
        let flags = PublishFlags {
            prefix: (!has_prefix).then(|| UNSET_NAME.to_owned()),
            version_name: (!self.has_version_name()).then(|| UNSET_NAME.to_owned()),
            smoke: self.build_missing_smoke_flags()?,
            ..PublishFlags::default()
        };
        self.resolve_publish_settings(&PublishArgs {
            flags,
            ..PublishArgs::default()
        })
    }

    /// Returns whether a variable or the file sets the name of a new version.
    pub fn has_version_name(&self) -> bool {
        let file_name = self.file.publish.version_name.clone();
        self.layers()
            .resolve_text(None, variable::VERSION_NAME, file_name)
            .is_some()
    }

    /// Returns flags for the missing lists of smoke runs, if another one of the lists is set.
    fn build_missing_smoke_flags(&self) -> Result<SmokeFlags, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.publish);
        let pipelines = layers.resolve_text_list(&[], variable::SMOKE, file.smoke.as_ref())?;
        let projects = layers.resolve_text_list(&[], variable::SMOKE_PROJECT, file.smoke_project.as_ref())?;
        let environments =
            layers.resolve_text_list(&[], variable::SMOKE_ENVIRONMENT, file.smoke_environment.as_ref())?;
        let mut flags = SmokeFlags::default();
        if pipelines.is_empty() && projects.is_empty() && environments.is_empty() {
            return Ok(flags);
        }
        if pipelines.is_empty() {
            flags.smoke.push(UNSET_NAME.to_owned());
        }
        if projects.is_empty() {
            flags.smoke_project.push(UNSET_PROJECT.to_owned());
        }
        if environments.is_empty() {
            flags.smoke_environment.push(UNSET_NAME.to_owned());
        }
        Ok(flags)
    }
}
