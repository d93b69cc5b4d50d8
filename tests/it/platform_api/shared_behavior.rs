//! Behavior that all platform commands share: names, numbers, success, waits, hints.

use crate::support::{
    Call, PROJECT, Platform, ProgramOutput, TOKEN, World, answer, at_once, change, in_turn, send_signal,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant};
use wiremock::{Request, ResponseTemplate};

const ID: &str = "0d9c8b7a-6f5e-4d3c-ab2a-190f8e7d6c5b";
const PAGE: &str = "<!doctype html><title>Sign in</title>";
const NOTHING: &str = ".*";

fn page() -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_raw(PAGE, "text/html")
}

fn list(items: &Value) -> ResponseTemplate {
    let total = items.as_array().unwrap().len();
    answer(&json!({ "results": items, "page": 0, "size": 100, "total": total }))
}

/// Returns a platform that sends this response to every request of any method.
fn always(template: &ResponseTemplate) -> Platform {
    let platform = Platform::new();
    for verb in ["GET", "POST", "PATCH", "PUT", "DELETE"] {
        platform.respond_to(verb, NOTHING, template.clone());
    }
    platform
}

#[test]
fn poll_interval_that_is_no_number_is_refused_wherever_it_stands() {
    let (world, platform) = (World::new(), always(&page()));
    let show = ["executions", "show", ID, "--wait"];
    for text in ["NaN", "inf", "-inf", "-1", "1e999", "soon"] {
        let flag = format!("--poll-interval={text}");
        platform.call(&world).run((&show[..], &[&flag])).expect(2);
        let variable = platform.call(&world).variable("SLUICEGATE_POLL_INTERVAL", text);
        variable
            .run(&show)
            .expect(2)
            .saying(&["SLUICEGATE_POLL_INTERVAL"]);
    }
    for text in [".nan", ".inf", "-.inf", "-1"] {
        world.write("sluicegate.yaml", format!("poll-interval: {text}\n"));
        platform.call(&world).run(&show).expect(2);
    }
    assert!(platform.requests().is_empty());
}

#[test]
fn flag_without_effect_on_a_command_that_does_not_wait_exits_with_2() {
    let (world, platform) = (World::new(), always(&page()));
    let create = "tasks create --message m --mode ACT --environment e --source-branch b --generate-branch";
    for (command, flag, needed_flag) in [
        ("pipelines run p --environment e", "--poll-interval 1", "--wait"),
        ("executions show x", "--poll-interval 1", "--wait"),
        ("executions cancel x", "--poll-interval 1", "--wait"),
        ("streaming status x", "--poll-interval 1", "--wait"),
        ("tasks messages x", "--poll-interval 1", "--follow"),
        ("tasks send x --message m", "--poll-interval 1", "--wait"),
        ("tasks decide x --deny t", "--poll-interval 1", "--wait"),
        (create, "--poll-interval 1", "--wait"),
        ("fix", "--poll-interval 1", "--agent"),
        (
            "pipelines run p --environment e --wait",
            "--force",
            "--cancel-on-interrupt",
        ),
        (
            "pipelines run p --environment e --wait",
            "--cancel-status S",
            "--cancel-on-interrupt",
        ),
        ("tasks send x --message m --wait", "--scope once", "--approve"),
        ("tasks decide x --deny t --wait", "--scope once", "--approve"),
    ] {
        let output = platform.call(&world).run((command, flag)).expect(2);
        output.saying(&["required", needed_flag]);
    }
    for command in ["executions show x", "streaming status x", "tasks messages x"] {
        let output = platform
            .call(&world)
            .run((command, "--timeout 5 --request-timeout 5"))
            .expect(2);
        output.saying(&["both set the timeout for each request", "hint: remove one"]);
        platform
            .call(&world)
            .run((command, "--timeout 0"))
            .expect(2)
            .saying(&["the timeout 0 is not in the range 1 to 86400"]);
    }
    assert!(platform.requests().is_empty(), "{:?}", platform.requests());
    // A variable may be set for several commands, and either flag may set the timeout.
    let output = platform
        .call(&world)
        .variable("SLUICEGATE_POLL_INTERVAL", "1")
        .variable("SLUICEGATE_CANCEL_STATUS", "S")
        .run("executions show x --timeout 5")
        .expect(3);
    assert!(!platform.requests().is_empty(), "{}", output.all());
    platform
        .call(&world)
        .run("executions show x --request-timeout 5")
        .expect(3);
}

#[test]
fn name_invalid_in_paths_is_usage_error_without_request() {
    let (world, platform) = (World::new(), always(&ResponseTemplate::new(204)));
    for name in ["", ".", "..", "a\tb", "a\nb"] {
        for command in [
            vec!["variables", "delete", name],
            vec!["variables", "overrides", "unset", "v", name],
            vec!["variables", "overrides", "list", name],
            vec!["tasks", "delete", name],
            vec!["tasks", "show", name],
            vec!["streaming", "start", name],
            vec!["executions", "show", name],
        ] {
            let output = platform.call(&world).run(&command).expect(2);
            output.saying(&["cannot be used in a path below", "\nhint: "]);
        }
    }
    world.write(
        "v.yaml",
        "variables: { '..': { type: TEXT, behaviour: SHARED, value: x } }\n",
    );
    platform
        .call(&world)
        .run("variables apply -f v.yaml")
        .expect(2)
        .saying(&["v.yaml:1:", "the name would change the path"]);
    assert!(platform.requests().is_empty(), "{:?}", platform.requests());
}

#[test]
fn empty_argument_is_usage_error_without_request() {
    let (world, platform) = (
        World::new(),
        always(&answer(&json!({ "pipelineExecutionId": ID }))),
    );
    let call = platform.call(&world);
    for args in [
        "pipelines run a --environment",
        "pipelines run a --environment e --tag",
        "pipelines run --environment e",
        "executions cancel x --cancel-status",
        "projects create --warehouse W --agent-deployment-type HYBRID --name",
        "projects create --warehouse W --agent-deployment-type HYBRID",
        "artifacts enable --prefix p",
        "artifacts list --prefix",
        "tasks list --status",
        "tasks decide t --approve",
        "variables overrides list v --environment",
    ] {
        for value in ["", " "] {
            let output = call.run((args, &[value])).expect(2);
            output.saying(&["the value is empty"]);
        }
    }
    assert!(platform.requests().is_empty(), "{:?}", platform.requests());
    call.run("pipelines run a --environment e --tag t").expect(0);
}

#[test]
fn hint_after_timeout_names_flag_that_the_command_has() {
    let slow = answer(&json!({ "results": [] })).set_delay(Duration::from_secs(3));
    let (world, platform) = (World::new(), always(&slow));
    let call = platform.call(&world).variable("SLUICEGATE_TIMEOUT", "1");
    for command in ["executions show x", "variables list"] {
        let output = call.run(command).expect(3);
        output.saying(&["set a longer timeout with --request-timeout (SLUICEGATE_TIMEOUT)"]);
    }
    call.run("variables list --request-timeout 30").expect(0);
}

#[test]
fn events_whose_pages_repeat_come_to_an_end() {
    let (world, platform) = (World::new(), Platform::new());
    let events: Vec<Value> = (0..100)
        .map(|number| json!({ "eventId": number.to_string(), "eventTimestamp": "2026-11-20T10:00:00Z" }))
        .collect();
    platform.respond_to("GET", "/v1/events$", answer(&json!({ "results": events })));
    let output = platform.call(&world).run("events export").expect(3);
    output.saying(&["the list of events has no end", "\nhint: "]);
    assert!(platform.requests().len() < 10, "{}", platform.requests().len());
}

#[test]
fn list_that_lies_about_its_total_is_no_list() {
    let pages = |total: i64| {
        let full = answer(
            &json!({ "results": (0..100).map(|n| json!({ "name": n.to_string() })).collect::<Vec<_>>(),
            "page": 0, "size": 100, "total": total }),
        );
        let empty = answer(&json!({ "results": [], "page": 1, "size": 100, "total": total }));
        in_turn(vec![full, empty])
    };
    for (total, expected_text) in [
        (250, "announces 250 entries but has 100"),
        (7, "announces 7 entries but has 100"),
        (-1, "announces -1 entries but has 100"),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("GET", "/variables$", pages(total));
        let output = platform.call(&world).run("variables list").expect(3);
        output.saying(&[
            expected_text,
            "\nhint: run the command again; if the list is still inconsistent",
        ]);
    }
    // Two pages that alternate are detected, too.
    let (world, platform) = (World::new(), Platform::new());
    let turns = (0..40).map(|turn| {
        let entry = |n: usize| json!({ "name": format!("{}-{n}", turn % 2) });
        answer(&json!({ "results": (0..100).map(entry).collect::<Vec<_>>(), "total": 100_000 }))
    });
    platform.respond_to("GET", "/variables$", in_turn(turns.collect()));
    let output = platform.call(&world).run("variables list").expect(3);
    output.saying(&["repeats an earlier page"]);
    assert_eq!(platform.requests().len(), 3);
}

/// Returns a page of variables with these numbers in their names.
fn numbered_page(numbers: std::ops::Range<usize>, total: Option<usize>) -> ResponseTemplate {
    let names: Vec<Value> = numbers.map(|n| json!({ "name": format!("v{n}") })).collect();
    match total {
        Some(total) => answer(&json!({ "results": names, "page": 0, "size": 100, "total": total })),
        None => answer(&json!({ "results": names })),
    }
}

/// Runs `variables list` against a platform that sends these pages in turn. Returns the output and the request count.
fn list_variables(pages: Vec<ResponseTemplate>) -> (ProgramOutput, usize) {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("GET", "/variables$", in_turn(pages));
    let output = platform.call(&world).run("variables list -o json");
    let request_count = platform.requests().len();
    (output, request_count)
}

/// Returns the names in a list.
fn listed_names(output: &ProgramOutput) -> Vec<String> {
    let list = output.json();
    let entries = list["results"].as_array().unwrap().iter();
    entries
        .map(|entry| entry["name"].as_str().unwrap().to_owned())
        .collect()
}

fn names_of(numbers: std::ops::Range<usize>) -> Vec<String> {
    numbers.map(|n| format!("v{n}")).collect()
}

#[test]
fn list_that_changes_between_pages_is_read_again() {
    // The first variable is deleted after the first page was read, which moves v100 to that page.
    let after_deletion = || {
        vec![
            numbered_page(1..101, Some(119)),
            numbered_page(101..120, Some(119)),
        ]
    };
    let first_pass = vec![
        numbered_page(0..100, Some(120)),
        numbered_page(101..120, Some(119)),
    ];
    let (output, request_count) = list_variables([first_pass, after_deletion()].concat());
    assert_eq!(listed_names(&output.expect(0)), names_of(1..120));
    assert_eq!(request_count, 4);
    // A list that does not change is read once.
    let (output, request_count) = list_variables(after_deletion());
    assert_eq!(listed_names(&output.expect(0)), names_of(1..120));
    assert_eq!(request_count, 2);
}

#[test]
fn list_that_keeps_changing_fails() {
    let pages = (0..20).map(|turn| numbered_page(turn * 100..(turn + 1) * 100, Some(300 - turn)));
    let (output, request_count) = list_variables(pages.collect());
    let expected_texts = [
        "it was read 4 times",
        "page 1 announced 293 entries instead of 294",
    ];
    output.expect(3).saying(&expected_texts);
    assert_eq!(request_count, 8);
    // Without a total, a repeated entry shows the change: an entry moved to the next page, each time another one.
    let pages = (0..8).flat_map(|pass| {
        let first = pass * 10;
        [
            numbered_page(first..first + 100, None),
            numbered_page(first + 99..first + 150, None),
            numbered_page(0..0, None),
        ]
    });
    let (output, _) = list_variables(pages.collect());
    output.expect(3).saying(&[
        "page 1 repeated an entry of an earlier page",
        "hint: run the command again when nothing else changes the list",
    ]);
}

#[test]
fn list_with_equal_entries_on_two_pages_is_complete() {
    let pages = || {
        vec![
            numbered_page(0..100, Some(120)),
            numbered_page(99..119, Some(120)),
        ]
    };
    let (output, request_count) = list_variables([pages(), pages()].concat());
    let expected_names = [names_of(0..100), names_of(99..119)].concat();
    assert_eq!(listed_names(&output.expect(0)), expected_names);
    assert_eq!(request_count, 4);
}

#[test]
fn list_whose_second_page_is_refused_is_complete() {
    let refused = ResponseTemplate::new(400).set_body_json(json!({ "detail": "page out of range" }));
    let (output, _) = list_variables(vec![numbered_page(0..50, None), refused.clone()]);
    assert_eq!(listed_names(&output.expect(0)), names_of(0..50));
    // The platform announced more entries, so the list is not complete.
    let (output, _) = list_variables(vec![numbered_page(0..100, Some(120)), refused]);
    output.expect(3).saying(&["page out of range"]);
}

#[test]
fn list_of_smaller_pages_than_requested_is_read_to_its_end() {
    let pages = [0..50, 50..100, 100..120, 0..0];
    let pages = pages.map(|numbers| numbered_page(numbers, None));
    let (output, _) = list_variables(pages.to_vec());
    assert_eq!(listed_names(&output.expect(0)), names_of(0..120));
    // An endpoint without paging returns its complete list each time.
    let (output, request_count) = list_variables(vec![numbered_page(0..50, None)]);
    assert_eq!(listed_names(&output.expect(0)), names_of(0..50));
    assert_eq!(request_count, 2);
}

/// Runs `artifacts list` against a platform that sends these pages in turn.
fn list_artifacts(pages: &[Value]) -> (ProgramOutput, usize) {
    let (world, platform) = (World::new(), Platform::new());
    let pages = pages.iter().map(answer).collect();
    platform.respond_to("GET", "/v1/shared-pipelines/artifacts$", in_turn(pages));
    let output = platform.call(&world).run("artifacts list -o json");
    let request_count = platform.requests().len();
    (output, request_count)
}

/// Returns versions with these numbers as names.
fn versions(numbers: std::ops::Range<usize>) -> Vec<Value> {
    let version =
        |n: usize| json!({ "sharedPipelineIdPrefix": "p", "versionName": n.to_string(), "enabled": true });
    numbers.map(version).collect()
}

#[test]
fn artifacts_list_with_any_paging_fields_is_complete() {
    let empty = json!({ "results": [] });
    let numbers_in_strings =
        |numbers| json!({ "results": versions(numbers), "page": "0", "size": "2", "total": "3" });
    let nested =
        |numbers| json!({ "results": versions(numbers), "pagination": { "page": 0, "size": 2, "total": 3 } });
    let marked = |numbers, has_next| json!({ "results": versions(numbers), "hasNext": has_next });
    let unmarked = |numbers| json!({ "artifacts": versions(numbers) });
    for (pages, expected_count) in [
        (vec![numbers_in_strings(0..2), numbers_in_strings(2..3)], 2),
        (vec![nested(0..2), nested(2..3)], 2),
        (vec![marked(0..2, true), marked(2..3, false), empty.clone()], 3),
        (vec![unmarked(0..2), unmarked(2..3), empty.clone()], 3),
        // The endpoint has no pages: it returns its complete list each time.
        (vec![unmarked(0..3)], 2),
        (vec![json!(versions(0..3))], 1),
        (
            vec![json!({ "results": versions(0..3), "total": 3, "more": null, "links": {} })],
            1,
        ),
    ] {
        let (output, request_count) = list_artifacts(&pages);
        let list = output.expect(0).json();
        assert_eq!(list["results"].as_array().map(Vec::len), Some(3), "{pages:?}");
        assert_eq!(request_count, expected_count, "{pages:?}");
    }
}

#[test]
fn list_in_json_has_other_fields_of_first_page() {
    let page = json!({ "results": [], "links": { "self": "/variables" }, "page": 0, "size": 25, "total": 0 });
    let (output, _) = list_variables(vec![answer(&page)]);
    assert_eq!(output.expect(0).json(), page);
    let first = json!({ "meta": 1, "results": versions(0..2), "hasNext": true, "size": 2, "total": 3 });
    let second = json!({ "meta": 2, "results": versions(2..3), "hasNext": false, "size": 2, "total": 3 });
    let (output, _) = list_artifacts(&[first, second]);
    let merged = json!({ "meta": 1, "results": versions(0..3), "page": 0, "size": 2, "total": 3 });
    assert_eq!(output.expect(0).json(), merged);
    let first = json!({
        "results": versions(0..2), "page": 1, "hasMore": true, "nextPage": 2, "totalElements": 3,
        "pagination": { "hasMore": true, "limit": 2 },
    });
    let second = json!({ "results": versions(2..3), "page": 2, "hasMore": false, "totalElements": 3 });
    let (output, _) = list_artifacts(&[first, second]);
    let merged = json!({
        "results": versions(0..3), "page": 0, "size": 3, "total": 3, "pagination": { "limit": 2 },
    });
    assert_eq!(output.expect(0).json(), merged);
    // A bare array has no other fields.
    let (output, _) = list_artifacts(&[json!(versions(0..1))]);
    let list = json!({ "results": versions(0..1), "page": 0, "size": 1, "total": 1 });
    assert_eq!(output.expect(0).json(), list);
}

#[test]
fn artifacts_list_that_announces_more_versions_fails() {
    for mark in [
        json!({ "more": "token-1" }),
        json!({ "hasNext": true }),
        json!({ "pagination": { "next": "token-1" } }),
        json!({ "total": 2, "nextPageToken": "token-1" }),
    ] {
        let mut page = mark;
        page["results"] = json!(versions(0..2));
        let (output, _) = list_artifacts(&[page]);
        assert_eq!(output.out, "");
        output.expect(3).saying(&["\nhint: "]);
    }
}

#[test]
fn list_on_platform_with_smaller_page_limit_is_complete() {
    let rejected = |field: &str| {
        let violation = json!({ "field": field, "message": "must be at most 50" });
        ResponseTemplate::new(400)
            .set_body_json(json!({ "title": "Bad Request", "validation-errors": [violation] }))
    };
    let page = |numbers: std::ops::Range<usize>| {
        let names: Vec<Value> = numbers.map(|n| json!({ "name": format!("v{n}") })).collect();
        answer(&json!({ "results": names, "page": 0, "size": 50, "total": 70 }))
    };
    let (output, request_count) = list_variables(vec![rejected("size"), page(0..50), page(50..70)]);
    assert_eq!(listed_names(&output.expect(0)), names_of(0..70));
    assert_eq!(request_count, 3);
    let (output, request_count) = list_variables(vec![rejected("other"), page(0..50)]);
    output.expect(3).saying(&["must be at most 50"]);
    assert_eq!(request_count, 1);
    let (world, platform) = (World::new(), Platform::new());
    let event = json!({ "eventId": "e", "eventTimestamp": "2026-11-20T10:00:00Z" });
    let events = answer(&json!({ "results": [event], "page": 0, "size": 50, "total": 1 }));
    platform.respond_to("GET", "/v1/events$", in_turn(vec![rejected("size"), events]));
    platform.call(&world).run("events export").expect(0);
}

#[test]
fn list_without_numbers_is_complete_if_platform_rejects_the_page_size() {
    for entries_field in [None, Some("results")] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("GET", "/variables$", move |request: &Request| {
            let parameters: HashMap<_, _> = request.url.query_pairs().into_owned().collect();
            if parameters.contains_key("size") {
                let violation = json!({ "field": "size", "message": "must be at most 50" });
                let body = json!({ "title": "Bad Request", "validation-errors": [violation] });
                return ResponseTemplate::new(400).set_body_json(body);
            }
            let page = parameters
                .get("page")
                .map_or(0, |page| page.parse::<usize>().unwrap());
            let names: Vec<Value> = (page * 50..(page * 50 + 50).min(70))
                .map(|n| json!({ "name": format!("v{n}") }))
                .collect();
            answer(&match entries_field {
                Some(field) => json!({ field: names }),
                None => json!(names),
            })
        });
        let output = platform.call(&world).run("variables list -o json");
        assert_eq!(listed_names(&output.expect(0)), names_of(0..70));
        // The rejected request, the two pages, and the empty page at the end.
        assert_eq!(platform.requests().len(), 4);
    }
}

#[test]
fn page_of_html_is_done_by_no_command() {
    let (world, platform) = (World::new(), always(&page()));
    world.write(
        "environment.yaml",
        format!(
            "name: e\ndefaultAgentId: {ID}\ndefaultUserAccessLevel: readOnly\n\
             defaultConnections: {{ DWH: {{ warehouse_a: dwh }} }}\nconnectionOverrides: []\n"
        ),
    );
    let update = [
        "variables",
        "update",
        "v",
        "--type",
        "TEXT",
        "--behaviour",
        "SHARED",
        "--value",
        "x",
    ];
    let (show, status) = (
        format!("`sluicegate tasks show {ID}`"),
        format!("`sluicegate streaming status {ID}`"),
    );
    let (variables, overrides) = (
        "`sluicegate variables list`",
        "`sluicegate variables overrides list v`",
    );
    let versions = "`sluicegate artifacts list --prefix p`";
    let connection = [
        "connections",
        "create",
        "--name",
        "dwh",
        "--warehouse",
        "WAREHOUSE_A",
    ];
    for (command, look) in [
        (
            &["environments", "create", "-f", "environment.yaml"][..],
            "`sluicegate environments list`",
        ),
        (
            &connection,
            "check whether the project already has the new resource",
        ),
        (
            &["repositories", "create", "--owner", "o", "--name", "n"],
            "check whether the project already has the new resource",
        ),
        (&["tasks", "stop", ID], &show),
        (&["tasks", "delete", ID], &show),
        (&["tasks", "send", ID, "--message", "x"], &show),
        (&["tasks", "permissions", ID, "--clear"], &show),
        (&update, variables),
        (&["variables", "delete", "v"], variables),
        (&["variables", "overrides", "unset", "v", "e"], overrides),
        (
            &["executions", "cancel", ID],
            &format!("`sluicegate executions show {ID}`"),
        ),
        (&["streaming", "start", ID], &status),
        (&["streaming", "stop", ID], &status),
        (
            &["artifacts", "enable", "--version-name", "1", "--prefix", "p"],
            versions,
        ),
        (
            &[
                "artifacts",
                "disable",
                "--version-name",
                "1",
                "--prefix",
                "p",
                "--force",
            ],
            versions,
        ),
    ] {
        let output = platform.call(&world).run(command).expect(3);
        assert!(output.out.is_empty(), "{command:?}: {}", output.all());
        output.saying(&[
            "Sign in",
            "\nhint: the request may have been processed nevertheless: ",
            look,
            "check that the base URL is the address of the platform's API",
        ]);
    }
}

#[test]
fn page_of_html_in_place_of_decision_has_hint_to_check_task() {
    let world = World::new();
    let asking = Platform::new();
    let pending = json!([{ "type": "tool", "toolId": "tool-1" }]);
    asking.respond_to(
        "GET",
        "",
        answer(&json!({ "status": "STOPPED", "pendingDecisions": pending })),
    );
    asking.respond_to("POST", "", page());
    let decide = ["tasks", "decide", ID, "--approve", "tool-1"];
    asking.call(&world).run(&decide).expect(3).saying(&[
        "Sign in",
        "\nhint: the request may have been processed nevertheless: ",
        &format!("`sluicegate tasks show {ID}`"),
    ]);
}

#[test]
fn page_of_html_in_response_to_read_leaves_no_operation_open() {
    let (world, platform) = (World::new(), always(&page()));
    for command in [&["variables", "list"][..], &["tasks", "show", ID]] {
        let output = platform.call(&world).run(command).expect(3);
        output.saying(&["Sign in", "\nhint: check that the base URL is"]);
    }
}

#[test]
fn wait_ends_in_time_although_answer_hangs() {
    let hanging = ResponseTemplate::new(200).set_delay(Duration::from_secs(60));
    let running = answer(&json!({ "result": { "status": "RUNNING" } }));
    let nothing = "no response arrived within the timeout";
    let cases = [
        // The message contains the last known status.
        (
            &["executions", "show", ID, "--wait"][..],
            vec![running, hanging.clone()],
            8,
            "did not end within 1 s: its status is RUNNING",
        ),
        (
            &["pipelines", "run", "p", "--environment", "e", "--wait"],
            vec![hanging.clone()],
            3,
            nothing,
        ),
        (
            &["streaming", "status", ID, "--wait", "streaming"],
            vec![hanging.clone()],
            3,
            nothing,
        ),
    ];
    at_once(cases, |(args, answers, code, expected_text)| {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("GET", "/pipeline-executions/", in_turn(answers));
        platform.respond_to(
            "POST",
            "/pipeline-executions$",
            answer(&json!({ "pipelineExecutionId": ID })),
        );
        platform.respond_to("GET", "/status$", hanging.clone());
        let begin = Instant::now();
        let call = platform.call(&world).variable("SLUICEGATE_POLL_INTERVAL", "0.05");
        let output = call.run((args, "--timeout 1")).expect(code);
        assert!(begin.elapsed() < Duration::from_secs(30), "{}", output.all());
        let request = format!("GET {}/v1/projects/", platform.server.uri());
        assert!(
            expected_text != nothing || output.err.contains(&request),
            "{}",
            output.all()
        );
        output.saying(&[expected_text, "\nhint: "]);
    });
}

#[test]
fn response_of_another_shape_is_described_without_internal_names() {
    let execution = ["executions", "show", ID, "--wait"];
    let streaming = ["streaming", "status", ID];
    let task = ["tasks", "show", ID];
    let cases = [
        (
            &execution[..],
            json!({ "status": "SUCCESS" }),
            "missing field `result`",
        ),
        (&streaming, json!("streaming"), "expected an object"),
        (&task, json!([]), "expected an object"),
        (
            &execution,
            json!({ "result": [] }),
            "the response cannot be used: at result: ",
        ),
    ];
    at_once(cases, |(args, body, expected_text)| {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("GET", "", answer(&body));
        let output = platform.call(&world).run(args).expect(3);
        for internal in ["at :", "at .:", "struct ", "elements"] {
            assert!(!output.err.contains(internal), "{}", output.all());
        }
        output.saying(&["the response cannot be used: ", expected_text]);
    });
}

#[test]
fn conflict_with_existing_resource_does_not_suggest_another_name() {
    let (world, platform) = (World::new(), Platform::new());
    for verb in ["POST", "PUT", "PATCH"] {
        platform.respond_to(verb, "", ResponseTemplate::new(409));
    }
    for (args, hint) in [
        (
            &["tasks", "send", ID, "--message", "x"][..],
            "run `sluicegate tasks show",
        ),
        (&["tasks", "stop", ID], "run `sluicegate tasks show"),
        (&["streaming", "start", ID], "run `sluicegate streaming status"),
        (&["executions", "cancel", ID], "run `sluicegate executions show"),
        (
            &["pipelines", "run", "p", "--environment", "e", "--tag", "nightly"],
            "an execution with the tag nightly is running",
        ),
        (
            &["pipelines", "run", "p", "--environment", "e"],
            "another operation may prevent this execution",
        ),
        (
            &["artifacts", "enable", "1", "--prefix", "p"],
            "run `sluicegate artifacts list --prefix p` to check",
        ),
    ] {
        let output = platform.call(&world).run(args).expect(5);
        assert!(!output.err.contains("use another name"), "{}", output.all());
        output.saying(&[&format!("hint: {hint}")]);
    }
    platform
        .call(&world)
        .run("variables create region --value x")
        .expect(5)
        .saying(&["hint: the request conflicts with an existing resource"]);
}

#[test]
fn creation_without_id_in_the_response_is_undecided() {
    let world = World::new();
    let platform = always(&answer(&json!({})));
    for (args, reason) in [
        (
            "projects create p --warehouse w --agent-deployment-type HYBRID",
            "the response contains no project id",
        ),
        (
            "tasks create --mode ACT --message m --source-branch main --generate-branch --environment e",
            "the response contains no usable taskId",
        ),
        (
            "pipelines run p --environment e",
            "the response contains no usable execution id",
        ),
        (
            "secrets create s --agent-id 0d9c8b7a-6f5e-4d3c-ab2a-190f8e7d6c5b --key k --value-variable SECRET",
            "the response contains no reference to it",
        ),
    ] {
        platform
            .call(&world)
            .variable("SECRET", "s3cret")
            .run(args)
            .expect(3)
            .saying(&[reason, "hint: before you repeat the command, "]);
    }
    // Counterpart: a variable is known by its name.
    platform
        .call(&world)
        .run("variables create region --value x")
        .expect(0);
}

#[test]
fn response_without_its_status_is_no_success() {
    let world = World::new();
    let stream = format!("streaming status {ID}");
    let execution = format!("executions show {ID}");
    for (command, response, code) in [
        (&stream, json!({}), 3),
        (&stream, json!({ "status": null }), 3),
        (&stream, json!({ "status": "streaming" }), 0),
        (&execution, json!({ "result": {} }), 3),
        (&execution, json!({ "result": { "status": null } }), 3),
        (&execution, json!({ "result": { "status": "NEW" } }), 0),
    ] {
        let output = always(&answer(&response)).call(&world).run(command).expect(code);
        assert_eq!(output.err.contains("status"), code == 3, "{}", output.all());
    }
}

#[test]
fn overrides_without_a_list_are_not_reported_as_missing() {
    let world = World::new();
    for (response, code) in [
        (json!({}), 3),
        (json!({ "overrides": null }), 0),
        (json!({ "overrides": [] }), 0),
    ] {
        let output = always(&answer(&response))
            .call(&world)
            .run("variables overrides list region")
            .expect(code);
        assert_eq!(
            output.all().contains("has no overrides"),
            code == 0,
            "{}",
            output.all()
        );
    }
}

#[test]
fn change_of_version_without_usable_response_does_not_claim_that_it_failed() {
    let world = World::new();
    for (status, fact) in [
        (202, "could not determine whether version 1 of p was enabled"),
        (500, "could not determine whether version 1 of p was enabled"),
        (403, "could not enable version 1 of p"),
    ] {
        always(&ResponseTemplate::new(status))
            .call(&world)
            .variable("SLUICEGATE_RETRIES", "0")
            .run("artifacts enable 1 --prefix p")
            .saying(&[fact]);
    }
}

#[test]
fn wait_that_ends_before_a_retry_shows_the_last_response() {
    let busy = |status: u16| {
        ResponseTemplate::new(status)
            .insert_header("retry-after", "60")
            .set_body_json(json!({ "detail": "come back later" }))
    };
    let cases = [
        (
            ["executions", "show", ID, "--wait"].to_vec(),
            429,
            "/pipeline-executions/",
        ),
        (
            ["streaming", "status", ID, "--wait", "streaming"].to_vec(),
            503,
            "/status: 503",
        ),
        (["tasks", "messages", ID, "--follow"].to_vec(), 503, "/tasks/"),
    ];
    at_once(cases, |(args, status, place)| {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("GET", "", busy(status));
        let call = platform.call(&world).variable("SLUICEGATE_RETRIES", "2");
        let output = call.run((&args, "--timeout 1")).expect(3);
        assert!(!output.err.contains("no response arrived"), "{}", output.all());
        output.saying(&[&status.to_string(), place, "come back later", "\nhint: "]);
    });
}

#[test]
fn messages_are_followed_no_longer_than_asked_although_an_answer_hangs() {
    let hanging = ResponseTemplate::new(200).set_delay(Duration::from_secs(60));
    let task = answer(&json!({ "taskId": ID, "status": "RUNNING", "pendingDecisions": [] }));
    let finished_task = answer(&json!({ "taskId": ID, "status": "STOPPED", "pendingDecisions": [] }));
    let first = answer(&json!({ "results": [{ "data": "the first page" }], "more": "a" }));
    let cases = [
        (
            &hanging,
            [&first, &first],
            3,
            "no response arrived within the timeout",
        ),
        (
            &task,
            [&hanging, &hanging],
            8,
            "did not end in time: its status is RUNNING",
        ),
        (
            &task,
            [&first, &hanging],
            8,
            "did not end in time: its status is RUNNING",
        ),
        (
            &finished_task,
            [&first, &hanging],
            8,
            "could not read all messages of task",
        ),
    ];
    at_once(cases, |(tasks, pages, code, expected_text)| {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("GET", "/tasks/[^/]+$", tasks.clone());
        platform.respond_to(
            "GET",
            "/messages$",
            in_turn(pages.map(ResponseTemplate::clone).to_vec()),
        );
        let begin = Instant::now();
        let output = platform
            .call(&world)
            .variable("SLUICEGATE_POLL_INTERVAL", "0.05")
            .run(&["tasks", "messages", ID, "--follow", "--timeout", "1"])
            .expect(code);
        assert!(begin.elapsed() < Duration::from_secs(30), "{}", output.all());
        output.saying(&[expected_text, "\nhint: "]);
    });
}

#[test]
fn messages_whose_tokens_lead_round_in_a_circle_come_to_an_end() {
    let page = |token: &str| answer(&json!({ "results": [{ "data": "said" }], "more": token }));
    for (tokens, requests) in [(&["a"][..], 2), (&["a", "b", "c", "a"], 4)] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to(
            "GET",
            "/messages$",
            in_turn(tokens.iter().map(|token| page(token)).collect()),
        );
        let output = platform.call(&world).run(&["tasks", "messages", ID]).expect(3);
        output.saying(&["has no end: its pages link to each other in a circle", "\nhint: "]);
        assert_eq!(platform.requests().len(), requests, "{tokens:?}");
    }
}

#[test]
fn deletion_is_reported_only_if_a_request_may_have_been_processed() {
    let world = World::new();
    for (first_status, succeeds) in [(429, false), (502, true)] {
        for args in [
            "variables delete region",
            "tasks delete t1",
            "variables overrides unset region prod",
        ] {
            let platform = Platform::new();
            let first_response = ResponseTemplate::new(first_status).insert_header("retry-after", "0");
            let responses = vec![first_response, ResponseTemplate::new(404)];
            platform.respond_to("DELETE", NOTHING, in_turn(responses));
            let call = platform.call(&world).variable("SLUICEGATE_RETRIES", "1");
            let output = call.run(args).expect(if succeeds { 0 } else { 3 });
            let was_deleted = output.out.contains("deleted") || output.out.contains("removed");
            assert_eq!(was_deleted, succeeds, "{args}: {}", output.all());
        }
    }
}

#[test]
fn retries_and_hanging_responses_are_reported() {
    let (world, platform) = (World::new(), Platform::new());
    let busy = ResponseTemplate::new(503).insert_header("retry-after", "0");
    let late = list(&json!([])).set_delay(Duration::from_millis(2_600));
    platform.respond_to("GET", "/v1/projects$", in_turn(vec![busy, late]));
    let output = platform
        .call(&world)
        .variable("SLUICEGATE_RETRIES", "1")
        .variable("CI", "true")
        .run("projects list")
        .expect(0);
    output.saying(&[
        "503 Service Unavailable; retrying in ",
        "waiting for the response to GET http",
    ]);
}

/// The server responded, so the connection did not fail.
#[test]
fn retry_after_response_about_a_connection_has_the_status() {
    let (world, platform) = (World::new(), Platform::new());
    let busy = ResponseTemplate::new(503)
        .insert_header("retry-after", "0")
        .set_body_string("cannot connect: the database is down");
    platform.respond_to("GET", "/v1/projects$", in_turn(vec![busy, list(&json!([]))]));
    let output = platform
        .call(&world)
        .variable("SLUICEGATE_RETRIES", "1")
        .run("projects list")
        .expect(0)
        .saying(&[": 503 Service Unavailable; retrying in "]);
    assert!(!output.all().contains("cannot connect"), "{}", output.all());
}

#[test]
fn overrides_that_fail_in_a_text_keep_the_servers_words() {
    let (world, platform) = (World::new(), Platform::new());
    let known = json!({ "variable": { "name": "v", "type": "TEXT" }, "overrides": [] });
    platform.respond_to("GET", "/environment-overrides$", answer(&known));
    let document = json!(["prod: no such environment", "try again on Monday"]);
    let json = json!({ "variableName": "v", "type": "TEXT", "successfulOverrides": ["test"], "failedOverrides": document });
    platform.respond_to("POST", "/environment-overrides$", answer(&json));
    let set = "variables overrides set v prod=1 test=2";
    let output = platform.call(&world).run(set).expect(8);
    output.saying(&[
        "\n  prod: prod: no such environment\n",
        ": try again on Monday\n",
        "1 of 2 overrides",
    ]);
}

#[test]
fn failure_is_shown_without_the_status_again_and_without_an_empty_line() {
    let text = |response: ResponseTemplate| {
        let output = always(&response)
            .call(&World::new())
            .run("executions show x")
            .expect(3);
        let message = output.err.split_once("/pipeline-executions/x: ").unwrap().1;
        message.split("\nhint: ").next().unwrap().to_owned()
    };
    let page = "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center>\
                <hr><center>nginx</center></body></html>";
    let page = ResponseTemplate::new(502).set_body_raw(page, "text/html");
    assert_eq!(text(page), "502 Bad Gateway: nginx");
    let violations = json!({ "violations": [{ "field": "a", "message": "is missing" }] });
    let response = ResponseTemplate::new(422).set_body_json(violations);
    assert_eq!(text(response), "422 Unprocessable Entity:\n- a: is missing");
    let response = ResponseTemplate::new(422).set_body_json(json!({ "title": "Bad", "errors": ["b"] }));
    assert_eq!(text(response), "422 Unprocessable Entity: Bad\n- b");
}

#[test]
fn retry_after_incomplete_response_names_the_reason() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        for head in ["200 OK\r\ncontent-length: 100", "500 Oh\r\ncontent-length: 2"] {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let response = format!("HTTP/1.1 {head}\r\nconnection: close\r\n\r\n{{}}");
            stream.write_all(response.as_bytes()).unwrap();
        }
    });
    let world = World::new();
    let call = Call::with_platform(&world.work(), &url);
    let output = call.run("projects list --retries 1").expect(3);
    output.saying(&["200 OK: the connection broke during the response: "]);
    server.join().unwrap();
}

#[test]
fn artifact_with_unknown_fields_is_shown_with_them() {
    let (world, platform) = (World::new(), Platform::new());
    let details = json!({
        "artifactDetails": { "versionName": "1", "enabled": true, "createdBy": "ann@example.com" },
        "sharedPipelines": [{ "sharedPipelineId": "load", "sourcePipeline": "a", "description": "d", "owner": "ben" }],
        "retention": { "days": 30 },
    });
    platform.respond_to("GET", "/details$", answer(&details));
    let output = platform
        .call(&world)
        .run("artifacts show 1 --prefix sales")
        .expect(0);
    insta::assert_snapshot!(output.out, @r#"
    prefix     -
    version    1
    enabled    true
    created    -
    provider   -
    commit     -
    branch     -
    createdBy  ann@example.com
    retention  {"days":30}

    ID    SOURCE  DESCRIPTION  OWNER
    load  a       d            ben
    "#);
}

#[test]
fn numbers_are_shown_as_they_were_written() {
    let (world, platform) = (World::new(), Platform::new());
    let text = r#"{ "results": [ { "name": "v", "value": 12345678901234567890123.10, "more": [1.0, 1e400, 0.1] } ],
        "page": 0, "size": 100, "total": 1 }"#;
    let raw = ResponseTemplate::new(200).set_body_raw(text, "application/json");
    platform.respond_to("GET", "/variables$", raw);
    let output = platform.call(&world).run("variables list -o json").expect(0);
    let squeezed: String = output.out.split_whitespace().collect();
    assert!(
        squeezed.contains(r#""value":12345678901234567890123.10"#),
        "{}",
        output.out
    );
    assert!(
        squeezed
            .to_lowercase()
            .replace("e+", "e")
            .contains("[1.0,1e400,0.1]"),
        "{}",
        output.out
    );
}

#[test]
fn every_refusal_ends_with_a_hint() {
    for status in [400, 402, 404, 409, 418, 422, 500] {
        let (world, platform) = (World::new(), always(&ResponseTemplate::new(status)));
        world.write("s.yaml", "name: n\n");
        for command in [
            &["projects", "list"][..],
            &["variables", "create", "v", "--type", "TEXT", "--value", "x"],
            &["variables", "delete", "v"],
            &["variables", "overrides", "unset", "v", "e"],
            &["pipelines", "run", "p", "--environment", "e"],
            &["executions", "cancel", ID],
            &["tasks", "show", ID],
            &["tasks", "stop", ID],
            &[
                "connections",
                "create",
                "--name",
                "d",
                "--warehouse",
                "WAREHOUSE_A",
            ],
            &["streaming", "start", ID],
            &["artifacts", "show", "--prefix", "p"],
            &["events", "export"],
        ] {
            let output = platform.call(&world).run(command);
            let last = output.err.trim_end().lines().last().unwrap_or_default();
            assert!(
                last.starts_with("hint: "),
                "{command:?} {status}: {}",
                output.all()
            );
            // A rejected request would be rejected again.
            assert!(
                status == 500 || !last.contains("try again later"),
                "{command:?} {status}: {}",
                output.all()
            );
        }
        let world = change(&[("b.orch.yaml", "type: orchestration\n")]);
        let review = platform.call(&world).run("review");
        assert!(
            review.code != 0 && review.err.contains("\nhint: "),
            "{status}: {}",
            review.all()
        );
    }
}

#[test]
fn cancel_of_ended_execution_is_no_error() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to(
        "PATCH",
        "/pipeline-executions/",
        answer(&json!({ "pipelineExecutionId": ID })),
    );
    let cancelled = json!({ "result": { "status": "CANCELLED", "message": "as asked" } });
    platform.respond_to("GET", "/pipeline-executions/", answer(&cancelled));
    let output = platform
        .call(&world)
        .run(&["executions", "cancel", ID, "--wait"])
        .expect(0);
    assert!(!output.err.contains("error:"), "{}", output.all());
    assert!(output.out.contains("CANCELLED"), "{}", output.all());
}

/// Returns a platform with these lists, but no resource under any name.
fn platform_with_resources() -> Platform {
    let platform = Platform::new();
    let named = |name: &str| list(&json!([{ "name": name }]));
    platform.respond_to("GET", "/variables$", named("region"));
    platform.respond_to("GET", "/published-pipelines$", named("load sales"));
    platform.respond_to("GET", "/environments$", named("production"));
    let version = json!([{ "sharedPipelineIdPrefix": "sales", "versionName": "2026.11.1", "enabled": true }]);
    platform.respond_to("GET", "/artifacts$", list(&version));
    platform.respond_to(
        "GET",
        "/tasks$",
        answer(&json!({ "tasks": [{ "taskId": ID }], "page": 0, "size": 100, "total": 1 })),
    );
    platform
}

#[test]
fn missing_resource_is_named_with_nearest_existing_one() {
    let (world, platform) = (World::new(), platform_with_resources());
    let near = ID.replace("5b", "5c");
    let cases: [(&[&str], &str, &str); 16] = [
        (
            &["variables", "delete", "regoin"],
            "no variable \"regoin\"",
            "`region`",
        ),
        (
            &["variables", "update", "regoin", "--value", "x"],
            "no variable `regoin`",
            "`region`",
        ),
        (
            &["variables", "overrides", "list", "regoin"],
            "no variable \"regoin\"",
            "`region`",
        ),
        (
            &["pipelines", "run", "load sale", "--environment", "e"],
            "no published pipeline",
            "`load sales`",
        ),
        (
            &["pipelines", "run", "load sales", "--environment", "prodution"],
            "no environment",
            "`production`",
        ),
        (
            &[
                "artifacts",
                "show",
                "--version-name",
                "2026.11.2",
                "--prefix",
                "sales",
            ],
            "no version",
            "`2026.11.1`",
        ),
        (
            &[
                "artifacts",
                "disable",
                "--version-name",
                "2026.1.1",
                "--prefix",
                "sales",
                "--force",
            ],
            "no version",
            "`2026.11.1`",
        ),
        (&["artifacts", "show", "--prefix", "sale"], "no prefix", "`sales`"),
        (&["tasks", "show", &near], "no task", ID),
        (&["tasks", "messages", &near], "no task", ID),
        (&["tasks", "messages", &near, "--follow"], "no task", ID),
        (&["tasks", "send", &near, "--message", "x"], "no task", ID),
        (
            &["tasks", "send", &near, "--message", "x", "--wait"],
            "no task",
            ID,
        ),
        (&["tasks", "decide", &near, "--approve", "tool-1"], "no task", ID),
        (
            &["tasks", "decide", &near, "--deny", "tool-1", "--wait"],
            "no task",
            ID,
        ),
        (&["tasks", "permissions", &near, "--clear"], "no task", ID),
    ];
    for (command, label, nearest) in cases {
        let output = platform.call(&world).run(command).expect(3);
        output.saying(&[label, "hint: did you mean ", nearest]);
    }
    for command in [
        &["executions", "show", ID][..],
        &["executions", "show", ID, "--wait"],
        &["streaming", "show", ID],
    ] {
        let output = platform.call(&world).run(command).expect(3);
        output.saying(&[
            "the platform has no ",
            ID,
            "hint: check the name, the project id and the base URL",
        ]);
    }
}

#[test]
fn project_that_is_not_there_is_named_with_the_nearest_that_is() {
    let (world, platform) = (World::new(), Platform::new());
    let known = PROJECT.replace("2a10", "2a11");
    let projects = json!([{ "id": known, "name": "Sales" }, { "id": ID, "name": "Other" }]);
    platform.respond_to("GET", "/v1/projects$", list(&projects));
    world.write("e.yaml", "name: production\n");
    world.write("v.yaml", "variables: { region: { type: TEXT, value: eu } }\n");
    let unknown = format!("the platform has no project {PROJECT:?}");
    let text = format!("did you mean `{known}`? run `sluicegate projects list` to list the existing names");
    for command in [
        "pipelines list",
        "environments list",
        "variables list",
        "variables create region",
        "variables update region --value us",
        "variables apply -f v.yaml",
        "tasks list",
        "repositories create --owner me --name r",
    ] {
        let output = platform.call(&world).run(command).expect(3);
        output.saying(&["404", &unknown, &format!("hint: {text}")]);
    }
    // The platform has no task of such a project, either.
    let none = json!({ "tasks": [], "page": 0, "size": 100, "total": 0 });
    platform.respond_to("GET", "/tasks$", answer(&none));
    let output = platform.call(&world).run("tasks list").expect(0);
    output.saying(&[&unknown, &text]);
    // A project that exists is not reported as missing.
    let call = platform
        .call(&world)
        .variable("SLUICEGATE_PROJECT_ID", known.to_uppercase());
    let output = call.run("pipelines list").expect(3);
    assert!(!output.err.contains("has no project"), "{}", output.all());
    assert!(
        !call
            .run(&["tasks", "list"])
            .expect(0)
            .err
            .contains("has no project")
    );
    let named_call = platform.call(&world).variable("SLUICEGATE_PROJECT_ID", "Sales");
    named_call.run("pipelines list").expect(2).saying(&[
        "the project id is not a UUID: the value has 5 characters",
        "hint: pass the project's UUID, which `sluicegate projects list` shows",
    ]);
}

#[test]
fn project_id_that_is_no_uuid_stops_only_commands_that_need_the_project() {
    let world = World::new();
    let empty_list = json!({ "results": [], "tasks": [], "page": 0, "size": 100, "total": 0 });
    let create_secret = format!("secrets create s --agent-id {ID} --key k --value-variable SECRET");
    for command in [
        "projects list",
        "projects create n --warehouse W --agent-deployment-type HYBRID",
        "artifacts list",
        "shared-pipelines list",
        "events export",
        "tasks list --all-projects",
        &create_secret,
        &format!("tasks show {ID}"),
        &format!("tasks stop {ID}"),
        &format!("tasks messages {ID}"),
    ] {
        let platform = always(&answer(&empty_list));
        let output = platform
            .call(&world)
            .variable("SLUICEGATE_PROJECT_ID", "Sales")
            .variable("SECRET", "s3cret")
            .run(command);
        assert!(!output.err.contains("not a UUID"), "{command}: {}", output.all());
        assert!(!platform.requests().is_empty(), "{command}: {}", output.all());
    }
    // Counterpart: a project is needed, or the setting is not a value.
    for (command, project, reason) in [
        ("tasks list", "Sales", "the project id is not a UUID"),
        ("pipelines list", "Sales", "the project id is not a UUID"),
        (
            "repositories create --owner me --name r",
            "Sales",
            "the project id is not a UUID",
        ),
        ("review", "Sales", "the project id is not a UUID"),
        ("projects list", "$PROJECT_ID", "SLUICEGATE_PROJECT_ID"),
    ] {
        let platform = always(&answer(&empty_list));
        let output = platform
            .call(&world)
            .variable("SLUICEGATE_PROJECT_ID", project)
            .run(command)
            .expect(2);
        assert!(output.err.contains(reason), "{command}: {}", output.all());
        assert!(platform.requests().is_empty(), "{command}: {}", output.all());
    }
}

#[test]
fn prefix_under_which_nothing_is_published_is_named() {
    let (world, platform) = (World::new(), Platform::new());
    let version = json!([{ "sharedPipelineIdPrefix": "sales", "versionName": "1", "enabled": true }]);
    let empty_then_all = || in_turn(vec![list(&json!([])), list(&version)]);
    platform.respond_to("GET", "/artifacts$", empty_then_all());
    let output = platform
        .call(&world)
        .run("artifacts list --prefix sale")
        .expect(0);
    // The settings may name the prefix, so `artifacts list` would not show another one.
    insta::assert_snapshot!(output.out, @r#"no version is published under the prefix "sale": did you mean `sales`? pass a published prefix with --prefix: sales"#);
    assert!(!output.err.contains("no version is published"), "{}", output.err);
    let platform = Platform::new();
    platform.respond_to("GET", "/artifacts$", empty_then_all());
    platform
        .call(&world)
        .run("artifacts list --prefix sale -o json")
        .expect(0)
        .saying(&["warning: no version is published under the prefix \"sale\": did you mean `sales`?"]);
}

/// A hint is about the cause, or there is none.
#[test]
fn failure_without_next_step_has_no_general_hint() {
    let world = World::new();
    let output = Call::new(&world.work()).run("provision apply -f none.yaml");
    assert_eq!(output.code, 2);
    assert!(!output.err.contains("hint: "), "{}", output.all());
}

#[test]
fn very_verbose_run_shows_each_request_without_its_secrets() {
    let world = World::new();
    let platform = Platform::new();
    let echo = format!("id-{TOKEN}");
    let refused = ResponseTemplate::new(503).insert_header("x-request-id", "first-1");
    let accepted = list(&json!([])).insert_header("x-request-id", echo.as_str());
    platform.respond_to("GET", NOTHING, in_turn(vec![refused, accepted]));
    let call = platform.call(&world).variable("SLUICEGATE_RETRIES", "1");
    let output = call.run("projects list -vv").expect(0);
    let address = format!("GET {}/v1/projects", platform.server.uri());
    let lines: Vec<&str> = output.err.lines().filter(|line| line.contains(" ms")).collect();
    assert_eq!(lines.len(), 2, "{}", output.err);
    assert!(lines.iter().all(|line| line.contains(&address)), "{lines:?}");
    assert!(lines[0].contains("503 Service Unavailable after "), "{lines:?}");
    assert!(lines[0].ends_with("(request id first-1)"), "{lines:?}");
    assert!(
        lines[1].contains("200 OK after ") && lines[1].contains("(request id id-***)"),
        "{lines:?}"
    );
    // Counterpart: a less verbose run does not show them.
    let output = platform.call(&world).run("projects list -v").expect(0);
    assert!(!output.err.contains("200 OK"), "{}", output.err);
}

#[test]
fn very_verbose_run_shows_request_without_response() {
    let world = World::new();
    let unreachable =
        Call::with_platform(&world.work(), "http://127.0.0.1:9").variable("SLUICEGATE_RETRIES", "0");
    let output = unreachable.run("projects list -vv");
    assert!(
        output.err.contains("GET http://127.0.0.1:9/v1/projects")
            && output.err.contains(": no response after "),
        "{}",
        output.err
    );
    let slow = always(&list(&json!([])).set_delay(Duration::from_secs(20)));
    let call = slow.call(&world).variable("SLUICEGATE_RETRIES", "0");
    let output = call.run("projects list -vv --timeout 1");
    assert!(output.err.contains(": no response after 1"), "{}", output.err);
}

#[test]
fn unusable_404_does_not_report_existing_name_as_missing() {
    let (world, platform) = (World::new(), platform_with_resources());
    world.write(
        ".platform/shared-pipelines.yaml",
        "version: \"1.0\"\npipelines: []\n",
    );
    world.commit("first");
    for command in [
        &["variables", "delete", "region"][..],
        &[
            "variables",
            "update",
            "region",
            "--type",
            "TEXT",
            "--behaviour",
            "SHARED",
            "--value",
            "x",
        ],
        &["pipelines", "run", "load sales", "--environment", "production"],
        &[
            "artifacts",
            "show",
            "--version-name",
            "2026.11.1",
            "--prefix",
            "sales",
        ],
        &["artifacts", "show", "--prefix", "sales"],
        &["artifacts", "diff", "--prefix", "sales"],
        &["tasks", "show", ID],
    ] {
        let output = platform.call(&world).run(command).expect(3);
        assert!(!output.err.contains("the platform has no"), "{}", output.all());
        assert!(!output.err.contains("is enabled"), "{}", output.all());
        output.saying(&[
            "404 Not Found",
            "hint: check the base URL and the ids in the request URL",
        ]);
    }
}

#[test]
fn conflict_of_read_request_is_undecided() {
    let (world, platform) = (World::new(), always(&ResponseTemplate::new(409)));
    for command in ["projects list", &format!("executions show {ID} --wait")] {
        platform.call(&world).run(command).expect(3).saying(&[
            "409 Conflict",
            "another operation may prevent this request: try again",
        ]);
    }
    let world = change(&[("b.orch.yaml", "type: orchestration\n")]);
    let review = platform.call(&world).run("review").expect(3);
    assert!(!review.err.contains("use another name"), "{}", review.all());
    // Counterpart: a name that is taken.
    platform
        .call(&world)
        .run("variables create region --value x")
        .expect(5);
}

#[test]
fn rejected_read_request_has_no_fields_to_correct() {
    let (world, platform) = (World::new(), always(&ResponseTemplate::new(400)));
    for args in [
        "environments list".to_owned(),
        "variables delete region".to_owned(),
        format!("tasks stop {ID}"),
    ] {
        let output = platform.call(&world).run(args.as_str()).expect(3);
        output.saying(&["hint: check the base URL and the values in the request URL"]);
    }
    // Counterpart: a request with fields.
    platform
        .call(&world)
        .run("variables create region --value x")
        .expect(3)
        .saying(&["hint: correct the fields that the platform rejects"]);
}

#[cfg(unix)]
#[test]
fn signal_during_a_change_names_the_request() {
    let (world, platform) = (World::new(), always(&page().set_delay(Duration::from_secs(60))));
    for (command, request) in [
        (
            "variables create region --value x",
            "POST BASE/v1/projects/PROJECT/variables",
        ),
        (
            "artifacts disable 1 --prefix sales --force",
            "PATCH BASE/v1/shared-pipelines/artifacts",
        ),
        ("variables list", ""),
    ] {
        let earlier_count = platform.requests().len();
        let mut child = platform
            .call(&world)
            .command(command)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        platform.wait_for_requests(&mut child, |requests| requests.len() > earlier_count);
        send_signal("TERM", &child.id().to_string());
        let output = child.wait_with_output().unwrap();
        let log = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(143), "{log}");
        let expected_log = match request {
            "" => "warning: terminated\n".to_owned(),
            request => format!(
                "warning: terminated\nwarning: {} may take effect nevertheless: check this before you repeat the command\n",
                request
                    .replace("BASE", &platform.server.uri())
                    .replace("PROJECT", PROJECT)
            ),
        };
        assert_eq!(log, expected_log, "{command}");
    }
}

#[test]
fn timeout_without_wait_limits_the_request() {
    let slow = answer(&json!({ "result": { "status": "RUNNING" } })).set_delay(Duration::from_secs(20));
    let (world, platform) = (World::new(), always(&slow));
    let commands = [
        format!("executions show {ID}"),
        format!("executions cancel {ID}"),
        format!("streaming status {ID}"),
        format!("tasks messages {ID}"),
        "pipelines run p --environment e".to_owned(),
    ];
    at_once(commands, |command| {
        let call = platform.call(&world).variable("SLUICEGATE_RETRIES", "0");
        call.run(format!("{command} --timeout 1"))
            .expect(3)
            .saying(&["no complete response arrived within 1 s"]);
    });
}

#[test]
fn unusable_response_of_token_url_names_the_token_server() {
    let world = World::new();
    let token_url_hint = "hint: check that the token URL (SLUICEGATE_TOKEN_URL) issues tokens";
    for (status, body, texts) in [
        (
            200,
            r#"{"access_token":"x y"}"#,
            ["contains a blank", token_url_hint],
        ),
        (
            200,
            r#"{"access_token":"a","access_token":"b"}"#,
            ["access_token", token_url_hint],
        ),
        (
            500,
            "{}",
            ["500", "hint: try again later: the token server has a problem"],
        ),
        (
            429,
            "{}",
            ["429", "hint: the token server's rate limit is exceeded"],
        ),
        (200, r#"{"access_token":"a"}"#, ["/v1/projects", "hint: "]),
    ] {
        let platform = Platform::new();
        let response = ResponseTemplate::new(status).set_body_raw(body, "application/json");
        platform.respond_to("POST", "/token$", response);
        let output = platform
            .call(&world)
            .without("SLUICEGATE_TOKEN")
            .variable("SLUICEGATE_CLIENT_ID", "id")
            .variable("SLUICEGATE_CLIENT_SECRET", "secret-of-client")
            .variable("SLUICEGATE_TOKEN_URL", format!("{}/token", platform.server.uri()))
            .variable("SLUICEGATE_RETRIES", "0")
            .run("projects list")
            .expect(3);
        assert!(!output.err.contains("x y"), "{}", output.all());
        let has_token_url_hint = output.err.contains(token_url_hint);
        assert_eq!(has_token_url_hint, texts[1] == token_url_hint, "{}", output.all());
        output.saying(&texts);
    }
}
