//! Judges what became of an upload, and never as a success what is not certain.

use super::lookup::{LookedUp, Lookup, latest_without};
use super::outcome::{IfExists, OnIgnored, Options, Outcome, OutcomeKind};
use super::{Plan, Source, verify};
use crate::platform::api::{ArtifactDetails, Platform, PublishAnswer};
use crate::platform::http::{ErrorKind, HttpError};
use serde_json::Value;

/// What a version that was there before cannot tell: only the answer to its upload did.
const LEFT_OUT_THEN: &str =
    "what the platform left out of the version when it was published cannot be told again";

/// Who judges: what was planned, held against what the platform shows.
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

    /// The platform took the artifact; the answer may be one that could not be read, and then tells nothing.
    pub(super) async fn accepted(&self, answer: PublishAnswer, error: Option<HttpError>) -> Outcome {
        let mut outcome = Outcome::new(OutcomeKind::Published);
        let mut is_suspect = judge_ignored(&mut outcome, answer.ignored_resources, self.options.on_ignored);
        if let Some(other) = answer.version_name.filter(|name| *name != self.plan.version_name) {
            let said =
                format!("the platform's answer names the version `{other}`, not the one that was sent");
            outcome.problems.push(said);
        }
        outcome.error = error;
        if self.options.verify {
            is_suspect |= self.check(&mut outcome).await;
        }
        self.quarantine(outcome, is_suspect).await
    }

    /// The version is ours by commit and time, and the answer that told what was left out is lost.
    pub(super) async fn ours(&self, details: &ArtifactDetails, lost: HttpError) -> Outcome {
        let differences = verify::differences(details, self.plan);
        let verified = differences.is_empty();
        if verified && verify::proves_whole(self.plan) {
            let note =
                format!("the upload's answer was lost, and the details prove the version whole: {lost}");
            return Outcome {
                verified,
                ..Outcome::new(OutcomeKind::Published).with_problem(note)
            };
        }
        let unknown =
            "it is this run's, and the upload's answer was lost, so what the platform left out is not known";
        let outcome = differences
            .into_iter()
            .fold(Outcome::new(OutcomeKind::Incomplete), Outcome::with_problem)
            .with_problem(unknown)
            .with_error(lost);
        self.quarantine(Outcome { verified, ..outcome }, true).await
    }

    /// Compares the published version with the plan. Whether it is proved to differ.
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
            LookedUp::NotThere => ("the platform does not show it".to_owned(), None),
            LookedUp::Unclear(why, error) => (why, error),
        };
        outcome.kind = OutcomeKind::Incomplete;
        outcome
            .problems
            .push(format!("it was published, and could not be verified: {why}"));
        if outcome.error.is_none() {
            outcome.error = error;
        }
        false
    }

    /// Disables a suspect version if asked to, so that no consumer's \[Latest\] meets it.
    async fn quarantine(&self, mut outcome: Outcome, is_suspect: bool) -> Outcome {
        if !is_suspect || self.options.on_ignored != OnIgnored::Disable {
            return outcome;
        }
        let (prefix, version) = (&self.plan.prefix, &self.plan.version_name);
        match self.platform.set_artifact_enabled(prefix, version, false).await {
            Ok(_) => {
                outcome.disabled = true;
                let patience = self.options.patience;
                outcome.latest = Some(latest_without(self.platform, prefix, version, patience).await);
            }
            Err(error) => {
                let problem = format!(
                    "the incomplete version could not be disabled, so consumers may meet it: {error}"
                );
                outcome.disable_failed = true;
                outcome.problems.insert(0, problem);
                outcome.error.get_or_insert(error);
            }
        }
        outcome
    }

    /// The upload was refused because the version exists: a twin was faster.
    pub(super) async fn conflict(&self, error: HttpError) -> Outcome {
        if self.options.if_exists == IfExists::Fail {
            return self.exists().with_error(error);
        }
        match self.lookup().until_there().await {
            LookedUp::There(details) => self.existing(&details),
            LookedUp::NotThere => self
                .exists()
                .with_problem("whether it is the same cannot be told: the platform does not show it"),
            LookedUp::Unclear(why, _) => self
                .exists()
                .with_problem(format!("whether it is the same cannot be told: {why}")),
        }
    }

    /// The version exists and is not this run's. It may be the same all the same.
    pub(super) fn existing(&self, details: &ArtifactDetails) -> Outcome {
        let mut differences = verify::differences(details, self.plan);
        differences.extend(disabled(details));
        if self.options.if_exists == IfExists::SameContent {
            if self.plan.source == Source::Worktree {
                differences.push(
                    "the files are from the working tree, so the commit hash does not prove them the same"
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

    /// The same for a version that appeared after a lost answer; `why` is by what it is told from ours.
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

/// No consumer can use a version that is disabled.
fn disabled(details: &ArtifactDetails) -> Option<String> {
    (details.artifact.enabled == Some(false)).then(|| "it is disabled".to_owned())
}

/// Nothing was sent, as it cannot be told whether the version exists.
pub(super) fn not_begun(why: &str, error: Option<HttpError>) -> Outcome {
    let outcome = Outcome::new(OutcomeKind::Failed);
    match error {
        Some(error) if matches!(error.kind(), ErrorKind::Unauthorized | ErrorKind::Forbidden) => {
            outcome.with_problem("nothing was sent").with_error(error)
        }
        Some(error) => outcome
            .with_problem("whether the version exists cannot be told, so nothing was sent")
            .with_error(error),
        None => outcome.with_problem(format!(
            "whether the version exists cannot be told, so nothing was sent: {why}"
        )),
    }
}

/// The upload was refused. `lost` is an earlier one of this run whose answer was lost and that was not found.
pub(super) fn refused(error: HttpError, lost: Option<&HttpError>) -> Outcome {
    let outcome = Outcome::new(OutcomeKind::Failed);
    match lost {
        None => outcome.with_problem("nothing was published"),
        Some(lost) => outcome.with_problem(format!(
            "an earlier upload of this run got no answer and was not found afterwards; it may yet appear: {lost}"
        )),
    }
    .with_error(error)
}

/// No answer and no lookup tells what became of it.
pub(super) fn unknown(why: &str, error: HttpError) -> Outcome {
    Outcome::new(OutcomeKind::Unknown)
        .with_problem(format!("the upload got no usable answer, and {why}"))
        .with_error(error)
}

/// Whether something may have been left out, apart from what was waved through.
fn judge_ignored(outcome: &mut Outcome, ignored: Option<Vec<Value>>, on_ignored: OnIgnored) -> bool {
    let Some(ignored) = ignored else {
        outcome.kind = OutcomeKind::Incomplete;
        outcome.problems.push(
            "the platform took the artifact, and its answer does not tell what it left out (`ignoredResources`)".to_owned(),
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

/// An ignored resource in words. The API document does not show its fields: a text, or `{ name, reason }`, or whatever
/// came.
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
