//! Settings for changes that break consumers of shared pipelines, shared by every command that compares interfaces.

use super::layers::reject_unexpanded_sentence;
use super::needed_flags::reject_without_comparison;
use super::setting_table::variable;
use super::{SettingSources, SettingsError};
use crate::job::cli::{CompatArgs, CompatMode, parse_value};

/// How to treat changes that break consumers of shared pipelines.
#[derive(Debug, Clone, Default)]
pub struct CompatibilitySettings {
    pub mode: CompatMode,
    pub accepted_reason: Option<String>,
}

impl SettingSources<'_> {
    /// Resolves how to treat changes that break consumers of shared pipelines. Only the job may accept such changes,
    /// not the configuration file, and it must give a reason: a variable that was not replaced is no reason.
    pub fn resolve_compatibility_settings(
        &self,
        args: &CompatArgs,
    ) -> Result<CompatibilitySettings, SettingsError> {
        let layers = self.layers();
        let file = self.file.publish.compat;
        let mode = layers.resolve_setting(args.compat, variable::COMPAT, parse_value, file)?;
        let mode = mode.unwrap_or_else(|| self.choose_unset_level(CompatMode::Fail));
        reject_without_comparison("--accept-breaking", args.accept_breaking.is_some(), mode)?;
        let flag = args.accept_breaking.clone();
        let reason = layers.resolve_with_source(flag, variable::ACCEPT_BREAKING, None);
        if let Some((reason, source)) = &reason {
            reject_unexpanded_sentence(reason, *source, variable::ACCEPT_BREAKING)?;
        }
        match reason.as_ref().map(|(reason, _)| reason.trim()) {
            Some("") => Err(SettingsError::new("the reason for --accept-breaking is empty")
                .with_hint("explain why consumers may break; the receipt records the reason")),
            reason => Ok(CompatibilitySettings {
                mode,
                accepted_reason: reason.map(str::to_owned),
            }),
        }
    }
}
