//! A rules file behind a link belongs to the gate configuration, and a report of the job follows no link of the change.

use crate::support::{Call, HOSTS, Job, Platform, RULES, World, orchestration_text, project};
use serde_json::json;
use std::os::unix::fs::symlink;

/// Creates a `main` whose rules file, or whose entire hidden directory, is a link to `rules/`; and a branch `change`.
fn world_with_link(is_folder: bool) -> World {
    let world = project();
    std::fs::remove_dir_all(world.work().join(".platform")).unwrap();
    world.write("rules/config/pipeline_quality_rules.yaml", RULES);
    if is_folder {
        symlink("rules", world.work().join(".platform")).unwrap();
    } else {
        std::fs::create_dir_all(world.work().join(".platform/config")).unwrap();
        world.write(
            ".platform/shared-pipelines.yaml",
            "version: \"1.0\"\ntype: shared-pipelines-config\npipelines: []\n",
        );
        symlink(
            "../../rules/config/pipeline_quality_rules.yaml",
            world.work().join(".platform/config/pipeline_quality_rules.yaml"),
        )
        .unwrap();
    }
    world.commit("linked");
    world.push();
    world.git("checkout -q -b change");
    world
}

#[test]
fn change_of_linked_rules_file_is_reported_and_can_fail() {
    for is_folder in [false, true] {
        let world = world_with_link(is_folder);
        let target = "rules/config/pipeline_quality_rules.yaml";
        world.write(
            target,
            RULES.replace("enforcementLevel: error", "enforcementLevel: warn"),
        );
        world.write("note.txt", "more");
        world.commit("relaxed");
        world.push();
        for (name, host) in HOSTS {
            let call = host(&world, Call::new(&world.work()));
            let output = call.run("check --gate-changes fail --report json=-");
            assert_eq!(output.code, 1, "{name} {is_folder}: {}", output.all());
            assert_eq!(output.json()["gateChanges"], json!([target]), "{name}");
            let words = output.json()["gateChangesInWords"].to_string();
            assert!(words.contains("error → warn (relaxed)"), "{name}: {words}");
        }
        let twin = world_with_link(is_folder);
        twin.write("note.txt", "more");
        twin.commit("more");
        twin.push();
        Job::github()
            .pull_request()
            .call(&twin)
            .run("check --gate-changes fail")
            .expect(0);
    }
}

#[test]
fn team_rules_moved_behind_a_link_are_compared_and_apply() {
    let world = project();
    let rules = "rules:\n  - id: no-start\n    level: error\n    for: component\n    \
                 when: component.type == 'start'\n    message: no start\n";
    world.write("sluicegate-rules.yaml", rules);
    world.commit("rules");
    world.push();
    world.git("checkout -q -b change");
    world.git("mv sluicegate-rules.yaml real.yaml");
    symlink("real.yaml", world.work().join("sluicegate-rules.yaml")).unwrap();
    world.commit("moved");
    world.push();
    let output = Job::github().pull_request().call(&world).run("check");
    let output = output
        .expect(0)
        .logging(&["sluicegate-rules.yaml: no rule has changed"]);
    assert!(!output.all().contains("cannot be read"), "{}", output.all());
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("pipeline");
    world.push();
    let output = Job::github().pull_request().call(&world).run("check");
    assert_eq!(output.code, 1, "{}", output.all());
    assert!(output.all().contains("no start"), "{}", output.all());
}

/// An optional file need not exist in the directory to which the configuration file's directory is a link.
#[test]
fn missing_file_behind_a_link_to_a_directory_is_no_defect() {
    let world = project();
    world.write("conf/sluicegate.yaml", "retries: 1\n");
    symlink("conf", world.work().join("ci")).unwrap();
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("settings");
    world.push();
    let job = Job::github().pull_request().call(&world);
    job.run("check --all --config ci/sluicegate.yaml")
        .expect(0)
        .logging(&["passed"]);
    Call::new(&world.work())
        .run("check --all --staged --config ci/sluicegate.yaml")
        .expect(0)
        .logging(&["passed"]);
}

#[test]
fn check_reports_rules_file_behind_link() {
    for is_folder in [false, true] {
        let world = world_with_link(is_folder);
        world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
        world.commit("pipeline");
        world.push();
        let output = Job::github().pull_request().call(&world).run("check").expect(1);
        assert!(
            output
                .all()
                .contains("behind a symbolic link, which the platform does not follow"),
            "{}",
            output.all()
        );
        assert!(
            !output.all().contains("the rules file is missing"),
            "{}",
            output.all()
        );
    }
}

#[test]
fn output_of_platform_command_follows_no_link_of_change() {
    let world = project();
    let outside = world.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    world.git("checkout -q -b change");
    symlink(&outside, world.work().join("out")).unwrap();
    symlink(outside.join("new"), world.work().join("new.json")).unwrap();
    symlink(outside.join("state"), world.work().join("p.yaml.state.json")).unwrap();
    std::fs::create_dir(world.work().join("man")).unwrap();
    symlink(outside.join("page"), world.work().join("man/sluicegate.1")).unwrap();
    world.write("p.yaml", "project: { name: x }\n");
    world.commit("links");
    let platform = Platform::new();
    for command in [
        "pipelines run load --environment test --wait --junit new.json",
        "pipelines run load --environment test --wait --junit out/deeper/r.xml",
        "events export --from 2026-11-01T00:00:00Z --cursor new.json",
        "events export --from 2026-11-01T00:00:00Z --cursor out/cursor.json",
        "provision apply -f p.yaml",
        "provision apply -f p.yaml --state out/state.json",
        "variables list --out new.json",
        "man --dir out",
        "man --dir man",
        "demo --dir out/demo",
        "serve --listen 127.0.0.1:0 --data out/data",
    ] {
        let output = platform.call(&world).variable("CI", "true").run(command);
        assert_eq!(output.code, 2, "{command}: {}", output.all());
        output.saying(&["is a symbolic link in the repository"]);
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    assert!(platform.requests().is_empty());
    // Counterpart: a link that the job created.
    symlink(&outside, world.work().join("mine")).unwrap();
    Call::new(&world.work()).run("man --dir mine").expect(0);
    assert!(outside.join("sluicegate.1").is_file());
}

#[test]
fn input_that_job_names_follows_no_link_of_change_out_of_repository() {
    let world = project();
    let secret = world.path().join("secret");
    std::fs::write(&secret, "S3cret\n").unwrap();
    world.git("checkout -q -b change");
    symlink(&secret, world.work().join("linked.yaml")).unwrap();
    world.write("real.yaml", "rules: 7\n");
    symlink("real.yaml", world.work().join("inside.yaml")).unwrap();
    world.commit("link");
    world.push();
    let platform = Platform::new();
    for command in [
        "rules lint linked.yaml",
        "rules test linked.yaml",
        "variables apply -f linked.yaml",
        "provision apply -f linked.yaml",
        "report linked.yaml",
        "verify linked.yaml",
        "verify --attestation linked.yaml",
        "tasks create --environment test --mode PLAN --source-branch main --generate-branch --message-file linked.yaml",
        "diff --files linked.yaml real.yaml",
    ] {
        let output = platform.call(&world).variable("CI", "true").run(command);
        assert_eq!(output.code, 2, "{command}: {}", output.all());
        assert!(!output.all().contains("S3cret"), "{command}: {}", output.all());
        output.saying(&["the symbolic link `linked.yaml` leads out of the repository"]);
    }
    assert!(platform.requests().is_empty());
    // Counterparts: a link within the repository, a file that is not in it, and a local run.
    let in_job = || Call::new(&world.work()).variable("CI", "true");
    for output in [
        in_job().run("rules lint inside.yaml"),
        in_job().run(&["rules", "lint", &secret.display().to_string()]),
        Call::new(&world.work()).run("rules lint linked.yaml"),
    ] {
        assert!(!output.all().contains("leads out of"), "{}", output.all());
    }
}

/// Asserts that commands in a job reject the link to the git configuration without printing its content.
fn assert_link_rejected(platform: &Platform, world: &World, link: &str) {
    for command in [
        "rules lint",
        "tasks create --environment test --mode PLAN --source-branch main --generate-branch --message-file",
    ] {
        let call = platform.call(world).variable("CI", "true");
        let output = call.run(format!("{command} {link}"));
        assert_eq!(output.code, 2, "{command}: {}", output.all());
        assert!(!output.all().contains("S3cret"), "{command}: {}", output.all());
        output.saying(&[&format!("the symbolic link `{link}` leads out of the repository")]);
    }
}

#[test]
fn input_that_job_names_follows_no_link_of_change_into_git_directory() {
    let world = project();
    world.git("config http.extraheader S3cret");
    world.git("checkout -q -b change");
    symlink(".git/config", world.work().join("linked.yaml")).unwrap();
    symlink("store/config", world.work().join("separate.yaml")).unwrap();
    world.write("real.yaml", "rules: 7\n");
    symlink("real.yaml", world.work().join("inside.yaml")).unwrap();
    world.commit("link");
    world.push();
    let platform = Platform::new();
    assert_link_rejected(&platform, &world, "linked.yaml");
    // The git directory may be in the working tree under another name.
    world.git("init -q --separate-git-dir store");
    assert_link_rejected(&platform, &world, "separate.yaml");
    assert!(platform.requests().is_empty());
    // Counterpart: a link within the working tree.
    let output = platform
        .call(&world)
        .variable("CI", "true")
        .run("rules lint inside.yaml");
    assert!(!output.all().contains("leads out of"), "{}", output.all());
}

#[test]
fn report_that_job_names_follows_no_link_of_change() {
    let world = project();
    let outside = world.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    world.git("checkout -q -b change");
    symlink(&outside, world.work().join("out")).unwrap();
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("link");
    world.push();
    for report in ["json=out/r.json", "junit=out/deeper/r.xml"] {
        for call in [
            Call::new(&world.work()),
            Job::github().pull_request().call(&world),
        ] {
            let output = call.run(&["check", "--report", report]).expect(2);
            output.saying(&["is a symbolic link in the repository"]);
            let by_variable = call.variable("SLUICEGATE_REPORT", report).run("check");
            assert_eq!(by_variable.code, 2, "{}", by_variable.all());
        }
    }
    let plan = "publish --prefix p --version-name 1 --dry-run --receipt out/receipt.json";
    Call::with_platform(&world.work(), "http://127.0.0.1:9")
        .run(plan)
        .expect(2);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    // Counterparts: a link that the job created, and a path outside the checkout.
    symlink(&outside, world.work().join("mine")).unwrap();
    let elsewhere = format!("json={}", outside.join("direct.json").display());
    Call::new(&world.work())
        .run(&[
            "check",
            "--base",
            "main",
            "--report",
            "json=mine/r.json",
            "--report",
            &elsewhere,
        ])
        .expect(0);
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 2);
}

/// Creates a change with a submodule `module`, which has links to `outside` and to the file `outside/secret`, and with
/// the link `out` to `outside`. The link `job-out` next to the checkout leads to `out`.
fn world_with_indirect_links() -> World {
    let world = project();
    let outside = world.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "S3cret\n").unwrap();
    let other = World::new();
    symlink(&outside, other.work().join("out")).unwrap();
    symlink(outside.join("secret"), other.work().join("secret.yaml")).unwrap();
    other.commit("links");
    other.push();
    world.git("checkout -q -b change");
    symlink(&outside, world.work().join("out")).unwrap();
    world.git(format!(
        "submodule --quiet add file://{} module",
        other.remote().display()
    ));
    world.commit("indirect links");
    world.push();
    symlink(world.work().join("out"), world.path().join("job-out")).unwrap();
    world
}

#[test]
fn output_follows_no_indirect_link_of_change() {
    let world = world_with_indirect_links();
    for path in ["module/out/x.json", "module/secret.yaml", "../job-out/x.json"] {
        for command in ["check --report json=", "variables list --out "] {
            let output = Call::with_platform(&world.work(), "http://127.0.0.1:9")
                .variable("CI", "true")
                .run(format!("{command}{path}"));
            assert_eq!(output.code, 2, "{command}{path}: {}", output.all());
            output.saying(&["is a symbolic link in the repository"]);
        }
    }
    let outside = world.path().join("outside");
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 1);
    // Counterpart: a link of the job to its own link.
    symlink(&outside, world.path().join("own")).unwrap();
    symlink("own", world.path().join("own-again")).unwrap();
    let local = Call::new(&world.work()).run("check --report json=../own-again/x.json");
    assert!(outside.join("x.json").is_file(), "{}", local.all());
}

#[test]
fn input_follows_no_indirect_link_of_change_out_of_repository() {
    let world = world_with_indirect_links();
    let in_job = |path: &str| {
        Call::new(&world.work())
            .variable("CI", "true")
            .run(("rules lint", path))
    };
    for path in ["module/secret.yaml", "../job-out/secret"] {
        let output = in_job(path).expect(2);
        assert!(!output.all().contains("S3cret"), "{path}: {}", output.all());
        output.saying(&["leads out of the repository"]);
    }
    symlink(world.path().join("outside/secret"), world.path().join("own")).unwrap();
    let output = in_job("../own");
    assert!(!output.all().contains("leads out of"), "{}", output.all());
}
