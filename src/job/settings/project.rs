//! What the checks of the project mean: a level for each, and what they leave alone.

use super::selection::globs;
use super::table::variable;
use super::{SettingsError, Sources};
use crate::job::cli::{CheckLevel, ProjectChecks, parse_value};
use crate::model::findings::Enforcement;
use crate::model::project::{CheckLevels, ProjectCheck};
use globset::GlobSet;

/// An example of a glob over what calls and components name.
const SUCH_AS: &str = "shared-library/**";

#[derive(Debug, Clone)]
pub struct ProjectCheckSettings {
    pub levels: CheckLevels,
    external: GlobSet,
}

impl ProjectCheckSettings {
    /// Whether a reference leads out of the project by design; as it is written.
    pub fn is_external(&self, written: &str) -> bool {
        self.external.is_match(written)
    }
}

impl Sources<'_> {
    /// Levels stand in the file alone; whether a job checks at all is for the job to say.
    pub fn project_checks(&self, flag: Option<ProjectChecks>) -> Result<ProjectCheckSettings, SettingsError> {
        let asked = self
            .layers()
            .pick(flag, variable::PROJECT_CHECKS, parse_value, None)?;
        let file = &self.file.project_checks;
        let level = |check| {
            let level = match check {
                ProjectCheck::Call => file.call,
                ProjectCheck::Script => file.script,
                ProjectCheck::Link => file.link,
                ProjectCheck::Argument => file.argument,
                ProjectCheck::Shared => file.shared,
                ProjectCheck::Cycle => file.cycle,
            };
            match level.unwrap_or_default() {
                CheckLevel::Error => Some(Enforcement::Error),
                CheckLevel::Warn => Some(Enforcement::Warn),
                CheckLevel::Off => None,
            }
        };
        Ok(ProjectCheckSettings {
            levels: match asked.unwrap_or_default() {
                ProjectChecks::Auto => CheckLevels::by(level),
                ProjectChecks::Off => CheckLevels::OFF,
            },
            external: globs(file.external.as_deref().unwrap_or_default(), SUCH_AS)?,
        })
    }
}
