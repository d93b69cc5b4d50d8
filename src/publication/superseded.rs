//! Checks after an upload whether a newer version appeared since the check before it. The upload would then have made an
//! older commit the latest version.

use super::Publishing;
use super::history::{CommitOrder, VersionHistory};
use crate::error::Failure;
use crate::publish::{Outcome, OutcomeKind, Plan, withdraw};
use sluicegate_git::short_id;
use sluicegate_platform::api::{Artifact, Platform};
use sluicegate_platform::http::HttpError;
use std::collections::BTreeSet;

impl Publishing<'_> {
    /// Disables the uploaded version if an enabled version of a descendant commit appeared meanwhile. If that cannot be
    /// determined, the outcome is uncertain and never a success.
    pub(super) fn check_superseded(
        &self,
        platform: &Platform,
        plan: &Plan,
        outcome: Outcome,
    ) -> Result<Outcome, Failure> {
        let is_uploaded = matches!(outcome.kind, OutcomeKind::Published | OutcomeKind::Incomplete);
        if !is_uploaded || outcome.disabled {
            return Ok(outcome);
        }
        let appeared = match self.run.block_on(self.appeared_versions(platform, plan))? {
            Ok(appeared) => appeared,
            Err(error) => return Ok(unconfirmed(outcome, error)),
        };
        let mut newer = Vec::new();
        for version in appeared {
            let commit = version.commit_hash.as_deref().unwrap_or_default();
            let name = version.display_name();
            match self.order_before(commit)? {
                CommitOrder::NotOlder => {}
                CommitOrder::Older => newer.push(format!(
                    "version {name} of the newer commit {} appeared during this publish",
                    short_id(commit)
                )),
                // The clone has all that existed at the checkout, so the other commit is probably newer.
                CommitOrder::Unknown => newer.push(format!(
                    "version {name} appeared during this publish; this clone does not have its commit {}, which may be \
                     newer",
                    short_id(commit)
                )),
            }
        }
        if newer.is_empty() {
            return Ok(outcome);
        }
        let superseded = Outcome {
            kind: OutcomeKind::Superseded,
            verified: false,
            problems: newer.into_iter().chain(outcome.problems).collect(),
            ..outcome
        };
        let patience = self.settings.lookup_timeout;
        self.run.block_on(withdraw(platform, plan, patience, superseded))
    }

    /// Returns the enabled versions that the check before the upload did not show.
    async fn appeared_versions(&self, platform: &Platform, plan: &Plan) -> Result<Vec<Artifact>, HttpError> {
        let known: BTreeSet<&str> = self
            .history
            .enabled()
            .filter_map(|version| version.version_name.as_deref())
            .chain([plan.version_name.as_str()])
            .collect();
        let is_new = |version: &Artifact| {
            let name = version.version_name.as_deref();
            name.is_none_or(|name| !known.contains(name))
        };
        let listed = VersionHistory::request(platform, &plan.prefix).await?;
        let mut appeared: Vec<Artifact> = listed
            .enabled()
            .filter(|version| is_new(version))
            .cloned()
            .collect();
        let latest = platform.artifact_details(&plan.prefix, None).await?.artifact;
        if is_new(&latest)
            && appeared
                .iter()
                .all(|version| version.version_name != latest.version_name)
        {
            appeared.push(latest);
        }
        Ok(appeared)
    }
}

/// Returns the outcome if the platform did not show which versions exist after the upload.
fn unconfirmed(outcome: Outcome, error: HttpError) -> Outcome {
    let problem = "could not check whether a newer version appeared during this publish, which this version would replace";
    let kind = match outcome.kind {
        OutcomeKind::Published => OutcomeKind::Unconfirmed,
        kind => kind,
    };
    let problems = outcome.problems.into_iter().chain([problem.to_owned()]).collect();
    Outcome {
        kind,
        problems,
        error: outcome.error.or(Some(error)),
        ..outcome
    }
}
