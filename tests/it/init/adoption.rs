//! `sluicegate init --adopt`: the existing findings, the three ways to start, and that the first change is reviewed as
//! announced.

use crate::support::{Arguments, Call, ProgramOutput, RULES_FILE, World, orchestration_text, project};
use serde_json::{Value, json};
use std::fs;

const WAIVERS: &str = "sluicegate-waivers.yaml";
const SHARED: &str = "pipelines:\n  - { pipeline: a.orch.yaml, id: load, enabled: true }\n";

/// Returns a row of `size` components.
fn pipeline_of_size(size: usize) -> String {
    let names: Vec<String> = (1..=size).map(|n| format!("Step {n}")).collect();
    orchestration_text(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Creates a pushed project without a gate: two of its four pipelines are too large, and one of these has an
/// unreachable component.
fn project_with_findings() -> World {
    let world = World::new();
    world.write(".platform/shared-pipelines.yaml", SHARED);
    world.write("a.orch.yaml", pipeline_of_size(4));
    world.write("b[1] ü.orch.yaml", pipeline_of_size(12));
    let lost = "    Lost:\n      type: sql-executor\n      parameters: { componentName: Lost }\n";
    world.write("c.orch.yaml", pipeline_of_size(17) + lost);
    world.write("d.orch.yaml", pipeline_of_size(9));
    world.commit("years");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b change");
    world
}

fn run_init_without_host(world: &World, args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(("init --host none", args))
}

fn is_there(world: &World, path: &str) -> bool {
    world.work().join(path).exists()
}

/// Returns a call in the job of a pull request of HEAD into `main`.
fn adoption_branch_call(world: &World) -> Call {
    let side =
        |branch: &str, sha: String| json!({ "ref": branch, "sha": sha, "repo": { "full_name": "o/p" } });
    let payload = json!({
        "repository": { "default_branch": "main", "full_name": "o/p" },
        "pull_request": {
            "number": 7,
            "head": side("change", world.git(&["rev-parse", "HEAD"])),
            "base": side("main", world.git(&["rev-parse", "main"])),
        },
    });
    let event = world.path().join("event.json");
    fs::write(&event, payload.to_string()).unwrap();
    Call::new(&world.work())
        .variable("CI", "true")
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", "pull_request")
        .variable("GITHUB_REF", "refs/pull/7/merge")
        .variable("GITHUB_SHA", world.git("rev-parse HEAD"))
        .variable("GITHUB_REPOSITORY", "o/p")
        .variable("GITHUB_EVENT_PATH", event.display().to_string())
}

/// Merges the change and starts the next one.
fn merge(world: &World) {
    world.git("checkout -q main");
    world.git("merge -q --no-ff -m merge change");
    world.push();
    world.git("checkout -q -B change");
}

const CHECK: [&str; 3] = ["check", "--report", "json=-"];

fn finding_counts(output: &ProgramOutput) -> Value {
    output.json()["findings"].clone()
}

#[test]
fn adoption_with_new_configuration_file_names_setting_that_makes_findings_known() {
    let world = project_with_findings();
    run_init_without_host(&world, "").expect(0);
    // The default branch has no `sluicegate.yaml`, so `new-only` of the new one applies to the change itself.
    let stdout = run_init_without_host(&world, "--adopt new-only").expect(0).out;
    assert!(
        stdout.contains(
            "fails the gate until you set `new-only: true` in sluicegate.yaml (below). Then it is known,"
        ) && !stdout.contains("SLUICEGATE_NEW_ONLY"),
        "{stdout}"
    );
}

#[test]
fn adoption_shows_findings_and_effect_of_other_limits() {
    let world = project_with_findings();
    let output = run_init_without_host(&world, "").expect(0).out;
    insta::assert_snapshot!(output, @"
    CI host           none: set by --host
    default branch    main: recorded in origin/HEAD
    pipelines         4
    rules file        none
    shared pipelines  .platform/shared-pipelines.yaml
    findings today    2 of 4 pipelines, against the rules that `sluicegate rules init` writes

    RULE                         PIPELINES  FINDINGS  FINDINGS WITH A MILDER LIMIT
    minimum-components: 1        0 of 4     0
    maximum-components: 10       2 of 4     2         12: 1, 18: 0
    component-naming-convention  0 of 4     0
    unused-components            1 of 4     1
    copied-variables             0 of 4     0
    start-and-end-components     0 of 4     0
    maximum-outputs: 1           0 of 4     0
    end-output-components        0 of 4     0

    If all of these findings fail the gate, a change to one of these pipelines fails. Choose a way to start with `--adopt`:
      new-only  only findings that a change introduces fail the gate
      waivers   each current finding is allowed by a line of sluicegate-waivers.yaml, to be fixed over time
      strict    every finding fails the gate

    wrote             sluicegate.yaml

    Next:
      1. Fill in project-id and agent-version in sluicegate.yaml
      2. Write the rules, which every review needs: `sluicegate rules init`
      3. Commit the files
      4. Check the setup: run `sluicegate doctor` with SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN set
      5. Push, and open a change that touches a pipeline
    ");
    assert!(!is_there(&world, RULES_FILE) && !is_there(&world, WAIVERS));
    assert!(
        world
            .read_text("sluicegate.yaml")
            .contains("\n  # new-only: true\n")
    );
    // Without findings, there is nothing to adopt.
    for path in ["b[1] ü.orch.yaml", "c.orch.yaml"] {
        fs::remove_file(world.work().join(path)).unwrap();
    }
    let output = run_init_without_host(&world, "").expect(0).out;
    assert!(
        !output.contains("findings today") && !output.contains("--adopt"),
        "{output}"
    );
}

#[test]
fn adoption_with_new_only_passes_first_change_and_fails_worse_one() {
    let world = project_with_findings();
    let output = run_init_without_host(&world, "--adopt new-only").expect(0).out;
    insta::assert_snapshot!(output, @"
    CI host           none: set by --host
    default branch    main: recorded in origin/HEAD
    pipelines         4
    rules file        none
    shared pipelines  .platform/shared-pipelines.yaml
    findings today    2 of 4 pipelines, against the rules that are written, each at `error`

    RULE                         PIPELINES  FINDINGS  FINDINGS WITH A MILDER LIMIT
    minimum-components: 1        0 of 4     0
    maximum-components: 10       2 of 4     2         12: 1, 18: 0
    component-naming-convention  0 of 4     0
    unused-components            1 of 4     1
    copied-variables             0 of 4     0
    start-and-end-components     0 of 4     0
    maximum-outputs: 1           0 of 4     0
    end-output-components        0 of 4     0

    wrote             sluicegate.yaml
    wrote             .platform/config/pipeline_quality_rules.yaml

    The change that introduces the gate is reviewed against the rules that it adds, with all pipelines:
      every current finding (3 findings) is known because `new-only` applies to this change already, so it passes. The other
      settings of sluicegate.yaml (`exclude`, `fail-on`) apply after its merge.

    Next:
      1. Fill in project-id and agent-version in sluicegate.yaml
      2. Commit the files
      3. Check the setup: run `sluicegate doctor` with SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN set
      4. Push, and open a change that touches a pipeline
    ");
    assert!(!is_there(&world, WAIVERS));
    world.commit("gate");
    let run_output = adoption_branch_call(&world).run(&CHECK).expect(0);
    assert_eq!(
        (
            &finding_counts(&run_output)["new"],
            &finding_counts(&run_output)["known"]
        ),
        (&json!(0), &json!(3))
    );
    merge(&world);
    world.write("c.orch.yaml", pipeline_of_size(17));
    world.commit("better");
    adoption_branch_call(&world).run(&CHECK).expect(0);
    world.write("a.orch.yaml", pipeline_of_size(11));
    world.commit("worse");
    let run_output = adoption_branch_call(&world).run(&CHECK).expect(1);
    assert_eq!(
        (
            &finding_counts(&run_output)["new"],
            &finding_counts(&run_output)["known"]
        ),
        (&json!(1), &json!(1))
    );
}

#[test]
fn adoption_with_waivers_fails_first_change_unless_job_uses_its_file() {
    let world = project_with_findings();
    let output = run_init_without_host(&world, "--adopt waivers").expect(0).out;
    let review = output.split("The change").nth(1).unwrap();
    insta::assert_snapshot!(review.split("\n\n").next().unwrap(), @"
    that introduces the gate is reviewed against the rules that it adds, with all pipelines:
     every current finding (3 findings) fails the gate, because a change cannot waive its own findings. For this one change, the job
     can set SLUICEGATE_POLICY=head; the waivers apply after its merge.
    ");
    insta::assert_snapshot!(world.read_text(WAIVERS), @r#"
    # Findings from before the gate: each line allows one finding.
    # `sluicegate waivers list` shows which are still needed, `sluicegate waivers prune` removes the others.
    - { rule: maximum-components, path: "b\\[1\\] ü.orch.yaml", size: 12, reason: found before the gate }
    - { rule: maximum-components, path: c.orch.yaml, size: 18, reason: found before the gate }
    - { rule: unused-components, path: c.orch.yaml, about: Lost, reason: found before the gate }
    "#);
    world.commit("gate");
    adoption_branch_call(&world).run(&CHECK).expect(1);
    let head = adoption_branch_call(&world).variable("SLUICEGATE_POLICY", "head");
    assert_eq!(finding_counts(&head.run(&CHECK).expect(0))["waived"], 3);
    merge(&world);
    // After the merge, a second run neither announces a first review nor asks for waivers.
    let second_run = run_init_without_host(&world, "--adopt waivers").expect(0).out;
    for text in ["fails the gate", "Add the missing entries", "Commit the files"] {
        assert!(!second_run.contains(text), "{text}: {second_run}");
    }
    world.write("new.orch.yaml", pipeline_of_size(15));
    let third_run = run_init_without_host(&world, "--adopt waivers").expect(0).out;
    assert!(third_run.contains("Add the missing entries"), "{third_run}");
    fs::remove_file(world.work().join("new.orch.yaml")).unwrap();
    world.write("c.orch.yaml", pipeline_of_size(18));
    world.commit("no larger");
    adoption_branch_call(&world).run(&CHECK).expect(0);
    world.write("c.orch.yaml", pipeline_of_size(19));
    world.commit("larger");
    adoption_branch_call(&world).run(&CHECK).expect(1);
    // `waivers add` writes the same file.
    let file = world.read_text(WAIVERS);
    world.git("checkout -q main");
    world.write(WAIVERS, "");
    Call::new(&world.work())
        .run("waivers add --all --reason 'found before the gate'")
        .expect(0);
    let entries: Vec<&str> = file.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(world.read_text(WAIVERS).lines().collect::<Vec<_>>(), entries);
}

#[test]
fn strict_adoption_fails_first_change_as_announced() {
    let world = project_with_findings();
    let stdout = run_init_without_host(&world, "--adopt strict").expect(0).out;
    assert!(
        stdout.contains("  every current finding (3 findings) fails the gate until it is fixed"),
        "{stdout}"
    );
    world.commit("gate");
    assert_eq!(
        finding_counts(&adoption_branch_call(&world).run(&CHECK).expect(1))["errors"],
        3
    );
    for path in ["b[1] ü.orch.yaml", "c.orch.yaml"] {
        world.write(path, pipeline_of_size(10));
    }
    world.commit("mended");
    adoption_branch_call(&world).run(&CHECK).expect(0);
    // If the findings are fixed first, the output reports it.
    let stdout = run_init_without_host(&world, "--adopt strict").expect(0).out;
    assert!(
        stdout.contains("no current finding fails the gate, so the change passes"),
        "{stdout}"
    );
}

#[test]
fn adoption_keeps_and_lists_existing_files() {
    let world = project_with_findings();
    let dry = run_init_without_host(&world, "--adopt waivers --dry-run")
        .expect(0)
        .out;
    assert_eq!(world.git(&["status", "--porcelain"]), "");
    run_init_without_host(&world, "--adopt waivers").expect(0);
    for path in ["sluicegate.yaml", RULES_FILE, WAIVERS] {
        let indented: String = world
            .read_text(path)
            .lines()
            .map(|line| format!("    {line}").trim_end().to_owned() + "\n")
            .collect();
        assert!(dry.contains(&indented), "{path}: {dry}");
    }
    let files = ["sluicegate.yaml", RULES_FILE, WAIVERS].map(|path| (path, world.read_text(path)));
    for way in ["waivers", "new-only", "strict"] {
        let stdout = run_init_without_host(&world, &["--adopt", way]).expect(0).out;
        assert!(!stdout.contains("wrote"), "{stdout}");
    }
    for (path, text) in files {
        assert_eq!(world.read_text(path), text);
    }

    // The change with the waivers is not merged yet, so the earlier report is valid again.
    let second_run = run_init_without_host(&world, "--adopt waivers").expect(0).out;
    assert!(
        second_run.contains("every current finding (3 findings) fails the gate"),
        "{second_run}"
    );

    // Existing files of the project: rules with level `warn`, settings without `new-only`.
    let world = project_with_findings();
    world.git("checkout -q main");
    let rules = "rules:\n- { id: maximum-components, enabled: true, enforcementLevel: warn, config: { maxComponents: 8 } }\n";
    world.write(RULES_FILE, rules);
    world.write("sluicegate.yaml", "timeout: 7\n");
    world.commit("rules");
    world.push();
    let stdout = run_init_without_host(&world, "--adopt new-only").expect(0).out;
    insta::assert_snapshot!(stdout, @"
    CI host           none: set by --host
    default branch    main: recorded in origin/HEAD
    pipelines         4
    rules file        .platform/config/pipeline_quality_rules.yaml
    shared pipelines  .platform/shared-pipelines.yaml
    findings today    3 of 4 pipelines, against the rules file

    RULE                   PIPELINES  FINDINGS  FINDINGS WITH A MILDER LIMIT
    maximum-components: 8  3 of 4     3         12: 1, 18: 0

    not changed       sluicegate.yaml: the file already exists

    The change that introduces the gate is reviewed with the pipelines that it changes:
      no current finding fails the gate, so the change passes.

    Next:
      1. Fill in project-id and agent-version in sluicegate.yaml, unless the job sets them
      2. Rules at `warn` do not fail the gate; to enforce a rule, set `enforcementLevel: error` in .platform/config/pipeline_quality_rules.yaml:
             maximum-components
      3. Set `new-only: true` under `review` in sluicegate.yaml, because `init` does not change an existing file
      4. Set these levels under `project-checks` in sluicegate.yaml to `error`, because current findings are known:
             call, script, link, argument, shared, cycle
      5. Commit the files
      6. Check the setup: run `sluicegate doctor` with SLUICEGATE_BASE_URL and SLUICEGATE_TOKEN set
      7. Push, and open a change that touches a pipeline
    ");
    assert_eq!(world.read_text(RULES_FILE), rules);
    assert_eq!(world.read_text("sluicegate.yaml"), "timeout: 7\n");
    world.write(RULES_FILE, rules.replace("warn", "error"));
    let stdout = run_init_without_host(&world, "--adopt strict").expect(0).out;
    assert!(
        stdout.contains("every current finding (3 findings) fails the gate"),
        "{stdout}"
    );
    world.commit("error");
    world.push();
    let stdout = run_init_without_host(&world, "--adopt new-only").expect(0).out;
    assert!(
        stdout.contains("every current finding in them fails the gate. For this one change, the job can set\n  SLUICEGATE_NEW_ONLY=true"),
        "{stdout}"
    );
    world.write(RULES_FILE, rules);
    world.write(WAIVERS, "# none\n");
    let stdout = run_init_without_host(&world, "--adopt waivers").expect(0).out;
    assert!(
        stdout.contains("not changed       sluicegate-waivers.yaml") && stdout.contains("waivers add --all"),
        "{stdout}"
    );
    assert_eq!(world.read_text(WAIVERS), "# none\n");
    // The output does not ask for a setting that the file already contains.
    world.write("sluicegate.yaml", "review: { new-only: true }\n");
    let stdout = run_init_without_host(&world, "--adopt new-only").expect(0).out;
    assert!(!stdout.contains("Set `new-only"), "{stdout}");
}

#[test]
fn adoption_lists_unevaluated_files_and_follows_no_links() {
    let world = project_with_findings();
    world.write("e\n.orch.yaml", "type: orchestration\npipeline: [");
    let output = run_init_without_host(&world, "--adopt new-only").expect(0).out;
    assert!(
        output.contains("so the review fails: e\\n.orch.yaml") || output.contains("so the review fails: e"),
        "{output}"
    );
    world.commit("gate");
    adoption_branch_call(&world).run(&CHECK).expect(1);

    let broken = project_with_findings();
    broken.write(RULES_FILE, "rules: [");
    let output = run_init_without_host(&broken, "--adopt strict").expect(0).out;
    assert!(
        output.contains("run `sluicegate rules lint` to see why") && !output.contains("findings today"),
        "{output}"
    );

    let nameless = World::new();
    nameless.write("a.orch.yaml", pipeline_of_size(12));
    nameless.commit("one");
    run_init_without_host(&nameless, "--adopt strict")
        .expect(2)
        .saying(&[
            "hidden directory",
            "sluicegate init --host none --adopt strict --config-dir <directory>",
        ]);
    assert!(!is_there(&nameless, "sluicegate.yaml"));
    let outside = nameless.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, nameless.work().join(".platform")).unwrap();
    run_init_without_host(&nameless, "--adopt strict --config-dir .platform")
        .expect(2)
        .saying(&["symbolic link"]);
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn adoption_that_excuses_existing_references_makes_every_project_check_an_error() {
    for (way, levels, state) in [
        ("new-only", "call: error # 1 finding today, known", "known"),
        ("waivers", "call: error # 1 finding today, waived", "waived"),
        ("strict", "call: warn # 1 finding today", "start as `warn`"),
    ] {
        let world = project_with_findings();
        world.write("e.orch.yaml", caller_of_orchestration("gone.orch.yaml"));
        world.commit("a broken call");
        world.git("push -q -f origin change:main");
        let output = run_init_without_host(&world, &["--adopt", way]).expect(0).out;
        assert!(
            output.contains("broken references: project/call 1") && output.contains(state),
            "{output}"
        );
        let settings = world.read_text("sluicegate.yaml");
        assert!(settings.contains(levels), "{way}: {settings}");
        assert_eq!(settings.contains(": warn"), way == "strict", "{settings}");
    }
}

#[test]
fn adoption_after_plain_init_names_every_edit_of_kept_configuration() {
    for (way, new_only, state) in [("new-only", true, "known"), ("waivers", false, "waived")] {
        let world = project_with_findings();
        world.write("e.orch.yaml", caller_of_orchestration("gone.orch.yaml"));
        run_init_without_host(&world, "").expect(0);
        let plain = world.read_text("sluicegate.yaml");
        assert!(plain.contains("  call: warn # 1 finding today\n"), "{plain}");
        let output = run_init_without_host(&world, &["--adopt", way]).expect(0).out;
        let step = format!(
            "Set these levels under `project-checks` in sluicegate.yaml to `error`, because current findings are \
             {state}:\n         call\n"
        );
        assert!(output.contains(&step), "{way}: {output}");
        assert_eq!(output.contains("Set `new-only: true`"), new_only, "{output}");
        // Counterpart: after these edits, no edit of the file is left.
        let edited = plain.replace("# new-only: true", "new-only: true");
        let edited = edited.replace("call: warn", "call: error");
        // A check that is off has no findings that could be excused.
        let edited = edited.replace("script: error", "script: off");
        assert!(edited.contains("script: off"), "{edited}");
        world.write("sluicegate.yaml", edited);
        fs::remove_file(world.work().join(WAIVERS)).unwrap_or_default();
        let output = run_init_without_host(&world, &["--adopt", way]).expect(0).out;
        assert!(
            !output.contains("Set these levels") && !output.contains("Set `new-only"),
            "{way}: {output}"
        );
    }
    // A strict gate starts with `warn` for the checks that have findings.
    let world = project_with_findings();
    world.write("e.orch.yaml", caller_of_orchestration("gone.orch.yaml"));
    run_init_without_host(&world, "").expect(0);
    let output = run_init_without_host(&world, "--adopt strict").expect(0).out;
    assert!(!output.contains("Set these levels"), "{output}");
}

#[test]
fn announced_number_of_known_findings_includes_warnings() {
    for (way, outcome) in [
        ("new-only", "every current finding (4 findings) is known"),
        (
            "waivers",
            "every current finding at level `error` (3 findings) fails the gate",
        ),
    ] {
        let world = project_with_findings();
        world.write("e.orch.yaml", caller_of_orchestration("gone.orch.yaml"));
        world.commit("a broken call");
        world.git("push -q -f origin change:main");
        let output = run_init_without_host(&world, &["--adopt", way]).expect(0).out;
        assert!(output.contains(outcome), "{way}: {output}");
    }
}

#[test]
fn adoption_with_existing_configuration_does_not_announce_other_levels() {
    for (way, excuse) in [
        ("new-only", "known"),
        ("waivers", "waived"),
        ("strict", "start as"),
    ] {
        let world = project_with_findings();
        world.write("e.orch.yaml", caller_of_orchestration("gone.orch.yaml"));
        world.write("sluicegate.yaml", "project-checks: { call: error }\n");
        world.write(WAIVERS, "");
        world.commit("a broken call");
        let output = run_init_without_host(&world, &["--adopt", way]).expect(0).out;
        assert!(
            output.contains("broken references: project/call 1\n"),
            "{way}: {output}"
        );
        assert!(
            !output.contains(&format!("these findings are {excuse}")),
            "{way}: {output}"
        );
        // The existing file makes the broken call an error.
        assert!(
            !output.contains("no current finding fails the gate"),
            "{way}: {output}"
        );
    }
}

#[test]
fn announced_review_counts_errors_of_project_checks() {
    let world = World::new();
    world.write(".platform/shared-pipelines.yaml", SHARED);
    world.write("a.orch.yaml", pipeline_of_size(4));
    world.write("e.orch.yaml", caller_of_orchestration("gone.orch.yaml"));
    world.write("sluicegate.yaml", "project-checks: { call: error }\n");
    world.commit("a broken call");
    let output = run_init_without_host(&world, "--adopt strict").expect(0).out;
    assert!(!output.contains("no current finding fails the gate"), "{output}");
    assert!(
        output.contains("every current finding (1 finding) fails the gate"),
        "{output}"
    );
}

#[test]
fn newly_broken_call_fails_after_adoption_of_new_only() {
    let world = project_with_findings();
    world.write("e.orch.yaml", caller_of_orchestration("gone.orch.yaml"));
    world.commit("a broken call");
    world.git("push -q origin change:main");
    world.git("fetch -q");
    run_init_without_host(&world, "--adopt new-only").expect(0);
    world.commit("gate");
    merge(&world);
    world.write(
        "e.orch.yaml",
        caller_of_orchestration("gone.orch.yaml") + "# more\n",
    );
    world.commit("known");
    adoption_branch_call(&world).run(&CHECK).expect(0);
    world.write("f.orch.yaml", caller_of_orchestration("nowhere.orch.yaml"));
    world.commit("broken");
    let output = adoption_branch_call(&world).run(&CHECK).expect(1);
    assert!(output.all().contains("nowhere"), "{}", output.all());
}

/// Returns an orchestration that runs another one.
fn caller_of_orchestration(target: &str) -> String {
    format!(
        "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    Start:\n      type: start\n      \
         parameters: {{ componentName: Start }}\n      transitions: {{ unconditional: [Run] }}\n    Run:\n      \
         type: run-orchestration\n      parameters: {{ componentName: Run, orchestrationJob: {target} }}\n      \
         transitions: {{ unconditional: [Done] }}\n    Done:\n      type: end-success\n      parameters: {{ componentName: Done }}\n"
    )
}

#[test]
fn file_that_init_cannot_write_is_not_left_empty() {
    let world = project();
    for args in ["init --host none", "rules init"] {
        let output = Call::new(&world.work())
            .command_in_shell("trap '' XFSZ; ulimit -f 0", args)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{args}: {output:?}");
        assert_eq!(world.git("status --short"), "", "{args}");
    }
    Call::new(&world.work()).run("init --host none").expect(0);
}
