use super::Local;
use std::process::Stdio;

const RUN: [&str; 5] = ["pipelines", "run", "load", "--environment", "test"];

#[test]
fn list_shows_what_is_on_the_default_branch() {
    let local = Local::new();
    let shown = local.run(&["pipelines", "list", "-o", "json"]).expect(0).json();
    let mut names: Vec<&str> = shown["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["broken", "load"]);
}

#[test]
fn run_follows_to_the_end_marker() {
    let local = Local::with_environments();
    let ended = local
        .run(&[&RUN[..], &["--wait", "--timeout", "60"]].concat())
        .expect(0);
    assert!(ended.out.contains("SUCCESS"), "{}", ended.all());
    local
        .run(&["pipelines", "run", "broken", "--environment", "test", "--wait"])
        .expect(8)
        .saying(&["ended in FAILED"]);
    local
        .run(&["pipelines", "run", "none", "--environment", "test"])
        .expect(3);
    local
        .run(&["pipelines", "run", "load", "--environment", "none"])
        .expect(3);
}

#[test]
fn run_holds_its_tag_until_it_is_cancelled() {
    let local = Local::with_environments();
    let tagged = [&RUN[..], &["--tag", "nightly", "-o", "json"]].concat();
    let started = local.run(&tagged).expect(0).json();
    let id = started["pipelineExecutionId"].as_str().unwrap();
    local.run(&tagged).expect(5).saying(&["409"]);
    let ended = local
        .run(&["executions", "cancel", id, "--wait", "-o", "json"])
        .expect(0)
        .json();
    assert_eq!(ended["result"]["status"], "CANCELLED");
    assert_eq!(
        local
            .run(&["executions", "show", id, "-o", "json"])
            .expect(0)
            .json()["result"]["status"],
        "CANCELLED"
    );
    local.run(&["executions", "show", id, "--wait"]).expect(8);
    local.run(&tagged).expect(0);
}

#[cfg(unix)]
#[test]
fn run_that_is_interrupted_leaves_nothing_running() {
    let local = Local::with_environments();
    let args = [&RUN[..], &["--wait", "--cancel-on-interrupt", "-o", "json"]].concat();
    let mut command = local.call().command(&args);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // It says RUNNING once it has looked for the first time.
    let mut said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("RUNNING") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut said, &mut line).unwrap() > 0);
    }
    let kill = std::process::Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(143));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["result"]["status"], "CANCELLED");
}
