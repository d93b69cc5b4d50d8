//! Determines what a published version offers: from the file of its commit if the clone has or may fetch it, otherwise
//! only its ids.

use crate::interface_version::{self, InterfaceVersion, LoadedInterface};

use crate::session::Run;
use crate::workspace::Workspace;
use sluicegate_base::text;
use sluicegate_git::{CommitId, GitError, Repository, Wanted, is_full_id};
use sluicegate_pipelines::interface::{ComparedVersion, Interface};
use sluicegate_platform::api::ArtifactDetails;

/// Number of commits to fetch.
const DEPTH: u32 = 1;

/// Hint to compare everything if the clone lacks the commit.
pub(crate) const FETCH: &str = "pass --deepen to fetch it, or clone the full history (`fetch-depth: 0`)";

/// Why only the ids of shared pipelines can be compared.
#[derive(Clone)]
pub(crate) struct IdsOnly {
    pub(crate) why: String,
    /// The clone lacks the commit, and no fetch was requested.
    pub(crate) may_fetch: bool,
}

/// A published version, or a commit.
pub(crate) struct OfferedSide {
    /// `None` for a commit.
    pub(crate) version: Option<String>,
    /// The commit id that the platform reports.
    pub(crate) told: Option<String>,
    /// The offered ids.
    pub(crate) ids: Vec<String>,
    pub(crate) at: Result<OfferedAt, IdsOnly>,
}

/// A commit of the clone, and the content of its shared-pipelines file.
pub(crate) struct OfferedAt {
    /// The repository reopened after a fetch; `None` if the workspace's repository has the commit.
    pub(crate) fetched: Option<Repository>,
    pub(crate) commit: CommitId,
    pub(crate) interface: Interface,
}

impl OfferedSide {
    pub(crate) fn of_version(
        run: &Run,
        workspace: &Workspace<'_>,
        details: &ArtifactDetails,
        deepen: bool,
    ) -> Result<Self, GitError> {
        let told = details.artifact.commit_hash.clone();
        let ids = details.shared_pipelines.iter();
        Ok(Self {
            version: details.artifact.version_name.clone(),
            ids: ids.filter_map(|it| it.shared_pipeline_id.clone()).collect(),
            at: at(run, workspace, told.as_deref(), deepen)?,
            told,
        })
    }

    pub(crate) fn against(&self) -> ComparedVersion {
        ComparedVersion {
            version: self.version.clone(),
            commit: self.told.clone(),
        }
    }

    /// Returns the version or the short commit id, for display.
    pub(crate) fn name(&self) -> String {
        text::line(&match (&self.version, &self.at) {
            (Some(version), _) => version.clone(),
            (None, Ok(at)) => at.commit.short().to_owned(),
            (None, Err(_)) => "(no name)".to_owned(),
        })
    }
}

impl OfferedAt {
    pub(crate) fn repository<'r>(&'r self, workspace: &'r Workspace<'_>) -> &'r Repository {
        self.fetched.as_ref().unwrap_or(&workspace.repo)
    }

    pub(crate) fn offer<'r>(
        &'r self,
        workspace: &'r Workspace<'_>,
    ) -> Result<InterfaceVersion<'r>, GitError> {
        let repository = self.repository(workspace);
        let snapshot = repository.snapshot(self.commit.clone());
        InterfaceVersion::at_snapshot(repository, &snapshot, self.interface.clone())
    }
}

fn at(
    run: &Run,
    workspace: &Workspace<'_>,
    told: Option<&str>,
    deepen: bool,
) -> Result<Result<OfferedAt, IdsOnly>, GitError> {
    let (fetched, commit) = match found(run, workspace, told, deepen)? {
        Ok(found) => found,
        Err(ids_only) => return Ok(Err(ids_only)),
    };
    let repository = fetched.as_ref().unwrap_or(&workspace.repo);
    let (folder, short) = (workspace.named_folder.as_deref(), commit.short());
    let why =
        match interface_version::read_interface(repository, &repository.snapshot(commit.clone()), folder)? {
            LoadedInterface::Read(interface, _) => {
                let interface = *interface;
                return Ok(Ok(OfferedAt {
                    fetched,
                    commit,
                    interface,
                }));
            }
            LoadedInterface::Missing => format!("the commit {short} has no shared-pipelines file"),
            LoadedInterface::Unreadable(path, why) => {
                format!("could not read {path} of the commit {short}: {why}")
            }
        };
    let may_fetch = false;
    Ok(Err(IdsOnly { why, may_fetch }))
}

/// Returns the commit, in this repository or in the repository reopened after a fetch; or why it is missing.
fn found(
    run: &Run,
    workspace: &Workspace<'_>,
    told: Option<&str>,
    deepen: bool,
) -> Result<Result<(Option<Repository>, CommitId), IdsOnly>, GitError> {
    let repo = &workspace.repo;
    let Some(id) = told.filter(|id| !id.is_empty()) else {
        let why = "the platform reports no commit for the version".to_owned();
        let may_fetch = false;
        return Ok(Err(IdsOnly { why, may_fetch }));
    };
    if let Some(commit) = repo.commit_with_id(id) {
        return Ok(Ok((None, commit)));
    }
    if deepen && is_full_id(id) {
        run.ui.say(&format!("fetching the commit {id} (--deepen)"));
        match repo.fetch_history(&[Wanted::Commit(id)], DEPTH) {
            Ok(()) => {
                let again = repo.reopen()?;
                if let Some(commit) = again.commit_with_id(id) {
                    return Ok(Ok((Some(again), commit)));
                }
            }
            Err(error) => run.ui.warn(&error.to_string()),
        }
    }
    let why = format!("the clone does not have the commit {id} of the version");
    let may_fetch = !deepen;
    Ok(Err(IdsOnly { why, may_fetch }))
}
