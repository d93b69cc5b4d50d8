//! Keeps the order of versions: if a commit older than that of the latest version were published, it would become the
//! newest version, and consumers of `[Latest]` would go back. A rerun of an old job does that unintentionally.

use super::Publishing;
use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::platform::api::Platform;
use crate::platform::http::{ErrorKind, HttpError};
use crate::publish::Plan;

/// A version whose commit is newer than the one to publish.
pub(super) struct Newer {
    version: String,
    commit: String,
}

impl Publishing<'_> {
    /// Returns the latest enabled version if its commit is a descendant of the head, and the plan would create a new
    /// version of the head. If the clone lacks that commit, the order is unknown, which is reported for a shallow
    /// clone.
    pub(super) fn newer_version(&self, platform: &Platform, plan: &Plan) -> Result<Option<Newer>, Failure> {
        let Some(latest) = self.latest(platform)? else {
            return Ok(None);
        };
        let (repo, head) = (&self.workspace.repo, &self.target.head);
        let Some(commit) = repo.commit_with_id(&latest.commit) else {
            return self.untold_order(platform, &latest, plan);
        };
        if commit == *head || !repo.contains(&commit, head)? {
            return Ok(None);
        }
        // An existing version is not published again, so it never becomes the newest.
        Ok((!self.is_there(platform, plan)?).then_some(latest))
    }

    fn is_there(&self, platform: &Platform, plan: &Plan) -> Result<bool, Failure> {
        let there = platform.artifact_details(&plan.prefix, Some(&plan.version_name));
        Ok(self.run.requests(there)?.is_ok())
    }

    /// Handles a clone without the commit of the latest version: in a shallow clone, that commit may be newer.
    fn untold_order(
        &self,
        platform: &Platform,
        latest: &Newer,
        plan: &Plan,
    ) -> Result<Option<Newer>, Failure> {
        if latest.commit.is_empty() || !self.workspace.repo.is_shallow() {
            return Ok(None);
        }
        let there = self.is_there(platform, plan)?;
        let message = format!(
            "this shallow clone does not show whether version {} of {} is newer than {}",
            latest.version,
            plan.prefix,
            self.target.head.short()
        );
        if self.is_ci && !there {
            let failure = Failure::new(ExitStatus::Context, anyhow::Error::msg(message));
            return Err(failure.hint(
                "nothing was sent; fetch the full history (`fetch-depth: 0`, `GIT_DEPTH: 0`), so that a rerun does \
                 not make an old state the latest version",
            ));
        }
        if !there {
            self.run.ui.warn(&message);
        }
        Ok(None)
    }

    /// Returns an error for an older commit, unless the user set the version name of this publish.
    pub(super) fn refuse_way_back(&self, plan: &Plan, newer: &Newer) -> Result<(), Failure> {
        let what = format!(
            "{} is older than the commit of version {} of {} ({})",
            self.target.head.short(),
            newer.version,
            plan.prefix,
            crate::base::git::short_id(&newer.commit)
        );
        if self.is_ci || self.asks_for_next() {
            let message = format!("{what}: a rerun of an older run must not become the latest version");
            return Err(
                Failure::new(ExitStatus::Context, anyhow::Error::msg(message)).hint(
                    "nothing was sent; to go back on purpose, run `sluicegate publish --version-name NAME` or \
                     `sluicegate artifacts rollback`",
                ),
            );
        }
        self.run.ui.warn(&format!(
            "{what}: consumers of [Latest] go back to it; run `sluicegate artifacts disable` to undo this"
        ));
        Ok(())
    }

    /// Returns the latest enabled version. Unless versions are compared, an unavailable platform stops only `ci`.
    fn latest(&self, platform: &Platform) -> Result<Option<Newer>, Failure> {
        if let Some(compared) = self.compared.as_ref().filter(|_| self.settings.against.is_none()) {
            let (version, commit) = compared.published();
            return Ok((!version.is_empty()).then(|| newer(version, commit)));
        }
        match self
            .run
            .requests(platform.artifact_details(&self.settings.prefix, None))?
        {
            Ok(details) => Ok(Some(newer(
                details.artifact.version_name.as_deref().unwrap_or_default(),
                details.artifact.commit_hash.as_deref().unwrap_or_default(),
            ))),
            Err(error) if error.kind() == ErrorKind::NotFound || !self.is_ci => Ok(None),
            Err(error) => Err(untold(error)),
        }
    }
}

fn newer(version: &str, commit: &str) -> Newer {
    Newer {
        version: version.to_owned(),
        commit: commit.to_owned(),
    }
}

fn untold(error: HttpError) -> Failure {
    Failure::from(error).context("nothing was sent: could not determine the latest version")
}
