//! The components in `templates`. GitLab inserts their inputs as text before it parses the YAML
//! (<https://docs.gitlab.com/ci/inputs/>).

use crate::support::release::{publish_call, stage, versions};
use crate::support::root;
use serde_json::Value;
use std::fs;

/// Returns the job of a component with the default inputs, except for these.
fn job_of_component(name: &str, inputs: &[(&str, &str)]) -> Value {
    let template = fs::read_to_string(root().join(format!("templates/{name}/template.yml"))).unwrap();
    let (head, job) = template.split_once("\n---\n").unwrap();
    let head: Value = serde_yaml::from_str(head).unwrap();
    let mut text = job.to_owned();
    for (input, definition) in head["spec"]["inputs"].as_object().unwrap() {
        let value = inputs.iter().find(|(name, _)| name == input);
        let value = value.map(|(_, value)| *value);
        let default = definition["default"].as_str().unwrap_or("image");
        text = text.replace(&format!("$[[ inputs.{input} ]]"), value.unwrap_or(default));
    }
    assert!(!text.contains("$[["), "{text}");
    let document: Value = serde_yaml::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    document.as_object().unwrap().values().next().unwrap().clone()
}

#[test]
fn component_publishes_tag_that_any_line_of_its_input_lists() {
    for (tags, is_published) in [
        ("v*\nrelease-*", true),
        ("release-*\n\nv*\n", true),
        ("release-* v*", true),
        ("v*", true),
        ("release-*\nw*", false),
    ] {
        let job = job_of_component("publish", &[("tags", tags)]);
        let tags = job["variables"]["SLUICEGATE_PUBLISH_ON_TAGS"].as_str().unwrap();
        let (world, server) = stage();
        world.git("tag v1");
        publish_call(&world, &server)
            .variable("GITLAB_CI", "true")
            .variable("CI_PIPELINE_SOURCE", "push")
            .variable("CI_DEFAULT_BRANCH", "main")
            .variable("CI_COMMIT_TAG", "v1")
            .variable("CI_COMMIT_SHA", world.git("rev-parse HEAD"))
            .variable("SLUICEGATE_PUBLISH_ON_TAGS", tags)
            .run("ci --version-name {tag}")
            .expect(0);
        assert_eq!(!versions(&world, &server).is_empty(), is_published, "{tags:?}");
    }
}

#[test]
fn component_keeps_quotes_and_backslashes_of_its_inputs() {
    let value = r#"a\tb "c" 'd' # e: {f}"#;
    for name in ["review", "publish"] {
        let inputs = ["base-url", "project-id", "agent-version"].map(|input| (input, value));
        let job = job_of_component(name, &inputs);
        for variable in ["BASE_URL", "PROJECT_ID", "AGENT_VERSION"] {
            assert_eq!(
                job["variables"][format!("SLUICEGATE_{variable}")],
                value,
                "{name}"
            );
        }
        let job = job_of_component(name, &[("image", r#"i\"m'age"#), ("stage", r#"s\"t'age"#)]);
        assert_eq!(job["image"]["name"], r#"i\"m'age"#);
        assert_eq!(job["stage"], r#"s\"t'age"#);
    }
    // An input with several lines is in single quotes.
    let job = job_of_component("publish", &[("tags", r#"a\"b ''c''"#)]);
    assert_eq!(job["variables"]["SLUICEGATE_PUBLISH_ON_TAGS"], r#"a\"b 'c'"#);
}

/// A blank in a flag or in the file is a mistake: each of them has an entry for each glob.
#[test]
fn publish_on_glob_with_blank_is_refused() {
    let (world, server) = stage();
    let hint = "write several globs as separate entries";
    publish_call(&world, &server)
        .run(&["ci", "--dry-run", "--publish-on-tag", "v* w*"])
        .expect(2)
        .saying(&[hint]);
    for key in ["branches", "tags"] {
        world.write(
            "sluicegate.yaml",
            format!("publish-on: {{ {key}: [v1, 'v* w*'] }}\n"),
        );
        publish_call(&world, &server)
            .run("ci --dry-run")
            .expect(2)
            .saying(&["sluicegate.yaml", hint]);
    }
}
