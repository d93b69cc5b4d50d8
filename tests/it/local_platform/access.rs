use super::{ADMIN, Local, MEMBER, column};
use crate::support::PROJECT;
use std::fmt::Write as _;

#[test]
fn every_request_needs_a_known_token() {
    let local = Local::new();
    let commands = [
        "projects list",
        "environments list",
        "variables list",
        "pipelines list",
        "tasks list",
        "shared-pipelines list",
        "artifacts list",
        "artifacts show",
        "executions show x",
        "streaming show x",
        "events export",
        "review --all",
        "publish --version-name 1",
    ];
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        local.call_as("another").run(&words).expect(4).saying(&["401"]);
    }
}

#[test]
fn artifacts_need_an_admin() {
    let local = Local::new();
    for command in [
        "shared-pipelines list",
        "artifacts list",
        "artifacts show",
        "publish --version-name 1",
    ] {
        local
            .call_as(MEMBER)
            .run(command)
            .expect(4)
            .saying(&["403", "Admin"]);
    }
    local.call_as(ADMIN).run("publish --version-name 1").expect(0);
    local
        .call_as(MEMBER)
        .run("artifacts disable --version-name 1 --force")
        .expect(4);
}

#[test]
fn new_project_is_hidden_from_the_other_roles() {
    let local = Local::new();
    let id = local.project("new", "HYBRID");
    assert_eq!(column(&local.json(&["projects", "list"]), "id").len(), 2);
    for token in [ADMIN, MEMBER] {
        let output = local.call_as(token).run("projects list -o json").expect(0);
        assert_eq!(column(&output.json(), "id"), [PROJECT]);
        local
            .call_as(token)
            .run(format!("environments list --project-id {id}"))
            .expect(3)
            .saying(&["404"]);
    }
}

// Endpoint: GET /v1/projects/{projectId}/variables
#[test]
fn lists_are_read_to_the_last_page() {
    let local = Local::new();
    let mut file = String::from("variables:\n");
    for number in 0..130 {
        let _ = writeln!(
            file,
            "  v{number}: {{ type: NUMBER, behaviour: SHARED, value: {number} }}"
        );
    }
    local.world.write("v.yaml", file);
    local.run("variables apply -f v.yaml").expect(0);
    let all = local.json("variables list");
    assert_eq!((column(&all, "name").len(), &all["total"]), (130, &130.into()));
}
