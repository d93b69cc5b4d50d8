//! The first configuration file of a change does not decide how the change is reviewed.

use crate::support::{Call, HOSTS, Job, ProgramOutput, RULES, World, orchestration_text, project};
use serde_json::Value;
use sluicegate::job::settings::{Setting, SettingKind, all_settings};

/// An enforcement key with a value that would let the change of [`first_file`] pass, or hide one of its pipelines.
const LENIENT: [(&str, &str); 37] = [
    ("config-dir", "config-dir: .lax"),
    ("include", "include: ['a.orch.yaml']"),
    ("exclude", "exclude: ['**']"),
    ("environment", "environment: production"),
    ("review.include", "review: { include: ['a.orch.yaml'] }"),
    ("review.exclude", "review: { exclude: ['**'] }"),
    ("review.fail-on", "review: { fail-on: never }"),
    ("review.on-unavailable", "review: { on-unavailable: pass }"),
    ("review.fork", "review: { fork: check }"),
    ("review.team-rules", "review: { team-rules: off }"),
    ("project-checks.call", "project-checks: { call: off }"),
    ("project-checks.script", "project-checks: { script: off }"),
    ("project-checks.link", "project-checks: { link: off }"),
    ("project-checks.argument", "project-checks: { argument: off }"),
    ("project-checks.shared", "project-checks: { shared: off }"),
    ("project-checks.cycle", "project-checks: { cycle: off }"),
    ("project-checks.external", "project-checks: { external: ['**'] }"),
    ("publish.include", "publish: { include: ['a.orch.yaml'] }"),
    ("publish.exclude", "publish: { exclude: ['**'] }"),
    ("publish.compat", "publish: { compat: off }"),
    ("publish.select", "publish: { select: closure }"),
    ("publish.from", "publish: { from: worktree }"),
    ("publish.if-exists", "publish: { if-exists: same-content }"),
    ("publish.on-ignored", "publish: { on-ignored: warn }"),
    ("publish.no-verify", "publish: { no-verify: true }"),
    ("publish.require-review", "publish: { require-review: r.json }"),
    ("publish.smoke", "publish: { smoke: [load] }"),
    (
        "publish.smoke-project",
        "publish: { smoke-project: [6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10] }",
    ),
    (
        "publish.smoke-environment",
        "publish: { smoke-environment: [test] }",
    ),
    ("publish.smoke-timeout", "publish: { smoke-timeout: 1 }"),
    ("publish.on-smoke-failure", "publish: { on-smoke-failure: keep }"),
    ("publish-on.branches", "publish-on: { branches: ['**'] }"),
    ("publish-on.tags", "publish-on: { tags: ['**'] }"),
    // Several keys together.
    (
        "project-checks.call",
        "project-checks: { call: off, script: off, external: ['**'] }",
    ),
    (
        "exclude",
        "exclude: ['**']\nreview: { exclude: [], fail-on: never }",
    ),
    (
        "review.fail-on",
        "review: { fail-on: never, include: ['none/**'] }",
    ),
    (
        "publish.compat",
        "publish: { compat: off }\nproject-checks: { shared: off }",
    ),
];

#[test]
fn note_about_first_file_that_is_no_yaml_does_not_list_its_settings() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("sluicegate.yaml", "review: { fail-on: never\n");
    world.commit("broken");
    world.push();
    let output = Job::github().pull_request().call(&world).run("check").expect(1);
    assert!(
        output.all().contains("the checkout's file is not valid YAML")
            && !output.all().contains("sets none of these settings"),
        "{}",
        output.all()
    );
}

/// Creates a branch `change` with a call of a missing pipeline, a missing script, a link to a missing component and a
/// broken name; `main` has no configuration file.
fn first_file() -> World {
    let world = project();
    world.write(
        ".platform/shared-pipelines.yaml",
        "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true, parameters: {} }\n",
    );
    world.commit("share");
    world.push();
    world.git("checkout -q -b change");
    let dead_call = orchestration_text(&["Start", "Call", "Done"])
        .replace("type: sql-executor", "type: run-orchestration")
        .replace(
            "componentName: \"Call\"",
            "componentName: \"Call\", orchestrationJob: \"gone.orch.yaml\"",
        );
    world.write("call.orch.yaml", dead_call);
    world.write(
        "bad.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.write(
        ".platform/shared-pipelines.yaml",
        "version: \"1.0\"\ntype: shared-pipelines-config\npipelines: []\n",
    );
    world.write(".lax/config/other.yaml", "rules: []\n");
    world.commit("change");
    world.push();
    world
}

fn settings_of(kind: fn(&Setting) -> bool) -> Vec<&'static str> {
    all_settings()
        .filter(|setting| kind(setting))
        .map(|setting| setting.key)
        .collect()
}

/// Returns everything that decides in a JSON report.
fn decisions(output: &ProgramOutput) -> Vec<Value> {
    let report = output.json();
    let keys = ["verdict", "files", "excluded", "unreviewed", "findings", "counts"];
    keys.iter().map(|key| report[key].clone()).collect()
}

#[test]
fn enforcement_key_of_a_first_file_has_no_effect() {
    let known = settings_of(|setting| setting.kind == SettingKind::Verdict);
    for key in &known {
        assert!(LENIENT.iter().any(|(name, _)| name == key), "{key} is not tested");
    }
    let world = first_file();
    let check = |call: Call| call.run("check --fail-on warn --report json=-");
    let output = check(Job::github().pull_request().call(&world)).expect(1);
    let expected = decisions(&output);
    assert!(output.out.contains("project/call"), "{}", output.out);
    for (key, text) in LENIENT {
        world.write("sluicegate.yaml", format!("{text}\n"));
        world.commit(key);
        world.push();
        let run_output = check(Job::github().pull_request().call(&world)).expect(1);
        assert_eq!(decisions(&run_output), expected, "{key}: {}", run_output.all());
        let notes = run_output.json()["notes"].to_string();
        assert!(notes.contains(&format!("`{key}`")), "{key}: {notes}");
    }
    // The remedy of the note.
    world.write("sluicegate.yaml", "exclude: ['**']\n");
    world.commit("exclude");
    world.push();
    let call = Job::github().pull_request().call(&world);
    let run_output = call.run("check --policy head --report json=-");
    assert_ne!(decisions(&run_output), expected, "{}", run_output.all());
}

#[test]
fn dead_call_is_found_on_every_host_whatever_the_first_file_sets() {
    let world = first_file();
    world.git("rm -q bad.orch.yaml");
    world.git("checkout -q main -- .platform");
    for text in [
        "project-checks: { call: off }\n",
        "project-checks: { external: ['**'] }\n",
    ] {
        world.write("sluicegate.yaml", text);
        world.commit("first file");
        world.push();
        for (name, host) in HOSTS {
            let output = host(&world, Call::new(&world.work())).run("check --fail-on warn");
            assert_eq!(output.code, 1, "{name} {text}: {}", output.all());
        }
    }
}

#[test]
fn job_key_of_a_first_file_is_refused() {
    let world = project();
    world.git("checkout -q -b change");
    // `color` and the project checks of a job have no key; nobody writes the other two into the file by accident.
    let unnamed = ["", "config", "bitbucket-proxy"];
    let keys = settings_of(|setting| !setting.kind.is_in_file());
    assert!(keys.len() > 20, "{keys:?}");
    for key in keys.into_iter().filter(|key| !unnamed.contains(key)) {
        for text in [format!("{key}: x\n"), format!("review: {{ {key}: x }}\n")] {
            world.write("sluicegate.yaml", text);
            world.commit(key);
            world.push();
            let output = Job::github().pull_request().call(&world).run("check");
            assert_eq!(output.code, 2, "{key}: {}", output.all());
            output.saying(&[&format!("`{key}` is not allowed in the configuration file")]);
        }
    }
}

#[test]
fn ordinary_first_file_reports_and_passes() {
    let world = project();
    world.git("checkout -q -b change");
    world.write(
        "sluicegate.yaml",
        "review: { new-only: true, report: [json=review.json], category: nightly, show: all }\n\
         publish: { prefix: sales }\npublish-on: { branches: [main] }\n",
    );
    world.write("rules.txt", RULES);
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("adopt");
    world.push();
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        let report = std::fs::read(world.work().join("review.json")).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        assert_eq!(report["findings"]["new"], 0, "{name}: new-only is in force");
        std::fs::remove_file(world.work().join("review.json")).unwrap();
    }
}
