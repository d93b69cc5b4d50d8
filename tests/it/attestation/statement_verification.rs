//! `verify --attestation`: each mismatch is named, and documents that are no statements are refused.

use super::{predicate_type, read_statement};
use crate::publish::merged_commits::call_of_push;
use crate::support::release::{publish_call, stage};
use crate::support::{Call, ServerProcess, World, git, head, json_schema::validate, load_schema, read_json};
use serde_json::{Value, json};
use std::fs::{self, File};

/// An edit of a statement.
type Edit = fn(&mut Value);

/// Returns a published project with the statements `review.json` and `publication.json`.
fn attested_project() -> (World, ServerProcess) {
    let (world, server) = stage();
    world.write("sluicegate.yaml", "review: { fail-on: warn }\n");
    world.commit("policy");
    world.push();
    let run = |args: &str| drop(publish_call(&world, &server).run(args).expect(0));
    run("review --all --attestation review.json");
    run("publish --version-name 1 --attestation publication.json");
    (world, server)
}

fn write_edited(world: &World, name: &str, edit: impl FnOnce(&mut Value)) {
    let mut statement = read_statement(&world.work().join(name));
    edit(&mut statement);
    world.write("edited.json", statement.to_string());
}

#[test]
fn statement_of_review_is_compared_with_clone() {
    let (world, server) = attested_project();
    let call = publish_call(&world, &server).without("SLUICEGATE_TOKEN");
    let verify = |name: &str| call.run(&["verify", "--attestation", name]);
    let output = verify("review.json").expect(0);
    let text = format!(
        "the review of commit {} matches the statement",
        &head(&world)[..7]
    );
    assert!(output.out.contains(&text), "{}", output.all());
    output.saying(&["the signature of the statement was not checked"]);
    let edits: [(Edit, &str); 9] = [
        (
            |it| it["subject"][1]["digest"]["sha256"] = json!("0".repeat(64)),
            "`sales/load.orch.yaml` has different content",
        ),
        (
            |it| it["subject"][1]["name"] = json!("sales/gone.orch.yaml"),
            "`sales/gone.orch.yaml` is not in commit",
        ),
        (
            |it| it["subject"][0]["digest"]["gitCommit"] = json!("0".repeat(40)),
            "but the predicate is about",
        ),
        (
            |it| it["subject"][1]["digest"] = json!({ "sha512": "00" }),
            "the subject `sales/load.orch.yaml` has no SHA-256",
        ),
        (|it| it["subject"][1]["name"] = Value::Null, "has no name"),
        (
            |it| it["predicate"]["verdict"] = json!("failed"),
            "the verdict of the review is `failed`",
        ),
        (
            |it| it["predicate"]["counts"]["files"] = json!(9),
            "the statement lists 1 file, but its predicate counts 9",
        ),
        (
            |it| it["predicate"]["rules"]["sha256"] = json!("0".repeat(64)),
            "`.platform/config/pipeline_quality_rules.yaml` has different content",
        ),
        (
            |it| {
                let commit = it["predicate"]["commit"].clone();
                it["predicate"]["policy"] = json!({
                    "commit": commit,
                    "files": [{ "path": "sluicegate.yaml", "sha256": "0".repeat(64) }],
                });
            },
            "the gate configuration `sluicegate.yaml` has different content",
        ),
    ];
    for (edit, text) in edits {
        write_edited(&world, "review.json", edit);
        verify("edited.json").expect(6).saying(&[text]);
    }
    // The job's identity cannot be compared, but the file in the commit can.
    let policy = json!({
        "commit": head(&world),
        "files": [{ "path": "sluicegate.yaml", "sha256": super::hash_file(&world.work().join("sluicegate.yaml")) }],
    });
    write_edited(&world, "review.json", |it| it["predicate"]["policy"] = policy);
    verify("edited.json").expect(0);
}

/// Removes this file of the gate configuration from a statement.
fn remove_policy_file(statement: &mut Value, file_index: usize) {
    let files = &mut statement["predicate"]["policy"]["files"];
    files.as_array_mut().unwrap().remove(file_index);
}

#[test]
fn statement_that_omits_files_of_its_commits_does_not_match() {
    let (world, server) = attested_project();
    world.write("sluicegate-waivers.yaml", "[]\n");
    world.commit("waivers");
    world.push();
    let call = publish_call(&world, &server);
    let job = call_of_push(&world, call.clone());
    job.run("review --all --attestation review.json").expect(0);
    job.run("publish --version-name 2 --attestation publication.json")
        .expect(0);
    let verify = |name: &str| call.run(&["verify", "--attestation", name]);
    let rules_text = "has the rules file `.platform/config/pipeline_quality_rules.yaml`";
    let edits: [(Edit, &str); 3] = [
        (|it| it["predicate"]["rules"] = Value::Null, rules_text),
        (
            |it| remove_policy_file(it, 0),
            "has the gate configuration `sluicegate.yaml`",
        ),
        (
            |it| remove_policy_file(it, 1),
            "has the gate configuration `sluicegate-waivers.yaml`",
        ),
    ];
    for name in ["review.json", "publication.json"] {
        verify(name).expect(0);
        for (edit, text) in edits {
            write_edited(&world, name, edit);
            verify("edited.json").expect(6).saying(&[text]);
        }
    }
}

#[test]
fn team_rules_file_with_other_name_does_not_replace_omitted_configuration_file() {
    let (world, server) = stage();
    world.write("rules/team.yaml", "rules: []\n");
    world.write("sluicegate.yaml", "review: { team-rules: rules/team.yaml }\n");
    world.commit("policy");
    world.push();
    let call = publish_call(&world, &server);
    let job = call_of_push(&world, call.clone());
    job.run("review --all --attestation review.json").expect(0);
    let verify = |name: &str| call.run(&["verify", "--attestation", name]);
    verify("review.json").expect(0);
    write_edited(&world, "review.json", |it| remove_policy_file(it, 0));
    verify("edited.json")
        .expect(6)
        .saying(&["has the gate configuration `sluicegate.yaml`"]);
}

#[test]
fn statement_that_action_signed_matches() {
    let (world, server) = attested_project();
    let verify = |name: &str| publish_call(&world, &server).run(&["verify", "--attestation", name]);
    // The action takes only subjects with a SHA-256, and adds none.
    write_edited(&world, "review.json", |it| {
        it["subject"].as_array_mut().unwrap().remove(0);
    });
    verify("edited.json").expect(0);
    // Fields that in-toto may add are ignored.
    write_edited(&world, "review.json", |it| {
        it["subject"][1]["mediaType"] = json!("text/yaml");
        it["more"] = json!(1);
    });
    verify("edited.json").expect(0);
    // Only the digest of the version was signed.
    write_edited(&world, "publication.json", |it| {
        it["subject"].as_array_mut().unwrap().truncate(1);
    });
    verify("edited.json")
        .expect(6)
        .saying(&["the statement lists 0 files"]);
}

#[test]
fn statement_of_publication_is_compared_with_platform_and_clone() {
    let (world, server) = attested_project();
    let verify = |name: &str| publish_call(&world, &server).run(&["verify", "--attestation", name]);
    let output = verify("publication.json").expect(0);
    assert!(
        output.out.contains("version 1 of sales matches the statement"),
        "{}",
        output.all()
    );
    let edits: [(Edit, &str); 13] = [
        (
            |it| it["predicate"]["branch"] = json!("no-such-branch"),
            "the version is from the branch `main`, but the statement names the branch `no-such-branch`",
        ),
        (
            |it| it["subject"][1]["digest"]["sha256"] = json!("0".repeat(64)),
            "has different content in commit",
        ),
        (
            |it| it["subject"][1]["digest"]["sha256"] = json!("0".repeat(64)),
            "but the digest of its files is",
        ),
        (
            |it| it["subject"][0]["digest"]["sha256"] = json!("0".repeat(64)),
            "is not a subject",
        ),
        (
            |it| it["predicate"]["versionName"] = json!("2"),
            "has no version 2",
        ),
        (
            |it| it["predicate"]["outcome"] = json!("failed"),
            "the outcome of the publish is `failed`",
        ),
        (
            |it| it["predicate"]["sharedPipelines"][0]["id"] = json!("gone"),
            "`gone`",
        ),
        (
            |it| it["predicate"]["commit"] = json!("0".repeat(40)),
            "the version is from commit",
        ),
        (
            |it| it["predicate"]["platform"]["project"] = json!("other"),
            "but this run uses project",
        ),
        (
            |it| it["predicate"]["counts"]["files"] = json!(0),
            "but its predicate counts 0",
        ),
        (
            |it| it["predicate"]["counts"]["sharedPipelines"] = json!(9),
            "the statement lists 1 shared pipeline, but its predicate counts 9",
        ),
        (
            |it| it["predicate"]["sharedPipelines"] = json!([]),
            "the version has the shared pipeline `load`, but the statement does not list it",
        ),
        (
            |it| it["predicate"]["sharedPipelines"][0]["path"] = json!("x/sales/load.orch.yaml"),
            "does not list `x/sales/load.orch.yaml`, the file of the shared pipeline `load`",
        ),
    ];
    for (edit, text) in edits {
        write_edited(&world, "publication.json", edit);
        verify("edited.json").expect(6).saying(&[text]);
    }
    // The platform may have another address.
    let said = "the version was published at ";
    assert!(!output.all().contains(said), "{}", output.all());
    write_edited(&world, "publication.json", |it| {
        it["predicate"]["platform"]["url"] = json!("https://other.example");
    });
    verify("edited.json").expect(0).saying(&[said]);
    let warning = "version 1 of sales is disabled: consumers cannot use it";
    assert!(!output.all().contains(warning), "{}", output.all());
    for (args, is_disabled) in [("disable 1 --force", true), ("enable 1", false)] {
        publish_call(&world, &server)
            .run(format!("artifacts {args} --prefix sales"))
            .expect(0);
        let output = verify("publication.json").expect(0);
        assert_eq!(output.err.contains(warning), is_disabled, "{}", output.all());
    }
    // A commit changes the clone, not the version.
    world.write("sales/load.orch.yaml", "type: orchestration\n");
    world.commit("later");
    verify("publication.json").expect(0);
    // Without a clone, the platform's version is still compared.
    let folder = world.path().join("elsewhere");
    fs::create_dir(&folder).unwrap();
    fs::copy(world.work().join("publication.json"), folder.join("s.json")).unwrap();
    Call::with_platform(&folder, &server.url)
        .run("verify --attestation s.json")
        .expect(0)
        .saying(&["is not available locally, so its files were not compared"]);
    publish_call(&world, &server)
        .variable("SLUICEGATE_TOKEN", "another")
        .run("verify --attestation publication.json")
        .expect(4);
    publish_call(&world, &server)
        .variable("SLUICEGATE_BASE_URL", "http://127.0.0.1:9")
        .variable("SLUICEGATE_RETRIES", "0")
        .run("verify --attestation publication.json")
        .expect(3);
}

#[test]
fn statement_of_review_without_its_commit_exits_with_7() {
    let (world, server) = attested_project();
    write_edited(&world, "review.json", |it| {
        it["predicate"]["commit"] = json!("0".repeat(40));
    });
    publish_call(&world, &server)
        .run("verify --attestation edited.json")
        .expect(7)
        .saying(&[
            "the clone does not have the reviewed commit",
            "hint: fetch the commit",
        ]);
    let folder = world.path().join("elsewhere");
    fs::create_dir(&folder).unwrap();
    fs::copy(world.work().join("review.json"), folder.join("s.json")).unwrap();
    Call::new(&folder).run("verify --attestation s.json").expect(7);
}

#[test]
fn statement_of_commit_before_a_shallow_clone_is_verified_after_the_fetch_of_the_hint() {
    let (world, _server) = attested_project();
    world.write("note.md", "text\n");
    world.commit("later");
    world.push();
    let url = format!("file://{}", world.remote().display());
    git(world.path(), format!("clone -q --depth=1 {url} shallow"));
    let folder = world.path().join("shallow");
    fs::copy(world.work().join("review.json"), folder.join("s.json")).unwrap();
    Call::new(&folder)
        .run("verify --attestation s.json")
        .expect(7)
        .saying(&["hint: fetch the full history with `git fetch --unshallow`"]);
    git(&folder, "fetch -q --unshallow");
    Call::new(&folder).run("verify --attestation s.json").expect(0);
}

#[test]
fn document_that_is_no_statement_is_refused() {
    let (world, server) = attested_project();
    let verify = || publish_call(&world, &server).run("verify --attestation edited.json");
    let text = fs::read_to_string(world.work().join("review.json")).unwrap();
    let receipt = "publish --version-name 2 --receipt r.json";
    publish_call(&world, &server).run(receipt).expect(0);
    let edits: [(Edit, &str); 6] = [
        (
            |it| it["_type"] = json!("https://in-toto.io/Statement/v0.1"),
            "the statement's type is `https://in-toto.io/Statement/v0.1`",
        ),
        (
            |it| it["predicateType"] = json!("https://slsa.dev/provenance/v1"),
            "the statement's predicate type is `https://slsa.dev/provenance/v1`, not",
        ),
        (|it| it["subject"] = json!("text"), "invalid type"),
        (
            |it| it["subject"][0]["digest"]["gitCommit"] = json!(1),
            "invalid type",
        ),
        (|it| it["predicate"]["more"] = json!(1), "unknown field `more`"),
        (
            |it| it["predicate"]["commit"] = json!(null),
            "the statement's predicate is invalid",
        ),
    ];
    for (edit, reason) in edits {
        write_edited(&world, "review.json", edit);
        verify().expect(2).saying(&[reason]);
    }
    let duplicate = text.replacen("\"verdict\":", "\"verdict\": \"passed\",\n    \"verdict\":", 1);
    let envelope =
        json!({ "payloadType": "application/vnd.in-toto+json", "payload": "e30=", "signatures": [] });
    let receipt = read_json(&world.work().join("r.json")).to_string();
    for (content, reason) in [
        (duplicate.as_str(), "duplicate key `verdict`"),
        (&envelope.to_string(), "the file is a signed envelope"),
        (&receipt, "missing field `_type`"),
        ("[", "EOF while parsing"),
        ("", "is not a statement"),
        (&"[".repeat(100_000), "recursion limit exceeded"),
    ] {
        world.write("edited.json", content);
        verify().expect(2).saying(&[reason]);
    }
    let huge = File::create(world.work().join("edited.json")).unwrap();
    huge.set_len(64 * 1024 * 1024 + 1).unwrap();
    verify()
        .expect(2)
        .saying(&["the content has more than 67108864 bytes"]);
    verify_of_both_documents_is_refused(&world, &server);
}

#[test]
fn hint_for_document_of_the_other_form_names_the_right_form() {
    let (world, server) = attested_project();
    let call = publish_call(&world, &server);
    let receipt = "publish --version-name 2 --receipt r.json";
    call.run(receipt).expect(0);
    call.run("verify --attestation r.json")
        .expect(2)
        .saying(&["hint: the file is a receipt: pass it without --attestation"]);
    call.run("verify publication.json")
        .expect(2)
        .saying(&["hint: the file is a statement: pass it with --attestation"]);
    // Counterpart: a file that is neither.
    let output = call.run("verify sluicegate.yaml").expect(2);
    assert!(!output.err.contains("--attestation"), "{}", output.all());
}

#[test]
fn hint_for_signed_file_is_not_given_for_type_that_contains_its_word() {
    let world = World::new();
    let call = Call::new(&world.work());
    let statement =
        json!({ "_type": "envelope", "predicateType": "envelope", "subject": [], "predicate": {} });
    let envelope = json!({ "payloadType": "envelope", "payload": "e30=", "signatures": [] });
    world.write("statement.json", statement.to_string());
    world.write("envelope.json", envelope.to_string());
    call.run("verify --attestation statement.json")
        .expect(2)
        .saying(&["the statement's type is `envelope`", "hint: pass the file that"]);
    call.run("verify --attestation envelope.json").expect(2).saying(&[
        "the file is a signed envelope",
        "hint: check the file's signature",
    ]);
}

fn verify_of_both_documents_is_refused(world: &World, server: &ServerProcess) {
    for args in ["verify", "verify r.json --attestation review.json"] {
        publish_call(world, server).run(args).expect(2);
    }
}

#[test]
fn result_of_verification_is_json() {
    let (world, server) = attested_project();
    let verify = |name: &str| publish_call(&world, &server).run(("verify -o json --attestation", name));
    let result = verify("publication.json").expect(0).json();
    assert_eq!(
        result,
        json!({
            "schema": "sluicegate.verification/v1",
            "predicateType": predicate_type("publication"),
            "prefix": "sales",
            "versionName": "1",
            "commitHash": head(&world),
            "verified": true,
            "differences": [],
        })
    );
    write_edited(&world, "review.json", |it| {
        it["predicate"]["verdict"] = json!("undecided");
    });
    assert_eq!(validate(&load_schema("verification"), &result), Ok(()));
    let result = verify("edited.json").expect(6).json();
    assert_eq!(validate(&load_schema("verification"), &result), Ok(()));
    assert_eq!(result["predicateType"], predicate_type("review"));
    assert_eq!(
        (
            &result["verified"],
            result["differences"].as_array().unwrap().len()
        ),
        (&json!(false), 1)
    );
}

/// Publishes a reviewed version. Returns its receipt and its statement.
fn publish_reviewed_version(world: &World, server: &ServerProcess) -> [Value; 2] {
    let run = |args: &str| publish_call(world, server).run(args);
    run("review --all --report json=report.json").expect(0);
    run("publish --version-name 1 --require-review report.json --receipt receipt.json --attestation publication.json")
        .expect(0);
    [
        read_json(&world.work().join("receipt.json")),
        read_statement(&world.work().join("publication.json")),
    ]
}

#[test]
fn document_with_failed_review_or_review_of_other_commit_does_not_match() {
    let (world, server) = stage();
    let run = |args: &str| publish_call(&world, &server).run(args);
    let [receipt, statement] = publish_reviewed_version(&world, &server);
    let verify = |document: &Value, flag: &str| {
        world.write("edited.json", document.to_string());
        run(&format!("verify {flag} edited.json"))
    };
    verify(&receipt, "").expect(0);
    verify(&statement, "--attestation").expect(0);
    for (key, value, text) in [
        ("verdict", "failed", "the verdict of the review is `failed`"),
        ("verdict", "undecided", "the verdict of the review is `undecided`"),
        ("head", &"0".repeat(40), "the review is of commit 00000000"),
    ] {
        let mut edited_receipt = receipt.clone();
        edited_receipt["review"][key] = json!(value);
        verify(&edited_receipt, "").expect(6).saying(&[text]);
        let mut edited_statement = statement.clone();
        edited_statement["predicate"]["review"][key] = json!(value);
        verify(&edited_statement, "--attestation")
            .expect(6)
            .saying(&[text]);
    }
    // Files that the platform ignored may have been accepted with `--on-ignored warn`.
    let mut edited_receipt = receipt.clone();
    edited_receipt["ignoredResources"] = json!(["sales/notes.md"]);
    verify(&edited_receipt, "")
        .expect(0)
        .saying(&["at the publish, the platform ignored `sales/notes.md`"]);
}

/// If the files are unchanged, the reviewed commit is newer than that of the existing version.
#[test]
fn receipt_of_unchanged_version_after_review_of_newer_commit_matches() {
    let (world, server) = stage();
    let run = |args: &str| publish_call(&world, &server).run(args);
    run("publish --version-name {next}").expect(0);
    world.write("notes.md", "not published");
    world.commit("notes");
    world.push();
    run("review --all --report json=report.json").expect(0);
    run("publish --version-name {next} --require-review report.json --receipt receipt.json --attestation publication.json")
        .expect(0);
    let receipt = read_json(&world.work().join("receipt.json"));
    assert_ne!(receipt["commitHash"], receipt["review"]["head"], "{receipt}");
    run("verify receipt.json").expect(0);
    run("verify --attestation publication.json").expect(0);
}

#[test]
fn failed_verification_has_headline_of_its_cause() {
    let (world, server) = stage();
    let run = |args: &str| publish_call(&world, &server).run(args);
    let [receipt, statement] = publish_reviewed_version(&world, &server);
    run("verify receipt.json").expect(0);
    run("verify --attestation publication.json").expect(0);
    for (pointer, value, headline) in [
        ("/versionName", "9", "version 9 of sales does not exist:"),
        (
            "/outcome",
            "failed",
            "the DOCUMENT does not report a successful publish:",
        ),
        (
            "/review/verdict",
            "failed",
            "the DOCUMENT of version 1 of sales does not confirm it:",
        ),
        (
            "/branch",
            "other",
            "version 1 of sales does not match the DOCUMENT:",
        ),
    ] {
        let mut edited_receipt = receipt.clone();
        let mut edited_statement = statement.clone();
        for document in [&mut edited_receipt, &mut edited_statement["predicate"]] {
            *document.pointer_mut(pointer).unwrap() = value.into();
        }
        for (document, name, flag) in [
            (&edited_receipt, "receipt", ""),
            (&edited_statement, "statement", "--attestation"),
        ] {
            world.write("edited.json", document.to_string());
            let headline = headline.replace("DOCUMENT", name);
            run(&format!("verify {flag} edited.json"))
                .expect(6)
                .saying(&[&format!("error: {headline}\n")]);
        }
    }
}
