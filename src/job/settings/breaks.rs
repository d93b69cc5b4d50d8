//! What it means that consumers of shared pipelines would break, for every command that compares.

use super::table::variable;
use super::{SettingsError, Sources};
use crate::job::cli::{Compat, CompatArgs, parse_value};

/// What it means that consumers of shared pipelines would break.
#[derive(Debug, Clone, Default)]
pub struct Breaks {
    pub mode: Compat,
    pub reason: Option<String>,
}

impl Sources<'_> {
    /// What it means that consumers would break; the reason is for the job alone to give, and is never empty.
    pub fn breaks(&self, args: &CompatArgs) -> Result<Breaks, SettingsError> {
        let layers = self.layers();
        let file = self.file.publish.compat;
        let mode = layers.pick(args.compat, variable::COMPAT, parse_value, file)?;
        let reason = layers.text(args.accept_breaking.clone(), variable::ACCEPT_BREAKING, None);
        match reason.as_deref().map(str::trim) {
            Some("") => Err(SettingsError::new("the reason of --accept-breaking is empty")
                .with_hint("say why consumers may break: it is recorded in the receipt")),
            reason => Ok(Breaks {
                mode: mode.unwrap_or_default(),
                reason: reason.map(str::to_owned),
            }),
        }
    }
}
