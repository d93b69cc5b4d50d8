use super::{Local, MEMBER};
use crate::support::Arguments;
use serde_json::{Value, json};

const CHAIN: [&str; 4] = ["create_file", "run_pipeline", "git_commit", "git_push"];
const TO_ITS_END: &str = "--wait --timeout 60";

/// Gives the agent a task, expects this exit code and returns the JSON output.
fn give(local: &Local, message: &str, args: impl Arguments, code: i32) -> Value {
    let create = [
        "tasks",
        "create",
        "-o",
        "json",
        "--environment",
        "test",
        "--source-branch",
        "main",
        "--generate-branch",
        "--message",
        message,
    ];
    local.run((&create[..], args)).expect(code).json()
}

/// Gives the agent an instruction and waits.
fn work(local: &Local, message: &str, args: impl Arguments, code: i32) -> Value {
    give(local, message, ("--mode ACT", TO_ITS_END, args), code)
}

/// Gives the agent an instruction in plan mode.
fn create_plan_task(local: &Local, args: impl Arguments) -> Value {
    give(local, "Create, run, commit, push", ("--mode plan", args), 0)
}

/// Gives the agent an instruction and does not wait: it is working when the next command runs.
fn busy(local: &Local) -> Value {
    give(local, "Create", "--mode ACT --grant create_file", 0)
}

fn id(task: &Value) -> &str {
    task["taskId"].as_str().unwrap()
}

/// Returns the decisions that a task waits for.
fn pending_tools(task: &Value) -> Vec<&str> {
    let pending = task["pendingDecisions"].as_array().unwrap().iter();
    pending
        .map(|entry| entry["toolName"].as_str().unwrap_or("question"))
        .collect()
}

fn tool_id(task: &Value) -> &str {
    task["pendingDecisions"][0]["toolId"].as_str().unwrap()
}

/// Submits a decision and waits.
fn decide(local: &Local, task: &Value, answer: impl Arguments, code: i32) -> Value {
    let id = id(task);
    local
        .run((format!("tasks decide {id} -o json"), TO_ITS_END, answer))
        .expect(code)
        .json()
}

// Endpoint: POST /v1/ai/agents/tasks
#[test]
fn create_waits_for_each_decision_until_the_task_is_finished() {
    let local = Local::with_environments();
    let mut task = work(&local, "Create a step, run it, commit and push", "", 8);
    let list = || local.run("tasks list").expect(0).out;
    assert!(list().contains("STOPPED (waits for a decision)"), "{}", list());
    for (index, tool) in CHAIN.iter().enumerate() {
        assert_eq!(pending_tools(&task), [*tool]);
        let code = if index == 3 { 0 } else { 8 };
        task = decide(&local, &task, &["--approve", tool_id(&task)], code);
    }
    assert_eq!(
        (&task["status"], pending_tools(&task).len()),
        (&json!("STOPPED"), 0)
    );
    assert!(list().contains("STOPPED (finished)"), "{}", list());
}

// Endpoint: POST /v1/ai/agents/tasks
#[test]
fn create_prints_a_decision_with_the_command_that_answers_it() {
    let local = Local::with_environments();
    let args = [
        "tasks",
        "create",
        "--message",
        "Push",
        "--mode",
        "ACT",
        "--environment",
        "test",
        "--source-branch",
        "main",
        "--target-branch",
        "new",
    ];
    let output = local.run((&args[..], TO_ITS_END)).expect(8);
    assert!(output.out.contains("git_push"), "{}", output.all());
    let mut lines = output.out.lines();
    let command = lines.find_map(|line| line.trim().strip_prefix("to answer, run: sluicegate "));
    let words: Vec<&str> = command.unwrap().split(' ').collect();
    assert!(words.contains(&"--approve"), "{words:?}");
    local.run((&words[..], TO_ITS_END)).expect(0);
}

// Endpoint: POST /v1/ai/agents/tasks
#[test]
fn create_approves_tools_by_policy() {
    let local = Local::with_environments();
    let approve = CHAIN.map(|tool| ["--approve", tool]);
    let task = work(&local, "Create, run, commit, push", approve.as_flattened(), 0);
    assert_eq!(task["status"], "STOPPED");
}

// Endpoint: POST /v1/ai/agents/tasks
#[test]
fn create_with_everything_granted_never_asks() {
    let local = Local::with_environments();
    let grant = CHAIN.map(|tool| ["--grant", tool]);
    let task = work(&local, "Create, run, commit, push", grant.as_flattened(), 0);
    assert_eq!(
        task["grantedPermissions"],
        json!(CHAIN.map(|tool| json!({ "toolName": tool })))
    );
}

// Endpoint: POST /v1/ai/agents/tasks
#[test]
fn create_for_a_plan_asks_for_nothing_that_changes() {
    let local = Local::with_environments();
    let task = create_plan_task(&local, TO_ITS_END);
    assert_eq!(
        (&task["agentConfig"]["mode"], pending_tools(&task).len()),
        (&json!("PLAN"), 0)
    );
}

// Endpoint: POST /v1/ai/agents/tasks
#[test]
fn create_that_ends_in_an_error_names_place_of_details() {
    let local = Local::with_environments();
    let args = [
        "tasks",
        "create",
        "-o",
        "json",
        "--message",
        "Create",
        "--mode",
        "ACT",
        "--environment",
        "test",
        "--generate-branch",
        "--source-branch",
        "none",
    ];
    let output = local
        .run((&args[..], TO_ITS_END))
        .expect(8)
        .saying(&["failed", "tasks messages"]);
    let task = output.json();
    assert_eq!(task["status"], "ERRORED");
    local.run(&["tasks", "messages", id(&task), "--follow"]).expect(8);
}

// Endpoint: POST /v1/ai/agents/tasks
#[test]
fn create_needs_the_name_of_a_branch_or_leave_to_make_one() {
    let local = Local::with_environments();
    let args = [
        "tasks",
        "create",
        "--message",
        "x",
        "--environment",
        "test",
        "--source-branch",
        "main",
        "--mode",
        "ACT",
    ];
    local.run(&args).expect(2).saying(&["--generate-branch"]);
    let args = args.map(|arg| if arg == "ACT" { "WATCH" } else { arg });
    local
        .run((&args[..], "--target-branch new"))
        .expect(3)
        .saying(&["400", "agentConfig.mode"]);
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[test]
fn decide_skips_what_is_denied() {
    let local = Local::with_environments();
    let task = work(&local, "Create and push", "", 8);
    let task = decide(&local, &task, &["--deny", tool_id(&task)], 8);
    assert_eq!(pending_tools(&task), ["git_push"]);
    decide(&local, &task, &["--deny", tool_id(&task)], 0);
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[test]
fn decide_for_the_conversation_is_not_asked_again() {
    let local = Local::with_environments();
    let again = |scope: &str| {
        let task = work(&local, "Create a step", "", 8);
        decide(&local, &task, &["--approve", tool_id(&task), "--scope", scope], 0);
        let send = ["tasks", "send", id(&task), "--message", "Create another"];
        local.run((&send[..], TO_ITS_END)).code
    };
    assert_eq!((again("once"), again("conversation")), (8, 0));
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[test]
fn decide_answers_a_question() {
    let local = Local::with_environments();
    let task = work(&local, "Ask me first", "", 8);
    assert_eq!(pending_tools(&task), ["question"]);
    let question = task["pendingDecisions"][0]["id"].as_str().unwrap();
    decide(&local, &task, &["--answer", &format!("{question}:0=yes")], 0);
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/decisions
#[test]
fn decide_for_what_is_not_pending_is_no_success() {
    let local = Local::with_environments();
    let task = work(&local, "Push", "", 8);
    let decide = |tool: &str, code, expected_text: &str| {
        let args = ["tasks", "decide", id(&task), "--approve", tool];
        local.run(&args).expect(code).saying(&[expected_text]);
    };
    decide("other", 3, "other is not pending");
    // A tool request is not a question.
    let answer = format!("{}:0=yes", tool_id(&task));
    local
        .run(&["tasks", "decide", id(&task), "--answer", &answer])
        .expect(2)
        .saying(&["is a tool call, so it cannot be answered"]);
    local.run(&["tasks", "stop", id(&task)]).expect(0);
    decide(tool_id(&task), 3, "hint: run `sluicegate tasks show");
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}/messages
#[test]
fn messages_are_read_page_by_page_and_followed_to_the_end() {
    let local = Local::with_environments();
    let granted = "--grant create_file --grant git_push";
    let task = work(&local, "Create and push", granted, 0);
    let small = local.json(&["tasks", "messages", id(&task), "--limit", "1"]);
    assert_eq!(small, local.json(&["tasks", "messages", id(&task)]));
    assert_eq!(small, local.json(&["tasks", "messages", id(&task), "--follow"]));
    assert!(small["results"].as_array().unwrap().len() >= 4, "{small:#}");
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/messages
#[test]
fn send_lets_a_finished_task_go_on_with_what_it_changes() {
    let local = Local::with_environments();
    let task = create_plan_task(&local, TO_ITS_END);
    let send = [
        "tasks",
        "send",
        id(&task),
        "-o",
        "json",
        "--message",
        "Create it now",
        "--grant",
        "create_file",
        "--mode",
        "ACT",
        "--target-branch",
        "other",
    ];
    let task = local.run((&send[..], TO_ITS_END)).expect(0).json();
    let config = &task["agentConfig"];
    assert_eq!(
        json!([
            config["mode"],
            config["targetBranchName"],
            task["grantedPermissions"]
        ]),
        json!(["ACT", "other", [{ "toolName": "create_file" }]])
    );
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}
// Endpoint: POST /v1/ai/agents/tasks/{taskId}/stop
#[test]
fn stop_ends_a_task_that_runs() {
    let local = Local::with_environments();
    let task = busy(&local);
    assert_eq!(task["status"], "RUNNING");
    local.run(&["tasks", "stop", id(&task)]).expect(0);
    let messages = ["tasks", "messages", id(&task), "--follow", "--timeout", "60"];
    local.run(&messages).expect(0);
    let output = local.run(&["tasks", "show", id(&task)]).expect(0);
    assert!(output.out.starts_with("STOPPED (finished)"), "{}", output.all());
}

// Endpoint: DELETE /v1/ai/agents/tasks/{taskId}
#[test]
fn delete_is_refused_while_the_task_runs_and_then_takes_everything() {
    let local = Local::with_environments();
    let task = busy(&local);
    local
        .run(&["tasks", "delete", id(&task)])
        .expect(5)
        .saying(&["409", "tasks stop"]);
    let waiting = work(&local, "Push", "", 8);
    local.run(&["tasks", "delete", id(&waiting)]).expect(0);
    for verb in ["show", "messages", "delete"] {
        local
            .run(&["tasks", verb, id(&waiting)])
            .expect(3)
            .saying(&["404"]);
    }
}

// Endpoint: GET /v1/ai/agents/tasks/{taskId}
// Endpoint: PUT /v1/ai/agents/tasks/{taskId}/permissions
#[test]
fn permissions_replace_the_whole_set() {
    let local = Local::with_environments();
    let task = work(&local, "Create", "--grant create_file", 0);
    let granted = || local.json(&["tasks", "show", id(&task)])["grantedPermissions"].clone();
    let set = ["tasks", "permissions", id(&task)];
    let answer = local.json((&set[..], "--grant git_commit --grant git_push"));
    assert_eq!(answer["grantedPermissions"], granted());
    assert_eq!(
        granted(),
        json!([{ "toolName": "git_commit" }, { "toolName": "git_push" }])
    );
    local.run((&set[..], "--clear")).expect(0);
    assert_eq!(granted(), json!([]));
    local
        .run((&set[..], "--grant no_such_tool"))
        .expect(3)
        .saying(&["toolName"]);
}

// Endpoint: GET /v1/ai/agents/tasks
#[test]
fn list_is_filtered_by_project_branch_and_status() {
    let local = Local::with_environments();
    let first = work(&local, "Push", "", 8);
    let second = create_plan_task(&local, "");
    let tasks = |args: &str| {
        let list = local.json(("tasks list", args));
        list["tasks"].as_array().unwrap().clone()
    };
    let ids = |args: &str| {
        let mut ids: Vec<String> = tasks(args).iter().map(|entry| id(entry).to_owned()).collect();
        ids.sort();
        ids
    };
    let mut both = [id(&first), id(&second)];
    both.sort_unstable();
    assert_eq!(ids(""), both);
    assert_eq!(ids("--all-projects"), both);
    assert_eq!(ids("--status errored"), [""; 0]);
    let response = tasks("");
    let one = response.iter().find(|entry| id(entry) == id(&first)).unwrap();
    assert_eq!(
        ids(&format!("--branch-id {}", one["branchId"].as_str().unwrap())),
        [id(&first)]
    );
    local
        .run("tasks list --status dreaming")
        .expect(3)
        .saying(&["400", "status"]);
    local.call_as(MEMBER).run("tasks list").expect(0);
}
