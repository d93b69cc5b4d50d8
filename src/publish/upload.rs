//! Carries a plan out: one upload, its answer judged, the version looked up, and never a success that is not certain.

use super::hash::Hashes;
use super::outcome::{IfExists, OnIgnored, Options, Outcome, OutcomeKind};
use super::plan::{Plan, PlannedFile};
use super::{Source, contents::Contents, verify};
use crate::api::{PartSource, Platform, Upload, UploadPart};
use crate::http::{ErrorKind, HttpError};
use serde_json::Value;
use std::io::{self, Read};
use std::sync::Arc;

/// Told how many bytes of the request were sent so far; begins anew when the upload does.
pub type Progress = Arc<dyn Fn(u64) + Send + Sync>;

/// Publishes what is planned. The plan is not checked again: [`super::plan`] made it whole.
pub async fn publish(
    platform: &Platform,
    plan: &Plan,
    options: Options,
    progress: Option<Progress>,
) -> Outcome {
    let hashes = options.hash.then(|| Hashes::new(plan.files.len()));
    let answer = platform.publish(upload(plan, hashes.clone(), progress)).await;
    let mut outcome = match answer {
        Ok(answer) => accepted(platform, plan, options, answer.ignored_resources, None).await,
        Err(error) if error.was_accepted() => accepted(platform, plan, options, None, Some(error)).await,
        Err(error) if error.kind() == ErrorKind::Conflict => conflict(platform, plan, options, error).await,
        Err(error) if error.may_have_been_processed() => unknown(plan, error),
        Err(error) => Outcome::new(OutcomeKind::Failed)
            .with_problem("nothing was published")
            .with_error(error),
    };
    outcome.hashes = hashes.and_then(|hashes| hashes.complete(plan).ok());
    outcome
}

fn upload(plan: &Plan, hashes: Option<Hashes>, progress: Option<Progress>) -> Upload {
    let part = |file: &PlannedFile| UploadPart {
        name: file.path.clone(),
        length: file.bytes,
    };
    Upload {
        prefix: plan.prefix.clone(),
        version: plan.version_name.clone(),
        commit_hash: Some(plan.commit_hash.clone()),
        branch: plan.branch.clone(),
        parts: plan.files.iter().map(part).collect(),
        source: Arc::new(Parts {
            files: plan.files.clone(),
            contents: plan.contents(),
            hashes,
        }),
        progress,
    }
}

/// The plan's files, opened one by one as they are sent.
struct Parts {
    files: Vec<PlannedFile>,
    contents: Contents,
    hashes: Option<Hashes>,
}

impl PartSource for Parts {
    fn open(&self, part: usize) -> io::Result<Box<dyn Read + Send>> {
        let file = self.files.get(part).ok_or(io::ErrorKind::NotFound)?;
        let content = self
            .contents
            .open(&file.content, file.bytes)
            .map_err(io::Error::other)?;
        Ok(match &self.hashes {
            Some(hashes) => hashes.watch(part, file.bytes, content),
            None => content,
        })
    }
}

/// The platform took the artifact; `ignored` is what it left out, none where its answer does not tell.
async fn accepted(
    platform: &Platform,
    plan: &Plan,
    options: Options,
    ignored: Option<Vec<Value>>,
    error: Option<HttpError>,
) -> Outcome {
    let mut outcome = Outcome::new(OutcomeKind::Published);
    let mut is_suspect = judge_ignored(&mut outcome, ignored, options.on_ignored);
    outcome.error = error;
    if options.verify {
        is_suspect |= look_up(platform, plan, &mut outcome).await;
    }
    if is_suspect && options.on_ignored == OnIgnored::Disable {
        disable(platform, plan, &mut outcome).await;
    }
    outcome
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

/// Compares the published version with the plan. Whether it is proved to differ.
async fn look_up(platform: &Platform, plan: &Plan, outcome: &mut Outcome) -> bool {
    match platform
        .artifact_details(&plan.prefix, Some(&plan.version_name))
        .await
    {
        Ok(details) => {
            let differences = verify::differences(&details, plan);
            outcome.verified = differences.is_empty();
            if outcome.verified {
                return false;
            }
            outcome.kind = OutcomeKind::Incomplete;
            outcome.problems.extend(differences);
            true
        }
        Err(error) => {
            outcome.kind = OutcomeKind::Incomplete;
            outcome
                .problems
                .push(format!("it was published, and could not be verified: {error}"));
            outcome.error.get_or_insert(error);
            false
        }
    }
}

async fn disable(platform: &Platform, plan: &Plan, outcome: &mut Outcome) {
    match platform
        .set_artifact_enabled(&plan.prefix, &plan.version_name, false)
        .await
    {
        Ok(_) => outcome.disabled = true,
        Err(error) => {
            let problem =
                format!("the incomplete version could not be disabled, so consumers may meet it: {error}");
            outcome.problems.insert(0, problem);
            outcome.error.get_or_insert(error);
        }
    }
}

/// The version exists. It may be ours from an earlier run.
async fn conflict(platform: &Platform, plan: &Plan, options: Options, error: HttpError) -> Outcome {
    let exists = format!(
        "the version `{}` of `{}` exists, and a version is never changed",
        plan.version_name, plan.prefix
    );
    let outcome = Outcome::new(OutcomeKind::Conflict)
        .with_problem(exists)
        .with_error(error);
    if options.if_exists == IfExists::Fail {
        return outcome;
    }
    if plan.source == Source::Worktree {
        return outcome.with_problem(
            "the files are from the working tree, so the commit hash does not prove them the same",
        );
    }
    match platform
        .artifact_details(&plan.prefix, Some(&plan.version_name))
        .await
    {
        Err(error) => outcome.with_problem(format!("whether it is the same could not be looked up: {error}")),
        Ok(details) => {
            let differences = verify::differences(&details, plan);
            if differences.is_empty() {
                return Outcome {
                    verified: true,
                    ..Outcome::new(OutcomeKind::AlreadyPublished)
                };
            }
            differences.into_iter().fold(outcome, Outcome::with_problem)
        }
    }
}

fn unknown(plan: &Plan, error: HttpError) -> Outcome {
    let problem = format!(
        "the upload got no usable answer: the version `{}` of `{}` may be published or not",
        plan.version_name, plan.prefix
    );
    Outcome::new(OutcomeKind::Unknown)
        .with_problem(problem)
        .with_error(error)
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
