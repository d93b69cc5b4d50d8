//! Reviews of real repositories.
//!
//! Endpoint: POST /v1/projects/{projectId}/reviews

use crate::platform::{Platform, expect_problem, fields, keys, success};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sluicegate_test_support::World;
use uuid::Uuid;

const PROJECT: Uuid = Uuid::from_u128(0x9c5b_94b1_35ad_49bb_b118_8e8f_c24a_bf80);
const RULES: &str = ".any/config/pipeline_quality_rules.yaml";

const GOOD: &str = "
type: orchestration
pipeline:
  components:
    Start: { type: start, transitions: { unconditional: [Done] } }
    Done: { type: end-success }
";
const WITHOUT_START: &str =
    "type: orchestration\npipeline: { components: { Load: { type: x }, Two: { type: y } } }";

/// Returns a rules file: names must match this pattern (error), and there may be at most this many components
/// (warning).
fn rules(pattern: &str, most: u32) -> String {
    format!(
        "rules:
  - {{ id: component-naming-convention, enabled: true, enforcementLevel: error, config: {{ regexMatchPattern: '{pattern}' }} }}
  - {{ id: maximum-components, enabled: true, enforcementLevel: warn, config: {{ maxComponents: {most} }} }}
"
    )
}

struct ReviewFixture {
    world: World,
    platform: Platform,
    commit: String,
}

impl ReviewFixture {
    /// Creates a project whose remote has these files on `main`.
    async fn new(files: &[(&str, &str)]) -> Self {
        let world = World::new();
        for (path, content) in files {
            world.write(path, content);
        }
        let commit = world.commit("first");
        world.push();
        let platform = Platform::with_project(PROJECT, world.remote()).await;
        Self {
            world,
            platform,
            commit,
        }
    }

    fn request(&self, branch: &str, commit: &str, pipelines: &[&str]) -> RequestBuilder {
        let body = json!({"branchName": branch, "commitId": commit, "pipelines": pipelines});
        self.post(&PROJECT.to_string())
            .header("Agent-Version", "9.0.0")
            .json(&body)
    }

    fn post(&self, project: &str) -> RequestBuilder {
        self.platform
            .request("member", Method::POST, &format!("/v1/projects/{project}/reviews"))
    }

    async fn review(&self, pipelines: &[&str]) -> Value {
        success(
            self.request("main", &self.commit, pipelines)
                .send()
                .await
                .unwrap(),
        )
        .await
    }

    async fn not_found(&self, branch: &str, commit: &str, pipelines: &[&str]) -> String {
        let response = self.request(branch, commit, pipelines).send().await.unwrap();
        expect_problem(response, 404).await["detail"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// Returns the statuses of a file's results, by rule.
fn statuses(review: &Value, path: &str) -> Vec<String> {
    let results = review["results"][path].as_array().unwrap();
    results
        .iter()
        .map(|result| format!("{} {}", result["ruleName"], result["status"]).replace('"', ""))
        .collect()
}

#[tokio::test]
async fn review_has_what_api_document_names() {
    let rules = format!(
        "{}  - {{ id: start-and-end-components, enabled: true, enforcementLevel: warn }}\n  - {{ id: no-such-rule, enabled: true, enforcementLevel: warn }}\n",
        rules("[A-Z].*", 1)
    );
    let files = [
        (RULES, rules.as_str()),
        ("a b.orch.yaml", GOOD),
        ("sub/notes.md", "x"),
    ];
    let fixture = ReviewFixture::new(&files).await;
    let review = fixture
        .review(&["a b.orch.yaml", "sub/notes.md", "a b.orch.yaml"])
        .await;
    assert_eq!(review["excludedFiles"], json!(["sub/notes.md"]));
    assert_eq!(
        statuses(&review, "a b.orch.yaml"),
        [
            "component-naming-convention PASSED",
            "maximum-components FAILED",
            "start-and-end-components PASSED",
            "no-such-rule ERROR"
        ]
    );
    let results = &review["results"]["a b.orch.yaml"];
    assert_eq!(
        keys(&results[0]).into_keys().collect::<Vec<_>>(),
        ["ruleName", "status"]
    );
    assert_eq!(results[1]["violations"].as_array().unwrap().len(), 1);
    assert_eq!(
        results[3]["errorDetail"],
        json!({"type": "designer/validator-not-found"})
    );
    let document: Value =
        serde_json::from_str(include_str!("../../../../tests/fixtures/api/review.json")).unwrap();
    assert_eq!(
        keys(&review).into_keys().collect::<Vec<_>>(),
        keys(&document).into_keys().collect::<Vec<_>>()
    );
    let of_any_rule = |review: &Value| {
        keys(&Value::Array(
            review["results"].as_object().unwrap().values().cloned().collect(),
        ))
    };
    assert_eq!(of_any_rule(&review), of_any_rule(&document));
}

#[tokio::test]
async fn only_error_enforcement_fails_a_review() {
    for (pattern, most, expected) in [
        (".*", 9, "PASSED"),
        (".*", 1, "PASSED"),
        ("x", 9, "FAILED"),
        ("(", 9, "FAILED"),
    ] {
        let fixture = ReviewFixture::new(&[(RULES, &rules(pattern, most)), ("a.orch.yaml", GOOD)]).await;
        let review = fixture.review(&["a.orch.yaml"]).await;
        assert_eq!(review["reviewStatus"], expected, "{pattern} {most}");
    }
}

#[tokio::test]
async fn evaluation_errors_fail_by_enforcement_and_without_a_valid_one() {
    for (rule, expected, kind) in [
        (
            "unused-components, enabled: true, enforcementLevel: warn",
            "PASSED",
            "designer/no-start-component",
        ),
        (
            "unused-components, enabled: true, enforcementLevel: error",
            "FAILED",
            "designer/no-start-component",
        ),
        (
            "unused-components, enabled: true, enforcementLevel: loud",
            "FAILED",
            "designer/invalid-enforcement-level",
        ),
        (
            "maximum-components, enabled: true, enforcementLevel: warn",
            "PASSED",
            "designer/invalid-rule-configuration",
        ),
    ] {
        let rules = format!("rules: [{{ id: {rule} }}]");
        let fixture = ReviewFixture::new(&[(RULES, &rules), ("a.orch.yaml", WITHOUT_START)]).await;
        let review = fixture.review(&["a.orch.yaml"]).await;
        assert_eq!(
            review["results"]["a.orch.yaml"][0]["errorDetail"]["type"], kind,
            "{review}"
        );
        assert_eq!(review["reviewStatus"], expected, "{rule}");
    }
}

#[tokio::test]
async fn rule_enabled_twice_is_as_strict_as_its_strictest_entry() {
    for (levels, expected) in [
        (["warn", "error"], "FAILED"),
        (["error", "warn"], "FAILED"),
        (["warn", "loud"], "FAILED"),
        (["warn", "warn"], "PASSED"),
    ] {
        let entry = |level| format!("{{ id: unused-components, enabled: true, enforcementLevel: {level} }}");
        let rules = format!("rules: [{}]", levels.map(entry).join(", "));
        let fixture = ReviewFixture::new(&[(RULES, &rules), ("a.orch.yaml", GOOD)]).await;
        let review = fixture.review(&["a.orch.yaml"]).await;
        assert_eq!(
            review["results"]["a.orch.yaml"][0]["errorDetail"]["type"], "designer/duplicate-enabled-rule",
            "{review}"
        );
        assert_eq!(review["reviewStatus"], expected, "{levels:?}");
    }
}

#[tokio::test]
async fn file_that_is_no_pipeline_does_not_stop_the_others() {
    let files = [
        (RULES, &*rules(".*", 9)),
        ("a.orch.yaml", GOOD),
        ("b.orch.yaml", "{ broken"),
        ("c.tran.yaml", ""),
    ];
    let review = ReviewFixture::new(&files)
        .await
        .review(&["a.orch.yaml", "b.orch.yaml", "c.tran.yaml"])
        .await;
    assert_eq!(review["results"]["a.orch.yaml"][0]["status"], "PASSED");
    for broken in ["b.orch.yaml", "c.tran.yaml"] {
        let results = review["results"][broken].as_array().unwrap();
        assert_eq!(results.len(), 2);
        assert!(
            results
                .iter()
                .all(|result| result["errorDetail"]["type"] == "designer/document-parse-error")
        );
    }
    assert_eq!(review["reviewStatus"], "FAILED");
}

#[tokio::test]
async fn with_all_rules_disabled_a_file_has_no_results() {
    let rules = "rules: [{ id: unused-components, enabled: false, enforcementLevel: error }]";
    let review = ReviewFixture::new(&[(RULES, rules), ("a.orch.yaml", GOOD)])
        .await
        .review(&["a.orch.yaml"])
        .await;
    assert_eq!(
        review,
        json!({"reviewStatus": "PASSED", "results": {"a.orch.yaml": []}, "excludedFiles": []})
    );
}

#[tokio::test]
async fn without_a_usable_rules_file_every_pipeline_reports_it() {
    let retrieval = "designer/rules-file-retrieval-error";
    for (files, kind) in [
        (&[][..], retrieval),
        (&[(".any/shared-pipelines.yaml", "pipelines: []")], retrieval),
        (
            &[
                (RULES, "rules: []"),
                (".other/shared-pipelines.yaml", "pipelines: []"),
            ],
            retrieval,
        ),
        (
            &[("any/config/pipeline_quality_rules.yaml", "rules: []")],
            retrieval,
        ),
        (&[(RULES, "rules: {")], "designer/rules-file-parse-error"),
        (&[(RULES, "rules: null")], "designer/rules-file-parse-error"),
    ] {
        let mut files = files.to_vec();
        files.extend([("a.orch.yaml", GOOD), ("b.tran.yaml", "")]);
        let review = ReviewFixture::new(&files)
            .await
            .review(&["a.orch.yaml", "b.tran.yaml"])
            .await;
        for path in ["a.orch.yaml", "b.tran.yaml"] {
            assert_eq!(
                statuses(&review, path),
                ["pipeline-quality-rules ERROR"],
                "{files:?}"
            );
            assert_eq!(
                review["results"][path][0]["errorDetail"]["type"], kind,
                "{files:?}"
            );
        }
        assert_eq!(review["reviewStatus"], "FAILED");
    }
}

#[tokio::test]
async fn rules_and_pipelines_are_those_of_the_asked_commit() {
    let fixture = ReviewFixture::new(&[(RULES, &rules(".*", 9)), ("a.orch.yaml", GOOD)]).await;
    fixture.world.write(RULES, rules("nothing", 9));
    let second = fixture.world.commit("second");
    fixture.world.push();
    assert_eq!(fixture.review(&["a.orch.yaml"]).await["reviewStatus"], "PASSED");
    let after = fixture
        .request("main", &second, &["a.orch.yaml"])
        .send()
        .await
        .unwrap();
    assert_eq!(success(after).await["reviewStatus"], "FAILED");
}

#[tokio::test]
async fn commit_must_be_full_id_in_real_branch() {
    let fixture = ReviewFixture::new(&[("a.orch.yaml", GOOD)]).await;
    let ReviewFixture { world, commit, .. } = &fixture;
    world.git("checkout -q -b other/branch");
    let elsewhere = world.commit("elsewhere");
    world.push();
    world.git("tag -a -m t v1");
    world.git("push -q origin v1");
    let tag = world.git("rev-parse v1");

    let value = fixture
        .request("other/branch", commit, &["a.orch.yaml"])
        .send()
        .await
        .unwrap();
    success(value).await;
    let unborn = "0".repeat(40);
    for id in [
        &commit[..12],
        "main",
        "HEAD",
        elsewhere.as_str(),
        tag.as_str(),
        unborn.as_str(),
        "x\u{0}",
        "-",
    ] {
        let detail = fixture.not_found("main", id, &["a.orch.yaml"]).await;
        assert!(detail.contains("no commit"), "{id}: {detail}");
    }
    for branch in [
        "none",
        "HEAD",
        "refs/heads/main",
        "main~0",
        "v1",
        "origin/main",
        "../heads/main",
        "ma\u{0}in",
        "a b",
        &"long".repeat(300),
    ] {
        let detail = fixture.not_found(branch, commit, &["a.orch.yaml"]).await;
        assert!(detail.contains("no branch"), "{branch}: {detail}");
    }
}

#[tokio::test]
async fn paths_that_are_not_in_the_commit_are_named() {
    let fixture = ReviewFixture::new(&[("sub/a.orch.yaml", GOOD)]).await;
    fixture.world.write("later.orch.yaml", GOOD);
    fixture.world.commit("not pushed");
    for path in [
        "later.orch.yaml",
        "sub",
        "/sub/a.orch.yaml",
        "./sub/a.orch.yaml",
        "sub/A.orch.yaml",
        "sub/a.orch.yaml/x",
        "x.md",
        "\u{0}",
    ] {
        let detail = fixture
            .not_found("main", &fixture.commit, &["sub/a.orch.yaml", path])
            .await;
        assert_eq!(detail, format!("the commit does not contain `{path}`"));
    }
}

#[tokio::test]
async fn review_takes_any_number_of_files() {
    let names: Vec<String> = (100..350)
        .map(|number| format!("sub/{number}.orch.yaml"))
        .collect();
    let rules = rules(".*", 9);
    let mut files = vec![(RULES, rules.as_str())];
    files.extend(names.iter().map(|name| (name.as_str(), GOOD)));
    let fixture = ReviewFixture::new(&files).await;
    let mut asked: Vec<&str> = names.iter().map(String::as_str).collect();
    let review = fixture.review(&asked).await;
    assert_eq!(review["results"].as_object().unwrap().len(), names.len());
    assert_eq!(review["reviewStatus"], "PASSED");
    let absent: Vec<String> = (10..22).map(|number| format!("no/{number}")).collect();
    asked.extend(absent.iter().map(String::as_str));
    let detail = fixture.not_found("main", &fixture.commit, &asked).await;
    assert!(
        detail.starts_with("the commit does not contain `no/10`, `no/11`"),
        "{detail}"
    );
    assert!(detail.ends_with("`no/19` and 2 more"), "{detail}");
}

#[tokio::test]
async fn project_must_exist() {
    let fixture = ReviewFixture::new(&[("a.orch.yaml", GOOD)]).await;
    expect_problem(
        fixture
            .post(&Uuid::from_u128(1).to_string())
            .body("{ broken")
            .send()
            .await
            .unwrap(),
        404,
    )
    .await;
    for malformed in ["no-uuid", "9c5b94b135ad49bbb1188e8fc24abf80", "%FF", "%20"] {
        let body = expect_problem(
            fixture.post(malformed).body("{ broken").send().await.unwrap(),
            400,
        )
        .await;
        assert_eq!(fields(&body), ["projectId"]);
    }
}

#[tokio::test]
async fn header_and_body_are_checked_together() {
    let fixture = ReviewFixture::new(&[("a.orch.yaml", GOOD)]).await;
    let project = PROJECT.to_string();
    let body = json!({"branchName": "", "commitId": 7, "pipelines": ["a.orch.yaml", null]});
    let refusal = expect_problem(fixture.post(&project).json(&body).send().await.unwrap(), 400).await;
    assert_eq!(
        fields(&refusal),
        ["Agent-Version", "branchName", "commitId", "pipelines[1]"]
    );
    let refusal = expect_problem(
        fixture
            .post(&project)
            .header("Agent-Version", "9")
            .json(&json!({}))
            .send()
            .await
            .unwrap(),
        400,
    )
    .await;
    assert_eq!(fields(&refusal), ["branchName", "commitId", "pipelines"]);
}
