//! What a CI host shows for a run without its log: annotations, the step summary and outputs.

use crate::support::publishing;
use crate::support::{
    Arguments, Call, Platform, ProgramOutput, RULES, Shop, TOKEN, head, job_output, orchestration_text,
    project, push_of_branch,
};
use serde_json::json;
use std::fs;

/// What a job on GitHub left behind.
struct Step {
    output: ProgramOutput,
    summary: String,
    outputs: String,
}

/// Runs the program in a step that has a summary and outputs.
fn step(call: Call, folder: &std::path::Path, args: impl Arguments) -> Step {
    let (summary, outputs) = (folder.join("step-summary"), folder.join("step-outputs"));
    for file in [&summary, &outputs] {
        let _ = fs::remove_file(file);
    }
    let output = call
        .variable("GITHUB_STEP_SUMMARY", summary.display().to_string())
        .variable("GITHUB_OUTPUT", outputs.display().to_string())
        .run(args);
    let read = |file| fs::read_to_string(file).unwrap_or_default();
    Step {
        output,
        summary: read(&summary),
        outputs: read(&outputs),
    }
}

/// Runs the program in a job of a push to `main` on GitHub.
fn push_step(shop: &Shop, args: impl Arguments) -> Step {
    let call = push_of_branch(&shop.world, shop.call());
    step(call, shop.world.path(), args)
}

impl Step {
    #[track_caller]
    fn expect(self, code: i32) -> Self {
        assert_eq!(self.output.code, code, "{}", self.output.all());
        self
    }

    /// Asserts that the summary and an annotation have this title, and the summary each of the texts.
    #[track_caller]
    fn expect_failure_annotation(self, title: &str, texts: &[&str]) -> Self {
        let annotation = format!("::error title={title}");
        let lines: Vec<&str> = self.output.err.lines().chain(self.output.out.lines()).collect();
        assert!(
            lines.iter().any(|line| line.starts_with(&annotation)),
            "{annotation}: {}",
            self.output.all()
        );
        let heading = format!("## ❌ {title}");
        for text in texts.iter().copied().chain([heading.as_str()]) {
            assert!(self.summary.contains(text), "{text:?}: {}", self.summary);
        }
        self
    }
}

#[test]
fn publish_on_github_writes_summary_with_changes_for_consumers() {
    let shop = Shop::new();
    let first = push_step(&shop, "publish --version-name 1.0.0").expect(0);
    assert!(
        first.summary.contains("## ✅ Published version 1.0.0 of sales"),
        "{}",
        first.summary
    );
    assert!(first.summary.contains("first version"), "{}", first.summary);
    assert_eq!(job_output(&first.outputs, "version-name"), "1.0.0");
    shop.break_it();
    let second = push_step(&shop, "publish --version-name 2.0.0").expect(0);
    for text in [
        "Published version 2.0.0 of sales",
        "**Breaking:**",
        "<code>day</code> was removed",
    ] {
        assert!(second.summary.contains(text), "{text}: {}", second.summary);
    }
    assert_eq!(job_output(&second.outputs, "version-name"), "2.0.0");
    assert!(
        !second.output.all().contains("::error"),
        "{}",
        second.output.all()
    );
    // A commit is published once under a name from a template.
    let second_run = push_step(&shop, "publish --version-name auto").expect(0);
    assert!(
        second_run
            .summary
            .contains("Nothing published: this commit is already published"),
        "{}",
        second_run.summary
    );
    assert!(
        !second_run.summary.contains("require action") && !second_run.summary.contains("Breaking"),
        "nothing was published, so there are no release notes: {}",
        second_run.summary
    );
}

#[test]
fn summary_of_unchanged_files_names_commit_of_run_and_commit_of_version() {
    let shop = Shop::new();
    let publish = "publish --version-name {next}";
    push_step(&shop, publish).expect(0);
    let version_commit = head(&shop.world);
    let version_line = format!("- commit of the version: <code>{version_commit}</code>");
    let note = "cannot check whether files were ignored";
    let rerun = push_step(&shop, publish).expect(0);
    assert!(
        rerun.summary.contains(&format!("- warning: <code>{note}")),
        "{}",
        rerun.summary
    );
    assert!(!rerun.summary.contains(&version_line), "{}", rerun.summary);
    shop.world.write("README.md", "no part of a version\n");
    shop.push();
    let unchanged = push_step(&shop, publish).expect(0);
    let run_line = format!("- commit: <code>{}</code>", head(&shop.world));
    for line in [run_line, version_line] {
        assert!(unchanged.summary.contains(&line), "{line}: {}", unchanged.summary);
    }
    assert!(
        unchanged.summary.contains(&format!("- note: <code>{note}")),
        "{}",
        unchanged.summary
    );
}

#[test]
fn summary_after_disabled_version_names_it_instead_of_claiming_first_version() {
    let shop = Shop::new();
    push_step(&shop, "publish --version-name 1.0.0").expect(0);
    shop.call()
        .run("artifacts disable 1.0.0 --prefix sales --force")
        .expect(0);
    shop.break_it();
    let published = push_step(&shop, "publish --version-name 2.0.0").expect(0);
    assert!(
        !published.summary.contains("first version"),
        "{}",
        published.summary
    );
    let text = "No older version is enabled, so the changes for consumers were not compared (newest disabled version: \
                1&#46;0.0).";
    assert!(published.summary.contains(text), "{}", published.summary);
    let rerun = push_step(&shop, "publish --version-name auto").expect(0);
    assert!(rerun.summary.contains("Nothing published"), "{}", rerun.summary);
    assert!(!rerun.summary.contains("older version"), "{}", rerun.summary);
}

#[test]
fn ci_that_publishes_writes_summary_of_review_and_of_version() {
    let shop = Shop::new();
    let ci = ["ci", "--publish-on-branch", "main", "--version-name", "1.0.0"];
    let success = push_step(&shop, &ci).expect(0);
    for text in ["✅ Review passed", "✅ Published version 1.0.0 of sales"] {
        assert!(success.summary.contains(text), "{text}: {}", success.summary);
    }
    assert_eq!(job_output(&success.outputs, "version-name"), "1.0.0");
    assert_eq!(job_output(&success.outputs, "verdict"), "passed");
    let failed = push_step(&shop, &ci)
        .expect(5)
        .expect_failure_annotation("Publish failed", &["(exit code 5)", "the version already exists"]);
    assert!(!failed.outputs.contains("version-name"), "{}", failed.outputs);
    assert!(!failed.summary.contains("✅ Published"), "{}", failed.summary);
    assert_eq!(failed.outputs.matches("verdict").count(), 1, "{}", failed.outputs);
    assert_eq!(job_output(&failed.outputs, "verdict"), "passed");
    // The plan of the publish is invalid: the review passed, and the publish failed.
    shop.offer(&[("gone", "")]);
    let ci = ["ci", "--publish-on-branch", "main", "--version-name", "2.0.0"];
    push_step(&shop, &ci)
        .expect(2)
        .expect_failure_annotation("Publish failed", &["gone.orch.yaml"]);
}

#[test]
fn refused_publish_has_failing_summary_and_no_version_output() {
    let shop = Shop::new();
    push_step(&shop, "publish --version-name 1.0.0").expect(0);
    shop.break_it();
    let args = "publish --version-name 1.1.0 --compat fail";
    let refused = push_step(&shop, args)
        .expect(1)
        .expect_failure_annotation("Publish failed", &["(refused)", "breaks consumers"]);
    assert!(!refused.outputs.contains("version-name"), "{}", refused.outputs);
    assert_eq!(job_output(&refused.outputs, "next-version"), "2.0.0");
    let dry = push_step(&shop, (args, "--dry-run"))
        .expect(1)
        .expect_failure_annotation("Publish failed", &["(dry run)", "was removed"]);
    assert!(!dry.outputs.contains("version-name"), "{}", dry.outputs);
    let plan_output = push_step(&shop, "publish --version-name 2.0.0 --dry-run").expect(0);
    assert!(
        plan_output
            .summary
            .contains("Dry run: would publish version 2.0.0 of sales"),
        "{}",
        plan_output.summary
    );
    assert!(
        !plan_output.outputs.contains("version-name"),
        "{}",
        plan_output.outputs
    );
    shop.publish("1.2.0").expect(0);
    let dry = push_step(&shop, "publish --version-name 1.2.0 --dry-run")
        .expect(5)
        .expect_failure_annotation(
            "Publish failed",
            &["(dry run)", "already exists", "publish under another"],
        );
    assert!(!dry.summary.contains("would publish"), "{}", dry.summary);
    // The token is rejected; the annotation does not contain it.
    let call = push_of_branch(&shop.world, shop.call()).variable("SLUICEGATE_TOKEN", "another-token");
    let denied = step(call, shop.world.path(), "publish --version-name 2.0.0")
        .expect(4)
        .expect_failure_annotation("Publish failed", &["(exit code 4)"]);
    assert!(!denied.summary.contains(TOKEN) && !denied.summary.contains("another-token"));
}

#[test]
fn incomplete_version_is_failing_summary_without_version_output() {
    let world = publishing::project_to_publish();
    let ignored = json!([{ "name": "sql/it.sql" }]);
    let platform = publishing::publish_platform(&world, publishing::upload_response(&ignored));
    let call = || push_of_branch(&world, platform.call(&world));
    let args = "publish --prefix p --version-name 1";
    let step = step(call(), world.path(), args)
        .expect(6)
        .expect_failure_annotation("Publish failed", &["(incomplete)", "sql/it.sql"]);
    assert!(!step.outputs.contains("version-name"), "{}", step.outputs);
}

#[test]
fn run_that_ends_before_its_review_has_annotation_and_summary() {
    let shop = Shop::new();
    let commit = "0123456789012345678901234567890123456789";
    for (args, title) in [
        (&["review"][..], "Review did not finish"),
        (&["check"], "Check did not finish"),
        (
            &["ci", "--publish-on-branch", "main", "--version-name", "1"],
            "Review did not finish",
        ),
        (&["publish", "--version-name", "1"], "Publish failed"),
    ] {
        // The commit of the event is not in the clone.
        let call = push_of_branch(&shop.world, shop.call()).variable("GITHUB_SHA", commit);
        step(call, shop.world.path(), args)
            .expect(7)
            .expect_failure_annotation(title, &["(exit code 7)", "To do: "]);
        // The configuration is invalid.
        let call = push_of_branch(&shop.world, shop.call()).variable("SLUICEGATE_TIMEOUT", "0");
        if args[0] != "check" {
            step(call, shop.world.path(), args)
                .expect(2)
                .expect_failure_annotation(title, &["(exit code 2)", "timeout"]);
        }
    }
    push_step(&shop, "report no-such.json")
        .expect(2)
        .expect_failure_annotation("Report did not finish", &["no-such.json"]);
    push_step(&shop, "review --bogus")
        .expect(2)
        .expect_failure_annotation("sluicegate failed", &["--bogus"]);
    push_step(&shop, "artifacts show --version-name 9")
        .expect(3)
        .output
        .saying(&["::error title=sluicegate failed"]);
}

#[test]
fn failure_on_azure_is_an_issue_and_published_version_is_a_variable() {
    let shop = Shop::new();
    let head = shop.world.git("rev-parse HEAD");
    let azure = |args: &str| {
        shop.call()
            .variable("TF_BUILD", "True")
            .variable("BUILD_REASON", "IndividualCI")
            .variable("BUILD_SOURCEBRANCH", "refs/heads/main")
            .variable("BUILD_SOURCEVERSION", &head)
            .run(args)
    };
    let publication = azure("publish --version-name 1").expect(0);
    assert!(
        publication
            .err
            .contains("##vso[task.setvariable variable=version-name;isOutput=true]1\n"),
        "{}",
        publication.all()
    );
    let conflict = azure("publish --version-name 1").expect(5);
    assert!(
        conflict
            .err
            .contains("##vso[task.logissue type=error;code=Publish failed"),
        "{}",
        conflict.all()
    );
    assert!(
        !conflict.err.contains("variable=version-name"),
        "{}",
        conflict.all()
    );
}

#[test]
fn local_failure_and_failed_review_have_no_additional_annotation() {
    let shop = Shop::new();
    let local = shop.call().run("publish --version-name ''").expect(2);
    assert!(!local.all().contains("::error"), "{}", local.all());
    // `none` turns annotations off; the summary is still written.
    let call = push_of_branch(&shop.world, shop.call())
        .variable("SLUICEGATE_ANNOTATIONS", "none")
        .variable("SLUICEGATE_TIMEOUT", "0");
    let quiet = step(call, shop.world.path(), "review").expect(2);
    assert!(!quiet.output.all().contains("::error"), "{}", quiet.output.all());
    assert!(
        quiet.summary.contains("❌ Review did not finish"),
        "{}",
        quiet.summary
    );
    // A failed review is reported once, as before.
    let world = project();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.write("b.orch.yaml", orchestration_text(&["Start", "bad name", "Done"]));
    world.commit("bad");
    world.push();
    let call = push_of_branch(&world, Call::new(&world.work()));
    let failure = step(call, world.path(), "check").expect(1);
    let headings = failure.summary.lines().filter(|line| line.starts_with("## "));
    assert_eq!(headings.count(), 1, "{}", failure.summary);
    assert!(
        !failure.output.all().contains("did not finish"),
        "{}",
        failure.output.all()
    );
}

#[test]
fn summary_of_passed_review_has_check_count_without_file_list() {
    let world = project();
    for number in 0..30 {
        world.write(
            &format!("part{number}.orch.yaml"),
            orchestration_text(&["Start", "Done"]),
        );
    }
    world.commit("many");
    let step = step(Call::new(&world.work()), world.path(), "check --all").expect(0);
    let summary = &step.summary;
    let headline = summary.lines().next().unwrap_or_default();
    assert!(
        headline.contains(" checks passed in 3") && headline.ends_with(" pipelines"),
        "{summary}"
    );
    assert!(!summary.contains("part7.orch.yaml"), "{summary}");
}

#[test]
fn failed_run_has_annotations_that_policy_or_job_requests() {
    for (text, count) in [
        ("retries: 0\n", 1),
        ("review: { annotations: none }\n", 0),
        ("review: { annotations: azure }\n", 0),
    ] {
        let world = project();
        world.write("sluicegate.yaml", text);
        world.commit("configure");
        world.push();
        let call = push_of_branch(&world, Call::with_platform(&world.work(), "http://127.0.0.1:9"))
            .variable("SLUICEGATE_TIMEOUT", "0");
        let of_job = call.clone().variable("SLUICEGATE_ANNOTATIONS", "github");
        for (call, count) in [(call, count), (of_job, 1)] {
            let output = step(call, world.path(), "review").expect(2).output;
            assert_eq!(
                output.all().matches("::error").count(),
                count,
                "{text}: {}",
                output.all()
            );
            // The log has the error in one form.
            assert_eq!(
                output.all().matches("timeout").count(),
                1,
                "{text}: {}",
                output.all()
            );
        }
    }
}

#[test]
fn publish_without_a_decision_is_not_called_refused() {
    let shop = Shop::new();
    let platform = Platform::new();
    platform.is_down();
    let call = push_of_branch(&shop.world, shop.call());
    let call = call.variable("SLUICEGATE_BASE_URL", platform.server.uri());
    let failed = step(call, shop.world.path(), "publish --version-name 1.0.0").expect(3);
    let title = "Publish failed: version 1.0.0 of sales (undecided)";
    assert!(failed.summary.contains(title), "{}", failed.summary);
}

#[test]
fn review_that_ends_early_has_verdict_output() {
    let world = project();
    for command in ["review", "check", "ci"] {
        let call = push_of_branch(&world, Call::new(&world.work()));
        let outputs = step(call, world.path(), (command, "--base nothing"))
            .expect(7)
            .outputs;
        assert_eq!(job_output(&outputs, "verdict"), "undecided", "{command}");
    }
}

#[test]
fn undecided_review_shows_the_next_step_of_its_cause_in_each_page() {
    let shop = Shop::new();
    let args = "review --all --report markdown=r.md --report html=r.html --report json=r.json";
    let other_project = "6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a19";
    for (variable, value, code, instruction) in [
        ("SLUICEGATE_TOKEN", "another-token", 4, "check the token"),
        ("SLUICEGATE_PROJECT_ID", other_project, 3, "did you mean"),
    ] {
        let call = || push_of_branch(&shop.world, shop.call()).variable(variable, value);
        let undecided = step(call(), shop.world.path(), args).expect(code);
        let pages = [
            undecided.summary,
            shop.world.read_text("r.md"),
            shop.world.read_text("r.html"),
        ];
        for page in pages {
            assert!(page.contains(&format!("To do: {instruction}")), "{page}");
            assert!(!page.contains("run the review again"), "{page}");
        }
        // The log shows the instruction once, and a report of the same run shows it again.
        let log = undecided.output.all();
        assert_eq!(log.matches(instruction).count(), 1, "{log}");
        let rendered = call().run("report r.json").expect(3);
        assert!(rendered.all().contains(instruction), "{}", rendered.all());
    }
}

#[test]
fn undecided_review_of_unavailable_platform_has_hint_of_failed_request() {
    let world = project();
    let platform = Platform::new();
    platform.is_down();
    // No program listens at this port.
    let closed_url = "http://127.0.0.1:9";
    let unreachable = platform.call(&world).variable("SLUICEGATE_BASE_URL", closed_url);
    for (call, instruction) in [
        (platform.call(&world), "try again later"),
        (unreachable, "check the base URL"),
    ] {
        let call = push_of_branch(&world, call);
        let undecided = step(call, world.path(), "review --all").expect(3);
        let log = undecided.output.all();
        assert!(log.contains(&format!("hint: {instruction}")), "{log}");
        let summary = undecided.summary;
        assert!(summary.contains(&format!("To do: {instruction}")), "{summary}");
        assert!(!summary.contains("run the review again"), "{summary}");
    }
}

#[test]
fn failed_check_of_setup_rules_or_difference_is_explained_on_github() {
    let shop = Shop::new();
    let world = &shop.world;
    world.write("rules.yaml", "rules: [{ id: nope, enabled: true }]\n");
    let examples = "rules:
  - id: no-start
    level: error
    for: pipeline
    when: \"true\"
    message: m
    examples:
      passes: [{ path: a.orch.yaml, pipeline: \"type: orchestration\" }]
";
    world.write("team.yaml", examples);
    world.write("old.txt", "old");
    world.write("new.txt", "new");
    let [old, new] = [1, 2].map(|count| orchestration_text(&["Start", "Done", "Load"][..=count]));
    world.write("old.orch.yaml", old);
    world.write("new.orch.yaml", new);
    for (args, code, text) in [
        ("doctor --ca-cert missing.pem", 2, "missing.pem"),
        ("rules lint rules.yaml", 1, "rules.yaml&#58;1&#58;"),
        ("rules test team.yaml", 1, "team.yaml&#58;8: team/no-start"),
        (
            "diff --files old.txt new.txt --exit-code",
            1,
            "the compared versions differ",
        ),
        (
            "diff --files old.orch.yaml new.orch.yaml --exit-code",
            1,
            "the compared versions differ",
        ),
    ] {
        let step = push_step(&shop, args).expect(code);
        assert!(
            !step.summary.contains("the log of this step"),
            "{args}: {}",
            step.summary
        );
        let step = step.expect_failure_annotation("sluicegate failed", &[text]);
        // A host without annotations has the text of the command only.
        assert!(step.output.err.contains("::error"), "{args}");
    }
    for args in [
        "rules test team.yaml -o json",
        "rules lint",
        "diff --files old.txt new.txt",
    ] {
        let is_failing = args.starts_with("rules test");
        let step = push_step(&shop, args).expect(i32::from(is_failing));
        assert_eq!(step.summary.is_empty(), !is_failing, "{args}: {}", step.summary);
    }
}
