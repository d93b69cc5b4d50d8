//! Settings of the project checks: the level of each check, and the references to ignore.

use super::selection::globs;
use super::table::variable;
use super::{SettingsError, Sources};
use crate::job::cli::{CheckLevel, ProjectChecks, parse_value};
use globset::GlobSet;
use sluicegate_pipelines::findings::Enforcement;
use sluicegate_pipelines::project::{CheckLevels, ProjectCheck};

/// An example of a glob over the targets of calls and the scripts of components.
const SUCH_AS: &str = "shared-library/**";

#[derive(Debug, Clone)]
pub struct ProjectCheckSettings {
    pub levels: CheckLevels,
    external: GlobSet,
}

impl ProjectCheckSettings {
    /// Returns whether a reference, as written, is outside the project by design.
    pub fn is_external(&self, written: &str) -> bool {
        self.external.is_match(written)
    }
}

impl Sources<'_> {
    /// Reads the settings of the project checks. Only the file sets levels; only the job may turn the checks off.
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
