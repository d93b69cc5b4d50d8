//! The files of the checkout to evaluate. In CI these are the files of the checked-out commit: an earlier step of the job
//! (a generator, an installation, unpacked artifacts) may have changed those on disk.

use crate::error::Failure;
use crate::job::settings::Selection;
use crate::session::Run;
use crate::workspace::Workspace;
use sluicegate_base::text::{List, format_count, shorten_name};
use sluicegate_git::{Change, CommitId, GitError, Snapshot};
use sluicegate_pipelines::pipelines::{RULES_FILE, SHARED_PIPELINES_FILE, is_pipeline};
use std::collections::BTreeSet;

/// Maximum number of files in the note about those that differ on disk.
const NAMED: usize = 20;

impl Workspace<'_> {
    /// Returns the files of the checked-out commit in CI, otherwise the files on disk.
    pub(crate) fn checkout_files(&self, run: &Run) -> Result<Snapshot<'_>, Failure> {
        if self.ci.host.is_local() {
            return Ok(self.repo.disk_snapshot(run.index())?);
        }
        Ok(self.repo.snapshot(self.repo.head()?.commit))
    }

    /// Returns a note if the files are in no git repository.
    pub(crate) fn note_without_git(&self) -> Option<String> {
        self.repo.is_plain_directory().then(|| {
            format!(
                "{} is in no git repository. The files were checked without a base.",
                self.repo.root().display()
            )
        })
    }

    /// Returns a note about the pipelines and gate files whose content on disk is not that of the evaluated commit.
    pub(crate) fn note_on_disk(
        &self,
        run: &Run,
        evaluated: &Snapshot<'_>,
        selection: &Selection,
    ) -> Option<String> {
        let commit = evaluated.commit()?;
        if self.repo.is_bare() {
            return None;
        }
        let short = commit.short();
        match self.differing_on_disk(run, commit, evaluated, selection) {
            Ok(paths) if paths.is_empty() => None,
            Ok(paths) => {
                let verb = if paths.len() == 1 { "differs" } else { "differ" };
                Some(format!(
                    "the commit {short} was evaluated, not the files on disk: {} {verb} from it ({})",
                    format_count(paths.len(), "file"),
                    List::with_limit(&paths, NAMED).map(|path| shorten_name(path))
                ))
            }
            Err(why) => Some(format!(
                "the commit {short} was evaluated, not the files on disk: they could not be compared ({why})"
            )),
        }
    }

    fn differing_on_disk(
        &self,
        run: &Run,
        commit: &CommitId,
        evaluated: &Snapshot<'_>,
        selection: &Selection,
    ) -> Result<BTreeSet<String>, GitError> {
        let disk = self.repo.disk_snapshot(run.index())?;
        let gate_files = self.gate_files([evaluated, &disk].into_iter())?.all();
        let is_of_platform = |path: &str| {
            let file = path.split_once('/').filter(|(folder, _)| folder.starts_with('.'));
            file.is_some_and(|(_, file)| [RULES_FILE, SHARED_PIPELINES_FILE].contains(&file))
        };
        let wanted = |path: &str| {
            is_pipeline(path)
                || selection.includes(path)
                || is_of_platform(path)
                || gate_files.iter().any(|file| file == path)
        };
        let changes = disk.find_changes(std::slice::from_ref(commit), &wanted)?;
        let paths = changes.iter().flat_map(Change::paths);
        Ok(paths.map(str::to_owned).collect())
    }
}
