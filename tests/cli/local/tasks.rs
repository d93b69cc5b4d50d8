use super::Local;
use serde_json::Value;

const CREATE: [&str; 11] = [
    "tasks",
    "create",
    "--message",
    "Create a step, run it, commit and push",
    "--source-branch",
    "main",
    "--generate-branch",
    "--environment",
    "test",
    "-o",
    "json",
];

fn task(local: &Local, args: &[&str], code: i32) -> Value {
    local.run(&[&CREATE[..], args].concat()).expect(code).json()
}

#[test]
fn create_waits_for_decisions_which_are_answered_until_it_is_finished() {
    let local = Local::with_environments();
    let mut found = task(&local, &["--mode", "ACT", "--wait", "--timeout", "60"], 8);
    let id = found["taskId"].as_str().unwrap().to_owned();
    let shown = local.run(&["tasks", "list"]).expect(0);
    assert!(
        shown.out.contains("STOPPED (waits for a decision)"),
        "{}",
        shown.all()
    );
    let mut asked = Vec::new();
    while let Some(pending) = found["pendingDecisions"][0].as_object() {
        asked.push(pending["toolName"].as_str().unwrap().to_owned());
        let tool = pending["toolId"].as_str().unwrap();
        let decide = [
            "tasks",
            "decide",
            &id,
            "--approve",
            tool,
            "--wait",
            "--timeout",
            "60",
            "-o",
            "json",
        ];
        let ended = local.run(&decide);
        assert!([0, 8].contains(&ended.code), "{}", ended.all());
        found = ended.json();
    }
    assert_eq!(asked, ["create_file", "run_pipeline", "git_commit", "git_push"]);
    assert_eq!(found["status"], "STOPPED");
    let shown = local.run(&["tasks", "list"]).expect(0);
    assert!(shown.out.contains("STOPPED (finished)"), "{}", shown.all());
    let messages = local
        .run(&["tasks", "messages", &id, "--limit", "1", "-o", "json"])
        .expect(0)
        .json();
    let followed = local
        .run(&["tasks", "messages", &id, "--follow", "-o", "json"])
        .expect(0)
        .json();
    assert_eq!(messages, followed);
    assert!(messages["results"].as_array().unwrap().len() > 4);
}

#[test]
fn create_answers_by_policy_and_goes_on_by_a_message() {
    let local = Local::with_environments();
    let approve = ["create_file", "run_pipeline", "git_commit", "git_push"].map(|tool| ["--approve", tool]);
    let args = [
        &["--mode", "ACT", "--wait", "--timeout", "60"],
        approve.as_flattened(),
    ]
    .concat();
    let found = task(&local, &args, 0);
    let id = found["taskId"].as_str().unwrap();
    let send = [
        "tasks",
        "send",
        id,
        "--message",
        "Create another",
        "--grant",
        "create_file",
        "--wait",
        "--timeout",
        "60",
    ];
    local.run(&send).expect(0);
    local.run(&["tasks", "permissions", id, "--clear"]).expect(0);
    local.run(&["tasks", "delete", id]).expect(0);
    local.run(&["tasks", "show", id]).expect(3);
}

#[test]
fn stop_ends_a_task_that_runs_and_is_not_deleted_meanwhile() {
    let local = Local::with_environments();
    let found = task(&local, &["--mode", "PLAN"], 0);
    let id = found["taskId"].as_str().unwrap();
    local
        .run(&["tasks", "delete", id])
        .expect(5)
        .saying(&["tasks stop"]);
    local.run(&["tasks", "stop", id]).expect(0);
    local
        .run(&["tasks", "messages", id, "--follow", "--timeout", "60"])
        .expect(0);
    let shown = local.run(&["tasks", "show", id]).expect(0);
    assert!(shown.out.starts_with("STOPPED (finished)"), "{}", shown.all());
}
