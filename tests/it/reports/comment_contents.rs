//! The content of a comment, its order, and the shares of its space.

use crate::support::{Call, Job, World, change, orchestration_text, project};

const RULES: &str = "rules:
  - { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '[A-Z].*' } }
  - { id: maximum-components, enabled: true, enforcementLevel: warn, config: { maxComponents: 3 } }
";

fn read_comment(world: &World, call: &Call, exit_code: i32) -> String {
    call.run("check --report markdown=comment.md").expect(exit_code);
    let comment = std::fs::read_to_string(world.work().join("comment.md")).unwrap();
    std::fs::remove_file(world.work().join("comment.md")).unwrap();
    comment
}

#[test]
fn comment_lists_each_file_with_findings_once() {
    let world = project();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.commit("rules");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "b.orch.yaml",
        orchestration_text(&["Start", "load", "count", "Done"]),
    );
    world.write(
        "c.orch.yaml",
        orchestration_text(&["Start", "load", "Other", "Done"]),
    );
    world.write(
        "d.orch.yaml",
        orchestration_text(&["Start", "Load", "Other", "Done"]),
    );
    let comment = read_comment(&world, &Call::new(&world.work()), 1);
    let findings = comment
        .split_once("### Files with errors")
        .unwrap()
        .1
        .split_once("### Pipeline changes")
        .unwrap()
        .0;
    for path in ["b.orch.yaml", "c.orch.yaml", "d.orch.yaml"] {
        assert_eq!(findings.matches(path).count(), 1, "{path}: {findings}");
    }
    assert!(
        findings.contains("Each of 2 components does not match") && findings.contains("<br>load (line "),
        "{findings}"
    );
    assert!(
        findings.contains("<summary>Warnings in other files (1)</summary>"),
        "{findings}"
    );
}

#[test]
fn comment_has_flowcharts_of_all_pipelines_before_long_values() {
    let world = project();
    let with_script = |name: &str, lines: usize| {
        orchestration_text(&["Start", name, "Done"]).replace(
            &format!("componentName: \"{name}\""),
            &format!(
                "componentName: \"{name}\", sql: \"{}\"",
                "select a_long_name from a_long_table;\\n".repeat(lines)
            ),
        )
    };
    for number in 0..6 {
        world.write(&format!("{number}.orch.yaml"), with_script("Load", 1));
    }
    world.commit("before");
    world.push();
    world.git("checkout -q -b change");
    for number in 0..6 {
        world.write(
            &format!("{number}.orch.yaml"),
            with_script("Load", 38).replace("select", &format!("select {}", "x".repeat(200))),
        );
    }
    world.write("7.orch.yaml", orchestration_text(&["Start", "Load"]));
    world.commit("change");
    world.push();
    let comment = read_comment(&world, &Call::new(&world.work()), 0);
    assert_eq!(comment.matches("```mermaid").count(), 7, "{comment}");
    assert!(comment.contains("more lines"), "{comment}");
    assert!(!comment.contains("</summary>\n\n\n</details>"), "{comment}");
    // A host that draws no flowcharts has the same lists in the same order.
    let jenkins = read_comment(&world, &Job::jenkins().call(&world), 0);
    let paths = |comment: &str| -> Vec<String> {
        let summaries = comment
            .lines()
            .filter(|line| line.starts_with("<details><summary><code>"));
        summaries.map(str::to_owned).collect()
    };
    assert!(!jenkins.contains("```mermaid"), "{jenkins}");
    assert_eq!(paths(&jenkins), paths(&comment));
}

#[test]
fn comment_omits_only_flowcharts_that_do_not_fit() {
    let world = project();
    let pipeline = |script: &str| {
        let load = format!("componentName: \"Load\", sql: \"{script}\"");
        orchestration_text(&["Start", "Load", "Done"]).replace("componentName: \"Load\"", &load)
    };
    let write_all = |script: &str| {
        for number in 0..90 {
            world.write(&format!("{number:03}.orch.yaml"), pipeline(script));
        }
        let longer_pipeline =
            pipeline(script).replace("\"Done\"", "\"A much longer name than in the other pipelines\"");
        world.write("000.orch.yaml", longer_pipeline);
        world.commit(script);
    };
    write_all("select 1");
    world.push();
    world.git("checkout -q -b change");
    write_all("select 2");
    let comment = read_comment(&world, &Call::new(&world.work()), 0);
    let flowchart_count = comment.matches("```mermaid").count();
    assert!(
        (45..90).contains(&flowchart_count),
        "{flowchart_count}: {comment}"
    );
    let sections: Vec<&str> = comment.split("</details>").collect();
    let has_flowchart = |path: &str| {
        let section = sections.iter().find(|section| section.contains(path));
        section.is_some_and(|section| section.contains("```mermaid"))
    };
    assert!(
        has_flowchart("<code>001") && !has_flowchart("<code>000"),
        "{comment}"
    );
}

#[test]
fn comment_lists_all_changed_pipelines_while_the_page_has_room() {
    for (pipeline_count, is_complete) in [(150, true), (600, false)] {
        let world = project();
        world.commit("before");
        world.push();
        world.git("checkout -q -b change");
        let folder = "a folder with a long name, which every path contains/and another one".repeat(2);
        for number in 0..pipeline_count {
            world.write(
                &format!("{folder}/{number:03}.orch.yaml"),
                orchestration_text(&["Start", "Load", "Done"]),
            );
        }
        world.commit("add");
        let comment = read_comment(&world, &Call::new(&world.work()), 0);
        let listed_count = comment.matches(".orch.yaml</code>: ").count();
        assert_eq!(listed_count == pipeline_count, is_complete, "{listed_count}");
        let omission = format!("- and {} more pipelines\n", pipeline_count - listed_count);
        assert_eq!(comment.contains(&omission), !is_complete, "{comment}");
        assert!(
            comment.len() < 64_000 && comment.len() > 30_000,
            "{}",
            comment.len()
        );
    }
}

#[test]
fn check_in_job_links_lines_of_evaluated_commit() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "load it", "Done"]))]);
    let link = format!("/blob/{}/b.orch.yaml#L", world.git("rev-parse HEAD"));
    let job = Job::github().pull_request();
    let call_in_job = || {
        job.call(&world)
            .variable("GITHUB_SERVER_URL", "https://github.com")
    };
    let comment = read_comment(&world, &call_in_job(), 1);
    assert!(comment.contains(&link), "{comment}");
    // The lines are those of the evaluated commit, also if a file of the checkout differs. A local run has no host.
    assert!(!read_comment(&world, &Call::new(&world.work()), 1).contains("/blob/"));
    world.write(
        "b.orch.yaml",
        format!("# more\n{}", orchestration_text(&["Start", "load it", "Done"])),
    );
    let changed_checkout = read_comment(&world, &call_in_job(), 1);
    assert!(changed_checkout.contains(&format!("{link}11)")) && comment.contains(&format!("{link}11)")));
}
