//! Settings for changes that break consumers of shared pipelines, shared by every command that compares interfaces.

use super::table::variable;
use super::{SettingsError, Sources};
use crate::job::cli::{Compat, CompatArgs, parse_value};

/// How to treat changes that break consumers of shared pipelines.
#[derive(Debug, Clone, Default)]
pub struct Breaks {
    pub mode: Compat,
    pub reason: Option<String>,
}

impl Sources<'_> {
    /// Returns how to treat changes that break consumers. Only the job may give the reason, which is never empty.
    pub fn breaks(&self, args: &CompatArgs) -> Result<Breaks, SettingsError> {
        let layers = self.layers();
        let file = self.file.publish.compat;
        let mode = layers.pick(args.compat, variable::COMPAT, parse_value, file)?;
        let reason = layers.text(args.accept_breaking.clone(), variable::ACCEPT_BREAKING, None);
        match reason.as_deref().map(str::trim) {
            Some("") => Err(SettingsError::new("the reason of --accept-breaking is empty")
                .with_hint("explain why consumers may break; the receipt records the reason")),
            reason => Ok(Breaks {
                mode: mode.unwrap_or_default(),
                reason: reason.map(str::to_owned),
            }),
        }
    }
}
