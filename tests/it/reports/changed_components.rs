//! The list of changes in the reports of `check`, `review` and `report`.

use crate::support::{
    Arguments, Call, Platform, ProgramOutput, World, orchestration_text, passed_results, project,
    respond_for_each, scratch,
};
use serde_json::{Value, json};

const CALLER: &str = "type: orchestration
pipeline:
  components:
    Start: { type: start, transitions: { unconditional: [Run] } }
    Run: { type: run-orchestration, parameters: { orchestrationJob: load } }
";

/// Creates a `main` with a pipeline that two others call; the branch changes it, moves another, and removes a third.
fn world_with_changed_callers() -> World {
    let world = project();
    world.write("load.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.write("one.orch.yaml", CALLER);
    world.write("two.orch.yaml", CALLER);
    world.write("gone.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("past");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "load.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    let moved = "design: { components: { Start: { position: { x: 1, y: 2 } } } }\n";
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]) + moved);
    world.git("rm -q gone.orch.yaml");
    world.commit("change");
    world
}

fn check_as_text(world: &World, args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(("check", args))
}

fn read_report_text(world: &World, name: &str) -> String {
    std::fs::read_to_string(world.work().join(name)).unwrap()
}

#[test]
fn json_report_has_each_change_in_numbers() {
    let world = world_with_changed_callers();
    let report = check_as_text(&world, "--report json=-").expect(1).json();
    let numbers =
        |added: u8, removed: u8| json!({ "added": added, "removed": removed, "renamed": 0, "modified": 0 });
    let changes = report["changes"].as_array().unwrap();
    let lines: Vec<_> = changes
        .iter()
        .map(|one| {
            (
                one["path"].as_str().unwrap(),
                one["change"].as_str().unwrap(),
                &one["calledBy"],
            )
        })
        .collect();
    let expected = [
        ("a.orch.yaml", "layout", &json!(0)),
        ("gone.orch.yaml", "removed", &json!(0)),
        ("load.orch.yaml", "modified", &json!(2)),
    ];
    assert_eq!(lines, expected);
    let load = &changes[2];
    assert_eq!(load["callers"], json!(["one.orch.yaml", "two.orch.yaml"]));
    assert_eq!(load["previousPath"], Value::Null);
    assert_eq!(load["variables"], numbers(0, 0));
    let components = &load["components"];
    assert_eq!(
        (
            components["added"].as_u64(),
            components["removed"].as_u64(),
            components["renamed"].as_u64()
        ),
        (Some(0), Some(0), Some(1)),
        "{load:#}"
    );
    // A run of all pipelines has no comparison, and with `--changes none` no changes are reported.
    for args in [&["--all"][..], &["--changes", "none"]] {
        let report = check_as_text(&world, (args, "--report json=-")).expect(1).json();
        assert_eq!(report["changes"], Value::Null, "{args:?}");
    }
    let by_variable = Call::new(&world.work()).variable("SLUICEGATE_CHANGES", "none");
    let report = by_variable.run("check --report json=-").expect(1).json();
    assert_eq!(report["changes"], Value::Null);
    let some = check_as_text(&world, "--report json=- --base origin/main load.orch.yaml")
        .expect(1)
        .json();
    assert_eq!(some["changes"].as_array().unwrap().len(), 1);
}

#[test]
fn report_of_review_has_changes_of_selected_pipelines_since_base() {
    let world = world_with_changed_callers();
    world.push();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let review = |args: &str| {
        let call = platform.call(&world);
        let report = call.run(("review --report json=-", args)).expect(0).json();
        report["changes"].as_array().map(|changes| {
            let paths = changes.iter().map(|change| change["path"].as_str().unwrap());
            paths.map(str::to_owned).collect::<Vec<_>>().join(" ")
        })
    };
    let all_paths = "a.orch.yaml gone.orch.yaml load.orch.yaml";
    assert_eq!(review("").as_deref(), Some(all_paths));
    assert_eq!(
        review("--exclude load.orch.yaml").as_deref(),
        Some("a.orch.yaml gone.orch.yaml")
    );
    assert_eq!(review("--all"), None);
}

#[test]
fn changes_of_file_are_above_its_findings() {
    let world = world_with_changed_callers();
    check_as_text(&world, "--report markdown=page.md").expect(1);
    let page = read_report_text(&world, "page.md");
    let (_, rest) = page.split_once("### Errors").unwrap();
    insta::assert_snapshot!(rest, @r##"
    - ❌ <code>load.orch.yaml&#58;11</code>: component "bad name" does not match the naming convention &#91;A-Z&#93;.&#42;: rename it (<code>component-naming-convention</code>)

    ### Pipeline changes

    <details><summary><code>load.orch.yaml</code>: modified: 1 component renamed; called by 2 pipelines (one.orch.yaml, two.orch.yaml)</summary>

    ```mermaid
    flowchart LR
      n0["Start"]
      n1["#126; bad name (was Load)"]:::changed
      n2["Done"]
      n0 --> n1
      n1 --> n2
      classDef added stroke:#1a7f37,stroke-width:3px
      classDef removed stroke:#cf222e,stroke-width:3px,stroke-dasharray:6 4
      classDef changed stroke:#bf8700,stroke-width:3px
    ```

    - `~` bad name (sql-executor), was Load

    </details>

    <details><summary><code>gone.orch.yaml</code>: pipeline removed: 2 components, 1 link</summary>

    ```mermaid
    flowchart LR
      n0["Start"]
      n1["Done"]
      n0 --> n1
      classDef added stroke:#1a7f37,stroke-width:3px
      classDef removed stroke:#cf222e,stroke-width:3px,stroke-dasharray:6 4
      classDef changed stroke:#bf8700,stroke-width:3px
    ```

    - `-` Start (start)
    - `-` Done (end-success)

    </details>

    - <code>a.orch.yaml</code>: only the layout changed, not the behavior

    <details><summary>Findings by rule and folder</summary>

    | Rule | Level | Findings | Files |
    |---|---|---:|---:|
    | <code>component-naming-convention</code> | error | 1 | 1 |


    </details>
    "##);
    let summary = Call::new(&world.work())
        .variable(
            "GITHUB_STEP_SUMMARY",
            world.work().join("summary.md").to_str().unwrap(),
        )
        .run("check")
        .expect(1);
    assert!(!summary.all().contains("Pipeline changes"), "{}", summary.all());
    let summary = read_report_text(&world, "summary.md");
    assert!(
        summary.contains("### Pipeline changes\n\n<details><summary><code>load.orch.yaml</code>: ")
            && summary.contains("```mermaid"),
        "{summary}"
    );
    check_as_text(&world, "--report markdown=none.md --changes none").expect(1);
    assert!(!read_report_text(&world, "none.md").contains("hat changed"));
}

#[test]
fn possible_caller_of_changed_pipeline_is_counted_apart_in_each_format() {
    let world = world_with_changed_callers();
    // Two pipelines have the name, so a call by the bare name may be to either of them.
    world.write("a/child.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("b/child.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("sure.orch.yaml", CALLER.replace("load", "a/child"));
    world.write("maybe.orch.yaml", CALLER.replace("load", "child"));
    world.commit("callers");
    world.write(
        "a/child.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("change");
    let reports = "--base HEAD~1 --report json=r.json --report markdown=r.md --report html=r.html";
    check_as_text(&world, reports).expect(0);
    let report: Value = serde_json::from_str(&read_report_text(&world, "r.json")).unwrap();
    let change = &report["changes"][0];
    assert_eq!(change["calledBy"], 1, "{change}");
    assert_eq!(change["callers"], json!(["sure.orch.yaml"]));
    assert_eq!(change["mayBeCalledBy"], 1);
    assert_eq!(change["possibleCallers"], json!(["maybe.orch.yaml"]));
    for name in ["r.md", "r.html"] {
        let page = read_report_text(&world, name);
        let callers = "called by 1 pipeline (sure.orch.yaml); may be called by 1 pipeline (maybe.orch.yaml)";
        assert!(page.contains(callers), "{name}: {page}");
    }
    Call::new(&world.work())
        .run("report r.json --report json=again.json")
        .expect(0);
    let rendered_report: Value = serde_json::from_str(&read_report_text(&world, "again.json")).unwrap();
    assert_eq!(rendered_report["changes"], report["changes"]);
    // Without the second file of that name, both callers are certain.
    world.git("rm -q b/child.orch.yaml");
    world.write(
        "a/child.orch.yaml",
        orchestration_text(&["Start", "Other", "Done"]),
    );
    world.commit("one file of that name");
    check_as_text(&world, "--base HEAD~1 --report json=r.json").expect(0);
    let report: Value = serde_json::from_str(&read_report_text(&world, "r.json")).unwrap();
    assert_eq!(report["changes"][0]["path"], "a/child.orch.yaml");
    assert_eq!(report["changes"][0]["calledBy"], 2);
    assert_eq!(report["changes"][0].get("mayBeCalledBy"), None);
}

#[test]
fn finding_leads_to_its_component_and_back() {
    let world = world_with_changed_callers();
    check_as_text(&world, "--report html=page.html").expect(1);
    let page = read_report_text(&world, "page.html");
    let read = roxmltree::Document::parse(page.strip_prefix("<!doctype html>\n").unwrap()).unwrap();
    let with = |name: &str, value: &str| {
        read.descendants()
            .find(|node| node.attribute(name) == Some(value))
    };
    let article = read
        .descendants()
        .find(|node| node.has_tag_name("article"))
        .unwrap();
    let id = article.attribute("id").unwrap();
    let links = article.descendants().filter_map(|node| node.attribute("href"));
    let component = links.clone().find(|href| href.starts_with("#canvas-")).unwrap();
    let drawn = with("id", component.trim_start_matches('#')).unwrap();
    assert!(
        drawn
            .descendants()
            .any(|node| node.text().is_some_and(|text| text.contains("bad name")))
    );
    let back = drawn.parent().unwrap();
    assert_eq!(back.attribute("href"), Some(format!("#{id}").as_str()));
    let page_text: String = read.descendants().filter_map(|node| node.text()).collect();
    for words in [
        "modified: 1 component renamed; called by 2 pipelines",
        "Other pipeline changes",
        "only the layout changed, not the behavior",
        "pipeline removed: 2 components, 1 link",
    ] {
        assert!(page_text.contains(words), "{words}: {page_text}");
    }
    // An unchanged file also gets a picture with its findings.
    check_as_text(&world, "--all --report html=all.html").expect(1);
    let all = read_report_text(&world, "all.html");
    assert!(
        all.contains("Pipeline with findings") && all.contains("canvas-0-"),
        "{all}"
    );
}

#[test]
fn report_read_from_file_has_same_changes_as_clone_allows() {
    let world = world_with_changed_callers();
    let head = world.git("rev-parse HEAD");
    check_as_text(&world, format!("--head {head} --report json=report.json")).expect(1);
    let call = Call::new(&world.work());
    let second_args = [
        "report",
        "report.json",
        "--report",
        "markdown=again.md",
        "--report",
        "json=again.json",
    ];
    call.run(&second_args).expect(1);
    let page = read_report_text(&world, "again.md");
    assert!(
        page.contains("called by 2 pipelines") && page.contains("```mermaid"),
        "{page}"
    );
    let json = |name: &str| serde_json::from_str::<Value>(&read_report_text(&world, name)).unwrap();
    assert_eq!(json("again.json")["changes"], json("report.json")["changes"]);
    // In another directory, only the numbers are available.
    let elsewhere = scratch::create_scratch_directory();
    std::fs::copy(
        world.work().join("report.json"),
        elsewhere.path().join("report.json"),
    )
    .unwrap();
    Call::new(elsewhere.path()).run(&second_args).expect(1);
    let page = std::fs::read_to_string(elsewhere.path().join("again.md")).unwrap();
    assert!(
        page.contains("called by 2 pipelines") && !page.contains("```mermaid"),
        "{page}"
    );
}

#[test]
fn report_read_from_file_compares_renamed_pipeline_with_its_former_version() {
    let world = project();
    world.write("old.orch.yaml", orchestration_text(&["Start", "Count", "Done"]));
    world.commit("past");
    world.push();
    world.git("checkout -q -b change");
    world.git("mv old.orch.yaml new.orch.yaml");
    world.write("new.orch.yaml", orchestration_text(&["Start", "Sum", "Done"]));
    let head = world.commit("rename");
    let reports = "--report json=report.json --report markdown=first.md";
    check_as_text(&world, format!("--head {head} {reports}")).expect(0);
    Call::new(&world.work())
        .run("report report.json --report markdown=again.md")
        .expect(0);
    for name in ["first.md", "again.md"] {
        let page = read_report_text(&world, name);
        assert!(
            page.contains("`~` Sum (sql-executor), was Count"),
            "{name}: {page}"
        );
    }
}

#[test]
fn page_with_many_changes_stays_usable() {
    let world = project();
    world.git("checkout -q -b change");
    for n in 0..300 {
        world.write(
            &format!("p/{n:03}.orch.yaml"),
            orchestration_text(&["Start", "bad", "Two", "Done"]),
        );
    }
    check_as_text(
        &world,
        "--report html=page.html --report markdown=page.md --report json=page.json",
    )
    .expect(1);
    let page = read_report_text(&world, "page.html");
    assert_eq!(page.matches("<svg xmlns=").count(), 100);
    assert!(page.len() < 3_000_000, "{}", page.len());
    let markdown = read_report_text(&world, "page.md");
    assert!(markdown.len() < 65_000, "{}", markdown.len());
    let report: Value = serde_json::from_str(&read_report_text(&world, "page.json")).unwrap();
    assert_eq!(report["changes"].as_array().unwrap().len(), 300);
}

#[test]
fn rename_from_name_that_only_looks_like_a_pipelines_is_listed_as_rename() {
    let world = project();
    world.write("old.Orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("past");
    world.push();
    world.git("checkout -q -b change");
    world.git("mv old.Orch.yaml new.orch.yaml");
    world.commit("rename");
    let report = Call::new(&world.work())
        .run("check --report json=-")
        .expect(0)
        .json();
    let changes = report["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{changes:?}");
    assert_eq!(
        [
            &changes[0]["path"],
            &changes[0]["previousPath"],
            &changes[0]["change"]
        ],
        ["new.orch.yaml", "old.Orch.yaml", "renamed"]
    );
}
