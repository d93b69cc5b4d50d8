//! The result of a fix by an agent that does what it is instructed to do.

use super::{
    FIX, FIXED_RULES, ORDERS, agent_project, agent_project_with, fix_branch, has_branch, only_task,
    pipeline_with_findings, run_fix,
};
use crate::support::json_schema::validate_output;
use crate::support::{RULES_FILE, git, load_schema, orchestration_text};
use serde_json::{Value, json};
use sluicegate_local_platform::AgentBehavior;
use std::fmt::Write as _;

/// Returns the rules of a list of findings.
fn rules(document: &Value, list: &str) -> Vec<String> {
    let findings = document[list].as_array().unwrap().iter();
    findings
        .map(|finding| finding["rule"].as_str().unwrap().to_owned())
        .collect()
}

// Endpoint: POST /v1/ai/agents/tasks
#[test]
fn agent_fix_of_two_findings_pushes_reviewed_branch_and_exits_with_0() {
    let local = agent_project(AgentBehavior::Obedient);
    let output = run_fix(&local, "").expect(0);
    output.assert_logged(&[
        "load_orders",
        "Load orders",
        "1 pipeline changed",
        "fixed: 2 findings",
        "component-naming-convention",
        "unused-components",
        "created task",
    ]);
    let branch = fix_branch(&local);
    let remote = local.world.remote();
    assert_eq!(
        git(&remote, &["rev-parse", &format!("{branch}~1")]),
        local.world.git("rev-parse change")
    );
    let fixed = git(&remote, &["show", &format!("{branch}:{ORDERS}")]);
    assert!(
        fixed.contains("Load orders") && !fixed.contains("load_orders"),
        "{fixed}"
    );
    local
        .world
        .git(&["checkout", "-q", "-b", &branch, &format!("origin/{branch}")]);
    local.run("review").expect(0);
}

#[test]
fn agent_fix_as_json_lists_findings_and_commits() {
    let local = agent_project(AgentBehavior::Obedient);
    let document = run_fix(&local, "-o json").expect(0).json();
    assert_eq!(validate_output(&load_schema("agent-fix"), &document), Ok(()));
    let branch = fix_branch(&local);
    assert_eq!(document["branch"], json!(branch));
    assert_eq!(document["reviewedBranch"], "change");
    assert_eq!(
        document["reviewedCommit"],
        json!(local.world.git("rev-parse change"))
    );
    assert_eq!(
        document["commit"],
        json!(git(&local.world.remote(), &["rev-parse", &branch]))
    );
    assert_eq!(rules(&document, "fixed").len(), 2);
    assert_eq!(
        (&document["success"], &document["verdict"]),
        (&json!(true), &json!("passed"))
    );
    assert_eq!(
        (rules(&document, "left").len(), rules(&document, "new").len()),
        (0, 0)
    );
}

#[test]
fn agent_fix_that_leaves_a_finding_exits_with_1() {
    let mut names = vec!["Start".to_owned()];
    names.extend((0..80).map(|number| format!("Step {number}")));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let files = [
        (ORDERS, pipeline_with_findings()),
        ("sales/long.orch.yaml", orchestration_text(&names)),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let local = agent_project_with(AgentBehavior::Obedient, &files);
    let document = run_fix(&local, "-o json").expect(1).json();
    assert_eq!(rules(&document, "left"), ["maximum-components"]);
    assert_eq!(rules(&document, "fixed").len(), 2);
    assert_eq!(document["success"], false);
}

#[test]
fn agent_fix_of_one_path_leaves_findings_elsewhere() {
    let other = orchestration_text(&["Start", "other_step", "Done"]);
    let files = [(ORDERS, pipeline_with_findings()), ("other/b.orch.yaml", other)];
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let local = agent_project_with(AgentBehavior::Obedient, &files);
    let document = run_fix(&local, "other -o json").expect(0).json();
    assert_eq!(rules(&document, "fixed"), ["component-naming-convention"]);
    assert_eq!(document["fixed"][0]["file"], "other/b.orch.yaml");
    assert_eq!(document["verdict"], "failed");
}

#[test]
fn agent_fix_of_60_findings_requests_50() {
    let mut text = orchestration_text(&["Start", "Done"]).replace("- \"Done\"", "- bad_0");
    for number in 0..60 {
        let next = if number == 59 {
            "Done".to_owned()
        } else {
            format!("bad_{}", number + 1)
        };
        let _ = writeln!(
            text,
            "    bad_{number}:\n      type: send-email\n      transitions: {{ unconditional: [{next}] }}"
        );
    }
    let local = agent_project_with(AgentBehavior::Obedient, &[(ORDERS, &text)]);
    let document = run_fix(&local, "-o json").expect(0).json();
    assert_eq!(rules(&document, "fixed").len(), 50);
    assert_eq!(document["omitted"], 10);
    let task = only_task(&local);
    let message = task["description"].as_str().unwrap();
    assert_eq!(message.lines().filter(|line| line.starts_with('{')).count(), 50);
}

#[test]
fn agent_fix_without_findings_creates_no_task() {
    let clean = orchestration_text(&["Start", "Load", "Done"]);
    let local = agent_project_with(AgentBehavior::Obedient, &[(ORDERS, &clean)]);
    let output = run_fix(&local, "").expect(0);
    output.assert_logged(&["nothing to fix"]);
    assert_eq!(local.json("tasks list")["total"], 0);
}

#[test]
fn agent_fix_without_findings_has_documents_without_task() {
    let clean = orchestration_text(&["Start", "Load", "Done"]);
    let local = agent_project_with(AgentBehavior::Obedient, &[(ORDERS, &clean)]);
    let document = run_fix(&local, "-o json").expect(0).json();
    assert_eq!(validate_output(&load_schema("agent-fix"), &document), Ok(()));
    assert_eq!(
        (&document["taskId"], &document["success"], &document["verdict"]),
        (&Value::Null, &json!(true), &json!("passed"))
    );
    assert_eq!(document["reviewedBranch"], "change");
    let plan = run_fix(&local, "--plan -o json").expect(0).json();
    assert_eq!(validate_output(&load_schema("agent-plan"), &plan), Ok(()));
    assert_eq!((&plan["taskId"], &plan["results"]), (&Value::Null, &json!([])));
}

#[test]
fn agent_fix_from_report_needs_no_first_review() {
    let local = agent_project(AgentBehavior::Obedient);
    local.run("review --report json=../review.json").expect(1);
    let output = run_fix(&local, "--from ../review.json").expect(0);
    assert_eq!(
        output.err.matches("reviewing 1 pipeline").count(),
        1,
        "{}",
        output.all()
    );
}

/// The report contains the words of an engine, but not that they are about a missing start component.
#[test]
fn agent_fix_from_report_takes_missing_start_in_other_words_as_left() {
    let text = "type: orchestration\npipeline:\n  components:\n    load_orders:\n      type: end-success\n";
    let local = agent_project_with(AgentBehavior::Obedient, &[(ORDERS, text)]);
    let world = &local.world;
    world.git("checkout -q main");
    let edited_rules = FIXED_RULES.replace("unused-components", "start-and-end-components");
    world.write(RULES_FILE, edited_rules);
    world.commit("rules");
    world.push();
    world.git("checkout -q change");
    world.git("merge -q -m merge main");
    world.push();
    local.run("review --report json=../review.json").expect(1);
    let report = world.read_text("../review.json");
    let own_words = "the pipeline has no Start component: add one and connect it to the first component";
    for words in [
        own_words,
        "Orchestration pipelines must contain a start component",
    ] {
        assert!(report.contains(own_words), "{report}");
        world.write("../review.json", report.replace(own_words, words));
        let document = run_fix(&local, "--from ../review.json -o json").expect(1).json();
        assert_eq!(rules(&document, "fixed"), ["component-naming-convention"]);
        assert_eq!(rules(&document, "left"), ["start-and-end-components"]);
        assert_eq!(rules(&document, "new").len(), 0, "{document}");
    }
}

#[test]
fn agent_fix_rejects_report_of_another_commit_and_of_a_check() {
    let local = agent_project(AgentBehavior::Obedient);
    local.run("check --report json=../check.json").expect(1);
    run_fix(&local, "--from ../check.json")
        .expect(2)
        .saying(&["local check", "--from"]);
    local.run("review --report json=../review.json").expect(1);
    local.world.commit("later");
    local.world.push();
    run_fix(&local, "--from ../review.json")
        .expect(2)
        .saying(&["the commit to fix is"]);
    assert_eq!(local.json("tasks list")["total"], 0);
}

#[test]
fn second_agent_fix_pushes_a_branch_of_another_name() {
    let local = agent_project(AgentBehavior::Obedient);
    run_fix(&local, "").expect(0);
    run_fix(&local, "").expect(0);
    assert!(has_branch(&local, &format!("{}-2", fix_branch(&local))));
}

#[test]
fn agent_fix_refuses_existing_target_branch() {
    let local = agent_project(AgentBehavior::Obedient);
    run_fix(&local, "--target-branch main")
        .expect(2)
        .saying(&["`main`", "--target-branch"]);
    run_fix(&local, "--target-branch change").expect(2);
    run_fix(&local, &["--target-branch", "a b"]).expect(7);
    assert_eq!(local.json("tasks list")["total"], 0);
}

#[test]
fn agent_fix_of_unpushed_commit_or_outdated_clone_exits_with_7() {
    let local = agent_project(AgentBehavior::Obedient);
    local.run("review --report json=../review.json").expect(1);
    let reviewed = local.world.git("rev-parse HEAD");
    local.world.commit("not pushed");
    run_fix(&local, "").expect(7);
    // Somebody else pushed to the branch, and the clone does not know it.
    local.world.git("push -q origin HEAD:refs/heads/change");
    local.world.git("update-ref refs/remotes/origin/change HEAD~1");
    local.world.git(&["reset", "-q", "--hard", &reviewed]);
    run_fix(&local, "")
        .expect(7)
        .saying(&["differs from the reviewed commit"]);
    assert_eq!(local.json("tasks list")["total"], 0);
}

#[test]
fn agent_fix_leaves_findings_with_a_local_fix_to_fix() {
    let caller = "type: orchestration\npipeline:\n  components:\n    Start:\n      type: start\n      transitions: { \
                  unconditional: [Call] }\n    Call:\n      type: run-orchestration\n      parameters: { componentName: \
                  Call, orchestrationJob: clean }\n";
    let files = [
        ("main.orch.yaml", caller),
        ("sales/clean.orch.yaml", &orchestration_text(&["Start", "Done"])),
    ];
    let local = agent_project_with(AgentBehavior::Obedient, &files);
    let call = local.call().variable("SLUICEGATE_FAIL_ON", "warn");
    let output = call.run(FIX).expect(0);
    output.saying(&["1 finding can be fixed locally: run `sluicegate fix`"]);
    // Nothing is fixed, so a failed review is no success.
    let document = call.run((FIX, "-o json")).expect(0).json();
    assert_eq!(validate_output(&load_schema("agent-fix"), &document), Ok(()));
    assert_eq!(
        (&document["success"], &document["verdict"]),
        (&json!(false), &json!("failed"))
    );
    assert_eq!(local.json("tasks list")["total"], 0);
}

// Endpoint: POST /v1/ai/agents/tasks
#[test]
fn agent_fix_plan_prints_plan_and_pushes_nothing() {
    let local = agent_project(AgentBehavior::Obedient);
    let output = run_fix(&local, "--plan").expect(0);
    assert!(output.out.contains("rename load_orders"), "{}", output.all());
    assert!(output.out.contains("connect Mail"), "{}", output.all());
    for text in ["rename load_orders", "connect Mail"] {
        assert_eq!(output.all().matches(text).count(), 1, "{}", output.all());
    }
    assert!(
        output.err.contains("asking the agent to plan fixes for"),
        "{}",
        output.err
    );
    assert!(!output.err.contains("on the new branch"), "{}", output.err);
    assert!(!has_branch(&local, &fix_branch(&local)));
    let task = only_task(&local);
    assert_eq!(task["agentConfig"]["mode"], "PLAN");
    assert_eq!(task["grantedPermissions"], json!([{ "toolName": "read_file" }]));
}

#[test]
fn agent_fix_plan_as_json_has_all_messages_in_one_document() {
    let local = agent_project(AgentBehavior::Obedient);
    let output = run_fix(&local, "--plan -o json").expect(0);
    assert!(output.err.contains("rename load_orders"), "{}", output.all());
    let document = output.json();
    assert!(
        document["results"].to_string().contains("rename load_orders"),
        "{document}"
    );
    assert_eq!(validate_output(&load_schema("agent-plan"), &document), Ok(()));
}

#[test]
fn agent_fix_without_environment_exits_with_2() {
    let local = agent_project(AgentBehavior::Obedient);
    assert!(FIX.starts_with("fix --agent"));
    local.run("fix --agent").expect(2).saying(&["--environment"]);
}
