//! Determines the outcome of an upload, and never reports success unless it is certain.

use super::lookup::{LookedUp, Lookup, latest_without};
use super::outcome::{IfExists, OnIgnored, Options, Outcome, OutcomeKind};
use super::{Plan, Source, verify};
use serde_json::Value;
use sluicegate_platform::api::{ArtifactDetails, Platform, PublishResponse};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::time::Duration;

/// Note about an older version: only the response to its upload listed the files that were left out.
const LEFT_OUT_THEN: &str =
    "it is no longer possible to see which files the platform left out when the version was published";

/// Compares the plan with the platform's state to determine the outcome.
pub(super) struct Judge<'a> {
    pub platform: &'a Platform,
    pub plan: &'a Plan,
    pub options: Options,
}

impl Judge<'_> {
    pub(super) const fn lookup(&self) -> Lookup<'_> {
        Lookup {
            platform: self.platform,
            plan: self.plan,
            patience: self.options.patience,
        }
    }

    /// Returns the outcome after the platform accepted the artifact; `answer` is empty if the response was unusable.
    pub(super) async fn accepted(&self, answer: PublishResponse, error: Option<HttpError>) -> Outcome {
        let mut outcome = Outcome::new(OutcomeKind::Published);
        let mut is_suspect = judge_ignored(&mut outcome, answer.ignored_resources, self.options.on_ignored);
        if let Some(other) = answer.version_name.filter(|name| *name != self.plan.version_name) {
            let said =
                format!("the platform's response names the version `{other}`, not the one that was sent");
            outcome.problems.push(said);
        }
        outcome.error = error;
        if self.options.verify {
            is_suspect |= self.check(&mut outcome).await;
        }
        self.quarantine(outcome, is_suspect).await
    }

    /// Returns the outcome for a version that commit and time identify as ours, after the response was lost.
    pub(super) async fn ours(&self, details: &ArtifactDetails, lost: HttpError) -> Outcome {
        let differences = verify::differences(details, self.plan);
        let verified = differences.is_empty();
        if verified && verify::proves_whole(self.plan) {
            let note =
                format!("the upload's response was lost, but the details prove the version complete: {lost}");
            return Outcome {
                verified,
                ..Outcome::new(OutcomeKind::Published).with_problem(note)
            };
        }
        let unknown =
            "this run published the version, but without the response it is unknown what was left out";
        let outcome = differences
            .into_iter()
            .fold(Outcome::new(OutcomeKind::Incomplete), Outcome::with_problem)
            .with_problem(unknown)
            .with_error(lost);
        self.quarantine(Outcome { verified, ..outcome }, true).await
    }

    /// Compares the published version with the plan; returns whether it certainly differs.
    async fn check(&self, outcome: &mut Outcome) -> bool {
        let (why, error) = match self.lookup().until_shown().await {
            LookedUp::There(details) => {
                let mut differences = verify::differences(&details, self.plan);
                differences.extend(disabled(&details));
                outcome.verified = differences.is_empty();
                if outcome.verified {
                    return false;
                }
                outcome.kind = OutcomeKind::Incomplete;
                outcome.problems.extend(differences);
                return true;
            }
            LookedUp::NotThere => ("the platform does not show the version".to_owned(), None),
            LookedUp::Unclear(why, error) => (why, error),
        };
        outcome.kind = OutcomeKind::Incomplete;
        outcome.problems.push(format!(
            "the version was published but could not be verified: {why}"
        ));
        if outcome.error.is_none() {
            outcome.error = error;
        }
        false
    }

    /// Disables a suspect version if configured, so that \[Latest\] does not lead consumers to it.
    async fn quarantine(&self, outcome: Outcome, is_suspect: bool) -> Outcome {
        if !is_suspect || self.options.on_ignored != OnIgnored::Disable {
            return outcome;
        }
        withdraw(self.platform, self.plan, self.options.patience, outcome).await
    }

    /// Returns the outcome after a conflict: another run published the version first.
    pub(super) async fn conflict(&self, error: HttpError) -> Outcome {
        if self.options.if_exists == IfExists::Fail {
            return self.exists().with_error(error);
        }
        match self.lookup().until_there().await {
            LookedUp::There(details) => self.existing(&details),
            LookedUp::NotThere => self
                .exists()
                .with_problem("could not compare its content: the platform does not show the version"),
            LookedUp::Unclear(why, _) => self
                .exists()
                .with_problem(format!("could not compare its content: {why}")),
        }
    }

    /// Returns the outcome for a version that another run published, possibly with the same content.
    pub(super) fn existing(&self, details: &ArtifactDetails) -> Outcome {
        let mut differences = verify::differences(details, self.plan);
        differences.extend(disabled(details));
        if self.options.if_exists == IfExists::SameContent {
            if self.plan.source == Source::Worktree {
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
                return if verify::proves_whole(self.plan) {
                    outcome
                } else {
                    outcome.with_problem(LEFT_OUT_THEN)
                };
            }
        }
        differences.into_iter().fold(self.exists(), Outcome::with_problem)
    }

    /// Like [`Self::existing`], for a version that appeared after a lost response; `why` says how it differs from ours.
    pub(super) fn anothers(&self, details: &ArtifactDetails, why: String) -> Outcome {
        let mut outcome = self.existing(details);
        if outcome.kind == OutcomeKind::Conflict && !outcome.problems.contains(&why) {
            outcome.problems.push(why);
        }
        outcome
    }

    fn exists(&self) -> Outcome {
        Outcome::new(OutcomeKind::Conflict).with_problem(format!(
            "the version `{}` of `{}` exists, and a version is never changed",
            self.plan.version_name, self.plan.prefix
        ))
    }
}

/// Disables the version of the plan, so that consumers do not get it, and records the result in the outcome.
pub async fn withdraw(platform: &Platform, plan: &Plan, patience: Duration, mut outcome: Outcome) -> Outcome {
    let (prefix, version) = (&plan.prefix, &plan.version_name);
    match platform.set_artifact_enabled(prefix, version, false).await {
        Ok(_) => {
            outcome.disabled = true;
            outcome.latest = Some(latest_without(platform, prefix, version, patience).await);
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
fn disabled(details: &ArtifactDetails) -> Option<String> {
    (details.artifact.enabled == Some(false)).then(|| "the version is disabled".to_owned())
}

/// Returns the outcome if nothing was sent because it is unknown whether the version exists.
pub(super) fn not_begun(why: &str, error: Option<HttpError>) -> Outcome {
    let outcome = Outcome::new(OutcomeKind::Failed);
    match error {
        Some(error) if matches!(error.kind(), ErrorKind::Unauthorized | ErrorKind::Forbidden) => {
            outcome.with_problem("nothing was sent").with_error(error)
        }
        Some(error) => outcome
            .with_problem("nothing was sent: could not determine whether the version exists")
            .with_error(error),
        None => outcome.with_problem(format!(
            "nothing was sent: could not determine whether the version exists: {why}"
        )),
    }
}

/// Returns the outcome of a rejected upload. `lost` is the error of an earlier upload that was lost and not found.
pub(super) fn refused(error: HttpError, lost: Option<&HttpError>) -> Outcome {
    let outcome = Outcome::new(OutcomeKind::Failed);
    match lost {
        None => outcome.with_problem("nothing was published"),
        Some(lost) => outcome.with_problem(format!(
            "an earlier upload got no response and was not found later; it may still appear: {lost}"
        )),
    }
    .with_error(error)
}

/// Returns the outcome if neither a response nor a lookup shows the result.
pub(super) fn unknown(why: &str, error: HttpError) -> Outcome {
    Outcome::new(OutcomeKind::Unknown)
        .with_problem(format!("the upload got no usable response, and {why}"))
        .with_error(error)
}

/// Evaluates the ignored resources; returns whether the version may be incomplete, unless the settings accept that.
fn judge_ignored(outcome: &mut Outcome, ignored: Option<Vec<Value>>, on_ignored: OnIgnored) -> bool {
    let Some(ignored) = ignored else {
        outcome.kind = OutcomeKind::Incomplete;
        outcome.problems.push(
            "the platform accepted the artifact, but its response has no `ignoredResources` list".to_owned(),
        );
        return true;
    };
    outcome.problems.extend(
        ignored
            .iter()
            .map(|entry| format!("the platform left out {}", described(entry))),
    );
    let is_suspect = !ignored.is_empty() && on_ignored != OnIgnored::Warn;
    if is_suspect {
        outcome.kind = OutcomeKind::Incomplete;
    }
    outcome.ignored = ignored;
    is_suspect
}

/// Describes an ignored resource. The API document does not define its fields: a string, `{ name, reason }`, or any
/// other JSON.
fn described(entry: &Value) -> String {
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
        let told = entries.iter().map(described).collect::<Vec<_>>().join("; ");
        insta::assert_snapshot!(told, @r#"`a.zip`; `b`: no; `c`; {"path":1}"#);
    }
}
