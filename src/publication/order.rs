//! Keeps the order of versions: if a commit older than that of the latest version were published, it would become the
//! newest version, and consumers of `[Latest]` would go back. A rerun of an old job does that unintentionally.

use super::Publishing;
use super::history::CommitOrder;
use super::intent::Intent;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::settings::SettingSource;
use crate::publish::Plan;
use crate::publish::version::{NameOrigin, name_origin};
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::ErrorKind;

struct LatestVersion {
    name: String,
    /// Empty if the platform reports no commit.
    commit: String,
}

impl Publishing<'_> {
    /// Refuses a commit that is older than the latest version's commit, or that may be older, unless a person chose the
    /// version name of this publish.
    pub(super) fn refuse_older_commit(
        &self,
        platform: &Platform,
        plan: &Plan,
    ) -> Result<Option<Intent>, Failure> {
        let Some(latest) = self.latest(platform)? else {
            self.refuse_contradiction()?;
            return Ok(None);
        };
        let order = self.order_before(&latest.commit)?;
        let message = match order {
            CommitOrder::NotOlder => return Ok(None),
            CommitOrder::Unknown if latest.commit.is_empty() => {
                self.run.ui.warn(&format!(
                    "the platform reports no commit for version {} of {}, so it may be newer than {}",
                    latest.name,
                    plan.prefix,
                    self.target.head.short()
                ));
                return Ok(None);
            }
            CommitOrder::Older => self.older_message(plan, &latest),
            CommitOrder::Unknown => self.unknown_order_message(plan, &latest),
        };
        // An existing version is not published again, so it never becomes the newest.
        let existing = platform.artifact_details(&plan.prefix, Some(&plan.version_name));
        if self.run.block_on(existing)?.is_ok() {
            return Ok(None);
        }
        if self.is_name_chosen() {
            let go = if order == CommitOrder::Older {
                "go"
            } else {
                "may go"
            };
            self.run.ui.warn(&format!(
                "{message}: consumers of [Latest] {go} back to it; run `sluicegate artifacts disable` to undo this"
            ));
            return Ok(None);
        }
        Ok(Some(Intent::Refuse(self.order_failure(&message))))
    }

    fn older_message(&self, plan: &Plan, latest: &LatestVersion) -> String {
        format!(
            "{} is older than the commit of version {} of {} ({})",
            self.target.head.short(),
            latest.name,
            plan.prefix,
            sluicegate_git::short_id(&latest.commit)
        )
    }

    fn unknown_order_message(&self, plan: &Plan, latest: &LatestVersion) -> String {
        let clone = if self.workspace.repo.is_shallow() {
            "this shallow clone"
        } else {
            "this clone"
        };
        format!(
            "{clone} does not show whether version {} of {} ({}) is newer than {}",
            latest.name,
            plan.prefix,
            sluicegate_git::short_id(&latest.commit),
            self.target.head.short()
        )
    }

    fn order_failure(&self, message: &str) -> Failure {
        let message = format!("{message}: a rerun of an older run must not become the latest version");
        let history = if self.workspace.repo.is_shallow() {
            "fetch the full history (`fetch-depth: 0`, `GIT_DEPTH: 0`); "
        } else {
            ""
        };
        Failure::new(ExitStatus::Context, anyhow::Error::msg(message)).hint(format!(
            "nothing was sent; {history}to go back on purpose, run `sluicegate publish --version-name NAME` or \
             `sluicegate artifacts rollback`"
        ))
    }

    /// Returns whether a person chose the version name of this publish, so that they may go back to an older commit. A
    /// job chooses with each run only a name that its definition passes; a rerun repeats a template, the run's tag and
    /// the name in the configuration file.
    fn is_name_chosen(&self) -> bool {
        let is_job = !self.workspace.ci.host.is_local();
        let template = &self.settings.version_name;
        match name_origin(template) {
            _ if self.is_ci => false,
            NameOrigin::Template => false,
            NameOrigin::Tag => !is_job,
            NameOrigin::Literal if self.target.tag.as_ref() == Some(template) => !is_job,
            NameOrigin::Literal => !is_job || self.settings.version_name_source != SettingSource::File,
        }
    }

    /// Returns an error if the platform has no latest version, but lists an enabled one.
    fn refuse_contradiction(&self) -> Result<(), Failure> {
        let Some(version) = self.history.enabled().next() else {
            return Ok(());
        };
        let message = format!(
            "could not determine the latest version of {}: the platform lists the enabled version {}, but returned no \
             latest version",
            self.settings.prefix,
            version.display_name()
        );
        Err(Failure::new(ExitStatus::Undecided, anyhow::Error::msg(message))
            .hint("nothing was sent; run the command again when the platform shows the version"))
    }

    fn latest(&self, platform: &Platform) -> Result<Option<LatestVersion>, Failure> {
        if let Some(compared) = self.compared.as_ref().filter(|_| self.settings.against.is_none()) {
            let (name, commit) = compared.published();
            return Ok((!name.is_empty()).then(|| LatestVersion {
                name: name.to_owned(),
                commit: commit.to_owned(),
            }));
        }
        let details = platform.artifact_details(&self.settings.prefix, None);
        let latest = match self.run.block_on(details)? {
            Ok(details) => Ok(Some(LatestVersion {
                name: details.artifact.version_name.unwrap_or_default(),
                commit: details.artifact.commit_hash.unwrap_or_default(),
            })),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        };
        self.tolerate_in_dry_run(latest, "could not determine the latest version")
    }
}
