//! The settings of the smoke runs that follow a publish.

use super::needed_flags::DependentFlag;
use super::setting_table::variable;
use super::{PollSettings, SettingSources, SettingsError};
use crate::job::cli::{OnSmokeFailure, PaceArgs, SmokeFlags, parse_value};
use std::fmt;
use uuid::Uuid;

/// The smoke runs of a published version, and how to wait for them.
#[derive(Debug, Clone)]
pub struct SmokeSettings {
    /// The runs in their order; empty if a publish has none.
    pub runs: Vec<SmokeRun>,
    /// The time limit of all runs together.
    pub poll_settings: PollSettings,
    pub on_failure: OnSmokeFailure,
}

/// An execution of a published pipeline in a project that consumes the version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmokeRun {
    pub project: Uuid,
    pub pipeline: String,
    pub environment: String,
}

impl fmt::Display for SmokeRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in `{}`", self.pipeline, self.environment)
    }
}

impl SettingSources<'_> {
    /// Resolves the settings of the smoke runs: the pipelines to run after a publish, each in a project and an
    /// environment, and how to wait for them.
    pub fn resolve_smoke_settings(&self, flags: &SmokeFlags) -> Result<SmokeSettings, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.publish);
        let pipelines = self.resolve_names(&flags.smoke, variable::SMOKE, file.smoke.as_ref())?;
        let projects = self.resolve_names(
            &flags.smoke_project,
            variable::SMOKE_PROJECT,
            file.smoke_project.as_ref(),
        )?;
        let environments = self.resolve_names(
            &flags.smoke_environment,
            variable::SMOKE_ENVIRONMENT,
            file.smoke_environment.as_ref(),
        )?;
        let time_limit = layers.resolve_integer(
            flags.smoke_timeout,
            variable::SMOKE_TIMEOUT,
            file.smoke_timeout,
            "smoke timeout",
        )?;
        let on_failure = layers.resolve_setting(
            flags.on_smoke_failure,
            variable::ON_SMOKE_FAILURE,
            parse_value,
            file.on_smoke_failure,
        )?;
        let runs = combine_runs(&pipelines, &projects, &environments)?;
        let has_runs = !runs.is_empty();
        DependentFlag::SmokeTimeout.reject_without_need(flags.smoke_timeout.is_some(), has_runs)?;
        DependentFlag::OnSmokeFailure.reject_without_need(flags.on_smoke_failure.is_some(), has_runs)?;
        Ok(SmokeSettings {
            runs,
            // A publish does not have the flags in `PaceArgs`, so `time_limit` applies.
            poll_settings: self.resolve_poll_settings(&PaceArgs::default(), time_limit)?,
            on_failure: on_failure.unwrap_or_default(),
        })
    }

    /// Resolves a list of names. Fails if a name is empty or contains a variable that was not replaced, because the
    /// smoke run with that name would be missing or wrong.
    fn resolve_names(
        &self,
        flags: &[String],
        variable: &str,
        file: Option<&Vec<String>>,
    ) -> Result<Vec<String>, SettingsError> {
        let layers = self.layers();
        let names = layers.resolve_text_list(flags, variable, file)?;
        if names.iter().any(|name| name.trim().is_empty()) {
            let setting = layers.find_list_source(flags, variable).name_setting(variable);
            return Err(SettingsError::new(format!("a value of {setting} is empty")));
        }
        Ok(names)
    }
}

/// Combines the lists into smoke runs, one for each entry of the longest list. A list with one entry applies to all
/// runs. Fails if a list has neither one entry nor this length, if a project is not a UUID, or if a run is listed
/// twice.
fn combine_runs(
    pipelines: &[String],
    projects: &[String],
    environments: &[String],
) -> Result<Vec<SmokeRun>, SettingsError> {
    let lists = [
        ("--smoke", variable::SMOKE, pipelines),
        ("--smoke-project", variable::SMOKE_PROJECT, projects),
        ("--smoke-environment", variable::SMOKE_ENVIRONMENT, environments),
    ];
    let run_count = lists.iter().map(|(_, _, list)| list.len()).max().unwrap_or(0);
    if run_count == 0 {
        return Ok(Vec::new());
    }
    for (flag, variable, list) in lists {
        if list.is_empty() {
            let error = SettingsError::new(format!("the smoke runs need a value for {flag}"));
            return Err(error.with_hint(format!("pass {flag} or set {variable}")));
        }
        if list.len() != 1 && list.len() != run_count {
            return Err(SettingsError::new(format!(
                "{flag} has {} values for {run_count} smoke runs: pass one value for all runs, or one value \
                 for each run",
                list.len()
            )));
        }
    }
    let mut runs = Vec::new();
    for run_index in 0..run_count {
        let value = |list: &[String]| list.get(run_index).or(list.first()).cloned().unwrap_or_default();
        let project = value(projects);
        let run = SmokeRun {
            project: Uuid::parse_str(project.trim())
                .map_err(|_| SettingsError::new(format!("the smoke project {project:?} is not a UUID")))?,
            pipeline: value(pipelines),
            environment: value(environments),
        };
        if runs.contains(&run) {
            return Err(SettingsError::new(format!(
                "the smoke run of {run} is listed twice"
            )));
        }
        runs.push(run);
    }
    Ok(runs)
}
