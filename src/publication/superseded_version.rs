//! Checks after an upload whether a newer version appeared since the check before it. The upload would then have made
//! an older commit the latest version.

use super::Publication;
use super::version_history::{CommitOrder, VersionHistory, request_commit};
use crate::error::Failure;
use crate::publish::version_name::{NameOrigin, find_name_origin};
use crate::publish::{Outcome, OutcomeKind, Plan, PublishProblem, disable_version, is_same_commit};
use crate::session::artifact_versions::disable_command;
use sluicegate_git::short_id;
use sluicegate_platform::api::{Artifact, Platform};
use sluicegate_platform::http::HttpError;
use std::collections::BTreeSet;

impl Publication<'_> {
    /// Disables the uploaded version if a version of a newer commit was published meanwhile, because consumers of
    /// \[Latest\] would get the older commit. If the platform does not show whether such a version exists, the outcome
    /// is unconfirmed, never a success.
    pub(super) fn disable_superseded_version(
        &self,
        platform: &Platform,
        plan: &Plan,
        outcome: Outcome,
    ) -> Result<Outcome, Failure> {
        let is_uploaded = matches!(
            outcome.kind,
            OutcomeKind::Published | OutcomeKind::Incomplete | OutcomeKind::Unverified
        );
        if !is_uploaded || outcome.has_unknown_version() || outcome.is_disabled() {
            return Ok(outcome);
        }
        let new_versions = match self.session.block_on(self.request_new_versions(platform, plan))? {
            Ok(new_versions) => new_versions,
            Err(error) => return Ok(add_unconfirmed_problem(outcome, Some(error))),
        };
        // One sentence for each newer version.
        let newer_versions = match self.describe_newer_versions(&new_versions) {
            Ok(newer_versions) => newer_versions,
            Err(failure) => {
                let request_error = None;
                let mut unconfirmed_outcome = add_unconfirmed_problem(outcome, request_error);
                unconfirmed_outcome
                    .problems
                    .push(failure.describe_on_one_line().into());
                return Ok(unconfirmed_outcome);
            }
        };
        if newer_versions.is_empty() {
            self.warn_of_second_version(plan, &new_versions);
            return Ok(outcome);
        }
        let superseded_outcome = Outcome {
            kind: OutcomeKind::Superseded,
            verified: false,
            // The problem that decides the outcome is first.
            problems: newer_versions
                .into_iter()
                .map(PublishProblem::Other)
                .chain(outcome.problems)
                .collect(),
            ..outcome
        };
        let timeout = self.settings.lookup_timeout;
        self.session
            .block_on(disable_version(platform, plan, timeout, superseded_outcome))
    }

    /// Warns if one of these versions is of the uploaded commit, too, and the version name comes from a template: the
    /// other version was published at the same time, because a template name never publishes a commit again.
    fn warn_of_second_version(&self, plan: &Plan, versions: &[Artifact]) {
        if find_name_origin(&self.settings.version_name) != NameOrigin::Template {
            return;
        }
        for version in versions {
            if is_same_commit(version.commit_hash.as_deref(), &plan.commit_hash) {
                let message = format!(
                    "version {} of this commit was published or enabled while this publish was running: the commit now \
                     has two enabled versions; run `{}` to undo this publish",
                    version.display_name(),
                    disable_command(&plan.prefix, &plan.version_name)
                );
                self.add_note(&message, None);
            }
        }
    }

    /// Returns a sentence about each of these versions whose commit is, or may be, newer than the uploaded commit. A
    /// version that was listed before the upload was disabled then, and has only been enabled since.
    fn describe_newer_versions(&self, versions: &[Artifact]) -> Result<Vec<String>, Failure> {
        let earlier_names = self.history.version_names();
        let mut newer_versions = Vec::new();
        for version in versions {
            let commit = version.commit_hash.as_deref().unwrap_or_default();
            let name = version.display_name();
            let is_listed_before = version
                .version_name
                .as_deref()
                .is_some_and(|version_name| earlier_names.contains(version_name));
            let verb = if is_listed_before { "enabled" } else { "published" };
            // The order is that of the uploaded commit.
            match self.compare_with_version_commit(commit)? {
                CommitOrder::SameOrNewer | CommitOrder::Diverged => {}
                CommitOrder::Older => newer_versions.push(format!(
                    "version {name}, built from the newer commit {}, was {verb} while this publish was running",
                    short_id(commit)
                )),
                CommitOrder::Unknown if commit.is_empty() => newer_versions.push(format!(
                    "version {name} was {verb} while this publish was running; the platform reports no commit for \
                     it, so it may be newer"
                )),
                // Usually, the clone lacks a commit because the commit is newer than the checkout.
                CommitOrder::Unknown => newer_versions.push(format!(
                    "version {name} was {verb} while this publish was running; this clone does not have its commit \
                     {}, which may be newer",
                    short_id(commit)
                )),
            }
        }
        Ok(newer_versions)
    }

    /// Requests the versions again, and returns the enabled ones that did not exist or were disabled before the upload,
    /// without the uploaded one. The latest version is requested separately, because the list may not contain it yet.
    async fn request_new_versions(
        &self,
        platform: &Platform,
        plan: &Plan,
    ) -> Result<Vec<Artifact>, HttpError> {
        let known_names: BTreeSet<&str> = self
            .history
            .enabled_versions()
            .filter_map(|version| version.version_name.as_deref())
            .chain([plan.version_name.as_str()])
            .collect();
        let history = VersionHistory::request(platform, &plan.prefix).await?;
        let mut new_versions: Vec<Artifact> = history
            .enabled_versions()
            .filter(|version| is_new_version(version, &known_names))
            .cloned()
            .collect();
        // Without a name, the platform returns the latest enabled version.
        let latest = platform
            .fetch_artifact_details(&plan.prefix, None)
            .await?
            .artifact;
        if is_new_version(&latest, &known_names)
            && new_versions
                .iter()
                .all(|version| version.version_name != latest.version_name)
        {
            new_versions.push(latest);
        }
        // The list need not show the commit of each version.
        for version in &mut new_versions {
            if version.commit_hash.is_none()
                && let Some(name) = &version.version_name
            {
                version.commit_hash = request_commit(platform, &plan.prefix, name).await?;
            }
        }
        Ok(new_versions)
    }
}

/// Returns whether the version is not among the known ones. A version without a name is treated as new, because it
/// cannot be recognized.
fn is_new_version(version: &Artifact, known_names: &BTreeSet<&str>) -> bool {
    version
        .version_name
        .as_deref()
        .is_none_or(|name| !known_names.contains(name))
}

/// Adds the problem that the platform did not show which versions appeared meanwhile. A published version becomes
/// unconfirmed; an outcome that is already a failure keeps its kind and its error, if it has one.
fn add_unconfirmed_problem(outcome: Outcome, error: Option<HttpError>) -> Outcome {
    let problem = "could not check whether a newer version was published while this publish was running; if so, \
         this version has replaced the newer one";
    let kind = match outcome.kind {
        OutcomeKind::Published => OutcomeKind::Unconfirmed,
        kind => kind,
    };
    let problems = outcome.problems.into_iter().chain([problem.into()]).collect();
    Outcome {
        kind,
        problems,
        error: outcome.error.or(error),
        ..outcome
    }
}
