//! `sluicegate diff` rejects a version whose comparison would need too much memory.

use crate::support::{Call, project};
use serde_json::{Value, json};

/// Commits the first version of a pipeline, writes the second one, and returns the difference and the text of the
/// Markdown report.
fn compare(before: &str, after: &str) -> (Value, String) {
    let world = project();
    world.write("a.orch.yaml", before);
    world.commit("before");
    world.push();
    world.write("a.orch.yaml", after);
    let call = Call::new(&world.work());
    let page = call.clone().run("diff -o markdown").expect(0).out;
    let document = call.run("diff -o json").expect(0).json();
    (document["pipelines"][0].clone(), page)
}

/// Returns a pipeline whose components all have these transitions.
fn pipeline_with_transitions(
    component_count: usize,
    first_transitions: &str,
    other_transitions: &str,
) -> String {
    let components: Vec<String> = (0..component_count)
        .map(|index| {
            let transitions = if index == 0 {
                first_transitions
            } else {
                other_transitions
            };
            format!("    c{index}: {{ type: start, transitions: {transitions} }}\n")
        })
        .collect();
    format!(
        "type: orchestration\npipeline:\n  components:\n{}",
        components.concat()
    )
}

#[test]
fn pipeline_whose_aliases_multiply_its_links_is_not_compared() {
    let before = pipeline_with_transitions(1, "{}", "{}");
    let names: Vec<String> = (0..100).map(|index| format!("c{index}")).collect();
    let list = format!("[{}]", names.join(", "));
    let aliases = format!("&t {{ success: &l {list}, failure: *l, unconditional: *l }}");
    let multiplied = pipeline_with_transitions(100, &aliases, "*t");
    let (pipeline, page) = compare(&before, &multiplied);
    let limit = 100 + multiplied.len() / 4;
    let reason = format!(
        "in the new version: the pipeline has too many links to compare (more than {limit} in {} bytes)",
        multiplied.len()
    );
    assert_eq!(
        (&pipeline["reason"], &pipeline["links"]),
        (&json!(reason), &json!([]))
    );
    assert!(
        page.contains("the pipeline has too many links to compare"),
        "{page}"
    );

    let lists = format!("{{ success: {list} }}");
    let (pipeline, _) = compare(&before, &pipeline_with_transitions(100, &lists, &lists));
    assert_eq!(pipeline["reason"], Value::Null);
    assert_eq!(pipeline["links"].as_array().map(Vec::len), Some(100 * 100));
}

/// Returns a pipeline with many values below maps with this key, nested this deep.
fn pipeline_with_nested_values(depth: usize, key: &str, value: &str) -> String {
    let values: Vec<String> = (0..1000).map(|index| format!("k{index}: {value}")).collect();
    let mut parameters = format!("{{ {} }}", values.join(", "));
    for _ in 0..depth {
        parameters = format!("{{ {key}: {parameters} }}");
    }
    format!(
        "type: orchestration\npipeline:\n  components:\n    Load: {{ type: x, parameters: {parameters} }}\n"
    )
}

#[test]
fn changed_values_below_too_many_long_keys_are_not_compared() {
    let nested = |depth: usize, key_length: usize| {
        let key = "k".repeat(key_length);
        let [before, after] = ["old", "new"].map(|value| pipeline_with_nested_values(depth, &key, value));
        compare(&before, &after).0
    };
    let pipeline = nested(100, 500);
    let reason = "in the new version: the paths of the changed values are too long to compare in total";
    assert_eq!(
        (&pipeline["reason"], &pipeline["components"]),
        (&json!(reason), &json!([]))
    );

    let pipeline = nested(12, 20);
    assert_eq!(pipeline["reason"], Value::Null);
    let fields = &pipeline["components"][0]["fields"];
    assert_eq!(fields.as_array().map(Vec::len), Some(1000));
}
