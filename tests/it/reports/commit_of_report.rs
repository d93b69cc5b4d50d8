//! In CI, a report is rendered only for the commit that it is of.

use crate::support::release::{publish_call, stage, versions};
use crate::support::{
    Call, HOSTS, Job, Platform, World, change, head, orchestration_text, passed_results, project,
    pull_request_payload, read_json, repository, respond_for_each,
};
use serde_json::{Value, json};
use std::fs;

/// Creates a change whose review is in `review.json`, with the review of `main` in `main.json`, that of another branch
/// in `other.json`, and one without a commit in `tree.json`.
fn world_with_reports() -> World {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Load", "Done"]))]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let review = |file: &str| {
        let report = format!("json=../{file}");
        let args = ["review", "--all", "--report", &report];
        platform.call(&world).run(&args).expect(0);
    };
    review("review.json");
    world.git("checkout -q main");
    review("main.json");
    world.git("checkout -q -b other");
    world.write("c.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("other");
    world.push();
    review("other.json");
    world.git("checkout -q change");
    Call::new(&world.work())
        .run("check --report json=../tree.json")
        .expect(0);
    world
}

fn commit_of(world: &World, file: &str) -> String {
    let bytes = fs::read(world.path().join(file)).unwrap();
    let report: Value = serde_json::from_slice(&bytes).unwrap();
    report["context"]["head"].as_str().unwrap().to_owned()
}

#[test]
fn report_of_another_commit_is_refused_on_every_host() {
    let world = world_with_reports();
    for (name, host) in HOSTS {
        let report = |file: &str| host(&world, Call::new(&world.work())).run(&["report", file]);
        report("../review.json").expect(0);
        for other in ["main.json", "other.json"] {
            let output = report(&format!("../{other}"));
            assert_eq!(output.code, 2, "{name}: {}", output.all());
            output.saying(&[&commit_of(&world, other), &head(&world), "--head"]);
        }
        let output = report("../tree.json");
        assert_eq!(output.code, 2, "{name}: {}", output.all());
        output.saying(&["does not belong to a commit"]);
    }
    // A local run renders any of them.
    for file in ["../main.json", "../other.json", "../tree.json"] {
        Call::new(&world.work()).run(&["report", file]).expect(0);
        Call::new(&world.work())
            .variable("CI", "true")
            .run(&["report", file, "--ci", "none"])
            .expect(0);
    }
}

#[test]
fn trial_merge_accepts_its_head_and_never_the_target() {
    let world = world_with_reports();
    let (change, main) = (head(&world), world.git("rev-parse main"));
    world.git("checkout -q --detach main");
    world.git("merge -q --no-ff -m trial change");
    let merge = head(&world);
    let gitlab = Call::new(&world.work())
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "merge_request_event")
        .variable("CI_DEFAULT_BRANCH", "main")
        .variable("CI_COMMIT_SHA", &merge)
        .variable("CI_MERGE_REQUEST_IID", "7")
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "change")
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &change)
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", &main);
    gitlab.run("report ../review.json").expect(0);
    gitlab
        .run("report ../main.json")
        .expect(2)
        .saying(&[&main, &change]);
    // A job without a clone, which has only the artifacts.
    let folder = world.path().join("no-clone");
    fs::create_dir(&folder).unwrap();
    fs::copy(world.path().join("review.json"), folder.join("review.json")).unwrap();
    fs::copy(world.path().join("main.json"), folder.join("main.json")).unwrap();
    let bare = Call::new(&folder)
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "push")
        .variable("CI_COMMIT_SHA", &change);
    bare.run("report review.json").expect(0);
    bare.run("report main.json").expect(2);
}

#[test]
fn follow_up_workflow_names_the_commit_of_the_reports() {
    let world = world_with_reports();
    let change = head(&world);
    world.git("checkout -q main");
    let payload = json!({ "repository": repository(), "workflow_run": { "head_sha": change } });
    let follow = |args: &str| {
        let call = Call::new(&world.work());
        Job::github()
            .event("workflow_run", "refs/heads/main", &payload)
            .extend(&world, call)
            .run(("report ../review.json", args))
    };
    follow("").expect(2).saying(&[&change, "--head"]);
    follow(&format!("--head {change}")).expect(0);
    follow("--head main").expect(2);
    follow("--head nothing").expect(2).saying(&["nothing"]);
}

#[test]
fn comparison_requires_a_report_of_an_ancestor() {
    let world = world_with_reports();
    let bytes = fs::read(world.path().join("main.json")).unwrap();
    let mut report: Value = serde_json::from_slice(&bytes).unwrap();
    report["context"]["head"] = json!("1".repeat(40));
    fs::write(world.path().join("invented.json"), report.to_string()).unwrap();
    let payload = pull_request_payload(&world);
    let compare = |old: &str| {
        let call = Call::new(&world.work());
        Job::github()
            .event("pull_request", "refs/pull/7/merge", &payload)
            .extend(&world, call)
            .run(format!("report --compare {old} ../review.json"))
    };
    compare("../main.json").expect(0);
    compare("../other.json").expect(2).saying(&[
        &commit_of(&world, "other.json"),
        &head(&world),
        "does not descend",
    ]);
    compare("../invented.json")
        .expect(2)
        .saying(&[&"1".repeat(40), &head(&world), "this clone cannot show"]);
    compare("../tree.json")
        .expect(2)
        .saying(&["does not belong to a commit"]);
    compare("../review.json")
        .expect(2)
        .saying(&["the reviewed commit"]);
    // A local run compares any two reports, and a nightly job may run twice on a commit.
    Call::new(&world.work())
        .run("report --compare ../other.json ../review.json")
        .expect(0);
    world.git("checkout -q main");
    let call = Call::new(&world.work());
    Job::github()
        .event(
            "schedule",
            "refs/heads/main",
            &json!({ "repository": repository() }),
        )
        .extend(&world, call)
        .run("report --compare ../main.json ../main.json")
        .expect(0);
}

#[test]
fn comparison_of_a_change_with_its_own_past_is_refused() {
    let world = world_with_reports();
    // The report of the previous push, and a report that the change contains.
    world.write("d.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.write(
        "yesterday.json",
        fs::read(world.path().join("main.json")).unwrap(),
    );
    world.commit("another push");
    world.push();
    for (name, host) in HOSTS {
        let job = || host(&world, Call::new(&world.work()));
        job().run("check --report json=../new.json").expect(0);
        let compare = |old: &str| job().run(format!("report --compare {old} ../new.json"));
        let output = compare("../review.json");
        assert_eq!(output.code, 2, "{name}: {}", output.all());
        output.saying(&["belongs to the change, not to the target branch"]);
        let output = compare("yesterday.json");
        assert_eq!(output.code, 2, "{name}: {}", output.all());
        output.saying(&["git tracks the report, so the change controls the report"]);
        let output = compare("../main.json");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
    }
    world.git("remote set-head origin main");
    let unknown = |old: &str| {
        let job = Call::new(&world.work()).variable("CI", "true");
        job.run(format!("report --compare {old} ../new.json"))
    };
    unknown("yesterday.json")
        .expect(2)
        .saying(&["git tracks the report"]);
    unknown("../main.json").expect(0);
}

/// The commit of the submodule is a part of the change, and so are the files in it.
#[test]
fn comparison_with_report_in_submodule_of_change_is_refused() {
    let world = world_with_reports();
    let other = World::new();
    other.write("old.json", fs::read(world.path().join("main.json")).unwrap());
    other.commit("a report");
    other.push();
    world.git(format!(
        "submodule --quiet add file://{} reports",
        other.remote().display()
    ));
    world.commit("submodule");
    world.push();
    let outside = world.path().join("link");
    std::os::unix::fs::symlink(world.work().join("reports"), &outside).unwrap();
    fs::create_dir(world.work().join("fetched")).unwrap();
    fs::copy(
        world.path().join("main.json"),
        world.work().join("fetched/old.json"),
    )
    .unwrap();
    for (_, host) in HOSTS {
        let call = host(&world, Call::new(&world.work()));
        call.run("check --report json=../new.json").expect(0);
        for path in ["reports/old.json", "../link/old.json"] {
            call.run(format!("report --compare {path} ../new.json"))
                .expect(2)
                .saying(&["git tracks the report"]);
        }
        // Counterpart: a directory of the job in the checkout.
        call.run("report --compare fetched/old.json ../new.json")
            .expect(0);
    }
}

#[test]
fn trial_merge_is_compared_with_report_of_newer_commit_of_target() {
    let pipeline = orchestration_text(&["Start", "Load", "Done"]);
    let world = change(&[("b.orch.yaml", &pipeline)]);
    let payload = pull_request_payload(&world);
    let check_commit = |file: &str| {
        Call::new(&world.work())
            .run(format!("check --all --head HEAD --report json=../{file}"))
            .expect(0);
    };
    check_commit("change.json");
    world.git("checkout -q main");
    world.write("c.orch.yaml", &pipeline);
    world.commit("newer commit of the target");
    world.push();
    check_commit("target.json");
    world.git("checkout -q --detach main");
    world.git("merge -q --no-ff -m trial change");
    let job = Job::github()
        .event("pull_request", "refs/pull/7/merge", &payload)
        .extend(&world, Call::new(&world.work()));
    job.run("check --all --report json=../new.json").expect(0);
    job.run("report --compare ../target.json ../new.json").expect(0);
    job.run("report --compare ../change.json ../new.json")
        .expect(2)
        .saying(&["belongs to the change, not to the target branch"]);
}

/// Returns a call in the job of a push of HEAD to this branch, on each kind of host.
fn push_calls(world: &World, branch: &str) -> Vec<(&'static str, Call)> {
    let commit = head(world);
    let call = || Call::new(&world.work());
    let reference = format!("refs/heads/{branch}");
    let payload =
        json!({ "repository": repository(), "ref": reference, "before": "0".repeat(40), "after": commit });
    vec![
        (
            "github",
            Job::github()
                .event("push", &reference, &payload)
                .extend(world, call()),
        ),
        (
            "gitlab",
            call()
                .variable("GITLAB_CI", "true")
                .variable("CI_PIPELINE_SOURCE", "push")
                .variable("CI_COMMIT_SHA", &commit)
                .variable("CI_COMMIT_BRANCH", branch)
                .variable("CI_DEFAULT_BRANCH", "main"),
        ),
        (
            "azure",
            call()
                .variable("TF_BUILD", "True")
                .variable("BUILD_REASON", "IndividualCI")
                .variable("BUILD_SOURCEVERSION", &commit)
                .variable("BUILD_SOURCEBRANCH", &reference),
        ),
        (
            "jenkins",
            call()
                .variable("JENKINS_URL", "https://ci.invalid/")
                .variable("BUILD_ID", "1")
                .variable("GIT_COMMIT", &commit)
                .variable("BRANCH_NAME", branch),
        ),
        (
            "circleci",
            call()
                .variable("CIRCLECI", "true")
                .variable("CIRCLE_SHA1", &commit)
                .variable("CIRCLE_BRANCH", branch),
        ),
        (
            "buildkite",
            call()
                .variable("BUILDKITE", "true")
                .variable("BUILDKITE_COMMIT", &commit)
                .variable("BUILDKITE_BRANCH", branch)
                .variable("BUILDKITE_PULL_REQUEST", "false")
                .variable("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main"),
        ),
        ("unknown", call().variable("CI", "true")),
    ]
}

/// Commits another pipeline and a copy of the report of `main`, and pushes them.
fn push_with_report(world: &World) {
    world.write("d.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.write(
        "yesterday.json",
        fs::read(world.path().join("main.json")).unwrap(),
    );
    world.commit("another push");
    world.push();
}

#[test]
fn comparison_on_a_pushed_branch_with_its_own_past_is_refused() {
    let world = world_with_reports();
    push_with_report(&world);
    for (name, job) in push_calls(&world, "change") {
        job.run("check --all --report json=../new.json").expect(0);
        let compare = |old: &str| {
            let output = job.run(format!("report --compare {old} ../new.json"));
            (output.code, output)
        };
        let (code, output) = compare("../review.json");
        assert_eq!(code, 2, "{name}: {}", output.all());
        output.saying(&[
            &commit_of(&world, "review.json"),
            "is not in the branch `main`",
            "hint: compare with a report of an earlier commit of the target branch",
        ]);
        let (code, output) = compare("yesterday.json");
        assert_eq!(code, 2, "{name}: {}", output.all());
        output.saying(&["git tracks the report, so the change controls the report"]);
        let (code, output) = compare("../main.json");
        assert_eq!(code, 0, "{name}: {}", output.all());
    }
}

#[test]
fn comparison_on_the_default_branch_accepts_its_past_and_its_files() {
    let world = world_with_reports();
    world.git("checkout -q main");
    push_with_report(&world);
    for (name, job) in push_calls(&world, "main") {
        job.run("check --all --report json=../new.json").expect(0);
        let output = job.run("report --compare ../main.json ../new.json");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        // An unknown host does not say that the run is on the default branch.
        let output = job.run("report --compare yesterday.json ../new.json");
        let code = if name == "unknown" { 2 } else { 0 };
        assert_eq!(output.code, code, "{name}: {}", output.all());
    }
}

/// Compares the new report with `../{old}` on each of these hosts. The result must have this note about the commit.
fn assert_accepted_with_note(world: &World, branch: &str, hosts: &[&str], old: &str, note: &str) {
    Call::new(&world.work())
        .run("check --all --head HEAD --report json=../new.json")
        .expect(0);
    for (name, job) in push_calls(world, branch) {
        if !hosts.contains(&name) {
            continue;
        }
        let output = job.run(format!("report --compare ../{old} ../new.json"));
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        let text = output.all();
        for part in [
            "nothing shows whether its commit",
            &commit_of(world, old)[..7],
            note,
        ] {
            assert!(text.contains(part), "{name}: {text}");
        }
        // The change controls such a file on any branch.
        let output = job.run("report --compare yesterday.json ../new.json");
        assert_eq!(output.code, 2, "{name}: {}", output.all());
    }
}

#[test]
fn comparison_without_a_known_default_branch_has_a_note() {
    let world = world_with_reports();
    push_with_report(&world);
    world.git("remote set-head origin --delete");
    let hosts = ["azure", "jenkins", "circleci", "unknown"];
    let note = "`git remote set-head origin BRANCH`";
    assert_accepted_with_note(&world, "change", &hosts, "review.json", note);
    world.git("checkout -q main");
    push_with_report(&world);
    assert_accepted_with_note(&world, "main", &hosts, "main.json", note);
}

#[test]
fn comparison_in_a_clone_without_the_default_branch_names_its_fetch() {
    let world = world_with_reports();
    push_with_report(&world);
    world.git("remote set-head origin --delete");
    world.git("update-ref -d refs/remotes/origin/main");
    let hosts = ["github", "gitlab", "buildkite"];
    let note = "`git fetch origin main:refs/remotes/origin/main`";
    assert_accepted_with_note(&world, "change", &hosts, "main.json", note);
    world.git("fetch -q origin main:refs/remotes/origin/main");
    for (name, job) in push_calls(&world, "change") {
        if hosts.contains(&name) {
            let output = job.run("report --compare ../main.json ../new.json");
            assert_eq!(output.code, 0, "{name}: {}", output.all());
            assert!(
                !output.all().contains("nothing shows"),
                "{name}: {}",
                output.all()
            );
            job.run("report --compare ../review.json ../new.json").expect(2);
        }
    }
}

/// Creates a branch `release/1` of `main`, which has this configuration. The report `release.json` is of its previous
/// push.
fn world_with_release(configuration: &str) -> World {
    let world = world_with_reports();
    world.git("checkout -q main");
    world.write("sluicegate.yaml", configuration);
    world.commit("configuration");
    world.push();
    world.git("checkout -q -b release/1");
    world.write("e.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("release");
    world.push();
    Call::new(&world.work())
        .run("check --all --head HEAD --report json=../release.json")
        .expect(0);
    push_with_report(&world);
    world
}

#[test]
fn comparison_on_a_branch_in_publish_on_accepts_its_past() {
    let world = world_with_release("publish-on: { branches: [main, 'release/*'] }\n");
    for (name, job) in push_calls(&world, "release/1") {
        job.run("check --all --report json=../new.json").expect(0);
        let output = job.run("report --compare ../release.json ../new.json");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        // An unknown host does not say that the run is on that branch.
        let output = job.run("report --compare yesterday.json ../new.json");
        let code = if name == "unknown" { 2 } else { 0 };
        assert_eq!(output.code, code, "{name}: {}", output.all());
    }
    // A branch of the release branch has its reports, too, but not its own.
    world.git("checkout -q -b fix");
    world.write("f.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("fix");
    world.push();
    for (name, job) in push_calls(&world, "fix") {
        job.run("check --all --report json=../own.json").expect(0);
        let output = job.run("report --compare ../release.json ../own.json");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        let output = job.run("report --compare ../own.json ../own.json");
        assert_eq!(output.code, 2, "{name}: {}", output.all());
    }
}

#[test]
fn comparison_on_a_branch_that_only_its_own_file_lists_is_refused() {
    let world = world_with_release("");
    world.write("sluicegate.yaml", "publish-on: { branches: ['**'] }\n");
    world.commit("more branches");
    world.push();
    for (name, job) in push_calls(&world, "release/1") {
        job.run("check --all --report json=../new.json").expect(0);
        let output = job.run("report --compare ../release.json ../new.json");
        assert_eq!(output.code, 2, "{name}: {}", output.all());
        output.saying(&["is not in the branch `main`", "list it in `publish-on`"]);
    }
}

/// The job of a follow-up workflow is on the default branch, but its reports are those of a change.
#[test]
fn comparison_of_a_named_commit_with_its_own_past_is_refused() {
    let world = world_with_reports();
    push_with_report(&world);
    Call::new(&world.work())
        .run("check --all --head HEAD --report json=../new.json")
        .expect(0);
    let change = head(&world);
    world.git("checkout -q main");
    let payload = json!({ "repository": repository(), "workflow_run": { "head_sha": change } });
    let job = Job::github()
        .event("workflow_run", "refs/heads/main", &payload)
        .extend(&world, Call::new(&world.work()));
    let compare = |old: &str| job.run(format!("report --compare {old} ../new.json --head {change}"));
    compare("../review.json")
        .expect(2)
        .saying(&["is not in the branch `main`"]);
    compare("../main.json").expect(0);
}

#[test]
fn unreadable_event_does_not_render_a_report() {
    let world = world_with_reports();
    Call::new(&world.work())
        .variable("GITLAB_CI", "true")
        .run("report ../review.json")
        .expect(7);
    Call::new(&world.work())
        .variable("CI", "true")
        .run("report ../main.json")
        .expect(2);
}

#[test]
fn two_jobs_review_and_publish_the_same_commit() {
    let (world, server) = stage();
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "after": head(&world) });
    let job = || {
        Job::github()
            .event("push", "refs/heads/main", &payload)
            .extend(&world, publish_call(&world, &server))
    };
    job().run("review --all --report json=../review.json").expect(0);
    job()
        .run("report ../review.json --report html=../review.html")
        .expect(0);
    job()
        .run(&[
            "publish",
            "--version-name",
            "1",
            "--require-review",
            "../review.json",
            "--receipt",
            "../receipt.json",
            "--junit",
            "../publish.xml",
        ])
        .expect(0);
    job().run("verify ../receipt.json").expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
    let junit = fs::read_to_string(world.path().join("publish.xml")).unwrap();
    assert!(!junit.contains("did not finish"), "{junit}");
}

#[test]
fn comparison_with_an_older_commit_of_the_target_is_accepted() {
    let world = world_with_reports();
    world.git("checkout -q main");
    world.write("note.txt", "more");
    world.commit("more");
    world.push();
    world.git("checkout -q change");
    world.git("merge -q --no-edit main");
    world.push();
    for (name, host) in HOSTS {
        let job = host(&world, Call::new(&world.work()));
        job.run("check --report json=../new.json").expect(0);
        let output = job.run("report --compare ../main.json ../new.json");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
    }
}

/// A scripted pipeline of Jenkins does not name its commit. Its head needs no base.
#[test]
fn report_of_checked_out_commit_is_accepted_without_the_target_branch() {
    let world = world_with_reports();
    world.git("remote set-head origin --delete");
    world.git("update-ref -d refs/remotes/origin/main");
    world.git("branch -q -D main");
    let call = Job::jenkins()
        .pull_request()
        .call(&world)
        .variable("GIT_COMMIT", "");
    call.run("report ../review.json").expect(0);
    call.run("report ../main.json").expect(2);
}

/// CircleCI names an open pull request in every run of its branch, for example one from `main` to `production`.
#[test]
fn comparison_on_default_branch_with_open_pull_request_needs_the_branch_name() {
    let world = world_with_reports();
    world.git("checkout -q main");
    world.write("d.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("next push");
    world.push();
    let call = Call::new(&world.work())
        .variable("CIRCLECI", "true")
        .variable("CIRCLE_SHA1", head(&world))
        .variable("CIRCLE_BRANCH", "main")
        .variable("CIRCLE_PULL_REQUEST", "https://github.com/o/p/pull/5");
    call.run("check --report json=../new.json").expect(0);
    let compare = "report --compare ../main.json ../new.json";
    call.run(compare).expect(0);
    world.git("remote set-head origin --delete");
    call.run(compare)
        .expect(2)
        .saying(&["the change has no base", "`git remote set-head origin BRANCH`"]);
}

/// Creates a world in which the branch `dev` allows what `main` does not, with a pushed branch `change` that has a
/// finding. Returns also a job for a pull request of that branch into a branch.
fn change_between_two_policies() -> (
    World,
    crate::support::ServerProcess,
    impl Fn(&World, Call, &str) -> Call,
) {
    let (world, server) = stage();
    world.git("checkout -q -b dev");
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: component-naming-convention, path: '**', reason: dev allows it }\n",
    );
    world.commit("waivers of dev");
    world.push();
    world.git("checkout -q -b change main");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("change");
    world.push();
    let job = |world: &World, call: Call, target: &str| {
        let mut payload = pull_request_payload(world);
        payload["pull_request"]["base"] = json!({
            "ref": target,
            "sha": world.git(format!("rev-parse origin/{target}")),
            "repo": { "full_name": "o/p" },
        });
        Job::github()
            .event("pull_request", "refs/pull/7/merge", &payload)
            .extend(world, call)
    };
    (world, server, job)
}

#[test]
fn review_with_policy_of_other_branch_is_not_accepted() {
    let (world, server, job) = change_between_two_policies();
    let in_pull_request = |target: &str| job(&world, publish_call(&world, &server), target);
    in_pull_request("dev")
        .run("review --all --report json=../dev.json")
        .expect(0);
    in_pull_request("dev").run("report ../dev.json").expect(0);
    in_pull_request("main")
        .run("report ../dev.json --attestation ../statement.json")
        .expect(2)
        .saying(&["the review used sluicegate-waivers.yaml of commit"]);
    assert!(!world.path().join("statement.json").exists());
    world.git("push -q origin HEAD:main");
    world.git("fetch -q origin");
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "after": head(&world) });
    Job::github()
        .event("push", "refs/heads/main", &payload)
        .extend(&world, publish_call(&world, &server))
        .run("publish --version-name 1 --require-review ../dev.json")
        .expect(2)
        .saying(&["the review used sluicegate-waivers.yaml of commit"]);
    assert_eq!(versions(&world, &server), []);
}

/// Returns a call in a job of CircleCI, which does not name the default branch, for a push of HEAD to `main`.
fn call_without_default_branch(world: &World, call: Call) -> Call {
    world.git("remote set-head origin --delete");
    call.variable("CIRCLECI", "true")
        .variable("CIRCLE_SHA1", head(world))
        .variable("CIRCLE_BRANCH", "main")
        .variable("SLUICEGATE_PUBLISH_ON_BRANCHES", "main")
}

#[test]
fn review_with_policy_that_publish_ignores_is_not_accepted() {
    let publish = "publish --version-name 1 --require-review ../review.json";
    let (world, server) = stage();
    let review = || {
        publish_call(&world, &server)
            .run("review --all --report json=../review.json")
            .expect(0);
    };
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: component-naming-convention, path: '**', reason: legacy }\n",
    );
    world.commit("waivers");
    world.push();
    review();
    call_without_default_branch(&world, publish_call(&world, &server))
        .run(publish)
        .expect(2)
        .saying(&[
            "the review may have used sluicegate-waivers.yaml of commit",
            "which this run ignores: this clone does not know the remote's default branch",
        ]);
    assert_eq!(versions(&world, &server), []);
    // Counterpart: a commit without a gate configuration.
    world.git("rm -q sluicegate-waivers.yaml");
    world.commit("no waivers");
    world.push();
    review();
    call_without_default_branch(&world, publish_call(&world, &server))
        .run(publish)
        .expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

#[test]
fn report_of_review_with_policy_that_the_job_ignores_is_refused() {
    let world = project();
    let review = || {
        Call::new(&world.work())
            .run("check --all --head HEAD --report json=../review.json")
            .expect(0);
    };
    let job = || call_without_default_branch(&world, Call::new(&world.work()));
    world.write("sluicegate-waivers.yaml", "[]\n");
    world.commit("waivers");
    world.push();
    review();
    job().run("report ../review.json").expect(7).saying(&[
        "the review may have used sluicegate-waivers.yaml of commit",
        "hint: fetch the target branch in this job",
    ]);
    let statement = "report ../review.json --attestation s.json";
    job()
        .variable("SLUICEGATE_HEAD", head(&world))
        .run(statement)
        .expect(0)
        .saying(&["the review may have used sluicegate-waivers.yaml of commit"]);
    assert!(!world.work().join("s.json").exists());
    // Counterpart: a commit without a gate configuration.
    world.git("rm -q sluicegate-waivers.yaml");
    world.commit("no waivers");
    world.push();
    review();
    job().run(statement).expect(0);
    assert!(world.work().join("s.json").exists());
}

#[test]
fn refusal_of_review_names_the_commit_that_the_clone_lacks() {
    let (world, server, job) = change_between_two_policies();
    job(&world, publish_call(&world, &server), "dev")
        .run("review --all --report json=../dev.json")
        .expect(0);
    let report = read_json(&world.path().join("dev.json"));
    for (key, message) in [
        ("head", "this clone lacks the reviewed commit 1111111"),
        (
            "policy",
            "this clone lacks commit 1111111, whose gate configuration the review used",
        ),
    ] {
        let mut edited_report = report.clone();
        edited_report["context"][key] = json!("1".repeat(40));
        fs::write(world.path().join("edited.json"), edited_report.to_string()).unwrap();
        publish_call(&world, &server)
            .run("publish --version-name 1 --require-review ../edited.json")
            .expect(2)
            .saying(&[message]);
    }
}

#[test]
fn review_is_accepted_after_target_branch_moved_on_with_same_policy() {
    let (world, server, job) = change_between_two_policies();
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "Good", "Done"]),
    );
    world.commit("mended");
    world.push();
    let in_pull_request = || job(&world, publish_call(&world, &server), "main");
    in_pull_request()
        .run("review --all --report json=../review.json")
        .expect(0);
    world.git("checkout -q main");
    world.write("note.txt", "later");
    world.commit("another merge");
    world.push();
    world.git("checkout -q change");
    in_pull_request().run("report ../review.json").expect(0);
    world.git("push -q -f origin HEAD:main");
    world.git("fetch -q origin");
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "after": head(&world) });
    Job::github()
        .event("push", "refs/heads/main", &payload)
        .extend(&world, publish_call(&world, &server))
        .run("publish --version-name 1 --require-review ../review.json")
        .expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

#[test]
fn report_of_review_by_other_platform_is_refused_in_job_with_platform() {
    let (world, server) = stage();
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "after": head(&world) });
    let job = |call: Call| {
        Job::github()
            .event("push", "refs/heads/main", &payload)
            .extend(&world, call)
    };
    job(publish_call(&world, &server))
        .run("review --all --report json=../review.json")
        .expect(0);
    job(Call::with_platform(&world.work(), "http://127.0.0.1:9"))
        .run("report ../review.json")
        .expect(2)
        .saying(&["the files were reviewed by the project"]);
    // Counterparts: the same platform, and a job that has none.
    job(publish_call(&world, &server))
        .run("report ../review.json")
        .expect(0);
    job(Call::new(&world.work()))
        .run("report ../review.json")
        .expect(0);
}

#[test]
fn report_of_review_with_other_config_file_is_refused() {
    let (world, server, job) = change_between_two_policies();
    let in_pull_request = || job(&world, publish_call(&world, &server), "main");
    fs::write(world.path().join("lenient.yaml"), "review: { fail-on: never }\n").unwrap();
    in_pull_request()
        .run("review --all --config ../lenient.yaml --report json=../review.json")
        .expect(0);
    in_pull_request()
        .run("report ../review.json")
        .expect(2)
        .saying(&["different values of --config", "hint: pass the same --config"]);
    in_pull_request()
        .run("report --config ../lenient.yaml ../review.json")
        .expect(0);
}
