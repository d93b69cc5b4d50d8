//! Flag, environment, file and default, resolved once into values that nobody needs to question again.
//!
//! The configuration file belongs to the change under review. What decides where a secret goes or what runs is
//! therefore never read from it.

mod check;
mod destinations;
mod file;
mod global;
mod judging;
mod layers;
mod platform;
mod publish;
mod remote;
mod review;
mod schema;
mod selection;

pub use check::Check;
pub use destinations::{Destinations, ReportTarget};
pub use file::{FILE_NAME, FileConfig};
pub use global::{Global, color, config_file, repository_folder};
pub use judging::Judging;
pub use platform::Connection;
pub use publish::{Publish, PublishOn};
pub use remote::{Vocabulary, Waiting};
pub use review::{Review, Revisions};
pub use schema::schema;
pub use selection::{Selection, is_pipeline};

pub(crate) use layers::Layers;

use crate::env::Env;
use crate::settings::file::load;
use std::path::Path;

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

    /// What to do about it.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// The sources of settings below the flags: the environment and the file.
pub struct Sources<'a> {
    env: &'a Env,
    file: FileConfig,
}

impl<'a> Sources<'a> {
    /// Reads the configuration file: `--config`, `SLUICEGATE_CONFIG`, else `sluicegate.yaml` in `root`, if it is
    /// there.
    pub fn load(env: &'a Env, config: Option<&Path>, root: Option<&Path>) -> Result<Self, SettingsError> {
        Ok(Self {
            env,
            file: load(env, config, root)?,
        })
    }

    fn layers(&self) -> Layers<'_> {
        Layers::new(self.env)
    }
}
