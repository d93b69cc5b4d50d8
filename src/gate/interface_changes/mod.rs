//! Finds the changes for consumers of shared pipelines between the base and the reviewed change, so that a change is
//! not blamed for an earlier break.

pub(crate) mod interface_comparison;

use crate::error::Failure;
use crate::gate::Cause;
use crate::gate::interface_changes::interface_comparison::{Between, between};
use crate::gate::is_within;
use crate::gate::run::{AcceptBreak, GateRun};
use crate::job::cli::Compat as Mode;
use crate::job::context::Comparison;
use crate::job::settings::Breaks;
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::interface::{Against, Compat, describe_new_pipelines};

const BROKEN: &str = "The change breaks consumers of shared pipelines. This job does not allow that \
                      (--compat fail): keep the ids and parameters that they use, or accept the break with a reason \
                      (--accept-breaking).";

impl GateRun<'_> {
    /// Adds the changes for consumers: a break that neither the job nor `accept_break` allows fails the run, and unknown
    /// changes do not pass if a break would fail. If only the shared-pipelines file was edited, all pipelines are
    /// selected, but the file still has a base.
    pub(crate) fn add_interface_changes(&mut self, accept_break: &AcceptBreak<'_>) -> Result<(), Failure> {
        let breaks = &self.subject.settings.judging.breaks;
        let changes = in_change(
            self.subject.workspace,
            &self.subject.snapshot,
            &self.subject.change,
            breaks,
            &self.part.paths,
        )?;
        let Some(mut found) = changes else {
            return Ok(());
        };
        let evaluation = &mut self.evaluation;
        if let Some(reason) = &found.unknown {
            let note = format!("could not determine the changes for consumers: {reason}");
            if found.is_undecided {
                evaluation.add_cause(Cause::UnknownBreaks, note);
            } else {
                evaluation.note([note]);
            }
        }
        evaluation.note(describe_new_pipelines(&found.compat));
        if found.compat.refused {
            match accept_break() {
                Ok(reason) => {
                    found.compat.refused = reason.is_none();
                    found.compat.accepted = reason;
                }
                Err(failure) => evaluation.note([format!(
                    "could not determine whether the version name accepts the break: {}",
                    failure.chain()
                )]),
            }
        }
        if found.compat.refused {
            evaluation.add_cause(Cause::Break, BROKEN);
        }
        evaluation.set_compat(found.compat);
        Ok(())
    }
}

/// Returns the changes, or `None` if the shared-pipelines file is unchanged, there is no base, or `paths` restricts the
/// review to other files.
fn in_change(
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
struct FoundBreaks {
    compat: Compat,
    /// Why a side cannot be read.
    unknown: Option<String>,
    /// Whether an unreadable side makes the review undecided.
    is_undecided: bool,
}
