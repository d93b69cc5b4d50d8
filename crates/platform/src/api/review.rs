//! Pipeline review: API document, section "Pipeline review".

use super::lenient_values::read_texts;
use super::{HeaderError, Platform, to_header_value};
use crate::http::{ErrorKind, HeaderName, HttpError, Method, Repeat, Request};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use sluicegate_pipelines::findings::NO_ERROR_TYPE;
use std::collections::BTreeMap;
use uuid::Uuid;

const AGENT_VERSION: HeaderName = HeaderName::from_static("agent-version");

/// The fields of a review request: as in the API document, or as in another public description of the endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ReviewFields {
    /// `pipelines`.
    #[default]
    Pipelines,
    /// `filePaths` and `dataWarehouseType`.
    FilePaths {
        /// In upper case.
        data_warehouse: String,
    },
}

/// The files to review, and their commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewRequest {
    /// Branch name on the remote.
    pub branch_name: String,
    /// Full commit id; the remote must have the commit.
    pub commit_id: String,
    /// Paths from the repository root, with `/`.
    pub pipelines: Vec<String>,
}

impl ReviewRequest {
    /// Creates a request for a commit that exists in no repository (its hash is all zeros), so that the platform
    /// responds without reviewing anything.
    fn for_missing_commit() -> Self {
        Self {
            branch_name: "sluicegate-doctor".to_owned(),
            commit_id: "0".repeat(40),
            pipelines: vec!["sluicegate-doctor.orch.yaml".to_owned()],
        }
    }

    /// Returns the request's body with the field names that the platform expects.
    fn to_json(&self, fields: &ReviewFields) -> Value {
        let mut body = json!({ "branchName": self.branch_name, "commitId": self.commit_id });
        match fields {
            ReviewFields::Pipelines => body["pipelines"] = json!(self.pipelines),
            ReviewFields::FilePaths { data_warehouse } => {
                body["filePaths"] = json!(self.pipelines);
                body["dataWarehouseType"] = json!(data_warehouse);
            }
        }
        body
    }
}

/// The platform's review of the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReviewResponse {
    /// `PASSED`, `FAILED`, or a value that the API document does not define.
    pub review_status: Option<String>,
    /// The rule results; `None` if the field is missing.
    #[serde(default)]
    pub results: Option<BTreeMap<String, Vec<RuleResponse>>>,
    /// The platform's message, if the response has neither a status nor results.
    #[serde(skip)]
    pub message: Option<String>,
    /// Files that were not evaluated because of their type; missing or null is empty.
    #[serde(default, deserialize_with = "read_texts")]
    pub excluded_files: Vec<String>,
}

/// The result of one rule for one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RuleResponse {
    pub rule_name: Option<String>,
    /// `PASSED`, `FAILED`, `ERROR`, or a value that the API document does not define.
    pub status: Option<String>,
    /// `errorDetail.type`: why the rule could not be evaluated. `None` if there is no `errorDetail`.
    #[serde(default, rename = "errorDetail", deserialize_with = "deserialize_error_type")]
    pub error_type: Option<String>,
    /// The violations; missing or null is empty, entries that are not strings are kept as their JSON.
    #[serde(default, deserialize_with = "read_texts")]
    pub violations: Vec<String>,
}

/// Deserializes `errorDetail` to its type. Any value except null means that the rule could not be evaluated, even if it
/// has no type.
fn deserialize_error_type<'de, D: Deserializer<'de>>(reader: D) -> Result<Option<String>, D::Error> {
    let detail = Value::deserialize(reader)?;
    if detail.is_null() {
        return Ok(None);
    }
    let error_type = detail.get("type").and_then(Value::as_str);
    Ok(Some(error_type.unwrap_or(NO_ERROR_TYPE).to_owned()))
}

impl Platform {
    /// Reviews files: `POST /v1/projects/{projectId}/reviews`. A review changes nothing, so the request may be
    /// repeated. After a timeout it is repeated only once, because a request with fewer files helps more than further
    /// retries. The API document does not define a success status: 200 and 201 contain a review; another status such as
    /// 202 or 206 is an error because its review may be incomplete. If the response has no status and no results, its
    /// text becomes `message`.
    pub async fn review(
        &self,
        project: Uuid,
        agent_version: &str,
        request: &ReviewRequest,
        fields: &ReviewFields,
    ) -> Result<ReviewResponse, HttpError> {
        let call = self.build_review_call(project, agent_version, request, fields)?;
        let response = self
            .client
            .send(&call)
            .await
            .map_err(|error| add_review_hint(error, fields))?;
        if !response.is_ok() && !response.is_created() {
            return Err(response.unusable_error("only status 200 or 201 is a valid response to a review"));
        }
        let mut review: ReviewResponse = response.json()?;
        if review.review_status.is_none() && review.results.is_none() {
            review.message = Some(response.message_text());
        }
        Ok(review)
    }

    /// Builds the HTTP request for a review.
    fn build_review_call(
        &self,
        project: Uuid,
        agent_version: &str,
        request: &ReviewRequest,
        fields: &ReviewFields,
    ) -> Result<Request, HttpError> {
        let url = self.client.url(&["projects", &project.to_string(), "reviews"])?;
        let agent_version = to_header_value(agent_version).map_err(|error| agent_version_error(&error))?;
        Ok(Request::new(Method::POST, url, Repeat::Safe)
            .read_only()
            .header(AGENT_VERSION, agent_version)
            .json(&request.to_json(fields))
            .with_timeout_retries(1))
    }

    /// Checks whether the platform accepts these fields of a review request, by requesting the review of a commit that
    /// exists in no repository. Fails if the platform is unavailable, or if a 400 shows that it expects other fields
    /// or another data warehouse type. All other errors pass, because an error about the missing commit is expected.
    pub async fn check_review_fields(
        &self,
        project: Uuid,
        agent_version: &str,
        fields: &ReviewFields,
    ) -> Result<(), HttpError> {
        let request = ReviewRequest::for_missing_commit();
        match self.review(project, agent_version, &request, fields).await {
            Err(error) if error.is_unavailable() || is_about_other_fields(&error, fields) => Err(error),
            _ => Ok(()),
        }
    }

    /// Sends two requests that do not depend on the reviewed files: the review of a commit that exists in no
    /// repository, and the list of projects. Returns whether the platform has responded to any request so far. If it
    /// has, the platform is available, and a review without a response may have failed because of its own files.
    /// Retries of these requests are not reported, because the user did not ask for them.
    pub async fn send_probe(&self, project: Uuid, agent_version: &str, fields: &ReviewFields) -> bool {
        let request = ReviewRequest::for_missing_commit();
        let review = async {
            let call = self.build_review_call(project, agent_version, &request, fields)?;
            self.client.send(&call.probe()).await
        };
        let projects = async {
            let url = self.client.url(&["projects"])?;
            let call = Request::get(url).with_timeout_retries(1);
            self.client.send(&call.probe()).await
        };
        // The results are not needed, because the observer records every response with a status below 500.
        let _ = futures_util::join!(review, projects);
        self.observer().has_responded()
    }
}

/// Adds a hint to an error of a review: the setting for the fields that the platform expects or, after a 400 or 404,
/// the values to check.
fn add_review_hint(error: HttpError, fields: &ReviewFields) -> HttpError {
    if let Some(hint) = find_fields_hint(&error, fields) {
        return error.with_hint(hint);
    }
    match error.kind() {
        ErrorKind::BadRequest | ErrorKind::NotFound => error.with_hint(
            "check the base URL, the project, the agent version, and that the platform's repository has the branch and \
             the commit",
        ),
        _ => error,
    }
}

/// Returns whether the error shows that the platform expects fields other than `fields`, or another data warehouse
/// type.
fn is_about_other_fields(error: &HttpError, fields: &ReviewFields) -> bool {
    find_fields_hint(error, fields).is_some()
}

/// The hint for a platform that does not accept the documented fields.
const OTHER_FIELDS_HINT: &str = "this platform expects other fields in a review request: set --review-request \
    file-paths and --data-warehouse TYPE (SLUICEGATE_REVIEW_REQUEST, SLUICEGATE_DATA_WAREHOUSE)";

/// Words with which servers reject a field that they do not know. Any other complaint about the field `pipelines` is
/// about its values.
const UNKNOWN_FIELD_WORDS: [&str; 6] = [
    "unknown",
    "unrecognized",
    "unexpected",
    "unsupported",
    "not allowed",
    "not permitted",
];

/// Returns a hint about the setting to change, if a 400 mentions a field that the request does not have, or the data
/// warehouse type. Returns `None` for any other error.
fn find_fields_hint(error: &HttpError, fields: &ReviewFields) -> Option<&'static str> {
    if error.kind() != ErrorKind::BadRequest {
        return None;
    }
    match fields {
        ReviewFields::Pipelines
            if mentions_field(error, "filePaths") || mentions_field(error, "dataWarehouseType") =>
        {
            Some(OTHER_FIELDS_HINT)
        }
        ReviewFields::Pipelines if rejects_pipelines_field(error) => Some(OTHER_FIELDS_HINT),
        ReviewFields::FilePaths { .. } if mentions_field(error, "dataWarehouseType") => {
            Some("check the data warehouse type: --data-warehouse TYPE (SLUICEGATE_DATA_WAREHOUSE)")
        }
        ReviewFields::FilePaths { .. } if mentions_pipelines_field(error) => Some(
            "this platform expects the field `pipelines` in a review request: set --review-request pipelines \
             (SLUICEGATE_REVIEW_REQUEST), and remove --data-warehouse",
        ),
        _ => None,
    }
}

/// Returns whether the platform reported a violation for this field of the request.
fn has_violation(error: &HttpError, field: &str) -> bool {
    error
        .violations()
        .iter()
        .any(|violation| violation.field == field)
}

/// Returns whether the error mentions this field, in a violation or as a word of its text.
fn mentions_field(error: &HttpError, field: &str) -> bool {
    has_violation(error, field) || has_word(&error.server_text(), field)
}

/// Returns whether the error mentions the field `pipelines`, in a violation or in quotes: without quotes, it may be a
/// word of a sentence.
fn mentions_pipelines_field(error: &HttpError) -> bool {
    has_violation(error, "pipelines")
        || ['"', '\'', '`']
            .iter()
            .any(|quote| error.server_text().contains(&format!("{quote}pipelines{quote}")))
}

/// Returns whether the platform does not know the field `pipelines`.
fn rejects_pipelines_field(error: &HttpError) -> bool {
    let mut text = error.server_text().to_lowercase();
    for violation in error.violations() {
        text.push_str(&violation.message.to_lowercase());
    }
    mentions_pipelines_field(error) && UNKNOWN_FIELD_WORDS.iter().any(|word| text.contains(word))
}

/// Returns whether the text contains this name as a separate word. A word consists of ASCII letters and digits, like
/// the names of the request's fields.
fn has_word(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| word == name)
}

fn agent_version_error(error: &HeaderError) -> HttpError {
    HttpError::configuration(format!("the agent version cannot be sent: {error}"))
}

#[cfg(test)]
mod tests {
    use super::{ReviewFields, ReviewRequest, ReviewResponse};

    #[test]
    fn request_is_documents() {
        let request = ReviewRequest {
            branch_name: "b".to_owned(),
            commit_id: "c".to_owned(),
            pipelines: vec!["a/b.orch.yaml".to_owned()],
        };
        insta::assert_snapshot!(
            request.to_json(&ReviewFields::Pipelines),
            @r#"{"branchName":"b","commitId":"c","pipelines":["a/b.orch.yaml"]}"#
        );
        let other = ReviewFields::FilePaths {
            data_warehouse: "SNOWFLAKE".to_owned(),
        };
        insta::assert_snapshot!(
            request.to_json(&other),
            @r#"{"branchName":"b","commitId":"c","filePaths":["a/b.orch.yaml"],"dataWarehouseType":"SNOWFLAKE"}"#
        );
    }

    #[test]
    fn answers_are_read_leniently() {
        let answer: ReviewResponse = serde_json::from_str(
            r#"{ "new": 1, "results": { "a": [ { "status": "MAYBE", "violations": ["x", { "y": 1 }, 2] },
                { "ruleName": null, "errorDetail": null, "violations": null, "more": [] } ] },
                "excludedFiles": null }"#,
        )
        .unwrap();
        let rules = &answer.results.unwrap()["a"];
        assert_eq!(rules[0].violations, ["x", r#"{"y":1}"#, "2"]);
        assert_eq!(rules[0].status.as_deref(), Some("MAYBE"));
        assert_eq!(rules[1], super::RuleResponse::default());
        assert!(answer.excluded_files.is_empty() && answer.review_status.is_none());
    }

    #[test]
    fn null_results_are_missing() {
        let response: ReviewResponse = serde_json::from_str(r#"{ "results": null }"#).unwrap();
        assert_eq!(response.results, None);
    }
}
