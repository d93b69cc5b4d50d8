//! `sluicegate schema NAME`: the documents of this program are valid by its schemas.

use crate::support::{
    Call, Shop, bad_pipeline, change,
    json_schema::{validate, validate_output},
    load_schema, offer, parameter, scratch,
};
use serde_json::Value;
use std::fs;

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
    let empty = scratch::create_scratch_directory();
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
fn waiver_about_component_named_like_a_number_is_valid() {
    let world = change(&[("b.orch.yaml", &bad_pipeline().replace("load it", "5"))]);
    let check = |about: &str| {
        let text =
            format!("- {{ rule: component-naming-convention, path: '**', about: {about}, reason: r }}\n");
        world.write("sluicegate-waivers.yaml", &text);
        let is_valid = validate(&load_schema("waivers"), &parse_yaml(&text)).is_ok();
        (Call::new(&world.work()).run("check").code, is_valid)
    };
    assert_eq!(check("5"), (0, true));
    assert_eq!(check("'5'"), (0, true));
    assert!(!check("[5]").1);
}

#[test]
fn written_documents_are_valid_by_their_schemas() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let report = Call::new(&world.work())
        .run("check --all -o json")
        .expect(1)
        .json();
    assert_eq!(validate_output(&load_schema("report"), &report), Ok(()));
    let mut wrong = report;
    wrong["files"][0]["results"][0]["status"] = "FINE".into();
    assert!(validate(&load_schema("report"), &wrong).is_err());
    let shop = Shop::new();
    let receipt = shop
        .call()
        .run("publish --version-name 1.0.0 -o json")
        .expect(0)
        .json();
    assert_eq!(validate_output(&load_schema("receipt"), &receipt), Ok(()));
}

/// Returns the words that name a schema in `sluicegate schema NAME`.
fn list_schema_names() -> Vec<String> {
    let folder = scratch::create_scratch_directory();
    let refusal = Call::new(folder.path()).run("schema no-such").expect(2).err;
    let names = refusal.split("[possible values: ").nth(1).unwrap();
    let names = names.split(']').next().unwrap();
    names.split(", ").map(str::to_owned).collect()
}

#[test]
fn every_document_with_a_schema_name_has_its_schema() {
    let names = list_schema_names();
    let schemas: Vec<Value> = names.iter().map(|name| load_schema(name)).collect();
    let known_ids: Vec<&str> = schemas
        .iter()
        .filter_map(|schema| schema["properties"]["schema"]["const"].as_str())
        .collect();
    let pattern = regex::Regex::new(r#""(sluicegate\.[a-z-]+/v\d+)""#).unwrap();
    let mut count = 0;
    for text in crate::docs::read_program_sources() {
        let code = text.split("#[cfg(test)]").next().unwrap();
        for id in pattern.captures_iter(code) {
            count += 1;
            assert!(known_ids.contains(&&id[1]), "no schema of {}", &id[1]);
        }
    }
    assert!(count > 20, "{count}");
    for (name, schema) in names.iter().zip(&schemas) {
        assert!(!schema.to_string().contains("variable: ."), "{name}");
        assert!(
            !schema["title"].is_null() && !schema["description"].is_null(),
            "{name}"
        );
    }
}

/// Checks that a document is valid by its schema, that the schema describes each key, and that the document is not valid
/// without a key that the schema requires.
#[track_caller]
fn assert_valid(name: &str, document: &Value) {
    let schema = load_schema(name);
    assert_eq!(validate_output(&schema, document), Ok(()), "{name}");
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    assert!(!required.is_empty(), "{name}");
    for key in required {
        let mut incomplete = document.clone();
        incomplete.as_object_mut().unwrap().remove(key.as_str().unwrap());
        assert!(validate(&schema, &incomplete).is_err(), "{name} without {key}");
    }
}

#[test]
fn outputs_of_local_commands_are_valid_by_their_schemas() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    call.run("rules new no-python").expect(0);
    let empty = scratch::create_scratch_directory();
    crate::support::git(empty.path(), "init -q");
    let new_project = Call::new(empty.path());
    for (name, call, args) in [
        ("context", &call, "context"),
        ("effective-settings", &call, "settings"),
        ("doctor", &call, "doctor"),
        ("diff", &call, "diff --base main"),
        ("fix", &call, "fix --dry-run"),
        ("rule", &call, "rules explain unused-components"),
        ("rule", &call, "rules explain project/call"),
        ("rule", &call, "rules explain team/no-python"),
        ("lint", &call, "rules lint"),
        ("rules-test", &call, "rules test"),
        ("init", &new_project, "init --dry-run --host github"),
        ("rules-new", &new_project, "rules new no-python"),
        ("rules-init", &new_project, "rules init --config-dir .acme"),
    ] {
        let output = call.run(format!("{args} -o json"));
        assert!(output.out.starts_with('{'), "{args}: {}", output.all());
        assert_valid(name, &output.json());
    }
}

#[test]
fn outputs_about_versions_are_valid_by_their_schemas() {
    let shop = Shop::new();
    let plan = shop.call().run("publish --dry-run --version-name 1.0.0 -o json");
    assert_valid("plan", &plan.expect(0).json());
    shop.publish("1.0.0").expect(0);
    let review = shop.call().run("review --all --dry-run -o json");
    assert_valid("review-plan", &review.expect(0).json());
    let receipt = shop.world.path().join("receipt.json");
    let verification = shop
        .call()
        .run(&["verify", receipt.to_str().unwrap(), "-o", "json"]);
    assert_valid("verification", &verification.expect(0).json());
    shop.offer(&[("load", &parameter("hour", ""))]);
    shop.world.write(
        "consumer.orch.yaml",
        "type: orchestration\nversion: '1.0'\npipeline:\n  components:\n    Load:\n      type: run-shared-pipeline\n",
    );
    let interface = shop.call().run("artifacts diff -o json").expect(0).json();
    assert_ne!(interface["changes"], serde_json::json!([]));
    assert_valid("interface", &interface);
    let impact = shop.call().run("artifacts impact --repos . -o json");
    assert_valid("impact", &impact.json());
    let diff = shop.call().run("diff --base HEAD~1 -o json").expect(0).json();
    assert!(!diff["interface"].is_null(), "{diff}");
    assert_valid("diff", &diff);
    shop.world.git("rm -q clean.orch.yaml");
    shop.world.git("checkout -q HEAD -- .platform");
    shop.offer(&[("clean", &parameter("day", ""))]);
    let refused = shop.call().run("publish --dry-run --version-name 2.0.0 -o json");
    assert_valid("plan", &refused.expect(2).json());
}

#[test]
fn documents_with_optional_keys_are_described_by_their_schemas() {
    let shop = Shop::new();
    let smoke = "--smoke load --smoke-environment test --smoke-project 6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a11";
    let plan = shop
        .call()
        .run(format!("publish --dry-run --version-name 1.0.0 -o json {smoke}"));
    assert_ne!(plan.json()["smoke"], serde_json::json!([]), "{}", plan.all());
    assert_valid("plan", &plan.json());
    shop.publish("1.0.0").expect(0);
    shop.break_it();
    let report = shop
        .call()
        .run("check --new-only --base HEAD~1 --max-known 3 --compat warn --fail-on warn -o json")
        .json();
    assert!(
        !report["compat"].is_null() && !report["changes"].is_null(),
        "{report}"
    );
    assert_valid("report", &report);
    let receipt = shop
        .call()
        .run("publish --version-name 2.0.0 --accept-breaking agreed -o json");
    assert!(!receipt.json()["compat"].is_null(), "{}", receipt.all());
    assert_valid("receipt", &receipt.json());
    let world = change(&[
        ("b.orch.yaml", &bad_pipeline()),
        ("sluicegate.yaml", "retries: 1\n"),
    ]);
    world.write(crate::support::RULES_FILE, "rules: []\nextra: 1\n");
    world.git("mv b.orch.yaml c.orch.yaml");
    world.commit("rename");
    let call = Call::new(&world.work());
    assert_valid(
        "context",
        &call.run("context --base HEAD~1 -o json").expect(0).json(),
    );
    let report = call.run("check --all --shard 1/2 -o json").json();
    assert_ne!(report["gateChanges"], serde_json::json!([]), "{report}");
    assert_valid("report", &report);
}

#[test]
fn edited_files_of_the_platform_api_are_valid_by_their_schemas() {
    let variables = parse_yaml(
        "variables:\n  region: { type: TEXT, behaviour: SHARED, value: eu, overrides: { production: us } }\n  \
         rows: { type: GRID, value: [[a, b]] }\n",
    );
    assert_eq!(validate(&load_schema("variables"), &variables), Ok(()));
    for wrong in ["{}", "variables: { region: { valeu: eu } }", "variables: []"] {
        assert!(
            validate(&load_schema("variables"), &parse_yaml(wrong)).is_err(),
            "{wrong}"
        );
    }
    let agent = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";
    let text = format!(
        "project: {{ name: sales, warehouse: WAREHOUSE_A, agentDeploymentType: HYBRID }}\nconnection: {{ name: dwh }}\n\
         environment:\n  name: production\n  defaultAgentId: {agent}\n  defaultUserAccessLevel: readOnly\n  \
         connectionOverrides:\n    - connectionName: dwh\n      connectionProperties: {{ privateKey: {{ secretName: key }} }}\n\
         repository:\n  providerParameters: {{ ownerName: acme }}\n  repositoryName: sales\n"
    );
    assert_eq!(validate(&load_schema("provisioning"), &parse_yaml(&text)), Ok(()));
    for (right, wrong) in [
        ("HYBRID", "SAAS"),
        ("readOnly", "reader"),
        ("secretName: key", "secretName: [key]"),
        ("connection: {", "conection: {"),
    ] {
        let text = text.replacen(right, wrong, 1);
        assert!(
            validate(&load_schema("provisioning"), &parse_yaml(&text)).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn init_names_schema_for_editors() {
    let folder = scratch::create_scratch_directory();
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
