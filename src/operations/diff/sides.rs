//! Reads the two sides of each pipeline: from a repository, or from two files.

use super::{Made, PipelinesCompared, Wants};
use crate::error::Failure;
use crate::gate::interface_changes::interface_comparison::between;
use crate::gate::is_within;
use crate::gate::selection::SelectionRequest;
use crate::gate::{ChangedContents, Pairs};
use crate::job::cli::{CheckArgs, DiffArgs, DiffFormat, SelectionArgs};
use crate::job::context::{Comparison, DeepenSubject};
use crate::job::settings::{Revisions, Selection, SelectionPurpose};
use crate::publish::{Callers, Reaching};
use crate::session::Run;
use crate::session::named_file::read_bounded;
use crate::workspace::Workspace;
use sluicegate_git::{Change, CommitId, Repository, Snapshot};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::yaml::MAX_DOCUMENT_BYTES;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Compares two files that the user named.
pub(crate) fn of_files(
    run: &Run,
    wants: Wants,
    old: &Path,
    new: &Path,
) -> Result<PipelinesCompared, Failure> {
    let read = |path: &Path| {
        let read = || read_bounded(&run.env.current_dir().join(path), MAX_DOCUMENT_BYTES);
        (!is_absent(path)).then(read).transpose()
    };
    let named = if is_absent(new) { old } else { new };
    let contents = ChangedContents {
        path: named.to_string_lossy().into_owned(),
        previous_path: None,
        before: read(old)?.map(Ok),
        after: read(new)?.map(Ok),
    };
    Ok(PipelinesCompared {
        base: None,
        head: None,
        what: format!("{} compared with {}.", new.display(), old.display()),
        pipelines: contents
            .differs()
            .then(|| wants.made(0, &contents))
            .into_iter()
            .collect(),
        interface: None,
        callers: None,
    })
}

/// Returns whether this is the name that git uses for a side without a file.
pub(crate) fn is_absent(path: &Path) -> bool {
    path == Path::new("/dev/null")
}

/// Returns the pipelines of the repository that differ.
pub(crate) fn of_repository(run: &Run, args: &DiffArgs, wants: Wants) -> Result<PipelinesCompared, Failure> {
    let mut workspace = run.workspace()?;
    let (range, typed) = range(run, &args.paths)?;
    let wish = wish(&workspace, args)?;
    if range.is_none() {
        let subject = match wish.head {
            Some(_) => DeepenSubject::Commit,
            None => DeepenSubject::Checkout,
        };
        workspace.deepen(run, &wish, subject)?;
    }
    workspace.warn_of_policy(run, false);
    let (ends, snapshot) = match range {
        Some((base, head)) => of_range(run, &workspace, base, head)?,
        None => as_check(run, &workspace, args, &wish)?,
    };
    let selection = workspace
        .sources
        .selection(&args.globs, SelectionPurpose::Review)?;
    let paths = workspace.paths(run, typed, &snapshot, &ends.bases);
    let paths = paths.map_err(|failure| hint_at_revision(&workspace, typed, failure))?;
    let request = SelectionRequest {
        selection: &selection,
        paths: &paths,
        named: &[],
        revisions: &wish,
        resolve: &|sources| sources.selection(&args.globs, SelectionPurpose::Review),
    };
    workspace.must_match(&snapshot, &ends.bases, &request)?;
    let what = format!("{} with {}", snapshot.name(), ends.against);
    run.ui.say(&format!("comparing {what}"));
    let changes = changes(&snapshot, &ends, &selection, &paths)?;
    let pairs = Pairs {
        repo: &workspace.repo,
        head: &snapshot,
        bases: &ends.bases,
    };
    let pipelines = pairs.each(&changes, &|at, contents| wants.made(at, contents))?;
    // The interface is compared with one base only: the first of several merge-bases.
    let interface = match (ends.bases.first(), wants) {
        (_, Wants::Picture) => None,
        (Some(base), _) if !ends.is_nothing => {
            let base = workspace.repo.snapshot(base.clone());
            let folder = workspace.named_folder.as_deref();
            between(&workspace.repo, &base, &snapshot, folder)?
        }
        _ => None,
    };
    Ok(PipelinesCompared {
        base: ends.bases.into_iter().next(),
        head: ends.head,
        what: format!("Compared: {what}."),
        callers: args
            .callers
            .then(|| reaching(&workspace.repo, &snapshot, &changes, &pipelines))
            .transpose()?,
        pipelines,
        interface,
    })
}

/// Returns the unchanged pipelines that depend on a pipeline changed in more than layout.
fn reaching(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    changes: &[Change],
    pipelines: &[Made],
) -> Result<Vec<Reaching>, Failure> {
    let counted = changes.iter().zip(pipelines).filter(|(_, made)| made.counts());
    let reached: BTreeSet<&str> = counted.flat_map(|(change, _)| change.paths()).collect();
    Ok(Callers::read(repo, snapshot, &reached)?.reaching(&reached))
}

/// Adds a hint if a missing path is the name of a revision, as `git diff` accepts revisions.
fn hint_at_revision(workspace: &Workspace<'_>, typed: &[PathBuf], failure: Failure) -> Failure {
    let revision = typed.iter().filter_map(|path| path.to_str());
    let mut revision = revision.filter(|name| workspace.repo.resolve(name).is_ok());
    match revision.next() {
        Some(name) => failure.hint(format!(
            "`{name}` is a revision: pass {name}..HEAD to compare with it, or --base {name} for the merge-base"
        )),
        None => failure,
    }
}

struct Ends {
    bases: Vec<CommitId>,
    head: Option<CommitId>,
    against: String,
    is_nothing: bool,
}

impl From<Comparison> for Ends {
    fn from(settled: Comparison) -> Self {
        let source = &settled.base_source;
        Self {
            against: match settled.bases.as_slice() {
                [] => format!("no commit ({source})"),
                [base] => format!("the commit {} ({source})", base.short()),
                several => {
                    let short: Vec<&str> = several.iter().map(CommitId::short).collect();
                    format!("the commits {} ({source})", short.join(", "))
                }
            },
            is_nothing: settled.idle_reason.is_some(),
            bases: settled.bases,
            head: settled.head,
        }
    }
}

/// Returns the requested head and base. `--all` has no base to compare with, so it is off here.
fn wish(workspace: &Workspace<'_>, args: &DiffArgs) -> Result<Revisions, Failure> {
    let selection = SelectionArgs {
        range: args.range.clone(),
        ..SelectionArgs::default()
    };
    let revisions = workspace.sources.revisions_to_check(&CheckArgs {
        selection,
        staged: args.staged,
        ..CheckArgs::default()
    })?;
    Ok(Revisions {
        all: false,
        ..revisions
    })
}

/// The two revisions, and the paths.
type Range<'a> = (Option<(&'a str, &'a str)>, &'a [PathBuf]);

/// Parses `A..B` as two revisions, unless it is an existing path. As in git, a missing side is HEAD.
fn range<'a>(run: &Run, typed: &'a [PathBuf]) -> Result<Range<'a>, Failure> {
    let Some((first, paths)) = typed.split_first() else {
        return Ok((None, typed));
    };
    let Some((base, head)) = first.to_str().and_then(|first| first.split_once("..")) else {
        return Ok((None, typed));
    };
    let is_path = run.env.current_dir().join(first).symlink_metadata().is_ok();
    let is_parent_directory = base.is_empty() && head.is_empty();
    if is_path || is_parent_directory || !is_revision(base) || !is_revision(head) {
        return Ok((None, typed));
    }
    let (base, end) = (revision_or_head(base), head.trim_start_matches('.'));
    let end = revision_or_head(end);
    if head.starts_with('.') {
        return Err(
            Failure::usage(format!("`{}` is not a range A..B", first.display())).hint(format!(
                "use --base {base} --head {end} to compare with the merge-base"
            )),
        );
    }
    Ok((Some((base, end)), paths))
}

/// Returns the revision of one side of a range.
const fn revision_or_head(side: &str) -> &str {
    if side.is_empty() { "HEAD" } else { side }
}

/// Returns whether the text can be a side of a range, and is not a part of a path such as `../a`.
fn is_revision(side: &str) -> bool {
    !side.starts_with('/') && !side.ends_with('/')
}

fn of_range<'w>(
    run: &Run,
    workspace: &'w Workspace<'_>,
    base: &str,
    head: &str,
) -> Result<(Ends, Snapshot<'w>), Failure> {
    let commit = |revision: &str| {
        let named = workspace.repo.named(revision)?;
        if let Some(ambiguity) = &named.ambiguity {
            run.ui.warn(ambiguity);
        }
        Ok::<_, Failure>(named.commit)
    };
    let (base, head) = (commit(base)?, commit(head)?);
    let ends = Ends {
        against: format!("the commit {}", base.short()),
        bases: vec![base],
        head: Some(head.clone()),
        is_nothing: false,
    };
    Ok((ends, workspace.repo.snapshot(head)))
}

/// Returns the files and the base as `check` has them, or in a job the head and base of `context`. A local user without
/// a remote to compare with sees the changes since the checked-out commit.
fn as_check<'w>(
    run: &Run,
    workspace: &'w Workspace<'_>,
    args: &DiffArgs,
    wish: &Revisions,
) -> Result<(Ends, Snapshot<'w>), Failure> {
    let staged = args.staged;
    let is_job = !workspace.ci.host.is_local() && !staged;
    if wish.head.is_some() || is_job {
        let target = workspace.target(run, wish.clone())?;
        let snapshot = workspace.repo.snapshot(target.head.clone());
        return Ok((Ends::from(Comparison::from(target)), snapshot));
    }
    let snapshot = if staged {
        workspace.repo.staged(run.index())?
    } else {
        workspace.repo.on_disk(run.index())?
    };
    let compared = workspace.checkout(run, wish.clone())?;
    let head = workspace.repo.head().ok().map(|head| head.commit);
    let is_open = compared.bases.is_empty() && compared.idle_reason.is_none() && wish.base.is_none();
    let is_clean = |head: &CommitId| {
        Ok::<_, Failure>(
            snapshot
                .changes(std::slice::from_ref(head), &|_| true)?
                .is_empty(),
        )
    };
    let mut ends = Ends::from(compared);
    if let Some(head) = head {
        if is_open && workspace.ci.host.is_local() {
            ends.against = format!("the checked-out commit {}", head.short());
            ends.bases = vec![head.clone()];
        }
        // Only the JSON document contains the head.
        if !staged && args.output == DiffFormat::Json && is_clean(&head)? {
            ends.head = Some(head);
        }
    }
    Ok((ends, snapshot))
}

/// Returns the changes within the paths. Paths restrict last, so that a file moved into one of them is reported as
/// moved.
fn changes(
    snapshot: &Snapshot<'_>,
    ends: &Ends,
    selection: &Selection,
    paths: &[String],
) -> Result<Vec<Change>, Failure> {
    if ends.is_nothing {
        return Ok(Vec::new());
    }
    let wanted = |path: &str| is_pipeline(path) && selection.selects(path);
    let mut changes = snapshot.changes(&ends.bases, &wanted)?;
    let is_meant = |path: &str| paths.is_empty() || paths.iter().any(|wanted| is_within(path, wanted));
    changes.retain(|change| change.paths().any(is_meant));
    Ok(changes)
}
