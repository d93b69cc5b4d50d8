//! Compares two versions or revisions: the changes for consumers.

use super::compared_offer::{
    CommitOffer, ComparedOffer, ComparisonLimit, add_file_changes, fetch_hint, missing_files_failure,
    read_offered_interface,
};
use super::publish_selection::PublishSelection;
use crate::error::Failure;
use crate::interface_version::{self, LoadedInterface, OfferChanges};
use crate::job::cli::ComparedVersionsArgs;
use crate::publish::{
    FileSource, Plan, PublishError, PublishRequest, PublishedFiles, PublishedSelection, build_plan,
    compare_with_published_files,
};
use crate::session::Session;
use crate::session::artifact_versions::{
    describe_missing_version, find_latest_version, missing_prefix_failure, version_request_failure,
};
use crate::workspace::Workspace;
use crate::workspace::checkout_files::is_reviewed_file;
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_git::{GitError, Snapshot};
use sluicegate_pipelines::interface::{self, ComparedVersion, Compatibility, Interface};
use sluicegate_platform::api::{ArtifactDetails, Platform};
use sluicegate_platform::http::ErrorKind;

pub(crate) struct VersionComparison<'a> {
    pub(crate) prefix: String,
    pub(crate) compat: Compatibility,
    pub(crate) new_offer: ComparedOffer,
    pub(crate) workspace: Workspace<'a>,
}

impl VersionComparison<'_> {
    /// Returns the message that nothing is compared, because consumers have no version yet.
    pub(crate) fn describe_missing_version(&self) -> String {
        let prefix = &self.prefix;
        text::escape_line(&format!(
            "no version of {prefix} is enabled, so there is no version to compare with"
        ))
    }

    /// Prints a message on standard error if consumers have no version yet. Standard output is for the document.
    pub(crate) fn print_missing_version(&self, session: &Session) {
        if self.compat.is_first() {
            session.ui.say(&self.describe_missing_version());
        }
    }

    /// Returns the comparison in the JSON format `sluicegate.interface/v1`.
    pub(crate) fn to_json(&self) -> Value {
        let compat = &self.compat;
        let commit = self
            .new_offer
            .offer
            .as_ref()
            .ok()
            .map(|offer| offer.commit.to_string());
        json!({
            "schema": "sluicegate.interface/v1",
            "prefix": self.prefix,
            "from": { "version": compat.against, "commit": compat.against_commit },
            "to": { "version": self.new_offer.version, "commit": commit.or_else(|| self.new_offer.reported_commit.clone()) },
            "class": compat.class,
            "changes": compat.changes,
            "idsOnly": compat.ids_only,
        })
    }
}

/// Compares what two versions or revisions offer to consumers. The old one is `--from`, or the latest version without
/// this option. The new one is `--to`, or `HEAD` without this option. If there is no latest version, the comparison has
/// no changes. Fails if neither version or revision has a shared-pipelines file.
pub(crate) fn compare_versions<'a>(
    session: &'a Session,
    args: &ComparedVersionsArgs,
) -> Result<VersionComparison<'a>, Failure> {
    let workspace = session.open_workspace()?;
    let prefix = workspace.sources.resolve_prefix(args.prefix.clone())?;
    for version in args.from.iter().chain(&args.to) {
        workspace.sources.require_expanded_version(version)?;
    }
    let connection = workspace.sources.resolve_account_connection(&session.global)?;
    // Without `--from`, the platform must return the latest version, so a missing setting is an error. Two revisions
    // can be compared without the platform.
    let platform = if connection.can_send_requests() || args.from.is_none() {
        Some(session.create_platform_client(&connection)?)
    } else {
        None
    };
    let deepen = workspace.sources.resolve_deepen(args.deepen)?;
    let lookup = OfferLookup {
        session,
        workspace: &workspace,
        platform: platform.as_ref(),
        prefix: &prefix,
        deepen,
    };
    let new_offer = lookup.load_offer(args.to.as_deref(), None)?;
    if let (None, Ok(head_offer)) = (&args.to, &new_offer.offer) {
        workspace.print_uncommitted_files_note(session, &head_offer.commit, "comparison", &is_reviewed_file);
    }
    let new_snapshot = new_offer
        .offer
        .as_ref()
        .ok()
        .map(|offer| offer.snapshot(&workspace));
    let old_offer = lookup.load_old_offer(args.from.as_deref(), new_snapshot.as_ref())?;
    drop(new_snapshot);
    let selection = PublishSelection::from_sources(&workspace.sources)?;
    let compat = match &old_offer {
        Some(old_offer) if old_offer.lacks_shared_file() && new_offer.lacks_shared_file() => {
            return Err(missing_files_failure(old_offer, &new_offer));
        }
        Some(old_offer) => {
            if args.to.is_none() && new_offer.lacks_shared_file() {
                old_offer.reject_head_without_file(&workspace.repo, &prefix, &new_offer)?;
            }
            lookup.compare_offers(old_offer, &new_offer, &selection)?
        }
        None => Compatibility::new(ComparedVersion::default(), Vec::new()),
    };
    Ok(VersionComparison {
        prefix,
        compat,
        new_offer,
        workspace,
    })
}

struct OfferLookup<'a> {
    session: &'a Session,
    workspace: &'a Workspace<'a>,
    platform: Option<&'a Platform>,
    prefix: &'a str,
    deepen: bool,
}

impl OfferLookup<'_> {
    /// Returns what the older version or revision offers: the one with this name, otherwise the latest version. `None`
    /// means that consumers have no version yet. Fails if only other prefixes have versions, because the prefix is
    /// probably misspelled.
    fn load_old_offer(
        &self,
        name: Option<&str>,
        new_snapshot: Option<&Snapshot<'_>>,
    ) -> Result<Option<ComparedOffer>, Failure> {
        // Without a platform, there is a name: `compare_versions` omits the platform only with `--from`.
        let (None, Some(platform)) = (name, self.platform) else {
            return self.load_offer(name, new_snapshot).map(Some);
        };
        let latest = self
            .session
            .block_on(find_latest_version(platform, self.prefix))??;
        match latest {
            Ok(details) => self.load_version_offer(&details, new_snapshot).map(Some),
            Err(prefixes) if prefixes.is_empty() || prefixes.iter().any(|prefix| prefix == self.prefix) => {
                Ok(None)
            }
            Err(prefixes) => Err(missing_prefix_failure(self.prefix, &prefixes)),
        }
    }

    /// Returns what the version with this name offers or, if the platform does not have it, the revision of the
    /// repository with this name. Without a name, returns what `HEAD` offers. `new_snapshot` is the newer version, if
    /// this is the older one.
    fn load_offer(
        &self,
        name: Option<&str>,
        new_snapshot: Option<&Snapshot<'_>>,
    ) -> Result<ComparedOffer, Failure> {
        let details = match (name, self.platform) {
            (Some(version), Some(platform)) => self.find_version_details(platform, version)?,
            _ => None,
        };
        match details {
            Some(details) => self.load_version_offer(&details, new_snapshot),
            None => self.load_revision_offer(name.unwrap_or("HEAD"), new_snapshot),
        }
    }

    /// Requests the details of a version. Returns `None` if the platform does not have it but the name is a revision of
    /// the repository. A tag is used only if the prefix has versions: otherwise, the prefix may be misspelled.
    fn find_version_details(
        &self,
        platform: &Platform,
        version: &str,
    ) -> Result<Option<ArtifactDetails>, Failure> {
        let details = platform.fetch_artifact_details(self.prefix, Some(version));
        match self.session.block_on(details)? {
            Ok(details) => Ok(Some(details)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if let Ok(revision) = self.workspace.repo.resolve_revision(version) {
                    if !revision.is_tag() {
                        return Ok(None);
                    }
                    let warning = describe_missing_version(platform, self.prefix, version);
                    if let Some(warning) = self.session.block_on(warning)?? {
                        self.session.ui.warn(&warning);
                        return Ok(None);
                    }
                }
                let rejection = version_request_failure(platform, self.prefix, Some(version), error);
                Err(self.session.block_on(rejection)?)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Loads the shared pipelines of a published version from its commit, which is fetched if `--deepen` was passed. If
    /// the clone lacks that commit, only the ids of the shared pipelines are known.
    fn load_version_offer(
        &self,
        details: &ArtifactDetails,
        new_snapshot: Option<&Snapshot<'_>>,
    ) -> Result<ComparedOffer, Failure> {
        Ok(ComparedOffer::from_version(
            self.session,
            self.workspace,
            details,
            self.deepen,
            new_snapshot,
        )?)
    }

    /// Returns what a revision of the repository offers to consumers, according to its shared-pipelines file. A
    /// revision without this file offers nothing. Warns if the name of the revision is ambiguous.
    fn load_revision_offer(
        &self,
        name: &str,
        new_snapshot: Option<&Snapshot<'_>>,
    ) -> Result<ComparedOffer, Failure> {
        let repo = &self.workspace.repo;
        let revision = repo.resolve_revision(name)?;
        if let Some(ambiguity) = &revision.ambiguity {
            self.session.ui.warn(ambiguity);
        }
        let snapshot = repo.snapshot(revision.commit.clone());
        let interface = match read_offered_interface(repo, self.workspace, &snapshot, new_snapshot)? {
            LoadedInterface::Read(interface, _) => *interface,
            // `ComparedOffer::lacks_shared_file` recognizes such an offer by the empty path.
            LoadedInterface::Missing => Interface::empty(""),
            LoadedInterface::Unreadable(file) => {
                let short = revision.commit.short();
                let message = format!("could not read {} in commit {short}: {}", file.path, file.reason);
                return Err(Failure::usage(message)
                    .with_hint("run `sluicegate publish --dry-run` at that commit to see every problem"));
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

    /// Compares what two versions or revisions offer to consumers, and adds the changed files. If the clone lacks the
    /// commit of one of them, only the ids of the shared pipelines are compared.
    fn compare_offers(
        &self,
        old: &ComparedOffer,
        new: &ComparedOffer,
        selection: &PublishSelection,
    ) -> Result<Compatibility, GitError> {
        let (old_offer, new_offer) = match (&old.offer, &new.offer) {
            (Ok(old_offer), Ok(new_offer)) => (old_offer, new_offer),
            (Err(limit), _) | (_, Err(limit)) => return Ok(self.compare_ids(old, new, limit)),
        };
        let OfferChanges { mut changes, doubt } = interface_version::compare_interface_versions(
            &old_offer.read_interface_version(self.workspace)?,
            &new_offer.read_interface_version(self.workspace)?,
        )?;
        // A version that was published from a working tree may offer more ids than the file in its commit lists.
        changes.extend(interface::find_unlisted_removals(
            &old.ids,
            &old_offer.interface,
            &new_offer.interface,
        ));
        let old_selection = self.find_selection_or_warn(old_offer, selection)?;
        // A revision is published with the settings of this run.
        let new_selection = match new.version {
            Some(_) => self.find_selection_or_warn(new_offer, selection)?,
            None => selection.clone(),
        };
        let file_changes = self.list_changed_files(old_offer, new_offer, &old_selection, &new_selection);
        let lacks_files = file_changes.is_none();
        add_file_changes(
            &mut changes,
            file_changes.unwrap_or_default(),
            &old_offer.interface,
            &new_offer.interface,
        );
        let compat = Compatibility::new(old.to_compared_version(), changes).with_doubt(doubt.is_some());
        if let Some(doubt) = doubt {
            ComparisonLimit::from(doubt).warn(self.session, None);
        }
        Ok(if lacks_files {
            compat.without_files()
        } else {
            compat
        })
    }

    /// Compares only the ids of the shared pipelines, and warns with the reason: the clone lacks the commit of a
    /// version.
    fn compare_ids(
        &self,
        old: &ComparedOffer,
        new: &ComparedOffer,
        limit: &ComparisonLimit,
    ) -> Compatibility {
        let hint = limit.may_fetch.then(|| fetch_hint(&self.workspace.repo));
        limit.warn(self.session, hint);
        let offered_ids = new.ids.iter().map(String::as_str);
        Compatibility::from_ids(old.to_compared_version(), &old.ids, &offered_ids)
    }

    /// Returns the files that a publish of the new commit would add, modify or remove, compared with the files of the
    /// old commit. If the new commit could not be published, warns and returns `None`.
    fn list_changed_files(
        &self,
        old_offer: &CommitOffer,
        new_offer: &CommitOffer,
        old_selection: &PublishSelection,
        new_selection: &PublishSelection,
    ) -> Option<Vec<interface::InterfaceChange>> {
        let changes = self.build_plan_of(new_offer, new_selection).and_then(|plan| {
            let old_plan = match self.build_plan_of(old_offer, old_selection) {
                Ok(old_plan) => Some(old_plan),
                // An incomplete commit has no plan. Its selection is known nevertheless.
                Err(_) if old_selection.is_same(new_selection) => None,
                Err(error) => return Err(error),
            };
            let published_files = PublishedFiles {
                repository: old_offer.repository(self.workspace),
                commit: &old_offer.commit,
                selection: match &old_plan {
                    Some(old_plan) => PublishedSelection::Plan(old_plan),
                    None => PublishedSelection::Globs(&|path| new_selection.globs.selects(path)),
                },
            };
            compare_with_published_files(&plan, &published_files)
        });
        changes
            .map_err(|error| {
                let fact = "could not list the changed files: ";
                self.session.ui.warn_of_failure(fact, &Failure::from(error));
            })
            .ok()
    }

    /// Plans a publish of the files that are selected in a commit, to compare them with those of another commit.
    fn build_plan_of(&self, offer: &CommitOffer, selection: &PublishSelection) -> Result<Plan, PublishError> {
        let request = PublishRequest {
            prefix: self.prefix.to_owned(),
            // Only the files of the plan are compared, so any version name will do.
            version_template: "compared".to_owned(),
            globs: &selection.globs,
            selection: selection.select,
            config_dir: self.workspace.named_config_dir.clone(),
            source: FileSource::Commit,
            branch: None,
            tag: None,
            run_number: None,
            next_version: None,
        };
        build_plan(offer.repository(self.workspace), &offer.commit, &request)
    }

    /// Returns the selection by the configuration file of a commit. If that is unknown, warns and returns `selection`.
    fn find_selection_or_warn(
        &self,
        offer: &CommitOffer,
        selection: &PublishSelection,
    ) -> Result<PublishSelection, GitError> {
        Ok(selection
            .find_selection_at(self.workspace, offer)?
            .unwrap_or_else(|reason| {
                self.session.ui.warn(&format!(
                    "listing the changed files by the current publish settings: {reason}"
                ));
                selection.clone()
            }))
    }
}
