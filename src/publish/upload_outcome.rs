//! Determines the outcome of an upload, and never reports success unless it is certain.

use super::outcome::{IfExists, OnIgnored, Outcome, OutcomeKind, PublishProblem};
use super::version_differences::{VersionDifference, can_details_prove_completeness, compare_with_plan};
use super::{FileSource, Plan};
use serde_json::Value;
use sluicegate_platform::api::{ArtifactDetails, PublishResponse};
use sluicegate_platform::http::HttpError;

/// Note for a version that an earlier run published, if its details cannot prove that it is complete.
pub const UNKNOWN_OMISSIONS: &str = "cannot check whether files were ignored when the version was published: only the response to that upload lists them";

/// The problem of an upload whose response is no artifact, for example the page of a proxy.
const UNREADABLE_RESPONSE: &str =
    "the response to the upload could not be read, so it is unknown whether files were ignored";

/// An upload that the platform accepted.
pub(super) struct AcceptedUpload {
    pub outcome: Outcome,
    /// True if the version may be incomplete.
    pub is_suspect: bool,
}

/// Assesses an upload that the platform accepted. The response is an error if it could not be read.
pub(super) fn assess_accepted_upload(
    plan: &Plan,
    response: Result<PublishResponse, HttpError>,
    on_ignored: OnIgnored,
) -> AcceptedUpload {
    let mut outcome = Outcome::new(OutcomeKind::Published);
    let response = match response {
        Ok(response) => response,
        Err(error) => {
            outcome.kind = OutcomeKind::Unverified;
            outcome.problems.push(UNREADABLE_RESPONSE.into());
            return AcceptedUpload {
                outcome: outcome.with_error(error),
                is_suspect: true,
            };
        }
    };
    let mut is_suspect = record_ignored_resources(&mut outcome, response.ignored_resources, on_ignored);
    if let Some(other_name) = response.version_name.filter(|name| *name != plan.version_name) {
        // The list of ignored files may be about the other version, too.
        is_suspect = true;
        if outcome.kind == OutcomeKind::Published {
            outcome.kind = OutcomeKind::Unverified;
        }
        let sentence = format!(
            "the platform's response names the version `{other_name}`, not the one that was sent, so it is unknown \
             whether files were ignored"
        );
        outcome.problems.push(sentence.into());
    }
    AcceptedUpload { outcome, is_suspect }
}

/// Returns the outcome of an upload without a usable response. `details` are those of the version that this upload
/// certainly published. The outcome is `Published` only if they prove that the version is complete.
pub(super) fn assess_lost_upload(plan: &Plan, details: &ArtifactDetails, lost_error: HttpError) -> Outcome {
    let differences = list_differences(details, plan);
    let is_verified = differences.is_empty();
    if is_verified && can_details_prove_completeness(plan) {
        let note = format!(
            "the upload got no usable response, but the version's details prove that it is complete: {lost_error}"
        );
        return Outcome {
            verified: is_verified,
            ..Outcome::new(OutcomeKind::Published).with_problem(note)
        };
    }
    let kind = if is_verified {
        OutcomeKind::Unverified
    } else {
        OutcomeKind::Incomplete
    };
    let outcome = differences
        .into_iter()
        .fold(Outcome::new(kind), Outcome::with_problem)
        .with_problem(
            "the upload got no usable response, and only a response to the upload lists ignored files",
        )
        .with_error(lost_error);
    Outcome {
        verified: is_verified,
        ..outcome
    }
}

/// Adds the differences between the published version and the plan to the outcome, and returns whether one of them is
/// certain. The outcome then becomes `Incomplete`. If the version may still be the planned one, a published version
/// becomes unverified. Without differences, the version is verified.
pub(super) fn record_differences(outcome: &mut Outcome, plan: &Plan, details: &ArtifactDetails) -> bool {
    let differences = list_differences(details, plan);
    outcome.verified = differences.is_empty();
    let certainly_differs = differences
        .iter()
        .any(|difference| !matches!(difference, VersionDifference::UnclearCommit(_)));
    if certainly_differs {
        outcome.kind = OutcomeKind::Incomplete;
    } else if !outcome.verified && outcome.kind == OutcomeKind::Published {
        outcome.kind = OutcomeKind::Unverified;
    }
    outcome
        .problems
        .extend(differences.into_iter().map(PublishProblem::Difference));
    certainly_differs
}

/// Returns the outcome if another run published the version: a conflict, with the differences to the plan. With
/// `--if-exists same-content`, it is a success if the plan's files are from a commit and nothing differs. The success
/// has a note if it is unknown whether the platform ignored files.
pub fn assess_existing_version(plan: &Plan, if_exists: IfExists, details: &ArtifactDetails) -> Outcome {
    let mut differences = list_differences(details, plan);
    if if_exists == IfExists::SameContent {
        if plan.source == FileSource::Worktree {
            differences.push(VersionDifference::Certain(
                "the files are from the working tree, so the commit hash proves nothing about them"
                    .to_owned(),
            ));
        }
        if differences.is_empty() {
            let outcome = Outcome {
                verified: true,
                is_earlier_version: true,
                existing_branch: details.artifact.branch.clone(),
                ..Outcome::new(OutcomeKind::AlreadyPublished)
            };
            return if can_details_prove_completeness(plan) {
                outcome
            } else {
                outcome.with_problem(UNKNOWN_OMISSIONS)
            };
        }
    }
    differences
        .into_iter()
        .fold(build_conflict_outcome(plan), Outcome::with_problem)
}

/// Returns the outcome if the response to the upload was lost and the version that appeared is from another run.
/// `difference` is the fact that proves this; it is added to a conflict.
pub(super) fn assess_other_version(
    plan: &Plan,
    if_exists: IfExists,
    details: &ArtifactDetails,
    difference: VersionDifference,
) -> Outcome {
    let mut outcome = assess_existing_version(plan, if_exists, details);
    let problem = PublishProblem::Difference(difference);
    if outcome.kind == OutcomeKind::Conflict && !outcome.problems.contains(&problem) {
        outcome.problems.push(problem);
    }
    outcome
}

/// Creates the outcome that the version already exists.
pub(super) fn build_conflict_outcome(plan: &Plan) -> Outcome {
    Outcome::new(OutcomeKind::Conflict).with_problem(PublishProblem::VersionExists(format!(
        "the version `{}` of `{}` already exists, and a published version cannot be changed",
        plan.version_name, plan.prefix
    )))
}

/// Returns the differences between a published version and the plan. A disabled version differs, too, because no
/// consumer can use it.
fn list_differences(details: &ArtifactDetails, plan: &Plan) -> Vec<VersionDifference> {
    let mut differences = compare_with_plan(details, plan);
    if details.artifact.is_disabled() {
        differences.push(VersionDifference::Disabled);
    }
    differences
}

/// Returns the outcome of a publish that sent nothing, because it is unknown whether the version exists.
pub(super) fn assess_failed_lookup(error: HttpError) -> Outcome {
    // The error itself says that access was denied.
    let problem = if error.kind().is_denied() {
        "nothing was sent"
    } else {
        "nothing was sent: could not determine whether the version exists"
    };
    Outcome::new(OutcomeKind::Failed)
        .with_problem(problem)
        .with_error(error)
}

/// Returns the outcome of an upload that the platform rejected. `lost_error` is the error of an earlier upload of this
/// run that got no usable response, and whose version was not found.
pub(super) fn assess_rejected_upload(error: HttpError, lost_error: Option<&HttpError>) -> Outcome {
    let outcome = Outcome::new(OutcomeKind::Failed);
    match lost_error {
        None => outcome.with_problem("nothing was published"),
        Some(lost_error) => outcome.with_problem(format!(
            "an earlier upload got no usable response; its version was not found afterwards, but may still appear: {lost_error}"
        )),
    }
    .with_error(error)
}

/// Returns the outcome if neither a response nor a lookup shows whether the version was published. `reason` completes
/// the sentence `the upload got no usable response, and …`.
pub(super) fn build_unknown_outcome(reason: &str, error: HttpError) -> Outcome {
    Outcome::new(OutcomeKind::Unknown)
        .with_problem(format!("the upload got no usable response, and {reason}"))
        .with_error(error)
}

/// Returns the outcome if the platform does not list the version after a 2xx response that does not confirm it.
pub(super) fn build_unlisted_outcome(error: HttpError) -> Outcome {
    Outcome::new(OutcomeKind::Unverified)
        .with_problem(PublishProblem::NotListed)
        .with_error(error)
}

/// Returns the outcome if the platform lists the version after a lost response, but this run may not have published it.
/// `reason` completes the sentence of [`build_unknown_outcome`].
pub(super) fn build_unclear_outcome(reason: &str, error: HttpError) -> Outcome {
    let sentence = format!("the upload got no usable response, and {reason}");
    Outcome::new(OutcomeKind::Unknown)
        .with_problem(PublishProblem::UnclearOrigin(sentence))
        .with_error(error)
}

/// Adds the files that the platform ignored to the outcome. Returns whether the version may therefore be incomplete: if
/// the response does not list them, or lists one and the settings do not accept that.
fn record_ignored_resources(
    outcome: &mut Outcome,
    ignored_resources: Option<Vec<Value>>,
    on_ignored: OnIgnored,
) -> bool {
    let Some(ignored_resources) = ignored_resources else {
        outcome.kind = OutcomeKind::Unverified;
        outcome.problems.push(
            "the platform accepted the artifact, but its response has no `ignoredResources` list, so it is unknown whether \
             files were ignored"
                .into(),
        );
        return true;
    };
    outcome.problems.extend(
        list_ignored_files(&ignored_resources)
            .into_iter()
            .map(PublishProblem::Other),
    );
    let is_suspect = !ignored_resources.is_empty() && on_ignored != OnIgnored::Warn;
    if is_suspect {
        outcome.kind = OutcomeKind::Incomplete;
    }
    outcome.ignored_resources = ignored_resources;
    is_suspect
}

/// Returns a sentence about each file that the platform ignored.
pub fn list_ignored_files(ignored_resources: &[Value]) -> Vec<String> {
    let sentences = ignored_resources
        .iter()
        .map(|entry| format!("the platform ignored {}", describe_ignored_resource(entry)));
    sentences.collect()
}

/// Describes a file that the platform ignored. The API document does not define this value, so it is a text, an object
/// with `name` and `reason`, or any other JSON.
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
    fn ignored_resources_of_any_shape_are_listed() {
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
