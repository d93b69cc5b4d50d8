//! Determines the outcome of an upload, and never reports success unless it is certain.

use super::outcome::{IfExists, OnIgnored, Outcome, OutcomeKind, PublishOptions};
use super::version_lookup::{LookupResult, VersionLookup, look_up_latest_without};
use super::{FileSource, Plan, version_differences};
use serde_json::Value;
use sluicegate_platform::api::{ArtifactDetails, Platform, PublishAnswer};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::time::Duration;

/// Note about an older version: only the response to its upload listed the files that were left out.
const UNKNOWN_OMISSIONS: &str =
    "it is no longer possible to see which files the platform left out when the version was published";

/// Compares the plan with the platform's state to determine the outcome.
pub(super) struct OutcomeDecision<'a> {
    pub platform: &'a Platform,
    pub plan: &'a Plan,
    pub options: PublishOptions,
}

impl OutcomeDecision<'_> {
    pub(super) const fn lookup(&self) -> VersionLookup<'_> {
        VersionLookup {
            platform: self.platform,
            plan: self.plan,
            timeout: self.options.lookup_timeout,
        }
    }

    /// Returns the outcome after the platform accepted the artifact; `answer` is empty if the response was unusable.
    pub(super) async fn outcome_of_accepted_upload(
        &self,
        response: PublishAnswer,
        error: Option<HttpError>,
    ) -> Outcome {
        let mut outcome = Outcome::new(OutcomeKind::Published);
        let mut is_suspect =
            record_ignored_resources(&mut outcome, response.ignored_resources, self.options.on_ignored);
        if let Some(version_name) = response
            .version_name
            .filter(|name| *name != self.plan.version_name)
        {
            let problem = format!(
                "the platform's response names the version `{version_name}`, not the one that was sent"
            );
            outcome.problems.push(problem);
        }
        outcome.error = error;
        if self.options.verify {
            is_suspect |= self.verify_version(&mut outcome).await;
        }
        self.disable_if_configured(outcome, is_suspect).await
    }

    /// Returns the outcome for a version that commit and time identify as ours, after the response was lost.
    pub(super) async fn outcome_of_lost_upload(
        &self,
        details: &ArtifactDetails,
        lost_error: HttpError,
    ) -> Outcome {
        let differences = version_differences::compare_with_plan(details, self.plan);
        let verified = differences.is_empty();
        if verified && version_differences::can_details_prove_completeness(self.plan) {
            let note = format!(
                "the upload's response was lost, but the details prove the version complete: {lost_error}"
            );
            return Outcome {
                verified,
                ..Outcome::new(OutcomeKind::Published).with_problem(note)
            };
        }
        let problem =
            "this run published the version, but without the response it is unknown what was left out";
        let outcome = differences
            .into_iter()
            .fold(Outcome::new(OutcomeKind::Incomplete), Outcome::with_problem)
            .with_problem(problem)
            .with_error(lost_error);
        self.disable_if_configured(Outcome { verified, ..outcome }, true)
            .await
    }

    /// Compares the published version with the plan; returns whether it certainly differs.
    async fn verify_version(&self, outcome: &mut Outcome) -> bool {
        let (reason, error) = match self.lookup().poll_until_processed().await {
            LookupResult::Found(details) => {
                let mut differences = version_differences::compare_with_plan(&details, self.plan);
                differences.extend(find_disabled_difference(&details));
                outcome.verified = differences.is_empty();
                if outcome.verified {
                    return false;
                }
                outcome.kind = OutcomeKind::Incomplete;
                outcome.problems.extend(differences);
                return true;
            }
            LookupResult::NotFound => ("the platform does not show the version".to_owned(), None),
            LookupResult::Unclear(reason, error) => (reason, error),
        };
        outcome.kind = OutcomeKind::Incomplete;
        outcome.problems.push(format!(
            "the version was published but could not be verified: {reason}"
        ));
        if outcome.error.is_none() {
            outcome.error = error;
        }
        false
    }

    /// Disables a suspect version if configured, so that \[Latest\] does not lead consumers to it.
    async fn disable_if_configured(&self, outcome: Outcome, is_suspect: bool) -> Outcome {
        if !is_suspect || self.options.on_ignored != OnIgnored::Disable {
            return outcome;
        }
        disable_version(self.platform, self.plan, self.options.lookup_timeout, outcome).await
    }

    /// Returns the outcome after a conflict: another run published the version first.
    pub(super) async fn outcome_of_conflict(&self, error: HttpError) -> Outcome {
        if self.options.if_exists == IfExists::Fail {
            return self.existing_version_conflict().with_error(error);
        }
        match self.lookup().poll_until_found().await {
            LookupResult::Found(details) => self.outcome_of_existing_version(&details),
            LookupResult::NotFound => self
                .existing_version_conflict()
                .with_problem("could not compare its content: the platform does not show the version"),
            LookupResult::Unclear(reason, _) => self
                .existing_version_conflict()
                .with_problem(format!("could not compare its content: {reason}")),
        }
    }

    /// Returns the outcome for a version that another run published, possibly with the same content.
    pub(super) fn outcome_of_existing_version(&self, details: &ArtifactDetails) -> Outcome {
        let mut differences = version_differences::compare_with_plan(details, self.plan);
        differences.extend(find_disabled_difference(details));
        if self.options.if_exists == IfExists::SameContent {
            if self.plan.source == FileSource::Worktree {
                differences.push(
                    "the files are from the working tree, so the commit hash proves nothing about them"
                        .to_owned(),
                );
            }
            if differences.is_empty() {
                let outcome = Outcome {
                    verified: true,
                    ..Outcome::new(OutcomeKind::AlreadyPublished)
                };
                return if version_differences::can_details_prove_completeness(self.plan) {
                    outcome
                } else {
                    outcome.with_problem(UNKNOWN_OMISSIONS)
                };
            }
        }
        differences
            .into_iter()
            .fold(self.existing_version_conflict(), Outcome::with_problem)
    }

    /// Like [`Self::existing`], for a version that appeared after a lost response; `why` says how it differs from ours.
    pub(super) fn outcome_of_other_version(&self, details: &ArtifactDetails, difference: String) -> Outcome {
        let mut outcome = self.outcome_of_existing_version(details);
        if outcome.kind == OutcomeKind::Conflict && !outcome.problems.contains(&difference) {
            outcome.problems.push(difference);
        }
        outcome
    }

    fn existing_version_conflict(&self) -> Outcome {
        Outcome::new(OutcomeKind::Conflict).with_problem(format!(
            "the version `{}` of `{}` exists, and a version is never changed",
            self.plan.version_name, self.plan.prefix
        ))
    }
}

/// Disables the version of the plan, so that consumers do not get it, and records the result in the outcome.
pub async fn disable_version(
    platform: &Platform,
    plan: &Plan,
    patience: Duration,
    mut outcome: Outcome,
) -> Outcome {
    let (prefix, version_name) = (&plan.prefix, &plan.version_name);
    match platform.set_artifact_enabled(prefix, version_name, false).await {
        Ok(_) => {
            outcome.disabled = true;
            outcome.latest = Some(look_up_latest_without(platform, prefix, version_name, patience).await);
        }
        Err(error) => {
            let adjective = match outcome.kind {
                OutcomeKind::Superseded => "older",
                _ => "incomplete",
            };
            let problem =
                format!("the {adjective} version could not be disabled, so consumers may use it: {error}");
            outcome.disable_failed = true;
            outcome.problems.insert(0, problem);
            outcome.error.get_or_insert(error);
        }
    }
    outcome
}

/// Returns a difference if the version is disabled, as no consumer can use it then.
fn find_disabled_difference(details: &ArtifactDetails) -> Option<String> {
    (details.artifact.enabled == Some(false)).then(|| "the version is disabled".to_owned())
}

/// Returns the outcome if nothing was sent because it is unknown whether the version exists.
pub(super) fn outcome_before_upload(reason: &str, error: Option<HttpError>) -> Outcome {
    let outcome = Outcome::new(OutcomeKind::Failed);
    match error {
        Some(error) if matches!(error.kind(), ErrorKind::Unauthorized | ErrorKind::Forbidden) => {
            outcome.with_problem("nothing was sent").with_error(error)
        }
        Some(error) => outcome
            .with_problem("nothing was sent: could not determine whether the version exists")
            .with_error(error),
        None => outcome.with_problem(format!(
            "nothing was sent: could not determine whether the version exists: {reason}"
        )),
    }
}

/// Returns the outcome of a rejected upload. `lost` is the error of an earlier upload that was lost and not found.
pub(super) fn outcome_of_rejected_upload(error: HttpError, lost_error: Option<&HttpError>) -> Outcome {
    let outcome = Outcome::new(OutcomeKind::Failed);
    match lost_error {
        None => outcome.with_problem("nothing was published"),
        Some(lost_error) => outcome.with_problem(format!(
            "an earlier upload got no response and was not found later; it may still appear: {lost_error}"
        )),
    }
    .with_error(error)
}

/// Returns the outcome if neither a response nor a lookup shows the result.
pub(super) fn outcome_without_response(reason: &str, error: HttpError) -> Outcome {
    Outcome::new(OutcomeKind::Unknown)
        .with_problem(format!("the upload got no usable response, and {reason}"))
        .with_error(error)
}

/// Evaluates the ignored resources; returns whether the version may be incomplete, unless the settings accept that.
fn record_ignored_resources(
    outcome: &mut Outcome,
    ignored_resources: Option<Vec<Value>>,
    on_ignored: OnIgnored,
) -> bool {
    let Some(ignored_resources) = ignored_resources else {
        outcome.kind = OutcomeKind::Incomplete;
        outcome.problems.push(
            "the platform accepted the artifact, but its response has no `ignoredResources` list".to_owned(),
        );
        return true;
    };
    outcome.problems.extend(
        ignored_resources
            .iter()
            .map(|entry| format!("the platform left out {}", describe_ignored_resource(entry))),
    );
    let is_suspect = !ignored_resources.is_empty() && on_ignored != OnIgnored::Warn;
    if is_suspect {
        outcome.kind = OutcomeKind::Incomplete;
    }
    outcome.ignored_resources = ignored_resources;
    is_suspect
}

/// Describes an ignored resource. The API document does not define its fields: a string, `{ name, reason }`, or any
/// other JSON.
fn describe_ignored_resource(entry: &Value) -> String {
    let field = |name: &str| entry.get(name).and_then(Value::as_str);
    match (entry.as_str().or_else(|| field("name")), field("reason")) {
        (Some(name), Some(reason)) => format!("`{name}`: {reason}"),
        (Some(name), None) => format!("`{name}`"),
        (None, _) => entry.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ignored_resources_are_told_in_any_shape() {
        let entries = [
            json!("a.zip"),
            json!({"name": "b", "reason": "no"}),
            json!({"name": "c"}),
            json!({"path": 1}),
        ];
        let told = entries
            .iter()
            .map(describe_ignored_resource)
            .collect::<Vec<_>>()
            .join("; ");
        insta::assert_snapshot!(told, @r#"`a.zip`; `b`: no; `c`; {"path":1}"#);
    }
}
