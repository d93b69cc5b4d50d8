//! Determines the changes of a publish for consumers before any request is sent, compared with the version that they
//! use.

use super::intent::Intent;
use super::{Publishing, with_wish};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::interface_version::{self, InterfaceVersion};
use crate::job::cli::{CompatMode, IfExists};
use crate::publication::offered_side::{FETCH, IdsOnly, OfferedSide};
use crate::publish::{self, OldFiles, Plan, since, version::asks_for_next};
use crate::session::published::not_published;
use sluicegate_git::{CommitId, Repository};
use sluicegate_pipelines::interface::{
    self, ComparedVersion, Compatibility, InterfaceChange, NextNameError, find_acceptance_by_name,
    has_next_name, list_breaking_changes, summarize,
};
use sluicegate_platform::api::{ArtifactDetails, Platform};
use sluicegate_platform::http::{ErrorKind, HttpError};

/// Placeholder for the next version until it is computed.
pub(super) const DRAFT: &str = "0.0.0";

const COMPARE_WITH_ANOTHER: &str =
    "pass --against VERSION to compare with a version whose commit has the file";

/// The result of a comparison.
pub(crate) struct PublishComparison {
    pub(super) compat: Compatibility,
    /// The next version after the latest, or why there is none.
    pub(super) next: Result<String, NextNameError>,
    ids_only: Option<IdsOnly>,
}

impl PublishComparison {
    /// Returns the version that is compared with, and its commit.
    pub(super) fn published(&self) -> (&str, &str) {
        let compat = &self.compat;
        (
            compat.against.as_deref().unwrap_or_default(),
            compat.against_commit.as_deref().unwrap_or_default(),
        )
    }

    /// Returns the next version's name, if all changes are known; otherwise empty.
    pub(super) fn next_name(&self) -> String {
        let next = self.next.as_ref().ok().filter(|_| self.compat.class.is_some());
        next.cloned().unwrap_or_default()
    }

    /// Returns whether the plan equals the published version.
    pub(super) fn is_unchanged(&self) -> bool {
        self.compat.against.is_some() && self.compat.class == Some(interface::ChangeClass::None)
    }
}

impl Publishing<'_> {
    /// Returns whether the version name is computed from the latest version (`{next}`).
    pub(super) fn asks_for_next(&self) -> bool {
        asks_for_next(&self.settings.version_name)
    }

    /// Returns an error if the version name needs a comparison that is turned off.
    pub(super) fn refuse_next_without_comparison(&self) -> Result<(), Failure> {
        if self.asks_for_next() && self.settings.compatibility.mode == CompatMode::Off {
            let message =
                "{next} needs a comparison with the published version, but --compat off disables it";
            return Err(Failure::usage(message).hint("pass --compat warn, or use another version name"));
        }
        Ok(())
    }

    /// Compares with the version that consumers use, warns if only ids were compared, and sets the version name.
    /// Returns `None` if no comparison is needed, or if it failed and is optional.
    pub(super) fn compared(
        &self,
        platform: &Platform,
        plan: &mut Plan,
    ) -> Result<Option<PublishComparison>, Failure> {
        let mode = self.settings.compatibility.mode;
        if mode == CompatMode::Off {
            return Ok(None);
        }
        let is_needed = mode == CompatMode::Fail || self.asks_for_next();
        let (old, latest) = match self.asked(platform)? {
            Ok(found) => found,
            Err(error) if is_needed || is_denied(&error) => return Err(error.into()),
            Err(error) => {
                self.run
                    .ui
                    .warn(&format!("could not determine the changes for consumers: {error}"));
                return Ok(None);
            }
        };
        let mut compared = self.against(plan, old.as_ref(), latest.as_deref())?;
        if let Some(IdsOnly { why, may_fetch }) = &compared.ids_only {
            let hint = if *may_fetch { FETCH } else { COMPARE_WITH_ANOTHER };
            if is_needed {
                return Err(not_enough(why, hint));
            }
            self.run.ui.warn(&format!(
                "comparing only the ids of shared pipelines: {why}\nhint: {hint}"
            ));
        }
        if self.asks_for_next() {
            let next = compared.next.as_ref().map_err(next_failure)?.clone();
            compared.next = Ok(self.name_free_version(plan, next)?);
        }
        compared.compat = self.accepted(compared.compat, plan);
        Ok(Some(compared))
    }

    /// Returns the version to compare with, and the name of the latest one.
    #[expect(clippy::type_complexity, reason = "what is there, or the call that failed")]
    fn asked(
        &self,
        platform: &Platform,
    ) -> Result<Result<(Option<ArtifactDetails>, Option<String>), HttpError>, Failure> {
        let prefix = &self.settings.prefix;
        let name = |details: &Option<ArtifactDetails>| details.as_ref()?.artifact.version_name.clone();
        let latest = match self.run.requests(platform.artifact_details(prefix, None))? {
            Ok(details) => Some(details),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Ok(Err(error)),
        };
        let latest_name = name(&latest);
        let Some(version) = &self.settings.against else {
            return Ok(Ok((latest, latest_name)));
        };
        match self
            .run
            .requests(platform.artifact_details(prefix, Some(version)))?
        {
            Ok(details) => Ok(Ok((Some(details), latest_name))),
            Err(error) => {
                let missing = not_published(platform, prefix, Some(version), error);
                Err(self.run.requests(missing)?)
            }
        }
    }

    fn against(
        &self,
        plan: &Plan,
        old: Option<&ArtifactDetails>,
        latest: Option<&str>,
    ) -> Result<PublishComparison, Failure> {
        let Some(old) = old else {
            // If every version is disabled, the numbers go on from the newest.
            let newest = self.history.newest_name();
            return Ok(PublishComparison {
                compat: Compatibility::new(ComparedVersion::default(), Vec::new()),
                next: interface::next_name(newest, interface::ChangeClass::Content),
                ids_only: None,
            });
        };
        let (compat, ids_only) = self.compat_of(plan, old)?;
        let class = compat.class.unwrap_or(interface::ChangeClass::Content);
        Ok(PublishComparison {
            next: interface::next_name(latest, class),
            compat,
            ids_only,
        })
    }

    fn compat_of(
        &self,
        plan: &Plan,
        old: &ArtifactDetails,
    ) -> Result<(Compatibility, Option<IdsOnly>), Failure> {
        let old = OfferedSide::of_version(self.run, self.workspace, old, self.settings.revisions.deepen)?;
        let at = match &old.at {
            Ok(at) => at,
            Err(ids_only) => {
                let offered = plan.shared.iter().map(|shared| shared.id.as_str());
                let compat = Compatibility::from_ids(old.against(), &old.ids, &offered);
                return Ok((compat, Some(ids_only.clone())));
            }
        };
        let planned = plan.files.iter().map(|file| (file.path.as_str(), &file.content));
        let mut changes = interface_version::compare_interface_versions(
            &at.offer(self.workspace)?,
            &InterfaceVersion::for_plan(&self.workspace.repo, plan.interface.clone(), planned),
        )?;
        changes.extend(interface::find_unlisted_removals(
            &old.ids,
            &at.interface,
            &plan.interface,
        ));
        let repository = at.repository(self.workspace);
        changes.extend(self.content(plan, repository, &at.commit, changes.is_empty())?);
        Ok((Compatibility::new(old.against(), changes), None))
    }

    /// Returns the changed files. The shared-pipelines file is included only if its changes are not listed otherwise.
    fn content(
        &self,
        plan: &Plan,
        repository: &Repository,
        commit: &CommitId,
        with_shared: bool,
    ) -> Result<Vec<InterfaceChange>, Failure> {
        let old = OldFiles {
            repository,
            commit,
            selects: &|path| self.settings.selection.selects(path),
        };
        let mut changes = since(plan, &old)?;
        changes.retain(|change| with_shared || change.subject() != plan.interface.file);
        Ok(changes)
    }

    /// Sets the version name to the first one from `next` on that no version has, enabled or not; returns the number in
    /// it.
    fn name_free_version(&self, plan: &mut Plan, mut next: String) -> Result<String, Failure> {
        let names = self.history.names();
        loop {
            self.name(plan, next.clone())?;
            if !names.contains(plan.version_name.as_str()) {
                return Ok(next);
            }
            let higher = interface::next_name(Some(&next), interface::ChangeClass::Content);
            next = higher.map_err(|error| next_failure(&error))?;
        }
    }

    fn name(&self, plan: &mut Plan, next: String) -> Result<(), Failure> {
        let source = self.settings.from;
        plan.version_name = with_wish(
            (self.workspace, self.settings, self.target),
            source,
            next,
            |wish| publish::version_name(&self.workspace.repo, &self.target.head, wish),
        )?;
        if !has_next_name(&plan.version_name) {
            let message = format!(
                "the version name `{}` is not a semantic version, so {{next}} could not follow it",
                plan.version_name
            );
            return Err(Failure::usage(message)
                .hint("use `{next}` or `v{next}`, optionally followed by `+{short-sha}`"));
        }
        Ok(())
    }

    /// Marks a break as accepted by the job's reason or by a version name that announces it. A counted name announces
    /// nothing, as no user chose it.
    fn accepted(&self, compat: Compatibility, plan: &Plan) -> Compatibility {
        let by_name = || {
            let named = find_acceptance_by_name(compat.against.as_deref(), &plan.version_name);
            named.filter(|_| !self.asks_for_next())
        };
        let reason = self
            .settings
            .compatibility
            .accepted_reason
            .clone()
            .or_else(by_name);
        compat.with_acceptance(reason)
    }

    /// Ends a publish with a counted name if the plan equals the published version.
    pub(super) fn skip_unchanged(&self, plan: &Plan) -> Option<Intent> {
        let compared = self.compared.as_ref().filter(|_| self.asks_for_next())?;
        if !compared.is_unchanged() {
            return None;
        }
        let (version, commit) = compared.published();
        let said = format!("nothing changed since version {version} of {}", plan.prefix);
        Some(Intent::nothing(said, version, commit))
    }

    /// Refuses a publish that breaks consumers, unless the job accepts the break.
    pub(super) fn refuse_breaks(&self, platform: &Platform, plan: &Plan) -> Result<Option<Intent>, Failure> {
        let Some(compared) = &self.compared else {
            return Ok(None);
        };
        let is_refused = self.is_refused(platform, plan, &compared.compat)?;
        Ok(is_refused.then(|| Intent::Refuse(refusal(plan, compared))))
    }

    /// Returns whether the breaks stop the publish. A rerun of an existing version is allowed.
    fn is_refused(&self, platform: &Platform, plan: &Plan, compat: &Compatibility) -> Result<bool, Failure> {
        if self.settings.compatibility.mode != CompatMode::Fail
            || !compat.is_breaking()
            || compat.accepted.is_some()
        {
            return Ok(false);
        }
        if self.settings.if_exists != IfExists::SameContent {
            return Ok(true);
        }
        let there = platform.artifact_details(&plan.prefix, Some(&plan.version_name));
        Ok(self.run.requests(there)?.is_err())
    }

    /// Prints the changes for consumers, if they do not stop the publish.
    pub(super) fn tell_compat(&self, plan: &Plan, compat: &Compatibility) {
        if !compat.is_breaking() {
            if compat.against.is_some() {
                let old = compat.old_name();
                self.run.ui.say(&format!("since {old}: {}", summarize(compat)));
            }
            return;
        }
        let mut said = would_break(plan, compat);
        if let Some(reason) = &compat.accepted {
            said = format!("{said}\naccepted: {reason}");
        }
        self.run.ui.warn(&said);
    }
}

/// Returns the breaks with every location.
fn would_break(plan: &Plan, compat: &Compatibility) -> String {
    format!(
        "version {} of {} breaks consumers of {}:\n  {}",
        plan.version_name,
        plan.prefix,
        compat.old_name(),
        list_breaking_changes(compat).join("\n  ")
    )
}

fn refusal(plan: &Plan, compared: &PublishComparison) -> Failure {
    let message = would_break(plan, &compared.compat);
    let by_name = match (&compared.next, &compared.compat.against) {
        (Ok(next), Some(old)) if find_acceptance_by_name(Some(old), next).is_some() => {
            format!("publish as a higher major version by name ({next}), or ")
        }
        _ => String::new(),
    };
    Failure::new(ExitStatus::GateFailed, anyhow::Error::msg(message)).hint(format!(
        "nothing was sent; {by_name}accept the break with --accept-breaking REASON"
    ))
}

fn not_enough(why: &str, hint: &str) -> Failure {
    let message = format!("could not determine the changes for consumers: {why}");
    Failure::new(ExitStatus::Context, anyhow::Error::msg(message)).hint(hint)
}

fn next_failure(error: &NextNameError) -> Failure {
    let hint = match error {
        NextNameError::NotSemantic(_) => {
            "set this version name yourself, to a semantic version such as 1.0.0; {next} continues from it"
        }
        NextNameError::TooLarge(_) => "set this version name yourself",
    };
    Failure::usage(error.to_string()).hint(hint)
}

fn is_denied(error: &HttpError) -> bool {
    matches!(error.kind(), ErrorKind::Unauthorized | ErrorKind::Forbidden)
}

/// Returns the class as a step output; empty without a complete comparison.
pub(super) fn class_of(compat: Option<&Compatibility>) -> String {
    let class = compat.and_then(|compat| compat.class);
    class.map(|class| class.to_string()).unwrap_or_default()
}
