//! `sluicegate schema NAME`: the documents of this program are valid by its schemas.

use crate::support::{Call, Shop, bad_pipeline, change, json_schema::validate, offer, parameter, scratch};
use serde_json::Value;
use std::fs;

fn load_schema(name: &str) -> Value {
    let folder = scratch::folder();
    Call::new(folder.path())
        .run(format!("schema {name}"))
        .expect(0)
        .json()
}

fn parse_yaml(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap()
}

#[test]
fn edited_files_are_valid_by_their_schemas() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    call.run("check --all -o json --out r.json").expect(1);
    call.run("waivers add --from r.json --reason legacy --owner sales --until 2999-12-31")
        .expect(0);
    let waivers = parse_yaml(&fs::read_to_string(world.work().join("sluicegate-waivers.yaml")).unwrap());
    assert_eq!(validate(&load_schema("waivers"), &waivers), Ok(()));
    let wrong = parse_yaml("[{ rule: r, path: p, reson: x }]");
    assert!(validate(&load_schema("waivers"), &wrong).is_err());
    let empty = scratch::folder();
    crate::support::git(empty.path(), "init -q");
    Call::new(empty.path())
        .run("rules init --config-dir .acme")
        .expect(0);
    let rules = fs::read_to_string(empty.path().join(".acme/config/pipeline_quality_rules.yaml")).unwrap();
    assert_eq!(validate(&load_schema("rules"), &parse_yaml(&rules)), Ok(()));
    let wrong = parse_yaml("rules: [{ id: x, enforcementLevel: fatal }]");
    assert!(validate(&load_schema("rules"), &wrong).is_err());
    let shared = parse_yaml(&offer(&[("load", &parameter("day", ""))]));
    assert_eq!(validate(&load_schema("shared-pipelines"), &shared), Ok(()));
    assert_eq!(load_schema(""), load_schema("settings"));
}

#[test]
fn written_documents_are_valid_by_their_schemas() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let report = Call::new(&world.work())
        .run("check --all -o json")
        .expect(1)
        .json();
    assert_eq!(validate(&load_schema("report"), &report), Ok(()));
    let mut wrong = report;
    wrong["files"][0]["results"][0]["status"] = "FINE".into();
    assert!(validate(&load_schema("report"), &wrong).is_err());
    let shop = Shop::new();
    let receipt = shop
        .call()
        .run("publish --version-name 1.0.0 -o json")
        .expect(0)
        .json();
    assert_eq!(validate(&load_schema("receipt"), &receipt), Ok(()));
}

#[test]
fn init_names_schema_for_editors() {
    let folder = scratch::folder();
    crate::support::git(folder.path(), "init -q");
    Call::new(folder.path()).run("init --host none").expect(0);
    let text = fs::read_to_string(folder.path().join("sluicegate.yaml")).unwrap();
    let first_line = text.lines().next().unwrap();
    assert!(
        first_line.starts_with("# yaml-language-server: $schema=https://"),
        "{text}"
    );
    // The name is that of a file in the repository.
    let path = first_line.rsplit_once("/schemas/").unwrap().1;
    let file = crate::support::root().join("schemas").join(path);
    let schema: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!(schema, load_schema("settings"));
}
