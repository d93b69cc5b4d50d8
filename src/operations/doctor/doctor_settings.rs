//! The settings of reviews and publishes that `doctor` checks, and that its other checks need.

use super::doctor_check::Check;
use crate::error::Failure;
use crate::job::cli::{CiArgs, ReviewArgs, SmokeFlags};
use crate::job::policy::CheckoutFiles;
use crate::job::settings::{Connection, SettingSources};
use crate::session::Session;
use crate::workspace::misnamed_files::UnreadConfigFile;
use crate::workspace::unusable_publish_settings::{
    reject_next_without_comparison, reject_unusable_publish_settings,
};
use sluicegate_platform::api::ReviewFields;

/// The settings that other checks need.
pub(crate) struct DoctorSettings {
    pub(crate) connection: Connection,
    /// The fields of a review request.
    pub(crate) request_fields: ReviewFields,
    /// Set if the platform is used: it is configured, or this is a CI job.
    pub(crate) uses_platform: bool,
    /// Whether a setting is set that only a publish needs.
    pub(crate) publishes: bool,
    /// Whether missing commits are fetched.
    pub(super) deepens: bool,
    /// Facts that make no run fail, each with a hint.
    remarks: Vec<SettingRemark>,
}

struct SettingRemark {
    fact: String,
    hint: String,
}

impl DoctorSettings {
    /// Returns the check of the settings. A remark is not a failure, because the job that publishes may set what is
    /// missing with a flag.
    pub(super) fn to_check(&self, name: &'static str) -> Check {
        let valid = "flags, variables and configuration file are valid";
        if self.remarks.is_empty() {
            return Check::success(name, valid);
        }
        let facts: Vec<&str> = self.remarks.iter().map(|remark| remark.fact.as_str()).collect();
        let hints: Vec<&str> = self.remarks.iter().map(|remark| remark.hint.as_str()).collect();
        Check::success(name, format!("{valid}, but {}", facts.join(", and "))).with_hint(hints.join("; "))
    }
}

/// Resolves all settings of reviews and publishes, so that an invalid one is reported even if no other check needs it.
/// Returns those that later checks need. A CI job is expected to use the platform, even if its connection is not
/// configured.
pub(crate) fn resolve_all_settings(session: &Session) -> Result<DoctorSettings, Failure> {
    let sources = session.read_setting_sources()?;
    sources.resolve_config_dir(&session.global)?;
    let review = sources.resolve_review_settings(&ReviewArgs::default())?;
    reject_unusable_publish_settings(&sources)?;
    // Doctor runs with the settings of the job, so they must fit together, and a value that the smoke runs need must be
    // set, too.
    reject_next_without_comparison(&sources.resolve_partial_publish_settings()?)?;
    sources.resolve_smoke_settings(&SmokeFlags::default())?;
    reject_hidden_gate_files(session)?;
    let publish_on = sources.resolve_publish_on(&CiArgs::default())?;
    let connection = sources.resolve_connection(&session.global)?;
    let repository = session.find_repository()?;
    let unread_file = repository.and_then(|repository| session.find_unread_config_file(&repository));
    let prefix_flag = None;
    let publishes =
        publish_on.explain_no_publish().is_none() || sources.resolve_optional_prefix(prefix_flag)?.is_some();
    Ok(DoctorSettings {
        uses_platform: publishes || connection.has_any_setting() || session.is_ci(),
        connection,
        remarks: list_remarks(&sources, publishes, unread_file)?,
        publishes,
        deepens: review.gate.revisions.deepen,
        request_fields: review.request_fields,
    })
}

/// Fails in a local run if git's index hides changes to a file of the gate configuration. Other reasons why the
/// repository cannot be used are ignored here: the checks of the repository report them.
fn reject_hidden_gate_files(session: &Session) -> Result<(), Failure> {
    if let Ok(Some(repo)) = session.find_repository()
        && let Ok(workspace) = session.open_workspace_in(repo, CheckoutFiles::OnDisk)
    {
        workspace.reject_hidden_gate_files(session)?;
    }
    Ok(())
}

/// Returns remarks about a configuration file that is not read and, if publishing is configured, about missing settings
/// of a publish.
fn list_remarks(
    sources: &SettingSources<'_>,
    is_publishing: bool,
    unread_file: Option<UnreadConfigFile>,
) -> Result<Vec<SettingRemark>, Failure> {
    let mut remarks = Vec::new();
    if let Some(UnreadConfigFile { fact, hint }) = unread_file {
        remarks.push(SettingRemark { fact, hint });
    }
    let prefix_flag = None;
    if is_publishing && sources.resolve_optional_prefix(prefix_flag)?.is_none() {
        remarks.push(SettingRemark {
            fact: "the prefix of a publish is missing".to_owned(),
            hint: "set `publish.prefix` or SLUICEGATE_PREFIX, or pass --prefix to `publish` or `ci`"
                .to_owned(),
        });
    }
    if is_publishing && !sources.has_version_name() {
        remarks.push(SettingRemark {
            fact: "the version name of a publish is missing".to_owned(),
            hint:
                "set `publish.version-name` or SLUICEGATE_VERSION_NAME, or pass --version-name to `publish` \
                   or `ci`"
                    .to_owned(),
        });
    }
    Ok(remarks)
}
