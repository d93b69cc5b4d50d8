//! `provision apply`: the order of the steps, their conditions, and resuming after a failure.

use crate::support::{Call, Platform, World, at_once, in_turn, json_schema::validate, load_schema};
use serde_json::{Value, json};
use std::fs;
use std::time::Duration;
use wiremock::{Request, ResponseTemplate};

const AGENT: &str = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";
const PROJECT: &str = "3f0c7d1e-62b4-4a0e-9d51-8f7a6c2b1e90";
const APPLY: [&str; 4] = ["provision", "apply", "-f", "p.yaml"];

fn hybrid_file() -> String {
    format!(
        "project: {{ name: sales, warehouse: WAREHOUSE_A, agentDeploymentType: HYBRID }}
connection: {{ name: dwh }}
environment:
  name: production
  defaultAgentId: {AGENT}
  defaultUserAccessLevel: readOnly
  connectionOverrides:
    - connectionName: dwh
      connectionProperties: {{ privateKey: {{ secretName: key }} }}
repository:
  providerParameters: {{ ownerName: acme }}
  repositoryName: sales
"
    )
}

fn full_saas() -> String {
    hybrid_file()
        .replace("WAREHOUSE_A", "WAREHOUSE_B")
        .replace("HYBRID", "FULL_SAAS")
        .replace(
            "privateKey: { secretName: key }",
            "password: { secretName: pw, secretKey: k }",
        )
        .split("repository:")
        .next()
        .unwrap()
        .to_owned()
        + &format!("secret: {{ agentId: {AGENT}, name: pw, key: k, valueFrom: {{ variable: DWH }} }}\n")
}

/// Returns a platform that creates every resource, except those with another response.
fn provision_platform(other: Option<(&str, Vec<ResponseTemplate>)>) -> Platform {
    let platform = Platform::new();
    if let Some((path, answers)) = other {
        platform.respond_to("POST", path, in_turn(answers));
    }
    script_resources(&platform);
    platform
}

/// Lets the platform create every resource, except those that have a response already.
fn script_resources(platform: &Platform) {
    let made = |body: Value| ResponseTemplate::new(201).set_body_json(body);
    platform.respond_to("POST", "/v1/projects$", made(json!({ "projectId": PROJECT })));
    platform.respond_to(
        "POST",
        "/secret-value$",
        made(json!({ "vaultSecretName": "pw", "resolver_ref": "r" })),
    );
    platform.respond_to("POST", "/v1/projects/[^/]+/", made(json!({})));
}

fn provision_call(platform: &Platform, world: &World) -> Call {
    platform
        .call(world)
        .without("SLUICEGATE_PROJECT_ID")
        .variable("DWH", "hunter2")
}

fn request_paths(platform: &Platform) -> Vec<String> {
    let path = |request: &Request| request.url.path().trim_start_matches("/v1/").to_owned();
    platform.requests().iter().map(path).collect()
}

fn state(world: &World) -> Value {
    serde_json::from_slice(&fs::read(world.work().join("p.yaml.state.json")).unwrap()).unwrap()
}

#[test]
fn apply_goes_through_the_steps_in_order() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write("p.yaml", hybrid_file());
    let output = provision_call(&platform, &world).run(&APPLY).expect(0);
    assert_eq!(
        output.out,
        format!(
            "project     created  projectId {PROJECT}\nconnection  created\nenvironment created\nrepository  created\n"
        )
    );
    let of = |rest: &str| format!("projects/{PROJECT}/{rest}");
    assert_eq!(
        request_paths(&platform),
        [
            "projects".to_owned(),
            of("data-platform-connections"),
            of("environments"),
            of("repositories")
        ]
    );
    let bodies: Vec<Value> = platform
        .requests()
        .iter()
        .map(|request| serde_json::from_slice(&request.body).unwrap())
        .collect();
    assert_eq!(
        bodies[1],
        json!({ "name": "dwh", "platformConnectionType": "dwh", "authProvider": "warehouse_a", "authType": "key_pair" })
    );
    assert_eq!(
        bodies[2]["defaultConnections"],
        json!({ "DWH": { "warehouse_a": "dwh" } })
    );
}

#[test]
fn apply_warns_of_unknown_key_until_the_environment_is_created() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write(
        "p.yaml",
        hybrid_file().replace("  name: production\n", "  name: production\n  displayNam: x\n"),
    );
    let warning = "warning: p.yaml:5:3: environment.displayNam: the key is not in the API document";
    for (flag, has_warning) in [("--dry-run", true), ("", true), ("", false)] {
        let output = provision_call(&platform, &world)
            .run((&APPLY[..], flag))
            .expect(0);
        assert_eq!(output.err.contains(warning), has_warning, "{}", output.all());
    }
    // Counterpart: known keys.
    world.write("q.yaml", hybrid_file());
    let output = provision_call(&platform, &world)
        .run("provision apply -f q.yaml")
        .expect(0);
    assert!(!output.err.contains("API document"), "{}", output.all());
}

#[test]
fn apply_for_full_saas_stores_the_secret_and_never_shows_it() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write("p.yaml", full_saas());
    let output = provision_call(&platform, &world)
        .run((&APPLY[..], "-o json"))
        .expect(0);
    let steps: Vec<Value> = output.json()["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["step"].clone())
        .collect();
    assert_eq!(steps, ["project", "connection", "secret", "environment"]);
    assert_eq!(output.json()["projectId"], PROJECT);
    let body: Value = serde_json::from_slice(&platform.requests()[2].body).unwrap();
    assert_eq!(
        body,
        json!({ "name": "pw", "type": "DWH_PASSWORD", "key": "k", "value": { "k": "hunter2" } })
    );
    assert!(!output.all().contains("hunter2") && !state(&world).to_string().contains("hunter2"));
}

#[test]
fn apply_twice_does_nothing_the_second_time() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write("p.yaml", hybrid_file());
    provision_call(&platform, &world).run(&APPLY).expect(0);
    let output = provision_call(&platform, &world).run(&APPLY).expect(0);
    assert_eq!(platform.requests().len(), 4);
    assert!(
        output.out.lines().all(|line| line.contains("done before")),
        "{}",
        output.all()
    );
}

#[test]
fn apply_reads_a_secret_only_until_it_is_stored() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write("p.yaml", full_saas());
    let call_without_secret = platform.call(&world).without("SLUICEGATE_PROJECT_ID");
    call_without_secret
        .run(&APPLY)
        .expect(2)
        .saying(&["the variable DWH is not set or empty"]);
    assert_eq!(platform.requests().len(), 0);
    provision_call(&platform, &world).run(&APPLY).expect(0);
    let remark = "secret      done before  an existing secret is not updated\n";
    for flag in ["", "--dry-run"] {
        let output = call_without_secret.run((&APPLY[..], flag)).expect(0);
        assert!(
            output.out.contains("secret      done before\n"),
            "{}",
            output.all()
        );
        let output = provision_call(&platform, &world)
            .run((&APPLY[..], flag))
            .expect(0);
        assert!(output.out.contains(remark), "{}", output.all());
    }
}

#[test]
fn apply_goes_on_after_a_failure_without_repeating_a_step() {
    let (world, rejection) = (
        World::new(),
        ResponseTemplate::new(400).set_body_json(json!({ "detail": "no such agent" })),
    );
    let response = ResponseTemplate::new(201).set_body_json(json!({}));
    let platform = provision_platform(Some(("/environments$", vec![rejection, response])));
    world.write("p.yaml", hybrid_file());
    let output = provision_call(&platform, &world).run(&APPLY).expect(8);
    assert_eq!(output.out.lines().count(), 2, "{}", output.all());
    output.saying(&[
        "the environment was not created",
        "no such agent",
        "p.yaml.state.json",
    ]);
    // Steps that were not done may be changed, completed ones may not.
    world.write("p.yaml", hybrid_file().replace("name: sales,", "name: stock,"));
    provision_call(&platform, &world)
        .run(&APPLY)
        .expect(2)
        .saying(&["the project was already created, but its definition in the file has changed"]);
    world.write("p.yaml", hybrid_file().replace("readOnly", "runner"));
    provision_call(&platform, &world).run(&APPLY).expect(0);
    assert_eq!(
        request_paths(&platform)
            .iter()
            .filter(|path| path.as_str() == "projects")
            .count(),
        1
    );
    assert_eq!(platform.requests().len(), 5);
}

#[test]
fn resolution_of_the_last_step_is_kept_for_the_next_run() {
    let (world, lost) = (World::new(), ResponseTemplate::new(502));
    let platform = provision_platform(Some(("/repositories$", vec![lost])));
    world.write("p.yaml", hybrid_file());
    let call = provision_call(&platform, &world);
    call.run(&APPLY).expect(8);
    assert_eq!(state(&world)["steps"]["repository"]["mark"], "begun");
    call.run((&APPLY[..], "--resolve repository=done")).expect(0);
    call.run(&APPLY).expect(0);
    assert_eq!(platform.requests().len(), 4);
}

#[test]
fn step_that_is_refused_because_it_exists_is_resolved_as_done() {
    let (world, lost, exists) = (
        World::new(),
        ResponseTemplate::new(502),
        ResponseTemplate::new(409),
    );
    let platform = provision_platform(Some(("/environments$", vec![lost, exists])));
    world.write("p.yaml", hybrid_file());
    let call = provision_call(&platform, &world);
    call.run(&APPLY).expect(8);
    let output = call.run((&APPLY[..], "--resolve environment=again"));
    output.saying(&["409", "--resolve environment=done"]);
    for (resolution, reason) in [
        ("environment=again", "is already known"),
        ("project=done", "is already known"),
        ("repository=done", "the repository is not unfinished"),
        ("environment=yes", "expected STEP=again"),
    ] {
        let output = call.run((&APPLY[..], &["--resolve", resolution]));
        output.expect(2).saying(&[reason]);
    }
    let output = call.run((&APPLY[..], "--resolve environment=done")).expect(0);
    assert!(
        output
            .out
            .contains("environment done before\nrepository  created"),
        "{}",
        output.all()
    );
}

#[test]
fn step_that_was_never_requested_is_not_resolved() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write("p.yaml", hybrid_file());
    let project = format!("project={PROJECT}");
    for resolution in [project.as_str(), "connection=done", "environment=again"] {
        let step = resolution.split('=').next().unwrap_or_default();
        provision_call(&platform, &world)
            .run((&APPLY[..], &["--resolve", resolution]))
            .expect(2)
            .saying(&[
                &format!("the {step} is not unfinished"),
                "run the command without --resolve",
            ]);
    }
    assert!(platform.requests().is_empty());
    assert!(!world.work().join("p.yaml.state.json").exists());
}

#[test]
fn refused_step_is_repeated_with_a_changed_file() {
    let (world, exists) = (World::new(), ResponseTemplate::new(409));
    let made = ResponseTemplate::new(201).set_body_json(json!({}));
    let platform = provision_platform(Some(("/repositories$", vec![exists, made])));
    world.write("p.yaml", hybrid_file());
    provision_call(&platform, &world).run(&APPLY).expect(8);
    let refused_state = state(&world);
    assert_eq!(refused_state["steps"]["repository"]["mark"], "refused");
    assert_eq!(validate(&load_schema("provision-state"), &refused_state), Ok(()));
    world.write(
        "p.yaml",
        hybrid_file().replace("repositoryName: sales", "repositoryName: stock"),
    );
    provision_call(&platform, &world).run(&APPLY).expect(0);
    assert_eq!(platform.requests().len(), 5);
}

#[test]
fn unreadable_state_file_is_to_be_restored() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write("p.yaml", hybrid_file());
    let call = provision_call(&platform, &world);
    call.run(&APPLY).expect(0);
    let saved_state = fs::read(world.work().join("p.yaml.state.json")).unwrap();
    let request_count = platform.requests().len();
    world.write("p.yaml.state.json", &saved_state[..saved_state.len() / 2]);
    let output = call.run(&APPLY).expect(2);
    assert!(!output.err.contains("--state"), "{}", output.err);
    output.saying(&[
        "could not read the state file",
        "hint: restore the state file",
        "the run creates the project again",
    ]);
    world.write("p.yaml.state.json", &saved_state);
    call.run(&APPLY).expect(0);
    assert_eq!(platform.requests().len(), request_count);
}

#[test]
fn project_without_an_id_in_the_response_is_resolved_by_hand() {
    let (world, response) = (World::new(), ResponseTemplate::new(201).set_body_json(json!({})));
    let platform = provision_platform(Some(("/v1/projects$", vec![response])));
    world.write("p.yaml", hybrid_file());
    let output = provision_call(&platform, &world)
        .run(&APPLY)
        .expect(8)
        .saying(&["--resolve project=UUID"]);
    assert!(!output.err.contains("run the command again"), "{}", output.all());
}

/// The directory of the state file becomes a file while the platform processes a request.
#[test]
fn apply_whose_result_cannot_be_saved_hints_how_to_resolve_the_step() {
    for (status, expected_texts) in [
        (201, ["the repository was created", "--resolve repository=done"]),
        (
            400,
            ["the repository was not created", "--resolve repository=again"],
        ),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        let directory = world.work().join("state");
        platform.respond_to("POST", "/repositories$", move |_: &Request| {
            fs::remove_dir_all(&directory).unwrap();
            fs::write(&directory, "a file").unwrap();
            ResponseTemplate::new(status).set_body_json(json!({}))
        });
        script_resources(&platform);
        world.write("p.yaml", hybrid_file());
        let output = provision_call(&platform, &world)
            .run((&APPLY[..], "--state state/p.json"))
            .expect(8)
            .saying(&expected_texts);
        assert!(!output.err.contains("run the command again"), "{}", output.all());
    }
}

#[test]
fn apply_that_fails_at_once_is_what_the_failure_is() {
    for (status, code) in [(401, 4), (403, 4), (400, 3), (409, 5)] {
        let (world, platform) = (
            World::new(),
            provision_platform(Some(("/v1/projects$", vec![ResponseTemplate::new(status)]))),
        );
        world.write("p.yaml", hybrid_file());
        provision_call(&platform, &world).run(&APPLY).expect(code);
        let steps = &state(&world)["steps"];
        if code == 5 {
            // The project may exist, so the user can resolve the step.
            assert_eq!(steps["project"]["mark"], "refused");
        } else {
            assert_eq!(*steps, json!({}), "nothing was begun");
        }
    }
}

#[test]
fn apply_whose_answer_was_lost_asks_before_it_goes_on() {
    let (world, lost) = (World::new(), ResponseTemplate::new(502));
    let platform = provision_platform(Some(("/v1/projects$", vec![lost])));
    world.write("p.yaml", hybrid_file());
    let output = provision_call(&platform, &world).run(&APPLY).expect(8);
    assert!(!output.err.contains("was not created"), "{}", output.all());
    output.saying(&[
        "could not determine whether the project was created",
        "--resolve project=",
    ]);
    provision_call(&platform, &world).run(&APPLY).expect(2).saying(&[
        "could not determine whether the project was created",
        "--resolve project=UUID",
    ]);
    assert_eq!(platform.requests().len(), 1);
    let resolve = |word: &str| provision_call(&platform, &world).run((&APPLY[..], &["--resolve", word]));
    for word in [
        "project",
        "project=done",
        "projekt=again",
        "connection=done",
        "project=7",
    ] {
        resolve(word).expect(2).saying(&[word]);
    }
    let run_output = resolve(&format!("project={PROJECT}")).expect(0);
    assert!(
        run_output
            .out
            .starts_with("project     done before\nconnection  created"),
        "{}",
        run_output.all()
    );
    assert_eq!(platform.requests().len(), 4);
}

#[test]
fn apply_checks_everything_before_the_first_request() {
    let (world, platform) = (World::new(), provision_platform(None));
    let cases = [
        (
            hybrid_file().replace("connectionName: dwh", "connectionName: other"),
            "p.yaml:8:7",
        ),
        (
            hybrid_file().replace(
                "privateKey: { secretName: key }",
                "password: { secretName: key, secretKey: k }",
            ),
            "privateKey",
        ),
        (
            hybrid_file().replace("{ secretName: key }", "hunter2"),
            "the file must not contain a secret",
        ),
        (
            full_saas().replace("DWH }", "NONE }"),
            "the variable NONE is not set",
        ),
        (
            full_saas() + "repository: { repositoryName: x }\n",
            "repository: is not supported",
        ),
    ];
    for (text, expected_text) in cases {
        world.write("p.yaml", text);
        let output = provision_call(&platform, &world).run(&APPLY).expect(2);
        assert!(!output.all().contains("hunter2"), "{}", output.all());
        output.saying(&[expected_text]);
    }
    world.write("p.yaml", hybrid_file().replace("WAREHOUSE_A", "FROSTBITE"));
    provision_call(&platform, &world)
        .run(&APPLY)
        .expect(2)
        .saying(&["--warehouse-a"]);
    provision_call(&platform, &world)
        .run((&APPLY[..], "--warehouse-a FROSTBITE --dry-run"))
        .expect(0);
    assert!(platform.requests().is_empty());
}

#[test]
fn apply_does_not_take_the_state_of_another_platform() {
    let (world, one, other) = (World::new(), provision_platform(None), provision_platform(None));
    world.write("p.yaml", hybrid_file());
    provision_call(&one, &world).run(&APPLY).expect(0);
    provision_call(&other, &world)
        .run(&APPLY)
        .expect(2)
        .saying(&["belongs to", "--state"]);
    provision_call(&other, &world)
        .run((&APPLY[..], "--state other.json"))
        .expect(0);
}

#[test]
fn apply_does_not_take_a_page_for_a_step_that_is_done() {
    for answer in [
        ResponseTemplate::new(200).set_body_raw("<html>Sign in</html>", "text/html"),
        ResponseTemplate::new(201),
        ResponseTemplate::new(202).set_body_json(json!({})),
    ] {
        let (world, platform) = (
            World::new(),
            provision_platform(Some(("/environments$", vec![answer]))),
        );
        world.write("p.yaml", hybrid_file());
        provision_call(&platform, &world).run(&APPLY).expect(8).saying(&[
            "could not determine whether the environment was created",
            "--resolve environment=",
        ]);
        assert_eq!(state(&world)["steps"]["environment"]["mark"], "begun");
        provision_call(&platform, &world)
            .run(&APPLY)
            .expect(2)
            .saying(&["--resolve environment=done"]);
    }
}

#[test]
fn dry_run_refuses_the_settings_that_a_run_refuses() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write("p.yaml", hybrid_file());
    for mode in ["", "--dry-run"] {
        let call = provision_call(&platform, &world).without("SLUICEGATE_TOKEN");
        call.run((&APPLY, mode))
            .expect(2)
            .saying(&["there is no token for the platform"]);
    }
    provision_call(&platform, &world)
        .run((&APPLY, "--dry-run"))
        .expect(0);
    assert!(platform.requests().is_empty());
}

#[test]
fn apply_refuses_a_state_file_that_another_run_uses() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write("p.yaml", hybrid_file());
    let path = world.work().join("p.yaml.state.json.lock");
    let lock = fs::File::create(&path).unwrap();
    lock.lock().unwrap();
    provision_call(&platform, &world).run(&APPLY).expect(2).saying(&[
        "another run uses the state file",
        "p.yaml.state.json",
        "hint: run the command again after",
    ]);
    assert_eq!(request_paths(&platform), [""; 0]);
    // A dry run sends nothing.
    provision_call(&platform, &world)
        .run((&APPLY[..], "--dry-run"))
        .expect(0);
    // The file of a run that was killed is no lock.
    drop(lock);
    provision_call(&platform, &world).run(&APPLY).expect(0);
    assert_eq!(request_paths(&platform).len(), 4);
}

#[test]
fn apply_removes_only_an_empty_lock_file() {
    for content in [None, Some("a file of the team")] {
        let (world, platform) = (World::new(), provision_platform(None));
        world.write("p.yaml", hybrid_file());
        let path = world.work().join("p.yaml.state.json.lock");
        if let Some(content) = content {
            fs::write(&path, content).unwrap();
            // A file of another user may be only readable.
            let mut permissions = fs::metadata(&path).unwrap().permissions();
            permissions.set_readonly(true);
            fs::set_permissions(&path, permissions).unwrap();
        }
        provision_call(&platform, &world).run(&APPLY).expect(0);
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), content);
    }
}

#[test]
fn apply_without_a_possible_lock_fails_only_if_a_step_is_left() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write("p.yaml", hybrid_file());
    // The name of its lock file is too long.
    let name = "s".repeat(252);
    let call = provision_call(&platform, &world);
    let args = (&APPLY[..], &["--state", &name][..]);
    let hint = "hint: pass a state file in another directory with --state";
    call.clone()
        .run(args)
        .expect(2)
        .saying(&["could not lock the state file", hint]);
    assert_eq!(request_paths(&platform), [""; 0]);
    call.clone().run(&APPLY).expect(0);
    let mut state = state(&world);
    fs::write(world.work().join(&name), state.to_string()).unwrap();
    let output = call.clone().run(args).expect(0);
    assert!(output.out.contains("done before"), "{}", output.all());
    state["steps"]
        .as_object_mut()
        .unwrap()
        .remove("repository")
        .unwrap();
    fs::write(world.work().join(&name), state.to_string()).unwrap();
    call.run(args)
        .expect(2)
        .saying(&["hint: make its directory writable, or copy the state file to"]);
    assert_eq!(request_paths(&platform).len(), 4);
}

#[test]
fn runs_at_the_same_time_create_one_project() {
    let world = World::new();
    let slow = ResponseTemplate::new(201)
        .set_body_json(json!({ "projectId": PROJECT }))
        .set_delay(Duration::from_millis(300));
    let platform = provision_platform(Some(("/v1/projects$", vec![slow])));
    world.write("p.yaml", hybrid_file());
    let call = provision_call(&platform, &world);
    at_once(0..4, |_| {
        let output = call.clone().run(&APPLY);
        assert!([0, 2].contains(&output.code), "{}", output.all());
    });
    let paths = request_paths(&platform);
    assert_eq!(
        paths.iter().filter(|path| *path == "projects").count(),
        1,
        "{paths:?}"
    );
    assert_eq!(paths.len(), 4, "{paths:?}");
}

#[test]
fn apply_whose_agent_is_missing_names_the_id_in_the_file() {
    for (status, code, expected_text) in [
        (404, 8, "hint: check `secret.agentId` in the file; then run"),
        (403, 4, "Super Admin"),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("POST", "/secret-value$", ResponseTemplate::new(status));
        script_resources(&platform);
        world.write("p.yaml", full_saas());
        let output = provision_call(&platform, &world).run(&APPLY).expect(code);
        let hint = output.err.rsplit("hint: ").next().unwrap();
        assert!(
            format!("hint: {hint}").contains(expected_text),
            "{}",
            output.all()
        );
    }
}

#[test]
fn apply_with_unwritable_state_file_sends_no_request() {
    let (world, platform) = (World::new(), provision_platform(None));
    world.write("p.yaml", hybrid_file());
    let output = provision_call(&platform, &world)
        .command_in_shell("trap '' XFSZ; ulimit -f 0", &APPLY)
        .output()
        .unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(
        log.contains("p.yaml.state.json can be written, or pass another state file with --state"),
        "{log}"
    );
    assert!(!log.contains("continues from"), "{log}");
    assert!(platform.requests().is_empty());
}

#[test]
fn apply_with_incomplete_reference_to_secret_sends_nothing() {
    for (from, to, expected_text) in [
        (
            ", secretKey: k }",
            " }",
            "p.yaml:9:31: environment.connectionOverrides[0].connectionProperties.password: must name",
        ),
        (
            "name: production",
            "name: '..'",
            "p.yaml:4:3: environment.name: \"..\" cannot be the name of an environment",
        ),
    ] {
        let (world, platform) = (World::new(), provision_platform(None));
        world.write("p.yaml", full_saas().replace(from, to));
        let call = platform.call(&world).variable("DWH", "s3cret");
        call.run(APPLY).expect(2).saying(&[expected_text]);
        assert_eq!(platform.requests().len(), 0);
        // The complete file is applied.
        world.write("p.yaml", full_saas());
        call.run(APPLY).expect(0);
    }
}
