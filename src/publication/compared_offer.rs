//! Determines what a published version offers: from the file of its commit if the clone has or may fetch it, otherwise
//! only its ids.

use crate::error::Failure;
use crate::interface_version::{self, InterfaceDoubt, InterfaceVersion, LoadedInterface, OfferChanges};
use crate::publish::Plan;
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_base::text;
use sluicegate_git::{CommitId, FetchTarget, GitError, Repository, Snapshot, is_full_id};
use sluicegate_pipelines::interface::{ComparedVersion, Interface, InterfaceChange, find_unlisted_removals};
use sluicegate_platform::api::ArtifactDetails;

/// Number of commits to fetch: only the commit of the version, without its history.
const FETCH_DEPTH: u32 = 1;

/// Returns the hint for a comparison of ids only: how to make the missing commit available. A full clone lacks only
/// commits that no branch or tag contains.
pub(crate) fn fetch_hint(repo: &Repository) -> &'static str {
    if repo.is_shallow() {
        "pass --deepen to fetch the commit, or clone the full history (`fetch-depth: 0`)"
    } else {
        "pass --deepen to fetch the commit"
    }
}

/// The kind of the reason why a comparison is incomplete.
#[derive(Clone, Copy)]
enum LimitCause {
    UnreportedCommit,
    MissingCommit,
    MissingFile,
    UnreadableFile,
    /// The file of a shared pipeline cannot be read or does not declare a parameter. Only this cause does not restrict
    /// the comparison to the ids.
    UncertainPipeline,
}

/// The reason why a comparison is incomplete, usually because only the ids of shared pipelines can be compared.
#[derive(Clone)]
pub(crate) struct ComparisonLimit {
    cause: LimitCause,
    pub(crate) reason: String,
    /// True if the clone lacks the commit and no fetch was requested, so that a fetch may help.
    pub(crate) may_fetch: bool,
}

impl ComparisonLimit {
    /// Warns that the comparison is incomplete.
    pub(crate) fn warn(&self, session: &Session, hint: Option<&str>) {
        let effect = match self.cause {
            LimitCause::UncertainPipeline => "could not determine all changes for consumers",
            _ => "comparing only the ids of shared pipelines",
        };
        let message = format!("{effect}: {}", self.reason);
        match hint {
            Some(hint) => session.ui.warn_with_hint(&message, hint),
            None => session.ui.warn(&message),
        }
    }
}

impl From<InterfaceDoubt> for ComparisonLimit {
    fn from(doubt: InterfaceDoubt) -> Self {
        Self {
            cause: LimitCause::UncertainPipeline,
            reason: doubt.reason,
            may_fetch: false,
        }
    }
}

/// The shared pipelines that a published version or a commit offers to consumers.
pub(crate) struct ComparedOffer {
    /// The name of the version; `None` for a commit.
    pub(crate) version: Option<String>,
    /// The commit id that the platform reports.
    pub(crate) reported_commit: Option<String>,
    /// The ids of the offered shared pipelines.
    pub(crate) ids: Vec<String>,
    pub(crate) offer: Result<CommitOffer, ComparisonLimit>,
}

/// A commit of the clone, and the content of its shared-pipelines file.
pub(crate) struct CommitOffer {
    /// The repository reopened after a fetch; `None` if the workspace's repository has the commit.
    pub(crate) fetched_repository: Option<Repository>,
    pub(crate) commit: CommitId,
    pub(crate) interface: Interface,
}

/// The commit of a published version, in a repository that has it.
struct VersionCommit {
    /// The repository reopened after a fetch; `None` if the workspace's repository has the commit.
    fetched_repository: Option<Repository>,
    commit: CommitId,
}

impl ComparedOffer {
    /// Returns whether this is the offer of a revision without a shared-pipelines file, which has an empty path.
    pub(super) fn lacks_shared_file(&self) -> bool {
        let offer = self.offer.as_ref();
        offer.is_ok_and(|commit_offer| commit_offer.interface.file.is_empty())
    }

    /// Fails if this version is not comparable with `HEAD`, which has no shared-pipelines file: the commit of the
    /// version has none either, or the repository lacks that commit and is probably not the one that publishes the
    /// prefix. Compared with it, every shared pipeline would be removed.
    pub(super) fn reject_head_without_file(
        &self,
        repo: &Repository,
        prefix: &str,
        head_offer: &Self,
    ) -> Result<(), Failure> {
        let Err(limit) = &self.offer else {
            return Ok(());
        };
        let version = format!("version {} of {}", self.display_name(), text::escape_line(prefix));
        let fact = match limit.cause {
            LimitCause::MissingFile => return Err(missing_files_failure(self, head_offer)),
            LimitCause::UnreadableFile | LimitCause::UncertainPipeline => return Ok(()),
            LimitCause::UnreportedCommit => {
                format!(
                    "the platform reports no commit for {version}: this repository may not publish this artifact"
                )
            }
            LimitCause::MissingCommit => {
                format!(
                    "this repository lacks the commit of {version}: it probably does not publish this artifact"
                )
            }
        };
        let mut hint = "run the command in a clone of the repository that publishes the artifact (`artifacts impact` searches \
                        other repositories with `--repos DIR`), or pass two versions"
            .to_owned();
        if limit.may_fetch {
            hint = format!("{hint}; if this is that repository, {}", fetch_hint(repo));
        }
        let message = format!("HEAD has no shared-pipelines file, and {fact}");
        Err(Failure::usage(message).with_hint(hint))
    }

    /// Returns what a published version offers. Its shared pipelines are read from its commit, which is fetched if the
    /// clone lacks it and `can_fetch` allows that; otherwise, only their ids are known. `new_snapshot` is the version
    /// that it is compared with, if this is the older one.
    pub(crate) fn from_version(
        session: &Session,
        workspace: &Workspace<'_>,
        details: &ArtifactDetails,
        can_fetch: bool,
        new_snapshot: Option<&Snapshot<'_>>,
    ) -> Result<Self, GitError> {
        let reported_commit = details.artifact.commit_hash.clone();
        let ids = details.shared_pipelines.iter();
        Ok(Self {
            version: details.artifact.version_name.clone(),
            ids: ids
                .filter_map(|pipeline| pipeline.shared_pipeline_id.clone())
                .collect(),
            offer: load_offer(
                session,
                workspace,
                reported_commit.as_deref(),
                can_fetch,
                new_snapshot,
            )?,
            reported_commit,
        })
    }

    /// Returns the name of this version and the commit that the platform reports for it, for a comparison in which this
    /// is the older version.
    pub(crate) fn to_compared_version(&self) -> ComparedVersion {
        ComparedVersion {
            version: self.version.clone(),
            commit: self.reported_commit.clone(),
        }
    }

    /// Returns the name of the version for display. Without a name, returns the short id of the commit or, if the
    /// commit is missing, a placeholder.
    pub(crate) fn display_name(&self) -> String {
        text::escape_line(&match (&self.version, &self.offer) {
            (Some(version), _) => version.clone(),
            (None, Ok(offer)) => offer.commit.short().to_owned(),
            (None, Err(_)) => "(no name)".to_owned(),
        })
    }
}

impl CommitOffer {
    /// Returns the repository that has the commit: that of the workspace, or the one reopened after a fetch.
    pub(crate) fn repository<'r>(&'r self, workspace: &'r Workspace<'_>) -> &'r Repository {
        self.fetched_repository.as_ref().unwrap_or(&workspace.repo)
    }

    /// Returns the snapshot of the commit.
    pub(crate) fn snapshot<'r>(&'r self, workspace: &'r Workspace<'_>) -> Snapshot<'r> {
        self.repository(workspace).snapshot(self.commit.clone())
    }

    /// Reads what the commit offers to consumers, prepared for a comparison.
    pub(crate) fn read_interface_version<'r>(
        &'r self,
        workspace: &'r Workspace<'_>,
    ) -> Result<InterfaceVersion<'r>, GitError> {
        let repository = self.repository(workspace);
        let snapshot = repository.snapshot(self.commit.clone());
        InterfaceVersion::at_snapshot(repository, &snapshot, self.interface.clone())
    }
}

/// Reads what the commit of a version offers to consumers. The inner error is the reason why only the ids are known:
/// the commit is missing, or its shared-pipelines file is missing or unreadable.
fn load_offer(
    session: &Session,
    workspace: &Workspace<'_>,
    reported_commit: Option<&str>,
    can_fetch: bool,
    new_snapshot: Option<&Snapshot<'_>>,
) -> Result<Result<CommitOffer, ComparisonLimit>, GitError> {
    let VersionCommit {
        fetched_repository,
        commit,
    } = match find_version_commit(session, workspace, reported_commit, can_fetch)? {
        Ok(version_commit) => version_commit,
        Err(limit) => return Ok(Err(limit)),
    };
    let repository = fetched_repository.as_ref().unwrap_or(&workspace.repo);
    let (snapshot, short) = (repository.snapshot(commit.clone()), commit.short());
    let (cause, reason) = match read_offered_interface(repository, workspace, &snapshot, new_snapshot)? {
        LoadedInterface::Read(interface, _) => {
            let interface = *interface;
            return Ok(Ok(CommitOffer {
                fetched_repository,
                commit,
                interface,
            }));
        }
        LoadedInterface::Missing => {
            let reason = format!("commit {short} has no shared-pipelines file");
            (LimitCause::MissingFile, reason)
        }
        LoadedInterface::Unreadable(file) => {
            let reason = format!("could not read {} in commit {short}: {}", file.path, file.reason);
            (LimitCause::UnreadableFile, reason)
        }
    };
    // The clone has the commit, so a fetch would not help.
    let may_fetch = false;
    Ok(Err(ComparisonLimit {
        cause,
        reason,
        may_fetch,
    }))
}

/// Reads the shared-pipelines file of a snapshot. If it is compared with a newer one, and the job names the directory
/// of that one, the file may still be in another directory.
pub(crate) fn read_offered_interface(
    repository: &Repository,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    new_snapshot: Option<&Snapshot<'_>>,
) -> Result<LoadedInterface, GitError> {
    let named_dir = workspace.named_config_dir.as_deref();
    let config_dir = match new_snapshot {
        Some(new_snapshot) => interface_version::find_old_config_dir(named_dir, snapshot, new_snapshot)?,
        None => named_dir.map(str::to_owned),
    };
    interface_version::read_interface(repository, snapshot, config_dir.as_deref())
}

/// Finds the commit of a version in the clone, or fetches it if `can_fetch` allows that. The inner error is the reason
/// why the commit is missing. A failed fetch is only a warning, because the ids can be compared without the commit.
fn find_version_commit(
    session: &Session,
    workspace: &Workspace<'_>,
    reported_commit: Option<&str>,
    can_fetch: bool,
) -> Result<Result<VersionCommit, ComparisonLimit>, GitError> {
    let repo = &workspace.repo;
    let Some(id) = reported_commit else {
        return Ok(Err(ComparisonLimit {
            cause: LimitCause::UnreportedCommit,
            reason: "the platform reports no commit for the version".to_owned(),
            may_fetch: false,
        }));
    };
    if let Some(commit) = repo.find_commit_with_id(id)? {
        let fetched_repository = None;
        return Ok(Ok(VersionCommit {
            fetched_repository,
            commit,
        }));
    }
    // An abbreviated id cannot be fetched.
    if can_fetch && is_full_id(id) {
        session.ui.say(&format!("fetching commit {id} (--deepen)"));
        match repo.fetch_history(&[FetchTarget::Commit(id)], FETCH_DEPTH) {
            Ok(()) => {
                // An open repository does not see commits that are fetched later.
                let reopened_repository = repo.reopen()?;
                if let Some(commit) = reopened_repository.find_commit_with_id(id)? {
                    let fetched_repository = Some(reopened_repository);
                    return Ok(Ok(VersionCommit {
                        fetched_repository,
                        commit,
                    }));
                }
            }
            Err(error) => session.ui.warn(&error.to_string()),
        }
    }
    Ok(Err(ComparisonLimit {
        cause: LimitCause::MissingCommit,
        reason: format!("the clone does not have commit {id} of the version"),
        may_fetch: !can_fetch,
    }))
}

/// Compares what the plan offers with what a published version offers, without the changed files. Returns the offer of
/// the version, and the changes unless only its ids are known.
pub(super) fn compare_plan_with_version(
    session: &Session,
    workspace: &Workspace<'_>,
    plan: &Plan,
    old_details: &ArtifactDetails,
    can_fetch: bool,
) -> Result<(ComparedOffer, Option<OfferChanges>), GitError> {
    let repo = &workspace.repo;
    let planned_commit = repo.find_commit_with_id(&plan.commit_hash)?;
    let snapshot = planned_commit.map(|commit| repo.snapshot(commit));
    let old = ComparedOffer::from_version(session, workspace, old_details, can_fetch, snapshot.as_ref())?;
    let Ok(old_offer) = &old.offer else {
        return Ok((old, None));
    };
    let planned_files = plan.files.iter().map(|file| (file.path.as_str(), &file.content));
    let mut offer_changes = interface_version::compare_interface_versions(
        &old_offer.read_interface_version(workspace)?,
        &InterfaceVersion::for_plan(repo, plan.interface.clone(), planned_files),
    )?;
    // If the version was published from a working tree, the file of its commit may not list all of its ids.
    offer_changes.changes.extend(find_unlisted_removals(
        &old.ids,
        &old_offer.interface,
        &plan.interface,
    ));
    Ok((old, Some(offer_changes)))
}

/// Adds the changed files to the changes to the offer. The shared-pipelines file of a version is listed only if there
/// is no change to the offer, because such changes usually explain it.
pub(super) fn add_file_changes(
    changes: &mut Vec<InterfaceChange>,
    file_changes: Vec<InterfaceChange>,
    old_interface: &Interface,
    new_interface: &Interface,
) {
    let includes_shared_file = changes.is_empty();
    let shared_files = [&old_interface.file, &new_interface.file];
    for change in file_changes {
        if includes_shared_file || !shared_files.contains(&&change.subject()) {
            changes.push(change);
        }
    }
}

/// Returns the error that neither version or revision has a shared-pipelines file: probably, the directory or one of
/// the names is wrong.
pub(super) fn missing_files_failure(old: &ComparedOffer, new: &ComparedOffer) -> Failure {
    let message = format!(
        "neither {} nor {} has a shared-pipelines file",
        old.display_name(),
        new.display_name()
    );
    Failure::usage(message)
        .with_hint("pass two versions or revisions, or set the platform's hidden directory with --config-dir")
}
