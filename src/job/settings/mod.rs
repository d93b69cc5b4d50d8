//! Resolves settings from flag, environment, file and default once, into values that are completely checked.
//!
//! One table lists who may set each setting. Only the job may set where secrets go, which programs run, which commit is
//! reviewed and whether it is reviewed. The configuration file may set the rest, in the version that `policy` selected.
//! If only the change itself has a file, settings that affect the verdict have their defaults.

mod attestation_files;
mod check_settings;
mod compatibility_settings;
mod config_file;
mod connection;
mod effective_settings;
mod error;
mod file_values;
mod global_settings;
mod layers;
mod needed_flags;
mod partial_publish_settings;
mod placeholder_mask;
mod platform_settings;
mod project_check_settings;
mod publish_settings;
mod report_destinations;
mod required_engine;
mod review_settings;
mod schema;
mod selection;
mod setting;
mod setting_format;
mod setting_kind;
mod setting_names;
mod setting_sources;
mod setting_table;
mod shared_destinations;
mod smoke_settings;
#[cfg(test)]
mod tests;
mod unused_file;
mod verdict_settings;

pub use attestation_files::{AttestationFiles, requested_receipt, requested_review_attestation};
pub use check_settings::CheckSettings;
pub use compatibility_settings::CompatibilitySettings;
pub use config_file::{FILE_NAME, sets_new_only};
pub use connection::Connection;
pub use effective_settings::{EffectiveSetting, SettingOrigin};
pub use error::SettingsError;
pub use global_settings::{
    requested_config_dir, requested_config_file, requested_connection_files, requested_host,
    requested_repository, requested_target_urls, requested_team_rules, resolve_color_choice,
    resolve_gate_changes, resolve_policy_source,
};
pub use platform_settings::PollSettings;
pub use project_check_settings::ProjectCheckSettings;
pub use publish_settings::{PublishFiles, PublishOn, PublishSettings, is_dry_run, requested_publish_files};
pub use report_destinations::{
    ReportDestinations, is_comment_requested, requested_annotation_style, requested_category,
    requested_reports,
};
pub use review_settings::{GateSettings, ReviewSettings};
pub use schema::json_schema;
pub use selection::{ReviewExclusions, Selection, SelectionPurpose};
pub use setting::Setting;
pub use setting_format::GlobSubject;
pub use setting_kind::SettingKind;
pub use setting_names::{describe_unknown_variables, find_known_setting, list_glob_keys};
pub use setting_sources::{Checkout, SettingSources};
pub use setting_table::{FileConfig, all_settings, variable};
pub use smoke_settings::{SmokeRun, SmokeSettings};
pub use verdict_settings::{FileVerdictSettings, VerdictSettings, requested_fail_on, requested_shard};

pub use layers::SettingSource;

pub(crate) use layers::Layers;
