//! Determines before the upload what a publish changes for consumers, compared with the version that they use.

use super::Publication;
use super::earlier_selection::EarlierSelection;
use super::publish_comparison::{OfferComparison, PublishComparison};
use super::publish_decision::PublishDecision;
use super::published_commit::incomplete_version_failure;
use crate::error::{Detail, Failure};
use crate::exit::ExitStatus;
use crate::interface_version::OfferChanges;
use crate::job::cli::{CompatMode, IfExists};
use crate::publication::compared_offer::{
    ComparisonLimit, add_file_changes, compare_plan_with_version, fetch_hint,
};
use crate::publish::{Plan, PublishedFiles, PublishedSelection, compare_with_published_files};
use crate::session::artifact_versions::version_request_failure;
use sluicegate_pipelines::interface::{
    self, ComparedVersion, Compatibility, find_acceptance_by_version_names, list_breaking_changes,
    summarize_changes,
};
use sluicegate_platform::api::{ArtifactDetails, Platform};

/// The hint if the files of a version cannot be compared, although a fetch was requested or would not help.
const OTHER_VERSION_HINT: &str =
    "pass --against VERSION to compare with a version whose shared pipelines can be read in this clone";
/// The same hint if the version name contains `{next}`.
const OTHER_VERSION_OR_NAME_HINT: &str = "pass --against VERSION to compare with a version whose shared pipelines \
     can be read in this clone, or a --version-name without `{next}`";

impl Publication<'_> {
    /// Compares the plan with the version that consumers use. If the version name contains `{next}`, it depends on the
    /// changes, and is replaced by the computed name.
    ///
    /// `{next}` and `--compat fail` need a complete comparison, and fail without one. Otherwise, a failed request for
    /// the latest version and a comparison of the ids alone only cause a warning; denied access is always an error.
    /// Returns `None` if the comparison is turned off or that request failed.
    pub(super) fn compare_and_name_version(
        &self,
        platform: &Platform,
        plan: &mut Plan,
    ) -> Result<Option<PublishComparison>, Failure> {
        let mode = self.settings.compatibility.mode;
        if mode == CompatMode::Off {
            return Ok(None);
        }
        let needs_complete_comparison = mode == CompatMode::Fail || self.needs_next_version();
        let latest_request = platform.find_latest_artifact(&self.settings.prefix);
        let latest_details = match self.session.block_on(latest_request)? {
            Ok(details) => details,
            Err(error) if needs_complete_comparison || error.kind().is_denied() => return Err(error.into()),
            Err(error) => {
                self.session
                    .ui
                    .warn(&format!("could not determine the changes for consumers: {error}"));
                return Ok(None);
            }
        };
        let latest_name = latest_details
            .as_ref()
            .and_then(|details| details.artifact.version_name.clone());
        let compared_details = match &self.settings.against {
            Some(version) => Some(self.request_named_version(platform, version)?),
            None => latest_details,
        };
        let mut comparison =
            self.compare_with_version(platform, plan, compared_details.as_ref(), latest_name.as_deref())?;
        if let Some(limit) = &comparison.limit {
            self.report_incomplete_comparison(limit, needs_complete_comparison)?;
        }
        if self.needs_next_version() {
            self.report_unknown_selection(&comparison);
            let next_version = comparison
                .next_version
                .as_ref()
                .map_err(|error| self.next_version_failure(error))?
                .clone();
            // A version may already have that name; the next free name is then used.
            comparison.next_version = Ok(self.set_unused_version_name(plan, next_version)?);
        }
        // The name of the version can announce breaking changes, so this step needs the final name.
        comparison.compat = self.accept_breaks(comparison.compat, &plan.version_name);
        Ok(Some(comparison))
    }

    /// Warns that the comparison is incomplete, or fails if the complete comparison is needed.
    pub(super) fn report_incomplete_comparison(
        &self,
        limit: &ComparisonLimit,
        needs_complete_comparison: bool,
    ) -> Result<(), Failure> {
        let reason = &limit.reason;
        let hint = if limit.may_fetch {
            fetch_hint(&self.workspace.repo)
        } else if self.needs_next_version() {
            OTHER_VERSION_OR_NAME_HINT
        } else {
            OTHER_VERSION_HINT
        };
        if needs_complete_comparison {
            return Err(incomplete_comparison_failure(reason, hint));
        }
        limit.warn(self.session, Some(hint));
        Ok(())
    }

    /// Reports why a publish with `{next}` does not end without an upload, although no change was found.
    fn report_unknown_selection(&self, comparison: &PublishComparison) {
        if let Some(reason) = &comparison.unknown_selection
            && comparison.has_no_changes()
        {
            self.session.ui.say(&format!(
                "no file changed since {}, but that version may have other files: {reason}",
                comparison.compat.old_name()
            ));
        }
    }

    /// Requests the details of the version that `--against` names.
    pub(super) fn request_named_version(
        &self,
        platform: &Platform,
        version: &str,
    ) -> Result<ArtifactDetails, Failure> {
        let prefix = &self.settings.prefix;
        let request = platform.fetch_artifact_details(prefix, Some(version));
        match self.session.block_on(request)? {
            Ok(details) => Ok(details),
            Err(error) => {
                let rejection = version_request_failure(platform, prefix, Some(version), error);
                Err(self.session.block_on(rejection)?)
            }
        }
    }

    /// Compares the plan with a published version, and derives the next version name from the latest. Without a
    /// published version, there are no consumers whose pipelines could break.
    fn compare_with_version(
        &self,
        platform: &Platform,
        plan: &Plan,
        compared_details: Option<&ArtifactDetails>,
        latest_name: Option<&str>,
    ) -> Result<PublishComparison, Failure> {
        let Some(compared_details) = compared_details else {
            return Ok(PublishComparison {
                compat: Compatibility::new(ComparedVersion::default(), Vec::new()),
                next_version: self.name_version_after_newest(platform, plan)?,
                is_with_latest: false,
                limit: None,
                unknown_selection: None,
                changes_of_first_run: None,
            });
        };
        let OfferComparison {
            compat,
            limit,
            unknown_selection,
        } = self.compare_offers(plan, compared_details)?;
        // If only the ids were compared, the class is unknown, and the next version is not used.
        let class = compat.class.unwrap_or(interface::ChangeClass::Content);
        // If every version is disabled, the numbers continue from the newest version.
        let previous_name = latest_name.or_else(|| self.history.newest_name());
        Ok(PublishComparison {
            next_version: interface::next_version_name(previous_name, class),
            is_with_latest: compat.against.as_deref() == latest_name,
            compat,
            limit,
            unknown_selection,
            changes_of_first_run: None,
        })
    }

    /// Compares what the plan offers with what a published version offers, and adds the changed files. If the clone
    /// lacks the commit of that version, only the ids of the shared pipelines are compared.
    pub(super) fn compare_offers(
        &self,
        plan: &Plan,
        old_details: &ArtifactDetails,
    ) -> Result<OfferComparison, Failure> {
        let can_fetch = self.settings.revisions.deepen;
        let (old, offer_changes) =
            compare_plan_with_version(self.session, self.workspace, plan, old_details, can_fetch)?;
        let (old_offer, OfferChanges { mut changes, doubt }) = match (&old.offer, offer_changes) {
            (Ok(old_offer), Some(offer_changes)) => (old_offer, offer_changes),
            (old_offer, _) => {
                let offered_ids = plan.shared_pipelines.iter().map(|pipeline| pipeline.id.as_str());
                let compat = Compatibility::from_ids(old.to_compared_version(), &old.ids, &offered_ids);
                return Ok(OfferComparison {
                    compat,
                    limit: old_offer.as_ref().err().cloned(),
                    unknown_selection: None,
                });
            }
        };
        let repository = old_offer.repository(self.workspace);
        let earlier_selection = self.find_earlier_selection(repository, &old_offer.commit)?;
        let published_files = PublishedFiles {
            repository,
            commit: &old_offer.commit,
            selection: match &earlier_selection {
                EarlierSelection::Plan(published_plan) => PublishedSelection::Plan(published_plan),
                _ => PublishedSelection::Globs(&|path| self.settings.selection.selects(path)),
            },
        };
        let file_changes = compare_with_published_files(plan, &published_files)?;
        add_file_changes(&mut changes, file_changes, &old_offer.interface, &plan.interface);
        Ok(OfferComparison {
            compat: Compatibility::new(old.to_compared_version(), changes).with_doubt(doubt.is_some()),
            limit: doubt.map(ComparisonLimit::from),
            unknown_selection: match earlier_selection {
                EarlierSelection::Unknown(reason) => Some(reason),
                _ => None,
            },
        })
    }

    /// Marks breaking changes as accepted if the job gives a reason, or if a user chose a version name that announces
    /// them, for example a higher major version.
    pub(super) fn accept_breaks(&self, compat: Compatibility, version_name: &str) -> Compatibility {
        let reason = self.settings.compatibility.accepted_reason.clone().or_else(|| {
            find_acceptance_by_version_names(compat.against.as_deref(), version_name)
                .filter(|_| !self.needs_next_version())
        });
        compat.with_acceptance(reason)
    }

    /// Returns the decision to publish nothing if the version name contains `{next}` and nothing changed since the
    /// latest version; otherwise `None`. An older version with the same content is not what consumers get. The plan
    /// then gets the published shared-pipelines file, whose bytes may differ, because the receipt is about that
    /// version. Equal files do not prove that the platform published all of them, so a version whose details differ
    /// from the plan is a refusal.
    pub(super) fn decide_on_unchanged_plan(
        &self,
        platform: &Platform,
        plan: &mut Plan,
    ) -> Result<Option<PublishDecision>, Failure> {
        let Some(comparison) = self.comparison.as_ref().filter(|_| self.needs_next_version()) else {
            return Ok(None);
        };
        if !comparison.is_latest_unchanged() {
            return Ok(None);
        }
        let (version, commit) = comparison.compared_version();
        // The comparison may have fetched the commit.
        let repository = self.workspace.repo.reopen()?;
        if let Some(published_commit) = repository.find_commit_with_id(commit)? {
            plan.use_shared_file_of_commit(&repository, &published_commit)?;
        }
        let prefix = &plan.prefix;
        let differences = self.list_differences_of_version(platform, plan, version)?;
        if !differences.is_empty() {
            let fact = format!("version {version} of {prefix} has the files of this commit");
            let failure = incomplete_version_failure(plan, version, &fact, differences);
            return Ok(Some(PublishDecision::Refuse(failure)));
        }
        let mut reason = format!("nothing changed since version {version} of {prefix}");
        if self.settings.has_job_selection {
            reason += ", if its job selected the same files as this job";
        }
        self.report_unknown_omissions(plan, commit);
        let is_disabled = false;
        Ok(Some(PublishDecision::already_published(
            reason,
            version,
            commit,
            is_disabled,
        )))
    }

    /// Returns the decision to refuse a publish that breaks consumers, unless the job accepts that; otherwise `None`.
    pub(super) fn decide_on_breaks(
        &self,
        platform: &Platform,
        plan: &Plan,
    ) -> Result<Option<PublishDecision>, Failure> {
        let Some(comparison) = &self.comparison else {
            return Ok(None);
        };
        let is_refused = self.are_breaks_refused(platform, plan, &comparison.compat)?;
        Ok(is_refused.then(|| PublishDecision::Refuse(self.breaks_failure(plan, comparison))))
    }

    /// Returns whether breaking changes stop the publish: with `--compat fail`, unless they are accepted. They do not
    /// stop a rerun with `--if-exists same-content`: the planned version exists then, so consumers already have them.
    fn are_breaks_refused(
        &self,
        platform: &Platform,
        plan: &Plan,
        compat: &Compatibility,
    ) -> Result<bool, Failure> {
        let has_unaccepted_break = compat.is_breaking() && compat.accepted.is_none();
        if self.settings.compatibility.mode != CompatMode::Fail || !has_unaccepted_break {
            return Ok(false);
        }
        if self.choose_if_exists(plan) != IfExists::SameContent {
            return Ok(true);
        }
        Ok(!self.is_version_published(platform, plan)?)
    }

    /// Prints what changes for consumers of a published version: a warning if something breaks, otherwise one line.
    pub(super) fn print_consumer_changes(&self, plan: &Plan, compat: &Compatibility) {
        if !compat.is_breaking() {
            if compat.against.is_some() {
                let message = format!("since {}: {}", compat.old_name(), summarize_changes(compat));
                self.session.ui.say(&message);
            }
            return;
        }
        let acceptance = compat
            .accepted
            .as_ref()
            .map(|reason| format!("accepted: {reason}"));
        let details: Vec<Detail> = list_breaking_changes(compat)
            .into_iter()
            .chain(acceptance)
            .map(Detail::Entry)
            .collect();
        self.session
            .ui
            .warn_with_details(&describe_breaks(plan, compat), &details);
    }
}

/// Announces the changes that break consumers.
fn describe_breaks(plan: &Plan, compat: &Compatibility) -> String {
    format!(
        "{} breaks consumers of {}:",
        plan.describe_version(),
        compat.old_name()
    )
}

impl Publication<'_> {
    /// Returns the error that the publish would break consumers. Its hint names the flags that accept the break.
    fn breaks_failure(&self, plan: &Plan, comparison: &PublishComparison) -> Failure {
        let message = describe_breaks(plan, &comparison.compat);
        let next_version = match &comparison.next_version {
            // With `{next}`, the comparison has already skipped the names of existing versions.
            Ok(next) if self.needs_next_version() => Some(next.clone()),
            Ok(next) => self.find_unused_version(next),
            Err(_) => None,
        };
        // The hint suggests the next version only if its name would accept the break.
        let name_hint = match (&next_version, &comparison.compat.against) {
            (Some(next), Some(old)) if find_acceptance_by_version_names(Some(old), next).is_some() => {
                // `{next}` may have set this name already, but only a name that a user chose accepts a break.
                if self.needs_next_version() {
                    format!("`{{next}}` does not accept a break: pass --version-name {next}, or ")
                } else {
                    // Before 1.0.0, a higher minor version accepts a break.
                    let number_name = if next.trim_start_matches('v').starts_with("0.") {
                        "minor"
                    } else {
                        "major"
                    };
                    format!("publish a higher {number_name} version (--version-name {next}), or ")
                }
            }
            _ => String::new(),
        };
        let failure = Failure::from_message(ExitStatus::GateFailed, message);
        failure
            .with_entries(list_breaking_changes(&comparison.compat))
            .with_hint(format!(
                "nothing was sent; {name_hint}accept the break with --accept-breaking REASON"
            ))
    }
}

/// Returns the error that the changes for consumers are unknown, although `{next}` or `--compat fail` depends on them.
fn incomplete_comparison_failure(reason: &str, hint: &str) -> Failure {
    let message = format!("could not determine the changes for consumers: {reason}");
    Failure::from_message(ExitStatus::Context, message).with_hint(hint)
}

/// Returns the class of the changes for a step output; empty if the comparison is missing or incomplete.
pub(super) fn change_class_name(compat: Option<&Compatibility>) -> String {
    compat
        .and_then(|compat| compat.class)
        .map_or_else(String::new, |class| class.to_string())
}
