//! `sluicegate context`.

use crate::support::{Call, change, git, orchestration_text, project};
use serde_json::json;

#[test]
fn local_run_is_explained_as_json() {
    let world = change(&[
        ("b.orch.yaml", &orchestration_text(&["Start", "Done"])),
        ("old/c.orch.yaml", "type: orchestration\n"),
    ]);
    let call = Call::new(&world.work());
    let report = call.run("context --json --exclude old/**").expect(0).json();
    assert_eq!(report["ci"], "none");
    assert_eq!(report["event"], "local");
    assert_eq!(report["branch"], "change");
    assert_eq!(report["head"], json!(world.git(&["rev-parse", "HEAD"])));
    assert_eq!(report["base"], json!(world.git(&["rev-parse", "origin/main"])));
    assert_eq!(
        (&report["fork"], &report["tag"], &report["pullRequest"]),
        (&json!(false), &json!(null), &json!(null))
    );
    assert_eq!(report["changed"][0]["path"], "b.orch.yaml");
    assert_eq!(
        (&report["changed"][0]["change"], &report["changed"][0]["selected"]),
        (&json!("added"), &json!(true))
    );
    assert_eq!(
        (&report["changed"][1]["path"], &report["changed"][1]["selected"]),
        (&json!("old/c.orch.yaml"), &json!(false))
    );
    let text = call.run("context").expect(0);
    assert!(
        text.out.contains("change") && text.out.contains("b.orch.yaml"),
        "{}",
        text.all()
    );
}

#[test]
fn base_that_the_job_names_with_all_is_shown() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let call = Call::new(&world.work());
    let base = world.git("rev-parse origin/main");
    let text = call.run("context --all --base main").expect(0).out;
    for line in [
        format!("base           {base}\n"),
        "because        the merge-base with `main`, as requested\n".to_owned(),
        "all selected   all pipelines were requested\n".to_owned(),
    ] {
        assert!(text.contains(&line), "{text}");
    }
    let report = call.run("context --all --base main -o json").expect(0).json();
    assert_eq!(report["base"], json!(base));
    assert_eq!(
        report["baseSource"],
        json!("the merge-base with `main`, as requested")
    );
    // Without a named base, nothing is compared.
    let report = call.run("context --all -o json").expect(0).json();
    assert_eq!(report["base"], json!(null));
    assert_eq!(report["baseSource"], json!("all pipelines were requested"));
}

#[test]
fn pull_request_on_github_is_reviewed_at_its_head() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let head = world.git("rev-parse HEAD");
    world.git("checkout -q main");
    world.write("a.orch.yaml", orchestration_text(&["Start", "Later", "Done"]));
    let base = world.git("rev-parse HEAD");
    world.commit("main goes on");
    world.push();
    // The host checks out a merge that is on no branch.
    world.git("checkout -q --detach main");
    world.git("merge -q --no-ff -m merge change");
    let event = json!({
        "number": 7,
        "pull_request": {
            "number": 7,
            "head": { "ref": "change", "sha": head, "repo": { "full_name": "o/r" } },
            "base": { "ref": "main", "sha": base, "repo": { "full_name": "o/r" } },
        },
        "repository": { "full_name": "o/r", "default_branch": "main" },
    });
    let payload = world.path().join("event.json");
    std::fs::write(&payload, event.to_string()).unwrap();
    let call = Call::new(&world.work())
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", "pull_request")
        .variable("GITHUB_EVENT_PATH", payload.display().to_string())
        .variable("GITHUB_REPOSITORY", "o/r")
        .variable("GITHUB_SHA", world.git("rev-parse HEAD"))
        .variable("GITHUB_REF", "refs/pull/7/merge");
    let report = call.run("context --json").expect(0).json();
    assert_eq!(
        (&report["ci"], &report["event"]),
        (&json!("github"), &json!("pull_request"))
    );
    assert_eq!(
        (&report["branch"], &report["head"]),
        (&json!("change"), &json!(head))
    );
    assert_eq!(
        (&report["base"], &report["pullRequest"]),
        (&json!(base), &json!(7))
    );
    assert_eq!(report["selected"], json!(["b.orch.yaml"]));
}

#[test]
fn shallow_clone_names_remedy() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    world.write("c.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("second");
    world.push();
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --depth 1 --no-single-branch -b change {url} shallow"),
    );
    let call = Call::new(&world.path().join("shallow"));
    call.run("context")
        .expect(7)
        .saying(&["shallow", "git fetch --unshallow"]);
}

#[test]
fn default_branch_takes_all() {
    let world = project();
    let report = Call::new(&world.work()).run("context --json").expect(0).json();
    assert_eq!(report["base"], json!(null));
    assert_eq!(report["selected"], json!(["a.orch.yaml"]));
}

#[test]
fn reason_that_many_share_is_reported_once() {
    let world = project();
    for number in 0..9 {
        world.write(
            &format!("p{number}.orch.yaml"),
            orchestration_text(&["Start", "Done"]),
        );
    }
    world.commit("many");
    let output = Call::new(&world.work()).run("context --all").expect(0);
    let reasons = output.out.matches("all pipelines are selected").count();
    assert_eq!(reasons, 1, "{}", output.out);
    assert!(
        output.out.contains("10 pipelines: all pipelines are selected"),
        "{}",
        output.out
    );
    assert!(output.out.contains("  +  p8.orch.yaml\n"), "{}", output.out);
}

#[test]
fn context_of_an_unchanged_file_states_the_reason_for_that_file_only() {
    let world = change(&[
        ("b.orch.yaml", "type: orchestration\n"),
        ("sales/c.orch.yaml", "type: orchestration\n"),
    ]);
    let text = |args: &str| Call::new(&world.work()).run(("context", args)).expect(0).out;
    let unchanged = text("a.orch.yaml");
    assert!(
        unchanged.contains("- unchanged  a.orch.yaml  unchanged since the base"),
        "{unchanged}"
    );
    assert!(!unchanged.contains("b.orch.yaml"), "{unchanged}");
    let changed = text("sales");
    assert!(
        changed.contains("+ added  sales/c.orch.yaml  changed since the base"),
        "{changed}"
    );
    assert!(!changed.contains("b.orch.yaml"), "{changed}");
}

#[test]
fn context_text_without_a_base_shows_no_pipeline_as_added() {
    let world = project();
    let text = Call::new(&world.work()).run("context").expect(0).out;
    assert!(text.contains("  +  a.orch.yaml"), "{text}");
    assert!(!text.contains("added"), "{text}");
}
