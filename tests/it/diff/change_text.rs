//! The text of a change: values with their names instead of addresses in the file.

use crate::support::{Call, World, project};

const START: &str = "type: orchestration\npipeline:\n  components:\n";

/// Creates a world with `a.orch.yaml` before and after a change, and returns the text of the change.
fn describe_change(before: &str, after: &str) -> String {
    let world: World = project();
    world.write("a.orch.yaml", before);
    world.commit("before");
    world.push();
    world.write("a.orch.yaml", after);
    Call::new(&world.work()).run("diff").expect(0).out
}

fn components(names: &[&str], parameters: &str) -> String {
    names.iter().fold(START.to_owned(), |text, name| {
        format!("{text}    {name}:\n      type: sql-executor\n      parameters: {{ rows: 1{parameters} }}\n")
    })
}

#[test]
fn value_added_in_several_components_is_one_line() {
    let names = ["Load", "Clean", "Count"];
    let text = describe_change(&components(&names, ""), &components(&names, ", mode: all"));
    insta::assert_snapshot!(text, @"
    a.orch.yaml: modified
      + mode: all added in 3 components: Load, Clean, Count

    1 pipeline changed
    ");
    // A component with another change is listed, too; two components are listed separately.
    let after = components(&names, ", mode: all").replacen("rows: 1", "rows: 2", 1);
    let text = describe_change(&components(&names, ""), &after);
    assert!(
        text.contains("  ~ Load (sql-executor)\n    ~ rows: 1 -> 2\n") && !text.contains("~ Clean"),
        "{text}"
    );
    let text = describe_change(
        &components(&names[1..], ""),
        &components(&names[1..], ", mode: all"),
    );
    assert!(
        text.contains("~ Clean (sql-executor)\n    + mode: all\n"),
        "{text}"
    );
}

#[test]
fn moved_variable_is_listed_once_with_its_new_value() {
    let variables = |indent: &str, day: &str| {
        format!(
            "{indent}variables:\n{indent}  region: {{ metadata: {{ type: TEXT }}, defaultValue: eu }}\n\
             {indent}  day: {{ metadata: {{ type: TEXT }}, defaultValue: {day} }}\n"
        )
    };
    let components = components(&["Load"], "");
    let (below, top) = (
        components.clone() + &variables("  ", "one"),
        components + &variables("", "two"),
    );
    insta::assert_snapshot!(describe_change(&below, &top), @"
    a.orch.yaml: modified
      ~ region (variable): moved from pipeline.variables to variables
      ~ day (variable): moved from pipeline.variables to variables
        ~ defaultValue: one -> two

    1 pipeline changed
    ");
    let text = describe_change(&top, &below);
    assert!(
        text.contains("~ region (variable): moved from variables to pipeline.variables"),
        "{text}"
    );
}

#[test]
fn entries_of_lists_have_names_instead_of_numbers() {
    let parameters = |columns: &str, grids: &str| {
        format!(
            ", columns: [{columns}], tableColumns: [one{}], setGridVariables: [{grids}], updateScalarVariables: [[day, today]]",
            if columns.contains("size") { ", two" } else { "" }
        )
    };
    let before = parameters(
        "{ name: city, childElements: [{ name: zip, include: false }] }",
        "",
    );
    let after = parameters(
        "{ name: city, childElements: [{ name: zip, include: true }] }, { name: street, size: 9, isArray: false }",
        "{ variable: states, status: grid }",
    )
    .replace("today", "tomorrow");
    let text = describe_change(&components(&["Load"], &before), &components(&["Load"], &after));
    insta::assert_snapshot!(text, @"
    a.orch.yaml: modified
      ~ Load (sql-executor)
        ~ columns, city, childElements, zip, include: false -> true
        + columns: street (size: 9, isArray: false)
        + tableColumns: two
        + sets states (status: grid)
        ~ sets day = today -> tomorrow

    1 pipeline changed
    ");
}

#[test]
fn changed_grid_variable_of_a_call_is_set_by_its_name() {
    let call = |grid: &str| {
        components(
            &["Load"],
            &format!(", setGridVariables: [{grid}], columns: [{grid}]"),
        )
    };
    let grid = |column: &str, row: &str| {
        format!(
            "{{ name: states, gridValues: {{ fromGrid: {{ columns: [{column}] }}, fixed: [[a, {row}]] }} }}"
        )
    };
    let text = describe_change(&call(&grid("code", "1")), &call(&grid("name", "2")));
    insta::assert_snapshot!(text, @"
    a.orch.yaml: modified
      ~ Load (sql-executor)
        ~ sets states, gridValues.fromGrid.columns: code -> name
        ~ sets states, gridValues.fixed, a: 1 -> 2
        ~ columns, states, gridValues.fromGrid.columns: code -> name
        ~ columns, states, gridValues.fixed, a: 1 -> 2

    1 pipeline changed
    ");
}

#[test]
fn changed_row_of_grid_variable_is_described_with_its_first_value() {
    let with = |rows: &str| format!("[{{ variable: tables, status: values, gridValues: [{rows}] }}]");
    let before = with("[ORDERS], [ITEMS]");
    let describe = |rows: &str| describe_list_change("setGridVariables", &before, &with(rows));
    assert_eq!(
        describe("[PAYROLL], [ITEMS]"),
        "~ sets tables, gridValues: ORDERS -> PAYROLL\n"
    );
    assert_eq!(
        describe("[ORDERS], [ITEMS], [PAYROLL, x]"),
        "+ sets tables, gridValues: PAYROLL, x\n"
    );
    assert_eq!(describe("[ORDERS]"), "- sets tables, gridValues: ITEMS\n");
    // The name of a scalar variable is only before the equals sign.
    let text = describe_list_change("setScalarVariables", "[[a, 1]]", "[[a, 1], [b, 2]]");
    assert_eq!(text, "+ sets b = 2\n");
}

#[test]
fn change_without_name_of_field_has_no_separator() {
    let text = describe_change(
        &components(&["Load"], "").replace("type: orchestration\n", "type: orchestration\nlog: {}\n"),
        &components(&["Load"], ", '': x").replace("type: orchestration\n", "type: orchestration\nlog: {}\n"),
    );
    assert!(text.contains("\n    + \"\": x\n"), "{text}");
    let variables = |value: &str| format!("{}  variables:\n    v: {value}\n", components(&["Load"], ""));
    let text = describe_change(&variables("null"), &variables("{}"));
    assert!(text.contains("\n  ~ v (variable)\n    ~ null -> {}\n"), "{text}");
}

#[test]
fn components_that_stop_leave_lines_for_other_changes() {
    let names: Vec<String> = (0..420).map(|at| format!("N{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let before = components(&names, "");
    let head =
        components(&names, ", mode: all").replace("sql-executor\n", "sql-executor\n      skipped: true\n");
    let text = describe_change(&before, &format!("{head}version: 2\n"));
    assert_eq!(
        text.matches("will no longer run: it is skipped").count(),
        400,
        "{text}"
    );
    assert!(
        text.contains("\u{2026} 20 more components will no longer run\n"),
        "{text}"
    );
    assert!(text.contains("skipped: true added in 420 components"), "{text}");
    assert!(text.contains("\n  + version: 2\n"), "{text}");
    assert!(!text.contains("and more:"), "{text}");
}

#[test]
fn new_variable_is_one_line_with_value_and_kind() {
    let variables = |list: &str| {
        components(&["Load"], "")
            + &format!(
                "  variables:\n    old: {{ metadata: {{ type: TEXT, scope: SHARED }}, defaultValue: eu }}\n{list}"
            )
    };
    let before = variables("");
    let after = variables("    day: { metadata: { type: TEXT, scope: COPIED, visibility: PUBLIC }, defaultValue: today }\n    list: { metadata: { type: GRID, columns: { state: { columnType: TEXT } } }, defaultValue: [] }\n")
        .replace("defaultValue: eu", "defaultValue: us");
    insta::assert_snapshot!(describe_change(&before, &after), @"
    a.orch.yaml: modified
      ~ old = eu -> us (variable)
      + day = today (variable, TEXT, COPIED, PUBLIC)
      + list (variable, GRID)
        + columns.state.columnType: TEXT

    1 pipeline changed
    ");
}

/// Returns the text of the change to a list in the parameters of a component, without the lines around it.
fn describe_list_change(key: &str, before: &str, after: &str) -> String {
    let with = |rows: &str| components(&["Load"], &format!(", {key}: {rows}"));
    let text = describe_change(&with(before), &with(after));
    let mut change = String::new();
    for line in text.lines().skip(2).take_while(|line| !line.is_empty()) {
        change.push_str(line.trim_start());
        change.push('\n');
    }
    change
}

#[test]
fn row_that_was_inserted_or_removed_is_the_only_one_described() {
    let (before, after) = (
        "[[c0, v0], [c1, v1], [c2, v2]]",
        "[[c9, v9], [c0, v0], [c1, v1], [c2, v2]]",
    );
    let text = describe_list_change("columns", before, after);
    assert_eq!(text, "+ columns: c9, v9\n");
    assert_eq!(
        describe_list_change("columns", after, before),
        "- columns: c9, v9\n"
    );
    let text = describe_list_change("columns", before, "[[c1, v1], [c9, v9], [c2, new]]");
    assert_eq!(
        text,
        "- columns: c0, v0\n+ columns: c9, v9\n~ columns, c2: v2 -> new\n"
    );
    let text = describe_list_change("keys", "[a, b, c]", "[x, a, b, c]");
    assert_eq!(text, "+ keys: x\n");
    let text = describe_list_change(
        "columns",
        "[{ name: a, type: 1 }, { name: b, type: 2 }]",
        "[{ name: x, type: 0 }, { name: a, type: 1 }, { name: b, type: 3 }]",
    );
    assert_eq!(text, "+ columns: x (type: 0)\n~ columns, b, type: 2 -> 3\n");
}

#[test]
fn moved_row_is_one_line_and_moved_assignment_with_new_value_is_its_change() {
    let text = describe_list_change("columns", "[[a, 1], [b, 2]]", "[[b, 2], [a, 1]]");
    assert_eq!(text, "~ columns: b moved\n");
    let text = describe_list_change("setScalarVariables", "[[a, 1], [b, 2]]", "[[b, 2], [a, 3]]");
    assert_eq!(text, "~ sets a = 1 -> 3\n");
    let text = describe_list_change("setScalarVariables", "[[a, 1], [b, 2]]", "[[b, 2], [a, 1]]");
    assert_eq!(text, "~ setScalarVariables: b moved\n");
    let text = describe_list_change(
        "setGridVariables",
        "[{ variable: a, gridValues: [[1]] }, { variable: b, gridValues: [[2]] }]",
        "[{ variable: b, gridValues: [[2]] }, { variable: a, gridValues: [[1]] }]",
    );
    assert_eq!(text, "~ setGridVariables: b moved\n");
    let text = describe_list_change(
        "columns",
        "[{ name: s }, { name: t, rows: [[x, 1], [y, 2]] }]",
        "[{ name: s }, { name: t, rows: [[y, 2], [x, 1]] }]",
    );
    assert_eq!(text, "~ columns, t, rows: y moved\n");
    // A row with a new value did not only move.
    let text = describe_list_change("columns", "[[b, 2], [a, 1]]", "[[a, 1], [b, 3]]");
    assert_eq!(text, "~ columns: a moved\n~ columns, b: 2 -> 3\n");
}

#[test]
fn moved_added_and_removed_entries_inside_changed_entry_are_one_line_each() {
    let column = |kind: &str, children: &str| {
        format!("[{{ name: s }}, {{ name: t, type: {kind}, children: [{children}] }}]")
    };
    let (a, b, c) = (
        "{ name: a, type: 1, size: 2 }",
        "{ name: b, type: 3, size: 4 }",
        "{ name: c, type: 5, size: 6 }",
    );
    let describe = |before: &str, after: &str| describe_list_change("columns", before, after);
    let old_columns = column("map", &format!("{a}, {b}, {c}"));
    let text = describe(&old_columns, &column("list", &format!("{b}, {c}, {a}")));
    assert_eq!(
        text,
        "~ columns, t, type: map -> list\n~ columns, t, children: a moved\n"
    );
    let text = describe(&old_columns, &column("map", &format!("{a}, {c}")));
    assert_eq!(text, "- columns, t, children: b (type: 3, size: 4)\n");
    let text = describe(&column("map", &format!("{a}, {c}")), &old_columns);
    assert_eq!(text, "+ columns, t, children: b (type: 3, size: 4)\n");
    // A moved entry with a new value did not only move.
    let changed_a = a.replace("size: 2", "size: 7");
    let text = describe(&old_columns, &column("map", &format!("{b}, {c}, {changed_a}")));
    assert_eq!(
        text,
        "- columns, t, children: a (type: 1, size: 2)\n+ columns, t, children: a (type: 1, size: 7)\n"
    );
    // A value of an entry that both versions have keeps its own line.
    let text = describe(&old_columns, &column("map", &format!("{changed_a}, {b}, {c}")));
    assert_eq!(text, "~ columns, t, children, a, size: 2 -> 7\n");
}

#[test]
fn new_assignment_among_moved_ones_is_the_only_one_described() {
    let describe = |before: &str, after: &str| describe_list_change("setScalarVariables", before, after);
    let text = describe("[[a, 1], [b, 2]]", "[[b, 2], [a, 1], [c, 2]]");
    assert_eq!(text, "+ sets c = 2\n");
    let text = describe("[[b, 2], [a, 1], [c, 2]]", "[[a, 1], [b, 2]]");
    assert_eq!(text, "- sets c = 2\n");
    let text = describe("[[a, 1], [b, 2]]", "[[b, 2], [a, 3], [c, 4]]");
    assert_eq!(text, "~ sets a = 1 -> 3\n+ sets c = 4\n");
    // A list of entries with names.
    let entry = |name: &str, value: &str| format!("{{ variable: {name}, gridValues: [[{value}]] }}");
    let before = format!("[{}, {}]", entry("a", "1"), entry("b", "2"));
    let after = format!("[{}, {}, {}]", entry("b", "2"), entry("a", "1"), entry("c", "2"));
    let text = describe_list_change("setGridVariables", &before, &after);
    assert_eq!(text, "+ sets c (gridValues.1: 2)\n");
    // Without a moved entry, a replaced one is still described as one change.
    let text = describe("[[a, 1], [b, 2]]", "[[a, 1], [c, 2]]");
    assert_eq!(text, "~ sets c instead of b\n");
    let text = describe("[[a, 1], [b, 2]]", "[[a, 1], [c, 3]]");
    assert_eq!(text, "- sets b = 2\n+ sets c = 3\n");
}

#[test]
fn inserted_or_moved_empty_entry_is_described_by_the_entries_after_it() {
    for (before, after, expected) in [
        ("[a, b]", "[a, '', b]", "~ keys: b -> \"\"\n+ keys: b\n"),
        ("[a, b]", "[a, null, b]", "~ keys: b -> null\n+ keys: b\n"),
        (
            "[a, null, b]",
            "[null, a, b]",
            "~ keys: a -> null\n~ keys: null -> a\n",
        ),
        (
            "['', a, b]",
            "[a, b, '']",
            "~ keys: \"\" -> a\n~ keys: a -> b\n~ keys: b -> \"\"\n",
        ),
    ] {
        assert_eq!(describe_list_change("keys", before, after), expected, "{after}");
    }
    for (before, after) in [
        ("[[a, 1], [b, 2]]", "[['', ''], [a, 1], [b, 2]]"),
        ("[[a, 1], ['', ''], [b, 2]]", "[[a, 1], [b, 2]]"),
    ] {
        let text = describe_list_change("columns", before, after);
        assert!(text.contains("~ columns"), "{text}");
    }
    // With a value, the row is described alone.
    let text = describe_list_change("columns", "[[a, 1], [b, 2]]", "[['', 3], [a, 1], [b, 2]]");
    assert!(
        text.starts_with("+ columns") && text.lines().count() == 1,
        "{text}"
    );
    let text = describe_list_change("setScalarVariables", "[[a, ''], [b, 2]]", "[[b, 2], [a]]");
    assert!(text.contains("sets"), "{text}");
}

#[test]
fn list_with_very_many_changes_is_described_by_index() {
    let rows = |range: std::ops::Range<usize>| -> Vec<String> {
        range.map(|index| format!("[c{index}, v{index}]")).collect()
    };
    let format_list = |rows: &[String]| format!("[{}]", rows.join(", "));
    let before = rows(0..400);
    let mut after = before.clone();
    after[0] = "[first, v0]".to_owned();
    after[399] = "[last, v399]".to_owned();
    after.push("[added, x]".to_owned());
    let text = describe_list_change("columns", &format_list(&before), &format_list(&after));
    assert_eq!(
        text,
        "~ columns: c0 -> first\n~ columns: c399 -> last\n+ columns: added, x\n"
    );
    // Equal rows at both ends do not count.
    let mut after = before.clone();
    after.insert(200, "[added, x]".to_owned());
    let text = describe_list_change("columns", &format_list(&before), &format_list(&after));
    assert_eq!(text, "+ columns: added, x\n");
}

#[test]
fn lists_of_a_file_are_only_aligned_up_to_a_limit() {
    let list = |name: usize, is_rotated: bool| {
        let mut entries: Vec<String> = (0..300).map(|index| format!("k{name}x{index}")).collect();
        entries.rotate_left(usize::from(is_rotated));
        format!(
            "    L{name}:\n      type: sql-executor\n      parameters: {{ keys: [{}] }}\n",
            entries.join(", ")
        )
    };
    let text_with =
        |is_rotated: bool| (10..30).fold(START.to_owned(), |text, name| text + &list(name, is_rotated));
    let text = describe_change(&text_with(false), &text_with(true));
    let aligned_count = (10..30)
        .filter(|name| text.contains(&format!("    - keys: k{name}x0\n    + keys: k{name}x0\n")))
        .count();
    assert_eq!(aligned_count, 11, "{text}");
    assert!(text.contains("~ keys: k21x0 -> k21x1\n"), "{text}");
}

#[test]
fn json_contains_each_leaf_of_an_inserted_row_by_its_index() {
    let world: World = project();
    world.write("a.orch.yaml", components(&["Load"], ", columns: [[a, 1]]"));
    world.commit("before");
    world.push();
    world.write(
        "a.orch.yaml",
        components(&["Load"], ", columns: [[b, 2], [a, 1]]"),
    );
    let report = Call::new(&world.work()).run("diff -o json").expect(0).json();
    let fields = report["pipelines"][0]["components"][0]["fields"]
        .as_array()
        .unwrap();
    assert_eq!(fields.len(), 4, "{report}");
    assert_eq!(fields[0]["before"], "a");
    assert_eq!(fields[0]["after"], "b");
}

#[test]
fn difference_that_is_not_seen_is_shown_as_escape() {
    let with = |value: &str| components(&["Load"], &format!(", note: \"{value}\""));
    for (before, after, words) in [
        ("a b", "a\\u00a0b", r#"~ note: a b -> "a\u{a0}b""#),
        (
            "👨\u{200d}👩 a",
            "👨\u{200d}👩 b",
            "~ note: 👨\u{200d}👩 a -> 👨\u{200d}👩 b\n",
        ),
        ("a", "a\\u200d", r#"~ note: a -> "a\u{200d}""#),
        ("ab", "\\u200bab", r#"~ note: ab -> "\u{200b}ab""#),
        ("a\\nb", "a\\r\\nb", "- a\n      + a\\r\n"),
    ] {
        let text = describe_change(&with(before), &with(after));
        assert!(text.contains(words), "{text}");
    }
    let text = describe_change(&with("a\\r\\nb\\r\\n"), &with("a\\r\\nc\\r\\n"));
    assert!(text.contains("- b\n      + c\n"), "{text}");
    // A line more or less does not make the ends of the others worth a look.
    let text = describe_change(&with("a\\r\\nb\\r\\n"), &with("a\\r\\nb\\r\\nc\\r\\n"));
    assert!(text.contains("+ c\n") && !text.contains("\\r"), "{text}");
}

#[test]
fn link_in_place_of_a_pipeline_is_named_as_the_reason() {
    let world: World = project();
    world.write("a.orch.yaml", components(&["Load"], ""));
    world.write("b.orch.yaml", components(&["Load"], ""));
    world.commit("before");
    std::fs::remove_file(world.work().join("a.orch.yaml")).unwrap();
    std::os::unix::fs::symlink("b.orch.yaml", world.work().join("a.orch.yaml")).unwrap();
    world.commit("after");
    for args in ["diff HEAD~1..HEAD", "diff --base HEAD~1"] {
        let text = Call::new(&world.work()).run(args).expect(0).out;
        assert!(
            text.contains(
                "a.orch.yaml: cannot be read in the new version: the path is a symbolic link, not a file"
            ),
            "{text}"
        );
    }
}

#[test]
fn page_names_each_row_once_and_counts_a_moved_variable_as_changed() {
    let variables = "variables: { day: { metadata: { type: TEXT }, defaultValue: today } }\n";
    let rows = |rows: &str| components(&["Load"], &format!(", columns: {rows}"));
    let world: World = project();
    world.write(
        "a.orch.yaml",
        format!("{}  {variables}", rows("[[a, 1], [b, 2]]")),
    );
    world.commit("before");
    world.push();
    world.write("a.orch.yaml", format!("{}{variables}", rows("[[b, 2], [a, 1]]")));
    let page = Call::new(&world.work()).run("diff -o html").expect(0).out;
    assert!(page.contains("1 variable changed"), "{page}");
    assert!(
        !page.contains("variable removed") && !page.contains("other value"),
        "{page}"
    );
    assert!(!page.contains("a, a") && !page.contains("b, b"), "{page}");
}

#[test]
fn copied_pipeline_is_new_and_names_its_source() {
    let world: World = project();
    world.write("a.orch.yaml", components(&["Load"], ""));
    world.commit("before");
    world.push();
    world.write("b.orch.yaml", components(&["Load"], ""));
    // The source may change together with the copy.
    world.write("a.orch.yaml", components(&["Clean"], ", mode: all"));
    world.write("c.orch.yaml", components(&["Count"], ""));
    let call = Call::new(&world.work());
    let expected = "b.orch.yaml: new pipeline: 1 component; copied from a.orch.yaml\n";
    let text = call.run("diff").expect(0).out;
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains("c.orch.yaml: new pipeline: 1 component\n"),
        "{text}"
    );
    world.commit("after");
    let text = call.run("diff HEAD~1..HEAD").expect(0).out;
    assert!(text.contains(expected), "{text}");
    let report = call.run("diff HEAD~1..HEAD -o json").expect(0).json();
    assert_eq!(report["pipelines"][1]["change"], "added", "{report}");
    assert_eq!(report["pipelines"][1]["previousPath"], "a.orch.yaml");
    assert!(report["pipelines"][2]["previousPath"].is_null(), "{report}");
    for format in ["html", "markdown"] {
        let page = call.run(format!("diff HEAD~1..HEAD -o {format}")).expect(0).out;
        assert_eq!(page.matches("copied from").count(), 1, "{page}");
    }
}

#[test]
fn reports_of_a_check_name_the_source_of_a_copied_pipeline() {
    let world: World = project();
    world.write("a.orch.yaml", components(&["Load"], ""));
    world.write("old.orch.yaml", components(&["Sort"], ""));
    world.commit("before");
    world.push();
    world.write("b.orch.yaml", components(&["Load"], ""));
    world.write("c.orch.yaml", components(&["Count"], ""));
    world.git("mv old.orch.yaml new.orch.yaml");
    world.commit("after");
    let files = "--report json=r.json --report html=r.html --report markdown=r.md";
    for range in ["--base HEAD~1", "--base HEAD~1 --head HEAD"] {
        let output = Call::new(&world.work()).run(format!("check {range} {files}"));
        for file in ["r.html", "r.md"] {
            let page = world.read_text(file);
            assert!(page.contains("copied from"), "{file}: {page}\n{}", output.err);
            assert!(page.contains("renamed from"), "{file}: {page}");
        }
        let report: serde_json::Value = serde_json::from_str(&world.read_text("r.json")).unwrap();
        let sources: Vec<_> = report["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|change| {
                (
                    change["change"].as_str().unwrap(),
                    change["previousPath"].as_str(),
                )
            })
            .collect();
        let expected = [
            ("added", Some("a.orch.yaml")),
            ("added", None),
            ("renamed", Some("old.orch.yaml")),
        ];
        assert_eq!(sources, expected, "{report}");
    }
}

#[test]
fn pipeline_with_the_content_of_several_ones_names_no_source() {
    let world: World = project();
    world.write("a.orch.yaml", components(&["Load"], ""));
    world.write("b.orch.yaml", components(&["Load"], ""));
    world.commit("before");
    world.push();
    world.write("c.orch.yaml", components(&["Load"], ""));
    let text = Call::new(&world.work()).run("diff").expect(0).out;
    assert!(
        text.contains("c.orch.yaml: new pipeline: 1 component\n"),
        "{text}"
    );
}

#[test]
fn text_of_several_lines_has_the_sign_of_its_change() {
    let script = |lines: &str| format!(", script: \"{lines}\"");
    let with = |parameters: &str| components(&["Load"], parameters);
    // Without a line end after the last line: with one, the text also has an empty last line.
    let two_lines = with(&script("select 1\\nfrom a"));
    for (before, after, sign) in [
        (with(""), two_lines.clone(), '+'),
        (two_lines.clone(), with(""), '-'),
    ] {
        let text = describe_change(&before, &after);
        let expected =
            format!("    {sign} script:\n      {sign} select 1\n      {sign} from a\n\n1 pipeline");
        assert!(text.contains(&expected), "{text}");
    }
    let text = describe_change(&two_lines, &with(&script("select 1\\nfrom b")));
    assert!(text.contains("    ~ script:\n"), "{text}");
    assert!(text.contains("      - from a\n      + from b\n"), "{text}");
}

#[test]
fn added_entry_shows_every_value_except_its_own_name() {
    let grid_entry = |columns: &str| {
        format!("[{{ variable: states, gridValues: {{ variable: states, columns: [{columns}] }} }}]")
    };
    let text = describe_list_change("setGridVariables", "[]", &grid_entry("id"));
    assert_eq!(
        text,
        "+ sets states (gridValues.variable: states, gridValues.columns: id)\n"
    );
    let text = describe_list_change("setGridVariables", "[]", &grid_entry("id, states"));
    assert_eq!(
        text,
        "+ sets states (gridValues.variable: states, gridValues.columns: id, gridValues.columns: states)\n"
    );
    let text = describe_list_change(
        "columns",
        "[]",
        "[{ name: order, type: map, childElements: [{ name: id, type: number }] }]",
    );
    assert_eq!(
        text,
        "+ columns: order (type: map, childElements: id, childElements, id, type: number)\n"
    );
}

#[test]
fn second_edit_of_long_line_is_shown_in_text_and_pages() {
    let columns: Vec<String> = (0..80).map(|number| format!("c{number}")).collect();
    let with = |query: &str| components(&["Load"], &format!(", sql: \"{query}\""));
    let before = format!("select {} from t where day = 1", columns.join(", "));
    let after = before.replace("c3,", "cX,").replace("day = 1", "1 = 1");
    let world: World = project();
    world.write("a.orch.yaml", with(&before));
    world.commit("before");
    world.write("a.orch.yaml", with(&after));
    for format in ["text", "markdown", "html"] {
        let output = Call::new(&world.work())
            .run(format!("diff --base HEAD -o {format}"))
            .expect(0)
            .out;
        assert!(
            output.contains("cX") && output.contains("where 1 = 1") && output.contains("where day = 1"),
            "{output}"
        );
    }
    // Short values stay on one line.
    let text = describe_change(&with("select 1"), &with("select 2"));
    assert!(text.contains("~ sql: select 1 -> select 2\n"), "{text}");
}

#[test]
fn long_values_of_changed_variable_are_both_shown() {
    let with = |default: &str| {
        components(&["Load"], "")
            + &format!("  variables:\n    list: {{ metadata: {{ type: TEXT }}, defaultValue: {default} }}\n")
    };
    let long_value = "abc".repeat(150);
    let text = describe_change(&with(&long_value), &with(&format!("{long_value}X")));
    assert!(
        text.contains("~ list (variable)\n") && text.contains("abcX\n"),
        "{text}"
    );
    let text = describe_change(&with("a"), &with("b"));
    assert!(text.contains("~ list = a -> b (variable)\n"), "{text}");
}
