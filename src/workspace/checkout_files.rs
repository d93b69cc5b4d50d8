//! The files of the checkout to evaluate. In CI these are the files of the checked-out commit: an earlier step of the
//! job (a generator, an installation, unpacked artifacts) may have changed those on disk.

use crate::error::Failure;
use crate::job::ci::Trigger;
use crate::job::context::{self, CommitSource, RequestedRevisions};
use crate::job::policy::{self, CheckoutFiles};
use crate::job::settings::{self, Selection};
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_base::text::{List, format_count, format_path, shorten_name};
use sluicegate_git::{Change, CommitId, GitError, Snapshot};
use sluicegate_pipelines::pipelines::{is_pipeline, is_platform_file};
use sluicegate_pipelines::waivers;
use std::collections::BTreeSet;

/// Maximum number of files in the note about those that differ on disk.
const MAX_LISTED_FILES: usize = 20;

impl Workspace<'_> {
    /// Returns the files of the checked-out commit in CI, where an earlier step of the job may have changed the files
    /// on disk. In a local run, returns the files on disk.
    pub(crate) fn read_checkout_snapshot(&self, session: &Session) -> Result<Snapshot<'_>, Failure> {
        if self.ci.host.is_local() {
            return Ok(self
                .repo
                .read_disk_snapshot(session.hook_index_path(&self.repo))?);
        }
        Ok(self.repo.snapshot(self.repo.head()?.commit))
    }

    /// Returns the reviewed commit: `commit` or, if the files are not those of a commit, the checked-out commit.
    pub(crate) fn find_reviewed_commit(&self, commit: Option<&CommitId>) -> Result<CommitId, GitError> {
        match commit {
            Some(commit) => Ok(commit.clone()),
            None => Ok(self.repo.head()?.commit),
        }
    }

    /// Returns a note if the job has checked out another commit than the one that the host names for the event, because
    /// the review covers the host's commit. Only for [`Trigger::Any`], for example a schedule: its job may check out
    /// any commit. With `--head`, the choice is explicit, so there is no note. The note is also a warning if the log
    /// does not show a report.
    pub(crate) fn describe_other_checkout(
        &self,
        session: &Session,
        revisions: &RequestedRevisions,
    ) -> Result<Option<String>, Failure> {
        let commit_source =
            context::find_commit_source(&self.repo, &self.ci, &RequestedRevisions::default())?;
        let (CommitSource::Job, None, Trigger::Any, Ok(head)) =
            (commit_source, &revisions.head, self.ci.trigger, self.repo.head())
        else {
            return Ok(None);
        };
        let event_commit = self.ci.commit.as_deref().unwrap_or_default();
        let note = format!(
            "the checkout is at {}, but this review covers the event's commit {}: pass `--head {}` to review the \
             checkout",
            head.commit.short(),
            sluicegate_git::short_id(event_commit),
            head.commit
        );
        session.defer_warning(note.clone());
        Ok(Some(note))
    }

    /// Fails if the files are not in a git repository, because an argument of the command needs one.
    pub(crate) fn require_repository(&self, session: &Session) -> Result<(), GitError> {
        if self.repo.is_plain_directory() {
            let from = session.env.current_dir().to_owned();
            return Err(GitError::NotARepository { from });
        }
        Ok(())
    }

    /// Returns notes if the files are not in a git repository: this fact, and the repositories below the directory,
    /// which are not checked.
    pub(crate) fn describe_missing_repository(
        &self,
        snapshot: &Snapshot<'_>,
    ) -> Result<Vec<String>, GitError> {
        if !self.repo.is_plain_directory() {
            return Ok(Vec::new());
        }
        let mut notes = vec![format!(
            "{} is not in a git repository. The files were checked without a base.",
            format_path(self.repo.root())
        )];
        let nested_repositories = snapshot.list_nested_repositories()?;
        if !nested_repositories.is_empty() {
            let paths: Vec<_> = nested_repositories
                .iter()
                .map(|path| shorten_name(path))
                .collect();
            notes.push(format!("skipped other git repositories: {}", List::new(paths)));
        }
        Ok(notes)
    }

    /// Returns a note about the settings, waivers and team rules of the evaluated commit that a local run in a bare
    /// repository does not use: it reads these files from disk, and a bare repository has none there. Returns `None` if
    /// the commit has no such file, and if the job names another revision to read them from.
    pub(crate) fn describe_unused_files_of_bare_repository(
        &self,
        evaluated_snapshot: &Snapshot<'_>,
    ) -> Result<Option<String>, GitError> {
        if !self.repo.is_bare() || !self.ci.host.is_local() || self.has_separate_policy() {
            return Ok(None);
        }
        let team_rules_path = self
            .team_rules_path
            .as_deref()
            .filter(|_| !self.has_team_rules_of_job);
        let gate_files = [
            self.config_file.as_deref(),
            Some(waivers::FILE_NAME),
            team_rules_path,
        ];
        let mut paths = Vec::new();
        for path in gate_files.into_iter().flatten() {
            if evaluated_snapshot.find_file(path)?.is_some() {
                paths.push(shorten_name(path));
            }
        }
        let verb = if paths.len() == 1 { "does" } else { "do" };
        Ok((!paths.is_empty()).then(|| {
            format!(
                "{} of the commit {verb} not apply: a local run reads this configuration from disk, and a bare \
                 repository has no files on disk. To use it, check the commit in a clone",
                List::new(paths)
            )
        }))
    }

    /// Returns a note about the pipelines and other files of the review whose content on disk differs from the
    /// evaluated commit, or that they could not be compared. Returns `None` if no file differs, if the files on disk
    /// themselves were evaluated, and in a bare repository, which has no files on disk.
    pub(crate) fn describe_differences_on_disk(
        &self,
        session: &Session,
        evaluated_snapshot: &Snapshot<'_>,
        selection: &Selection,
    ) -> Option<String> {
        let commit = evaluated_snapshot.commit()?;
        if self.repo.is_bare() {
            return None;
        }
        let short = commit.short();
        match self.find_paths_differing_on_disk(session, commit, evaluated_snapshot, selection) {
            Ok(paths) if paths.is_empty() => None,
            Ok(paths) => {
                let verb = if paths.len() == 1 { "differs" } else { "differ" };
                Some(format!(
                    "commit {short} was evaluated, not the files on disk: {} {verb} from the commit ({})",
                    format_count(paths.len(), "file"),
                    List::with_limit(&paths, MAX_LISTED_FILES).map(|path| shorten_name(path))
                ))
            }
            Err(error) => Some(format!(
                "commit {short} was evaluated, not the files on disk: the files could not be compared ({error})"
            )),
        }
    }

    /// Returns a note about the settings, waivers and team rules on disk that a local run with `--staged` does not use,
    /// because they are not staged. Returns `None` if there are none, and if the run does not use the index.
    pub(crate) fn describe_unstaged_gate_files(
        &self,
        session: &Session,
        staged_snapshot: &Snapshot<'_>,
    ) -> Result<Option<String>, GitError> {
        let uses_index = self.ci.host.is_local() && matches!(self.local_files, CheckoutFiles::Staged(_));
        if !uses_index || self.has_separate_policy() {
            return Ok(None);
        }
        let has_named_config_file = settings::requested_config_file(&session.global, &session.env).is_some();
        let optional_files = [Some(waivers::FILE_NAME), self.team_rules_path.as_deref()];
        let mut paths: Vec<&str> = Vec::new();
        if let Some(path) = self.config_file.as_deref() {
            // A named file that is not staged applies.
            let is_read_from_disk = has_named_config_file && staged_snapshot.find_file(path)?.is_none();
            if !is_read_from_disk && self.differs_from_staged_file(session, staged_snapshot, path)? {
                paths.push(path);
            }
        }
        for path in optional_files.into_iter().flatten() {
            if self.differs_from_staged_file(session, staged_snapshot, path)? {
                paths.push(path);
            }
        }
        let list = List::new(paths.iter().map(|path| shorten_name(path)));
        Ok(match paths.len() {
            0 => None,
            1 => Some(format!("{list} on disk is not staged, so it does not apply")),
            _ => Some(format!("{list} on disk are not staged, so they do not apply")),
        })
    }

    /// Returns whether the file on disk is not the staged one: it is not in the index, or it has unstaged changes. A
    /// missing file and a file outside the repository do not differ, nor does a file that git converts or
    /// whose changes the index hides, because its bytes cannot be compared.
    fn differs_from_staged_file(
        &self,
        session: &Session,
        staged_snapshot: &Snapshot<'_>,
        path: &str,
    ) -> Result<bool, GitError> {
        if !self.repo.root().join(path).is_file() {
            return Ok(false);
        }
        let staged_file = policy::follow_links(&self.repo, staged_snapshot, path)?;
        if staged_file.leaves_repository || staged_file.file.is_none() {
            return Ok(!staged_file.leaves_repository);
        }
        let mut compared_paths = Vec::new();
        for staged_path in &staged_file.paths {
            // The path of a file behind a linked folder is not in the index itself.
            if staged_snapshot.find_file(staged_path)?.is_some() && !self.repo.is_converted(staged_path) {
                compared_paths.push(staged_path.as_str());
            }
        }
        let index = session.hook_index_path(&self.repo);
        let hidden_paths = self.repo.list_hidden_paths(&compared_paths, index)?;
        compared_paths.retain(|path| !hidden_paths.contains(*path));
        let unmodified_files = self
            .repo
            .list_files_without_unstaged_changes(compared_paths.iter().copied(), index)?;
        Ok(unmodified_files.len() < compared_paths.len())
    }

    /// Prints a note that uncommitted changes to the files that `is_used` selects are not part of the `action`, for
    /// example a review. Does nothing in CI, in a quiet run, or if `head` is not the checked-out commit. An error is
    /// only logged.
    pub(crate) fn print_uncommitted_files_note(
        &self,
        session: &Session,
        head: &CommitId,
        action: &str,
        is_used: &dyn Fn(&str) -> bool,
    ) {
        if session.ui.is_quiet() || !self.ci.host.is_local() || self.repo.is_bare() {
            return;
        }
        let is_checked_out = self.repo.head().is_ok_and(|checkout| checkout.commit == *head);
        // Compared with a commit that is not checked out, the disk differs by more than uncommitted changes.
        if !is_checked_out {
            return;
        }
        let changes = self
            .repo
            .read_disk_snapshot(session.hook_index_path(&self.repo))
            .and_then(|disk| disk.find_changes(std::slice::from_ref(head), is_used));
        match changes {
            Ok(changes) if changes.is_empty() => {}
            Ok(changes) => {
                let paths = List::new(changes.iter().map(|change| shorten_name(&change.path)));
                session.ui.say(&format!(
                    "note: uncommitted changes to {} are not part of this {action}: {paths}",
                    format_count(changes.len(), "file")
                ));
            }
            Err(error) => tracing::debug!("could not look for uncommitted changes: {error}"),
        }
    }

    /// Returns the paths of the pipelines, selected files, platform files and gate files that differ between the commit
    /// and the disk.
    fn find_paths_differing_on_disk(
        &self,
        session: &Session,
        commit: &CommitId,
        evaluated_snapshot: &Snapshot<'_>,
        selection: &Selection,
    ) -> Result<BTreeSet<String>, GitError> {
        let disk = self
            .repo
            .read_disk_snapshot(session.hook_index_path(&self.repo))?;
        let gate_files = self
            .find_gate_files([evaluated_snapshot, &disk].into_iter())?
            .paths();
        let changes = disk.find_changes(std::slice::from_ref(commit), &|path| {
            is_pipeline(path)
                || selection.includes(path)
                || is_platform_file(path)
                || gate_files.iter().any(|file| file == path)
        })?;
        Ok(changes
            .iter()
            .flat_map(Change::paths)
            .map(str::to_owned)
            .collect())
    }
}

/// Returns whether the path is that of a pipeline or of a file of the platform, which every review reads.
pub(crate) fn is_reviewed_file(path: &str) -> bool {
    is_pipeline(path) || is_platform_file(path)
}
