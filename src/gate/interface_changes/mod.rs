//! Finds the changes for consumers of shared pipelines between the base and the reviewed change, so that a change is
//! not blamed for an earlier break.

use super::interface_comparison::{Between, between};
use crate::error::Failure;
use crate::gate::is_within;
use crate::job::cli::Compat as Mode;
use crate::job::context::Comparison;
use crate::job::settings::Breaks;
use crate::model::interface::{Against, Compat};
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, Snapshot};

/// Returns the changes, or `None` if the shared-pipelines file is unchanged, there is no base, or `paths` restricts the
/// review to other files.
pub(crate) fn in_change(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    comparison: &Comparison,
    breaks: &Breaks,
    paths: &[String],
) -> Result<Option<FoundBreaks>, Failure> {
    if breaks.mode == Mode::Off || comparison.nothing_to_do.is_some() {
        return Ok(None);
    }
    let bases = match comparison.known_at() {
        Ok((bases, _)) => bases,
        Err(error) if breaks.mode == Mode::Fail => return Err(error.into()),
        Err(_) => Vec::new(),
    };
    let Some((base, found)) = since_all(workspace, snapshot, &bases)? else {
        return Ok(None);
    };
    let is_meant = |path: &str| paths.is_empty() || paths.iter().any(|wanted| is_within(path, wanted));
    if !is_meant(&found.path) {
        return Ok(None);
    }
    let against = Against {
        version: None,
        commit: Some(base.to_string()),
    };
    let compat = Compat::new(against, found.changes).accept(breaks.reason.clone());
    let is_refused = breaks.mode == Mode::Fail && compat.is_breaking() && compat.accepted.is_none();
    Ok(Some(FoundBreaks {
        // In CI, a change that repairs the file must pass.
        is_undecided: breaks.mode == Mode::Fail && (workspace.ci.host.is_local() || !found.is_repaired),
        unknown: found.unreadable,
        compat: Compat {
            refused: is_refused,
            ..compat
        },
    }))
}

/// Compares with every merge-base: a criss-cross merge can hide a break from one of them. Returns the first base that
/// differs, and all changes without duplicates.
fn since_all<'b>(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    bases: &'b [CommitId],
) -> Result<Option<(&'b CommitId, Between)>, Failure> {
    if bases.is_empty() {
        return Ok(None);
    }
    let folder = workspace.config_dir(snapshot)?;
    let mut all: Option<(&CommitId, Between)> = None;
    for base in bases {
        let old = workspace.repo.snapshot(base.clone());
        let Some(found) = between(&workspace.repo, &old, snapshot, folder.as_deref())? else {
            continue;
        };
        match &mut all {
            None => all = Some((base, found)),
            Some((_, all)) => all.add(found),
        }
    }
    Ok(all)
}

/// The changes that were found, and why they may be incomplete.
pub(crate) struct FoundBreaks {
    pub(crate) compat: Compat,
    /// Why a side cannot be read.
    pub(crate) unknown: Option<String>,
    /// Whether an unreadable side makes the review undecided.
    pub(crate) is_undecided: bool,
}
