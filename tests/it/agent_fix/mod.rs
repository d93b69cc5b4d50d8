//! `sluicegate fix --agent`: the real program, the local platform with its simulated agent, and real git.

mod interruption;
mod misbehavior;
mod results;
mod task_request;

use crate::local_platform::Local;
use crate::support::{Arguments, ProgramOutput, RULES_FILE, git, orchestration_text};
use serde_json::Value;
use sluicegate_local_platform::AgentBehavior;

/// The rules of the project: both that the simulated agent can fix, and one that it cannot.
pub const FIXED_RULES: &str = "\
rules:
  - { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '[A-Z][A-Za-z0-9 ]*' } }
  - { id: unused-components, enabled: true, enforcementLevel: error }
  - { id: maximum-components, enabled: true, enforcementLevel: error, config: { maxComponents: 70 } }
";

/// The pipeline of the branch `change`, with two findings.
pub const ORDERS: &str = "sales/orders.orch.yaml";

/// The command with the environment of the agent.
pub const FIX: &str = "fix --agent --environment test";

/// Returns the pipeline with a misnamed and an unconnected component.
pub fn pipeline_with_findings() -> String {
    orchestration_text(&["Start", "load_orders", "Done"]) + "    \"Mail\":\n      type: send-email\n"
}

/// Creates a project whose pushed branch `change` has these files, and a platform whose agent has this behavior.
pub fn agent_project_with(behavior: AgentBehavior, files: &[(&str, &str)]) -> Local {
    let local = Local::with_agent(behavior);
    let world = &local.world;
    world.write(RULES_FILE, FIXED_RULES);
    world.commit("rules");
    world.push();
    world.git("checkout -q -b change");
    for (path, content) in files {
        world.write(path, content);
    }
    world.commit("change");
    world.push();
    local
}

/// Creates the project with the two findings.
pub fn agent_project(behavior: AgentBehavior) -> Local {
    agent_project_with(behavior, &[(ORDERS, &pipeline_with_findings())])
}

/// Runs the fix and checks that it writes to no branch: the clone and the remote have the same references as before,
/// the new branch excepted, and the working tree is unchanged.
#[track_caller]
pub fn run_fix(local: &Local, args: impl Arguments) -> ProgramOutput {
    let before = list_references(local);
    let output = local.run((FIX, args));
    assert_eq!(list_references(local), before, "{}", output.all());
    assert_eq!(local.world.git("status --porcelain"), "", "{}", output.all());
    output
}

/// Returns the references of the clone and of the remote, without those of the new branches.
fn list_references(local: &Local) -> Vec<String> {
    let folders = [local.world.work(), local.world.remote()];
    let listed = folders.map(|folder| git(&folder, "for-each-ref"));
    listed
        .iter()
        .flat_map(|text| text.lines())
        .filter(|line| !line.contains("/sluicegate-fix-"))
        .map(str::to_owned)
        .collect()
}

/// Returns the name of the new branch.
pub fn fix_branch(local: &Local) -> String {
    format!("sluicegate-fix-{}", local.world.git("rev-parse --short=7 change"))
}

/// Returns whether the remote has the branch.
pub fn has_branch(local: &Local, branch: &str) -> bool {
    !git(&local.world.remote(), &["branch", "--list", branch]).is_empty()
}

/// Returns the only task of the platform, in detail.
pub fn only_task(local: &Local) -> Value {
    let tasks = local.json("tasks list");
    let tasks = tasks["tasks"].as_array().unwrap();
    assert_eq!(tasks.len(), 1, "{tasks:?}");
    local.json(&["tasks", "show", tasks[0]["taskId"].as_str().unwrap()])
}
