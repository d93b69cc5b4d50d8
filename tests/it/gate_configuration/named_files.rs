//! Files of the gate configuration that the job names.

use crate::support::{Call, Job, RULES, RULES_FILE, World, bad_pipeline, one_change};
use std::os::unix::fs::symlink;

/// Returns a pull request's job that names `ci/gate.yaml`.
fn job_with_named_file(world: &World) -> Call {
    Job::github()
        .pull_request()
        .call(world)
        .variable("SLUICEGATE_CONFIG", "ci/gate.yaml")
}

/// Creates a change with the directory link `ci`, which leads to `target`.
fn change_with_linked_directory(target: impl FnOnce(&World) -> std::path::PathBuf) -> World {
    let world = one_change();
    symlink(target(&world), world.work().join("ci")).unwrap();
    world.commit("link");
    world.push();
    world
}

#[test]
fn named_file_that_does_not_exist_is_an_error_of_the_job() {
    let world = one_change();
    job_with_named_file(&world)
        .run("check")
        .expect(2)
        .saying(&["ci/gate.yaml", "the commit has no such file"]);
    world.write("ci/gate.yaml", "retries: 0\n");
    world.commit("configure");
    world.push();
    job_with_named_file(&world).run("check").expect(0);
}

/// The job is right to name the file, and the change is wrong to make it unusable.
#[test]
fn named_file_that_the_change_makes_unusable_fails_the_change() {
    let outside = change_with_linked_directory(|world| {
        let folder = world.path().join("outside");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("gate.yaml"), "retries: 0\n").unwrap();
        folder
    });
    let inside = change_with_linked_directory(|world| {
        world.write("ops/gate.yaml", "# long\n".repeat(200_000));
        "ops".into()
    });
    let direct = one_change();
    direct.write("ci/gate.yaml", "# long\n".repeat(200_000));
    direct.commit("configure");
    direct.push();
    for (world, reason) in [
        (outside, "leads out of the repository"),
        (inside, "the content has more than 1048576 bytes"),
        (direct, "the content has more than 1048576 bytes"),
    ] {
        job_with_named_file(&world)
            .run("check")
            .expect(1)
            .logging(&[reason]);
    }
}

/// The version of the checkout is only compared with the one that decides, and must not show other files.
#[test]
fn local_check_with_policy_of_base_shows_nothing_of_a_file_outside() {
    let world = one_change();
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "retries: 0\n");
    world.commit("configure");
    world.push();
    world.git("checkout -q -b linked");
    let secret = world.path().join("credentials.yaml");
    std::fs::write(&secret, "hidden-word: 1\n").unwrap();
    std::fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();
    symlink(&secret, world.work().join("sluicegate.yaml")).unwrap();
    let output = Call::new(&world.work()).run("check --policy base").expect(0);
    assert!(!output.all().contains("hidden-word"), "{}", output.all());
}

/// With the policy of the base, the file of the checkout still supplies facts, and its other settings are reported.
#[test]
fn local_check_with_policy_of_base_reports_settings_of_the_first_file() {
    let world = one_change();
    world.write(
        "sluicegate.yaml",
        "review: { fail-on: never, report: [json=told.json] }\n",
    );
    let output = Call::new(&world.work()).run("check --policy base").expect(0);
    output.assert_logged(&["review.fail-on", "has no sluicegate.yaml yet"]);
    assert!(world.work().join("told.json").exists(), "{}", output.all());
}

/// The file of the checkout decides after the merge.
#[test]
fn local_check_with_policy_of_base_rejects_an_invalid_file() {
    let world = one_change();
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "retries: 0\n");
    world.commit("configure");
    world.push();
    world.git("checkout -q -b next");
    let call = Call::new(&world.work());
    world.write("sluicegate.yaml", "retires: 1\n");
    call.run("check --policy base")
        .expect(2)
        .saying(&["unknown key `retires`"]);
    world.write("sluicegate.yaml", "retries: 1\n");
    call.run("check --policy base").expect(0);
}

/// The user of a local run owns the files outside of the repository.
#[test]
fn local_check_follows_a_link_out_of_the_repository() {
    for (level, code) in [("never", 0), ("error", 1)] {
        let world = one_change();
        let outside = world.path().join("gate.yaml");
        std::fs::write(&outside, format!("review: {{ fail-on: {level} }}\n")).unwrap();
        world.git("checkout -q main");
        symlink(&outside, world.work().join("sluicegate.yaml")).unwrap();
        world.commit("link");
        world.push();
        world.git("checkout -q -b bad");
        world.write("b.orch.yaml", bad_pipeline());
        Call::new(&world.work()).run("check").expect(code);
    }
}

/// Without a commit, a job reads the files on disk, which may be those of a change.
#[test]
fn job_without_commit_shows_nothing_of_a_file_outside() {
    let world = World::new()
        .with_file(RULES_FILE, RULES)
        .with_pipeline("a.orch.yaml", &["Start", "Done"]);
    let secret = world.path().join("credentials.yaml");
    std::fs::write(&secret, "hidden-word: 1\n").unwrap();
    symlink(&secret, world.work().join("sluicegate.yaml")).unwrap();
    let output = Call::new(&world.work())
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "push")
        .variable("CI_DEFAULT_BRANCH", "main")
        .variable("CI_COMMIT_BRANCH", "main")
        .variable("CI_COMMIT_SHA", "4".repeat(40))
        .run("check --policy head");
    output.assert_logged(&["leads out of the repository"]);
    assert!(!output.all().contains("hidden-word"), "{}", output.all());
}

/// Creates a change whose configuration file is behind a chain of this number of links.
fn change_with_link_chain(link_count: usize) -> World {
    let world = one_change();
    let name_of_link = |number: usize| match number {
        0 => "sluicegate.yaml".to_owned(),
        number if number == link_count => "end.yaml".to_owned(),
        number => format!("link{number}.yaml"),
    };
    for number in 0..link_count {
        symlink(name_of_link(number + 1), world.work().join(name_of_link(number))).unwrap();
    }
    world.write("end.yaml", "review: { fail-on: never }\n");
    world.write("b.orch.yaml", bad_pipeline());
    world.commit("links");
    world.push();
    world
}

#[test]
fn configuration_behind_links_is_read_up_to_a_limit() {
    for (link_count, code) in [(40, 0), (41, 1)] {
        let world = change_with_link_chain(link_count);
        let output = Job::github()
            .pull_request()
            .call(&world)
            .run("check --policy head");
        assert_eq!(output.code, code, "{link_count}: {}", output.all());
    }
}

#[test]
fn configuration_behind_a_circle_of_links_ends() {
    let world = one_change();
    symlink("other.yaml", world.work().join("sluicegate.yaml")).unwrap();
    symlink("sluicegate.yaml", world.work().join("other.yaml")).unwrap();
    world.write("b.orch.yaml", bad_pipeline());
    world.commit("links");
    world.push();
    for policy in ["base", "head"] {
        let args = format!("check --policy {policy}");
        Job::github().pull_request().call(&world).run(args).expect(1);
    }
}
