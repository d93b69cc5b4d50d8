//! Which findings are folded into the finding about a broken link.

use crate::support::{Call, World, check, finding_values};
use serde_json::Value;

const RULES: &str = "rules:\n  - { id: unused-components, enabled: true, enforcementLevel: error }\n";

/// A row of components, and one that no link leads to.
const BASE: &str = "\
type: orchestration
pipeline:
  components:
    Start: { type: start, transitions: { unconditional: [Load] } }
    Load: { type: sql-executor, transitions: { success: [Done] }, parameters: { sql: x, a: 1, b: 2 } }
    Done: { type: end-success }
    Orphan: { type: sql-executor }
";

/// Returns the world with a change that replaces a text of the pipeline with another.
fn change_pipeline(old: &str, new: &str) -> World {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.write("a.orch.yaml", BASE);
    world.commit("base");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b change");
    let head = BASE.replace(old, new);
    assert_ne!(head, BASE);
    world.write("a.orch.yaml", head);
    world.commit("change");
    world
}

/// Returns the level and the message of each finding.
fn list_findings(report: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for file in report["files"].as_array().unwrap() {
        for result in file["results"].as_array().unwrap() {
            for message in finding_values(result, "message") {
                let level = result["enforcement"].as_str().unwrap();
                lines.push(format!("{level}: {}", message.as_str().unwrap()));
            }
        }
    }
    lines
}

#[test]
fn component_without_link_at_base_does_not_follow_from_new_broken_link() {
    let world = change_pipeline("success: [Done]", "success: [Done], failure: [Gone]");
    let findings = list_findings(&check(&world, "").expect(1).json());
    assert_eq!(findings.len(), 2, "{findings:#?}");
    assert!(
        findings[0].starts_with("error: component \"Orphan\" never runs"),
        "{findings:#?}"
    );
    assert!(
        findings[1].ends_with("which is not a component of the pipeline"),
        "{findings:#?}"
    );
}

#[test]
fn component_that_lost_its_link_follows_from_broken_link_beside_another_one() {
    let world = change_pipeline("unconditional: [Load]", "unconditional: [Extract]");
    let findings = list_findings(&check(&world, "").expect(1).json());
    assert_eq!(findings.len(), 2, "{findings:#?}");
    assert!(findings[0].contains("\"Orphan\" never runs"), "{findings:#?}");
    assert!(
        findings[1].ends_with("; 2 other findings about `Done`, `Load` follow from this"),
        "{findings:#?}"
    );
    // The report has the number of these findings, so a waiver can be added for each.
    check(&world, "--report json=r.json").expect(1);
    let add = "waivers add --from r.json --reason legacy";
    Call::new(&world.work())
        .run(add)
        .expect(0)
        .saying(&["4 waivers added"]);
    check(&world, "").expect(0);
}

#[test]
fn consequence_and_raised_level_belong_to_the_link_that_causes_them() {
    let world = change_pipeline("unconditional: [Load]", "unconditional: [Gone, Load]");
    let text = BASE
        .replace("unconditional: [Load]", "unconditional: [Gone, Load]")
        .replace("    Load:", "    Laden:")
        .replace("    Orphan: { type: sql-executor }\n", "");
    world.write("a.orch.yaml", text);
    world.commit("rename");
    let findings = list_findings(&check(&world, "").expect(1).json());
    assert_eq!(findings.len(), 2, "{findings:#?}");
    assert!(
        findings[0].starts_with("warn: component `Start` has a transition to `Gone`"),
        "{findings:#?}"
    );
    assert!(!findings[0].contains("follow"), "{findings:#?}");
    assert!(
        findings[1].starts_with("error: component `Start` has a transition to `Load`"),
        "{findings:#?}"
    );
    assert!(
        findings[1].ends_with("; 2 other findings about `Done`, `Laden` follow from this"),
        "{findings:#?}"
    );
}

#[test]
fn two_broken_links_that_cause_errors_are_in_one_result() {
    let world = change_pipeline("unconditional: [Load]", "unconditional: [Laod]");
    let text = BASE
        .replace("unconditional: [Load]", "unconditional: [Laod]")
        .replace("success: [Done]", "success: [Dnoe]")
        .replace("    Orphan: { type: sql-executor }\n", "");
    world.write("a.orch.yaml", text);
    world.commit("typos");
    let report = check(&world, "").expect(1).json();
    let findings = list_findings(&report);
    assert_eq!(findings.len(), 2, "{findings:#?}");
    assert_eq!(
        report["files"][0]["results"].as_array().unwrap().len(),
        1,
        "{report:#}"
    );
    assert!(
        findings[0].ends_with("about `Load` follows from this"),
        "{findings:#?}"
    );
    assert!(
        findings[1].ends_with("about `Done` follows from this"),
        "{findings:#?}"
    );
}

#[test]
fn unlinked_component_does_not_follow_from_broken_link_of_new_pipeline() {
    let world = change_pipeline("unconditional: [Load]", "unconditional: [Load, Orphan]");
    let text = BASE.replace("success: [Done]", "success: [Done], failure: [Gone]");
    world.write("b.orch.yaml", text);
    world.commit("add");
    let findings = list_findings(&check(&world, "").expect(1).json());
    assert_eq!(findings.len(), 2, "{findings:#?}");
    assert!(findings[0].contains("\"Orphan\" never runs"), "{findings:#?}");
}
