//! Detects a commit that was published before. A repeated job must not publish it again under a name that nobody chose:
//! it would become the latest version, and a nightly run would undo a rollback.

use super::Publication;
use super::publish_decision::PublishDecision;
use crate::error::Failure;
use crate::publish::version_name::{NameOrigin, find_name_origin};
use crate::publish::{FileSource, Plan};
use sluicegate_platform::api::Artifact;

impl Publication<'_> {
    /// Returns the decision to publish nothing if a version of this commit exists, enabled or not, and the version name
    /// comes from a template; otherwise `None`. If a person chose the name, the commit is published again. If exactly
    /// the planned version exists and is enabled, `--if-exists` decides later. With a template, fails if no version of
    /// this commit is found but the commits of some versions are unknown.
    pub(super) fn decide_on_published_commit(&self, plan: &Plan) -> Result<Option<PublishDecision>, Failure> {
        // A person may publish the working tree several times from one commit; a job repeats itself.
        if self.settings.from == FileSource::Worktree && self.workspace.ci.host.is_local() {
            return Ok(None);
        }
        let versions = self.list_versions_of_head(&plan.version_name);
        let is_template = find_name_origin(&self.settings.version_name) == NameOrigin::Template;
        // The planned version is first, then enabled ones.
        let Some(version) = versions.first() else {
            if is_template {
                self.history.require_known_commits(&plan.prefix)?;
            }
            return Ok(None);
        };
        let name = version.display_name();
        let is_disabled = version.enabled == Some(false);
        let is_planned = name == plan.version_name;
        let state = if is_disabled { ", which is disabled" } else { "" };
        let prefix = &plan.prefix;
        if !is_template {
            if !is_planned {
                self.run.ui.say(&format!(
                    "this commit is already published as version {name} of {prefix}{state}; publishing it again as {}",
                    plan.version_name
                ));
            }
            return Ok(None);
        }
        if is_planned && !is_disabled {
            return Ok(None);
        }
        self.warn_of_published_commit(version, plan);
        let reason = format!("this commit is already published as version {name} of {prefix}{state}");
        Ok(Some(PublishDecision::already_published(
            reason,
            name,
            &plan.commit_hash,
            is_disabled,
        )))
    }

    /// Warns that the commit is not published again. The hint says how to publish it again on purpose.
    fn warn_of_published_commit(&self, version: &Artifact, plan: &Plan) {
        let name = version.display_name();
        let enable_hint = if version.enabled == Some(false) {
            "run `sluicegate artifacts enable` to offer that version again, or "
        } else {
            ""
        };
        self.run.ui.warn(&format!(
            "not publishing commit {} again, because version {name} of {} was published from it\n\
             hint: {enable_hint}pass a --version-name without placeholders to publish the commit again on purpose",
            self.target.head.short(),
            plan.prefix
        ));
    }
}
