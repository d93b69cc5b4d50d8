//! Compares two versions or revisions: the changes for consumers.

use super::offered_side::{CommitOffer, ComparedOffer, FETCH_HINT};
use crate::error::Failure;
use crate::interface_version::{self, LoadedInterface};
use crate::job::cli::{ComparedVersionsArgs, GlobArgs};
use crate::job::settings::{Selection, SelectionPurpose};
use crate::publish::{
    FileSelection, FileSource, PublishRequest, PublishedFiles, build_plan, compare_with_published_files,
};
use crate::session::Run;
use crate::session::artifact_versions::{
    describe_missing_prefix, find_latest, prefix_lookup, reject_unpublished,
};
use crate::workspace::Workspace;
use serde_json::{Value, json as value};
use sluicegate_base::text;
use sluicegate_git::GitError;
use sluicegate_pipelines::interface::{self, ComparedVersion, Compatibility, Interface};
use sluicegate_platform::api::{ArtifactDetails, Platform};
use sluicegate_platform::http::ErrorKind;

pub(crate) struct VersionComparison<'a> {
    pub(crate) prefix: String,
    pub(crate) compat: Compatibility,
    pub(crate) new_side: ComparedOffer,
    pub(crate) workspace: Workspace<'a>,
}

impl VersionComparison<'_> {
    /// Describes that nothing is compared, because consumers have no version yet.
    pub(crate) fn describe_missing_version(&self) -> String {
        let prefix = &self.prefix;
        text::escape_line(&format!(
            "no version of {prefix} is enabled, so there is no version to compare with"
        ))
    }

    /// Prints that consumers have no version yet, if so. Standard output is reserved for the document, so this is a
    /// message.
    pub(crate) fn print_missing_version(&self, run: &Run) {
        if self.compat.is_first() {
            run.ui.say(&self.describe_missing_version());
        }
    }

    /// Returns the comparison in the JSON format `sluicegate.interface/v1`.
    pub(crate) fn to_json(&self) -> Value {
        let compat = &self.compat;
        let commit = self
            .new_side
            .offer
            .as_ref()
            .ok()
            .map(|offer| offer.commit.to_string());
        value!({
            "schema": "sluicegate.interface/v1",
            "prefix": self.prefix,
            "from": { "version": compat.against, "commit": compat.against_commit },
            "to": { "version": self.new_side.version, "commit": commit.or_else(|| self.new_side.reported_commit.clone()) },
            "class": compat.class,
            "changes": compat.changes,
            "idsOnly": compat.ids_only,
        })
    }
}

/// Finds both versions or revisions, and compares what they offer to consumers.
pub(crate) fn compare_versions<'a>(
    run: &'a Run,
    args: &ComparedVersionsArgs,
) -> Result<VersionComparison<'a>, Failure> {
    let workspace = run.open_workspace()?;
    let prefix = workspace.sources.prefix(args.prefix.clone())?;
    let connection = workspace.sources.connection(&run.global)?;
    // Two revisions can be compared without the platform.
    let is_missing = connection.require_base_url().is_err() || connection.require_token().is_err();
    let platform = if is_missing && args.from.is_some() {
        None
    } else {
        Some(run.create_platform_client(&connection)?)
    };
    let deepen = workspace.sources.deepen(args.deepen)?;
    let lookup = SideLookup {
        run,
        workspace: &workspace,
        platform: platform.as_ref(),
        prefix: &prefix,
        deepen,
    };
    let old_side = lookup.find_old_side(args.from.as_deref())?;
    let new_side = lookup.find_side(args.to.as_deref())?;
    let selection = workspace
        .sources
        .selection(&GlobArgs::default(), SelectionPurpose::Publish)?;
    let compat = match &old_side {
        Some(old_side) if lacks_shared_file(old_side) && lacks_shared_file(&new_side) => {
            return Err(reject_missing_files(old_side, &new_side));
        }
        Some(old_side) => lookup.compare_sides(old_side, &new_side, &selection)?,
        None => Compatibility::new(ComparedVersion::default(), Vec::new()),
    };
    Ok(VersionComparison {
        prefix,
        compat,
        new_side,
        workspace,
    })
}

struct SideLookup<'a> {
    run: &'a Run,
    workspace: &'a Workspace<'a>,
    platform: Option<&'a Platform>,
    prefix: &'a str,
    deepen: bool,
}

impl SideLookup<'_> {
    /// Returns the older side: the one with this name, otherwise the latest version. `None` means that consumers have
    /// no version yet; if a published prefix is similar, a warning names it.
    fn find_old_side(&self, name: Option<&str>) -> Result<Option<ComparedOffer>, Failure> {
        let (None, Some(platform)) = (name, self.platform) else {
            return self.find_side(name).map(Some);
        };
        let latest = self.run.block_on(find_latest(platform, self.prefix))??;
        match latest {
            Ok(details) => self.load_version_offer(&details).map(Some),
            Err(published_prefixes) => {
                if prefix_lookup(self.prefix).nearest(&published_prefixes).is_some() {
                    self.run
                        .ui
                        .warn(&describe_missing_prefix(self.prefix, &published_prefixes));
                }
                Ok(None)
            }
        }
    }

    /// Returns the side with this name: a version of the platform, otherwise a revision of the repository. Without a
    /// name, returns head.
    fn find_side(&self, name: Option<&str>) -> Result<ComparedOffer, Failure> {
        let details = match (name, self.platform) {
            (Some(version), Some(platform)) => self.find_version_details(platform, version)?,
            _ => None,
        };
        match details {
            Some(details) => self.load_version_offer(&details),
            None => self.open_revision_side(name.unwrap_or("HEAD")),
        }
    }

    /// Requests the details of a version. Returns `None` if the platform has none, and the name is a revision of the
    /// repository.
    fn find_version_details(
        &self,
        platform: &Platform,
        version: &str,
    ) -> Result<Option<ArtifactDetails>, Failure> {
        let details = platform.artifact_details(self.prefix, Some(version));
        match self.run.block_on(details)? {
            Ok(details) => Ok(Some(details)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if self.workspace.repo.resolve(version).is_ok() {
                    return Ok(None);
                }
                let rejection = reject_unpublished(platform, self.prefix, Some(version), error);
                Err(self.run.block_on(rejection)?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns what a version of the platform offers.
    fn load_version_offer(&self, details: &ArtifactDetails) -> Result<ComparedOffer, Failure> {
        Ok(ComparedOffer::from_version(
            self.run,
            self.workspace,
            details,
            self.deepen,
        )?)
    }

    /// Returns what a revision of the repository offers.
    fn open_revision_side(&self, name: &str) -> Result<ComparedOffer, Failure> {
        let revision = self.workspace.repo.resolve_revision(name)?;
        if let Some(ambiguity) = &revision.ambiguity {
            self.run.ui.warn(ambiguity);
        }
        let (repo, folder) = (&self.workspace.repo, self.workspace.named_config_dir.as_deref());
        let interface =
            match interface_version::read_interface(repo, &repo.snapshot(revision.commit.clone()), folder)? {
                LoadedInterface::Read(interface, _) => *interface,
                LoadedInterface::Missing => Interface::empty(""),
                LoadedInterface::Unreadable(path, reason) => {
                    let short = revision.commit.short();
                    let message = format!("could not read {path} of the commit {short}: {reason}");
                    return Err(Failure::usage(message).with_hint(
                        "run `sluicegate publish --dry-run` at that commit to see every problem",
                    ));
                }
            };
        Ok(ComparedOffer {
            version: None,
            reported_commit: Some(revision.commit.to_string()),
            ids: interface
                .offered_entries()
                .map(|entry| entry.id.clone())
                .collect(),
            offer: Ok(CommitOffer {
                fetched_repository: None,
                commit: revision.commit,
                interface,
            }),
        })
    }

    /// Compares what two sides offer. If one side's commit is missing in the clone, only the ids are compared, with a
    /// warning.
    fn compare_sides(
        &self,
        old_side: &ComparedOffer,
        new_side: &ComparedOffer,
        selection: &Selection,
    ) -> Result<Compatibility, GitError> {
        let (old_offer, new_offer) = match (&old_side.offer, &new_side.offer) {
            (Ok(old_offer), Ok(new_offer)) => (old_offer, new_offer),
            (Err(ids_only), _) | (_, Err(ids_only)) => {
                let hint = if ids_only.may_fetch {
                    format!("\nhint: {FETCH_HINT}")
                } else {
                    String::new()
                };
                self.run.ui.warn(&format!(
                    "comparing only the ids of shared pipelines: {}{hint}",
                    ids_only.reason
                ));
                let offered_ids = new_side.ids.iter().map(String::as_str);
                return Ok(Compatibility::from_ids(
                    old_side.to_compared_version(),
                    &old_side.ids,
                    &offered_ids,
                ));
            }
        };
        let mut changes = interface_version::compare_interface_versions(
            &old_offer.offer(self.workspace)?,
            &new_offer.offer(self.workspace)?,
        )?;
        changes.extend(interface::find_unlisted_removals(
            &old_side.ids,
            &old_offer.interface,
            &new_offer.interface,
        ));
        let is_same_offer = changes.is_empty();
        let shared_files = [&old_offer.interface.file, &new_offer.interface.file];
        let mut file_changes = self.list_changed_files(old_offer, new_offer, selection);
        file_changes.retain(|change| is_same_offer || !shared_files.contains(&&change.subject()));
        changes.extend(file_changes);
        Ok(Compatibility::new(old_side.to_compared_version(), changes))
    }

    /// Returns the files that a publish of the new side would change. If it could not be published, warns and returns
    /// none.
    fn list_changed_files(
        &self,
        old_offer: &CommitOffer,
        new_offer: &CommitOffer,
        selection: &Selection,
    ) -> Vec<interface::InterfaceChange> {
        let request = PublishRequest {
            prefix: self.prefix.to_owned(),
            // Only the files of the plan are used.
            version_template: "compared".to_owned(),
            include: &|path| selection.includes(path),
            exclude: &|path| selection.excludes(path),
            selection: FileSelection::All,
            config_dir: self.workspace.named_config_dir.clone(),
            source: FileSource::Commit,
            branch: None,
            tag: None,
            run_number: None,
            next_version: None,
        };
        let repository = new_offer.repository(self.workspace);
        let files = build_plan(repository, &new_offer.commit, &request).and_then(|plan| {
            compare_with_published_files(
                &plan,
                &PublishedFiles {
                    repository: old_offer.repository(self.workspace),
                    commit: &old_offer.commit,
                    is_selected: &|path| selection.selects(path),
                },
            )
        });
        files.unwrap_or_else(|error| {
            self.run
                .ui
                .warn(&format!("could not list the changed files: {error}"));
            Vec::new()
        })
    }
}

/// Returns the error that neither side has a shared-pipelines file: probably a wrong directory or revision.
fn reject_missing_files(old_side: &ComparedOffer, new_side: &ComparedOffer) -> Failure {
    let message = format!(
        "neither {} nor {} has a shared-pipelines file",
        old_side.display_name(),
        new_side.display_name()
    );
    Failure::usage(message)
        .with_hint("pass two versions or revisions, or set the platform's hidden directory with --config-dir")
}

/// Returns whether this is a revision without a shared-pipelines file.
fn lacks_shared_file(side: &ComparedOffer) -> bool {
    side.offer
        .as_ref()
        .is_ok_and(|offer| offer.interface.file.is_empty())
}
