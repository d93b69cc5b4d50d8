//! Values that still contain a variable, an expression or quotes never become permanent names.

use crate::support::release::{publish_call, stage, versions};
use crate::support::{Call, World};

/// The values that a host or a shell should have replaced.
const VALUES: [&str; 6] = [
    "$(PREFIX)",
    "x-${PREFIX}",
    "%PREFIX%",
    "${{ vars.PREFIX }}",
    "\"sales\"",
    "'sales'",
];

/// The variable and the flag of each setting that becomes permanent or decides where requests go.
const SETTINGS: [(&str, &str); 6] = [
    ("SLUICEGATE_PREFIX", "--prefix"),
    ("SLUICEGATE_VERSION_NAME", "--version-name"),
    ("SLUICEGATE_BRANCH", "--branch"),
    ("SLUICEGATE_BASE_URL", "--base-url"),
    ("SLUICEGATE_AGENT_VERSION", "--agent-version"),
    ("SLUICEGATE_PROJECT_ID", "--project-id"),
];

#[test]
fn publish_refuses_unexpanded_values_of_each_setting() {
    let (world, server) = stage();
    for (variable, flag) in SETTINGS {
        for value in VALUES {
            let base = publish_call(&world, &server).variable("SLUICEGATE_VERSION_NAME", "1");
            let output = base.variable(variable, value).run("publish");
            assert_eq!(output.code, 2, "{variable}={value}: {}", output.all());
            assert!(
                output.err.contains(variable),
                "{variable}={value}: {}",
                output.all()
            );
            let base = publish_call(&world, &server).variable("SLUICEGATE_VERSION_NAME", "1");
            let output = base.run(&["publish", flag, value]);
            assert_eq!(output.code, 2, "{flag} {value}: {}", output.all());
            assert!(output.err.contains(flag), "{flag} {value}: {}", output.all());
        }
    }
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn unexpanded_branch_variable_is_not_read_if_ci_has_the_flag() {
    let (world, server) = stage();
    let call = publish_call(&world, &server).variable("SLUICEGATE_BRANCH", "$(BRANCH)");
    let args = "ci --publish --version-name 1 --publish-on-branch main";
    call.run(args).expect(2).saying(&["SLUICEGATE_BRANCH"]);
    assert_eq!(versions(&world, &server), []);
    call.run((args, "--branch main")).expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

#[test]
fn unexpanded_values_of_configuration_file_name_their_key() {
    let world = World::new();
    world.write(".platform/shared-pipelines.yaml", "pipelines: []\n");
    world.write("a.orch.yaml", "type: orchestration\npipeline: {}\n");
    world.commit("first");
    world.push();
    for (file, key) in [
        (
            "publish: { prefix: $(PREFIX), version-name: auto }\n",
            "publish.prefix",
        ),
        (
            "publish: { prefix: p, version-name: '${VERSION}' }\n",
            "publish.version-name",
        ),
        ("config-dir: '%FOLDER%'\n", "config-dir"),
    ] {
        world.write("sluicegate.yaml", file);
        let call = Call::with_platform(&world.work(), "http://127.0.0.1:9");
        let output = call.run("publish --dry-run").expect(2);
        output.saying(&[key, "variables in the configuration file are not replaced"]);
    }
}

#[test]
fn environment_of_a_run_and_prefix_of_a_rollback_are_checked() {
    let (world, server) = stage();
    let run = publish_call(&world, &server).run("pipelines run a --environment $(ENVIRONMENT)");
    run.expect(2).saying(&["--environment", "`$(ENVIRONMENT)`"]);
    let rollback = publish_call(&world, &server).run("artifacts rollback --prefix ${PREFIX}");
    rollback.expect(2).saying(&["--prefix", "`${PREFIX}`"]);
    let review = publish_call(&world, &server).run("review --branch $(Build.SourceBranchName)");
    review.expect(2).saying(&["--branch"]);
}

#[test]
fn version_name_of_placeholders_and_single_signs_is_accepted() {
    let (world, server) = stage();
    for version in ["{tag}-${branch}", "${branch}", "$(Build)-{sha}"] {
        let output = publish_call(&world, &server).run(format!("publish --version-name {version}"));
        assert_eq!(output.code, 2, "{version}: {}", output.all());
        assert!(
            output.err.contains("was not replaced"),
            "{version}: {}",
            output.all()
        );
    }
    for version in ["50%-{short-sha}", "a$b", "it's", "100%-or-5%"] {
        let output = publish_call(&world, &server).run(&["publish", "--version-name", version, "--dry-run"]);
        assert_eq!(output.code, 0, "{version}: {}", output.all());
    }
    let call = publish_call(&world, &server).variable("SLUICEGATE_PREFIX", "sales-5%");
    call.run("publish --version-name 1").expect(0);
}

#[test]
fn secret_next_to_a_variable_is_not_printed() {
    let (world, server) = stage();
    let call = publish_call(&world, &server).variable("SLUICEGATE_BASE_URL", "https://user:hunter2@$(HOST)/");
    let output = call.run("publish --version-name 1").expect(2);
    assert!(
        output.err.contains("`$(HOST)`") && !output.err.contains("hunter2"),
        "{}",
        output.all()
    );
}
