//! The settings of reviews and publishes that `doctor` checks, and that its other checks need.

use crate::error::Failure;
use crate::job::cli::{CiArgs, ReviewArgs, SmokeFlags};
use crate::job::settings::Connection;
use crate::session::{Session, is_ci};
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
    let publish_on = sources.resolve_publish_on(&CiArgs::default())?;
    let connection = sources.resolve_connection(&session.global)?;
    let prefix_flag = None;
    let publishes =
        publish_on.explain_no_publish().is_none() || sources.resolve_optional_prefix(prefix_flag)?.is_some();
    Ok(DoctorSettings {
        uses_platform: publishes || connection.has_any_setting() || is_ci(&session.env),
        connection,
        publishes,
        deepens: review.gate.revisions.deepen,
        request_fields: review.request_fields,
    })
}
