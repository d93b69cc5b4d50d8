//! Breaking changes, reported outside a publish: by reviews and checks, between two versions, and in the consumers'
//! repositories.

use crate::support::{
    Call, EVERYTHING_FETCHED, Job, Platform, ProgramOutput, RULES, RULES_FILE, Shop, World, checkout, head,
    offer, orchestration_text, parameter, project, push_of_branch, repository, scratch, with_default,
};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

const SHARED_FILE: &str = ".platform/shared-pipelines.yaml";

#[test]
fn verify_proves_consumer_changes_of_receipt_again() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.offer(&[("load", &parameter("hour", ", default: x"))]);
    shop.publish("2.0.0").expect(0);
    let verify = || {
        let receipt = shop.world.path().join("receipt.json");
        shop.call().run(&["verify", receipt.to_str().unwrap()])
    };
    let text = shop.receipt();
    verify().expect(0);
    let lie = |change: &dyn Fn(&mut Value), words: &str| {
        let mut receipt = text.clone();
        change(&mut receipt["compat"]);
        fs::write(shop.world.path().join("receipt.json"), receipt.to_string()).unwrap();
        verify().expect(6).saying(&[words]);
    };
    lie(
        &|compat| compat["class"] = "addition".into(),
        "the receipt's class is addition, but the class of its changes is breaking",
    );
    lie(
        &|compat| {
            compat["class"] = "none".into();
            compat["changes"] = Value::Array(Vec::new());
        },
        "the receipt's changes for consumers differ from those between the commits",
    );
    lie(
        &|compat| compat["against"] = "0.9.0".into(),
        "but the platform does not have that version",
    );
    let head = shop.world.git("rev-parse HEAD");
    lie(
        &|compat| compat["againstCommit"] = head.clone().into(),
        "was built from a different commit",
    );
    let file = "README.md";
    lie(
        &|compat| {
            let change = serde_json::json!({ "class": "content", "change": "file-removed", "id": null, "parameter": null,
                "column": null, "before": null, "after": null, "old": { "path": file, "line": null }, "new": null });
            compat["changes"].as_array_mut().unwrap().push(change);
        },
        "did not change in the way that the receipt states",
    );
}

#[test]
fn verify_of_receipt_that_omits_files_or_pipelines_fails() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let path = shop.world.path().join("receipt.json");
    let verify = || shop.call().run(&["verify", path.to_str().unwrap()]);
    verify().expect(0);
    let receipt = shop.receipt();
    let edits: [(&str, Value, &str); 4] = [
        (
            "/sharedPipelines",
            json!([]),
            "the version has the shared pipeline `load`, but the receipt does not list it",
        ),
        (
            "/files",
            json!([]),
            "the receipt does not list the shared-pipelines file",
        ),
        ("/files", json!([]), "the file of the shared pipeline `load`"),
        (
            "/compat/accepted",
            json!("agreed"),
            "the receipt records changes for consumers, but no older version",
        ),
    ];
    for (pointer, value, text) in edits {
        let mut edited = receipt.clone();
        *edited.pointer_mut(pointer).unwrap() = value;
        fs::write(&path, edited.to_string()).unwrap();
        verify().expect(6).saying(&[text]);
    }
}

#[test]
fn verify_compares_changed_files_of_receipt_with_the_commits() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.world
        .write("new.orch.yaml", orchestration_text(&["Start", "New", "Done"]));
    fs::remove_file(shop.world.work().join("more.orch.yaml")).unwrap();
    shop.push();
    shop.publish("1.0.1").expect(0);
    let receipt = shop.receipt();
    let changes = receipt["compat"]["changes"].as_array().unwrap();
    let added_file = changes
        .iter()
        .find(|change| change["change"] == "file-added")
        .unwrap();
    assert!(changes.iter().any(|change| change["change"] == "file-removed"));
    let path = shop.world.path().join("receipt.json");
    let verify = || shop.call().run(&["verify", path.to_str().unwrap()]);
    verify().expect(0);
    for (kind, file) in [
        ("file-added", "load.orch.yaml"),
        ("file-modified", "new.orch.yaml"),
        ("file-modified", "load.orch.yaml"),
    ] {
        let mut wrong_change = added_file.clone();
        wrong_change["change"] = kind.into();
        wrong_change["new"]["path"] = file.into();
        let mut wrong_receipt = receipt.clone();
        let wrong_changes = wrong_receipt["compat"]["changes"].as_array_mut().unwrap();
        wrong_changes.push(wrong_change);
        fs::write(&path, wrong_receipt.to_string()).unwrap();
        let message = format!("`{file}` did not change in the way that the receipt states");
        verify().expect(6).saying(&[&message]);
    }
    let mut wrong_receipt = receipt.clone();
    let wrong_changes = wrong_receipt["compat"]["changes"].as_array_mut().unwrap();
    for change in wrong_changes {
        change["class"] = "note".into();
    }
    fs::write(&path, wrong_receipt.to_string()).unwrap();
    let output = verify().expect(6).saying(&[
        "the receipt's class of the change to `new.orch.yaml` is note, but the class of that kind of change is content",
    ]);
    assert!(
        !output.err.contains("the class of its changes"),
        "{}",
        output.all()
    );
}

#[test]
fn publish_of_worktree_compares_its_bytes_with_the_published_commit() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let class = |version: &str| {
        shop.publish((version, "--from worktree --compat warn")).expect(0);
        shop.receipt()["compat"]["class"].clone()
    };
    assert_eq!(class("2.0.0"), "none");
    // The size stays.
    let edited = shop.world.read_text("more.orch.yaml").replace("Work", "Walk");
    shop.world.write("more.orch.yaml", edited);
    assert_eq!(class("3.0.0"), "content");
    shop.world
        .write("more.orch.yaml", "type: orchestration\npipeline: {}\n");
    assert_eq!(class("4.0.0"), "content");
}

#[test]
fn shared_file_is_compared_by_its_meaning() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let path = ".platform/shared-pipelines.yaml";
    let class = |version: &str, text: String| {
        shop.world.write(path, text);
        shop.push();
        shop.publish(version).expect(0);
        shop.receipt()["compat"]["class"].clone()
    };
    let text = shop.world.read_text(path);
    assert_eq!(class("2.0.0", format!("# a comment\n{text}")), "none");
    let described = text.replace("    enabled: true\n", "    enabled: true\n    description: new\n");
    assert_ne!(described, text);
    assert_eq!(class("3.0.0", described), "content");
}

#[test]
fn repaired_shared_file_of_local_run_is_undecided_only_if_breaks_fail() {
    let shop = Shop::new();
    let text = shop.world.read_text(".platform/shared-pipelines.yaml");
    shop.world
        .write(".platform/shared-pipelines.yaml", "pipelines: [");
    shop.push();
    shop.world.git("checkout -q -b change");
    shop.world.write(".platform/shared-pipelines.yaml", text);
    shop.push();
    let check = |mode: &str| Call::new(&shop.world.work()).run(("check --report json=- --compat", mode));
    let notes = check("warn").expect(0).json()["notes"].to_string();
    assert!(
        notes.contains("could not determine the changes for consumers"),
        "{notes}"
    );
    check("fail").expect(3);
}

#[test]
fn versions_and_revisions_are_compared_for_people_tools_and_releases() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.offer(&[
        ("load", &parameter("hour", ", default: x")),
        ("clean", &parameter("day", ", default: x")),
    ]);
    let output = shop.call().run("artifacts diff").expect(0);
    for words in [
        "version 1.0.0 to",
        ": 1 break, 1 addition\n",
        "`load`: the parameter `day` was removed",
    ] {
        assert!(output.out.contains(words), "{words}: {}", output.all());
    }
    shop.publish("2.0.0").expect(0);
    let json = shop
        .call()
        .run("artifacts diff 1.0.0 2.0.0 -o json")
        .expect(0)
        .json();
    assert_eq!(
        (&json["class"], &json["from"]["version"]),
        (&"breaking".into(), &"1.0.0".into())
    );
    assert_eq!(json["changes"], shop.receipt()["compat"]["changes"]);
    let note = shop.call().run("artifacts diff 1.0.0 -o markdown").expect(0);
    assert!(
        note.out.contains("### <code>load</code>") && note.out.contains("**Breaking:**"),
        "{}",
        note.all()
    );
    assert!(
        note.out.contains("the parameter <code>day</code> was removed"),
        "{}",
        note.all()
    );
    // Comparing two revisions needs no platform.
    let alone = shop.call().without("SLUICEGATE_BASE_URL");
    let report = alone.run("artifacts diff HEAD HEAD -o json").expect(0).json();
    assert_eq!(
        (&report["class"], &report["changes"]),
        (&"none".into(), &serde_json::json!([]))
    );
    shop.call().run("artifacts diff 1.0").expect(3).saying(&["1.0"]);
    let diff = alone.run("diff HEAD~1..HEAD --format json").expect(0).json();
    assert_eq!(diff["interface"]["class"], "breaking");
    assert_eq!(diff["interface"]["changes"], json["changes"]);
    let diff = alone.run("diff HEAD..HEAD --format json").expect(0).json();
    assert_eq!(diff["interface"], Value::Null);
}

#[test]
fn comparison_lists_changed_files_beside_the_changes_for_consumers() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let edited = shop.world.read_text("more.orch.yaml").replace("Work", "Walk");
    shop.world.write("more.orch.yaml", edited);
    shop.break_it();
    let compared = shop
        .call()
        .run("artifacts diff 1.0.0 HEAD -o json")
        .expect(0)
        .json();
    let changes = compared["changes"].as_array().unwrap();
    let changed_files: Vec<&Value> = changes
        .iter()
        .filter(|change| change["change"] == "file-modified")
        .map(|change| &change["new"]["path"])
        .collect();
    assert_eq!(changed_files, ["more.orch.yaml"], "{compared:#}");
}

#[test]
fn comparison_that_cannot_list_the_changed_files_has_no_class() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let text = shop.world.read_text("load.orch.yaml");
    let diff = |output: &str| shop.call().run(("artifacts diff 1.0.0 -o", output)).expect(0).out;
    let class_of = |command: &str| {
        let output = shop.call().run(("artifacts", command, "1.0.0 -o json")).expect(0);
        output.json()["class"].clone()
    };
    shop.world.write("load.orch.yaml", text.replace("Work", "Walk"));
    shop.push();
    assert_eq!(class_of("diff"), "content");
    shop.world.write("load.orch.yaml", "a: [\n");
    shop.push();
    assert_eq!((class_of("diff"), class_of("impact")), (Value::Null, Value::Null));
    assert!(
        diff("text").contains(": unknown: the changed files could not be listed\n"),
        "{}",
        diff("text")
    );
    let note = diff("markdown");
    assert!(
        note.contains("are unknown.\n\nThe changed files could not be listed.\n")
            && !note.contains("No changes"),
        "{note}"
    );
    // A break is certain, whatever else changed.
    shop.offer(&[("load", "")]);
    assert_eq!(class_of("diff"), "breaking");
    assert!(
        diff("text").contains("; the changed files could not be listed\n"),
        "{}",
        diff("text")
    );
}

/// A name is a revision only if the platform has no version of that name.
#[test]
fn comparison_ends_if_the_platform_does_not_answer_for_a_name() {
    let shop = Shop::new();
    let platform = Platform::new();
    platform.is_down();
    let call = shop.call().variable("SLUICEGATE_BASE_URL", platform.server.uri());
    call.run("artifacts diff main HEAD").expect(3);
    shop.call().run("artifacts diff main HEAD").expect(0);
}

#[test]
fn revision_without_file_offers_nothing() {
    let shop = Shop::new();
    shop.world.git("rm -q .platform/shared-pipelines.yaml");
    shop.push();
    let alone = shop.call().without("SLUICEGATE_BASE_URL");
    let diff = |from: &str, to: &str| {
        let report = alone
            .run(&["artifacts", "diff", from, to, "-o", "json"])
            .expect(0)
            .json();
        (report["class"].clone(), report["changes"][0].clone())
    };
    let (class, change) = diff("HEAD", "HEAD~1");
    assert_eq!(class, "addition");
    assert_eq!(
        (&change["change"], &change["old"]),
        (&"pipeline-added".into(), &Value::Null)
    );
    let (class, change) = diff("HEAD~1", "HEAD");
    assert_eq!(class, "breaking");
    assert_eq!(
        (&change["change"], &change["new"]),
        (&"pipeline-removed".into(), &Value::Null)
    );
    // Sorted by ID; the entry of `clean` is the second.
    assert_eq!(
        (&change["id"], &change["old"]["line"]),
        (&"clean".into(), &7.into())
    );
    let head = shop.world.git("rev-parse HEAD")[..7].to_owned();
    let message = format!("neither {head} nor {head} has a shared-pipelines file");
    alone
        .run("artifacts diff HEAD HEAD")
        .expect(2)
        .saying(&[&message, "hint: "]);
}

#[test]
fn entry_whose_pipeline_is_gone_is_not_offered() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.world.git("rm -q clean.orch.yaml");
    shop.push();
    let from_version = "artifacts diff 1.0.0 HEAD -o json";
    let document = shop.call().run(from_version).expect(0).json();
    let change = &document["changes"][0];
    assert_eq!(
        (&document["class"], &change["change"], &change["id"]),
        (&"breaking".into(), &"pipeline-removed".into(), &"clean".into())
    );
    // A review of the change and `diff` report the same.
    let diff = shop.call().run("diff HEAD~1..HEAD -o json").expect(0).json();
    assert_eq!(diff["interface"]["changes"][0], *change);
    let check = "check --base HEAD~1 --head HEAD --compat fail";
    let output = shop.call().run(check).expect(1);
    let step = "restore `clean.orch.yaml`, or correct the path in the shared-pipelines file";
    output.logging(&[step, "remove its entry and accept the break with a reason"]);
    shop.offer(&[
        ("load", &parameter("hour", "")),
        ("clean", &parameter("day", ", default: x")),
    ]);
    let output = shop
        .call()
        .run("check --base HEAD~2 --head HEAD --compat fail")
        .expect(1);
    output.logging(&[step, "for the other breaks, keep the ids"]);
    shop.offer(&[("more", &parameter("day", ""))]);
    let output = shop.call().run(check).expect(1);
    assert!(output.all().contains("--accept-breaking"), "{}", output.all());
    assert!(!output.all().contains("restore `"), "{}", output.all());
}

/// Turns the pipeline `load` into a transformation with the same name.
fn turn(shop: &Shop) {
    let text = "type: transformation\npipeline:\n  components: {}\n  variables: { day: {} }\n";
    shop.world.write("load.orch.yaml", text);
    shop.push();
}

#[test]
fn pipeline_of_another_kind_breaks_also_under_the_same_name() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.world.git("checkout -q -b change");
    turn(&shop);
    let words = "`load`: the pipeline's kind changed from `orchestration` to `transformation`";
    shop.publish("1.1.0 --compat fail")
        .expect(1)
        .saying(&["breaks consumers of version 1.0.0", words]);
    assert_eq!(shop.versions(), ["1.0.0"]);
    for sides in ["1.0.0", "HEAD~1 HEAD"] {
        let output = shop.call().run(("artifacts diff", sides)).expect(0);
        assert!(
            output.out.contains(": 1 break, 1 other change\n") && output.out.contains(words),
            "{}",
            output.all()
        );
    }
    for command in ["review", "check"] {
        let run_output = shop.call().run(&[command, "--compat", "fail"]).expect(1);
        assert!(run_output.all().contains(words), "{}", run_output.all());
    }
    shop.publish("2.0.0 --compat fail").expect(0);
    let receipt = shop.world.path().join("receipt.json");
    shop.call().run(&["verify", receipt.to_str().unwrap()]).expect(0);
}

#[test]
fn renamed_file_of_the_same_kind_breaks_nobody() {
    let shop = Shop::new();
    turn(&shop);
    shop.publish("1.0.0").expect(0);
    shop.world.git("mv load.orch.yaml load.tran.yaml");
    let file = ".platform/shared-pipelines.yaml";
    let text = fs::read_to_string(shop.world.work().join(file)).unwrap();
    shop.world
        .write(file, text.replace("load.orch.yaml", "load.tran.yaml"));
    shop.push();
    shop.publish("1.0.1 --compat fail").expect(0);
    assert_eq!(shop.receipt()["compat"]["class"], "content");
}

#[test]
fn publish_of_first_version_compares_nothing() {
    let shop = Shop::new();
    let nothing = "no version of sales is enabled, so there is no version to compare with\n";
    let output = shop.call().run("artifacts diff").expect(0);
    assert_eq!(output.out, nothing);
    let json = shop.call().run("artifacts diff -o json").expect(0);
    assert_eq!(
        json.json()["from"],
        serde_json::json!({ "version": null, "commit": null })
    );
    assert_eq!(json.json()["changes"], serde_json::json!([]));
    json.saying(&[nothing]);
    shop.call().run("artifacts impact").expect(0).saying(&[nothing]);
    shop.publish("1.0.0").expect(0);
    // Another prefix has versions, so this one is probably misspelled.
    for command in ["artifacts diff", "artifacts impact"] {
        let near = shop.call().run((command, "--prefix sale")).expect(3);
        near.saying(&[
            "under the prefix \"sale\", so nothing was compared",
            "did you mean `sales`?",
        ]);
        let other = shop.call().run((command, "--prefix shop")).expect(3);
        other.saying(&["pass a published prefix with --prefix: sales"]);
    }
    // Of a known prefix, every version may be disabled.
    shop.call().run("artifacts disable 1.0.0 --force").expect(0);
    let output = shop.call().run("artifacts diff").expect(0);
    assert_eq!(output.out, nothing);
    // With a wrong address, no version is found either.
    let elsewhere = Platform::new();
    let call = shop
        .call()
        .variable("SLUICEGATE_BASE_URL", elsewhere.server.uri());
    call.run("artifacts diff").expect(3).saying(&[
        "404",
        "the platform did not find an enabled version of the prefix \"sales\"",
        "hint: check the base URL",
    ]);
}

#[test]
fn comparison_with_commit_that_cannot_be_published_lists_its_problems() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.call().run("artifacts diff 1.0.0 HEAD").expect(0);
    shop.offer(&[("load", &parameter("day", "")), ("clean", &parameter("week", ""))]);
    for command in ["artifacts diff 1.0.0 HEAD", "artifacts impact 1.0.0 HEAD"] {
        let output = shop.call().run(command).expect(0);
        output.saying(&[
            "could not list the changed files: the shared-pipelines file declares parameters that are not variables:\n",
            ".platform/shared-pipelines.yaml:",
            "`week`",
        ]);
    }
}

#[test]
fn consumers_in_the_repositories_at_hand_are_named() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let consumer = World::new();
    let runs = |version: &str, parameters: &str| {
        format!(
            "type: orchestration\npipeline:\n  components:\n    Run it:\n      type: run-shared-pipeline\n      parameters:\n        \
             sharedPipeline: sales#load\n        version: '{version}'\n{parameters}"
        )
    };
    consumer.write(
        "a/uses.orch.yaml",
        runs("[Latest]", "        variables:\n          - [day, x]\n"),
    );
    consumer.write("spared.orch.yaml", runs("[Latest]", ""));
    consumer.write("broken.orch.yaml", "a: [");
    for number in 0..22 {
        let calls = "type: orchestration\npipeline:\n  components:\n    Call:\n      parameters:\n        orchestrationJob: a/uses\n";
        consumer.write(&format!("callers/{number:02}.orch.yaml"), calls);
    }
    consumer.write("other/uses.orch.yaml", "type: orchestration\n");
    let possible_call = "type: orchestration\npipeline:\n  components:\n    Call:\n      parameters:\n        orchestrationJob: uses\n";
    consumer.write("maybe.orch.yaml", possible_call);
    consumer.commit("first");
    let folder = consumer.work();
    let args = ["artifacts", "impact", "--repos", folder.to_str().unwrap()];
    let output = shop
        .call()
        .run(&args)
        .expect(0)
        .saying(&["could not search", "broken.orch.yaml"]);
    let head = shop.world.git("rev-parse HEAD")[..7].to_owned();
    for words in [
        "a/uses.orch.yaml:4: component `Run it` runs `load`, [Latest]",
        "breaking: the parameter `day` was removed; stop setting the parameter",
        "  called by callers/00.orch.yaml, callers/01.orch.yaml",
        "callers/19.orch.yaml and 2 more\n  may be called by maybe.orch.yaml\n",
        &format!(
            "1 component uses a changed id or parameter of a shared pipeline (version 1.0.0 to {head}; searched 25 of 27 pipelines in 1 repository)\n"
        ),
    ] {
        assert!(output.out.contains(words), "{words}: {}", output.all());
    }
    // The same repository again, and a directory in it.
    let twice = [
        folder.to_str().unwrap(),
        "--repos",
        folder.join("a").to_str().unwrap(),
    ]
    .map(str::to_owned);
    let repeated = shop.call().run((&args[..], "--repos", &twice[..])).expect(0);
    assert_eq!(repeated.out, output.out);
    let unaffected = shop
        .call()
        .run(("artifacts impact HEAD HEAD", &args[2..]))
        .expect(0);
    let summary = format!(
        "no component uses a changed id or parameter of a shared pipeline (commit {head} to {head}; "
    );
    assert!(unaffected.out.starts_with(&summary), "{}", unaffected.out);
    let json = shop.call().run((&args[..], "-o json")).expect(0).json();
    assert_eq!(json["consumers"].as_array().unwrap().len(), 1);
    assert_eq!(json["consumers"][0]["version"], "[Latest]");
    assert_eq!(json["consumers"][0]["calledBy"], 22);
    assert_eq!(json["consumers"][0]["callers"].as_array().unwrap().len(), 20);
    assert_eq!(json["consumers"][0]["mayBeCalledBy"], 1);
    assert_eq!(json["consumers"][0]["possibleCallers"][0], "maybe.orch.yaml");
}

/// Creates a branch `change` on which `load` loses its parameter.
fn breaking_change() -> Shop {
    let shop = Shop::new();
    shop.world.git("checkout -q -b change");
    shop.break_it();
    shop
}

#[test]
fn break_is_found_although_the_change_moves_the_hidden_directory() {
    let shop = breaking_change();
    shop.world.git("mv .platform .other");
    shop.world.commit("move");
    let output = Call::new(&shop.world.work()).run("check --compat fail").expect(1);
    assert!(output.all().contains("breaks consumers"), "{}", output.all());
    // The same if the new name is already set.
    for command in ["check --compat fail", "check --compat fail --all"] {
        let output = Call::new(&shop.world.work())
            .run((command, "--config-dir .other"))
            .expect(1);
        assert!(
            output.all().contains("breaks consumers"),
            "{command}: {}",
            output.all()
        );
    }
    let diff = Call::new(&shop.world.work()).run("diff main..HEAD --config-dir .other -o json");
    assert_eq!(diff.expect(0).json()["interface"]["class"], "breaking");
    for args in ["", "--config-dir .other"] {
        let diff = shop
            .call()
            .run(("artifacts diff main HEAD -o json", args))
            .expect(0);
        assert_eq!(diff.json()["class"], "breaking", "{args}: {}", diff.out);
    }
    // Counterpart: the move alone breaks nobody.
    let shop = Shop::new();
    shop.world.git("checkout -q -b change");
    shop.world.git("mv .platform .other");
    shop.world.commit("move");
    for args in ["", "--config-dir .other"] {
        let output = Call::new(&shop.world.work()).run(("check --compat fail", args));
        assert!(
            !output.all().contains("breaks consumers"),
            "{args}: {}",
            output.all()
        );
    }
}

/// Creates a branch that moves the hidden directory and sets its new name, in a project that sets the old one.
fn world_with_moved_hidden_directory(offered_parameters: &str) -> World {
    let world = project();
    world.write(
        "sluicegate.yaml",
        "config-dir: .platform\npublish: { compat: fail }\n",
    );
    world.write(SHARED_FILE, offer(&[("a", &parameter("day", ", default: x"))]));
    // A file in another directory has no effect.
    world.write(".moved/shared-pipelines.yaml", "pipelines: []\n");
    world.commit("share");
    world.push();
    world.git("checkout -q -b change");
    world.git("rm -q .moved/shared-pipelines.yaml");
    world.git("mv .platform .moved");
    world.write(
        "sluicegate.yaml",
        "config-dir: .moved\npublish: { compat: fail }\n",
    );
    world.write(
        ".moved/shared-pipelines.yaml",
        offer(&[("a", offered_parameters)]),
    );
    world.commit("move");
    world
}

/// The new directory applies after the merge. Until then, the rules are missing, because a change must not choose them.
#[test]
fn change_that_moves_hidden_directory_and_its_setting_breaks_only_what_it_edits() {
    let world = world_with_moved_hidden_directory(&parameter("day", ", default: x"));
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("pipeline");
    let call = Job::github().pull_request().call(&world);
    let output = call.run("check").expect(1);
    output.assert_logged(&[
        "the change sets the hidden directory to `.moved`, which applies after its merge: for this one change, set \
         --policy head (SLUICEGATE_POLICY=head) in the job",
    ]);
    for text in ["breaks consumers", "removes the shared-pipelines file"] {
        assert!(!output.all().contains(text), "{text}: {}", output.all());
    }
    call.run("check --policy head").expect(0);

    let world = world_with_moved_hidden_directory("");
    let output = Job::github().pull_request().call(&world).run("check");
    output.logging(&["breaks consumers", "the parameter `day` was removed"]);
    // The directory that only the change sets is also examined.
    let world = world_with_moved_hidden_directory("");
    let entry = "pipelines:\n  - { pipeline: missing.orch.yaml, id: a, enabled: true }\n";
    world.write(".moved/shared-pipelines.yaml", entry);
    world.commit("missing");
    let output = Job::github().pull_request().call(&world).run("check");
    output.logging(&["project/shared", "missing.orch.yaml"]);
    // A change that only removes the file does not set another directory.
    world.git("rm -q .moved/shared-pipelines.yaml");
    world.commit("removal");
    let output = Job::github().pull_request().call(&world).run("check");
    output.logging(&["the change removes the shared-pipelines file"]);
}

#[test]
fn publish_compares_with_directory_that_the_version_had_and_verify_does_so_too() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.world.git("mv .platform .other");
    shop.world.write(
        ".other/shared-pipelines.yaml",
        offer(&[("load", ""), ("clean", &parameter("day", ", default: x"))]),
    );
    shop.push();
    let output = shop.publish("1.1.0 --config-dir .other --compat fail");
    output.expect(1).saying(&["breaks consumers"]);
    shop.publish("2.0.0 --config-dir .other").expect(0);
    let compat = &shop.receipt()["compat"];
    assert_eq!(compat["class"], "breaking", "{compat}");
    assert_eq!(compat["changes"][0]["parameter"], "day", "{compat}");
    let receipt = shop.world.path().join("receipt.json");
    shop.call()
        .run(&["verify", receipt.to_str().unwrap(), "--config-dir", ".other"])
        .expect(0);
}

#[test]
fn second_hidden_directory_breaks_nobody_while_the_first_stays() {
    let shop = Shop::new();
    shop.world.git("checkout -q -b change");
    shop.world
        .write(".second/shared-pipelines.yaml", offer(&[("more", "")]));
    shop.push();
    for command in ["check --compat fail", "check --compat fail --all"] {
        let output = shop.call().run((command, "--config-dir .second"));
        assert!(
            !output.all().contains("breaks consumers"),
            "{command}: {}",
            output.all()
        );
    }
    let diff = shop
        .call()
        .run("diff main..HEAD --config-dir .second -o json")
        .expect(0);
    assert_eq!(diff.json()["interface"]["class"], "addition", "{}", diff.out);
    let diff = shop
        .call()
        .run("artifacts diff main HEAD --config-dir .second -o json")
        .expect(0);
    assert_eq!(diff.json()["class"], "addition", "{}", diff.out);
}

#[test]
fn break_fails_run_for_paths_wherever_the_paths_are() {
    let world = world_with_shared_file(&offer(&[("a", &parameter("day", ", default: x"))]));
    world.write("sales/b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("note.md", "");
    world.commit("other files");
    let calls = |world: &World| [Call::new(&world.work()), Job::github().pull_request().call(world)];
    world.push();
    for call in calls(&world) {
        call.run("check sales --compat fail").expect(0);
    }
    world.write(SHARED_FILE, offer(&[("a", "")]));
    world.commit("break");
    world.push();
    for call in calls(&world) {
        for paths in ["sales", "sales/b.orch.yaml", "a.orch.yaml"] {
            let output = call.run(("check --compat fail", paths)).expect(1);
            output.logging(&["breaks consumers of shared pipelines"]);
        }
        call.run("check sales --compat off").expect(0);
    }
}

#[test]
fn local_run_without_base_reports_unknown_breaks_if_they_fail() {
    let world = World::new()
        .with_file(RULES_FILE, RULES)
        .with_pipeline("a.orch.yaml", &["Start", "Done"]);
    world.write(SHARED_FILE, offer(&[("a", "")]));
    world.commit("first");
    world.git("remote remove origin");
    let note = "could not determine the changes for consumers, because there is no base";
    let check = |args: &str| Call::new(&world.work()).run(("check", args)).expect(0);
    check("--compat fail").assert_logged(&[note]);
    for args in ["", "--compat warn"] {
        assert!(!check(args).all().contains(note), "{args}");
    }
    // With a base, there is nothing to say.
    let output = check("--compat fail --base HEAD");
    assert!(!output.all().contains(note), "{}", output.all());
    // Nothing is unknown without shared pipelines.
    fs::remove_file(world.work().join(SHARED_FILE)).unwrap();
    world.commit("none");
    let output = check("--compat fail");
    assert!(!output.all().contains(note), "{}", output.all());
}

#[test]
fn comment_in_shared_file_is_no_change_of_diff_and_of_report() {
    let shared = offer(&[("a", "")]);
    let world = world_with_shared_file(&shared);
    world.write(SHARED_FILE, format!("# remark\n{shared}"));
    world.commit("comment");
    let call = Call::new(&world.work());
    let diff = call.run("diff main..HEAD --exit-code").expect(0);
    assert_eq!(diff.out, "no pipeline differs\n");
    // Together with a changed pipeline, nothing says that nothing changed.
    world.write("a.orch.yaml", orchestration_text(&["Start", "More", "Done"]));
    world.commit("pipeline");
    let diff = call.run("diff main..HEAD --exit-code -o json").expect(1).json();
    assert_eq!(diff["interface"], Value::Null);
    let report = call.run("check --base main --report json=-").expect(0).json();
    assert_eq!(report["compat"], Value::Null);
    // Another meaning is a change.
    world.write(SHARED_FILE, format!("{shared}other: key\n"));
    world.commit("key");
    let diff = call.run("diff HEAD~1..HEAD --exit-code -o json").expect(1).json();
    assert_eq!(diff["interface"]["class"], "content");
}

#[test]
fn review_and_check_list_breaks_of_change() {
    let shop = breaking_change();
    for command in ["review", "check"] {
        let reports = ["junit", "html", "markdown", "sarif", "gitlab", "json"];
        let files = reports.map(|format| shop.world.path().join(format));
        let flags: Vec<String> = reports
            .iter()
            .zip(&files)
            .map(|(format, file)| format!("--report={format}={}", file.display()))
            .collect();
        let run = |more: &[&str]| {
            let flags = flags.iter().map(String::as_str);
            let args: Vec<&str> = [command]
                .into_iter()
                .chain(flags)
                .chain(more.iter().copied())
                .collect();
            shop.call().variable("GITHUB_ACTIONS", "").run(&args)
        };
        let json = || -> Value { serde_json::from_slice(&fs::read(&files[5]).unwrap()).unwrap() };
        let output = run(&[]).expect(0);
        assert!(
            output
                .all()
                .contains("warning: breaks consumers: .platform/shared-pipelines.yaml:2"),
            "{}",
            output.all()
        );
        for file in &files[..5] {
            let text = fs::read_to_string(file).unwrap();
            assert!(text.contains("was removed"), "{}: {text}", file.display());
        }
        let change = &json()["compat"]["changes"][0];
        assert_eq!(
            (&change["change"], &change["id"]),
            (&"parameter-removed".into(), &"load".into())
        );
        assert_eq!(
            (&json()["verdict"], &json()["compat"]["class"]),
            (&"passed".into(), &"breaking".into())
        );
        run(&["--compat", "fail"]).expect(1).saying(&[]);
        assert_eq!(
            (&json()["verdict"], &json()["compat"]["refused"]),
            (&"failed".into(), &true.into())
        );
        let junit = fs::read_to_string(&files[0]).unwrap();
        assert!(
            junit.contains("<failure") && junit.contains("breaks consumers"),
            "{junit}"
        );
        // The written report is parsed strictly and rendered again.
        let from = files[5].to_str().unwrap();
        let second_run = shop
            .call()
            .run(&["report", from, "--report", "markdown=-"])
            .expect(1);
        assert!(
            second_run.out.contains("Breaks consumers of shared pipelines"),
            "{}",
            second_run.all()
        );
        let lie = fs::read_to_string(from)
            .unwrap()
            .replace("\"verdict\": \"failed\"", "\"verdict\": \"passed\"");
        fs::write(shop.world.path().join("lie.json"), lie).unwrap();
        let lie = shop.world.path().join("lie.json");
        shop.call()
            .run(&["report", lie.to_str().unwrap()])
            .expect(2)
            .saying(&["breaks consumers"]);
        run(&["--compat", "fail", "--accept-breaking", "agreed"]).expect(0);
        assert_eq!(json()["compat"]["accepted"], "agreed");
        run(&["--compat", "off"]).expect(0);
        assert_eq!(json().get("compat"), None);
    }
}

#[test]
fn break_of_base_is_not_reported_for_change() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    shop.world.git("checkout -q -b change");
    shop.world
        .write("other.orch.yaml", orchestration_text(&["Start", "Done"]));
    shop.push();
    let output = shop.call().run("review --compat fail").expect(0);
    assert!(!output.all().contains("breaks consumers"), "{}", output.all());
}

#[test]
fn change_does_not_steer_what_its_breaks_mean_in_review() {
    let shop = Shop::new();
    shop.world.write("sluicegate.yaml", "publish: { compat: fail }\n");
    shop.push();
    shop.world.git("checkout -q -b change");
    shop.world.write("sluicegate.yaml", "publish: { compat: off }\n");
    shop.break_it();
    push_of_branch(&shop.world, shop.call()).run("review").expect(1);
    let unreadable = "pipelines: [\n";
    shop.world.write(".platform/shared-pipelines.yaml", unreadable);
    shop.push();
    // In CI, the change that makes the file unusable fails.
    let output = push_of_branch(&shop.world, shop.call()).run("review").expect(1);
    assert!(
        output
            .all()
            .contains("Could not determine the changes for consumers"),
        "{}",
        output.all()
    );
}

#[test]
fn break_by_unstaged_edit_of_shared_file_fails_like_committed_edit() {
    let shop = Shop::new();
    let check = |more: &str| shop.call().run(("check --compat fail", more));
    let broken = |output: ProgramOutput| {
        let output = output.expect(1);
        assert!(
            output.all().contains("the parameter `day` was removed"),
            "{}",
            output.all()
        );
    };
    check("").expect(0);
    let path = ".platform/shared-pipelines.yaml";
    shop.world.write(
        path,
        offer(&[("load", ""), ("clean", &parameter("day", ", default: x"))]),
    );
    broken(check(""));
    shop.world.git(&["add", path]);
    broken(check(""));
    broken(check("--staged"));
    shop.world.git("checkout -q -b change");
    shop.world.git("commit -qm break");
    broken(check(""));
    // An addition passes.
    shop.world.git("checkout -q main");
    shop.world.write(
        path,
        offer(&[
            ("load", &parameter("day", "")),
            ("clean", &parameter("day", ", default: x")),
            ("more", ""),
        ]),
    );
    check("").expect(0);
}

#[test]
fn break_fails_run_over_all_pipelines_like_run_over_changed_ones() {
    let world = world_with_shared_file(&offer(&[("a", &parameter("day", ", default: x"))]));
    let calls = [
        Call::new(&world.work()),
        Job::github().pull_request().call(&world),
    ];
    for call in &calls {
        call.run("check --all --compat fail").expect(0);
    }
    world.write(SHARED_FILE, offer(&[("a", "")]));
    world.commit("break");
    world.push();
    let calls = [
        Call::new(&world.work()),
        Job::github().pull_request().call(&world),
    ];
    for call in &calls {
        for flags in ["", "--all", "--all --base origin/main"] {
            let output = call.run(("check --compat fail", flags)).expect(1);
            output.logging(&["breaks consumers of shared pipelines"]);
        }
    }
    // A shallow clone lacks the base, with which nothing else is compared.
    let change = format!("+{}:refs/remotes/origin/change", head(&world));
    let clone = checkout(&world, &["--depth=1", &change], &head(&world));
    let call = Job::github().pull_request().extend(&world, Call::new(&clone));
    call.run("check --all --compat fail").expect(7);
    let output = call.run("check --all --compat fail --deepen").expect(1);
    output.logging(&["breaks consumers of shared pipelines"]);
}

/// These hosts do not name the default branch, and the clone has other branches only or too little history.
#[test]
fn deepen_finds_break_in_run_over_all_pipelines() {
    let world = world_with_shared_file(&offer(&[("a", &parameter("day", ", default: x"))]));
    world.write(SHARED_FILE, offer(&[("a", "")]));
    world.commit("break");
    let add_commits = || {
        for number in 0..6 {
            world.write("note.txt", number.to_string());
            world.commit("more");
        }
        world.push();
        head(&world)
    };
    let change = add_commits();
    world.git("checkout -q main");
    add_commits();
    let variables = [
        ["CIRCLECI=true", "CIRCLE_SHA1", "CIRCLE_BRANCH"],
        ["BITBUCKET_BUILD_NUMBER=1", "BITBUCKET_COMMIT", "BITBUCKET_BRANCH"],
        ["BUILDKITE=true", "BUILDKITE_COMMIT", "BUILDKITE_BRANCH"],
    ];
    let fetched_branch = "+refs/heads/change:refs/remotes/origin/change";
    for [host, commit, branch] in variables {
        let (name, value) = host.split_once('=').unwrap();
        let check = |clone: &Path| {
            let call = Call::new(clone).variable(name, value);
            let call = call.variable(commit, &change).variable(branch, "change");
            let output = call.run("check --all --compat fail --deepen");
            assert_eq!(output.code, 1, "{host}: {}", output.all());
            output.logging(&["breaks consumers of shared pipelines"]);
        };
        check(&checkout(&world, &["--depth=50", fetched_branch], &change));
        check(&with_default(checkout(
            &world,
            &["--depth=1", EVERYTHING_FETCHED],
            &change,
        )));
    }
}

/// A break was accepted when it was merged. Nightly runs must not report it again.
#[test]
fn repeated_run_over_all_pipelines_does_not_fail_for_merged_break() {
    let world = world_with_shared_file(&offer(&[("a", &parameter("day", ", default: x"))]));
    world.git("checkout -q main");
    let before = head(&world);
    world.write(SHARED_FILE, offer(&[("a", "")]));
    let merged = world.commit("break");
    world.push();
    let fetched_branch = "+refs/heads/main:refs/remotes/origin/main";
    let shallow_clone = checkout(&world, &["--depth=1", fetched_branch], &merged);
    let payload = json!({ "repository": repository() });
    let run = |call: Call| call.run("check --all --compat fail --report json=-");
    for clone in [&world.work(), &shallow_clone] {
        let call = Call::new(clone)
            .variable("CIRCLECI", "true")
            .variable("CIRCLE_SHA1", &merged)
            .variable("CIRCLE_BRANCH", "main");
        let notes = run(call).expect(0).json()["notes"].to_string();
        assert!(notes.contains("because there is no base"), "{notes}");
        for event in ["schedule", "workflow_dispatch"] {
            let job = Job::github().event(event, "refs/heads/main", &payload);
            let call = job.extend(&world, Call::new(clone));
            // A base is not expected.
            let notes = run(call.clone()).expect(0).json()["notes"].to_string();
            assert!(!notes.contains("because there is no base"), "{notes}");
            call.run("check --compat fail").expect(0);
        }
    }
    // A base that the job names is compared.
    let job = Job::github().event("schedule", "refs/heads/main", &payload);
    job.call(&world)
        .run(("check --compat fail --base", before.as_str()))
        .expect(1);
    // The push itself fails, if the clone shows the commit before.
    let push = Job::github().push(&before);
    run(push.call(&world)).expect(1);
    let notes = run(push.extend(&world, Call::new(&shallow_clone)))
        .expect(0)
        .json()["notes"]
        .to_string();
    assert!(notes.contains("because there is no base"), "{notes}");
}

/// These hosts do not name the commit before a push, so a run on the default branch may repeat an earlier one.
#[test]
fn break_on_default_branch_of_host_without_push_event_fails_only_with_named_base() {
    let world = world_with_shared_file(&offer(&[("a", &parameter("day", ", default: x"))]));
    let before = head(&world);
    world.write(SHARED_FILE, offer(&[("a", "")]));
    let commit = world.commit("break");
    world.git("push -q origin change");
    let hosts = [
        ["CIRCLECI=true", "CIRCLE_SHA1", "CIRCLE_BRANCH"],
        ["BITBUCKET_BUILD_NUMBER=1", "BITBUCKET_COMMIT", "BITBUCKET_BRANCH"],
        ["JENKINS_URL=http://ci", "GIT_COMMIT", "BRANCH_NAME"],
    ];
    let job = |[host, commit_variable, branch_variable]: [&str; 3], branch: &str| {
        let (name, value) = host.split_once('=').unwrap();
        Call::new(&world.work())
            .variable(name, value)
            .variable(commit_variable, &commit)
            .variable(branch_variable, branch)
    };
    for host in hosts {
        job(host, "change").run("check --compat fail").expect(1);
    }
    world.git("checkout -q main");
    world.git("merge -q change");
    world.push();
    for host in hosts {
        let job = job(host, "main");
        for flags in ["", "--all"] {
            let output = job.run(("check --compat fail --report json=-", flags)).expect(0);
            let notes = output.json()["notes"].to_string();
            assert!(notes.contains("because there is no base"), "{notes}");
        }
        job.run(("check --compat fail --base", before.as_str())).expect(1);
    }
    // Jenkins may name the commit of the previous run. A break after it was not reported yet.
    let fetched_branch = "+refs/heads/main:refs/remotes/origin/main";
    let shallow_clone = with_default(checkout(&world, &["--depth=1", fetched_branch], &commit));
    for variable in ["GIT_PREVIOUS_SUCCESSFUL_COMMIT", "GIT_PREVIOUS_COMMIT"] {
        let job = job(hosts[2], "main");
        for (flags, shallow_code) in [("", 7), ("--all", 0)] {
            let check = ("check --compat fail", flags);
            job.clone().variable(variable, &before).run(check).expect(1);
            // The same commit again.
            job.clone().variable(variable, &commit).run(check).expect(0);
            let call = Call::new(&shallow_clone)
                .variable("JENKINS_URL", "http://ci")
                .variable("GIT_COMMIT", &commit)
                .variable("BRANCH_NAME", "main")
                .variable("BRANCH_IS_PRIMARY", "true");
            call.variable(variable, &before).run(check).expect(shallow_code);
        }
    }
}

#[test]
fn run_that_cannot_find_breaks_without_base_reports_it() {
    let world = world_with_shared_file(&offer(&[("a", "")]));
    world.git("tag v1");
    world.git("push -q origin v1");
    let payload = json!({ "repository": repository(), "ref": "refs/tags/v1", "before": "0".repeat(40),
        "after": head(&world) });
    let call = Job::github().event("push", "refs/tags/v1", &payload).call(&world);
    let notes = |mode: &str| {
        let output = call.run(("check --report json=- --compat", mode)).expect(0);
        output.json()["notes"].to_string()
    };
    let note = "could not determine the changes for consumers, because there is no base";
    let text = notes("fail");
    assert!(text.contains(note), "{text}");
    let text = notes("warn");
    assert!(!text.contains(note), "{text}");
}

#[test]
fn change_that_shares_pipelines_reports_the_new_ones() {
    let world = project();
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("another pipeline");
    world.push();
    world.git("checkout -q -b change");
    let entry = |path: &str, id: &str| format!("  - {{ pipeline: {path}, id: {id}, enabled: true }}\n");
    let file = |entries: &[String]| format!("version: \"1.0\"\npipelines:\n{}", entries.concat());
    let both = [entry("a.orch.yaml", "load"), entry("b.orch.yaml", "send")];
    world.write(".platform/shared-pipelines.yaml", file(&both));
    world.commit("share two");
    let check = || Call::new(&world.work()).run("check --report json=- --report markdown=out.md");
    let notes = check().expect(0).json()["notes"].to_string();
    assert!(
        notes.contains("2 new shared pipelines: `load`, `send`"),
        "{notes}"
    );
    let summary = fs::read_to_string(world.work().join("out.md")).unwrap();
    assert!(summary.contains("2 new shared pipelines"), "{summary}");
    world.push();
    world.git("branch -f main");
    world.git("push -q origin main");
    world.write(
        ".platform/shared-pipelines.yaml",
        file(&both).replace("enabled: true }\n  -", "enabled: true, displayName: Load }\n  -"),
    );
    world.commit("a display name");
    let notes = check().expect(0).json()["notes"].to_string();
    assert!(!notes.contains("new shared pipeline"), "{notes}");
}

#[test]
fn job_that_sets_an_empty_reason_accepts_no_break() {
    let shop = breaking_change();
    let check = |reason: &str| {
        let call = shop.call().variable("SLUICEGATE_ACCEPT_BREAKING", reason);
        call.run("check --compat fail")
    };
    check("").expect(1);
    check("label breaking-change").expect(0);
}

/// Creates a pushed `main` with this shared-pipelines file, and checks out the branch `change`.
fn world_with_shared_file(text: &str) -> World {
    let world = project();
    world.write(SHARED_FILE, text);
    world.commit("share");
    world.push();
    world.git("checkout -q -b change");
    world
}

/// Commits the change, and returns the kinds of its changes for consumers.
fn list_change_kinds(world: &World) -> Vec<Value> {
    world.commit("change");
    let report = Call::new(&world.work())
        .run("diff main..HEAD -o json")
        .expect(0)
        .json();
    let changes = report["interface"]["changes"].as_array().cloned();
    let kinds = changes.into_iter().flatten();
    kinds.map(|change| change["change"].clone()).collect()
}

#[test]
fn shared_file_with_the_same_entries_is_changed_only_by_its_place_or_meaning() {
    let shared = offer(&[("a", "")]);
    let world = world_with_shared_file(&shared);
    world.write(SHARED_FILE, format!("# remark\n{shared}"));
    assert_eq!(list_change_kinds(&world), [""; 0], "a comment");

    let world = world_with_shared_file(&shared);
    let disabled = "  - id: off\n    pipeline: a.orch.yaml\n    enabled: false\n    parameters: {}\n";
    world.write(SHARED_FILE, format!("{shared}{disabled}"));
    assert_eq!(list_change_kinds(&world), ["file-modified"], "another meaning");

    let world = world_with_shared_file(&shared);
    world.git("mv .platform .renamed");
    assert_eq!(list_change_kinds(&world), ["file-modified"], "another place");
}

/// A file that both sides cannot read for the same reason did not change.
#[test]
fn unreadable_shared_file_leaves_breaks_unknown_unless_it_stayed_the_same() {
    let broken = "pipelines: [\n";
    let check_change = |file: &str, text: &str| {
        let world = world_with_shared_file(broken);
        world.write(file, text);
        world.commit("change");
        Call::new(&world.work()).run("check --compat fail --report json=-")
    };
    let same = check_change("b.orch.yaml", &orchestration_text(&["Start", "Done"])).expect(0);
    assert!(
        !same.out.contains("could not determine the changes for consumers"),
        "{}",
        same.all()
    );
    let other = check_change(SHARED_FILE, "# remark\n\n\npipelines: {\n").expect(3);
    other.assert_logged(&["could not determine the changes for consumers"]);
}

#[test]
fn class_of_unreadable_shared_file_is_unknown_in_diff_and_in_report() {
    let text = offer(&[("a", "")]);
    let compare = |old: &str, new: &str| {
        let world = world_with_shared_file(old);
        world.write(SHARED_FILE, new);
        world.commit("change");
        let call = Call::new(&world.work());
        let report = call.run("check --report json=-").json();
        let diff = call.run("diff main..HEAD -o json").expect(0).json();
        (
            report["compat"]["class"].clone(),
            diff["interface"]["class"].clone(),
        )
    };
    let unknown = (Value::Null, Value::Null);
    assert_eq!(compare(&text, "pipelines: [\n"), unknown, "the change");
    assert_eq!(compare("pipelines: [\n", &text), unknown, "the base");
    let added = (json!("addition"), json!("addition"));
    assert_eq!(compare("pipelines: []\n", &text), added, "both readable");
}

/// The receipt lists the files of the version, of which only one is the platform's shared-pipelines file.
#[test]
fn verify_reads_the_shared_file_in_the_hidden_directory_of_the_version() {
    let shop = Shop::new();
    for path in ["(old)/shared-pipelines.yaml", ".another/shared-pipelines.yaml"] {
        shop.world.write(path, offer(&[("other", "")]));
    }
    shop.world.write(
        "sluicegate.yaml",
        "config-dir: .platform\npublish: { include: ['**/*.orch.yaml', '(old)/*'] }\n",
    );
    shop.push();
    shop.publish("1.0.0").expect(0);
    shop.offer(&[("load", &parameter("hour", ", default: x"))]);
    shop.publish("2.0.0").expect(0);
    let receipt = shop.receipt();
    assert_eq!(receipt["files"][0]["path"], "(old)/shared-pipelines.yaml");
    let path = shop.world.path().join("receipt.json");
    let verify = || shop.call().run(&["verify", path.to_str().unwrap()]);
    verify().expect(0);
    // A short id names no commit, so the files cannot be compared.
    let mut short_receipt = receipt.clone();
    let commit = receipt["commitHash"].as_str().unwrap();
    short_receipt["commitHash"] = commit[..7].into();
    fs::write(&path, short_receipt.to_string()).unwrap();
    let output = verify();
    assert_ne!(output.code, 0, "{}", output.all());
    assert!(
        !output.all().contains("has different content"),
        "{}",
        output.all()
    );
}

#[test]
fn change_of_project_without_shared_file_has_no_comparison_for_consumers() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("another pipeline");
    let report = Call::new(&world.work())
        .run("check --report json=-")
        .expect(0)
        .json();
    assert_eq!(report["compat"], Value::Null);
}

#[test]
fn verify_in_unusable_repository_fails_and_outside_of_one_prints_note() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let receipt = shop.world.path().join("receipt.json");
    let receipt = receipt.to_str().unwrap();
    let verify = |folder: &Path, args: &str| shop.call_in(folder).run((&["verify", receipt], args));
    let outside = scratch::create_scratch_directory();
    verify(outside.path(), "")
        .expect(0)
        .saying(&["is not available locally"]);
    verify(outside.path(), "--repo gone").expect(7);
    // The settings of the repository would be ignored, too.
    let settings = |args: &str| shop.call_in(outside.path()).run(("settings", args));
    settings("").expect(0);
    settings("--repo gone").expect(7);
    fs::write(shop.world.work().join(".git/config"), "[core\n").unwrap();
    verify(&shop.world.work(), "").expect(7);
    shop.call().run("settings").expect(7);
}

/// Creates a branch with a warning and with a shared pipeline that lost a parameter of `main`.
fn change_with_break() -> World {
    let world = project();
    world.write(SHARED_FILE, offer(&[("a", &parameter("day", ", default: x"))]));
    world.commit("offer");
    world.push();
    world.git("checkout -q -b change");
    world.write(SHARED_FILE, offer(&[("a", "")]));
    world.write("b.orch.yaml", orchestration_text(&["Start", "bad name", "Done"]));
    world.commit("break");
    world.push();
    world
}

#[test]
fn log_of_run_that_fails_by_break_begins_and_ends_with_it() {
    let world = change_with_break();
    for options in ["", "-q", "--show all"] {
        let output = Job::github()
            .pull_request()
            .call(&world)
            .run(("check --compat fail", options))
            .expect(1);
        let (first, last) = (output.out.lines().next(), output.out.lines().last());
        assert_eq!(first, last, "{options}: {}", output.all());
        assert!(
            last.unwrap().contains("1 breaking change for consumers"),
            "{}",
            output.all()
        );
    }
    // Concise output starts with a line for each finding, and if findings fail the run, only the last line has the
    // verdict.
    let output = Call::new(&world.work())
        .run("check --compat fail --base origin/main --show concise")
        .expect(1);
    assert!(output.out.starts_with("b.orch.yaml:"), "{}", output.all());
    assert_eq!(output.out.matches("Check failed").count(), 1, "{}", output.all());
    let output = Call::new(&world.work())
        .run("check --compat warn --base origin/main")
        .expect(1);
    assert_eq!(output.out.matches("Check failed").count(), 1, "{}", output.all());
}

#[test]
fn removed_shared_pipeline_is_shown_without_its_old_line_and_changed_one_at_its_new_line() {
    let world = project();
    for id in ["load", "clean"] {
        let pipeline =
            orchestration_text(&["Start", "Work", "Done"]) + "  variables:\n    day: {}\n    hour: {}\n";
        world.write(&format!("{id}.orch.yaml"), pipeline);
    }
    let day = parameter("day", ", default: x");
    world.write(SHARED_FILE, offer(&[("load", &day), ("clean", &day)]));
    world.commit("share");
    world.push();
    world.git("checkout -q -b change");
    // The file loses the entry `load`, and the entry `clean` moves to its line.
    world.write(
        SHARED_FILE,
        offer(&[("clean", &parameter("hour", ", default: x"))]),
    );
    world.commit("change");
    world.push();
    let job = Job::github().pull_request().call(&world);
    let output = job
        .run("check --all --compat fail --report gitlab=q.json")
        .expect(1);
    output.assert_logged(&[
        "::error file=.platform/shared-pipelines.yaml,line=1,title=breaks consumers::`load`",
        "::error file=.platform/shared-pipelines.yaml,line=2,title=breaks consumers::`clean`",
    ]);
    let issues: Value = serde_json::from_str(&world.read_text("q.json")).unwrap();
    for (id, line, old_line) in [("load", 1, 2), ("clean", 2, 11)] {
        let issue = issues
            .as_array()
            .unwrap()
            .iter()
            .find(|issue| {
                issue["description"]
                    .as_str()
                    .unwrap()
                    .starts_with(&format!("`{id}`"))
            })
            .unwrap();
        let description = issue["description"].as_str().unwrap();
        let old_place = format!("(before: {SHARED_FILE}:{old_line} in the base)");
        assert!(description.ends_with(&old_place), "{description}");
        assert_eq!(issue["location"]["lines"]["begin"], line);
    }
}

#[test]
fn every_report_has_the_reason_for_an_accepted_break() {
    let world = change_with_break();
    let formats = [
        "json",
        "junit",
        "sarif",
        "html",
        "markdown",
        "gitlab",
        "rdjson",
        "checkstyle",
    ];
    let reports = formats
        .map(|format| format!("--report {format}=../{format}"))
        .join(" ");
    for (reason, is_accepted) in [("--accept-breaking agreed-with-finance", true), ("", false)] {
        Call::new(&world.work())
            .run((
                format!("check --compat fail --base origin/main {reports}").as_str(),
                reason,
            ))
            .expect(1);
        for format in formats {
            let report = fs::read_to_string(world.path().join(format)).unwrap();
            assert_eq!(
                report.contains("agreed-with-finance"),
                is_accepted,
                "{format}: {report}"
            );
        }
    }
}

#[test]
fn comparison_in_repository_of_consumer_is_refused() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let consumer = World::new();
    consumer.write(
        "uses.orch.yaml",
        "type: orchestration\npipeline:\n  components:\n    Run it:\n      type: run-shared-pipeline\n      parameters:\n        \
         sharedPipeline: sales#load\n        version: '[Latest]'\n",
    );
    consumer.commit("first");
    let folder = consumer.work();
    let folder = folder.to_str().unwrap();
    for command in ["artifacts impact --repos . -C", "artifacts diff -C"] {
        let output = shop.call().run((command, &[folder])).expect(2);
        assert_eq!(output.out, "");
        output.saying(&[
            "lacks the commit of version 1.0.0 of sales",
            "hint: run the command in a clone of the repository that publishes the artifact",
        ]);
    }
    // A commit without the file in the library itself removes every shared pipeline.
    shop.world.git("rm -q .platform/shared-pipelines.yaml");
    shop.push();
    let output = shop.call().run("artifacts diff").expect(0);
    assert!(output.out.contains("no longer offered"), "{}", output.all());
}

#[test]
fn comparison_of_head_without_shared_pipelines_names_the_cause() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    // The clone has the commit of the version, which has no file in this directory either.
    let output = shop.call().run("artifacts diff --config-dir .other").expect(2);
    output.saying(&["neither 1.0.0 nor", "has a shared-pipelines file", "--config-dir"]);
    shop.world.git("rm -q .platform/shared-pipelines.yaml");
    shop.push();
    let shallow_clone = shop.world.path().join("shallow");
    let folder = shallow_clone.to_str().unwrap();
    let url = shop.world.git("remote get-url origin");
    shop.world
        .git(format!("clone -q --depth 1 file://{} {folder}", url.trim()));
    let output = shop.call().run(("artifacts diff -C", &[folder])).expect(2);
    output.saying(&[
        "lacks the commit of version 1.0.0 of sales",
        "if this is that repository, pass --deepen to fetch the commit",
    ]);
    let args = ("artifacts diff --deepen -C", &[folder]);
    let output = shop.call().run(args).expect(0);
    assert!(output.out.contains("no longer offered"), "{}", output.all());
}

#[test]
fn verify_of_receipt_with_another_branch_fails() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let receipt = shop.receipt();
    let path = shop.world.path().join("receipt.json");
    for (branch, outcome, code) in [
        ("main", "published", 0),
        ("no-such-branch", "published", 6),
        ("main", "already-published", 0),
        ("no-such-branch", "already-published", 6),
        ("größer", "published", 0),
    ] {
        let mut edited_receipt = receipt.clone();
        edited_receipt["branch"] = branch.into();
        edited_receipt["outcome"] = outcome.into();
        fs::write(&path, edited_receipt.to_string()).unwrap();
        let output = shop.call().run(&["verify", path.to_str().unwrap()]).expect(code);
        let difference =
            "the version is from the branch `main`, but the receipt names the branch `no-such-branch`";
        assert_eq!(output.all().contains(difference), code == 6, "{}", output.all());
    }
}

/// The upload finds the version `1.0.0`; with placeholders, the list of versions shows it before the upload.
#[test]
fn receipt_of_rerun_on_another_branch_names_the_branch_of_the_version() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    shop.world.git("checkout -q -b other");
    shop.world.git("push -q -u origin other");
    let path = shop.world.path().join("receipt.json");
    for args in ["1.0.0 --if-exists same-content", "{short-sha}"] {
        shop.publish(args).expect(0);
        let receipt = shop.receipt();
        assert_eq!(
            (&receipt["outcome"], &receipt["branch"]),
            (&"already-published".into(), &"main".into()),
            "{args}"
        );
        shop.call().run(&["verify", path.to_str().unwrap()]).expect(0);
    }
}

#[test]
fn impact_of_changed_pipeline_names_consumers_that_may_be_affected() {
    let shop = Shop::new();
    shop.publish("1.0.0").expect(0);
    let text = fs::read_to_string(shop.world.work().join("load.orch.yaml")).unwrap();
    shop.world.write("load.orch.yaml", text.replace("Work", "Other"));
    shop.push();
    let consumer = World::new();
    let impact = [
        "artifacts",
        "impact",
        "--repos",
        consumer.work().to_str().unwrap(),
    ]
    .map(str::to_owned);
    consumer.write("a.orch.yaml", orchestration_text(&["Start"]));
    consumer.commit("first");
    let affected = "no component uses a changed id or parameter of a shared pipeline (";
    // Without a consumer, the changed files affect nobody.
    let output = shop.call().run(&impact[..]).expect(0);
    assert!(
        output.out.starts_with(affected) && output.out.lines().count() == 1,
        "{}",
        output.out
    );
    let run = "type: orchestration\npipeline:\n  components:\n    Run:\n      type: run-shared-pipeline\n      \
               parameters: { sharedPipeline: sales#load }\n";
    for (path, sentence) in [
        (
            "a.orch.yaml",
            "1 file of the artifact also changed, which may affect the component that runs its shared pipelines\n",
        ),
        (
            "b.orch.yaml",
            "1 file of the artifact also changed, which may affect all 2 components that run its shared pipelines\n",
        ),
    ] {
        consumer.write(path, run);
        let output = shop.call().run(&impact[..]).expect(0);
        assert!(output.out.starts_with(affected), "{}", output.out);
        assert!(output.out.ends_with(sentence), "{}", output.out);
    }
    let document = shop.call().run((&impact[..], "-o json")).expect(0).json();
    assert_eq!(
        (&document["changedFiles"], &document["consumerCount"]),
        (&1.into(), &2.into())
    );
    let unchanged = ["artifacts", "impact", "HEAD", "HEAD", "--repos", &impact[3]];
    let output = shop.call().run(&unchanged).expect(0);
    assert_eq!(output.out.lines().count(), 1, "{}", output.out);
    // A shared pipeline that cannot be published hides which files changed.
    shop.world.write("load.orch.yaml", orchestration_text(&["Start"]));
    shop.push();
    let output = shop.call().run(&impact[..]).expect(0);
    let sentence = "other files of the artifact may have changed, which may affect all 2 components that run its shared pipelines\n";
    assert!(output.out.ends_with(sentence), "{}", output.out);
    let document = shop.call().run((&impact[..], "-o json")).expect(0).json();
    assert_eq!(document["changedFiles"], Value::Null);
}
