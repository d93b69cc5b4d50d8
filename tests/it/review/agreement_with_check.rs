//! `review` by the local platform and `check` of the same commit agree, rule by rule, on every rule and every error.
//!
//! Endpoint: POST /v1/projects/{projectId}/reviews

use crate::support::{Call, PROJECT, RULES_FILE, ServerProcess, TOKEN, World, orchestration_text};
use serde_json::Value;
use std::collections::BTreeSet;

/// All rules at both levels, strict enough that some pipeline below violates each rule and another one passes it.
const STRICT: &str = "\
rules:
- { id: minimum-components, enabled: true, enforcementLevel: error, config: { minComponents: 2 } }
- { id: maximum-components, enabled: true, enforcementLevel: warn, config: { maxComponents: 4 } }
- { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '[A-Z].*' } }
- { id: unused-components, enabled: true, enforcementLevel: warn }
- { id: copied-variables, enabled: true, enforcementLevel: error }
- { id: start-and-end-components, enabled: true, enforcementLevel: error }
- { id: maximum-outputs, enabled: true, enforcementLevel: warn, config: { maxOutputs: 1 } }
- { id: end-output-components, enabled: true, enforcementLevel: error }
";

/// Rules files that are invalid in part or completely; `None` stands for a missing file.
const BROKEN: [Option<&str>; 4] = [
    None,
    Some("rules: nothing\n"),
    Some("rules: []\n"),
    Some(
        "\
rules:
- { id: minimum-components, enabled: true, enforcementLevel: error, config: { minComponents: many } }
- { id: maximum-components, enabled: true, enforcementLevel: fatal, config: { maxComponents: 4 } }
- { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '(' } }
- { id: copied-variables, enabled: true, enforcementLevel: error }
- { id: copied-variables, enabled: true, enforcementLevel: warn }
- { id: no-such-rule, enabled: true, enforcementLevel: error }
",
    ),
];

const EMPTY_PATTERN: &str = "rules: [{ id: component-naming-convention, enabled: true, enforcementLevel: warn, config: { regexMatchPattern: '' } }]\n";

const TRANSFORMATION: &str = "\
type: transformation
pipeline:
  components:
    Orders:
      type: table-input
    clean \"them\":
      type: filter
      sources: [Orders]
    Write:
      type: rewrite-table
      sources: [Orders]
    Write more:
      type: table-output-v2
      sources: [Orders]
    Alone:
      type: filter
  variables:
    day:
      metadata: { type: TEXT, scope: COPIED }
      defaultValue: ''
    Orders:
      metadata: { type: TEXT, scope: COPIED }
";

const ITERATING: &str = "\
# A comment, so that lines do not begin at once.
type: orchestration
pipeline:
  components:
    Start:
      type: start
      transitions:
        unconditional: [Each]
    Each:
      type: fixed-iterator
      parameters: { componentName: Each, concurrency: Concurrent, variablesToIterate: [day] }
      iterationTarget: Work
    Work:
      type: run-transformation
    Lost:
      type: sql-executor
  variables:
    day: { metadata: { type: TEXT, scope: COPIED } }
    hour: { metadata: { type: TEXT, scope: COPIED } }
";

/// Writes pipelines that violate and pass every rule, and files that are not pipelines.
fn write_pipelines(world: &World) {
    world.write("good.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.write(
        "bad/names ü, \"quoted\".orch.yaml",
        orchestration_text(&["start", "load: it", "a\tb", "::error::x", "Done"]),
    );
    world.write("small.orch.yaml", orchestration_text(&["Start"]));
    world.write(
        "no start.orch.yaml",
        "type: orchestration\npipeline:\n  components:\n    Lone: { type: sql-executor }\n",
    );
    world.write("iterating.orch.yaml", ITERATING);
    world.write("flow.tran.yaml", TRANSFORMATION);
    world.write("crlf.tran.yaml", TRANSFORMATION.replace('\n', "\r\n"));
    world.write("no components.tran.yaml", "type: transformation\npipeline: {}\n");
    world.write(
        "broken.tran.yaml",
        "type: transformation\npipeline:\n  components: [\n",
    );
    world.write(
        "twice.orch.yaml",
        "type: orchestration\npipeline: {}\npipeline: {}\n",
    );
    world.write("bytes.orch.yaml", b"type: orchestration\npipeline: \xff\n");
    world.write("empty.orch.yaml", "");
}

/// Returns a report without the parts that differ between the engines: engine, origin, context and times.
fn comparable_report(mut report: Value) -> Value {
    let object = report.as_object_mut().unwrap();
    for differs in ["engine", "context", "startedAt", "elapsedNanos", "failedBatches"] {
        object.remove(differs);
    }
    for file in report["files"].as_array_mut().unwrap() {
        for result in file["results"].as_array_mut().unwrap() {
            result.as_object_mut().unwrap().remove("origin");
        }
    }
    report
}

fn error_types(report: &Value, into: &mut BTreeSet<String>) {
    let files = report["files"].as_array().unwrap();
    let results = files.iter().flat_map(|file| file["results"].as_array().unwrap());
    into.extend(results.filter_map(|result| result["errorType"].as_str().map(str::to_owned)));
}

#[test]
fn review_and_check_of_commit_have_equal_findings() {
    let world = World::new();
    write_pipelines(&world);
    let project = format!("{PROJECT}={}", world.remote().display());
    let token = format!("{TOKEN}=admin");
    let mut server = None;
    let mut errors = BTreeSet::new();
    let files = std::iter::once(Some(STRICT))
        .chain([Some(EMPTY_PATTERN)])
        .chain(BROKEN);
    for rules in files {
        match rules {
            Some(rules) => world.write(RULES_FILE, rules),
            None => std::fs::remove_file(world.work().join(RULES_FILE)).unwrap(),
        }
        world.commit("rules");
        world.push();
        world.git("remote set-head origin main");
        let server = server.get_or_insert_with(|| {
            ServerProcess::start(world.path(), &["--project", &project, "--token", &token])
        });
        let mut call = Call::with_platform(&world.work(), &server.url).variable("SLUICEGATE_BRANCH", "main");
        if rules.is_none() {
            // A local check without a rules file evaluates the default rules, which a review does not.
            call = call.variable("CI", "true");
        }
        let review = call.run("review --all --report json=-");
        let check = call.run("check --all --head HEAD --report json=-");
        let on_disk = call.run("check --all --report json=-");
        assert_eq!(
            review.code,
            check.code,
            "{rules:?}: {}{}",
            review.all(),
            check.all()
        );
        assert_eq!(
            comparable_report(check.json()),
            comparable_report(on_disk.json()),
            "{rules:?}"
        );
        let reviewed = comparable_report(review.json());
        assert_eq!(reviewed, comparable_report(check.json()), "{rules:?}");
        if rules == Some(STRICT) {
            every_rule_is_kept_and_broken(&check.json());
        }
        error_types(&check.json(), &mut errors);
    }
    assert_eq!(errors.len(), 10, "{errors:?}");
}

/// The text about the component `Send "mail"` may be a truncated text about the other one, so its subject is unknown.
#[test]
fn review_applies_waiver_of_component_whose_name_contains_another_quoted_name() {
    let transformation = "type: transformation\npipeline:\n  components:\n    Send \"mail\":\n      type: filter\n    \
                          Send \"mail\" u:\n      type: filter\n";
    let world = World::new().with_file("a.tran.yaml", transformation).with_file(
        RULES_FILE,
        "rules: [{ id: unused-components, enabled: true, enforcementLevel: error }]\n",
    );
    let project = format!("{PROJECT}={}", world.remote().display());
    let token = format!("{TOKEN}=admin");
    let server = ServerProcess::start(world.path(), &["--project", &project, "--token", &token]);
    let call = Call::with_platform(&world.work(), &server.url).variable("SLUICEGATE_BRANCH", "main");
    for name in ["Send \"mail\"", "Send \"mail\" u"] {
        let args = ["unused-components", "a.tran.yaml", name, "--reason", "later"];
        call.run(("waivers add", &args)).expect(0);
    }
    world.commit("waivers");
    world.push();
    world.git("remote set-head origin main");
    call.run("check --all")
        .expect(0)
        .logging(&["no findings (2 waived)"]);
    let output = call
        .run("review --all")
        .expect(1)
        .logging(&["1 waived finding", "--> a.tran.yaml:4"]);
    assert!(!output.all().contains("without a finding"), "{}", output.all());
    // Without findings, the waivers are unneeded.
    world.write(
        "a.tran.yaml",
        transformation.replace("    Send \"mail\":\n      type: filter\n", ""),
    );
    world.commit("fix");
    world.push();
    call.run("review --all")
        .expect(0)
        .logging(&["2 without a finding"]);
}

fn every_rule_is_kept_and_broken(report: &Value) {
    let files = report["files"].as_array().unwrap();
    assert_eq!(files.len(), 12);
    let results: Vec<&Value> = files
        .iter()
        .flat_map(|file| file["results"].as_array().unwrap())
        .collect();
    for rule in sluicegate_pipelines::rules::registry() {
        let id = rule.documentation().id;
        for status in ["PASSED", "FAILED"] {
            assert!(
                results.iter().any(|r| r["rule"] == id && r["status"] == status),
                "{id} {status}"
            );
        }
    }
    let on_a_line = results
        .iter()
        .filter(|r| r["status"] == "FAILED" && r["findings"][0]["line"].as_u64() > Some(1))
        .count();
    assert!(on_a_line > 8, "violations stand on the lines of what they name");
}
