//! Reads the two sides of each pipeline: from a repository, or from two files.

use super::revision_hints::add_revision_hint;
use super::{PipelineComparison, PipelineResult, ResultKind};
use crate::error::Failure;
use crate::gate::interface_changes::interface_comparison::{
    ConfigDirs, InterfaceDifference, compare_interfaces,
};
use crate::gate::is_within;
use crate::gate::selection::SelectionRequest;
use crate::gate::{ChangedContents, VersionPairs};
use crate::job::cli::{CheckArgs, DiffArgs, DiffFormat, SelectionArgs};
use crate::job::context::{Comparison, DeepenSubject, RequestedRevisions};
use crate::job::settings::Selection;
use crate::publish::{CallGraph, TransitiveCaller};
use crate::session::Session;
use crate::workspace::{WarningTiming, Workspace};
use sluicegate_base::text::format_path;
use sluicegate_git::{Change, CommitId, Repository, Snapshot};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_yaml::MAX_DOCUMENT_BYTES;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Reads two files that the user or `git difftool` named. The null device means that the pipeline was added or removed.
pub(crate) fn read_compared_files(
    session: &Session,
    old: &Path,
    new: &Path,
) -> Result<ChangedContents, Failure> {
    let named_path = if is_null_device(new) { old } else { new };
    let path = match find_difftool_path(session) {
        Some(path) => path.to_owned(),
        None => named_path.to_string_lossy().into_owned(),
    };
    Ok(ChangedContents {
        path,
        previous_path: None,
        old_content: read_compared_file(session, old)?.map(Ok),
        new_content: read_compared_file(session, new)?.map(Ok),
    })
}

/// Returns the path of the compared file in the repository, if `git difftool` runs this program. It may pass the paths
/// of temporary files, and sets the variable `BASE` to this path.
fn find_difftool_path(session: &Session) -> Option<&str> {
    session.env.get("GIT_DIFFTOOL_EXTCMD")?;
    session.env.get("BASE")
}

/// Returns the difference of two files that the user named; none if the contents are equal.
pub(crate) fn compare_files(
    result_kind: ResultKind,
    old: &Path,
    new: &Path,
    contents: &ChangedContents,
) -> PipelineComparison {
    PipelineComparison {
        base: None,
        head: None,
        description: format!("{} compared with {}.", format_path(new), format_path(old)),
        pipelines: contents
            .is_different()
            .then(|| result_kind.build_only_result(contents))
            .into_iter()
            .collect(),
        interface: None,
        callers: None,
    }
}

/// Reads one of the two files to compare; `None` for the null device, which means that the file does not exist.
fn read_compared_file(session: &Session, path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    if is_null_device(path) {
        return Ok(None);
    }
    session
        .read_user_file(&session.env.current_dir().join(path), MAX_DOCUMENT_BYTES)
        .map(Some)
}

/// Returns whether this is `/dev/null`, which git passes instead of a file that does not exist.
pub(crate) fn is_null_device(path: &Path) -> bool {
    path == Path::new("/dev/null")
}

/// Compares the pipelines of two revisions, or of a revision with the files on disk or in the index. Returns those that
/// differ, the changes to the shared pipelines, and with `--callers` the pipelines that call a changed one. Without a
/// range in the arguments, compares with the base of a `check` or review.
pub(crate) fn compare_revisions(
    session: &Session,
    args: &DiffArgs,
    result_kind: ResultKind,
) -> Result<PipelineComparison, Failure> {
    let repo = session.open_repository()?;
    let local_files = session.choose_local_files(&repo, args.staged);
    let mut workspace = session.open_workspace_in(repo, local_files)?;
    workspace.reject_hidden_gate_files(session)?;
    let (range, typed_paths) = parse_range(session, args)?;
    let revisions = resolve_requested_revisions(&workspace, args)?;
    // Missing commits are not fetched for a typed range: both of its ends must be available locally.
    if range.is_none() {
        let subject = match revisions.head {
            Some(_) => DeepenSubject::Commit,
            None => DeepenSubject::Checkout,
        };
        workspace.deepen(session, &revisions, subject)?;
    }
    workspace.warn_of_config_files(session, WarningTiming::AtOnce);
    let (range_ends, snapshot) = match range {
        Some((base, head)) => resolve_range(session, &workspace, base, head)?,
        None => resolve_default_range(session, &workspace, args, &revisions)?,
    };
    let selection = workspace.sources.resolve_job_selection(&args.globs)?;
    let paths = workspace
        .resolve_typed_paths(session, typed_paths, &snapshot, &range_ends.bases)
        .map_err(|failure| add_revision_hint(&workspace, typed_paths, failure))?;
    let request = SelectionRequest {
        selection: &selection,
        paths: &paths,
        named_files: &[],
        revisions: &revisions,
        resolve: &|sources| sources.resolve_job_selection(&args.globs),
    };
    workspace.reject_unknown_selection(&snapshot, &range_ends.bases, &request)?;
    let description = format!("{} with {}", snapshot.name(), range_ends.base_description);
    session.ui.say(&format!("comparing {description}"));
    let changes = find_selected_changes(&snapshot, &range_ends, &selection, &paths)?;
    let pairs = VersionPairs {
        repo: &workspace.repo,
        head: &snapshot,
        bases: &range_ends.bases,
    };
    let results = result_kind.build_results(&pairs, &changes)?;
    let callers = args
        .callers
        .then(|| find_callers(&workspace.repo, &snapshot, &changes, &results))
        .transpose()?;
    let interface = compare_shared_pipelines(&workspace, &range_ends, &snapshot, result_kind)?;
    Ok(PipelineComparison {
        base: range_ends.bases.into_iter().next(),
        head: range_ends.head,
        description: format!("Compared: {description}."),
        callers,
        pipelines: results.into_iter().map(|(_, result)| result).collect(),
        interface,
    })
}

/// Compares the shared pipelines with those of the base. Of several merge-bases, only the first is used. Returns `None`
/// if there is no base or nothing to compare, and for a picture, which does not show shared pipelines.
fn compare_shared_pipelines(
    workspace: &Workspace<'_>,
    range_ends: &RangeEnds,
    snapshot: &Snapshot<'_>,
    result_kind: ResultKind,
) -> Result<Option<InterfaceDifference>, Failure> {
    if matches!(result_kind, ResultKind::Picture) || range_ends.has_nothing_to_compare {
        return Ok(None);
    }
    let Some(base) = range_ends.bases.first() else {
        return Ok(None);
    };
    let base = workspace.repo.snapshot(base.clone());
    let config_dirs = ConfigDirs::for_named(workspace.named_config_dir.as_deref(), &base, snapshot)?;
    compare_interfaces(&workspace.repo, &base, snapshot, &config_dirs)
}

/// Returns the pipelines that call a changed pipeline, directly or indirectly. Each result has the index of its change.
/// A change to the layout alone is ignored, and pipelines that changed themselves are not returned.
fn find_callers(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    changes: &[Change],
    results: &[(usize, PipelineResult)],
) -> Result<Vec<TransitiveCaller>, Failure> {
    let changed_paths: BTreeSet<&str> = results
        .iter()
        .filter(|(_, result)| result.changes_more_than_layout())
        .filter_map(|(index, _)| changes.get(*index))
        .flat_map(Change::paths)
        .collect();
    Ok(CallGraph::load(repo, snapshot, &changed_paths)?.transitive_callers_of(&changed_paths))
}

/// The two sides of a comparison of revisions.
struct RangeEnds {
    bases: Vec<CommitId>,
    head: Option<CommitId>,
    base_description: String,
    /// True if the run has no pipelines to compare, for example after a deletion of its branch.
    has_nothing_to_compare: bool,
}

impl From<Comparison> for RangeEnds {
    /// Converts the comparison that `check` or a review resolved, and describes its base in words for the output. An
    /// idle run, for example after a deletion of its branch, has nothing to compare.
    fn from(comparison: Comparison) -> Self {
        let source = &comparison.base_source;
        Self {
            base_description: match comparison.bases.as_slice() {
                [] => format!("no commit ({source})"),
                [base] => format!("commit {} ({source})", base.short()),
                commits => {
                    let short_ids: Vec<&str> = commits.iter().map(CommitId::short).collect();
                    format!("the commits {} ({source})", short_ids.join(", "))
                }
            },
            has_nothing_to_compare: comparison.idle_reason.is_some(),
            bases: comparison.bases,
            head: comparison.head,
        }
    }
}

/// Returns the base and the head that the flags and settings request. A setting may select all pipelines, which means a
/// review without a base, so it is ignored here.
fn resolve_requested_revisions(
    workspace: &Workspace<'_>,
    args: &DiffArgs,
) -> Result<RequestedRevisions, Failure> {
    let selection = SelectionArgs {
        range: args.range.clone(),
        ..SelectionArgs::default()
    };
    let revisions = workspace.sources.resolve_revisions_to_check(&CheckArgs {
        selection,
        staged: args.staged,
        ..CheckArgs::default()
    })?;
    Ok(RequestedRevisions {
        all: false,
        ..revisions
    })
}

/// The base and the head of a typed range, and the remaining paths.
type TypedRange<'a> = (Option<(&'a str, &'a str)>, &'a [PathBuf]);

/// Splits `A..B` off the typed paths; without a range, returns only the paths. An existing path that contains `..` is
/// not a range. As in git, an empty end is `HEAD`. Rejects a flag that would choose other sides, and `A...B`,
/// which git compares with the merge-base, and suggests the flags for it.
fn parse_range<'a>(session: &Session, args: &'a DiffArgs) -> Result<TypedRange<'a>, Failure> {
    let typed_paths = args.paths.as_slice();
    let Some((first, paths)) = typed_paths.split_first() else {
        return Ok((None, typed_paths));
    };
    let Some((base, head)) = first.to_str().and_then(|first| first.split_once("..")) else {
        return Ok((None, typed_paths));
    };
    let is_path = session.env.current_dir().join(first).symlink_metadata().is_ok();
    let is_parent_directory = base.is_empty() && head.is_empty();
    let can_be_range = can_be_revision(base) && can_be_revision(head);
    if is_path || is_parent_directory || !can_be_range {
        return Ok((None, typed_paths));
    }
    let base = revision_or_head(base);
    // The third dot of `A...B` is at the start of `head`.
    if head.starts_with('.') {
        let end = revision_or_head(head.trim_start_matches('.'));
        return Err(
            Failure::usage(format!("`{}` is not a range A..B", format_path(first))).with_hint(format!(
                "use --base {base} --head {end} to compare with the merge-base"
            )),
        );
    }
    if let Some(flag) = args.find_side_flag() {
        return Err(Failure::usage(format!("{flag} cannot be used with a range A..B"))
            .with_hint(format!("omit the range or {flag}")));
    }
    Ok((Some((base, revision_or_head(head))), paths))
}

/// Returns the revision at one end of a range; an empty end means `HEAD`.
const fn revision_or_head(side: &str) -> &str {
    if side.is_empty() { "HEAD" } else { side }
}

/// Returns whether the text at one end of `..` can be a revision. A slash next to the dots shows that the text is a
/// path such as `../a`.
fn can_be_revision(side: &str) -> bool {
    !side.starts_with('/') && !side.ends_with('/')
}

/// Resolves both ends of a typed range to commits.
fn resolve_range<'w>(
    session: &Session,
    workspace: &'w Workspace<'_>,
    base: &str,
    head: &str,
) -> Result<(RangeEnds, Snapshot<'w>), Failure> {
    let base = resolve_revision(session, workspace, base)?;
    let head = resolve_revision(session, workspace, head)?;
    let ends = RangeEnds {
        base_description: format!("commit {}", base.short()),
        bases: vec![base],
        head: Some(head.clone()),
        has_nothing_to_compare: false,
    };
    Ok((ends, workspace.repo.snapshot(head)))
}

/// Resolves the revision to its commit, and warns if its name is ambiguous.
fn resolve_revision(
    session: &Session,
    workspace: &Workspace<'_>,
    revision: &str,
) -> Result<CommitId, Failure> {
    let resolution = workspace.repo.resolve_revision(revision)?;
    if let Some(ambiguity) = &resolution.ambiguity {
        session.ui.warn(ambiguity);
    }
    Ok(resolution.commit)
}

/// Returns the base, and the files to compare with it, if no range was typed. With a requested head or in a job without
/// `--staged`, both are those of a review. Otherwise the base is that of `check`, and the files are those on disk or in
/// the index. If a local run finds no base, it compares with the checked-out commit.
fn resolve_default_range<'w>(
    session: &Session,
    workspace: &'w Workspace<'_>,
    args: &DiffArgs,
    revisions: &RequestedRevisions,
) -> Result<(RangeEnds, Snapshot<'w>), Failure> {
    let is_local = workspace.ci.host.is_local();
    let is_compared_as_review = revisions.head.is_some() || (!is_local && !args.staged);
    if is_compared_as_review {
        let target = workspace.resolve_target(session, revisions)?;
        let snapshot = workspace.repo.snapshot(target.head.clone());
        return Ok((RangeEnds::from(Comparison::from(target)), snapshot));
    }
    let snapshot = if args.staged {
        workspace
            .repo
            .read_staged_snapshot(session.hook_index_path(&workspace.repo))?
    } else {
        workspace
            .repo
            .read_disk_snapshot(session.hook_index_path(&workspace.repo))?
    };
    let comparison = workspace.resolve_checkout_comparison(session, revisions)?;
    let checked_out_commit = workspace.repo.head().ok().map(|head| head.commit);
    let has_no_base =
        comparison.bases.is_empty() && comparison.idle_reason.is_none() && revisions.base.is_none();
    let mut ends = RangeEnds::from(comparison);
    if let Some(commit) = checked_out_commit {
        if has_no_base && is_local {
            ends.base_description = format!("the checked-out commit {}", commit.short());
            ends.bases = vec![commit.clone()];
        }
        // Only the JSON document contains the head, and only if the files on disk are those of the commit.
        if !args.staged && args.output == DiffFormat::Json && is_equal_to_commit(&snapshot, &commit)? {
            ends.head = Some(commit);
        }
    }
    Ok((ends, snapshot))
}

/// Returns whether the files of the snapshot equal those of the commit.
fn is_equal_to_commit(snapshot: &Snapshot<'_>, commit: &CommitId) -> Result<bool, Failure> {
    Ok(snapshot
        .find_changes(std::slice::from_ref(commit), &|_| true)?
        .is_empty())
}

/// Returns the changed pipelines that the globs select and, if there are `paths`, that are below one of them. The paths
/// are applied after the search for renames, so a file that was moved into or out of a path is still a renamed file.
fn find_selected_changes(
    snapshot: &Snapshot<'_>,
    range_ends: &RangeEnds,
    selection: &Selection,
    paths: &[String],
) -> Result<Vec<Change>, Failure> {
    if range_ends.has_nothing_to_compare {
        return Ok(Vec::new());
    }
    let mut changes = snapshot.find_changes(&range_ends.bases, &|path| {
        is_pipeline(path) && selection.selects(path)
    })?;
    if !paths.is_empty() {
        changes.retain(|change| {
            change
                .paths()
                .any(|path| paths.iter().any(|selected_path| is_within(path, selected_path)))
        });
    }
    Ok(changes)
}
