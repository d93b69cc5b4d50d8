//! Settings for the verdict and the reports, shared by `review` and `check`.

use super::layers::parse_integer;
use super::setting_table::variable;
use super::{
    CompatibilitySettings, Layers, ProjectCheckSettings, ReportDestinations, SettingSources, SettingsError,
};
use crate::env::Env;
use crate::job::cli::{CompatMode, FailOn, GateArgs, parse_value};
use sluicegate_pipelines::findings::Shard;

/// The variable with the number of a parallel job, from 1.
const NODE_INDEX: &str = "CI_NODE_INDEX";
/// The variable with the number of parallel jobs.
const NODE_TOTAL: &str = "CI_NODE_TOTAL";
/// The variable with the name of the job, which ends with `I/N` in a job of `parallel: N`.
const JOB_NAME: &str = "CI_JOB_NAME";

/// Settings for the verdict and the reports.
#[derive(Debug, Clone)]
pub struct VerdictSettings {
    pub fail_on: FailOn,
    /// Only new findings fail the gate.
    pub new_only: bool,
    /// Maximum number of known findings, or `None` for no limit.
    pub max_known: Option<usize>,
    pub project_checks: ProjectCheckSettings,
    pub compatibility: CompatibilitySettings,
    pub destinations: ReportDestinations,
    /// The shard to review, or `None` for all files.
    pub shard: Option<Shard>,
}

/// The settings for the verdict that the configuration file sets, so that they also apply to a run on another machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileVerdictSettings {
    pub fail_on: Option<FailOn>,
    pub new_only: Option<bool>,
    pub compat: Option<CompatMode>,
}

impl SettingSources<'_> {
    /// Resolves the settings for the verdict of the gate and for its reports. `--max-known` without `--new-only` is an
    /// error.
    pub fn resolve_verdict_settings(&self, args: &GateArgs) -> Result<VerdictSettings, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.review);
        let fail_on = layers.resolve_setting(args.fail_on, variable::FAIL_ON, parse_value, file.fail_on)?;
        let new_only = self.is_new_only(args.new_only)?;
        let max_known = layers.resolve_setting(args.max_known, variable::MAX_KNOWN, parse_integer, None)?;
        if max_known.is_some() && !new_only {
            let message = "--max-known requires --new-only, because otherwise no finding is known";
            return Err(SettingsError::new(message)
                .with_hint("pass --new-only, or set SLUICEGATE_NEW_ONLY or `review: { new-only: true }`"));
        }
        Ok(VerdictSettings {
            fail_on: fail_on.unwrap_or_else(|| self.choose_unset_level(FailOn::Warn)),
            new_only,
            max_known,
            project_checks: self.resolve_project_checks(args.project_checks)?,
            compatibility: self.resolve_compatibility_settings(&args.compat)?,
            destinations: self.resolve_report_destinations(&args.destinations)?,
            shard: requested_shard(args.shard.clone(), self.env)?,
        })
    }

    /// Returns the level that the configuration file enforces; `None` if the file does not set it.
    pub fn file_fail_on(&self) -> Option<FailOn> {
        self.file.review.fail_on
    }

    /// Returns the settings for the verdict that the configuration file sets.
    pub const fn file_verdict_settings(&self) -> FileVerdictSettings {
        FileVerdictSettings {
            fail_on: self.file.review.fail_on,
            new_only: self.file.review.new_only,
            compat: self.file.publish.compat,
        }
    }

    /// Returns whether only new findings fail the gate.
    pub fn is_new_only(&self, is_flag_set: bool) -> Result<bool, SettingsError> {
        let file = self.file.review.new_only;
        self.layers()
            .resolve_switch(is_flag_set, variable::NEW_ONLY, file)
    }
}

/// Returns the shard to review: from the flag or the variable, otherwise from GitLab's numbers of a parallel job
/// (<https://docs.gitlab.com/ci/variables/predefined_variables/>).
///
/// A job of a matrix has such numbers, too, but the jobs of a matrix do different work and are not shards. The name of
/// the job shows the difference: `review 1/3` is a parallel job, `review: [a, b]` is a job of a matrix
/// (<https://docs.gitlab.com/ci/jobs/job_control/#parallelize-large-jobs>).
pub fn requested_shard(flag: Option<String>, env: &Env) -> Result<Option<Shard>, SettingsError> {
    let text = Layers::new(env).resolve_text(flag, variable::SHARD, None);
    let Some(text) = text.or_else(|| find_node_shard(env)) else {
        return Ok(None);
    };
    match text.parse() {
        Ok(shard) => Ok(Some(shard)),
        Err(reason) => Err(SettingsError::new(format!(
            "invalid shard {text:?} (--shard, SLUICEGATE_SHARD): {reason}"
        ))),
    }
}

/// Returns the shard that the variables of GitLab name; `None` if the job is not a parallel job.
fn find_node_shard(env: &Env) -> Option<String> {
    let total = env.get(NODE_TOTAL).filter(|total| *total != "1")?;
    let node_shard = format!("{}/{total}", env.get(NODE_INDEX)?);
    let name = env.get(JOB_NAME)?;
    name.ends_with(&format!(" {node_shard}")).then_some(node_shard)
}

/// Returns the level that the flag or the variable enforces, before the configuration file is read. An invalid value is
/// skipped, because its error is reported when all settings are resolved.
pub fn requested_fail_on(flag: Option<FailOn>, env: &Env) -> Option<FailOn> {
    let fail_on = Layers::new(env).resolve_setting(flag, variable::FAIL_ON, parse_value, None);
    fail_on.ok().flatten()
}
