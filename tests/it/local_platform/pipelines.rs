use super::{Local, column};
use crate::support::send_signal;
use std::process::Stdio;

const RUN: [&str; 5] = ["pipelines", "run", "load", "--environment", "test"];

// Endpoint: GET /v1/projects/{projectId}/published-pipelines
#[test]
fn list_shows_what_is_on_the_default_branch() {
    let local = Local::new();
    let mut names = column(&local.json("pipelines list"), "name");
    names.sort_unstable();
    assert_eq!(names, ["broken", "load"]);
    let output = local.run("pipelines list").expect(0);
    assert!(output.out.contains("PUBLISHED"), "{}", output.all());
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
// Endpoint: GET /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
#[test]
fn run_follows_to_the_end_marker() {
    let local = Local::with_environments();
    let wait = "--wait --timeout 60 --junit run.xml";
    let output = local.run((&RUN[..], wait)).expect(0);
    assert!(
        output.out.contains("SUCCESS") && output.out.contains("duration"),
        "{}",
        output.all()
    );
    assert!(output.err.contains("RUNNING"), "{}", output.all());
    let junit = || std::fs::read_to_string(local.world.work().join("run.xml")).unwrap();
    assert!(junit().contains("failures=\"0\""), "{}", junit());
    let broken = "pipelines run broken --environment test";
    local.run((broken, wait)).expect(8).saying(&["ended in FAILED"]);
    assert!(junit().contains("<failure"), "{}", junit());
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[test]
fn run_needs_a_published_pipeline_and_an_environment() {
    let local = Local::with_environments();
    for (name, environment) in [("none", "test"), ("load", "none")] {
        local
            .run(&["pipelines", "run", name, "--environment", environment])
            .expect(3)
            .saying(&["404"]);
    }
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[test]
fn run_holds_its_tag_until_it_is_cancelled() {
    let local = Local::with_environments();
    let tagged = (&RUN, "--tag nightly");
    let started = local.json(&tagged);
    let id = started["pipelineExecutionId"].as_str().unwrap();
    local.run(&tagged).expect(5).saying(&["409", "nightly"]);
    // Without `--wait`, the clock stands still, so the execution cannot end before it is cancelled.
    local.run(format!("executions cancel {id}")).expect(0);
    let output = local.json(format!("executions cancel {id} --wait"));
    assert_eq!(output["result"]["status"], "CANCELLED");
    assert_eq!(
        local.json(&["executions", "show", id])["result"]["status"],
        "CANCELLED"
    );
    local.run(format!("executions show {id} --wait")).expect(8);
    local.run(&tagged).expect(0);
}

// Endpoint: GET /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
// Endpoint: PATCH /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
#[test]
fn executions_show_and_cancel_leave_one_that_ended_as_it_is() {
    let local = Local::with_environments();
    let output = local.json((&RUN[..], "--wait --timeout 60"));
    let id = output["pipelineExecutionId"].as_str().unwrap();
    local.run(format!("executions cancel {id} --wait")).expect(0);
    let document = local.json(format!("executions show {id}"));
    assert_eq!(document["result"], output["result"]);
    assert!(document["result"]["startedAt"].is_string() && document["result"]["finishedAt"].is_string());
    let unknown = "7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d";
    local
        .run(&["executions", "show", unknown])
        .expect(3)
        .saying(&["404"]);
}

#[cfg(unix)]
// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
// Endpoint: PATCH /v1/projects/{projectId}/pipeline-executions/{pipelineExecutionId}
#[test]
fn run_that_is_interrupted_leaves_nothing_running() {
    let local = Local::with_environments();
    let args = (&RUN, "--wait --cancel-on-interrupt -o json");
    let mut command = local.call().command(&args);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The status RUNNING is printed after the first poll.
    let mut text = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("RUNNING") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut text, &mut line).unwrap() > 0);
    }
    send_signal("TERM", &child.id().to_string());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["result"]["status"], "CANCELLED");
}

// Endpoint: POST /v1/projects/{projectId}/pipeline-executions
#[test]
fn run_with_variables_shows_them_in_the_message() {
    let local = Local::with_environments();
    local.world.write("tables.yaml", "- [orders, full]\n");
    let variables = "--variable region=eu --grid tables=tables.yaml --wait --timeout 60";
    let output = local.json((&RUN[..], variables));
    let message = output["result"]["message"].as_str().unwrap();
    assert!(
        message.ends_with(r#" with region = "eu", tables = [["orders","full"]]"#),
        "{message}"
    );
}
