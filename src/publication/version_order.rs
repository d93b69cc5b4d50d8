//! Keeps the order of versions: if a commit older than that of the latest version were published, it would become the
//! newest version, and consumers of `[Latest]` would go back. A rerun of an old job does that unintentionally.

use super::Publication;
use super::compared_offer::fetch_hint;
use super::publish_decision::PublishDecision;
use super::version_history::CommitOrder;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::settings::SettingSource;
use crate::publish::Plan;
use crate::publish::version_name::{NameOrigin, find_name_origin};
use crate::session::artifact_versions::disable_command;
use sluicegate_git::short_id;
use sluicegate_pipelines::interface::compare_version_names;
use sluicegate_platform::api::Platform;
use std::cmp::Ordering;

pub(super) struct LatestCommit {
    pub(super) name: String,
    /// The id of the commit; empty if the platform reports no commit.
    pub(super) commit: String,
}

impl Publication<'_> {
    /// Decides whether to refuse the commit to publish because it is, or may be, older than the commit of the latest
    /// version. Returns `None` if it is not refused. If a person chose the version name, or if the platform reports no
    /// commit for the latest version, there is only a warning. A planned version that already exists is never refused.
    pub(super) fn find_older_commit_refusal(
        &self,
        platform: &Platform,
        plan: &Plan,
    ) -> Result<Option<PublishDecision>, Failure> {
        let Some(latest) = self.find_latest_commit(platform)? else {
            // If no version is enabled, no consumer can go back to an older commit. In a dry run, the platform may be
            // unavailable, too.
            return Ok(None);
        };
        let order = self.compare_with_version_commit(&latest.commit)?;
        let message = match order {
            CommitOrder::SameOrNewer | CommitOrder::Diverged => {
                self.warn_of_replaced_version(platform, plan, &latest, order)?;
                return Ok(None);
            }
            CommitOrder::Unknown if latest.commit.is_empty() => {
                let message = format!(
                    "the platform reports no commit for version {} of {}, so it may be newer than commit {}",
                    latest.name,
                    plan.prefix,
                    self.target.head.short()
                );
                self.add_note(&message, None);
                return Ok(None);
            }
            CommitOrder::Older => self.describe_older_commit(plan, &latest),
            CommitOrder::Unknown => self.describe_unknown_order(plan, &latest),
        };
        // An existing version is not published again, so it never becomes the newest.
        if self.is_version_published(platform, plan)? {
            return Ok(None);
        }
        // A person who chose the name may go back to an older commit on purpose.
        if self.is_name_chosen() {
            let verb = match (order, self.settings.dry_run) {
                (CommitOrder::Older, true) => "would go",
                (CommitOrder::Older, false) => "will go",
                (_, true) => "might go",
                (_, false) => "may go",
            };
            let warning = format!(
                "{message}: consumers of [Latest] {verb} back to an older commit{}",
                self.describe_undo(plan)
            );
            self.add_note(&warning, None);
            return Ok(None);
        }
        Ok(Some(PublishDecision::Refuse(
            self.older_commit_failure(&message, order, plan, &latest),
        )))
    }

    /// Warns if the version to publish becomes the latest although its commit does not contain the commit of the latest
    /// version, or although its number is lower. Both are usual for a hotfix of an older version, so it is no failure.
    fn warn_of_replaced_version(
        &self,
        platform: &Platform,
        plan: &Plan,
        latest: &LatestCommit,
        order: CommitOrder,
    ) -> Result<(), Failure> {
        let mut facts = Vec::new();
        if order == CommitOrder::Diverged {
            facts.push(format!(
                "commit {} does not contain the commit of version {} of {} ({})",
                self.target.head.short(),
                latest.name,
                plan.prefix,
                short_id(&latest.commit)
            ));
        }
        if compare_version_names(&plan.version_name, &latest.name) == Some(Ordering::Less) {
            facts.push(format!(
                "version {} is lower than version {}",
                plan.version_name, latest.name
            ));
        }
        // An existing version is not published again, so it never becomes the newest.
        if facts.is_empty() || self.is_version_published(platform, plan)? {
            return Ok(());
        }
        let verb = if self.settings.dry_run { "would" } else { "will" };
        let warning = format!(
            "{}: consumers of [Latest] {verb} get version {} instead of version {}{}",
            facts.join(", and "),
            plan.version_name,
            latest.name,
            self.describe_undo(plan)
        );
        self.add_note(&warning, None);
        Ok(())
    }

    /// Returns the sentence how to undo the publish, to append to a warning; empty in a dry run or a preview, which
    /// publish nothing.
    pub(super) fn describe_undo(&self, plan: &Plan) -> String {
        if self.settings.dry_run {
            return String::new();
        }
        let command = disable_command(&plan.prefix, &plan.version_name);
        format!(". To undo the publish afterwards, run `{command}`")
    }

    /// Returns whether the planned version exists and the latest version has a newer commit, as in a rerun of an old
    /// job. False if `--against` selects the version to compare with.
    pub(super) fn is_rerun_of_older_version(
        &self,
        platform: &Platform,
        plan: &Plan,
    ) -> Result<bool, Failure> {
        let Some(comparison) = self
            .comparison
            .as_ref()
            .filter(|_| self.settings.against.is_none())
        else {
            return Ok(false);
        };
        let (_, commit) = comparison.compared_version();
        Ok(!commit.is_empty()
            && self.compare_with_version_commit(commit)? == CommitOrder::Older
            && self.is_version_published(platform, plan)?)
    }

    /// Describes that the commit to publish is older than the commit of the latest version.
    fn describe_older_commit(&self, plan: &Plan, latest: &LatestCommit) -> String {
        format!(
            "commit {} is older than the commit of version {} of {} ({})",
            self.target.head.short(),
            latest.name,
            plan.prefix,
            short_id(&latest.commit)
        )
    }

    /// Describes that the clone does not show whether the latest version is newer than the commit to publish.
    fn describe_unknown_order(&self, plan: &Plan, latest: &LatestCommit) -> String {
        let clone = if self.workspace.repo.is_shallow() {
            "this shallow clone"
        } else {
            "this clone"
        };
        format!(
            "{clone} does not show whether version {} of {} ({}) is newer than commit {}",
            latest.name,
            plan.prefix,
            short_id(&latest.commit),
            self.target.head.short()
        )
    }

    /// Returns the error that an older commit must not become the latest version. The hint says how to determine the
    /// order of the commits, if it is unknown, and how to publish the commit on purpose.
    fn older_commit_failure(
        &self,
        message: &str,
        order: CommitOrder,
        plan: &Plan,
        latest: &LatestCommit,
    ) -> Failure {
        let message = format!("{message}: a rerun for an older commit must not replace the latest version");
        let history_hint = match order {
            CommitOrder::Unknown if self.settings.revisions.deepen => format!(
                "if the remote does not have commit {} anymore, for example after a force push, run `{}`; ",
                short_id(&latest.commit),
                disable_command(&plan.prefix, &latest.name)
            ),
            CommitOrder::Unknown => format!("{}; ", fetch_hint(&self.workspace.repo)),
            _ => String::new(),
        };
        Failure::from_message(ExitStatus::Context, message).with_hint(format!(
            "nothing was sent; {history_hint}to publish the commit on purpose, run `sluicegate publish --version-name NAME` \
             with a name without placeholders"
        ))
    }

    /// Returns whether a person chose the version name for this publish, so that going back to an older commit is
    /// intended. A name from a template is never chosen, and no name is chosen in `sluicegate ci`, which publishes
    /// without a person's attention. In a job, the tag of the run and the name in the configuration file are not chosen
    /// either, because a rerun of the job repeats them.
    pub(super) fn is_name_chosen(&self) -> bool {
        let is_job = !self.workspace.ci.host.is_local();
        let template = &self.settings.version_name;
        match find_name_origin(template) {
            _ if self.is_ci_command => false,
            NameOrigin::Template => false,
            NameOrigin::Tag => !is_job,
            NameOrigin::Literal if self.target.tag.as_ref() == Some(template) => !is_job,
            NameOrigin::Literal => !is_job || self.settings.version_name_source != SettingSource::File,
        }
    }

    /// Fails if the platform lists an enabled version. This is called after the platform returned no latest version, so
    /// it is unknown whether the commit to publish is older than that of the enabled version.
    fn reject_missing_latest(&self) -> Result<(), Failure> {
        let Some(version) = self.history.enabled_versions().next() else {
            return Ok(());
        };
        let message = format!(
            "could not determine the latest version of {}: the platform lists the enabled version {}, but returned no \
             latest version",
            self.settings.prefix,
            version.display_name()
        );
        Err(Failure::from_message(ExitStatus::Undecided, message).with_hint(
            "nothing was sent; run the command again when the platform lists the version as the latest",
        ))
    }

    /// Returns the latest version and its commit; `None` if no version is enabled, or in a dry run if the platform is
    /// unavailable. Uses the version of the comparison, or requests the latest if nothing was compared or `--against`
    /// selects another version. Fails if the platform has enabled versions, but no latest one.
    pub(super) fn find_latest_commit(&self, platform: &Platform) -> Result<Option<LatestCommit>, Failure> {
        if self.settings.against.is_none()
            && let Some(comparison) = &self.comparison
        {
            let (name, commit) = comparison.compared_version();
            if name.is_empty() {
                self.reject_missing_latest()?;
                return Ok(None);
            }
            return Ok(Some(LatestCommit {
                name: name.to_owned(),
                commit: commit.to_owned(),
            }));
        }
        let details = platform.find_latest_artifact(&self.settings.prefix);
        let latest = match self.session.block_on(details)? {
            Ok(Some(details)) => Ok(Some(LatestCommit {
                name: details.artifact.version_name.unwrap_or_default(),
                commit: details.artifact.commit_hash.unwrap_or_default(),
            })),
            Ok(None) => {
                self.reject_missing_latest()?;
                Ok(None)
            }
            Err(error) => Err(error),
        };
        self.tolerate_outage_in_dry_run(latest, "could not determine the latest version")
    }
}
