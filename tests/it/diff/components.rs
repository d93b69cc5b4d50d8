//! `sluicegate diff`: changes by component.

use crate::support::{
    Arguments, Call, ProgramOutput, World, change, git, orchestration_text, project, scratch,
};
use serde_json::json;

const LOAD: &str = r#"type: orchestration
version: "1.0"
pipeline:
  components:
    Start: { type: start, parameters: { componentName: Start }, transitions: { unconditional: [Load] } }
    Load:
      type: sql-executor
      parameters: { componentName: Load, sqlQuery: "select 1", schema: sales, limit: 10, mode: append }
      transitions: { success: [Done] }
    Done: { type: end-success, parameters: { componentName: Done } }
  variables:
    region: { metadata: { type: TEXT }, defaultValue: eu }
design:
  components:
    Start: { position: { x: 0, y: 0 } }
    Load: { position: { x: 200, y: 0 } }
"#;

/// Creates a world with `load.orch.yaml` on `main` and this content in the working tree.
fn edit_of_load(after: &str) -> World {
    let world = project();
    world.write("load.orch.yaml", LOAD);
    world.commit("load");
    world.push();
    world.git("checkout -q -b edit");
    world.write("load.orch.yaml", after);
    world
}

fn diff(world: &World, args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(("diff", args))
}

#[test]
fn diff_lists_changes_by_component() {
    let after = LOAD
        .replace("select 1", "select 2")
        .replace("success: [Done]", "unconditional: [Done]")
        .replace("defaultValue: eu", "defaultValue: us")
        .replace("x: 200", "x: 300");
    let world = edit_of_load(&after);
    let text = diff(&world, "").expect(0);
    insta::assert_snapshot!(text.out, @"
    load.orch.yaml: modified
      ~ Load (sql-executor)
        ~ sqlQuery: select 1 -> select 2
      - Load -> Done (success)
      + Load -> Done (unconditional)
      ~ region = eu -> us (variable)
      the layout changed

    1 pipeline changed
    ");
    text.saying(&["comparing the working tree with commit"]);
    diff(&world, "--exit-code").expect(1);

    let report = diff(&world, "--format json").expect(0).json();
    assert_eq!(report["schema"], "sluicegate.diff/v1");
    assert_eq!(report["base"], json!(world.git(&["rev-parse", "origin/main"])));
    assert_eq!(
        (&report["head"], &report["interface"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(
        report["pipelines"][0]["components"][0]["fields"],
        json!([{ "path": ["parameters", "sqlQuery"], "before": "select 1", "after": "select 2" }])
    );
    assert_eq!(report["pipelines"][0]["layout"], json!(true));
}

#[test]
fn diff_of_submodule_names_the_other_repository() {
    let world = project();
    let other = World::new().with_pipeline("inner.orch.yaml", &["Start", "Done"]);
    other.commit("first");
    other.push();
    let url = format!("file://{}", other.remote().display());
    world.git(format!("submodule --quiet add {url} modules/sales"));
    world.write("modules/note.txt", "no pipeline");
    world.commit("submodule");
    world.push();
    let submodule = "the path modules/sales is a submodule, which is another repository";
    world.git("submodule --quiet deinit -f modules/sales");
    for args in ["modules/sales", "HEAD~..HEAD modules/sales"] {
        diff(&world, args).expect(2).saying(&[submodule]);
    }
    diff(&world, "modules/note.txt")
        .expect(2)
        .saying(&["the path modules/note.txt does not match any pipeline"]);
    diff(&world, "a.orch.yaml").expect(0);
}

#[test]
fn directory_that_a_submodule_replaced_is_compared() {
    let world = project().with_pipeline("sales/b.orch.yaml", &["Start", "Done"]);
    world.commit("pipeline");
    world.push();
    world.git("rm -q -r sales");
    world.git(format!(
        "submodule --quiet add file://{} sales",
        world.remote().display()
    ));
    diff(&world, "sales")
        .expect(0)
        .logging(&["sales/b.orch.yaml: pipeline removed"]);
}

#[test]
fn submodule_in_place_of_pipeline_is_unreadable() {
    let world = project().with_pipeline("sales/b.orch.yaml", &["Start", "Done"]);
    world.commit("pipeline");
    world.push();
    world.git("rm -q a.orch.yaml");
    for path in ["a.orch.yaml", "new.orch.yaml"] {
        let url = format!("file://{}", world.remote().display());
        world.git(["submodule", "--quiet", "add", &url, path]);
    }
    world.commit("submodules");
    for args in ["", "HEAD~..HEAD"] {
        let output = diff(&world, (args, "--exit-code")).expect(1);
        for path in ["a.orch.yaml", "new.orch.yaml"] {
            let line = format!("{path}: cannot be read in the new version");
            assert!(output.out.contains(&line), "{line} {}", output.out);
        }
        output.logging(&["the path is a submodule, not a file"]);
    }
    // The twin: an unchanged submodule is no change.
    world.push();
    world.write("sales/b.orch.yaml", "type: orchestration\n");
    world.commit("edit");
    let log = diff(&world, "HEAD~..HEAD").expect(0).all();
    assert!(!log.contains("submodule"), "{log}");
}

#[test]
fn index_commit_and_two_revisions_are_compared_as_they_are() {
    let world = edit_of_load(&LOAD.replace("limit: 10", "limit: 20"));
    world.git("add -A");
    world.write("load.orch.yaml", LOAD.replace("limit: 10", "limit: 30"));
    let after = |args: &str| {
        let report = diff(&world, (args, "--format json")).expect(0).json();
        report["pipelines"][0]["components"][0]["fields"][0]["after"].clone()
    };
    assert_eq!((after(""), after("--staged")), (json!(30), json!(20)));
    world.git("commit -q -m twenty");
    assert_eq!(after("--head HEAD"), 20);
    assert_eq!(after("main..HEAD"), 20);
    assert_eq!(after("HEAD..main load.orch.yaml"), 10);
    assert_eq!(after("main..HEAD a.orch.yaml"), json!(null));
    assert_eq!((after("main.."), after("..main")), (json!(20), json!(10)));
    for range in ["main...HEAD", "main..."] {
        diff(&world, &[range])
            .expect(2)
            .saying(&["hint: use --base main --head HEAD"]);
    }
    diff(&world, "main..gone").expect(7).saying(&["gone"]);
    diff(&world, "nowhere").expect(2).saying(&["nowhere"]);
}

#[test]
fn renamed_component_and_renamed_file_are_no_new_ones() {
    let after = LOAD
        .replace("Load:\n", "Load all:\n")
        .replace("[Load]", "[Load all]")
        .replace("componentName: Load,", "componentName: Load all,");
    let world = edit_of_load(&after);
    world.git("mv load.orch.yaml all.orch.yaml");
    world.commit("renamed");
    let text = diff(&world, "").expect(0);
    insta::assert_snapshot!(text.out, @"
    all.orch.yaml: renamed from load.orch.yaml
      ~ Load all (sql-executor), was Load

    1 pipeline changed
    ");
}

#[test]
fn names_that_differ_only_in_blanks_are_quoted_in_every_format() {
    // The twin: names whose difference is visible have no quotes.
    for (name, texts) in [
        (
            "Load ",
            ["~ \"Load \" (sql-executor), was \"Load\"", "was &#34;Load&#34;"],
        ),
        ("Load all", ["~ Load all (sql-executor), was Load\n", "was Load<"]),
    ] {
        let after = LOAD
            .replace("Load:\n", &format!("\"{name}\":\n"))
            .replace("[Load]", &format!("[\"{name}\"]"))
            .replace("componentName: Load,", &format!("componentName: \"{name}\","));
        let world = edit_of_load(&after);
        for (format, text) in ["text", "html"].into_iter().zip(texts) {
            let page = diff(&world, ("-o", format)).expect(0).out;
            assert!(page.contains(text), "{format}: {page}");
        }
        let page = diff(&world, "-o markdown").expect(0).out;
        assert_eq!(
            page.contains("was &#34;Load&#34;") || page.contains("was \"Load\""),
            name == "Load ",
            "{page}"
        );
    }
}

#[test]
fn unreadable_pipeline_has_reason_in_every_format_and_no_fold() {
    let world = edit_of_load("type: [\n");
    world.write("new.orch.yaml", "type: <b>\n");
    let reason = "cannot be read in the new version: not YAML: while parsing a node";
    for format in ["text", "markdown", "html"] {
        let page = diff(&world, format!("-o {format}")).expect(0).out;
        assert!(page.contains(reason), "{format}: {page}");
        assert!(
            page.contains("cannot be read in the new version: "),
            "{format}: {page}"
        );
        assert!(!page.contains("one of the two versions"), "{format}: {page}");
        assert!(!page.contains("<details"), "{format}: {page}");
    }
    let args = "check --report markdown=r.md --report html=r.html";
    let _ = Call::new(&world.work()).run(args);
    // The finding has the reason, so the change does not repeat it.
    for file in ["r.md", "r.html"] {
        let report = world.read_text(file);
        let count = report.matches("not YAML: while parsing a node").count();
        assert_eq!(count, 1, "{file}: {report}");
    }
}

#[test]
fn page_has_folds_only_for_changes_with_content() {
    let moved = LOAD.replace("x: 200", "x: 300");
    let world = edit_of_load(&moved);
    let page = diff(&world, "-o html").expect(0).out;
    assert!(
        page.contains("only the layout changed") && !page.contains("<details"),
        "{page}"
    );
    let world = edit_of_load(LOAD);
    world.git("mv load.orch.yaml all.orch.yaml");
    for format in ["text", "markdown", "html"] {
        let page = diff(&world, format!("-o {format}")).expect(0).out;
        assert!(
            page.contains("renamed from load.orch.yaml, without other changes"),
            "{page}"
        );
        assert!(!page.contains("<details"), "{page}");
    }
    let page = diff(&edit_of_load(&LOAD.replace("select 1", "select 2")), "-o html")
        .expect(0)
        .out;
    assert!(
        page.contains("<details class=\"group card\" open=\"\">"),
        "{page}"
    );
}

#[test]
fn change_of_empty_values_has_same_remark_in_every_format() {
    let remark = "null or empty values were added or removed";
    for after in [
        LOAD.replace("mode: append", "mode: append, x: null, y: ''"),
        LOAD.replace("version: ", "note: ''\nversion: "),
    ] {
        let world = edit_of_load(&after);
        for format in ["text", "markdown", "html"] {
            let page = diff(&world, format!("-o {format}")).expect(0).out;
            assert_eq!(page.matches(remark).count(), 1, "{format}: {page}");
        }
    }
    let with_values = LOAD.replace("mode: append", "mode: merge, x: null");
    let text = diff(&edit_of_load(&with_values), "").expect(0).out;
    assert!(
        text.contains("mode: append -> merge") && !text.contains(remark),
        "{text}"
    );
}

/// A change of the file mode alone is listed by git, but it is no difference, so it must not shift the others.
#[test]
fn change_of_mode_before_another_change_keeps_callers_and_picture() {
    let world = edit_of_load(LOAD);
    let call = "type: orchestration\npipeline:\n  components:\n    Call: { type: run-orchestration, parameters: { orchestrationJob: load } }\n";
    world.write("top.orch.yaml", call);
    world.write("a.orch.yaml", LOAD);
    world.commit("callers");
    world.git("update-index --chmod=+x a.orch.yaml");
    world.write("load.orch.yaml", LOAD.replace("select 1", "select 2"));
    world.git("add load.orch.yaml");
    world.git("commit -q -m edit");
    let json = diff(&world, "HEAD~1..HEAD --callers -o json").expect(0).json();
    assert_eq!(json["callers"][0]["path"], "top.orch.yaml", "{json}");
    let picture = diff(&world, "HEAD~1..HEAD -o mermaid").expect(0).out;
    assert!(picture.contains("Load"), "{picture}");
}

#[test]
fn diff_of_layout_alone_is_no_change_for_exit_code() {
    let world = edit_of_load(
        &LOAD
            .replace("x: 200", "x: 300")
            .replace("schema: sales", "schema: 'sales'"),
    );
    let text = diff(&world, "--exit-code").expect(0);
    assert_eq!(
        text.out,
        "load.orch.yaml: only the layout changed, not the behavior\n\n1 pipeline changed in layout only\n"
    );
    // Neither rewriting the same content nor changing only the mode is a change.
    world.write("load.orch.yaml", LOAD);
    world.git("update-index --chmod=+x load.orch.yaml");
    for args in ["--exit-code", "--staged --exit-code"] {
        let text = diff(&world, args).expect(0);
        assert_eq!(text.out, "no pipeline differs\n");
    }
}

#[test]
fn broken_file_is_reported_beside_the_others() {
    let world = change(&[("broken.orch.yaml", "type: [\n"), ("new.orch.yaml", LOAD)]);
    world.git("rm -q a.orch.yaml");
    let text = diff(&world, "").expect(0);
    insta::assert_snapshot!(text.out, @"
    a.orch.yaml: pipeline removed: 2 components, 1 link
      - Start (start)
      - Done (end-success)

    broken.orch.yaml: cannot be read in the new version: not YAML: while parsing a node, did not find expected node content (line 2, column 1)

    new.orch.yaml: new pipeline: 3 components, 2 links, 1 variable
      + Start (start)
      + Load (sql-executor)
      + Done (end-success)

    3 pipelines changed
    ");
    diff(&world, "--exit-code broken.orch.yaml").expect(1);
    let report = diff(&world, "--format json").expect(0).json();
    assert_eq!(report["pipelines"].as_array().unwrap().len(), 3);
    diff(&world, "--format svg broken.orch.yaml")
        .expect(2)
        .saying(&["could not draw broken.orch.yaml"]);
}

#[test]
fn diff_of_two_files_needs_no_repository() {
    let folder = scratch::create_scratch_directory();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("old.yaml", LOAD);
    write("new.yaml", &LOAD.replace("limit: 10", "limit: 20"));
    let call = Call::new(folder.path());
    let text = call.run("diff --files old.yaml new.yaml").expect(0);
    assert!(text.out.contains("~ limit: 10 -> 20"), "{}", text.all());
    let same_run = call.run("diff --files old.yaml old.yaml --exit-code");
    assert_eq!(same_run.expect(0).out, "no pipeline differs\n");
    call.run("diff --files old.yaml gone.yaml")
        .expect(2)
        .saying(&["gone.yaml"]);
}

#[test]
fn diff_draws_one_pipeline() {
    let world = edit_of_load(&LOAD.replace("success: [Done]", "failure: [Done]"));
    let chart = diff(&world, "--format mermaid").expect(0).out;
    assert!(
        chart.starts_with("flowchart LR\n") && chart.contains("+\u{a0}failure"),
        "{chart}"
    );
    diff(&world, "-o svg --out out/load.svg").expect(0);
    let picture = std::fs::read_to_string(world.work().join("out/load.svg")).unwrap();
    assert!(
        picture.starts_with("<svg ") && picture.contains("Load"),
        "{picture}"
    );
    world.write("new.orch.yaml", orchestration_text(&["Start", "Done"]));
    diff(&world, "--format mermaid")
        .expect(2)
        .saying(&["2 differ", "hint: pass the path of one pipeline"]);
}

#[test]
fn picture_without_a_difference_shows_this_fact() {
    let world = edit_of_load(&LOAD.replace("limit: 10", "limit: 20"));
    let chart = diff(&world, "HEAD..HEAD -o mermaid").expect(0).out;
    assert_eq!(chart, "flowchart LR\n  n0[\"no pipeline differs\"]\n");
    let picture = diff(&world, "HEAD..HEAD -o svg").expect(0).out;
    assert!(
        picture.starts_with("<svg ") && picture.contains(">no pipeline differs</text></svg>"),
        "{picture}"
    );
    // A pipeline that differs is drawn.
    let picture = diff(&world, "-o svg").expect(0).out;
    assert!(picture.contains("data-name=\"Load\""), "{picture}");
}

#[test]
fn flag_for_other_sides_beside_a_range_is_refused() {
    let world = edit_of_load(&LOAD.replace("limit: 10", "limit: 20"));
    for flag in ["--staged", "--base HEAD", "--head HEAD", "--deepen"] {
        let name = flag.split(' ').next().unwrap();
        let message = format!("{name} cannot be used with a range A..B");
        diff(&world, format!("HEAD..HEAD {flag}"))
            .expect(2)
            .saying(&[&message, "hint: "]);
        // Without a range, the flag is used.
        let output = diff(&world, flag);
        assert!(!output.all().contains("with a range"), "{}", output.all());
    }
    diff(&world, "HEAD..HEAD").expect(0);
}

#[test]
fn page_for_comment_has_list_and_flowchart() {
    let sql =
        |columns: &str| LOAD.replace("\"select 1\"", &format!("\"select\\n  {columns}\\nfrom orders\""));
    let world = edit_of_load(&LOAD.replace("limit: 10", "limit: 20"));
    world.write("load.orch.yaml", sql("id,\\n  price"));
    world.git("commit -q -am before");
    world.write(
        "load.orch.yaml",
        sql("id,\\n  amount").replace("success: [Done]", "failure: [Done]"),
    );
    let page = diff(&world, "--base HEAD --format markdown").expect(0);
    insta::assert_snapshot!(page.out, @r##"
    ## 1 pipeline changed

    ### <code>load.orch.yaml</code>

    modified: 1 component changed; 1 link added, 1 removed

    ```mermaid
    flowchart LR
      n0["Start"]
      n1["#126; Load"]:::changed
      n2["Done"]
      n0 --> n1
      n1 -->|"+ failure"| n2
      n1 -.->|"− success"| n2
      linkStyle 1 stroke:#1a7f37,stroke-width:3px
      linkStyle 2 stroke:#cf222e,stroke-width:2px
      classDef added stroke:#1a7f37,stroke-width:3px
      classDef removed stroke:#cf222e,stroke-width:3px,stroke-dasharray:6 4
      classDef changed stroke:#bf8700,stroke-width:3px
    ```

    - `~` Load (sql-executor)
      - `~` sqlQuery:
        ```diff
            id,
        -   price
        +   amount
          from orders
        ```
    - `+` Load -> Done (failure)
    - `-` Load -> Done (success)
    "##);
    let world = edit_of_load(&LOAD.replace("x: 200", "x: 300"));
    let page = diff(&world, "--format markdown").expect(0);
    insta::assert_snapshot!(page.out, @"
    ## 1 pipeline changed

    ### <code>load.orch.yaml</code>

    only the layout changed, not the behavior
    ");
}

#[test]
fn page_has_words_and_picture_and_runs_nothing() {
    let world = edit_of_load(&LOAD.replace("select 1", "select 2").replace("Done]", "Start]"));
    world.write("new.orch.yaml", LOAD);
    world.write("broken.orch.yaml", "type: [\n");
    diff(&world, "-o html --out page.html").expect(0);
    let page = std::fs::read_to_string(world.work().join("page.html")).unwrap();
    let read = roxmltree::Document::parse(page.strip_prefix("<!doctype html>\n").unwrap()).unwrap();
    let texts = read.descendants().filter(roxmltree::Node::is_text);
    let lines: String = texts.filter_map(|node| node.text()).collect();
    for words in [
        "Changes in 3 pipelines",
        "modified: 1 component changed; 1 link added, 1 removed",
        "sqlQuery: select 1 -> select 2",
        "new pipeline: 3 components, 2 links, 1 variable",
        "cannot be read in the new version: not YAML: ",
    ] {
        assert!(lines.contains(words), "{words}: {lines}");
    }
    let pictures = read.descendants().filter(|node| {
        node.attribute("class") == Some("sg-picture") && node.attribute("role") == Some("group")
    });
    assert_eq!(
        pictures
            .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "svg")))
            .count(),
        2
    );
    assert!(
        page.contains("script-src 'none'") && !page.contains("<script"),
        "{page}"
    );
    let output = Call::new(&world.work())
        .run("diff --format html HEAD..HEAD")
        .expect(0);
    assert!(output.out.contains("No pipeline changed"), "{}", output.all());
    let output = Call::new(&world.work())
        .run("diff --format markdown HEAD..HEAD")
        .expect(0);
    assert_eq!(output.out, "## No pipeline changed\n");
}

#[test]
fn field_of_new_component_is_counted_only_if_count_saves_a_line() {
    for (field_count, expected_end) in [(11, "+ field11: 1\n"), (12, "\u{2026} and 2 more\n")] {
        let fields: Vec<String> = (1..=field_count)
            .map(|number| format!(", field{number:02}: 1"))
            .collect();
        let fields = fields.concat();
        let component = format!(
            "    Copy: {{ type: sql-executor, parameters: {{ componentName: Copy{fields} }} }}\n    Done:"
        );
        let world = edit_of_load(&LOAD.replacen("    Done:", &component, 1));
        let text = diff(&world, "").expect(0).out;
        assert!(text.contains(expected_end), "{field_count}: {text}");
        assert_eq!(text.contains("more"), field_count == 12, "{text}");
    }
}

#[test]
fn truncated_value_counts_omitted_characters() {
    let long_value = "x".repeat(3_000);
    let world = edit_of_load(&LOAD.replace("limit: 10", &format!("limit: {long_value}")));
    let text = diff(&world, "").expect(0).out;
    assert!(text.contains(" more characters)"), "{text}");
    let world = edit_of_load(&LOAD.replace("limit: 10", "limit: 100"));
    let text = diff(&world, "").expect(0).out;
    assert!(text.contains("limit: 10 -> 100"), "{text}");
}

#[test]
fn values_of_several_lines_are_compared_line_by_line() {
    let text =
        |lines: &[&str]| LOAD.replace("\"select 1\"", &serde_json::to_string(&lines.join("\n")).unwrap());
    let folder = scratch::create_scratch_directory();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "old.yaml",
        text(&["select", "  id,", "  a,", "  b,", "  c,", "  d", "from orders"]),
    );
    write(
        "new.yaml",
        text(&[
            "select",
            "  id,",
            "  A,",
            "  b,",
            "  c,",
            "  d",
            "from orders",
            "where a",
        ]),
    );
    let call = Call::new(folder.path());
    let output = call.run("diff --files old.yaml new.yaml").expect(0);
    insta::assert_snapshot!(output.out, @"
    new.yaml: modified
      ~ Load (sql-executor)
        ~ sqlQuery:
              id,
          -   a,
          +   A,
              b,
            … 2 unchanged lines
            from orders
          + where a

    1 pipeline changed
    ");
    let run_output = call
        .run("diff --files old.yaml new.yaml --color always")
        .expect(0);
    assert!(
        run_output.out.contains("\u{1b}[32m      + where a\u{1b}[0m"),
        "{:?}",
        run_output.out
    );
    let plain = call
        .variable("NO_COLOR", "1")
        .run("diff --files old.yaml new.yaml")
        .expect(0);
    assert_eq!(plain.out, output.out);
}

#[test]
fn diff_escapes_every_name() {
    let name = "x\n::error::y \u{1b}[31m##[group]z ##vso[task] ##teamcity[it]\"]; --> <script>%%{init}";
    let quoted = serde_json::to_string(name).unwrap();
    let hostile = orchestration_text(&["Start", "NAME", "Done"]).replace("\"NAME\"", &quoted);
    let world = change(&[("h.orch.yaml", &hostile)]);
    for format in ["text", "json", "mermaid", "svg", "markdown", "html"] {
        let output = diff(&world, format!("--format {format}")).expect(0);
        let lines = || output.out.lines().map(str::trim_start);
        assert!(!lines().any(|line| line.starts_with("::")), "{}", output.all());
        for part in ["\u{1b}", "##[", "##vso[", "##teamcity["] {
            assert!(!output.out.contains(part), "{part:?}: {}", output.all());
        }
    }
    for format in ["svg", "html", "markdown"] {
        let page = diff(&world, format!("--format {format}")).expect(0).out;
        assert!(!page.contains("<script"), "{page}");
        assert!(format != "markdown" || !page.contains("%%{"), "{page}");
    }
    let chart = diff(&world, "--format mermaid").expect(0).out;
    assert!(!chart.contains("%%{") && !chart.contains("\"];"), "{chart}");
}

/// Runs git in the world, with the program in the search path.
fn git_diff(world: &World, args: &[&str]) -> String {
    let bin = world.work().join("../bin");
    std::fs::create_dir_all(&bin).unwrap();
    let link = bin.join("sluicegate");
    if !link.exists() {
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_sluicegate"), &link).unwrap();
    }
    let call = Call::new(&world.work()).command("");
    let known = call
        .get_envs()
        .find(|(name, _)| *name == "PATH")
        .unwrap()
        .1
        .unwrap();
    let path = format!("{}:{}", bin.display(), known.to_string_lossy());
    let ran = std::process::Command::new("git")
        .args(args)
        .current_dir(world.work())
        .env("PATH", path)
        .env("HOME", world.work())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn git_diff_shows_pipelines_by_component_once_it_is_set_up() {
    let world = edit_of_load(&LOAD.replace("limit: 10", "limit: 20"));
    let init = |args: &str| Call::new(&world.work()).run(("init --git-diff", args));
    let dry = init("--dry-run").expect(0);
    insta::assert_snapshot!(dry.out, @"
    would write       diff.sluicegate.command = sluicegate diff --external, in git's configuration of this clone
    would write       *.orch.yaml diff=sluicegate, in .gitattributes
    would write       *.tran.yaml diff=sluicegate, in .gitattributes

    Commit .gitattributes. The setting applies to this clone only: run `sluicegate init --git-diff` in every other clone.
    ");
    assert!(!world.work().join(".gitattributes").exists());
    let output = init("").expect(0);
    assert_eq!(output.out, dry.out.replace("would write", "wrote      "));
    let second_run = init("").expect(0);
    insta::assert_snapshot!(second_run.out, @"
    not changed       diff.sluicegate.command: already set
    not changed       .gitattributes: *.orch.yaml diff=sluicegate
    not changed       .gitattributes: *.tran.yaml diff=sluicegate
    ");
    let attributes = std::fs::read_to_string(world.work().join(".gitattributes")).unwrap();
    assert_eq!(
        attributes,
        "*.orch.yaml diff=sluicegate\n*.tran.yaml diff=sluicegate\n"
    );

    world.write("broken.orch.yaml", "type: [\n");
    world.git("add -A");
    world.write("broken.orch.yaml", "type: [\nx\u{1b}[31m##[group]\n");
    world.write("new.orch.yaml", LOAD);
    world.git("add -N new.orch.yaml");
    let text = git_diff(&world, &["diff"]);
    insta::assert_snapshot!(text, @r#"
    broken.orch.yaml: modified
        type: [
      + x\u{1b}[31m# #[group]
    new.orch.yaml: new pipeline: 3 components, 2 links, 1 variable
      + Start (start)
      + Load (sql-executor)
      + Done (end-success)
    "#);
    let staged = git_diff(&world, &["diff", "--cached", "load.orch.yaml"]);
    assert!(staged.contains("~ limit: 10 -> 20"), "{staged}");
    world.git("reset -q --hard");
    world.git("mv load.orch.yaml other.orch.yaml");
    let renamed = git_diff(&world, &["diff", "-M", "--cached"]);
    assert!(renamed.contains("other.orch.yaml"), "{renamed}");
}

#[test]
fn init_git_diff_keeps_existing_git_configuration() {
    let world = edit_of_load(LOAD);
    world.git("config diff.sluicegate.command other");
    world.write(".gitattributes", "*.orch.yaml -diff");
    let output = Call::new(&world.work()).run("init --git-diff").expect(0);
    for words in [
        "diff.sluicegate.command: already set to other",
        ".gitattributes: *.orch.yaml -diff",
    ] {
        assert!(
            output.out.contains(&format!("not changed       {words}")),
            "{}",
            output.all()
        );
    }
    assert_eq!(world.git(&["config", "diff.sluicegate.command"]), "other");
    let attributes = std::fs::read_to_string(world.work().join(".gitattributes")).unwrap();
    assert_eq!(attributes, "*.orch.yaml -diff\n*.tran.yaml diff=sluicegate\n");
    std::fs::remove_file(world.work().join(".gitattributes")).unwrap();
    std::os::unix::fs::symlink("/dev/null", world.work().join(".gitattributes")).unwrap();
    Call::new(&world.work())
        .run("init --git-diff")
        .expect(2)
        .saying(&["the file is a symbolic link"]);
}

#[test]
fn init_git_diff_that_cannot_write_the_setting_exits_with_2() {
    let world = edit_of_load(LOAD);
    let output = Call::new(&world.work())
        .command_in_shell("trap '' XFSZ; ulimit -f 0", "init --git-diff")
        .output()
        .unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(log.contains("could not write git's configuration"), "{log}");
    assert!(!log.contains("sluicegate context"), "{log}");
}

#[test]
fn init_git_diff_names_lock_file_of_git_configuration() {
    let world = edit_of_load(LOAD);
    let lock = world.work().join(".git/config.lock");
    std::fs::write(&lock, "").unwrap();
    Call::new(&world.work())
        .run("init --git-diff")
        .expect(2)
        .saying(&["config.lock", "hint: wait until the other git command has ended"]);
    std::fs::remove_file(&lock).unwrap();
    Call::new(&world.work()).run("init --git-diff").expect(0);
}

#[test]
fn init_git_diff_with_linked_attributes_sets_nothing() {
    let world = edit_of_load(LOAD);
    std::os::unix::fs::symlink("/dev/null", world.work().join(".gitattributes")).unwrap();
    Call::new(&world.work()).run("init --git-diff").expect(2);
    let settings = world.git("config --local --list");
    assert!(!settings.contains("diff.sluicegate"), "{settings}");
}

#[test]
fn init_git_diff_does_not_search_path_for_command_with_full_path() {
    let world = edit_of_load(LOAD);
    world.git(&[
        "config",
        "diff.sluicegate.command",
        "/opt/sluicegate diff --external",
    ]);
    let output = Call::new(&world.work()).run("init --git-diff").expect(0);
    assert!(!output.all().contains("is not on the PATH"), "{}", output.all());
}

#[test]
fn external_diff_ends_in_0_whatever_files_are() {
    let folder = scratch::create_scratch_directory();
    std::fs::write(folder.path().join("b.bin"), "a\0b").unwrap();
    std::fs::write(folder.path().join("a.orch.yaml"), LOAD).unwrap();
    let call = Call::new(folder.path());
    let external = |args: &[&str]| call.run(("diff --external", args));
    let zero = "0000000";
    let output = external(&[
        "a.orch.yaml",
        "/dev/null",
        ".",
        ".",
        "a.orch.yaml",
        zero,
        "100644",
    ])
    .expect(0);
    assert!(
        output
            .out
            .starts_with("a.orch.yaml: new pipeline: 3 components, 2 links, 1 variable\n  + Start"),
        "{}",
        output.all()
    );
    let binary = external(&["b.bin", "b.bin", zero, "100644", "a.orch.yaml", zero, "100644"]).expect(0);
    assert_eq!(binary.out, "b.bin: modified\n  binary file: content not shown\n");
    let run_output = external(&["c.txt", "nowhere", zero, "100644", "/dev/null", ".", "."]).expect(0);
    assert!(
        run_output.out.contains("could not read the file"),
        "{}",
        run_output.all()
    );
    for (name, text) in [
        ("lf.sql", "a\nb\n"),
        ("crlf.sql", "a\r\nb\r\n"),
        ("cut.sql", "a\nb"),
        ("cut-crlf.sql", "a\r\nb"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let endings = external(&["a.sql", "lf.sql", zero, "100644", "crlf.sql", zero, "100644"]).expect(0);
    assert_eq!(endings.out, "a.sql: modified\n  only the line endings changed\n");
    let end = external(&["a.sql", "lf.sql", zero, "100644", "cut.sql", zero, "100644"]).expect(0);
    assert_eq!(
        end.out,
        "a.sql: modified\n  only the line break at the end of the file changed\n"
    );
    let both = external(&["a.sql", "lf.sql", zero, "100644", "cut-crlf.sql", zero, "100644"]).expect(0);
    assert_eq!(both.out, endings.out);
    let mode = external(&["b.bin", "b.bin", zero, "100644", "b.bin", zero, "100755"]).expect(0);
    assert_eq!(mode.out, "b.bin: mode 100644 -> 100755\n");
    assert_eq!(
        external(&["a.orch.yaml"]).expect(0).out,
        "a.orch.yaml: not merged\n"
    );
    external(&["a", "b"]).expect(2).saying(&["seven arguments"]);
}

#[test]
fn external_diff_shows_changed_mode_next_to_changed_content() {
    let folder = scratch::create_scratch_directory();
    std::fs::write(folder.path().join("a.sql"), "a\n").unwrap();
    std::fs::write(folder.path().join("b.sql"), "b\n").unwrap();
    let call = Call::new(folder.path());
    let external = |args: &str| call.run(format!("diff --external {args}")).expect(0).out;
    let edited = external("x.sql a.sql 0000 100644 b.sql 0000 100755");
    assert!(
        edited.starts_with("x.sql: modified\n  mode 100644 -> 100755\n"),
        "{edited}"
    );
    let renamed = external("x.sql a.sql 0000 100644 a.sql 0000 100755 y.sql renamed");
    assert!(
        renamed.starts_with("y.sql: renamed from x.sql\n  mode 100644 -> 100755\n"),
        "{renamed}"
    );
    let added = external("x.sql /dev/null . . a.sql 0000 100755");
    assert!(
        added.starts_with("x.sql: added\n") && !added.contains("mode"),
        "{added}"
    );
}

#[test]
fn difftool_shows_lines_of_other_files_and_paths_in_repository() {
    let world = edit_of_load(&LOAD.replace("limit: 10", "limit: 20"));
    world.write("folder/note.md", "# a: b: c\n\nold: [\n");
    world.write("gone.sql", "select 1\n");
    world.commit("other files");
    world.write("folder/note.md", "# a: b: c\n\nnew: [\n");
    std::fs::remove_file(world.work().join("gone.sql")).unwrap();
    world.git("add -A");
    let command = format!("{} diff --files", env!("CARGO_BIN_EXE_sluicegate"));
    let text = world.git(&["difftool", "-y", "-x", &command, "HEAD~1"]);
    assert!(
        text.contains("~ limit: 10 -> 20") && text.contains("load.orch.yaml: "),
        "{text}"
    );
    let other_files = world.git(&["difftool", "-y", "-x", &command, "--cached"]);
    assert_eq!(
        other_files,
        "folder/note.md: modified\n    \n  - old: [\n  + new: [\ngone.sql: removed\n  - select 1"
    );
}

#[test]
fn diff_reports_replaced_file_without_waiting() {
    let world = edit_of_load(LOAD);
    let path = world.work().join("load.orch.yaml");
    std::fs::remove_file(&path).unwrap();
    std::os::unix::net::UnixListener::bind(&path).unwrap();
    let text = diff(&world, "--exit-code").expect(1);
    assert!(
        text.out.contains("the path is not a regular file"),
        "{}",
        text.all()
    );
}

#[test]
fn side_that_git_calls_absent_is_absent() {
    let world = edit_of_load(LOAD);
    let file = |old: &str, new: &str| {
        diff(&world, format!("--files {old} {new} -o json"))
            .expect(0)
            .json()
    };
    let added = file("/dev/null", "load.orch.yaml");
    assert_eq!(added["pipelines"][0]["change"], "added");
    assert_eq!(added["pipelines"][0]["path"], "load.orch.yaml");
    let removed = file("load.orch.yaml", "/dev/null");
    assert_eq!(
        (
            &removed["pipelines"][0]["change"],
            &removed["pipelines"][0]["path"]
        ),
        (&json!("removed"), &json!("load.orch.yaml"))
    );
}

#[test]
fn diff_without_remote_uses_checked_out_commit_as_base() {
    let folder = scratch::create_scratch_directory();
    git(folder.path(), "init -q -b main");
    let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
    write("load.orch.yaml", LOAD);
    write("other.orch.yaml", LOAD);
    let call = Call::new(folder.path());
    let paths = || {
        let report = call.run("diff -o json").expect(0).json();
        let paths: Vec<String> = report["pipelines"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| {
                format!(
                    "{} {}",
                    entry["change"].as_str().unwrap(),
                    entry["path"].as_str().unwrap()
                )
            })
            .collect();
        (paths, report["base"].clone(), report["head"].clone())
    };
    assert_eq!(paths().0, ["added load.orch.yaml", "added other.orch.yaml"]);
    git(folder.path(), "add -A");
    git(folder.path(), "commit -q -m first");
    let head = json!(git(folder.path(), &["rev-parse", "HEAD"]));
    // The head is a commit only if the working tree is clean.
    assert_eq!(paths(), (vec![], head.clone(), head.clone()));
    write("load.orch.yaml", &LOAD.replace("select 1", "select 2"));
    assert_eq!(
        paths(),
        (
            vec!["modified load.orch.yaml".to_owned()],
            head,
            serde_json::Value::Null
        )
    );
}

#[test]
fn diff_in_job_uses_base_and_head_of_context() {
    let world = edit_of_load(LOAD);
    world.write("load.orch.yaml", LOAD.replace("select 1", "select 2"));
    let head = world.commit("edit");
    world.git("push -q origin edit");
    // The default checkout of a pull request is a merge with its target.
    world.git("checkout -q main");
    world.write("other.orch.yaml", LOAD);
    world.commit("other");
    world.push();
    world.git("checkout -q --detach edit");
    world.git("merge -q --no-edit main");
    let event = world.path().join("event.json");
    let base = world.git("rev-parse main");
    let body = json!({ "pull_request": { "number": 1, "head": { "sha": head, "ref": "edit", "repo": { "full_name": "o/r" } },
        "base": { "sha": base, "ref": "main", "repo": { "full_name": "o/r" } } } });
    std::fs::write(&event, body.to_string()).unwrap();
    let call = Call::new(&world.work())
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", "pull_request")
        .variable("GITHUB_EVENT_PATH", event.to_str().unwrap())
        .variable("GITHUB_REPOSITORY", "o/r")
        .variable("GITHUB_SHA", world.git("rev-parse HEAD"))
        .variable("GITHUB_REF", "refs/pull/1/merge")
        .variable("GITHUB_HEAD_REF", "edit")
        .variable("GITHUB_BASE_REF", "main");
    let context = call.run("context -o json").expect(0).json();
    let report = call.run("diff -o json").expect(0).json();
    assert_eq!(
        (&report["base"], &report["head"]),
        (&context["base"], &context["head"])
    );
    assert_eq!(report["head"], json!(head));
    assert_eq!(report["pipelines"].as_array().unwrap().len(), 1);
}

#[test]
fn revision_that_is_taken_for_path_is_named() {
    let world = edit_of_load(LOAD);
    let output = diff(&world, "HEAD~1").expect(2);
    output.saying(&["`HEAD~1` is a revision", "HEAD~1..HEAD", "--base HEAD~1"]);
    let output = diff(&world, "no-such-file").expect(2);
    assert!(!output.err.contains("is a revision"), "{}", output.all());
}

#[test]
fn broken_interface_is_shown_to_people() {
    let world = edit_of_load(LOAD);
    let shared = |parameters: &str| {
        format!("pipelines:\n  - {{ id: load, pipeline: load.orch.yaml, parameters: {{ {parameters} }} }}\n")
    };
    world.write(".platform/shared-pipelines.yaml", shared("p: { default: 1 }"));
    world.commit("shared");
    world.write(".platform/shared-pipelines.yaml", shared(""));
    let expected_text = "the parameter";
    let text = diff(&world, "HEAD..HEAD").expect(0).out;
    assert!(!text.contains("shared pipelines"), "{text}");
    world.commit("broken");
    for format in ["text", "markdown", "html"] {
        let output = diff(&world, format!("HEAD~1..HEAD -o {format}")).expect(0).out;
        assert!(
            output.contains("1 break") && output.contains(expected_text),
            "{format}: {output}"
        );
    }
    diff(&world, "HEAD~1..HEAD --exit-code").expect(1);
}

#[test]
fn copy_is_added_with_its_origin() {
    let world = edit_of_load(LOAD);
    let call = Call::new(&world.work());
    call.run("init --git-diff").expect(0);
    world.write("copy.orch.yaml", LOAD);
    world.write("load.orch.yaml", LOAD.replace("limit: 10", "limit: 20"));
    world.git("add -A");
    let text = git_diff(&world, &["diff", "-C", "--cached"]);
    assert!(
        text.contains(
            "copy.orch.yaml: new pipeline: 3 components, 2 links, 1 variable\n  copied from load.orch.yaml\n"
        ),
        "{text}"
    );
    assert!(!text.contains("renamed"), "{text}");
}

#[test]
fn colours_reach_the_pager_of_git_unless_they_are_off() {
    let world = edit_of_load(&LOAD.replace("select 1", "select 2"));
    let old = world.path().join("old.orch.yaml");
    std::fs::write(&old, LOAD).unwrap();
    let args = [
        "diff",
        "--external",
        "load.orch.yaml",
        old.to_str().unwrap(),
        "0",
        "100644",
        "load.orch.yaml",
        "0",
        "100644",
    ];
    let call = || Call::new(&world.work()).variable("GIT_PAGER_IN_USE", "true");
    assert!(call().run(&args).expect(0).out.contains("\u{1b}["));
    let plain = [call().variable("NO_COLOR", "1"), Call::new(&world.work())];
    for call in plain {
        assert!(!call.run(&args).expect(0).out.contains('\u{1b}'));
    }
    world.git("config color.ui false");
    assert!(!call().run(&args).expect(0).out.contains('\u{1b}'));
}

#[test]
fn program_that_git_would_not_find_is_reported() {
    let world = edit_of_load(LOAD);
    let call = Call::new(&world.work()).variable("PATH", "/nowhere");
    call.run("init --git-diff").expect(0).saying(&[
        "`sluicegate` is not on the PATH",
        "git config diff.sluicegate.command",
    ]);
}

/// `top` calls `middle`, which calls `load`; `other` calls a pipeline in which only the layout changed.
#[test]
fn diff_lists_unchanged_callers_with_their_path() {
    let world = edit_of_load(LOAD);
    let calls = |target: &str| {
        format!(
            "type: orchestration\npipeline:\n  components:\n    Call: {{ type: run-orchestration, parameters: {{ orchestrationJob: {target} }} }}\n"
        )
    };
    world.write("top.orch.yaml", calls("a/middle"));
    world.write("a/middle.orch.yaml", calls("load"));
    world.write("moved.orch.yaml", LOAD);
    world.write("other.orch.yaml", calls("moved"));
    world.write("gone.orch.yaml", LOAD);
    world.write("left.orch.yaml", calls("gone"));
    world.commit("callers");
    world.push();
    world.write("load.orch.yaml", LOAD.replace("select 1", "select 2"));
    world.write("moved.orch.yaml", LOAD.replace("x: 200", "x: 300"));
    std::fs::remove_file(world.work().join("gone.orch.yaml")).unwrap();
    let output = diff(&world, "--base HEAD --callers").expect(0);
    let (_, text) = output.out.split_once("3 pipelines changed").unwrap();
    insta::assert_snapshot!(text, @"
    , 1 in layout only
    3 unchanged pipelines depend on a changed pipeline
      a/middle.orch.yaml calls load.orch.yaml
      left.orch.yaml calls gone.orch.yaml
      top.orch.yaml calls a/middle.orch.yaml, which calls load.orch.yaml
    ");
    let json = diff(&world, "--base HEAD --callers -o json").expect(0).json();
    let expected = json!([
        { "path": "a/middle.orch.yaml", "through": ["load.orch.yaml"], "certain": true },
        { "path": "left.orch.yaml", "through": ["gone.orch.yaml"], "certain": true },
        { "path": "top.orch.yaml", "through": ["a/middle.orch.yaml", "load.orch.yaml"], "certain": true },
    ]);
    assert_eq!(json["callers"], expected);
    for format in ["markdown", "html"] {
        let page = diff(&world, format!("--base HEAD --callers -o {format}"))
            .expect(0)
            .out;
        assert!(
            page.contains("3 unchanged pipelines depend on a changed pipeline"),
            "{page}"
        );
        assert!(page.contains("a/middle.orch.yaml"), "{page}");
    }
    let silent = diff(&world, "--base HEAD -o json").expect(0).json();
    assert!(silent.get("callers").is_none());
}

/// A removed copy of a pipeline does not make a call ambiguous that leads to the remaining file.
#[test]
fn caller_of_remaining_file_does_not_call_removed_copy() {
    let world = edit_of_load(LOAD);
    let calls = |target: &str| {
        format!(
            "type: orchestration\npipeline:\n  components:\n    Call: {{ type: run-orchestration, parameters: {{ orchestrationJob: {target} }} }}\n"
        )
    };
    world.write("kept/first.orch.yaml", LOAD);
    world.write("copy/first.orch.yaml", LOAD);
    world.write("top/caller.orch.yaml", calls("first"));
    world.write("copy/beside.orch.yaml", calls("first"));
    world.write("top/exact.orch.yaml", calls("copy/first"));
    world.commit("copies");
    world.git("rm -q copy/first.orch.yaml");
    world.commit("remove copy");
    let json = diff(&world, "HEAD~1..HEAD --callers -o json").expect(0).json();
    let callers = json["callers"].as_array().unwrap().iter();
    let paths: Vec<&str> = callers.map(|caller| caller["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["copy/beside.orch.yaml", "top/exact.orch.yaml"]);
}

#[test]
fn diff_of_pipeline_excluded_from_review_shows_its_change() {
    for globs in [
        "review: { exclude: [\"load.*\"] }\n",
        "exclude: [\"load.*\"]\n",
        "include: [\"other/**\"]\n",
    ] {
        let world = edit_of_load(LOAD);
        world.write("sluicegate.yaml", globs);
        world.commit("globs");
        world.git("push -q origin HEAD:main");
        diff(&world, "--exit-code").expect(0);
        world.write("load.orch.yaml", &LOAD.replace("select 1", "select 2"));
        for args in ["--exit-code", "--exit-code load.orch.yaml"] {
            let output = diff(&world, args).expect(1).out;
            assert!(
                output.starts_with("load.orch.yaml: modified"),
                "{globs}: {output}"
            );
        }
        let output = diff(&world, "--exit-code --exclude load.*").expect(0).out;
        assert_eq!(output, "no pipeline differs\n", "{globs}");
    }
}

#[test]
fn diff_of_checked_out_commit_as_path_names_base_flag() {
    let world = edit_of_load(&LOAD.replace("select 1", "select 2"));
    diff(&world, "HEAD").expect(2).saying(&["pass --base HEAD"]);
    diff(&world, "--base HEAD --exit-code").expect(1);
    world.commit("edit");
    diff(&world, "HEAD~1").expect(2).saying(&["pass HEAD~1..HEAD"]);
}

#[test]
fn diff_of_component_with_null_as_type_has_null() {
    let world = edit_of_load(&LOAD.replace("type: sql-executor", "type: ~"));
    let document = diff(&world, "-o json").expect(0).json();
    let component = &document["pipelines"][0]["components"][0];
    assert_eq!(component["name"], "Load", "{document}");
    assert_eq!(component["type"], json!(null), "{document}");
    let world = edit_of_load(&LOAD.replace("type: sql-executor", "type: '~'"));
    let document = diff(&world, "-o json").expect(0).json();
    assert_eq!(
        document["pipelines"][0]["components"][0]["type"], "~",
        "{document}"
    );
}

/// Returns a pipeline whose second component has this name, and whose first component links to `start_target`.
fn pipeline_with_link(name: &str, start_target: &str) -> String {
    format!(
        "type: orchestration\npipeline:\n  components:\n    \
         Start: {{ type: start, transitions: {{ unconditional: [{start_target}] }} }}\n    \
         {name}: {{ type: sql-executor, transitions: {{ success: [End] }}, parameters: {{ q: 1, r: 2 }} }}\n    \
         End: {{ type: end-success }}\n"
    )
}

#[test]
fn component_with_link_to_its_old_name_is_not_renamed() {
    for (start_target, is_renamed) in [("Load customers", true), ("Load", false)] {
        let world = project();
        world.write("load.orch.yaml", pipeline_with_link("Load", "Load"));
        world.commit("load");
        world.write(
            "load.orch.yaml",
            pipeline_with_link("Load customers", start_target),
        );
        let text = diff(&world, "--base HEAD").expect(0).out;
        assert_eq!(text.contains("was Load"), is_renamed, "{text}");
        // Nobody changed the link of the first component.
        assert!(!text.contains("Start"), "{text}");
        let document = diff(&world, "--base HEAD -o json").expect(0).json();
        let links = document["pipelines"][0]["links"].as_array().unwrap();
        let expected: &[&str] = if is_renamed {
            &[]
        } else {
            &["Load", "Load customers"]
        };
        let starts: Vec<&str> = links.iter().map(|link| link["from"].as_str().unwrap()).collect();
        assert_eq!(starts, expected, "{text}");
        let picture = diff(&world, "--base HEAD -o svg").expect(0).out;
        assert!(
            picture.contains(&format!(
                "data-from=\"Start\" data-to=\"{start_target}\" data-kind=\"unconditional\" data-change=\"same\""
            )),
            "{picture}"
        );
    }
}

#[test]
fn caller_of_ambiguous_name_may_call_the_pipeline() {
    let world = edit_of_load(LOAD);
    let call = "type: orchestration\npipeline:\n  components:\n    \
                Call: { type: run-orchestration, parameters: { orchestrationJob: child } }\n";
    world.write("a/child.orch.yaml", LOAD);
    world.write("main.orch.yaml", call);
    world.write("top.orch.yaml", call.replace("child", "main"));
    for (is_ambiguous, expected) in [
        (
            false,
            "2 unchanged pipelines depend on a changed pipeline\n  main.orch.yaml calls a/child.orch.yaml\n  \
             top.orch.yaml calls main.orch.yaml, which calls a/child.orch.yaml\n",
        ),
        (
            true,
            "2 unchanged pipelines may depend on a changed pipeline\n  \
             main.orch.yaml may call a/child.orch.yaml\n  \
             top.orch.yaml calls main.orch.yaml, which may call a/child.orch.yaml\n",
        ),
    ] {
        if is_ambiguous {
            world.write("b/child.orch.yaml", LOAD);
        }
        world.commit("callers");
        world.write("a/child.orch.yaml", LOAD.replace("select 1", "select 2"));
        let text = diff(&world, "--base HEAD --callers").expect(0).out;
        assert!(text.ends_with(expected), "{text}");
        world.write("a/child.orch.yaml", LOAD);
    }
}

/// A shorter chain of calls may be uncertain: the pipeline that surely depends on the change is still counted as such.
#[test]
fn callers_with_and_without_certain_chain_are_counted_apart() {
    let world = edit_of_load(LOAD);
    let call = |names: &[&str]| {
        let mut text = "type: orchestration\npipeline:\n  components:\n".to_owned();
        for name in names {
            let component = format!(
                "    {name}: {{ type: run-orchestration, parameters: {{ orchestrationJob: {name} }} }}\n"
            );
            text.push_str(&component);
        }
        text
    };
    world.write("a/child.orch.yaml", LOAD);
    world.write("b/child.orch.yaml", LOAD);
    world.write("certain.orch.yaml", call(&["a/child"]));
    world.write("both.orch.yaml", call(&["child", "certain"]));
    world.write("possible.orch.yaml", call(&["child"]));
    world.commit("callers");
    world.write("a/child.orch.yaml", LOAD.replace("select 1", "select 2"));
    let text = diff(&world, "--base HEAD --callers").expect(0).out;
    let expected = "2 unchanged pipelines depend on a changed pipeline; 1 unchanged pipeline may depend on a changed pipeline\n  \
                    both.orch.yaml calls certain.orch.yaml, which calls a/child.orch.yaml\n  \
                    certain.orch.yaml calls a/child.orch.yaml\n  \
                    possible.orch.yaml may call a/child.orch.yaml\n";
    assert!(text.ends_with(expected), "{text}");
    let callers = &diff(&world, "--base HEAD --callers -o json").expect(0).json()["callers"];
    let is_certain: Vec<&serde_json::Value> = callers
        .as_array()
        .unwrap()
        .iter()
        .map(|caller| &caller["certain"])
        .collect();
    assert_eq!(is_certain, [true, true, false]);
}

/// `PyYAML` writes such tags if it quotes every scalar.
#[test]
fn quoted_value_with_tag_of_its_type_is_equal_to_plain_value() {
    let world = World::new();
    let text = |values: &str| {
        format!(
            "type: orchestration\npipeline:\n  components:\n    A:\n      type: start\n      parameters: {{ {values} }}\n"
        )
    };
    world.write("p.orch.yaml", text("a: true, b: null, c: 5, d: 1.5"));
    world.commit("plain");
    let tagged = "a: !!bool \"true\", b: !!null \"null\", c: !!int \"5\", d: !!float \"1.5\"";
    world.write("p.orch.yaml", text(tagged));
    let output = Call::new(&world.work()).run("diff --exit-code").expect(0);
    assert!(output.out.contains("only the layout changed"), "{}", output.all());
    world.write("p.orch.yaml", text("a: \"true\", b: null, c: 5, d: 1.5"));
    Call::new(&world.work()).run("diff --exit-code").expect(1);
}

#[test]
fn unknown_transition_key_is_a_field() {
    let world = edit_of_load(&LOAD.replace("success: [Done]", "sucess: [Done]"));
    let document = diff(&world, "-o json").expect(0).json();
    let pipeline = &document["pipelines"][0];
    assert_eq!(
        pipeline["links"],
        json!([{ "from": "Load", "to": "Done", "kind": "success", "change": "removed" }])
    );
    let fields = &pipeline["components"][0]["fields"];
    assert_eq!(
        fields[0]["path"],
        json!(["transitions", "sucess", 0]),
        "{pipeline}"
    );
    assert_eq!(fields[0]["after"], "Done");
    // The case of a known key has no effect on what it is.
    let world = edit_of_load(&LOAD.replace("success: [Done]", "FAILURE: [Done]"));
    let document = diff(&world, "-o json").expect(0).json();
    assert_eq!(
        document["pipelines"][0]["links"].as_array().map(Vec::len),
        Some(2)
    );
    assert_eq!(document["pipelines"][0]["components"], json!([]));
}
