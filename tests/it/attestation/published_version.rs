//! The statement about a published version: its content, and the publishes that leave none.

use super::{OLD, hash_file, predicate_type, read_outputs, read_statement, subject_hashes};
use crate::support::publishing::{project_to_publish, publish_platform, upload_response};
use crate::support::release::{publish_call, stage};
use crate::support::{head, read_json};
use serde_json::json;
use std::fs;

const PUBLISH: &str =
    "publish --version-name 1 --receipt r.json --attestation s.json --attestation-predicate p.json";

#[test]
fn publish_writes_statement_about_version_and_parts() {
    let (world, server) = stage();
    let outputs = world.path().join("outputs");
    publish_call(&world, &server)
        .variable("GITHUB_OUTPUT", outputs.display().to_string())
        .run(PUBLISH)
        .expect(0);
    let statement = read_statement(&world.work().join("s.json"));
    let receipt = read_json(&world.work().join("r.json"));
    assert_eq!(statement["predicateType"], predicate_type("publication"));
    let digest = receipt["digest"].as_str().unwrap();
    let hashes = subject_hashes(&statement);
    assert_eq!(format!("sha256:{}", hashes["sales@1"]), digest);
    assert_eq!(
        hashes["sales/load.orch.yaml"],
        hash_file(&world.work().join("sales/load.orch.yaml"))
    );
    let files = receipt["files"].as_array().unwrap();
    assert_eq!(hashes.len(), files.len() + 1);
    let predicate = &statement["predicate"];
    assert_eq!(*predicate, read_json(&world.work().join("p.json")));
    for (key, value) in [
        ("commit", json!(head(&world))),
        ("branch", json!("main")),
        ("prefix", json!("sales")),
        ("versionName", json!("1")),
        ("digest", json!(digest)),
        ("outcome", json!("published")),
        ("verified", json!(true)),
        ("review", json!(null)),
        ("sharedPipelines", receipt["sharedPipelines"].clone()),
        ("counts", json!({ "files": files.len(), "sharedPipelines": 1 })),
    ] {
        assert_eq!(predicate[key], value, "{key}");
    }
    let lines = read_outputs(&outputs);
    assert_eq!(lines["publication-subject-name"], "sales@1");
    assert_eq!(lines["publication-subject-digest"], digest);
    assert_eq!(lines["publication-predicate-type"], predicate_type("publication"));
    assert_eq!(lines["publication-subjects"].lines().count(), hashes.len());
    assert!(lines["publication-subjects"].contains(&format!("{}  sales@1", hashes["sales@1"])));
}

#[test]
fn publish_that_publishes_nothing_leaves_no_statement() {
    let (world, server) = stage();
    let statement = world.work().join("s.json");
    let run = |args: &str, code: i32, reason: &str| {
        fs::write(&statement, OLD).unwrap();
        let output = publish_call(&world, &server).run(args).expect(code);
        assert!(!statement.exists(), "{args}");
        output.logging(&[reason]);
    };
    run(
        "publish --version-name 1 --dry-run --attestation s.json",
        0,
        "would publish",
    );
    run(
        "publish --version-name 1 --from worktree --attestation s.json",
        0,
        "no statement about the publication is written: the files are from the working tree",
    );
    run(
        "publish --version-name 1 --attestation s.json",
        5,
        "no statement about the publication is written: the outcome of the publish is `conflict`",
    );
    run(
        "ci --version-name 2 --publish-attestation s.json",
        0,
        "nothing is published",
    );
}

#[test]
fn publish_with_ignored_files_has_no_statement() {
    let world = project_to_publish();
    let ignored = json!([{ "resource": "sql/it.sql", "reason": "no" }]);
    let platform = publish_platform(&world, upload_response(&ignored));
    let publish = |args: &str| {
        platform
            .call(&world)
            .run(("publish --prefix p --version-name 1 --attestation s.json", args))
    };
    publish("--on-ignored warn")
        .expect(0)
        .saying(&["the platform ignored files"]);
    assert!(!world.work().join("s.json").exists());
    let complete = publish_platform(&world, upload_response(&json!([])));
    let args = "publish --prefix p --version-name 1 --attestation s.json";
    complete.call(&world).run(args).expect(0);
    read_statement(&world.work().join("s.json"));
}

#[test]
fn rerun_of_published_version_writes_statement() {
    let (world, server) = stage();
    let args = "publish --version-name 1 --if-exists same-content --attestation s.json";
    for outcome in ["published", "already-published"] {
        publish_call(&world, &server).run(args).expect(0);
        let statement = read_statement(&world.work().join("s.json"));
        assert_eq!(statement["predicate"]["outcome"], outcome);
        assert_eq!(statement["predicate"]["verified"], true);
    }
    let args = "publish --version-name 2 --no-verify --attestation s.json";
    publish_call(&world, &server).run(args).expect(0);
    let statement = read_statement(&world.work().join("s.json"));
    assert_eq!(statement["predicate"]["verified"], false);
}

#[test]
fn ci_writes_statements_about_review_and_publication() {
    let (world, server) = stage();
    let outputs = world.path().join("outputs");
    let args = "ci --publish --version-name 1 --publish-on-branch main --attestation s.json --publish-attestation t.json";
    publish_call(&world, &server)
        .variable("GITHUB_OUTPUT", outputs.display().to_string())
        .run(args)
        .expect(0);
    let review = read_statement(&world.work().join("s.json"));
    let publication = read_statement(&world.work().join("t.json"));
    assert_eq!(review["predicateType"], predicate_type("review"));
    assert_eq!(publication["predicateType"], predicate_type("publication"));
    let evidence = &publication["predicate"]["review"];
    assert_eq!(evidence["verdict"], "passed");
    assert_eq!(evidence["head"], review["predicate"]["commit"]);
    let lines = read_outputs(&outputs);
    assert!(!lines["review-subjects"].is_empty() && !lines["publication-subjects"].is_empty());
}
