//! Agents that misbehave: no branch of theirs passes, and none of them is merged.

use super::{agent_project, fix_branch, has_branch, list_references, only_task, run_fix};
use crate::support::at_once;
use serde_json::json;
use sluicegate_local_platform::AgentBehavior;

// Endpoint: POST /v1/ai/agents/tasks
#[test]
fn agent_that_edits_another_pipeline_fails_the_run_with_1() {
    let local = agent_project(AgentBehavior::EditsOtherFile);
    run_fix(&local, "").expect(1).saying(&[
        "not part of the task",
        "broken.orch.yaml (changed)",
        "do not merge",
    ]);
}

#[test]
fn agent_that_empties_the_rules_fails_the_run_with_1() {
    let local = agent_project(AgentBehavior::EditsRules);
    run_fix(&local, "")
        .expect(1)
        .saying(&[".platform/config/pipeline_quality_rules.yaml (changed)"]);
}

#[test]
fn agent_that_adds_a_finding_fails_the_run_with_1() {
    let local = agent_project(AgentBehavior::AddsFinding);
    let document = run_fix(&local, "-o json").expect(1).json();
    assert_eq!(document["new"][0]["component"], "__renamed__");
    assert_eq!(document["success"], false);
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/stop
#[test]
fn agent_that_never_stops_is_stopped_at_the_time_limit_with_8() {
    let local = agent_project(AgentBehavior::NeverStops);
    let output = run_fix(&local, "--timeout 2").expect(8);
    output.assert_logged(&["did not end within 2 s", "stopping task"]);
    let status = only_task(&local)["status"].clone();
    assert!(status == "STOPPING" || status == "STOPPED", "{status}");
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}
#[test]
fn agent_that_asks_exits_with_3_and_the_question() {
    let local = agent_project(AgentBehavior::Asks);
    let output = run_fix(&local, "").expect(3);
    let task = only_task(&local);
    let id = task["taskId"].as_str().unwrap();
    output.saying(&[
        "the agent asks a question",
        "Should the agent continue",
        &format!("sluicegate tasks decide {id} --answer"),
        &format!("task {id} waits for a decision"),
        "hint: to decide, run the command printed above",
    ]);
    assert_eq!(task["pendingDecisions"][0]["type"], "question");
    assert!(!has_branch(&local, &fix_branch(&local)));
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[test]
fn agent_that_wants_to_run_a_pipeline_may_only_with_allow() {
    at_once([false, true], |is_allowed| {
        let local = agent_project(AgentBehavior::RunsPipeline);
        let output = run_fix(&local, if is_allowed { "--allow run_pipeline" } else { "" });
        let task = only_task(&local);
        let granted = task["grantedPermissions"].as_array().unwrap();
        let has_tool = granted.contains(&json!({ "toolName": "run_pipeline" }));
        assert_eq!(has_tool, is_allowed, "{granted:?}");
        if is_allowed {
            output.expect(0);
        } else {
            output.expect(3).saying(&["run_pipeline", "--approve"]);
            assert_eq!(task["pendingDecisions"][0]["toolName"], "run_pipeline");
        }
    });
}

#[test]
fn agent_that_does_not_push_exits_with_8() {
    let local = agent_project(AgentBehavior::SkipsPush);
    run_fix(&local, "")
        .expect(8)
        .saying(&["the remote has no branch", "sluicegate tasks messages"]);
}

#[test]
fn agent_that_moves_the_reviewed_branch_fails_the_run_loudly() {
    let local = agent_project(AgentBehavior::MovesSourceBranch);
    let reviewed = local.world.git("rev-parse change");
    let before = list_references(&local);
    let output = local.run(super::FIX).expect(1);
    output.assert_logged(&[
        "the reviewed branch was moved while the agent worked",
        "git push --force origin",
    ]);
    let changed: Vec<String> = list_references(&local)
        .into_iter()
        .filter(|line| !before.contains(line))
        .collect();
    // Only the agent's own push to the remote is left.
    assert!(
        matches!(changed.as_slice(), [line] if line.ends_with("refs/heads/change")),
        "{changed:?}"
    );
    assert_eq!(local.world.git("rev-parse change"), reviewed);
    let command = output
        .err
        .split("`git ")
        .nth(1)
        .unwrap()
        .split('`')
        .next()
        .unwrap();
    local.world.git(command);
    assert_eq!(list_references(&local), before);
}

#[test]
fn agent_that_rewrites_history_fails_the_run_with_1() {
    let local = agent_project(AgentBehavior::RewritesHistory);
    run_fix(&local, "")
        .expect(1)
        .saying(&["does not descend from the reviewed commit"]);
}
