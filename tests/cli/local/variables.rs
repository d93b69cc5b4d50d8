use super::Local;
use serde_json::json;

#[test]
fn create_list_update_and_delete() {
    let local = Local::new();
    let create = [
        "variables",
        "create",
        "region",
        "--type",
        "TEXT",
        "--behaviour",
        "SHARED",
        "--value",
        "eu",
    ];
    local.run(&create).expect(0);
    local.run(&create).expect(5);
    local
        .run(&["variables", "update", "region", "--value", "us"])
        .expect(0);
    let all = local.run(&["variables", "list", "-o", "json"]).expect(0).json();
    assert_eq!(
        (&all["results"][0]["value"], &all["total"]),
        (&json!("us"), &json!(1))
    );
    local
        .run(&[
            "variables",
            "update",
            "region",
            "--type",
            "NUMBER",
            "--behaviour",
            "SHARED",
            "--value",
            "7",
        ])
        .expect(0);
    local.run(&["variables", "delete", "region"]).expect(0);
    local.run(&["variables", "delete", "region"]).expect(3);
    let shown = local.run(&["variables", "list"]).expect(0);
    assert_eq!(shown.out, "the project has no variables\n");
}

#[test]
fn overrides_set_list_and_unset() {
    let local = Local::with_environments();
    local
        .run(&[
            "variables",
            "create",
            "days",
            "--type",
            "NUMBER",
            "--behaviour",
            "COPIED",
            "--value",
            "30",
        ])
        .expect(0);
    local
        .run(&[
            "variables",
            "overrides",
            "set",
            "days",
            "production=60",
            "nowhere=1",
        ])
        .expect(8)
        .saying(&["1 of 2 overrides", "nowhere"]);
    let list = ["variables", "overrides", "list", "days", "-o", "json"];
    assert_eq!(
        local.run(&list).expect(0).json()["overrides"],
        json!([{ "environmentName": "production", "value": 60 }])
    );
    local
        .run(&["variables", "overrides", "unset", "days", "production"])
        .expect(0);
    assert_eq!(local.run(&list).expect(0).json()["overrides"], json!([]));
}

#[test]
fn apply_makes_the_project_as_the_file_says_and_then_changes_nothing() {
    let local = Local::with_environments();
    local
        .run(&[
            "variables",
            "create",
            "old",
            "--type",
            "TEXT",
            "--behaviour",
            "SHARED",
            "--value",
            "x",
        ])
        .expect(0);
    let file = "variables:
  region: { type: TEXT, behaviour: SHARED, value: eu, description: d, overrides: { production: us, test: '' } }
  days: { type: NUMBER, behaviour: COPIED, value: 1.5, supportsDoubleResolution: true }
";
    local.world.write("v.yaml", file);
    let apply = ["variables", "apply", "-f", "v.yaml", "--prune"];
    let planned = local.run(&[&apply[..], &["--dry-run"]].concat()).expect(0);
    assert!(planned.out.contains("- old"), "{}", planned.all());
    local.run(&apply).expect(0);
    let again = local.run(&apply).expect(0);
    assert_eq!(again.out, "nothing to do: the project is as the file says\n");
    local
        .world
        .write("v.yaml", file.replace("production: us, ", "").replace("1.5", "2"));
    let changed = local.run(&apply).expect(0);
    insta::assert_snapshot!(changed.out, @r#"
    - region in production: "us"
    ~ days  value: 1.5 -> 2
    done: 2 changes
    "#);
    local.world.write(
        "v.yaml",
        "variables:\n  a: { type: TEXT, behaviour: SHARED, value: x, overrides: { nowhere: y } }\n",
    );
    local
        .run(&["variables", "apply", "-f", "v.yaml"])
        .expect(8)
        .saying(&["nowhere"]);
}
