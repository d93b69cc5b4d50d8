//! The work of a check is bounded: no message repeats a text that the change contains once, and no call repeats the
//! work of another.

use crate::support::{Call, World, finding_values, orchestration_text, project};
use serde_json::Value;
use std::fmt::Write as _;

/// Longer than any message of a check.
const MESSAGE: usize = 3000;

/// Returns an orchestration in which one component has these parameters and transitions.
fn with_component(name: &str, rest: &str) -> String {
    let text = orchestration_text(&["Start", "Load", "Done"]);
    format!("{text}    ? {name}\n    :\n      type: run-orchestration\n{rest}")
}

/// Returns the messages of the project checks on the change.
fn messages(world: &World, rule: &str) -> Vec<String> {
    let output = Call::new(&world.work()).run("check --base origin/main --report json=- --quiet");
    let report: Value = serde_json::from_str(&output.out).unwrap_or_else(|_| panic!("{}", output.all()));
    let files = report["files"].as_array().unwrap().iter();
    let results = files.flat_map(|file| file["results"].as_array().unwrap());
    let texts = results
        .filter(|result| result["rule"] == rule)
        .flat_map(|result| finding_values(result, "message"));
    texts.map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn unpushed_change(files: &[(String, String)]) -> World {
    let world = project();
    world.git("checkout -q -b change");
    for (path, text) in files {
        world.write(path, text);
    }
    world.commit("change");
    world
}

#[test]
fn messages_about_component_with_long_name_are_short() {
    let name = "N".repeat(20_000);
    let mut rest = "      transitions:\n        success:\n".to_owned();
    for number in 0..50 {
        let _ = writeln!(rest, "        - X{number}");
    }
    rest.push_str(
        "      parameters:\n        orchestrationJob: callee.orch.yaml\n        setScalarVariables:\n",
    );
    for number in 0..50 {
        let _ = writeln!(rest, "        - [V{number}, 1]");
    }
    let world = unpushed_change(&[
        ("caller.orch.yaml".to_owned(), with_component(&name, &rest)),
        (
            "callee.orch.yaml".to_owned(),
            orchestration_text(&["Start", "Load", "Done"]),
        ),
    ]);
    for rule in ["project/link", "project/argument"] {
        let messages = messages(&world, rule);
        assert_eq!(messages.len(), 50, "{rule}");
        for message in messages {
            assert!(message.len() < MESSAGE, "{rule}: {} bytes", message.len());
            assert!(message.contains("NNN…NNN"), "{message}");
        }
    }
}

#[test]
fn messages_about_long_paths_are_short() {
    let folder = ["p"; 6].map(|part| part.repeat(200)).join("/");
    let mut files: Vec<(String, String)> = (0..20)
        .map(|number| {
            let path = format!("{folder}/{number}/main.orch.yaml");
            let next = format!("{folder}/{}/main.orch.yaml", (number + 1) % 20);
            let parameters = format!("      parameters:\n        orchestrationJob: {next}\n");
            (path, with_component("Next", &parameters))
        })
        .collect();
    let parameters = "      parameters:\n        orchestrationJob: main\n";
    files.push(("caller.orch.yaml".to_owned(), with_component("Call", parameters)));
    let world = unpushed_change(&files);
    let calls = messages(&world, "project/call");
    assert_eq!(calls.len(), 1);
    assert!(calls[0].ends_with("and 17 more have that name"), "{}", calls[0]);
    let circles = messages(&world, "project/cycle");
    assert_eq!(circles.len(), 20);
    for message in calls.iter().chain(&circles) {
        assert!(message.len() < 2 * MESSAGE, "{} bytes", message.len());
    }
    assert!(circles[0].contains("→ 8 more →"), "{}", circles[0]);
}

#[test]
fn dead_call_repeated_many_times_gets_same_hint_each_time() {
    let mut text = orchestration_text(&["Start", "Load", "Done"]);
    for number in 0..60 {
        let _ = write!(
            text,
            "    Call {number}:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: sales/laod\n"
        );
    }
    let world = unpushed_change(&[
        ("caller.orch.yaml".to_owned(), text),
        (
            "sales/load.orch.yaml".to_owned(),
            orchestration_text(&["Start", "Load", "Done"]),
        ),
    ]);
    let calls = messages(&world, "project/call");
    assert_eq!(calls.len(), 60);
    for message in calls {
        assert!(
            message.ends_with("did you mean `sales/load.orch.yaml`?"),
            "{message}"
        );
    }
}

#[test]
fn names_of_usual_length_are_shown_in_full() {
    let name = "N".repeat(250);
    let parameters = format!(
        "      parameters:\n        orchestrationJob: {}\n",
        "t".repeat(250)
    );
    let world = unpushed_change(&[("caller.orch.yaml".to_owned(), with_component(&name, &parameters))]);
    let calls = messages(&world, "project/call");
    assert!(
        calls[0].starts_with(&format!(
            "component `{name}` calls the orchestration `{}`",
            "t".repeat(250)
        )),
        "{}",
        calls[0]
    );
}
