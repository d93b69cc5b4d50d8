//! `tasks`: the two meanings of STOPPED, decisions, and following a task to its end.

#[cfg(unix)]
use super::pipelines::run_and_interrupt;
#[cfg(unix)]
use crate::support::send_signal;
use crate::support::{Arguments, PROJECT, Platform, World, answer, at_once, in_turn, polling_call};
use serde_json::{Value, json};
#[cfg(unix)]
use std::process::Stdio;
use std::time::Duration;
use wiremock::{Request, ResponseTemplate};

const ID: &str = "e2d4b6a8-1357-4f9b-8c0d-5a7e9f1b3d2c";
const TASKS: &str = "/v1/ai/agents/tasks$";
const ONE: &str = "/v1/ai/agents/tasks/[^/]+$";
const CREATE: [&str; 10] = [
    "tasks",
    "create",
    "--message",
    "Add a step",
    "--mode",
    "act",
    "--source-branch",
    "main",
    "--generate-branch",
    "--environment=test",
];

fn detail(status: &str, modified: &str, pending: &Value) -> Value {
    json!({ "taskId": ID, "status": status, "description": "Add a step", "createdAt": "2026-11-20T09:30:00Z",
        "modifiedAt": modified, "agentConfig": { "mode": "ACT" }, "grantedPermissions": [], "pendingDecisions": pending })
}

fn running_task() -> Value {
    detail("RUNNING", "1", &json!([]))
}

fn finished_task() -> Value {
    detail("STOPPED", "9", &json!([]))
}

fn asking_task(tool: &str, id: &str) -> Value {
    let pending = json!([{ "type": "tool", "toolName": tool, "toolId": id,
        "permissionMessage": { "title": "May I?", "body": "Please" }, "toolInput": { "x": 1 } }]);
    detail("STOPPED", id, &pending)
}

fn task_platform(details: &[Value]) -> Platform {
    let platform = Platform::new();
    let body = json!({ "taskId": ID, "status": "RUNNING", "agentName": "data_engineer_agent",
        "createdAt": "2026-11-20T09:30:00Z" });
    platform.respond_to("POST", TASKS, ResponseTemplate::new(201).set_body_json(body));
    platform.respond_to("GET", ONE, in_turn(details.iter().map(answer).collect()));
    platform.respond_to(
        "POST",
        "/decisions$",
        ResponseTemplate::new(202).set_body_json(json!({ "pendingDecisions": [] })),
    );
    platform.respond_to(
        "POST",
        "/messages$",
        ResponseTemplate::new(202).set_body_json(json!({ "taskId": ID })),
    );
    platform.respond_to("POST", "/stop$", ResponseTemplate::new(204));
    platform
}

fn create_args(rest: impl Arguments) -> Vec<String> {
    (&CREATE, rest).into_list()
}

fn bodies_by_path(platform: &Platform, end: &str) -> Vec<Value> {
    let all = platform.requests();
    let those = all
        .iter()
        .filter(|request: &&Request| request.method.as_str() != "GET" && request.url.path().ends_with(end));
    those
        .map(|request| serde_json::from_slice(&request.body).unwrap_or_default())
        .collect()
}

#[test]
fn create_sends_the_agents_configuration() {
    let (world, platform) = (World::new(), task_platform(&[]));
    let output = polling_call(&platform, &world)
        .run(create_args(
            "--grant create_file --graph-id g --working-directory sales",
        ))
        .expect(0);
    assert!(
        output.out.starts_with(&format!("created task {ID}\ntaskId ")),
        "{}",
        output.out
    );
    let body = json!({ "message": "Add a step", "agentConfig": { "name": "data_engineer_agent", "mode": "ACT",
        "projectId": PROJECT, "sourceBranchName": "main", "environmentName": "test", "generateBranch": true,
        "graphId": "g", "workingDirectory": "sales" }, "grantedPermissions": [{ "toolName": "create_file" }] });
    assert_eq!(bodies_by_path(&platform, "/tasks"), [body]);
    world.write("message.md", "from a file\n");
    let args = [
        "tasks",
        "create",
        "--message-file",
        "message.md",
        "--mode",
        "PLAN",
        "--source-branch",
        "main",
    ];
    polling_call(&platform, &world)
        .run(&args)
        .expect(2)
        .saying(&["--target-branch"]);
    let named_args = (&args, "--target-branch b --environment e -o json");
    assert_eq!(
        polling_call(&platform, &world).run(&named_args).expect(0).json()["status"],
        "RUNNING"
    );
    assert_eq!(bodies_by_path(&platform, "/tasks")[1]["message"], "from a file\n");
}

#[test]
fn create_with_wait_ends_when_the_task_is_finished() {
    let (world, platform) = (
        World::new(),
        task_platform(&[running_task(), running_task(), finished_task()]),
    );
    let output = polling_call(&platform, &world)
        .run(create_args("--wait"))
        .expect(0);
    assert!(output.out.starts_with("STOPPED (finished)\n"), "{}", output.all());
    output.saying(&["the task is RUNNING", "the task is STOPPED"]);
}

#[test]
fn create_with_unusable_task_id_exits_with_3() {
    for id in ["", "..", "a\tb"] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("POST", TASKS, answer(&json!({ "taskId": id })));
        polling_call(&platform, &world)
            .run(create_args("--wait"))
            .expect(3)
            .saying(&["the response contains no usable taskId"]);
    }
}

#[test]
fn create_with_wait_reports_each_other_end() {
    let stopping = detail("STOPPING", "2", &json!([]));
    let no_pending = json!({ "taskId": ID, "status": "STOPPED" });
    for (details, code, expected_text) in [
        (
            vec![running_task(), detail("ERRORED", "2", &json!([]))],
            8,
            "failed",
        ),
        (
            vec![stopping, finished_task()],
            8,
            "was stopped before it finished",
        ),
        (vec![no_pending], 3, "does not show whether its work is complete"),
        (
            vec![detail("DREAMING", "2", &json!([]))],
            8,
            "did not end within 0 s: its status is DREAMING",
        ),
    ] {
        let (world, platform) = (World::new(), task_platform(&details));
        polling_call(&platform, &world)
            .run(create_args(&[
                "--wait",
                "--timeout",
                if expected_text.contains("0 s") { "0" } else { "60" },
            ]))
            .expect(code)
            .saying(&[expected_text, "hint:"]);
    }
}

#[test]
fn create_with_wait_does_not_resume_a_task_that_somebody_stopped() {
    let details = [
        detail("STOPPING", "2", &json!([])),
        asking_task("create_file", "tool-4"),
    ];
    let (world, platform) = (World::new(), task_platform(&details));
    polling_call(&platform, &world)
        .run(create_args("--wait --approve create_file"))
        .expect(8)
        .saying(&["was stopped before it finished"]);
    assert!(bodies_by_path(&platform, "/decisions").is_empty());
}

#[test]
fn create_with_wait_of_a_task_that_was_resumed_reports_its_end() {
    let details = [
        detail("STOPPING", "2", &json!([])),
        running_task(),
        finished_task(),
    ];
    let (world, platform) = (World::new(), task_platform(&details));
    polling_call(&platform, &world)
        .run(create_args("--wait"))
        .expect(0);
}

#[test]
fn create_with_wait_prints_a_decision_and_the_command_that_answers_it() {
    let (world, platform) = (
        World::new(),
        task_platform(&[running_task(), asking_task("git_push", "tool-4")]),
    );
    let output = polling_call(&platform, &world)
        .run(create_args("--wait --approve create_file"))
        .expect(8);
    for expected_text in [
        "STOPPED (waits for a decision)",
        "the agent requests the tool git_push: May I?",
        &format!("to answer, run: sluicegate tasks decide {ID} --approve tool-4"),
    ] {
        assert!(
            output.out.contains(expected_text),
            "{expected_text}: {}",
            output.all()
        );
    }
    output.saying(&["waits for a decision", "run the command printed above"]);
    assert!(bodies_by_path(&platform, "/decisions").is_empty());
}

#[test]
fn wait_that_prints_no_command_names_the_one_that_shows_the_decision() {
    let unnamed = detail("STOPPED", "2", &json!([{ "type": "question" }]));
    for (task, args) in [
        (asking_task("git_push", "tool-4"), "--wait -o json"),
        (unnamed, "--wait"),
    ] {
        let (world, platform) = (World::new(), task_platform(&[task]));
        let output = polling_call(&platform, &world)
            .run(create_args(args))
            .expect(8)
            .saying(&[&format!("run `sluicegate tasks show {ID}` to see the decision")]);
        assert!(!output.all().contains("printed above"), "{}", output.all());
    }
}

#[test]
fn wait_until_time_limit_reports_only_working_task_as_running() {
    let asking = asking_task("git_push", "tool-4");
    for (tasks, is_running, code) in [
        (vec![asking.clone(), running_task()], true, 8),
        // Nothing shows that the task was resumed, so its result is unknown.
        (vec![asking], false, 3),
    ] {
        let (world, platform) = (World::new(), task_platform(&tasks));
        let args = "--approve tool-4 --wait --timeout 1";
        let output = polling_call(&platform, &world)
            .run(("tasks decide", ID, args))
            .expect(code);
        assert_eq!(
            output.err.contains("still running"),
            is_running,
            "{}",
            output.all()
        );
    }
}

#[test]
fn messages_of_a_stopped_task_without_decisions_end_in_exit_3() {
    let no_pending = json!({ "taskId": ID, "status": "STOPPED" });
    let (world, platform) = (World::new(), task_platform(&[no_pending]));
    script_messages(&platform, &[(None, vec![task_message("one")])]);
    polling_call(&platform, &world)
        .run(&["tasks", "messages", ID, "--follow"])
        .expect(3)
        .saying(&["does not show whether its work is complete"]);
}

#[test]
fn decide_sends_each_decision_once() {
    let (world, platform) = (World::new(), task_platform(&[asking_task("git_push", "tool-4")]));
    let decide = |args: &str| polling_call(&platform, &world).run(("tasks decide", ID, args));
    decide("--approve tool-4 --answer tool-4:0=yes")
        .expect(2)
        .saying(&["tool-4 is both an answered question and a decided tool call"]);
    decide("--approve tool-4 --approve tool-4").expect(0);
    let bodies = bodies_by_path(&platform, "/decisions");
    assert_eq!(bodies.len(), 1);
    assert_eq!(bodies[0].to_string().matches("tool-4").count(), 1, "{bodies:?}");
}

#[test]
fn decide_of_decisions_without_id_reports_missing_ids() {
    let unnamed = detail("STOPPED", "2", &json!([{ "type": "question" }]));
    let (world, platform) = (World::new(), task_platform(&[unnamed]));
    polling_call(&platform, &world)
        .run(&["tasks", "decide", ID, "--approve", "x"])
        .expect(3)
        .saying(&["the pending decisions of the task have no id"]);
}

#[cfg(unix)]
#[test]
fn interrupted_wait_reports_that_the_task_continues() {
    let (world, platform) = (World::new(), task_platform(&[running_task()]));
    let note = format!("the task continues; run `sluicegate tasks stop {ID}` to stop it");
    let (code, text) = run_and_interrupt(&platform, &world, create_args("--wait"), "INT");
    assert_eq!(code, 130, "{text}");
    assert!(text.contains(&note), "{text}");
    // Without a signal, there is no such note.
    let platform = task_platform(&[running_task(), finished_task()]);
    let output = polling_call(&platform, &world)
        .run(create_args("--wait"))
        .expect(0);
    assert!(!output.all().contains("continues"), "{}", output.all());
}

/// Returns a stopped task that waits for this decision.
fn task_waiting_for(decision: &Value) -> Value {
    detail("STOPPED", "2", &json!([decision]))
}

/// Returns the decisions that were sent.
fn sent_decisions(platform: &Platform) -> Vec<Value> {
    let bodies = bodies_by_path(platform, "/decisions");
    bodies.iter().map(|body| body["decisions"].clone()).collect()
}

#[test]
fn printed_command_for_any_id_answers_the_decision() {
    let answer_to = |id: &str| json!([{ "type": "question", "id": id, "answers": [{ "questionIndex": 0, "selectedOptions": ["yes"] }] }]);
    for (decision, expected_decision) in [
        // The tool of a question is not called.
        (
            json!({ "type": "question", "toolName": "ask_user_question", "toolId": "t1", "id": "q1" }),
            answer_to("q1"),
        ),
        (json!({ "type": "question", "id": "a=b:c" }), answer_to("a=b:c")),
        (json!({ "type": "question", "id": "a:1=b" }), answer_to("a:1=b")),
        (json!({ "type": "question", "id": "-q" }), answer_to("-q")),
        (json!({ "type": "question", "id": 7 }), answer_to("7")),
        (
            json!({ "type": "tool", "toolName": "git_push", "toolId": "-x", "permissionMessage": "please" }),
            json!([{ "type": "tool", "id": "-x", "approved": true, "scope": "ONCE" }]),
        ),
    ] {
        let (world, platform) = (World::new(), task_platform(&[task_waiting_for(&decision)]));
        let output = platform.call(&world).run(("tasks show", ID)).expect(0);
        let command = output.out.split("to answer, run: sluicegate ").nth(1);
        let command = command.unwrap_or_else(|| panic!("{}", output.out));
        platform
            .call(&world)
            .run(command.lines().next().unwrap().replace("OPTION", "yes"))
            .expect(0);
        assert_eq!(sent_decisions(&platform), [expected_decision], "{}", output.out);
    }
}

#[test]
fn decide_of_placeholder_is_refused_unless_it_is_offered() {
    let question = |fields: Value| {
        let mut question = json!({ "type": "question", "id": "q" });
        let object = question.as_object_mut().unwrap();
        object.extend(fields.as_object().unwrap().clone());
        question
    };
    for (fields, printed_option, is_offered) in [
        (json!({}), "OPTION", false),
        (json!({ "options": ["removed", "marked"] }), "removed", false),
        (json!({ "options": [{ "label": "OPTION" }] }), "OPTION", true),
        (
            json!({ "questions": [{ "options": ["OPTION"] }] }),
            "OPTION",
            true,
        ),
    ] {
        let task = task_waiting_for(&question(fields));
        let (world, platform) = (World::new(), task_platform(&[task]));
        let text = platform.call(&world).run(("tasks show", ID)).expect(0).out;
        let answer = format!("--answer q:0={printed_option}\n");
        assert!(text.contains(&answer), "{text}");
        let output = platform
            .call(&world)
            .run(("tasks decide", ID, "--answer q:0=OPTION"));
        if is_offered {
            output.expect(0);
        } else {
            output
                .expect(2)
                .saying(&["OPTION is a placeholder for the answer to q"]);
        }
        assert_eq!(sent_decisions(&platform).len(), usize::from(is_offered));
    }
}

#[test]
fn decide_of_question_whose_id_is_in_an_unknown_field_is_sent() {
    let question = json!({ "type": "question", "questionId": "q1" });
    let (world, platform) = (World::new(), task_platform(&[task_waiting_for(&question)]));
    let args = ("tasks decide", ID, "--answer q1:0=x");
    platform.call(&world).run(args).expect(0);
    assert_eq!(sent_decisions(&platform)[0][0]["id"], "q1");
    // If the question is still pending, it may be the same one.
    let platform = Platform::new();
    platform.respond_to("GET", ONE, answer(&task_waiting_for(&question)));
    let response = ResponseTemplate::new(202).set_body_json(json!({ "pendingDecisions": [question] }));
    platform.respond_to("POST", "/decisions$", response);
    let output = platform.call(&world).run(args).expect(3);
    let output = output.saying(&["it is unknown whether q1 was decided"]);
    assert!(!output.out.contains("decided;"), "{}", output.out);
    // If each pending decision has an id, another id is a mistake.
    let named = task_waiting_for(&json!({ "type": "question", "id": "q2" }));
    let platform = task_platform(&[named]);
    platform
        .call(&world)
        .run(args)
        .expect(3)
        .saying(&["q1 is not pending"]);
    assert!(sent_decisions(&platform).is_empty());
}

#[test]
fn create_with_wait_answers_by_policy() {
    let old = asking_task("git_commit", "tool-1");
    let details = [
        running_task(),
        old.clone(),
        old,
        running_task(),
        asking_task("git_push", "tool-2"),
        running_task(),
        finished_task(),
    ];
    let (world, platform) = (World::new(), task_platform(&details));
    let args = [
        "--wait",
        "--approve",
        "git_commit",
        "--approve",
        "git_push",
        "--scope",
        "conversation",
    ];
    let output = polling_call(&platform, &world).run(create_args(&args)).expect(0);
    output.saying(&[
        "approved the tool git_commit for the whole task",
        "approved the tool git_push for the whole task",
    ]);
    let answers: Vec<Value> = bodies_by_path(&platform, "/decisions")
        .iter()
        .map(|entry| entry["decisions"].clone())
        .collect();
    let approved =
        |id: &str| json!([{ "type": "tool", "id": id, "approved": true, "scope": "CONVERSATION" }]);
    // A decision that still looked pending after it was submitted is not submitted twice.
    assert_eq!(answers, [approved("tool-1"), approved("tool-2")]);
}

#[test]
fn time_to_wait_begins_with_the_first_request() {
    let never = || ResponseTemplate::new(200).set_delay(Duration::from_secs(60));
    let wait = "--wait --timeout 0";
    let send = ("tasks send", ID, "--message 'Go on'", wait).into_list();
    let decide = ("tasks decide", ID, "--approve t1", wait).into_list();
    let late = "no response arrived within the timeout";
    let (world, silent) = (World::new(), Platform::new());
    silent.respond_to("GET", ONE, never());
    let deaf = Platform::new();
    deaf.respond_to("GET", ONE, answer(&asking_task("git_push", "t1")));
    deaf.respond_to("POST", "", never());
    let perhaps = "hint: the request may have been processed nevertheless: run `sluicegate tasks ";
    let cases = [
        (&silent, send.clone(), "hint: nothing was sent"),
        (&deaf, create_args(&wait), perhaps),
        (&deaf, send, perhaps),
        (&deaf, decide, perhaps),
    ];
    at_once(cases, |(platform, args, hint)| {
        polling_call(platform, &world)
            .run(&args)
            .expect(3)
            .saying(&[late, hint]);
    });
    assert_eq!(bodies_by_path(&silent, "/messages"), [] as [Value; 0]);
}

#[test]
fn task_that_no_answer_names_is_not_to_be_made_again_blindly() {
    let (world, platform) = (World::new(), Platform::new());
    let nameless = ResponseTemplate::new(201).set_body_json(json!({ "status": "RUNNING" }));
    platform.respond_to("POST", TASKS, nameless);
    let output = polling_call(&platform, &world)
        .run(create_args("--wait"))
        .expect(3);
    output.saying(&["hint: before you repeat the command, run `sluicegate tasks list` to check"]);
}

#[test]
fn list_distinguishes_both_meanings_of_stopped() {
    let (world, platform) = (World::new(), Platform::new());
    let item = |id: &str, status: &str| json!({ "taskId": id, "status": status, "mode": "ACT" });
    let items = [
        item("a", "STOPPED"),
        item("b", "STOPPED"),
        item("c", "RUNNING"),
        item("d", "STOPPED"),
    ];
    platform.respond_to(
        "GET",
        TASKS,
        answer(&json!({ "tasks": items, "page": 0, "size": 100, "total": 4 })),
    );
    platform.respond_to("GET", "/tasks/a$", answer(&finished_task()));
    platform.respond_to("GET", "/tasks/b$", answer(&asking_task("git_push", "1")));
    platform.respond_to("GET", "/tasks/d$", ResponseTemplate::new(404));
    let output = polling_call(&platform, &world)
        .run("tasks list --status stopped --branch-id x")
        .expect(0);
    let states: Vec<&str> = output
        .out
        .lines()
        .skip(1)
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|entry| !entry.is_empty())
                .nth(1)
                .unwrap()
        })
        .collect();
    assert_eq!(
        states,
        [
            "STOPPED (finished)",
            "STOPPED (waits for a decision)",
            "RUNNING",
            "STOPPED (deleted meanwhile)"
        ]
    );
    let query = platform.requests()[0].url.query().unwrap().to_owned();
    assert_eq!(
        query,
        format!("projectId={PROJECT}&branchId=x&status=STOPPED&page=0&size=100")
    );
    let json = polling_call(&platform, &world)
        .run("tasks list --all-projects -o json")
        .expect(0)
        .json();
    assert_eq!(json["tasks"], json!(items));
    assert_eq!(
        platform.requests().last().unwrap().url.query(),
        Some("page=0&size=100")
    );
}

#[test]
fn show_names_what_the_task_waits_for() {
    let (world, platform) = (World::new(), Platform::new());
    let task: Value = serde_json::from_str(include_str!("../../fixtures/api/task.json")).unwrap();
    platform.respond_to("GET", ONE, answer(&task));
    let output = polling_call(&platform, &world)
        .run(&["tasks", "show", ID])
        .expect(0);
    for expected_text in [
        "STOPPED (waits for a decision)",
        "agentConfig.graphId",
        "--deny tool-4",
        "--answer question-5:0=removed",
    ] {
        assert!(
            output.out.contains(expected_text),
            "{expected_text}: {}",
            output.all()
        );
    }
    assert_eq!(
        polling_call(&platform, &world)
            .run(&["tasks", "show", ID, "-o", "json"])
            .expect(0)
            .json(),
        task
    );
}

fn script_messages(platform: &Platform, pages: &[(Option<&str>, Vec<Value>)]) {
    let answers = pages.iter().map(|(more, events)| {
        let mut body = json!({ "results": events });
        if let Some(more) = more {
            body["more"] = json!(more);
        }
        answer(&body)
    });
    platform.respond_to("GET", "/messages$", in_turn(answers.collect()));
}

fn task_message(text: &str) -> Value {
    json!({ "data": text, "groupId": "turn-1", "timestamp": "2020-11-20T09:30:00Z", "new": 1 })
}

#[test]
fn messages_are_read_to_the_end() {
    let (world, platform) = (World::new(), Platform::new());
    let pages = [
        (Some("t1"), vec![task_message("one")]),
        (Some("t2"), vec![task_message("two")]),
        (None, vec![task_message("three")]),
    ];
    script_messages(&platform, &pages);
    let output = polling_call(&platform, &world)
        .run(&["tasks", "messages", ID, "--limit", "1"])
        .expect(0);
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(lines.len(), 3);
    assert!(
        lines[1].starts_with("2020-11-20T09:30:00Z (") && lines[1].ends_with(" d ago)  two  turn-1  new: 1"),
        "{}",
        lines[1]
    );
    let queries: Vec<String> = platform
        .requests()
        .iter()
        .map(|entry| entry.url.query().unwrap().to_owned())
        .collect();
    assert_eq!(
        queries,
        [
            "limit=1",
            "limit=1&paginationToken=t1",
            "limit=1&paginationToken=t2"
        ]
    );
    polling_call(&platform, &world)
        .run(&["tasks", "messages", ID, "--limit", "1001"])
        .expect(2)
        .saying(&["1..=1000"]);
}

#[test]
fn messages_keep_other_fields_of_the_first_page() {
    let (world, platform) = (World::new(), Platform::new());
    let first = json!({ "results": ["one"], "more": "t1", "expiresAt": "z" });
    let second = json!({ "results": ["two"], "other": 1 });
    platform.respond_to(
        "GET",
        "/messages$",
        in_turn(vec![answer(&first), answer(&second)]),
    );
    let output = polling_call(&platform, &world)
        .run(("tasks messages", ID, "-o json"))
        .expect(0);
    assert_eq!(
        output.json(),
        json!({ "results": ["one", "two"], "expiresAt": "z" })
    );
}

#[test]
fn messages_of_empty_history_are_reported_as_missing() {
    let (world, platform) = (World::new(), Platform::new());
    script_messages(&platform, &[(None, vec![])]);
    let run = |format: &str| polling_call(&platform, &world).run(("tasks messages", ID, format));
    assert_eq!(run("-o text").expect(0).out, "the task has no messages\n");
    assert_eq!(run("-o json").expect(0).json(), json!({ "results": [] }));
}

#[cfg(unix)]
#[test]
fn interrupted_messages_are_printed_as_json() {
    let (world, platform) = (World::new(), task_platform(&[running_task()]));
    script_messages(&platform, &[(None, vec![task_message("one")])]);
    let mut command = polling_call(&platform, &world).command(("tasks messages", ID, "--follow -o json"));
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The first page was read before the second request for it.
    let is_page = |request: &&Request| request.url.path().ends_with("/messages");
    platform.wait_for_requests(&mut child, |requests| requests.iter().filter(is_page).count() > 1);
    send_signal("INT", &child.id().to_string());
    let output = child.wait_with_output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{log}");
    assert!(log.contains("interrupted"), "{log}");
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["results"][0]["data"], "one");
}

#[test]
fn messages_are_followed_until_the_task_is_finished_each_once() {
    let (world, platform) = (
        World::new(),
        task_platform(&[
            running_task(),
            asking_task("git_push", "tool-4"),
            running_task(),
            finished_task(),
        ]),
    );
    let pages = [
        (None, vec![task_message("one")]),
        (None, vec![task_message("one"), task_message("two")]),
        (Some("t1"), vec![task_message("one"), task_message("two")]),
        (None, vec![task_message("three")]),
        (None, vec![task_message("three"), task_message("four")]),
    ];
    script_messages(&platform, &pages);
    let output = polling_call(&platform, &world)
        .run(&["tasks", "messages", ID, "--follow", "-o", "json"])
        .expect(0);
    let matches: Vec<Value> = output.json()["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["data"].clone())
        .collect();
    assert_eq!(matches, ["one", "two", "three", "four"]);
    output.saying(&["waits for a decision", "--approve tool-4"]);
}

#[test]
fn followed_messages_report_each_new_status_once_on_stderr() {
    let world = World::new();
    let platform = task_platform(&[running_task(), running_task(), running_task(), finished_task()]);
    script_messages(&platform, &[(None, vec![task_message("one")])]);
    let output = polling_call(&platform, &world)
        .run(&["tasks", "messages", ID, "--follow"])
        .expect(0);
    let statuses: Vec<&str> = output
        .err
        .lines()
        .filter(|line| line.contains("the task is"))
        .collect();
    assert_eq!(statuses.len(), 2, "{}", output.all());
    assert!(statuses[0].ends_with("the task is RUNNING"), "{statuses:?}");
    assert!(!output.out.contains("the task is"), "{}", output.all());
    // Without `--follow`, nothing is waited for.
    let output = polling_call(&platform, &world)
        .run(&["tasks", "messages", ID])
        .expect(0);
    assert!(!output.err.contains("the task is"), "{}", output.all());
}

#[test]
fn messages_of_a_task_that_fails_end_in_exit_8() {
    let (world, platform) = (
        World::new(),
        task_platform(&[running_task(), detail("ERRORED", "2", &json!([]))]),
    );
    script_messages(
        &platform,
        &[
            (None, vec![task_message("one")]),
            (None, vec![task_message("one"), task_message("it broke")]),
        ],
    );
    let output = polling_call(&platform, &world)
        .run(&["tasks", "messages", ID, "--follow"])
        .expect(8);
    assert!(output.out.contains("it broke"), "{}", output.all());
}

#[test]
fn send_overrides_mode_and_branch_only() {
    let (world, platform) = (
        World::new(),
        task_platform(&[
            finished_task(),
            finished_task(),
            running_task(),
            detail("STOPPED", "10", &json!([])),
        ]),
    );
    let args = [
        "tasks",
        "send",
        ID,
        "--message",
        "Now push",
        "--mode",
        "plan",
        "--target-branch",
        "b",
        "--grant",
        "git_push",
    ];
    // Right after the message, the task still looks finished.
    let output = polling_call(&platform, &world)
        .run((&args[..], "--wait"))
        .expect(0);
    assert!(output.out.contains("modifiedAt"), "{}", output.all());
    let body = json!({ "message": "Now push", "grantedPermissions": [{ "toolName": "git_push" }],
        "agentConfig": { "name": "data_engineer_agent", "mode": "PLAN", "targetBranchName": "b" } });
    assert_eq!(bodies_by_path(&platform, "/messages"), [body]);
    assert_eq!(
        platform
            .requests()
            .iter()
            .filter(|it| it.method.as_str() == "GET")
            .count(),
        4
    );
    let output = polling_call(&platform, &world)
        .run(&["tasks", "send", ID, "--message", "x"])
        .expect(0);
    assert_eq!(output.out, format!("sent the message to task {ID}\n"));
    assert_eq!(
        bodies_by_path(&platform, "/messages")[1],
        json!({ "message": "x" })
    );
}

#[test]
fn wait_after_resumption_does_not_report_unchanged_task_as_finished() {
    let asking = asking_task("git_push", "tool-4");
    let decided = detail("STOPPED", "tool-4", &json!([]));
    let failed = detail("ERRORED", "7", &json!([]));
    for (old_states, args) in [
        (vec![finished_task(); 6], "send e --message x"),
        (vec![failed; 6], "send e --message x"),
        (
            [vec![asking], vec![decided; 5]].concat(),
            "decide e --approve tool-4",
        ),
    ] {
        let (world, platform) = (World::new(), task_platform(&old_states));
        polling_call(&platform, &world)
            .run(("tasks", args, "--wait --timeout 1"))
            .expect(3)
            .saying(&["task e shows no sign that it was resumed", "tasks show e"]);
        // If the task works later, its end is the result.
        let later_states = [running_task(), detail("STOPPED", "10", &json!([]))];
        let platform = task_platform(&[&old_states[..], &later_states].concat());
        polling_call(&platform, &world)
            .run(("tasks", args, "--wait --timeout 60"))
            .expect(0);
    }
}

#[test]
fn decide_answers_tools_and_questions() {
    let pending = json!([{ "type": "tool", "toolId": "t1" }, { "type": "tool", "toolId": "t2" },
        { "type": "question", "id": "q" }]);
    let asking = detail("STOPPED", "1", &pending);
    let (world, platform) = (
        World::new(),
        task_platform(&[asking.clone(), asking, running_task(), finished_task()]),
    );
    let args = [
        "tasks",
        "decide",
        ID,
        "--approve",
        "t1",
        "--deny",
        "t2",
        "--scope",
        "conversation",
        "--answer",
        "q:0=yes",
        "--answer",
        "q:0=also",
        "--answer",
        "q:1=a=b",
    ];
    let output = polling_call(&platform, &world).run(&args).expect(0);
    assert_eq!(output.out, "all decisions are made, and the task continues\n");
    let decisions = json!([
        { "type": "tool", "id": "t1", "approved": true, "scope": "CONVERSATION" },
        { "type": "tool", "id": "t2", "approved": false, "scope": "CONVERSATION" },
        { "type": "question", "id": "q", "answers": [
            { "questionIndex": 0, "selectedOptions": ["yes", "also"] },
            { "questionIndex": 1, "selectedOptions": ["a=b"] } ] }
    ]);
    assert_eq!(bodies_by_path(&platform, "/decisions")[0]["decisions"], decisions);
    polling_call(&platform, &world)
        .run(&["tasks", "decide", ID, "--approve", "t1", "--wait"])
        .expect(0);
    for (args, expected_text) in [
        (vec!["--approve", "t", "--deny", "t"], "both approved and denied"),
        (vec!["--answer", "q=yes"], "ID:PART=OPTION"),
        (
            vec![],
            "<--approve <TOOL_ID>|--deny <TOOL_ID>|--answer <ID:PART=OPTION>>",
        ),
    ] {
        polling_call(&platform, &world)
            .run((&["tasks", "decide", ID], &args))
            .expect(2)
            .saying(&[expected_text]);
    }
}

#[test]
fn decide_of_wrong_kind_sends_nothing() {
    let pending = json!([{ "type": "tool", "toolId": "t1" }, { "type": "question", "id": "q" },
        { "type": "new kind", "id": "x" }]);
    let (world, platform) = (World::new(), task_platform(&[detail("STOPPED", "1", &pending)]));
    for (args, expected_texts) in [
        (
            "--approve t1 --approve q",
            [
                "q is a question",
                "hint: answer the question with --answer q:PART=OPTION",
            ],
        ),
        ("--deny q", ["cannot be approved or denied", "--answer"]),
        ("--answer t1:0=a", ["t1 is a tool call", "--approve or --deny t1"]),
    ] {
        polling_call(&platform, &world)
            .run(("tasks decide", ID, args))
            .expect(2)
            .saying(&expected_texts);
    }
    assert!(bodies_by_path(&platform, "/decisions").is_empty());
    // The platform decides about a kind that the API document does not define.
    polling_call(&platform, &world).run(("tasks decide", ID, "--approve x"));
    assert_eq!(bodies_by_path(&platform, "/decisions").len(), 1);
}

#[test]
fn decide_of_what_is_not_pending_sends_nothing() {
    let unclear = json!({ "taskId": ID, "status": "STOPPED" });
    for (task, ids, expected_text) in [
        (
            asking_task("git_push", "tool-4"),
            vec!["tool-4", "nosuch"],
            "decision nosuch is not pending, so nothing was decided; task",
        ),
        (
            asking_task("git_push", "tool-4"),
            vec!["tool-5"],
            "did you mean `tool-4`?",
        ),
        (
            asking_task("git_push", "tool-4"),
            vec!["nosuch"],
            "the task is waiting for tool-4",
        ),
        (finished_task(), vec!["tool-4"], "is STOPPED (finished)"),
        (running_task(), vec!["tool-4"], "hint: run `sluicegate tasks show"),
    ] {
        let (world, platform) = (World::new(), task_platform(&[task]));
        for wait in [&[][..], &["--wait"]] {
            let ids = ids.iter().flat_map(|id| ["--approve", id]);
            let args: Vec<&str> = ["tasks", "decide", ID]
                .into_iter()
                .chain(ids)
                .chain(wait.iter().copied())
                .collect();
            polling_call(&platform, &world)
                .run(&args)
                .expect(3)
                .saying(&[expected_text]);
        }
        assert!(bodies_by_path(&platform, "/decisions").is_empty());
    }
    // If the task does not list its pending decisions, the platform decides.
    let (world, platform) = (World::new(), task_platform(&[unclear]));
    polling_call(&platform, &world)
        .run(&["tasks", "decide", ID, "--deny", "tool-4"])
        .expect(0);
}

#[test]
fn decide_that_decided_nothing_is_no_success() {
    let pending = json!([{ "type": "tool", "toolName": "git_push", "toolId": "t1" },
        { "type": "tool", "toolName": "edit_file", "toolId": "t2" }]);
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("GET", ONE, answer(&detail("STOPPED", "1", &pending)));
    let accepted = |body: Value| ResponseTemplate::new(202).set_body_json(body);
    let answers = [
        json!({ "pendingDecisions": pending }),
        json!({ "pendingDecisions": [pending[1]] }),
        json!({}),
    ];
    platform.respond_to("POST", "/decisions$", in_turn(answers.map(accepted).to_vec()));
    let decide = || {
        let args = ["tasks", "decide", ID, "--approve", "t1"];
        polling_call(&platform, &world).run(&args)
    };
    let output = decide().expect(8);
    assert!(output.out.contains("--approve t1"), "{}", output.all());
    output.saying(&[
        "the platform accepted the decisions, but these are still pending: t1",
        "hint:",
    ]);
    let output = decide().expect(0);
    assert!(
        output.out.starts_with("decided; 1 more decision is pending\n"),
        "{}",
        output.all()
    );
    decide()
        .expect(3)
        .saying(&["the response does not list the pending decisions"]);
}

#[test]
fn permissions_that_were_not_replaced_are_no_success() {
    let (world, platform) = (World::new(), task_platform(&[]));
    let granted = |tools: &[&str]| {
        let tools: Vec<Value> = tools.iter().map(|tool| json!({ "toolName": tool })).collect();
        answer(&json!({ "taskId": ID, "grantedPermissions": tools }))
    };
    let answers = vec![
        granted(&[]),
        granted(&["x", "y"]),
        granted(&["x"]),
        answer(&json!({})),
    ];
    platform.respond_to("PUT", "/permissions$", in_turn(answers));
    let set = || {
        let args = ["tasks", "permissions", ID, "--grant", "x"];
        polling_call(&platform, &world).run(&args)
    };
    let output = set().expect(8);
    assert!(output.out.contains("may use no tool"), "{}", output.all());
    output.saying(&["the platform did not grant x", "hint:"]);
    set().expect(8).saying(&["the platform did not revoke y"]);
    set().expect(0);
    set()
        .expect(3)
        .saying(&["the response does not list the granted permissions"]);
}

#[test]
fn stop_delete_and_permissions_print_their_results() {
    let (world, platform) = (World::new(), task_platform(&[]));
    platform.respond_to("DELETE", "/tasks/(busy|1.*touch.*)$", ResponseTemplate::new(409));
    platform.respond_to("DELETE", ONE, ResponseTemplate::new(204));
    let granted = json!({ "taskId": ID, "grantedPermissions": [{ "toolName": "edit_file" }] });
    platform.respond_to(
        "PUT",
        "/permissions$",
        in_turn(vec![
            answer(&granted),
            answer(&json!({ "grantedPermissions": [] })),
        ]),
    );
    let run = |args: &[&str]| polling_call(&platform, &world).run(("tasks", args));
    assert!(run(&["stop", ID]).expect(0).out.contains("asked task"));
    assert!(run(&["delete", ID]).expect(0).out.contains("all its data"));
    run(&["delete", "busy"])
        .expect(5)
        .saying(&["sluicegate tasks stop busy"]);
    run(&["delete", "1;touch x"])
        .expect(5)
        .saying(&["sluicegate tasks stop '1;touch x'"]);
    let output = run(&["permissions", ID, "--grant", "edit_file"]).expect(0);
    assert_eq!(
        output.out,
        format!("task {ID} may use edit_file without asking\n")
    );
    let output = run(&["permissions", ID, "--clear"]).expect(0);
    assert_eq!(output.out, format!("task {ID} may use no tool without asking\n"));
    run(&["permissions", ID]).expect(2).saying(&["--clear"]);
    assert_eq!(
        bodies_by_path(&platform, "/permissions"),
        [
            json!({ "grantedPermissions": [{ "toolName": "edit_file" }] }),
            json!({ "grantedPermissions": [] })
        ]
    );
}

#[test]
fn stop_that_is_refused_after_the_end_exits_with_0() {
    let refusal = || ResponseTemplate::new(409);
    let lost_response = || ResponseTemplate::new(500);
    let stopping_task = || detail("STOPPING", "2", &json!([]));
    for (responses, task, state, has_warning) in [
        (vec![refusal()], finished_task(), "STOPPED (finished)", true),
        // The first try may have stopped the task.
        (
            vec![lost_response(), refusal()],
            finished_task(),
            "STOPPED (finished)",
            false,
        ),
        (
            vec![lost_response(), refusal()],
            stopping_task(),
            "STOPPING",
            false,
        ),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("POST", "/stop$", in_turn(responses));
        platform.respond_to("GET", ONE, answer(&task));
        let output = polling_call(&platform, &world)
            .variable("SLUICEGATE_RETRIES", "1")
            .run(&["tasks", "stop", ID])
            .expect(0);
        assert_eq!(output.out, format!("task {ID} is {state}\n"));
        let warning = format!("nothing was stopped: task {ID} had already ended in {state}");
        assert_eq!(output.err.contains(&warning), has_warning, "{}", output.all());
    }
    // Counterpart: a task that has not ended.
    for task in [running_task(), stopping_task()] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("POST", "/stop$", refusal());
        platform.respond_to("GET", ONE, answer(&task));
        polling_call(&platform, &world)
            .run(&["tasks", "stop", ID])
            .expect(5)
            .saying(&[&format!("hint: run `sluicegate tasks show {ID}` to check")]);
    }
}

#[test]
fn list_by_the_name_of_a_branch_reads_it_from_the_details() {
    let (world, platform) = (World::new(), Platform::new());
    let task = |id: &str| json!({ "taskId": id, "status": "RUNNING", "projectId": "p", "branchId": "b" });
    let all = ["target", "source", "other", "gone"].map(task);
    platform.respond_to(
        "GET",
        "/tasks$",
        answer(&json!({ "tasks": all, "page": 0, "size": 100, "total": 4 })),
    );
    let detail =
        |config: Value| answer(&json!({ "taskId": "x", "status": "RUNNING", "agentConfig": config }));
    platform.respond_to(
        "GET",
        "/tasks/target$",
        detail(json!({ "sourceBranchName": "main", "targetBranchName": "fix" })),
    );
    platform.respond_to(
        "GET",
        "/tasks/source$",
        detail(json!({ "sourceBranchName": "fix" })),
    );
    platform.respond_to(
        "GET",
        "/tasks/other$",
        detail(json!({ "sourceBranchName": "fix", "targetBranchName": "more" })),
    );
    let list = "tasks list --branch fix -o json";
    let report = platform.call(&world).run(list).expect(0).json();
    let ids: Vec<&str> = report["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["taskId"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["target", "source"]);
    let both = "tasks list --branch fix --branch-id b";
    platform.call(&world).run(both).expect(2);
}

#[test]
fn hint_after_refused_wait_is_that_the_task_may_run_unless_it_is_unknown() {
    for (status, code, cause) in [
        (401, 4, "check the token"),
        (403, 4, "role"),
        (404, 3, "base URL"),
        (418, 3, "base URL"),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        let body = json!({ "taskId": ID, "status": "RUNNING" });
        platform.respond_to("POST", TASKS, ResponseTemplate::new(201).set_body_json(body));
        platform.respond_to("GET", ONE, ResponseTemplate::new(status));
        let output = polling_call(&platform, &world)
            .run(create_args("--wait --timeout 2"))
            .expect(code);
        let hint = output.err.rsplit("hint: ").next().unwrap();
        assert!(hint.contains(cause), "{}", output.all());
        let task_hint = hint.split_once("the task may still be running");
        assert_eq!(task_hint.is_none(), status == 404, "{}", output.all());
        let Some((first, rest)) = task_hint else {
            continue;
        };
        assert!(first.contains(cause), "{}", output.all());
        assert!(
            rest.contains(&format!("sluicegate tasks show {ID}")),
            "{}",
            output.all()
        );
    }
}

#[test]
fn list_with_rejected_token_ends_at_the_first_details() {
    let (world, platform) = (World::new(), Platform::new());
    let tasks: Vec<Value> = (0..40)
        .map(|n| json!({ "taskId": format!("t{n}"), "status": "STOPPED" }))
        .collect();
    let list = json!({ "tasks": tasks, "page": 0, "size": 100, "total": 40 });
    platform.respond_to("GET", "/tasks$", answer(&list));
    platform.respond_to("GET", "/tasks/t[0-9]+$", ResponseTemplate::new(401));
    platform.call(&world).run("tasks list").expect(4);
    let request_count = platform.requests().len();
    assert!(request_count < 20, "{request_count}");
}

#[test]
fn list_shows_all_tasks_although_details_are_unavailable() {
    let (world, platform) = (World::new(), Platform::new());
    let item = |id: &str, status: &str| json!({ "taskId": id, "status": status });
    let tasks = [
        item("..", "STOPPED"),
        item("b", "STOPPED"),
        item("c", "RUNNING"),
        item("d", "STOPPED"),
    ];
    platform.respond_to(
        "GET",
        TASKS,
        answer(&json!({ "tasks": tasks, "page": 0, "size": 100, "total": 4 })),
    );
    platform.respond_to("GET", "/tasks/b$", ResponseTemplate::new(418));
    platform.respond_to("GET", "/tasks/d$", answer(&finished_task()));
    let output = polling_call(&platform, &world).run("tasks list").expect(0);
    assert_eq!(output.out.lines().count(), 5, "{}", output.all());
    assert_eq!(
        output.out.matches("STOPPED (details unavailable)").count(),
        2,
        "{}",
        output.all()
    );
    assert!(output.out.contains("STOPPED (finished)"), "{}", output.all());
    output.saying(&["warning: the details of 2 stopped tasks are unavailable: "]);
    // Counterpart: a rejected token is an error.
    let platform = Platform::new();
    platform.respond_to(
        "GET",
        TASKS,
        answer(&json!({ "tasks": tasks, "page": 0, "size": 100, "total": 4 })),
    );
    platform.respond_to("GET", ONE, ResponseTemplate::new(401));
    polling_call(&platform, &world).run("tasks list").expect(4);
}

#[test]
fn list_shows_tasks_whose_details_are_forbidden() {
    let (world, platform) = (World::new(), Platform::new());
    let tasks = [
        json!({ "taskId": "theirs", "status": "STOPPED" }),
        json!({ "taskId": "mine", "status": "STOPPED" }),
    ];
    let list = json!({ "tasks": tasks, "page": 0, "size": 100, "total": 2 });
    platform.respond_to("GET", TASKS, answer(&list));
    platform.respond_to("GET", "/tasks/theirs$", ResponseTemplate::new(403));
    let mut task = finished_task();
    task["agentConfig"]["targetBranchName"] = json!("fix");
    platform.respond_to("GET", "/tasks/mine$", answer(&task));
    let output = polling_call(&platform, &world).run("tasks list").expect(0);
    assert!(
        output.out.contains("theirs  STOPPED (details unavailable)"),
        "{}",
        output.all()
    );
    assert!(
        output.out.contains("mine    STOPPED (finished)"),
        "{}",
        output.all()
    );
    output.saying(&["warning: the details of 1 stopped task are unavailable: ", "403"]);
    // The branch of a task is in its details.
    let output = polling_call(&platform, &world)
        .run("tasks list --branch fix")
        .expect(0);
    assert!(
        output.out.contains("mine") && !output.out.contains("theirs"),
        "{}",
        output.all()
    );
    output.saying(&["warning: the details of 1 task are unavailable: "]);
    // Counterpart: the list itself is forbidden.
    let platform = Platform::new();
    platform.respond_to("GET", TASKS, ResponseTemplate::new(403));
    polling_call(&platform, &world).run("tasks list").expect(4);
}
