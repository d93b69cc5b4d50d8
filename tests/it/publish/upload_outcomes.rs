//! Each possible outcome of an upload.

use crate::publish::planned_project::{CONFIG, plan_world, world_to_plan};
use crate::publish::worktree_files::on_disk;
use crate::support::{World, answer, in_turn};
use secrecy::SecretString;
use serde_json::{Value, json};
use sluicegate::publish::{
    IfExists, LatestVersion, OnIgnored, Outcome, OutcomeKind, Plan, PublishOptions, Receipt, Withdrawal,
    execute_plan,
};
use sluicegate_platform::api::Platform;
use sluicegate_platform::http::{BaseUrl, Client, Delays, ErrorKind, Settings, TokenSource};
use std::time::Duration;
use wiremock::matchers::{body_json, method, path, query_param, query_param_is_missing};
use wiremock::{Mock, MockServer, Respond, ResponseTemplate};

const ARTIFACTS: &str = "/v1/shared-pipelines/artifacts";
const DETAILS: &str = "/v1/shared-pipelines/artifacts/details";

fn hashing_publish_options() -> PublishOptions {
    PublishOptions {
        on_ignored: OnIgnored::Fail,
        if_exists: IfExists::Fail,
        verify: true,
        lookup_timeout: Duration::ZERO,
        needs_hashes: true,
        retries: 2,
    }
}

/// A plan, and the server that receives it.
struct Stage {
    world: World,
    plan: Plan,
    server: MockServer,
}

impl Stage {
    async fn new() -> Self {
        let world = world_to_plan();
        let plan = plan_world(&world);
        let stage = Self {
            world,
            plan,
            server: MockServer::start().await,
        };
        // The lookup before the upload: the version does not exist yet.
        Mock::given(method("GET"))
            .and(path(DETAILS))
            .and(query_param("versionName", &stage.plan.version_name))
            .respond_with(ResponseTemplate::new(404))
            .up_to_n_times(1)
            .expect(1)
            .with_priority(1)
            .mount(&stage.server)
            .await;
        stage
    }

    fn details(&self) -> Value {
        json!({
            "artifactDetails": {
                "sharedPipelineIdPrefix": "demo", "versionName": self.plan.version_name, "enabled": true,
                "createdAt": "2026-11-20T09:30:00Z", "provider": "public-api",
                "commitHash": self.plan.commit_hash, "branch": "main",
            },
            "sharedPipelines": [{ "sharedPipelineId": "load-it", "sourcePipeline": "load", "description": null }],
        })
    }

    /// Sets the response to the upload, which must be sent exactly once.
    async fn upload(&self, answer: ResponseTemplate) -> &Self {
        Mock::given(method("POST"))
            .and(path(ARTIFACTS))
            .respond_with(answer)
            .expect(1)
            .mount(&self.server)
            .await;
        self
    }

    /// Sets the details after the upload.
    async fn shows(&self, answer: ResponseTemplate) -> &Self {
        self.details_are(answer, 1).await
    }

    async fn details_are(&self, answer: impl Respond + 'static, times: u64) -> &Self {
        Mock::given(method("GET"))
            .and(path(DETAILS))
            .and(query_param("sharedPipelineIdPrefix", "demo"))
            .and(query_param("versionName", &self.plan.version_name))
            .respond_with(answer)
            .expect(times)
            .mount(&self.server)
            .await;
        self
    }

    /// Sets the response for the latest version, which is requested without a version name.
    async fn latest_is(&self, answer: ResponseTemplate) -> &Self {
        Mock::given(method("GET"))
            .and(path(DETAILS))
            .and(query_param_is_missing("versionName"))
            .respond_with(answer)
            .expect(1)
            .mount(&self.server)
            .await;
        self
    }

    async fn disables(&self, answer: ResponseTemplate) -> &Self {
        let body = json!({ "sharedPipelineIdPrefix": "demo", "versionName": self.plan.version_name, "enabled": false });
        Mock::given(method("PATCH"))
            .and(path(ARTIFACTS))
            .and(body_json(body))
            .respond_with(answer)
            .expect(1)
            .mount(&self.server)
            .await;
        self
    }

    async fn run(&self, options: PublishOptions) -> Outcome {
        let settings = Settings {
            base_url: BaseUrl::parse(&self.server.uri()).unwrap(),
            token: TokenSource::Value(SecretString::from("t")),
            timeout: Duration::from_secs(20),
            retries: 0,
            ca_cert: None,
            client_certificate: None,
            observer: sluicegate_platform::http::Observer::default(),
        };
        let platform = Platform::new(Client::with_delays(settings, Delays::default()).unwrap());
        execute_plan(&platform, &self.plan, options, None).await
    }
}

fn complete_response() -> ResponseTemplate {
    ResponseTemplate::new(201).set_body_json(json!({ "ignoredResources": [] }))
}

fn response_with_ignored_file() -> ResponseTemplate {
    let ignored = json!([{ "name": "x.zip", "reason": "archives are not supported" }]);
    ResponseTemplate::new(201).set_body_json(json!({ "ignoredResources": ignored }))
}

#[tokio::test]
async fn file_that_changed_after_it_was_checked_is_not_sent() {
    let files = ["load.orch.yaml", CONFIG];
    for (name, needs_hashes) in files.into_iter().flat_map(|name| [(name, true), (name, false)]) {
        let mut stage = Stage::new().await;
        stage.plan = on_disk(&stage.world);
        let path = stage.world.work().join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replace("load", "dump")).unwrap();
        let outcome = stage
            .run(PublishOptions {
                needs_hashes,
                ..hashing_publish_options()
            })
            .await;
        assert_eq!(outcome.kind, OutcomeKind::Failed, "{outcome:?}");
        let error = outcome.error.unwrap();
        assert_eq!(error.kind(), ErrorKind::UploadSource);
        assert!(
            error
                .to_string()
                .contains(&format!("{name}: the file changed after it was checked")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn whole_artifact_is_published_and_verified() {
    let stage = Stage::new().await;
    stage
        .upload(complete_response())
        .await
        .shows(answer(&stage.details()))
        .await;
    let outcome = stage.run(hashing_publish_options()).await;
    assert_eq!(
        (outcome.kind, outcome.verified),
        (OutcomeKind::Published, true),
        "{:?}",
        outcome.problems
    );
    assert_eq!(outcome.hashes, Some(stage.plan.hash_all_files().unwrap()));
    let requests = stage.server.received_requests().await.unwrap();
    let upload = requests
        .iter()
        .find(|request| request.method.as_str() == "POST")
        .unwrap();
    let header = |name: &str| upload.headers.get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(header("sharedPipelineIdPrefix"), "demo");
    assert_eq!(
        (header("commitHash"), header("branch")),
        (stage.plan.commit_hash.clone(), "main".to_owned())
    );
    let body = String::from_utf8_lossy(&upload.body);
    assert_eq!(
        body.matches("Content-Disposition: form-data; name=\"").count(),
        stage.plan.files.len()
    );
    assert!(
        body.contains("name=\"sql/load.sql\"\r\nContent-Type: text/plain\r\n\r\nselect 1;\n\r\n"),
        "{body}"
    );
}

#[tokio::test]
async fn without_verification_nothing_is_looked_up() {
    let stage = Stage::new().await;
    stage.upload(complete_response()).await;
    let outcome = stage
        .run(PublishOptions {
            verify: false,
            needs_hashes: false,
            ..hashing_publish_options()
        })
        .await;
    assert_eq!((outcome.kind, outcome.verified), (OutcomeKind::Published, false));
    assert_eq!(outcome.hashes, None);
}

#[tokio::test]
async fn ignored_resources_are_incomplete() {
    let stage = Stage::new().await;
    stage
        .upload(response_with_ignored_file())
        .await
        .shows(answer(&stage.details()))
        .await;
    let outcome = stage.run(hashing_publish_options()).await;
    assert_eq!(
        (outcome.kind, outcome.ignored_resources.len()),
        (OutcomeKind::Incomplete, 1)
    );
    insta::assert_snapshot!(outcome.list_sentences().join("\n"), @"the platform ignored `x.zip`: archives are not supported");
}

#[tokio::test]
async fn ignored_resources_can_be_waved_through() {
    let stage = Stage::new().await;
    stage
        .upload(response_with_ignored_file())
        .await
        .shows(answer(&stage.details()))
        .await;
    let outcome = stage
        .run(PublishOptions {
            on_ignored: OnIgnored::Warn,
            ..hashing_publish_options()
        })
        .await;
    assert_eq!(
        (outcome.kind, outcome.ignored_resources.len(), outcome.verified),
        (OutcomeKind::Published, 1, true)
    );
}

#[tokio::test]
async fn response_without_list_is_unverified() {
    let answers = [
        ResponseTemplate::new(201).set_body_json(json!({ "versionName": "v" })),
        ResponseTemplate::new(201).set_body_json(json!({ "versionName": "v", "ignoredResources": null })),
        ResponseTemplate::new(201).set_body_json(json!({ "versionName": "v", "ignoredResources": "none" })),
        ResponseTemplate::new(200).set_body_string("<html>"),
        ResponseTemplate::new(201),
    ];
    for response in answers {
        let stage = Stage::new().await;
        stage.upload(response).await.shows(answer(&stage.details())).await;
        let outcome = stage
            .run(PublishOptions {
                on_ignored: OnIgnored::Warn,
                ..hashing_publish_options()
            })
            .await;
        assert_eq!(outcome.kind, OutcomeKind::Unverified, "{outcome:?}");
    }
}

#[tokio::test]
async fn version_that_lacks_something_is_incomplete() {
    let stage = Stage::new().await;
    let mut details = stage.details();
    details["sharedPipelines"] = json!([]);
    details["artifactDetails"]["commitHash"] = json!("0".repeat(40));
    stage
        .upload(complete_response())
        .await
        .shows(answer(&details))
        .await;
    let outcome = stage.run(hashing_publish_options()).await;
    assert_eq!((outcome.kind, outcome.verified), (OutcomeKind::Incomplete, false));
    insta::assert_snapshot!(outcome.list_sentences().join("\n").replace(&stage.plan.commit_hash, "<commit>"), @"
    the version is from commit 0000000000000000000000000000000000000000, not <commit>
    the shared pipeline `load-it` (load.orch.yaml) is missing
    ");
}

#[tokio::test]
async fn version_that_offers_another_pipeline_or_is_disabled_is_incomplete() {
    let stage = Stage::new().await;
    let mut details = stage.details();
    details["sharedPipelines"][0]["sourcePipeline"] = json!("evil");
    details["artifactDetails"]["enabled"] = json!(false);
    stage
        .upload(complete_response())
        .await
        .shows(answer(&details))
        .await;
    let outcome = stage.run(hashing_publish_options()).await;
    assert_eq!((outcome.kind, outcome.verified), (OutcomeKind::Incomplete, false));
    insta::assert_snapshot!(outcome.list_sentences().join("\n"), @"
    the shared pipeline `load-it` is from `evil`, not from load.orch.yaml
    the version is disabled
    ");
}

#[tokio::test]
async fn version_that_cannot_be_looked_up_is_not_verified() {
    let stage = Stage::new().await;
    stage
        .upload(complete_response())
        .await
        .shows(ResponseTemplate::new(500))
        .await;
    let outcome = stage
        .run(PublishOptions {
            on_ignored: OnIgnored::Disable,
            ..hashing_publish_options()
        })
        .await;
    assert_eq!((outcome.kind, outcome.verified), (OutcomeKind::Unverified, false));
    assert!(!outcome.is_disabled(), "nothing is known to be missing");
}

#[tokio::test]
async fn incomplete_version_is_disabled_if_asked() {
    for (status, is_none_enabled) in [(404, true), (500, false)] {
        let stage = Stage::new().await;
        stage
            .upload(response_with_ignored_file())
            .await
            .details_are(answer(&stage.details()), if is_none_enabled { 1 } else { 2 })
            .await
            .disables(ResponseTemplate::new(204))
            .await
            .latest_is(ResponseTemplate::new(status))
            .await;
        let outcome = stage
            .run(PublishOptions {
                on_ignored: OnIgnored::Disable,
                ..hashing_publish_options()
            })
            .await;
        // If the latest version is unknown, the details still show the version as enabled.
        assert_eq!(outcome.kind, OutcomeKind::Incomplete);
        match outcome.withdrawal {
            Withdrawal::Disabled(latest) => {
                assert_eq!((latest, is_none_enabled), (LatestVersion::NoneEnabled, true));
            }
            withdrawal => assert!(matches!(withdrawal, Withdrawal::Failed(_)) && !is_none_enabled),
        }
    }
}

/// The details may lag behind, so the lookup is repeated while they show the disabled version.
#[tokio::test]
async fn disabled_version_is_never_reported_as_the_latest() {
    for (seconds, expected) in [(0, None), (10, Some("2"))] {
        let stage = Stage::new().await;
        // The second response shows whether the version was disabled.
        let mut final_details = stage.details();
        final_details["artifactDetails"]["enabled"] = json!(expected.is_none());
        let details = in_turn(vec![answer(&stage.details()), answer(&final_details)]);
        stage
            .upload(response_with_ignored_file())
            .await
            .details_are(details, 2)
            .await
            .disables(ResponseTemplate::new(204))
            .await;
        let mut newer = stage.details();
        newer["artifactDetails"]["versionName"] = json!("2");
        for (details, priority) in [(stage.details(), 1), (newer, 2)] {
            Mock::given(method("GET"))
                .and(path(DETAILS))
                .and(query_param_is_missing("versionName"))
                .respond_with(answer(&details))
                .up_to_n_times(1)
                .with_priority(priority)
                .mount(&stage.server)
                .await;
        }
        let outcome = stage
            .run(PublishOptions {
                on_ignored: OnIgnored::Disable,
                lookup_timeout: Duration::from_secs(seconds),
                ..hashing_publish_options()
            })
            .await;
        match (outcome.withdrawal, expected) {
            (Withdrawal::Disabled(latest), Some(version)) => {
                assert_eq!(latest, LatestVersion::Enabled(str::to_owned(version)));
            }
            (withdrawal, None) => assert!(matches!(withdrawal, Withdrawal::Failed(_)), "{withdrawal:?}"),
            (withdrawal, version) => panic!("{withdrawal:?}, {version:?}"),
        }
    }
}

#[tokio::test]
async fn version_that_could_not_be_disabled_is_reported_first_with_its_state() {
    for (response, kind, state) in [
        (
            response_with_ignored_file(),
            OutcomeKind::Incomplete,
            "incomplete",
        ),
        (ResponseTemplate::new(201), OutcomeKind::Unverified, "unverified"),
    ] {
        let stage = Stage::new().await;
        stage
            .upload(response)
            .await
            .shows(answer(&stage.details()))
            .await
            .disables(ResponseTemplate::new(403))
            .await;
        let outcome = stage
            .run(PublishOptions {
                on_ignored: OnIgnored::Disable,
                ..hashing_publish_options()
            })
            .await;
        assert_eq!((outcome.kind, outcome.is_disabled()), (kind, false));
        let sentence = format!("the {state} version could not be disabled");
        assert!(outcome.list_sentences()[0].starts_with(&sentence), "{outcome:?}");
    }
}

#[tokio::test]
async fn version_that_the_response_shows_as_enabled_is_not_disabled() {
    let stage = Stage::new().await;
    stage
        .upload(response_with_ignored_file())
        .await
        .shows(answer(&stage.details()))
        .await
        .disables(answer(&json!({ "enabled": true })))
        .await;
    let outcome = stage
        .run(PublishOptions {
            on_ignored: OnIgnored::Disable,
            ..hashing_publish_options()
        })
        .await;
    let reason = "according to the platform's response, the version is still enabled";
    assert!(
        matches!(&outcome.withdrawal, Withdrawal::Failed(problem) if problem.contains(reason)),
        "{outcome:?}"
    );
}

#[tokio::test]
async fn existing_version_is_a_conflict() {
    let stage = Stage::new().await;
    stage.upload(ResponseTemplate::new(409)).await;
    let outcome = stage.run(hashing_publish_options()).await;
    assert_eq!(outcome.kind, OutcomeKind::Conflict);
    assert_eq!(outcome.error.map(|error| error.kind()), Some(ErrorKind::Conflict));
    assert_eq!(
        outcome.hashes,
        Some(stage.plan.hash_all_files().unwrap()),
        "the receipt is whole all the same"
    );
}

#[tokio::test]
async fn existing_version_of_the_same_content_is_fine_if_asked() {
    let stage = Stage::new().await;
    stage
        .upload(ResponseTemplate::new(409))
        .await
        .shows(answer(&stage.details()))
        .await;
    let outcome = stage
        .run(PublishOptions {
            if_exists: IfExists::SameContent,
            ..hashing_publish_options()
        })
        .await;
    assert_eq!(
        (outcome.kind, outcome.verified),
        (OutcomeKind::AlreadyPublished, true)
    );
}

#[tokio::test]
async fn existing_version_of_other_content_is_a_conflict_with_difference() {
    let stage = Stage::new().await;
    let mut details = stage.details();
    details["artifactDetails"]["commitHash"] = Value::Null;
    stage
        .upload(ResponseTemplate::new(409))
        .await
        .shows(answer(&details))
        .await;
    let outcome = stage
        .run(PublishOptions {
            if_exists: IfExists::SameContent,
            ..hashing_publish_options()
        })
        .await;
    assert_eq!(outcome.kind, OutcomeKind::Conflict);
    insta::assert_snapshot!(outcome.list_sentences().join("\n"), @"
    the version `1.0 2026-11-20` of `demo` already exists, and a published version cannot be changed
    the platform reports no commit hash for the version
    ");
}

#[tokio::test]
async fn refusal_is_a_failure() {
    for (status, kind) in [
        (401, ErrorKind::Unauthorized),
        (403, ErrorKind::Forbidden),
        (400, ErrorKind::BadRequest),
    ] {
        let stage = Stage::new().await;
        stage.upload(ResponseTemplate::new(status)).await;
        let outcome = stage.run(hashing_publish_options()).await;
        assert_eq!(outcome.kind, OutcomeKind::Failed);
        assert_eq!(outcome.error.map(|error| error.kind()), Some(kind));
    }
}

#[tokio::test]
async fn receipt_records_outcome() {
    let stage = Stage::new().await;
    stage
        .upload(response_with_ignored_file())
        .await
        .shows(answer(&stage.details()))
        .await;
    let outcome = stage.run(hashing_publish_options()).await;
    let hashes = outcome.hashes.clone().unwrap();
    let mut written = Vec::new();
    Receipt::for_outcome(&stage.plan, &hashes, &outcome)
        .write(&mut written)
        .unwrap();
    let read: Value = serde_json::from_slice(&written).unwrap();
    let keys: Vec<_> = read.as_object().unwrap().keys().map(String::as_str).collect();
    let expected = [
        "schema",
        "prefix",
        "versionName",
        "commitHash",
        "branch",
        "digest",
        "files",
        "outcome",
        "ignoredResources",
        "verified",
        "sharedPipelines",
    ];
    assert_eq!(keys, expected);
    assert_eq!(
        (&read["outcome"], &read["verified"]),
        (&json!("incomplete"), &json!(true))
    );
    assert_eq!(read["ignoredResources"][0]["name"], "x.zip");
    assert_eq!(
        read["files"][5],
        json!({ "path": "sql/load.sql", "bytes": 10, "sha256": hashes[5] })
    );
    assert_eq!(read["digest"], json!(stage.plan.compute_digest(&hashes)));
    let planned = serde_json::to_value(Receipt::from_plan(&stage.plan, &hashes)).unwrap();
    assert_eq!(planned["outcome"], "planned");
}
