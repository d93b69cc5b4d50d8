//! Detects a commit that was published before. A repeated job must not publish it again under a name that nobody chose:
//! it would become the latest version, and a nightly run would undo a rollback.

use super::Publication;
use super::publish_decision::PublishDecision;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::IfExists;
use crate::publish::version_name::{NameOrigin, find_name_origin};
use crate::publish::{
    FileSource, Plan, UNKNOWN_OMISSIONS, VersionDifference, can_details_prove_completeness,
    compare_with_plan, is_same_commit,
};
use crate::session::artifact_versions::{disable_command, enable_command};
use sluicegate_base::text::List;
use sluicegate_platform::api::{Artifact, Platform};

/// Maximum number of differences in a message.
const MAX_DIFFERENCES: usize = 5;

/// Maximum number of versions of the commit that are compared with the plan.
const MAX_COMPARED_VERSIONS: usize = 10;

/// The hint if it is unknown whether the commit was published before.
pub(super) const REPUBLISH_HINT: &str =
    "pass a --version-name without placeholders to publish the commit on purpose";

impl Publication<'_> {
    /// Decides whether a commit that already has a version, enabled or not, is published again. Returns `None` if it
    /// may be published. Otherwise, the decision is to publish nothing or, if the existing version lacks shared
    /// pipelines of the plan, a refusal. Only a version name from a template leads to these decisions: a person chose
    /// any name of another origin, and may want to publish the commit again.
    pub(super) fn decide_on_republication(
        &self,
        platform: &Platform,
        plan: &Plan,
    ) -> Result<Option<PublishDecision>, Failure> {
        // A person may publish the working tree several times from one commit; a job repeats itself.
        if self.settings.from == FileSource::Worktree && self.workspace.ci.host.is_local() {
            return Ok(None);
        }
        let versions = self.list_versions_of_head(&plan.version_name);
        let has_template_name = find_name_origin(&self.settings.version_name) == NameOrigin::Template;
        // The planned version is first, then those with a name, enabled ones before disabled ones.
        let Some(&version) = versions.first() else {
            // A version whose commit the platform does not report may be of this commit.
            if has_template_name {
                self.history.require_known_commits(&plan.prefix)?;
            }
            return Ok(None);
        };
        let is_disabled = version.is_disabled();
        let is_planned = version.version_name.as_deref() == Some(plan.version_name.as_str());
        let prefix = &plan.prefix;
        if !has_template_name {
            if !is_planned {
                self.session.ui.say(&format!(
                    "this commit is already published as version {} of {prefix}{}",
                    version.display_name(),
                    describe_state(version)
                ));
            }
            return Ok(None);
        }
        // The lookup before the upload compares the planned version with the plan.
        if is_planned && !is_disabled {
            if self.settings.if_exists != IfExists::SameContent {
                self.warn_of_published_commit(version, &plan.version_name, plan)?;
            }
            return Ok(None);
        }
        // If the first version has no name, no version has one.
        let name = require_name(version, prefix)?;
        if is_disabled {
            return self.decide_to_publish_nothing(version, name, plan).map(Some);
        }
        // A repeated job must not report an incomplete version as published.
        let mut first_refusal = None;
        let enabled_versions = versions.iter().filter(|version| version.may_be_enabled());
        for version in enabled_versions.take(MAX_COMPARED_VERSIONS) {
            // A version without a name cannot be compared, and follows those with a name, which decide.
            let Some(name) = version.version_name.as_deref() else {
                break;
            };
            let differences = self.list_differences_of_version(platform, plan, name)?;
            if differences.is_empty() {
                self.report_unknown_omissions(plan, &plan.commit_hash);
                return self.decide_to_publish_nothing(version, name, plan).map(Some);
            }
            if first_refusal.is_none() {
                let fact = format!("version {name} of {prefix} was published from this commit");
                first_refusal = Some(incomplete_version_failure(plan, name, &fact, differences));
            }
        }
        Ok(first_refusal.map(PublishDecision::Refuse))
    }

    /// Returns how the planned version is treated if it exists. A version of the same commit under a name from a
    /// template is the result of an earlier run of the same job, so a rerun accepts it if its content is the same.
    pub(super) fn choose_if_exists(&self, plan: &Plan) -> IfExists {
        let versions = self.list_versions_of_head(&plan.version_name);
        let is_rerun = versions.first().is_some_and(|version| {
            version.version_name.as_deref() == Some(plan.version_name.as_str()) && version.may_be_enabled()
        });
        if is_rerun && find_name_origin(&self.settings.version_name) == NameOrigin::Template {
            return IfExists::SameContent;
        }
        self.settings.if_exists
    }

    /// Returns the decision to publish nothing because of this version of the commit, and warns of it.
    fn decide_to_publish_nothing(
        &self,
        version: &Artifact,
        name: &str,
        plan: &Plan,
    ) -> Result<PublishDecision, Failure> {
        self.warn_of_published_commit(version, name, plan)?;
        let is_disabled = version.is_disabled();
        let state = describe_state(version);
        let reason = format!(
            "this commit is already published as version {name} of {}{state}",
            plan.prefix
        );
        Ok(PublishDecision::already_published(
            reason,
            name,
            &plan.commit_hash,
            is_disabled,
        ))
    }

    /// Returns how a version with the content of the plan differs from it, according to its details: the platform
    /// ignored files, or the job selected other files then.
    pub(super) fn list_differences_of_version(
        &self,
        platform: &Platform,
        plan: &Plan,
        name: &str,
    ) -> Result<Vec<String>, Failure> {
        let request = platform.fetch_artifact_details(&plan.prefix, Some(name));
        let mut details = self.session.block_on(request)?.map_err(|error| {
            let fact = format!("could not compare version {name}, which has the content of this commit");
            Failure::from(error).context(fact)
        })?;
        // The details may omit the commit, and a version with the same content may be of another one.
        details.artifact.commit_hash = Some(plan.commit_hash.clone());
        let differences = compare_with_plan(&details, plan);
        Ok(differences.iter().map(VersionDifference::to_string).collect())
    }

    /// Prints the note of [`find_completeness_note`], if there is one: as a warning in a rerun. A push without changes
    /// prints a plain note, because each such push repeats it.
    pub(super) fn report_unknown_omissions(&self, plan: &Plan, version_commit: &str) {
        let Some(note) = find_completeness_note(plan) else {
            return;
        };
        if is_same_commit(Some(version_commit), &plan.commit_hash) {
            self.session.ui.warn(note);
        } else {
            self.session.ui.say(note);
        }
    }

    /// Warns that the commit is not published again. The hint is the next step.
    fn warn_of_published_commit(&self, version: &Artifact, name: &str, plan: &Plan) -> Result<(), Failure> {
        let message = format!(
            "not publishing commit {} again, because version {name} of {} was published from it",
            self.target.head.short(),
            plan.prefix
        );
        if version.is_disabled() {
            let hint = self.find_disabled_version_hint(plan, name)?;
            self.add_note(&format!("{message} and is disabled"), hint.as_deref());
        } else {
            // Each rerun of a job finds the enabled version, so only the log has this warning.
            self.session.ui.warn_with_hint(&message, REPUBLISH_HINT);
        }
        Ok(())
    }

    /// Returns the hint about the disabled version of the commit. Smoke runs may have disabled the version, and their
    /// failure has its own hint, so there is none then. An enabled version would replace that of a newer commit, so
    /// enabling it is offered only if there is no such version.
    fn find_disabled_version_hint(&self, plan: &Plan, name: &str) -> Result<Option<String>, Failure> {
        let (newer_versions, has_unknown_order) = self.list_newer_versions()?;
        if let Some(newer_version) = newer_versions.first() {
            return Ok(Some(format!("{newer_version}, so do not change anything")));
        }
        if self.has_smoke_runs() {
            return Ok(None);
        }
        let condition = if has_unknown_order {
            "if it is complete and no version of a newer commit is enabled"
        } else {
            "if it is complete"
        };
        Ok(Some(format!(
            "version {name} may have been disabled because it was incomplete; {condition}, run `{}` to offer it again, \
             or {REPUBLISH_HINT}",
            enable_command(&plan.prefix, name)
        )))
    }
}

/// Returns the name of a version of this commit. Without a name, the version can neither be compared with the plan nor
/// be named in the receipt, so whether the commit is published stays unknown.
fn require_name<'v>(version: &'v Artifact, prefix: &str) -> Result<&'v str, Failure> {
    version.version_name.as_deref().ok_or_else(|| {
        let message = format!(
            "could not determine whether this commit was published before: the platform lists a version of {prefix} \
             from this commit without its name"
        );
        Failure::from_message(ExitStatus::Undecided, message).with_hint(REPUBLISH_HINT)
    })
}

/// Creates the failure of a publish whose content has this version, which differs from the plan. `fact` says why that
/// version should have the content.
pub(super) fn incomplete_version_failure(
    plan: &Plan,
    version_name: &str,
    fact: &str,
    differences: Vec<String>,
) -> Failure {
    let list: Vec<String> = List::with_limit(differences, MAX_DIFFERENCES).entries().collect();
    let message = format!("{fact}, but is not complete: {}", list.join("; "));
    let hint = format!(
        "disable that version with `{}`, then pass a --version-name without placeholders to publish the commit again",
        disable_command(&plan.prefix, version_name)
    );
    Failure::from_message(ExitStatus::Incomplete, message).with_hint(hint)
}

/// Returns the note that the platform may have ignored files of an existing version with the content of the plan.
/// Returns `None` if the details of the version prove that it is complete.
pub(super) fn find_completeness_note(plan: &Plan) -> Option<&'static str> {
    (!can_details_prove_completeness(plan)).then_some(UNKNOWN_OMISSIONS)
}

/// Returns the end of a message about a version that is disabled; empty for an enabled one.
fn describe_state(version: &Artifact) -> &'static str {
    if version.is_disabled() {
        ", which is disabled"
    } else {
        ""
    }
}
