//! Pipeline review: API document, section "Pipeline review".

use super::lenient::{null_is_default, texts};
use super::{HeaderError, Platform, header_value};
use crate::http::{ErrorKind, HeaderName, HttpError, Method, Repeat, Request};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use uuid::Uuid;

const AGENT_VERSION: HeaderName = HeaderName::from_static("agent-version");

/// Which files are reviewed, and in which state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewRequest {
    /// The branch, as the remote names it.
    pub branch_name: String,
    /// The full commit id; it must be on the remote.
    pub commit_id: String,
    /// Paths from the repository root, with `/`.
    pub pipelines: Vec<String>,
}

/// What the platform says about the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewAnswer {
    /// `PASSED`, `FAILED`, or something the document does not know.
    pub review_status: Option<String>,
    /// The rule results; `None` if the field is missing.
    #[serde(default)]
    pub results: Option<ReviewResults>,
    /// The platform's message, if the answer has neither a status nor results.
    #[serde(skip)]
    pub said_instead: Option<String>,
    /// Files that were not evaluated because of their type; missing or null is empty.
    #[serde(default, deserialize_with = "texts")]
    pub excluded_files: Vec<String>,
}

/// The result of one rule for one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleAnswer {
    /// The rule.
    pub rule_name: Option<String>,
    /// `PASSED`, `FAILED`, `ERROR`, or something the document does not know.
    pub status: Option<String>,
    /// `errorDetail.type`: why the rule could not be evaluated.
    #[serde(default, rename = "errorDetail", deserialize_with = "error_type")]
    pub error_type: Option<String>,
    /// The violations; missing or null is empty, entries that are no text are kept as their JSON.
    #[serde(default, deserialize_with = "texts")]
    pub violations: Vec<String>,
}

/// The rule results of all files. Those of a path that is there twice are put together: the last one alone could hide a
/// failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewResults {
    /// By file path.
    pub files: BTreeMap<String, Vec<RuleAnswer>>,
    /// The paths that are there twice, with different results.
    pub contradictory: BTreeSet<String>,
}

impl<'de> Deserialize<'de> for ReviewResults {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_map(ResultsVisitor)
    }
}

struct ResultsVisitor;

impl<'de> Visitor<'de> for ResultsVisitor {
    type Value = ReviewResults;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from file path to rule results")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ReviewResults, A::Error> {
        let mut all = ReviewResults::default();
        while let Some((path, rules)) = entries.next_entry::<String, Vec<RuleAnswer>>()? {
            match all.files.get_mut(&path) {
                None => {
                    all.files.insert(path, rules);
                }
                Some(known) if *known == rules => {}
                Some(known) => {
                    known.extend(rules);
                    all.contradictory.insert(path);
                }
            }
        }
        Ok(all)
    }
}

#[derive(Default, Deserialize)]
struct ErrorDetail {
    r#type: Option<String>,
}

fn error_type<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    null_is_default::<ErrorDetail, D>(reader).map(|detail| detail.r#type)
}

impl Platform {
    /// Reviews files: `POST /v1/projects/{projectId}/reviews`. It changes nothing, so it may be repeated; after a
    /// timeout only once, since fewer files help more than further tries. The document shows no success status: 200 and
    /// 201 carry a review, any other, such as a 202 or a 206, may be a part of one.
    pub async fn review(
        &self,
        project: Uuid,
        agent_version: &str,
        request: &ReviewRequest,
    ) -> Result<ReviewAnswer, HttpError> {
        let url = self.client.url(&["projects", &project.to_string(), "reviews"])?;
        let body = serde_json::json!(request);
        let call = Request::new(Method::POST, url, Repeat::Safe)
            .reading()
            .header(
                AGENT_VERSION,
                header_value(agent_version).map_err(|why| unfit(&why))?,
            )
            .json(&body)
            .timeout_retries(1);
        let response = self.client.send(&call).await.map_err(with_place)?;
        if !response.is_ok() && !response.is_created() {
            return Err(response.unusable("only a 200 or a 201 is the answer to a review"));
        }
        let mut answer: ReviewAnswer = response.json()?;
        if answer.review_status.is_none() && answer.results.is_none() {
            answer.said_instead = Some(response.said());
        }
        Ok(answer)
    }
}

/// The platform knows one of the names that the request has not.
fn with_place(error: HttpError) -> HttpError {
    match error.kind() {
        ErrorKind::BadRequest | ErrorKind::NotFound => error.with_hint(
            "check the base URL, the project, the agent version, and that the platform's repository has the branch and \
             the commit",
        ),
        _ => error,
    }
}

fn unfit(why: &HeaderError) -> HttpError {
    HttpError::configuration(format!("the agent version cannot be sent: {why}"))
}

#[cfg(test)]
mod tests {
    use super::{ReviewAnswer, ReviewRequest};

    #[test]
    fn the_request_is_the_documents() {
        let request = ReviewRequest {
            branch_name: "b".to_owned(),
            commit_id: "c".to_owned(),
            pipelines: vec!["a/b.orch.yaml".to_owned()],
        };
        insta::assert_snapshot!(
            serde_json::to_string(&request).unwrap(),
            @r#"{"branchName":"b","commitId":"c","pipelines":["a/b.orch.yaml"]}"#
        );
    }

    #[test]
    fn answers_are_read_leniently() {
        let answer: ReviewAnswer = serde_json::from_str(
            r#"{ "new": 1, "results": { "a": [ { "status": "MAYBE", "violations": ["x", { "y": 1 }, 2] },
                { "ruleName": null, "errorDetail": null, "violations": null, "more": [] } ] },
                "excludedFiles": null }"#,
        )
        .unwrap();
        let rules = &answer.results.unwrap().files["a"];
        assert_eq!(rules[0].violations, ["x", r#"{"y":1}"#, "2"]);
        assert_eq!(rules[0].status.as_deref(), Some("MAYBE"));
        assert_eq!(rules[1], super::RuleAnswer::default());
        assert!(answer.excluded_files.is_empty() && answer.review_status.is_none());
    }

    #[test]
    fn a_path_that_stands_twice_hides_nothing() {
        let twice = r#"{ "results": { "a": [{ "status": "FAILED" }], "a": [{ "status": "PASSED" }] } }"#;
        let answer: ReviewAnswer = serde_json::from_str(twice).unwrap();
        let results = answer.results.unwrap();
        assert!(results.contradictory.contains("a"));
        let found: Vec<_> = results.files["a"]
            .iter()
            .map(|rule| rule.status.clone().unwrap())
            .collect();
        assert_eq!(found, ["FAILED", "PASSED"]);
        let same = r#"{ "results": { "a": [{ "status": "FAILED" }], "a": [{ "status": "FAILED" }] } }"#;
        let answer: ReviewAnswer = serde_json::from_str(same).unwrap();
        let results = answer.results.unwrap();
        assert!(results.contradictory.is_empty() && results.files["a"].len() == 1);
        let none: ReviewAnswer = serde_json::from_str(r#"{ "results": null }"#).unwrap();
        assert_eq!(none.results, None);
    }
}
