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
