//! Settings of the project checks: the level of each check, and the references to ignore.

use super::selection::compile_globs;
use super::setting_table::variable;
use super::{SettingSources, SettingsError};
use crate::job::cli::{CheckLevel, ProjectCheckMode, parse_value};
use globset::GlobSet;
use sluicegate_pipelines::findings::Enforcement;
use sluicegate_pipelines::project::{CheckLevels, ProjectCheck};

/// An example of a glob over the targets of calls and the scripts of components.
const EXAMPLE_GLOB: &str = "shared-library/**";

#[derive(Debug, Clone)]
pub struct ProjectCheckSettings {
    pub levels: CheckLevels,
    /// A flag or a variable of the job turned all checks off.
    pub are_turned_off_by_job: bool,
    external: GlobSet,
}

impl ProjectCheckSettings {
    /// Returns whether a reference, as written in a pipeline, matches a glob for files that are outside the project by
    /// design.
    pub fn is_external(&self, reference: &str) -> bool {
        self.external.is_match(reference)
    }
}

impl SettingSources<'_> {
    /// Resolves the settings of the project checks. The level of each check comes from the configuration file; only a
    /// flag or a variable of the job can turn off all checks.
    pub fn resolve_project_checks(
        &self,
        flag: Option<ProjectCheckMode>,
    ) -> Result<ProjectCheckSettings, SettingsError> {
        let project_checks = self
            .layers()
            .resolve_setting(flag, variable::PROJECT_CHECKS, parse_value, None)?
            .unwrap_or_default();
        let external = self.file.project_checks.external.as_deref().unwrap_or_default();
        Ok(ProjectCheckSettings {
            are_turned_off_by_job: project_checks == ProjectCheckMode::Off,
            levels: match project_checks {
                ProjectCheckMode::Auto => CheckLevels::from_fn(|check| self.find_enforcement(check)),
                ProjectCheckMode::Off => CheckLevels::ALL_OFF,
            },
            external: compile_globs(external, EXAMPLE_GLOB)?,
        })
    }

    /// Returns the level that the file sets for a check, or its default; `None` if the check is off.
    fn find_enforcement(&self, check: ProjectCheck) -> Option<Enforcement> {
        let file = &self.file.project_checks;
        let level = match check {
            ProjectCheck::Call => file.call,
            ProjectCheck::Script => file.script,
            ProjectCheck::Link => file.link,
            ProjectCheck::Argument => file.argument,
            ProjectCheck::Shared => file.shared,
            ProjectCheck::Cycle => file.cycle,
        };
        match level.unwrap_or_else(|| self.choose_unset_level(CheckLevel::Error)) {
            CheckLevel::Error => Some(Enforcement::Error),
            CheckLevel::Warn => Some(Enforcement::Warn),
            CheckLevel::Off => None,
        }
    }
}
