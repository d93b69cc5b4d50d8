//! Finds settings of the configuration file that no run can use, apart from the selection of the command.

use super::unusable_publish_settings::reject_unusable_publish_settings;
use crate::error::Failure;
use crate::job::settings::SettingSources;
use crate::session::Run;
use crate::workspace::Workspace;

/// Returns the problem if a setting of the connection, of the team rules or of a publish is invalid because of the
/// configuration file in `sources`. A setting that is invalid without the file, too, is the job's: it ends the command
/// that uses it, and says nothing about the file.
pub(super) fn explain_unusable_settings(
    run: &Run,
    workspace: &Workspace<'_>,
    sources: &SettingSources<'_>,
) -> Option<String> {
    let job_sources = workspace.sources.without_file();
    let kinds = [resolve_connection, resolve_team_rules, resolve_publish];
    for resolve_settings in kinds {
        if let Err(failure) = resolve_settings(run, workspace, sources)
            && resolve_settings(run, workspace, &job_sources).is_ok()
        {
            return Some(failure.to_note());
        }
    }
    None
}

fn resolve_connection(run: &Run, _: &Workspace<'_>, sources: &SettingSources<'_>) -> Result<(), Failure> {
    sources.resolve_connection(&run.global)?;
    Ok(())
}

fn resolve_team_rules(
    run: &Run,
    workspace: &Workspace<'_>,
    sources: &SettingSources<'_>,
) -> Result<(), Failure> {
    sources.resolve_team_rules_path(&run.global, workspace.config_file.as_deref())?;
    Ok(())
}

fn resolve_publish(_: &Run, _: &Workspace<'_>, sources: &SettingSources<'_>) -> Result<(), Failure> {
    reject_unusable_publish_settings(sources)
}
