//! `sluicegate init --sign`: the job that signs statements about reviews and publications.

use crate::support::{Call, World, orchestration_text};
use serde_json::{Value, json};

fn new_project() -> World {
    let world = World::new();
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    world.push();
    world
}

fn read_job(world: &World) -> Value {
    serde_yaml::from_str(&world.read_text(".github/workflows/sluicegate.yml")).unwrap()
}

#[test]
fn init_with_sign_writes_job_with_permissions_and_steps() {
    let world = new_project();
    let call = Call::new(&world.work());
    call.run("init --host github --sign").expect(0);
    let document = read_job(&world);
    let job = &document["jobs"]["sluicegate"];
    assert_eq!(document["permissions"], json!({ "contents": "read" }));
    assert_eq!(
        job["permissions"],
        json!({ "contents": "read", "id-token": "write", "attestations": "write" })
    );
    let steps = job["steps"].as_array().unwrap();
    let gate = steps.iter().find(|step| step["id"] == "gate").unwrap();
    let signing_steps: Vec<&Value> = steps
        .iter()
        .filter(|step| step["uses"].as_str().unwrap().starts_with("actions/attest@"))
        .collect();
    assert_eq!(signing_steps.len(), 2);
    for (step, kind, input) in [
        (signing_steps[0], "review", "attestation-predicate"),
        (signing_steps[1], "publication", "publish-attestation-predicate"),
    ] {
        let output = |name: &str| format!("steps.gate.outputs.{kind}-{name}");
        let inputs = &step["with"];
        assert_eq!(
            inputs["subject-checksums"],
            format!("${{{{ {} }}}}", output("subjects"))
        );
        assert_eq!(
            inputs["predicate-type"],
            format!("${{{{ {} }}}}", output("predicate-type"))
        );
        assert_eq!(inputs["predicate-path"], gate["with"][input]);
        // Without subjects there is nothing to sign.
        let condition = step["if"].as_str().unwrap();
        assert!(
            condition.ends_with(&format!("{} != ''", output("subjects"))),
            "{condition}"
        );
    }
}

#[test]
fn init_without_sign_writes_job_without_permission_to_sign() {
    let world = new_project();
    Call::new(&world.work()).run("init --host github").expect(0);
    let job = read_job(&world);
    assert!(job["jobs"]["sluicegate"]["permissions"].is_null());
    assert!(!job.to_string().contains("id-token"));
    // An existing job is never edited.
    Call::new(&world.work())
        .run("init --host github --sign")
        .expect(0)
        .logging(&["--sign does not change it"]);
    assert_eq!(read_job(&world), job);
}

#[test]
fn init_with_sign_for_other_host_exits_with_2() {
    let world = new_project();
    for host in ["gitlab", "gitea", "none"] {
        Call::new(&world.work())
            .run(format!("init --sign --host {host}"))
            .expect(2)
            .saying(&[
                "--sign writes a job for GitHub only",
                "hint: write the job without --sign",
            ]);
    }
    assert_eq!(world.git("status --porcelain"), "");
}
