//! Finds settings of the configuration file that no run can use, apart from the selection of the command, and where
//! unusable paths lead.

use super::unusable_publish_settings::reject_unusable_publish_settings;
use crate::error::Failure;
use crate::job::cli::CiArgs;
use crate::job::policy::{self, GateFileVersion};
use crate::job::settings::SettingSources;
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_git::{FileKind, GitError, Repository, Snapshot, SnapshotFile};
use std::path::Path;

/// Returns the problem if a setting of the connection, of the team rules or of a publish is invalid because of the
/// configuration file in `sources`. A setting that is invalid without the file, too, is the job's: it ends the command
/// that uses it, and says nothing about the file.
pub(super) fn explain_unusable_settings(
    session: &Session,
    workspace: &Workspace<'_>,
    sources: &SettingSources<'_>,
) -> Option<String> {
    let job_sources = workspace.sources.without_file();
    let kinds = [resolve_connection, resolve_team_rules, resolve_publish];
    for resolve_settings in kinds {
        if let Err(failure) = resolve_settings(session, workspace, sources)
            && resolve_settings(session, workspace, &job_sources).is_ok()
        {
            return Some(failure.to_note());
        }
    }
    None
}

fn resolve_connection(
    session: &Session,
    _: &Workspace<'_>,
    sources: &SettingSources<'_>,
) -> Result<(), Failure> {
    sources.resolve_connection(&session.global)?;
    Ok(())
}

fn resolve_team_rules(
    session: &Session,
    workspace: &Workspace<'_>,
    sources: &SettingSources<'_>,
) -> Result<(), Failure> {
    sources.resolve_team_rules_path(&session.global, workspace.config_file.as_deref())?;
    Ok(())
}

fn resolve_publish(_: &Session, _: &Workspace<'_>, sources: &SettingSources<'_>) -> Result<(), Failure> {
    reject_unusable_publish_settings(sources)?;
    sources.resolve_publish_on(&CiArgs::default())?;
    Ok(())
}

/// Lists where the unusable paths of the configuration file lead in this snapshot. The disk cannot show it,
/// because it has the links and directories of the change, also for a base.
pub(super) fn list_path_targets(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    sources: &SettingSources<'_>,
) -> Result<Vec<GateFileVersion>, GitError> {
    let mut targets = Vec::new();
    for full_path in sources.list_unusable_paths() {
        let Some(path) = policy::find_path_in_repository(repo.root(), &full_path) else {
            continue;
        };
        let resolved_path = policy::follow_links(repo, snapshot, &path)?;
        let target = resolved_path.paths.last().unwrap_or(&path);
        // The content of a submodule is not in this repository, and may be a link.
        let submodule = find_submodule_on_path(snapshot, target)?;
        let description = format!(
            "{:?} {} {submodule:?}",
            resolved_path.paths,
            snapshot.has_path(target)?
        );
        targets.push(GateFileVersion::Text(description.into_bytes()));
    }
    Ok(targets)
}

/// Returns the submodule that is at this path or contains it.
fn find_submodule_on_path(snapshot: &Snapshot<'_>, path: &str) -> Result<Option<SnapshotFile>, GitError> {
    for ancestor in Path::new(path).ancestors().filter_map(Path::to_str) {
        if let Some(file) = snapshot.find_file(ancestor)?
            && file.kind == FileKind::Submodule
        {
            return Ok(Some(file));
        }
    }
    Ok(None)
}
