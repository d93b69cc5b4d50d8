//! The HTML page of a review: what is at its top, its order, and what it is without style sheet and script.

use crate::support::picture_geometry::elements_of_class;
use crate::support::{Call, World, bad_pipeline, change, orchestration_text, project};
use roxmltree::{Document, Node};
use serde_json::Value;
use std::collections::HashSet;

/// Runs a check with these arguments and returns the page as XML text.
fn check_to_page(world: &World, args: &str, exit_code: i32) -> String {
    Call::new(&world.work())
        .run(("check --report html=page.html", args))
        .expect(exit_code);
    let page = std::fs::read_to_string(world.work().join("page.html")).unwrap();
    page.strip_prefix("<!doctype html>\n").unwrap().to_owned()
}

fn text_of(node: Node<'_, '_>) -> String {
    node.descendants()
        .filter(Node::is_text)
        .filter_map(|node| node.text())
        .collect()
}

/// Creates a project whose branch changes a pipeline, without a finding.
fn changed_world() -> World {
    let world = project();
    world.git("checkout -q -b change");
    world.write("a.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world
}

#[test]
fn report_page_has_commit_branch_base_and_time_under_title() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let text = check_to_page(&world, &format!("--head {}", world.git("rev-parse HEAD")), 1);
    let page = Document::parse(&text).unwrap();
    let heading = page.descendants().find(|node| node.has_tag_name("h1")).unwrap();
    let facts = text_of(heading.next_sibling_element().unwrap());
    let short = |revision: &str| world.git(format!("rev-parse {revision}").as_str())[..12].to_owned();
    for fact in [
        "Branchchange",
        &short("HEAD"),
        &format!("Changes since{}", short("main")),
        "Started20",
    ] {
        assert!(facts.contains(fact), "{fact}: {facts}");
    }
}

#[test]
fn deletion_marks_the_finding_of_its_own_component_only() {
    let last_line = "      description: last line\n";
    let head = orchestration_text(&["Start", "bad name", "Done"]);
    let position = head.find("    \"Done\"").unwrap();
    let neighbor =
        "    \"Extra\":\n      type: sql-executor\n      parameters: { componentName: \"Extra\" }\n";
    for (deleted_lines, is_marked) in [(neighbor, false), (last_line, true)] {
        let world = project();
        let mut base = head.clone();
        base.insert_str(position, deleted_lines);
        world.write("b.orch.yaml", base);
        world.commit("base");
        world.push();
        world.git("checkout -q -b change");
        world.write("b.orch.yaml", &head);
        world.commit("delete");
        let page = check_to_page(&world, "", 1);
        assert_eq!(page.contains(">changed here<"), is_marked, "{deleted_lines}");
    }
}

#[test]
fn passed_page_shows_changes_before_findings() {
    let world = changed_world();
    let text = check_to_page(&world, "", 0);
    let changes = text.find("id=\"changes\"").unwrap();
    assert!(changes < text.find("id=\"findings\"").unwrap());
    let page = Document::parse(&text).unwrap();
    assert_eq!(
        elements_of_class(page.root(), "sg-picture")
            .filter(|node| elements_of_class(*node, "component").next().is_some())
            .count(),
        1
    );
    // Of a failed review, the findings come first.
    world.write("b.orch.yaml", bad_pipeline());
    let text = check_to_page(&world, "", 1);
    assert!(text.find("id=\"findings\"").unwrap() < text.find("id=\"changes\"").unwrap());
}

#[test]
fn accepted_gate_change_is_above_findings_and_excluded_files_are_below() {
    let world = change(&[
        (
            "sluicegate.yaml",
            "review: { fail-on: error }\nexclude: [old/**]\n",
        ),
        ("old/a.orch.yaml", &bad_pipeline()),
        ("b.orch.yaml", &bad_pipeline()),
    ]);
    let text = check_to_page(&world, "--exclude old/**", 1);
    let findings = text.find("id=\"findings\"").unwrap();
    assert!(text.find("Changes to the gate configuration").unwrap() < findings);
    assert!(text.find("<h3>Excluded</h3>").unwrap() > findings);
}

#[test]
fn page_of_many_changed_files_shows_first_pictures_open() {
    let world = project();
    world.git("checkout -q -b change");
    for number in 0..8 {
        world.write(&format!("{number}.orch.yaml"), bad_pipeline());
    }
    let text = check_to_page(&world, "", 1);
    let page = Document::parse(&text).unwrap();
    let are_open: Vec<bool> = elements_of_class(page.root(), "what")
        .map(|node| node.attribute("open").is_some())
        .collect();
    assert_eq!(are_open, [true, true, true, true, true, false, false, false]);
}

/// Returns whether all folds around the node, up to `top`, are open.
fn is_in_open_folds(node: Node<'_, '_>, top: Node<'_, '_>) -> bool {
    let mut ancestors = node.ancestors().take_while(|ancestor| *ancestor != top);
    ancestors.all(|ancestor| !ancestor.has_tag_name("details") || ancestor.attribute("open").is_some())
}

#[test]
fn failed_page_folds_long_list_above_findings_and_keeps_picture_open() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("short.orch.yaml", bad_pipeline());
    let names: Vec<String> = (0..20).map(|number| format!("Load {number}")).collect();
    let steps: Vec<&str> = names.iter().map(String::as_str).collect();
    world.write(
        "long.orch.yaml",
        orchestration_text(&[&["Start", "load it"], &steps[..], &["Done"]].concat()),
    );
    let text = check_to_page(&world, "", 1);
    let page = Document::parse(&text).unwrap();
    for (path, is_open) in [("short.orch.yaml", true), ("long.orch.yaml", false)] {
        let mut cards = elements_of_class(page.root(), "group");
        let card = cards
            .find(|node| text_of(node.first_element_child().unwrap()).contains(path))
            .unwrap();
        let changes = elements_of_class(card, "what").next().unwrap();
        assert!(changes.attribute("open").is_some(), "{path}");
        let picture = elements_of_class(changes, "sg-picture").next().unwrap();
        assert!(is_in_open_folds(picture, changes), "{path}");
        let list = elements_of_class(changes, "told").next().unwrap();
        assert_eq!(is_in_open_folds(list, changes), is_open, "{path}");
    }
}

#[test]
fn finding_has_fingerprint_of_other_formats_as_anchor() {
    let world = change(&[(
        "b.orch.yaml",
        &orchestration_text(&["Start", "load it", "load it too", "Done"]),
    )]);
    let text = check_to_page(
        &world,
        "--report sarif=report.sarif --report gitlab=quality.json",
        1,
    );
    let page = Document::parse(&text).unwrap();
    let anchors: HashSet<&str> = page
        .descendants()
        .filter(|node| node.has_tag_name("article"))
        .filter_map(|node| node.attribute("id"))
        .collect();
    let read_json = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(world.work().join(name)).unwrap()).unwrap()
    };
    let issues = read_json("quality.json");
    let fingerprints: Vec<String> = issues
        .as_array()
        .unwrap()
        .iter()
        .map(|issue| format!("finding-{}", issue["fingerprint"].as_str().unwrap()))
        .collect();
    assert_eq!(anchors.len(), fingerprints.len());
    assert!(
        anchors
            .iter()
            .all(|anchor| fingerprints.iter().any(|fingerprint| fingerprint == anchor))
    );
    // Another line before the component does not change the anchor.
    world.write(
        "b.orch.yaml",
        format!(
            "# a comment\n{}",
            orchestration_text(&["Start", "load it", "load it too", "Done"])
        ),
    );
    let later = check_to_page(&world, "", 1);
    for fingerprint in fingerprints {
        assert!(
            later.contains(&format!("href=\"#{fingerprint}\"")),
            "{fingerprint}"
        );
    }
}

#[test]
fn page_without_style_and_script_is_readable() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let text = check_to_page(&world, "", 1);
    let page = Document::parse(&text).unwrap();
    // A drawing without a size is as wide as the page, and pushes the verdict off the screen.
    for svg in page.descendants().filter(|node| node.tag_name().name() == "svg") {
        assert!(svg.attribute("width").is_some() && svg.attribute("height").is_some());
    }
    for shape in ["rect", "circle", "path", "text"] {
        for node in page.descendants().filter(|node| node.tag_name().name() == shape) {
            assert!(node.attribute("fill").is_some(), "{node:?}");
        }
    }
    // Controls that need the script are hidden until it runs.
    let controls: Vec<_> = elements_of_class(page.root(), "live").collect();
    assert!(controls.len() > 1 && controls.iter().all(|node| node.attribute("hidden").is_some()));
    for excerpt in page.descendants().filter(|node| node.has_tag_name("pre")) {
        assert!(text_of(excerpt).lines().count() > 1, "{}", text_of(excerpt));
    }
}

#[test]
fn names_on_page_are_code_and_labels_are_unique() {
    let world = change(&[
        ("b.orch.yaml", &bad_pipeline()),
        ("c.orch.yaml", &bad_pipeline()),
        ("d.orch.yaml", &orchestration_text(&["Start", "Done"])),
    ]);
    world.git("rm -q .platform/config/pipeline_quality_rules.yaml");
    let text = check_to_page(&world, "--all", 1);
    let page = Document::parse(&text).unwrap();
    let shown: String = page
        .descendants()
        .filter(|node| {
            node.is_text()
                && node
                    .parent_element()
                    .is_none_or(|parent| !["style", "script"].contains(&parent.tag_name().name()))
        })
        .filter_map(|node| node.text())
        .collect();
    assert!(!shown.contains('`'), "{shown}");
    let mut labels = HashSet::new();
    for node in page
        .descendants()
        .filter(|node| node.attribute("role") != Some("img"))
    {
        let label = node
            .attribute("aria-label")
            .or_else(|| (node.tag_name().name() == "title").then(|| node.text()).flatten());
        if let Some(label) = label.filter(|_| {
            node.parent_element()
                .is_none_or(|parent| parent.tag_name().name() != "g")
        }) {
            assert!(labels.insert(label), "{label}");
        }
    }
}

#[test]
fn excerpt_of_component_ends_before_the_next_component() {
    let pipeline = "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    bad_1:\n      type: start\n    \
                    Next:\n      type: end-success\n";
    let world = change(&[("b.orch.yaml", pipeline)]);
    let text = check_to_page(&world, "", 1);
    let page = Document::parse(&text).unwrap();
    let excerpts = page
        .descendants()
        .filter(|node| node.has_tag_name("pre"))
        .map(text_of);
    let excerpt = excerpts.into_iter().find(|text| text.contains("bad_1")).unwrap();
    assert!(excerpt.contains("type: start"), "{excerpt}");
    assert!(!excerpt.contains("Next"), "{excerpt}");
}
