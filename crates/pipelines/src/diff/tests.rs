//! The model of a change is correct and complete.

use super::leaf::{Leaf, PathStep};
use super::pipeline_diff::FieldDiff;
use super::*;
use crate::findings::FileChange;
use proptest::prelude::*;
use serde_json::{Value, json};
use sluicegate_yaml::{NodeRef, Tree};
use std::collections::{BTreeMap, BTreeSet};

fn diff(before: &str, after: &str) -> PipelineDiff {
    compare_versions(&PipelineVersions {
        path: "a.orch.yaml",
        previous_path: None,
        base: Some(Ok(before.as_bytes())),
        head: Some(Ok(after.as_bytes())),
    })
}

fn shown(before: &str, after: &str) -> Value {
    serde_json::to_value(diff(before, after)).unwrap()
}

const BASE: &str = r#"type: orchestration
version: "1.0"
pipeline:
  components:
    Start: { type: start, transitions: { unconditional: [Load] }, parameters: { componentName: Start } }
    Load:
      type: sql-executor
      transitions: { success: [Done], failure: [Failed] }
      parameters: { componentName: Load, sqlQuery: "select 1", rows: 10, schema: sales }
    Done: { type: end-success, parameters: { componentName: Done } }
    Failed: { type: end-failure, parameters: { componentName: Failed } }
  variables:
    v: { metadata: { type: TEXT, scope: SHARED }, defaultValue: x }
design:
  components:
    Start: { position: { x: 0, y: 0 } }
"#;

#[test]
fn changed_parameter_is_field_of_component() {
    let after = BASE
        .replace("select 1", "select 2")
        .replace("rows: 10", "limit: 10");
    insta::assert_snapshot!(serde_json::to_string_pretty(&shown(BASE, &after)).unwrap(), @r#"
    {
      "path": "a.orch.yaml",
      "previousPath": null,
      "change": "modified",
      "type": "orchestration",
      "components": [
        {
          "name": "Load",
          "previousName": null,
          "type": "sql-executor",
          "change": "modified",
          "fields": [
            {
              "path": [
                "parameters",
                "sqlQuery"
              ],
              "before": "select 1",
              "after": "select 2"
            },
            {
              "path": [
                "parameters",
                "limit"
              ],
              "after": 10
            },
            {
              "path": [
                "parameters",
                "rows"
              ],
              "before": 10
            }
          ]
        }
      ],
      "links": [],
      "variables": [],
      "other": [],
      "layout": false
    }
    "#);
}

#[test]
fn stopped_component_is_described_first() {
    let load = "type: sql-executor\n      transitions";
    let head = BASE
        .replace("rows: 10", "rows: 11")
        .replace(load, "type: sql-executor\n      skipped: true\n      transitions")
        .replace("Done: { type: end-success", "Done: { type: unknown-end");
    let said: Vec<String> = describe_diff(&diff(BASE, &head), None)
        .iter()
        .map(DiffLine::to_string)
        .collect();
    let first: Vec<&str> = said.iter().skip(1).take(2).map(|line| line.trim()).collect();
    let told = [
        "~ Done will no longer run: the component's type is unknown-end",
        "~ Load will no longer run: it is skipped",
    ];
    assert_eq!(BTreeSet::from_iter(first), BTreeSet::from(told), "{said:#?}");
    let back: Vec<String> = describe_diff(&diff(&head, BASE), None)
        .iter()
        .map(DiffLine::to_string)
        .collect();
    assert!(!back.join("\n").contains("will no longer run"), "{back:#?}");
    // A component of an unknown type did not run before.
    let unknown_type = head.replace("unknown-end", "unknown-other");
    let lines: Vec<String> = describe_diff(&diff(&head, &unknown_type), None)
        .iter()
        .map(DiffLine::to_string)
        .collect();
    assert!(!lines.join("\n").contains("will no longer run"), "{lines:#?}");
}

/// Parameters of each shape. Each value that a test changes is a word of its own.
const SHAPES: [&str; 9] = [
    "a: word0, b: { c: word1 }",
    "list: [word0, word1]",
    "table: [[word0, word1, word2], [word3, word4, word5]]",
    "entries: [{ name: word0, type: word1, rows: [[word2, word3]] }, { name: word4, child: { key: word5 } }]",
    "cubes: [[[word0, word1], [word2]], [[word3]]]",
    "setScalarVariables: [[word0, word1], [word2, word3], [word4]]",
    "updateScalarVariables: [[word0, word1, word2], [word3, [word4, word5]]]",
    "setGridVariables: [{ variable: word0, status: word1, gridValues: [[word2, word3], [word4]] }]",
    "setGridVariables: [{ variable: word0, gridValues: { fromGrid: { name: word1, columns: [word2] }, fixed: [[word3]] } }]",
];

/// Returns the text of the change from one set of parameters of a component to the other.
fn describe_parameters(base: &str, head: &str) -> String {
    let with = |parameters: &str| BASE.replace("schema: sales", parameters);
    let lines = describe_diff(&diff(&with(base), &with(head)), None);
    let lines: Vec<String> = lines.iter().map(DiffLine::to_string).collect();
    lines.join("\n")
}

#[test]
fn each_changed_value_of_parameter_is_in_the_description() {
    for shape in SHAPES {
        let words = (0..6)
            .map(|index| format!("word{index}"))
            .filter(|word| shape.contains(word.as_str()));
        for word in words {
            let text = describe_parameters(shape, &shape.replace(&word, "changed"));
            assert!(
                text.contains("changed") && text.contains(&word),
                "{shape} {word}: {text}"
            );
            // The value of an added or removed entry.
            for text in [
                describe_parameters("x: y", shape),
                describe_parameters(shape, "x: y"),
            ] {
                assert!(text.contains(&word), "{shape} {word}: {text}");
            }
            let text = describe_parameters(shape, &shape.replace("word", "changed"));
            let changed_word = word.replace("word", "changed");
            assert!(
                text.contains(&word) && text.contains(&changed_word),
                "{shape} {word}: {text}"
            );
        }
    }
}

#[test]
fn each_changed_value_that_ends_with_a_separator_is_in_the_description() {
    for shape in SHAPES {
        for (index, value) in ["abc==", "WHERE x =", "note:"].iter().enumerate() {
            let word = format!("word{index}");
            if !shape.contains(&word) {
                continue;
            }
            let quoted_value = format!("'{value}'");
            let new_shape = shape
                .replace("word", "changed")
                .replace(&format!("changed{index}"), &quoted_value);
            for text in [
                describe_parameters(shape, &shape.replace(&word, &quoted_value)),
                describe_parameters(shape, &new_shape),
                describe_parameters("x: y", &new_shape),
                describe_parameters(&new_shape, "x: y"),
            ] {
                assert!(text.contains(value), "{shape} {word}: {text}");
            }
        }
    }
}

#[test]
fn long_name_of_changed_parameter_is_separate_from_its_value() {
    let name = "x".repeat(250);
    let base = BASE.replace("rows: 10", &format!("rows: 10, {name}: 11"));
    let head = BASE;
    let lines: Vec<String> = describe_diff(&diff(&base, head), None)
        .iter()
        .map(DiffLine::to_string)
        .collect();
    assert!(
        lines.iter().any(|line| line.ends_with("more characters): 11")),
        "{lines:#?}"
    );
}

#[test]
fn renamed_component_keeps_links() {
    let after = BASE
        .replace("[Load]", "[Load all]")
        .replace("    Load:", "    Load all:")
        .replace("componentName: Load,", "componentName: Load all,")
        .replace("rows: 10", "rows: 20");
    insta::assert_snapshot!(serde_json::to_string_pretty(&shown(BASE, &after)).unwrap(), @r#"
    {
      "path": "a.orch.yaml",
      "previousPath": null,
      "change": "modified",
      "type": "orchestration",
      "components": [
        {
          "name": "Load all",
          "previousName": "Load",
          "type": "sql-executor",
          "change": "renamed",
          "fields": [
            {
              "path": [
                "parameters",
                "rows"
              ],
              "before": 10,
              "after": 20
            }
          ]
        }
      ],
      "links": [],
      "variables": [],
      "other": [],
      "layout": false
    }
    "#);
}

#[test]
fn rename_with_old_component_name_is_detected() {
    let after = BASE
        .replace("[Load]", "[Load all]")
        .replace("    Load:", "    Load all:");
    let found = diff(BASE, &after);
    let [component] = found.components.as_slice() else {
        panic!("{found:?}");
    };
    assert_eq!(component.change, ComponentChange::Renamed);
    assert!(component.keeps_component_name && component.fields.is_empty());
    assert!(found.links.is_empty(), "{found:?}");
}

#[test]
fn unchanged_link_in_other_pipeline_kind_is_no_change() {
    let after = BASE.replace("type: orchestration", "type: transformation");
    let found = diff(BASE, &after);
    assert_eq!((found.components.len(), found.links.len()), (0, 0), "{found:?}");
    assert_eq!(found.other.len(), 1, "the type");
}

#[test]
fn moved_and_reformatted_file_has_layout_change() {
    let moved = |after: &str| {
        compare_versions(&PipelineVersions {
            path: "b.orch.yaml",
            previous_path: Some("a.orch.yaml"),
            base: Some(Ok(BASE.as_bytes())),
            head: Some(Ok(after.as_bytes())),
        })
    };
    for after in [
        BASE.replace('\n', "\r\n"),
        BASE.replace("schema: sales", "schema: 'sales'"),
    ] {
        let found = moved(&after);
        assert_eq!((found.change, found.layout), (FileChange::Renamed, true));
    }
    assert!(!moved(BASE).layout);
}

#[test]
fn ambiguous_rename_is_not_reported() {
    let twin = |name: &str| format!("    {name}: {{ type: x, parameters: {{ a: 1, b: 2 }} }}\n");
    let text = |components: String| format!("type: orchestration\npipeline:\n  components:\n{components}");
    let found = diff(&text(twin("A")), &text(twin("B") + &twin("C")));
    let told: Vec<_> = found
        .components
        .iter()
        .map(|c| (c.name.as_str(), c.change))
        .collect();
    assert_eq!(
        told,
        [
            ("B", ComponentChange::Added),
            ("C", ComponentChange::Added),
            ("A", ComponentChange::Removed)
        ]
    );
}

#[test]
fn other_yaml_spelling_is_layout_change() {
    let quoted = BASE
        .replace("select 1", "select 1 ")
        .replace("\"select 1 \"", "'select 1'");
    let moved = BASE.replace("x: 0, y: 0", "x: 10, y: 0");
    let reordered = BASE.replace(
        "success: [Done], failure: [Failed]",
        "failure: [Failed], success: [Done]",
    );
    for after in [quoted, moved, reordered] {
        let found = diff(BASE, &after);
        assert_eq!(
            (found.change, found.layout),
            (FileChange::Layout, true),
            "{after}"
        );
        assert!(!found.has_content_change(), "{after}");
    }
}

#[test]
fn null_and_missing_value_differ() {
    let before = "type: orchestration\nversion: null\npipeline: {}\n";
    let found = shown(before, "type: orchestration\npipeline: { components: }\n");
    assert_eq!(
        found["other"],
        json!([
            { "path": ["version"], "before": null },
            { "path": ["pipeline"], "before": {} },
            { "path": ["pipeline", "components"], "after": null }
        ])
    );
}

#[test]
fn numbers_are_compared_by_value() {
    let text = |value: &str| format!("type: orchestration\nv: {value}\npipeline: {{}}\n");
    for (one, other) in [
        ("0x10", "16"),
        ("1.50", "1.5"),
        ("+3", "3"),
        ("True", "true"),
        ("~", "null"),
    ] {
        assert_eq!(
            diff(&text(one), &text(other)).change,
            FileChange::Layout,
            "{one} {other}"
        );
    }
    for (one, other) in [
        ("1", "\"1\""),
        ("1", "1.0"),
        ("99999999999999999999", "99999999999999999998"),
        ("null", "\"\""),
    ] {
        assert_eq!(
            diff(&text(one), &text(other)).change,
            FileChange::Modified,
            "{one} {other}"
        );
    }
}

#[test]
fn unreadable_side_is_reported() {
    let found = diff(BASE, "type: [");
    assert_eq!(found.change, FileChange::Unreadable);
    insta::assert_snapshot!(found.reason.unwrap(), @"in the new version: not YAML: while parsing a node, did not find expected node content (line 2, column 1)");
    let found = diff("a: 1", BASE);
    insta::assert_snapshot!(found.reason.unwrap(), @"in the base: the key `type` is missing (line 1, column 1)");
}

/// A document as the value at each path: an independent view, to rebuild documents.
type Facts = BTreeMap<Vec<PathStep>, Leaf>;

/// Returns the facts without the canvas. Links are facts too: their place in a list is replaced by the number of equal
/// links.
fn facts(text: &str) -> (Facts, BTreeMap<(String, String, String), usize>) {
    let tree = Tree::parse(text.as_bytes()).unwrap();
    let mut found = (Facts::new(), BTreeMap::new());
    collect(tree.root(), &mut Vec::new(), &mut found);
    found
}

fn collect(
    node: NodeRef<'_, '_>,
    path: &mut Vec<PathStep>,
    found: &mut (Facts, BTreeMap<(String, String, String), usize>),
) {
    let keys: Vec<String> = path.iter().map(PathStep::to_string).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    if matches!(keys.as_slice(), ["design", ..]) {
        return;
    }
    if let ["pipeline", "components", from, "transitions", kind, _] = keys.as_slice()
        && let Some(to) = node.text().filter(|_| !node.is_null())
    {
        let link = ((*from).to_owned(), to.to_owned(), (*kind).to_owned());
        *found.1.entry(link).or_default() += 1;
        return;
    }
    if let Some(leaf) = Leaf::from_node(node) {
        found.0.insert(path.clone(), leaf);
    }
    for (key, _, value) in node.entries() {
        path.push(PathStep::key(key));
        collect(value, path, found);
        path.pop();
    }
    for (index, item) in node.items().into_iter().flatten().enumerate() {
        path.push(PathStep::Index(index));
        collect(item, path, found);
        path.pop();
    }
}

fn apply(facts: &mut Facts, prefix: &[PathStep], fields: &[FieldDiff]) {
    let at = |field: &FieldDiff| [prefix, &field.path].concat();
    for field in fields {
        let gone = field.before.as_ref().map(|_| facts.remove(&at(field)));
        assert_eq!(gone.flatten(), field.before, "{field:?}");
    }
    for field in fields {
        if let Some(after) = &field.after {
            assert_eq!(facts.insert(at(field), after.clone()), None, "{field:?}");
        }
    }
}

fn renames_of(diff: &PipelineDiff) -> BTreeMap<&str, &str> {
    let components = diff.components.iter();
    components
        .filter_map(|c| Some((c.previous_name.as_deref()?, c.name.as_str())))
        .collect()
}

fn keeps_name(diff: &PipelineDiff, new: &str) -> bool {
    diff.components
        .iter()
        .any(|c| c.name == new && c.keeps_component_name)
}

/// Returns the facts of the head, computed only from those of the base and the diff.
fn rebuilt(base: &str, diff: &PipelineDiff) -> (Facts, BTreeMap<(String, String, String), usize>) {
    let (mut leaves, mut links) = facts(base);
    let of = |kind: &str, name: &str| ["pipeline", kind, name].map(PathStep::key).to_vec();
    let renames = renames_of(diff);
    let name = PathStep::key("componentName");
    for (old, new) in &renames {
        let (from, to) = (of("components", old), of("components", new));
        let moved: Vec<_> = leaves
            .keys()
            .filter(|path| path.starts_with(&from))
            .cloned()
            .collect();
        for path in moved {
            let mut leaf = leaves.remove(&path).unwrap();
            let fields = diff.components.iter().find(|c| c.name == *new).map(|c| &c.fields);
            let is_told =
                fields.unwrap().iter().any(|field| path.ends_with(&field.path)) || keeps_name(diff, new);
            if path.ends_with(std::slice::from_ref(&name))
                && path.len() == 5
                && !is_told
                && leaf.to_string() == *old
            {
                leaf = Leaf::Text((*new).to_owned());
            }
            leaves.insert([to.as_slice(), path.get(from.len()..).unwrap()].concat(), leaf);
        }
    }
    let new = |name: String| {
        renames
            .get(name.as_str())
            .map_or(name.clone(), |new| (*new).to_owned())
    };
    let mut moved = BTreeMap::new();
    for ((from, to, kind), times) in links {
        *moved.entry((new(from), new(to), kind)).or_default() += times;
    }
    links = moved;
    for component in &diff.components {
        apply(&mut leaves, &of("components", &component.name), &component.fields);
    }
    for variable in &diff.variables {
        apply(&mut leaves, &of("variables", &variable.name), &variable.fields);
    }
    apply(&mut leaves, &[], &diff.other);
    for link in &diff.links {
        let key = (link.from.clone(), link.to.clone(), link.kind.clone());
        let times = links.entry(key.clone()).or_default();
        match link.change {
            LinkChange::Added => *times += 1,
            LinkChange::Removed => *times -= 1,
        }
        if *times == 0 {
            links.remove(&key);
        }
    }
    (leaves, links)
}

/// Generates values as pipelines have them, and unusual ones.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..20_i64).prop_map(Value::from),
        "[a-c]{0,2}".prop_map(Value::from),
        Just(json!("two\nlines\n")),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn component() -> impl Strategy<Value = Value> {
    let names = || {
        prop::collection::vec(
            prop_oneof![4 => "[A-F]".prop_map(Value::from), 1 => Just(Value::Null)],
            0..3,
        )
    };
    let transitions = prop::collection::btree_map("success|failure|true", names(), 0..3);
    let whole = (
        "x|y",
        transitions,
        prop::option::of("[A-F]"),
        prop::collection::btree_map("componentName|a|b|c", value(), 0..4),
        prop::option::of(value()),
    );
    prop_oneof![
        9 => whole.prop_map(|(kind, transitions, name, parameters, other)| {
            let mut component = json!({ "type": kind, "transitions": transitions, "parameters": parameters });
            if let Some(name) = name {
                component["parameters"]["componentName"] = json!(name);
            }
            if let Some(other) = other {
                component["other"] = other;
            }
            component
        }),
        1 => value(),
    ]
}

fn pipeline() -> impl Strategy<Value = Value> {
    let parts = (
        prop::collection::btree_map("[A-F]", component(), 0..5),
        prop::option::of(prop::collection::btree_map("[v-x]", value(), 0..3)),
        prop::option::of(value()),
        value(),
    );
    parts.prop_map(|(components, variables, other, design)| {
        let mut document =
            json!({ "type": "orchestration", "pipeline": { "components": components }, "design": design });
        if let Some(variables) = variables {
            document["pipeline"]["variables"] = json!(variables);
        }
        if let Some(other) = other {
            document["pipeline"]["more"] = other.clone();
            document["version"] = other;
        }
        document
    })
}

/// Renames a component and the links to it, as people do.
fn renamed(mut document: Value, old: &str, new: &str) -> Value {
    let text = document["pipeline"]["components"].to_string();
    let text = text.replace(&format!("\"{old}\""), &format!("\"{new}\""));
    document["pipeline"]["components"] = serde_json::from_str(&text).unwrap();
    document
}

proptest! {
    #[test]
    fn head_is_rebuilt_from_base_and_diff(before in pipeline(), after in pipeline()) {
        let (before, after) = (before.to_string(), after.to_string());
        prop_assert_eq!(rebuilt(&before, &diff(&before, &after)), facts(&after));
        prop_assert_eq!(rebuilt(&after, &diff(&after, &before)), facts(&before));
    }

    #[test]
    fn diff_with_renames_is_complete(before in pipeline(), old in "[A-F]", new in "[A-H]") {
        let after = renamed(before.clone(), &old, &new).to_string();
        let before = before.to_string();
        prop_assert_eq!(rebuilt(&before, &diff(&before, &after)), facts(&after));
        prop_assert_eq!(rebuilt(&after, &diff(&after, &before)), facts(&before));
    }

    #[test]
    fn diff_of_other_kind_is_complete(before in pipeline(), mut after in pipeline()) {
        after["type"] = json!("transformation");
        let (before, after) = (before.to_string(), after.to_string());
        prop_assert_eq!(rebuilt(&before, &diff(&before, &after)), facts(&after));
        prop_assert_eq!(rebuilt(&after, &diff(&after, &before)), facts(&before));
    }

    #[test]
    fn pipeline_does_not_differ_from_itself(document in pipeline()) {
        let text = document.to_string();
        let found = diff(&text, &text);
        prop_assert!(!found.has_content_change());
    }
}

#[test]
fn links_with_too_much_text_are_not_compared() {
    let name = "N".repeat(1_000_000);
    let file = |count: usize| {
        let targets: Vec<String> = (0..count)
            .map(|number| format!("        - X{number}\n"))
            .collect();
        let targets = targets.concat();
        format!(
            "type: orchestration\npipeline:\n  components:\n    ? {name}\n    :\n      type: start\n      \
             transitions:\n        success:\n{targets}"
        )
    };
    let (before, after) = (file(1), file(80));
    let diff = compare_versions(&PipelineVersions {
        path: "a.orch.yaml",
        previous_path: None,
        base: Some(Ok(before.as_bytes())),
        head: Some(Ok(after.as_bytes())),
    });
    insta::assert_snapshot!(diff.reason.unwrap(), @"in the new version: the names in the pipeline's links are too long to compare (more than 64 MB in total)");
    let twin = file(40);
    let diff = compare_versions(&PipelineVersions {
        path: "a.orch.yaml",
        previous_path: None,
        base: Some(Ok(before.as_bytes())),
        head: Some(Ok(twin.as_bytes())),
    });
    assert_eq!((diff.reason, diff.links.len()), (None, 39));
}

#[test]
fn renames_of_components_with_too_many_values_are_not_found() {
    // Half of the values of each component have paths that no other component has.
    let file = |prefix: &str, count: usize| {
        let values: Vec<String> = (0..600).map(|index| format!("k{index}: v")).collect();
        let components: Vec<String> = (0..count)
            .map(|index| {
                format!("    {prefix}{index}: {{ type: x, parameters: {{ p: *p, p{index}: *p }} }}\n")
            })
            .collect();
        format!(
            "values: &p {{ {} }}\ntype: orchestration\npipeline:\n  components:\n{}",
            values.join(", "),
            components.concat()
        )
    };
    let compared = diff(&file("a", 20), &file("b", 20));
    assert_eq!((renames_of(&compared).len(), compared.reason), (20, None));
    let excessive = diff(&file("a", 100), &file("b", 100));
    assert_eq!(renames_of(&excessive).len(), 0);
}
