//! An interrupt of the run: the task does not go on unattended.

#![cfg(unix)]

use super::{FIX, agent_project, only_task};
use crate::support::send_signal;
use sluicegate_local_platform::AgentBehavior;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

#[test]
fn agent_fix_whose_remote_is_gone_reports_the_failed_task() {
    let local = agent_project(AgentBehavior::NeverStops);
    let mut command = local.call().command((FIX, "--timeout 3"));
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let is_running = |line: &str| line.contains("the task is RUNNING");
    assert!(lines.by_ref().any(|line| is_running(&line.unwrap())));
    std::fs::rename(local.world.remote(), local.world.path().join("gone")).unwrap();
    let text: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(8), "{text:?}");
    assert!(
        text.iter().any(|line| line.contains("did not end within 3 s")),
        "{text:?}"
    );
}

// Endpoint: POST /v1/ai/agents/tasks/{taskId}/stop
#[test]
fn interrupted_agent_fix_stops_the_task() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let local = agent_project(AgentBehavior::NeverStops);
        let mut command = local.call().command(FIX);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        // The clock of the platform stands still, so the task is running.
        let is_running = |line: &str| line.contains("the task is RUNNING");
        assert!(lines.by_ref().any(|line| is_running(&line.unwrap())));
        send_signal(signal, &child.id().to_string());
        let text: Vec<String> = lines.map(Result::unwrap).collect();
        assert_eq!(child.wait().unwrap().code(), Some(code), "{text:?}");
        assert!(
            text.iter()
                .any(|line| line.contains("interrupted: stopping task")),
            "{text:?}"
        );
        assert_eq!(only_task(&local)["status"], "STOPPING");
    }
}
