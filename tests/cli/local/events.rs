use super::Local;
use serde_json::Value;

fn names(lines: &str) -> Vec<String> {
    let name = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["eventName"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    lines.lines().map(name).collect()
}

#[test]
fn export_has_every_change_once_and_goes_on_from_a_cursor() {
    let local = Local::new();
    let create = |name: &str| {
        let args = [
            "projects",
            "create",
            "--name",
            name,
            "--warehouse",
            "WAREHOUSE_A",
            "--agent-deployment-type",
            "HYBRID",
        ];
        local.run(&args).expect(0);
    };
    create("one");
    let export = ["events", "export", "--cursor", "c.json"];
    assert_eq!(names(&local.run(&export).expect(0).out), ["Project created"]);
    assert_eq!(local.run(&export).expect(0).out, "");
    create("two");
    create("three");
    assert_eq!(
        names(&local.run(&export).expect(0).out),
        ["Project created", "Project created"]
    );
    let csv = local.run(&["events", "export", "--format", "csv"]).expect(0);
    assert_eq!(csv.out.lines().count(), 4, "{}", csv.all());
}

#[test]
fn export_needs_the_super_admin() {
    let local = Local::new();
    local
        .call()
        .variable("SLUICEGATE_TOKEN", "another")
        .run(&["events", "export"])
        .expect(4);
}
