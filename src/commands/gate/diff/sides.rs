//! The two sides of each pipeline: of a repository, or two files.

use super::Compared;
use crate::cli::{CheckArgs, DiffArgs, SelectionArgs};
use crate::commands::Run;
use crate::commands::gate::workspace::{FILE_LIMIT, Restriction, Workspace, document};
use crate::commands::kit::named_file::read_bounded;
use crate::context::{Comparison, Subject};
use crate::diff::{PipelineDiff, Sides, compare};
use crate::error::Failure;
use crate::gate::is_within;
use crate::git::{Change, ChangeKind, CommitId, Content, FileKind, Snapshot, SnapshotFile, read_on_disk};
use crate::settings::{Revisions, Selection, is_pipeline};
use crate::yaml::DocumentError;
use rayon::prelude::*;
use std::path::{Path, PathBuf};

/// Files that are held in memory at a time.
const AT_A_TIME: usize = 64;

/// A file's content, or why it cannot be read.
type Read = Result<Vec<u8>, String>;

/// One file on both sides.
pub(super) struct Contents {
    path: String,
    previous_path: Option<String>,
    before: Option<Read>,
    after: Option<Read>,
}

impl Contents {
    /// A file of another mode alone does not.
    fn differs(&self) -> bool {
        self.previous_path.is_some() || self.before != self.after
    }

    fn diff(&self) -> PipelineDiff {
        compare(&Sides {
            path: &self.path,
            previous_path: self.previous_path.as_deref(),
            before: side(self.before.as_ref()),
            after: side(self.after.as_ref()),
        })
    }

    pub(super) fn before(&self) -> Option<&[u8]> {
        side(self.before.as_ref())?.ok()
    }

    pub(super) fn after(&self) -> Option<&[u8]> {
        side(self.after.as_ref())?.ok()
    }
}

fn side(read: Option<&Read>) -> Option<Result<&[u8], &str>> {
    read.map(|read| read.as_deref().map_err(String::as_str))
}

/// Two files that a user named.
pub(super) fn of_files(run: &Run, old: &Path, new: &Path) -> Result<Compared, Failure> {
    let read = |path: &Path| read_bounded(&run.env.current_dir().join(path), FILE_LIMIT);
    let contents = Contents {
        path: new.to_string_lossy().into_owned(),
        previous_path: None,
        before: Some(Ok(read(old)?)),
        after: Some(Ok(read(new)?)),
    };
    Ok(Compared {
        base: None,
        head: None,
        pipelines: contents.differs().then(|| contents.diff()).into_iter().collect(),
        only: Some(contents),
    })
}

/// The pipelines of the repository that differ.
pub(super) fn of_repository(run: &Run, args: &DiffArgs) -> Result<Compared, Failure> {
    let mut workspace = run.workspace()?;
    let (range, typed) = range(run, &args.paths)?;
    let wish = wish(&workspace, args)?;
    if range.is_none() {
        let subject = match wish.head {
            Some(_) => Subject::Commit,
            None => Subject::Checkout,
        };
        workspace.deepen(run, &wish, subject)?;
    }
    workspace.warn_of_policy(run);
    let (ends, snapshot) = match range {
        Some((base, head)) => of_range(run, &workspace, base, head)?,
        None => as_check(run, &workspace, args.staged, &wish)?,
    };
    let selection = workspace.sources.selection(&args.include, &args.exclude)?;
    let paths = workspace.paths(run, typed, &snapshot, ends.base.as_ref())?;
    let restriction = Restriction {
        selection: &selection,
        paths: &paths,
        named: &[],
        revisions: &wish,
    };
    workspace.must_match(&snapshot, ends.base.as_ref(), &restriction)?;
    run.ui
        .say(&format!("comparing {} with {}", snapshot.name(), ends.against));
    let changes = changes(&snapshot, &ends, &selection, &paths)?;
    let (pipelines, only) = compared(&workspace, &snapshot, ends.base.as_ref(), &changes)?;
    Ok(Compared {
        base: ends.base,
        head: ends.head,
        pipelines,
        only,
    })
}

/// What is compared.
struct Ends {
    base: Option<CommitId>,
    head: Option<CommitId>,
    /// The base in words.
    against: String,
    is_nothing: bool,
}

impl From<Comparison> for Ends {
    fn from(settled: Comparison) -> Self {
        let source = &settled.base_source;
        Self {
            against: match &settled.base {
                Some(base) => format!("the commit {} ({source})", base.short()),
                None => format!("nothing ({source})"),
            },
            is_nothing: settled.nothing_to_do.is_some(),
            base: settled.base,
            head: settled.head,
        }
    }
}

/// Which commit, against which base. `--all` compares with nothing, and so is not asked for here.
fn wish(workspace: &Workspace<'_>, args: &DiffArgs) -> Result<Revisions, Failure> {
    let selection = SelectionArgs {
        base: args.base.clone(),
        head: args.head.clone(),
        deepen: args.deepen,
        ..SelectionArgs::default()
    };
    let revisions = workspace.sources.checked(&CheckArgs {
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

/// `A..B` is two revisions, unless it is a path.
fn range<'a>(run: &Run, typed: &'a [PathBuf]) -> Result<Range<'a>, Failure> {
    let Some((first, paths)) = typed.split_first() else {
        return Ok((None, typed));
    };
    let is_path = |first: &Path| run.env.current_dir().join(first).symlink_metadata().is_ok();
    let ends = first.to_str().and_then(|first| first.split_once(".."));
    match ends {
        Some((base, head)) if is_revision(base) && is_revision(head) && !is_path(first) => {
            if head.starts_with('.') {
                let (base, head) = (base.to_owned(), head.trim_start_matches('.'));
                return Err(
                    Failure::usage(format!("{base}...{head} is not two revisions A..B")).hint(format!(
                        "--base {base} --head {head} compares with the merge-base"
                    )),
                );
            }
            Ok((Some((base, head)), paths))
        }
        _ => Ok((None, typed)),
    }
}

/// Neither nothing nor a part of a path such as `../a`.
fn is_revision(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('/') && !word.ends_with('/')
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
        base: Some(base),
        head: Some(head.clone()),
        is_nothing: false,
    };
    Ok((ends, workspace.repo.snapshot(head)))
}

/// The files and the base as `check` has them.
fn as_check<'w>(
    run: &Run,
    workspace: &'w Workspace<'_>,
    staged: bool,
    wish: &Revisions,
) -> Result<(Ends, Snapshot<'w>), Failure> {
    if wish.head.is_some() {
        let target = workspace.target(run, wish.clone())?;
        let snapshot = workspace.repo.snapshot(target.head.clone());
        return Ok((Ends::from(Comparison::from(target)), snapshot));
    }
    let snapshot = if staged {
        workspace.repo.staged(run.index())?
    } else {
        workspace.repo.on_disk(run.index())?
    };
    Ok((Ends::from(workspace.checkout(run, wish.clone())?), snapshot))
}

/// Paths restrict last, so that a file that moved into one of them is told as moved.
fn changes(
    snapshot: &Snapshot<'_>,
    ends: &Ends,
    selection: &Selection,
    paths: &[String],
) -> Result<Vec<Change>, Failure> {
    if ends.is_nothing {
        return Ok(Vec::new());
    }
    let wanted = |path: &str| is_pipeline(path) && selection.wants(path);
    let mut changes = snapshot.changes(ends.base.as_ref(), &wanted)?;
    let is_meant = |path: &str| paths.is_empty() || paths.iter().any(|wanted| is_within(path, wanted));
    changes.retain(|change| change.paths().any(is_meant));
    Ok(changes)
}

/// Compares on all cores; blobs are read by one thread, as a repository belongs to one. Gives also both sides, where
/// they are those of the only file.
fn compared(
    workspace: &Workspace<'_>,
    head: &Snapshot<'_>,
    base: Option<&CommitId>,
    changes: &[Change],
) -> Result<(Vec<PipelineDiff>, Option<Contents>), Failure> {
    let base = base.map(|base| workspace.repo.snapshot(base.clone()));
    let (mut pipelines, mut only) = (Vec::new(), None);
    for some in changes.chunks(AT_A_TIME) {
        let read = some
            .iter()
            .map(|change| contents(workspace, base.as_ref(), head, change));
        let mut read = read.collect::<Result<Vec<_>, _>>()?;
        read.retain(Contents::differs);
        pipelines.par_extend(read.par_iter().map(Contents::diff));
        only = read.pop().or(only);
    }
    Ok((pipelines, only))
}

fn contents(
    workspace: &Workspace<'_>,
    base: Option<&Snapshot<'_>>,
    head: &Snapshot<'_>,
    change: &Change,
) -> Result<Contents, Failure> {
    let previous_path = match &change.kind {
        ChangeKind::Renamed { from } => Some(from.clone()),
        _ => None,
    };
    let old = previous_path.as_deref().unwrap_or(&change.path);
    let before = base.map(|base| base.find(old)).transpose()?.flatten();
    let after = match change.kind {
        ChangeKind::Deleted => None,
        _ => head.find(&change.path)?,
    };
    Ok(Contents {
        path: change.path.clone(),
        before: read(workspace, before)?,
        after: read(workspace, after)?,
        previous_path,
    })
}

/// A submodule is no file.
fn read(workspace: &Workspace<'_>, file: Option<SnapshotFile>) -> Result<Option<Read>, Failure> {
    let Some(file) = file.filter(|file| file.kind != FileKind::Submodule) else {
        return Ok(None);
    };
    let read = match &file.content {
        Content::Disk(_) if file.hidden => {
            Err("git's index hides what it is on disk (skip-worktree or assume-unchanged)".to_owned())
        }
        Content::Disk(full) => on_disk(full),
        Content::Blob(blob) => document(&workspace.repo, blob)?.map_err(|why| why.to_string()),
    };
    Ok(Some(read))
}

fn on_disk(full: &Path) -> Read {
    match read_on_disk(full, FILE_LIMIT) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(DocumentError::too_large(FILE_LIMIT).to_string()),
        Err(why) => Err(why.to_string()),
    }
}
