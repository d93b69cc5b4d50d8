//! Finds settings with which no publish can succeed, before the first publish uses them.

use crate::error::Failure;
use crate::job::cli::CompatMode;
use crate::job::settings::{PublishSettings, SettingSources};
use crate::publish::PublishError;
use crate::publish::version_name;

/// Fails if a setting of a publish has a value that no publish can use. A setting that is missing is accepted, and so
/// is a combination of settings, because the job that publishes may set another value for one of them.
pub(crate) fn reject_unusable_publish_settings(sources: &SettingSources<'_>) -> Result<(), Failure> {
    let settings = sources.resolve_partial_publish_settings()?;
    version_name::reject_unusable_prefix(&settings.prefix).map_err(PublishError::from)?;
    version_name::reject_unusable_template(&settings.version_name).map_err(PublishError::from)?;
    Ok(())
}

/// Fails if the version name depends on the changes since the last version, but the comparison is turned off.
pub(crate) fn reject_next_without_comparison(settings: &PublishSettings) -> Result<(), Failure> {
    if version_name::needs_next_version(&settings.version_name)
        && settings.compatibility.mode == CompatMode::Off
    {
        let message = "`{next}` needs a comparison with the published version, but --compat off disables it";
        return Err(Failure::usage(message).with_hint("pass --compat warn, or use another version name"));
    }
    Ok(())
}
