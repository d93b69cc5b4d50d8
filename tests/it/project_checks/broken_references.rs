//! Project checks: references between files that lead nowhere.

use crate::support::publishing::shared_pipelines_file;
use crate::support::{
    Arguments, Call, Platform, RULES, World, orchestration_text, project, respond_for_each, scratch,
};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use wiremock::ResponseTemplate;

const LEVELS: &str = "project-checks: { call: error, script: error, link: error, shared: error }\n";

/// Returns an orchestration that calls others, each through a separate component.
pub(super) fn caller_of_targets(targets: &[&str]) -> String {
    let mut text = "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    Start:\n      type: start\n      \
                    transitions:\n        unconditional: [End]\n    End:\n      type: end-success\n"
        .to_owned();
    for (number, target) in targets.iter().enumerate() {
        let _ = write!(
            text,
            "    Call {number}:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: \"{target}\"\n"
        );
    }
    text
}

/// Returns the findings of the project checks: rule, level, path, line and message.
pub(super) fn list_project_findings(report: &Value) -> Vec<String> {
    let files = report["files"].as_array().unwrap().iter();
    let results = files.flat_map(|file| {
        let results = file["results"].as_array().unwrap().iter();
        results.map(move |result| (file["path"].as_str().unwrap(), result))
    });
    let of_project = results.filter(|(_, result)| result["origin"] == "project");
    let message = of_project.flat_map(|(path, result)| {
        let findings = result["findings"].as_array().unwrap().iter();
        findings.map(move |finding| {
            let (line, text) = (&finding["line"], &finding["message"]);
            let rule = result["rule"].as_str().unwrap();
            let level = result["enforcement"].as_str().unwrap();
            format!("{rule} {level} {path}:{line} {}", text.as_str().unwrap())
        })
    });
    message.collect()
}

/// Creates a repository with these files on `main`, and a branch `change` that is checked out.
pub(super) fn world_with_files(files: &[(&str, &str)]) -> World {
    let world = World::new();
    world.write("sluicegate.yaml", LEVELS);
    world.write(
        ".platform/config/pipeline_quality_rules.yaml",
        "rules: [{ id: minimum-components, enabled: true, enforcementLevel: warn, config: { minComponents: 1 } }]\n",
    );
    for (path, text) in files {
        world.write(path, text);
    }
    world.commit("the past");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b change");
    world
}

pub(super) fn check_expecting(world: &World, code: i32, args: impl Arguments) -> Value {
    let output = Call::new(&world.work()).run(("check --report json=-", args));
    output.expect(code).json()
}

#[test]
fn each_check_finds_what_leads_nowhere_and_nothing_else() {
    let caller = caller_of_targets(&[
        "sales/load",
        "sales/load.orch.yaml",
        "sales/gone",
        "load",
        "b/sub",
        "${where}",
        "lib/elsewhere",
    ]);
    let extra_args = "    Iterate:\n      type: fixed-iterator\n      iterationTarget: Nobody\n    Script:\n      type: sql-executor\n      parameters:\n        \
                scriptLocation: File\n        fileName: scripts/gone.sql\n    Right script:\n      type: sql-executor\n      parameters:\n        \
                scriptLocation: File\n        fileName: scripts/there.sql\n    Arguments:\n      type: run-orchestration\n      parameters:\n        \
                orchestrationJob: sales/load\n        setScalarVariables:\n        - [known, 1]\n        - [unknown, 2]\n        setGridVariables:\n        \
                - variable: grid\n";
    let loads = format!("{}  variables:\n    known: {{}}\n", caller_of_targets(&[]));
    let shared = "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: sales/load.orch.yaml, displayName: l, id: load, enabled: true, parameters: { \
                  known: { type: TEXT }, other: { type: TEXT } } }\n  - { pipeline: sales/away.orch.yaml, displayName: a, id: away, enabled: false, parameters: {} }\n";
    let world = world_with_files(&[
        (
            "sluicegate.yaml",
            "project-checks: { call: error, shared: error, argument: error, cycle: error, external: ['lib/**'] }\n",
        ),
        ("sales/caller.orch.yaml", &format!("{caller}{extra_args}")),
        ("sales/load.orch.yaml", &loads),
        ("a/sub.orch.yaml", &caller_of_targets(&["b/round"])),
        ("b/round.orch.yaml", &caller_of_targets(&["a/sub", "b/round"])),
        ("scripts/there.sql", "select 1"),
        (".platform/shared-pipelines.yaml", shared),
    ]);
    insta::assert_snapshot!(list_project_findings(&check_expecting(&world, 1, "--all")).join("\n"));
    let off = check_expecting(&world, 0, "--all --project-checks off");
    assert!(list_project_findings(&off).is_empty());
    assert_eq!(
        off["counts"],
        check_expecting(&world, 1, "--all")["counts"],
        "rule results are counted alone"
    );
}

#[test]
fn move_of_pipeline_reports_untouched_callers() {
    let world = world_with_files(&[
        (
            "sales/caller.orch.yaml",
            &caller_of_targets(&["sales/load", "sales/gone long ago"]),
        ),
        ("sales/load.orch.yaml", &caller_of_targets(&[])),
        ("other/old.orch.yaml", &caller_of_targets(&["nowhere/at all"])),
    ]);
    world.write("other/new.orch.yaml", caller_of_targets(&[]));
    world.commit("unrelated");
    assert!(
        list_project_findings(&check_expecting(&world, 0, "")).is_empty(),
        "what was there before and is not touched is not told"
    );
    world.git("mv sales/load.orch.yaml sales/daily.orch.yaml");
    world.commit("move");
    let report = check_expecting(&world, 1, "");
    assert_eq!(
        list_project_findings(&report),
        [
            "project/call error sales/caller.orch.yaml:14 component `Call 0` calls the orchestration `sales/load`, which is not in the project; this change may have renamed it to `sales/daily.orch.yaml`"
        ]
    );
    assert_eq!(report["verdict"], "failed");
    assert_eq!(report["counts"]["files"], 2, "only what changed was judged");
    let known = check_expecting(&world, 1, "--new-only");
    assert_eq!(known["findings"]["new"], 1);
    // Findings fail the gate even if no pipeline is selected.
    let gone = check_expecting(&world, 1, "--exclude sales/daily.orch.yaml");
    assert_eq!(list_project_findings(&gone).len(), 1);
}

#[test]
fn finding_in_untouched_caller_is_in_one_shard_only() {
    let world = world_with_files(&[
        ("sales/caller.orch.yaml", &caller_of_targets(&["sales/load"])),
        ("sales/load.orch.yaml", &caller_of_targets(&[])),
    ]);
    world.git("mv sales/load.orch.yaml sales/daily.orch.yaml");
    world.commit("move");
    world.push();
    let platform = Platform::new();
    let result = json!([{ "ruleName": "minimum-components", "status": "PASSED" }]);
    platform.reviews(respond_for_each("PASSED", result));
    let finding_counts = [1, 2].map(|index| {
        let args = format!("review --shard {index}/2 --report json=-");
        list_project_findings(&platform.call(&world).run(args).json()).len()
    });
    assert_eq!(finding_counts.iter().sum::<usize>(), 1, "{finding_counts:?}");
}

#[test]
fn existing_finding_outside_of_the_selection_is_not_reported() {
    let shared = "pipelines:\n  - { pipeline: sales/gone.orch.yaml, id: gone, enabled: true }\n";
    let world = world_with_files(&[
        ("sales/load.orch.yaml", &caller_of_targets(&[])),
        ("other/old.orch.yaml", &caller_of_targets(&["nowhere/at all"])),
        (".platform/shared-pipelines.yaml", shared),
    ]);
    // The shared-pipelines file belongs to the project, and not to a change that does not touch it.
    let reported_paths = |code, args: &str| {
        let findings = list_project_findings(&check_expecting(&world, code, args));
        let paths = findings
            .iter()
            .map(|finding| finding.split_whitespace().nth(2).unwrap());
        paths
            .map(|path| path.split(':').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    world.write(
        "sales/load.orch.yaml",
        format!("# edited\n{}", caller_of_targets(&[])),
    );
    assert_eq!(reported_paths(0, ""), Vec::<String>::new());
    assert_eq!(
        reported_paths(1, "--all --exclude other/**"),
        [".platform/shared-pipelines.yaml"]
    );
    assert_eq!(
        reported_paths(1, "--all"),
        [".platform/shared-pipelines.yaml", "other/old.orch.yaml"]
    );
}

#[test]
fn existing_broken_reference_is_known_and_worse_one_is_new() {
    let world = world_with_files(&[
        ("a/caller.orch.yaml", &caller_of_targets(&["a/gone", "load"])),
        ("b/load.orch.yaml", &caller_of_targets(&[])),
    ]);
    world.write(
        "a/caller.orch.yaml",
        caller_of_targets(&["a/gone", "load"]) + "    More:\n      type: and\n",
    );
    world.commit("touch");
    let report = check_expecting(&world, 0, "--new-only");
    assert_eq!(
        (&report["findings"]["known"], &report["findings"]["new"]),
        (&2.into(), &0.into())
    );
    // The bare name resolved to the only file with that name: without it, the call leads nowhere.
    world.git("rm -q b/load.orch.yaml");
    world.commit("remove");
    let report = check_expecting(&world, 1, "--new-only");
    assert_eq!(
        (&report["findings"]["known"], &report["findings"]["errors"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn call_by_bare_name_that_change_breaks_is_new_at_level_warn() {
    let world = world_with_files(&[
        ("sluicegate.yaml", "project-checks: { call: warn }\n"),
        ("a/caller.orch.yaml", &caller_of_targets(&["load"])),
        ("b/load.orch.yaml", &caller_of_targets(&[])),
    ]);
    let more = "    More:\n      type: and\n";
    world.write("a/caller.orch.yaml", caller_of_targets(&["load"]) + more);
    world.commit("touch");
    let report = check_expecting(&world, 0, "--new-only --fail-on warn");
    assert_eq!(
        (&report["findings"]["known"], &report["findings"]["new"]),
        (&1.into(), &0.into())
    );
    // The call is edited to a path that no file has.
    world.write("a/caller.orch.yaml", caller_of_targets(&["old/load"]));
    world.commit("break");
    let report = check_expecting(&world, 1, "--new-only --fail-on warn");
    assert_eq!(report["findings"]["new"], 1, "{report}");
    // A call that was broken, and is resolved by its bare name now, is not new.
    world.git("checkout -q -b repair");
    world.write("a/caller.orch.yaml", caller_of_targets(&["load"]));
    world.commit("repair");
    let report = check_expecting(&world, 0, "--new-only --fail-on warn --base HEAD~1");
    assert_eq!(report["findings"]["known"], 1, "{report}");
}

#[test]
fn untouched_call_by_bare_name_is_reported_if_change_removes_its_target() {
    for edit in ["rm -q b/load.orch.yaml", "mv b/load.orch.yaml b/daily.orch.yaml"] {
        let world = world_with_files(&[
            ("sluicegate.yaml", "project-checks: { call: warn }\n"),
            ("a/caller.orch.yaml", &caller_of_targets(&["load"])),
            ("b/load.orch.yaml", &caller_of_targets(&[])),
        ]);
        world.git(edit);
        world.commit("edit");
        let findings = list_project_findings(&check_expecting(&world, 0, ""));
        assert_eq!(findings.len(), 1, "{edit}: {findings:?}");
        assert!(
            findings[0].contains("calls the orchestration `load`, which"),
            "{findings:?}"
        );
        check_expecting(&world, 1, "--new-only --fail-on warn");
    }
    // The twin: a call by bare name that the change does not break is not reported.
    let world = world_with_files(&[
        ("sluicegate.yaml", "project-checks: { call: warn }\n"),
        ("a/caller.orch.yaml", &caller_of_targets(&["load"])),
        ("b/load.orch.yaml", &caller_of_targets(&[])),
    ]);
    world.git("mv b/load.orch.yaml c.orch.yaml");
    world.git("mv c.orch.yaml b/load.orch.yaml");
    world.write("other.orch.yaml", caller_of_targets(&[]));
    world.commit("edit");
    assert!(list_project_findings(&check_expecting(&world, 0, "")).is_empty());
}

/// The component of the untouched caller already has a finding of the same check.
#[test]
fn argument_that_change_breaks_is_new_beside_known_one_in_untouched_caller() {
    let caller = format!(
        "{}    L:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: x/l\n        \
         setScalarVariables:\n        - [old, 1]\n        - [v, 2]\n",
        caller_of_targets(&[])
    );
    let with_variables = |variables: &str| format!("{}  variables:\n{variables}", caller_of_targets(&[]));
    let world = world_with_files(&[
        ("sluicegate.yaml", "project-checks: { argument: error }\n"),
        ("m.orch.yaml", &caller),
        ("x/l.orch.yaml", &with_variables("    v: {}\n    w: {}\n")),
    ]);
    world.write(
        "x/l.orch.yaml",
        with_variables("    v: {}\n    w: {}\n    z: {}\n"),
    );
    world.commit("add");
    let report = check_expecting(&world, 0, "--new-only");
    assert_eq!(report["findings"]["new"], 0, "the twin: nothing is broken");
    world.write("x/l.orch.yaml", with_variables("    w: {}\n"));
    world.commit("remove");
    let report = check_expecting(&world, 1, "--new-only");
    assert_eq!(report["findings"]["new"], 1, "{report}");
    let report = check_expecting(&world, 1, "--new-only --all --base HEAD~1");
    assert_eq!(
        (&report["findings"]["new"], &report["findings"]["known"]),
        (&1.into(), &1.into())
    );
}

#[test]
fn parameter_that_change_breaks_is_new_beside_known_one_of_entry() {
    let shared = "pipelines:\n  - { pipeline: x.orch.yaml, id: x, enabled: true, parameters: { old: { type: TEXT }, v: { type: TEXT } } }\n";
    let pipeline = |name: &str| format!("{}  variables:\n    {name}: {{}}\n", caller_of_targets(&[]));
    let world = world_with_files(&[
        ("x.orch.yaml", &pipeline("v")),
        (".platform/shared-pipelines.yaml", shared),
    ]);
    world.write("x.orch.yaml", pipeline("w"));
    world.commit("rename the variable");
    let report = check_expecting(&world, 1, "--new-only --compat off");
    assert_eq!(report["findings"]["new"], 1, "{report}");
}

#[test]
fn waiver_allows_it_and_waivers_command_writes_one() {
    let world = world_with_files(&[("a/caller.orch.yaml", &caller_of_targets(&["a/gone"]))]);
    let call = Call::new(&world.work());
    call.run("waivers add project/call a/caller.orch.yaml 'Call 0' --reason legacy")
        .expect(0);
    let waivers = fs::read_to_string(world.work().join("sluicegate-waivers.yaml")).unwrap();
    assert!(
        waivers.contains("rule: project/call, path: a/caller.orch.yaml, about: Call 0"),
        "{waivers}"
    );
    assert_eq!(check_expecting(&world, 0, "--all")["findings"]["waived"], 1);
    fs::remove_file(world.work().join("sluicegate-waivers.yaml")).unwrap();
    call.run("waivers add --all --reason legacy").expect(0);
    assert_eq!(check_expecting(&world, 0, "--all")["findings"]["waived"], 1);
    let none = "waivers add project/link a/caller.orch.yaml --reason x";
    call.run(none).expect(2).saying(&["no current finding matches"]);
}

#[test]
fn platform_that_is_away_hides_nothing_and_one_that_passes_excuses_nothing() {
    let world = world_with_files(&[
        ("a/caller.orch.yaml", &caller_of_targets(&["a/load"])),
        ("a/load.orch.yaml", &caller_of_targets(&[])),
    ]);
    world.git("mv a/load.orch.yaml a/daily.orch.yaml");
    world.commit("move");
    world.git("push -q origin change");
    let platform = Platform::new();
    platform.reviews(ResponseTemplate::new(503));
    let output = platform.call(&world).run("review --report json=-").expect(1);
    let report = output.json();
    assert_eq!(
        (list_project_findings(&report).len(), report["verdict"].as_str()),
        (1, Some("failed"))
    );
    assert_eq!(report["unreviewed"], serde_json::json!(["a/daily.orch.yaml"]));

    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "PASSED",
        serde_json::json!([{ "ruleName": "minimum-components", "status": "PASSED" }]),
    ));
    let report = platform
        .call(&world)
        .run("review --report json=-")
        .expect(1)
        .json();
    let origins: Vec<&Value> = report["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| &file["results"][0]["origin"])
        .collect();
    assert_eq!(origins, ["project", "platform"]);
    assert_eq!(report["counts"]["files"], 1);
}

#[test]
fn change_that_prevents_upload_is_reported_as_such() {
    let world = world_with_files(&[
        ("a/load.orch.yaml", &caller_of_targets(&["a/part"])),
        ("a/part.orch.yaml", &caller_of_targets(&[])),
        (
            ".platform/shared-pipelines.yaml",
            &shared_pipelines_file(&[("a/load.orch.yaml", "load", true)]),
        ),
    ]);
    world.git("rm -q a/part.orch.yaml");
    world.write(
        ".platform/shared-pipelines.yaml",
        shared_pipelines_file(&[("a/load.orch.yaml", "load", true)])
            + "  - { pipeline: a/b.orch.yaml, displayName: b, id: b, enabled: true, parameters: {} }\n",
    );
    world.commit("break");
    let lines = list_project_findings(&check_expecting(&world, 1, "")).join("\n");
    let platform = Platform::new();
    let publish = [
        "publish",
        "--prefix",
        "p",
        "--version-name",
        "1",
        "--compat",
        "off",
        "--dry-run",
    ];
    let log = platform.call(&world).run(&publish).expect(2).all();
    for words in [
        "component `Call 0` calls the orchestration `a/part`, which is not in the project",
        "the shared pipeline `b` is `a/b.orch.yaml`, which is not in the project",
    ] {
        assert!(lines.contains(words), "{lines}");
        assert!(log.contains(words), "{log}");
    }
    assert!(
        lines.contains("publishing will fail because the shared pipeline `load` needs it"),
        "{lines}"
    );
}

#[test]
fn external_path_is_matched_with_and_without_its_extension() {
    let script = "    Script:\n      type: sql-executor\n      parameters:\n        scriptLocation: File\n        \
                  fileName: sql/load.sql\n";
    let caller = caller_of_targets(&["lib/x.orch.yaml", "lib/y"]) + script;
    let world = world_with_files(&[("a/caller.orch.yaml", &caller)]);
    for (external, finding_count) in [
        ("'lib/x', 'lib/y.orch.yaml', 'sql/load'", 0),
        ("'lib/x.orch.yaml', 'lib/y', 'sql/load.sql'", 0),
        ("'lib/x.orch', 'lib/y.tran.yaml', 'sql/load.'", 3),
    ] {
        let settings = format!("project-checks: {{ call: error, script: error, external: [{external}] }}\n");
        world.write("sluicegate.yaml", &settings);
        let report = check_expecting(&world, i32::from(finding_count > 0), "--all");
        let findings = list_project_findings(&report);
        assert_eq!(findings.len(), finding_count, "{external}: {findings:?}");
        let repair = Call::new(&world.work()).run("mv --repair --dry-run").expect(0);
        let left_count = repair
            .out
            .lines()
            .filter(|line| line.starts_with("left: "))
            .count();
        assert_eq!(left_count, finding_count, "{external}: {}", repair.all());
    }
}

#[test]
fn init_makes_errors_of_what_finds_nothing_and_counts_the_others() {
    let world = World::new();
    world.write("a/caller.orch.yaml", caller_of_targets(&["a/gone", "a/gone too"]));
    world.write(".platform/config/pipeline_quality_rules.yaml", "rules: []\n");
    world.commit("first");
    world.push();
    Call::new(&world.work()).run("init --host none").expect(0);
    let text = fs::read_to_string(world.work().join("sluicegate.yaml")).unwrap();
    assert!(
        text.contains("project-checks:\n  call: warn # 2 findings today\n  script: error\n"),
        "{text}"
    );
    assert_eq!(
        list_project_findings(&check_expecting(&world, 0, "--all")).len(),
        2
    );
    let log = Call::new(&world.work()).run("check --all").expect(0).all();
    assert!(log.contains("Check passed: 2 warnings"), "{log}");
}

#[test]
fn checks_are_listed_and_explained() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path());
    let log = |args: &str, code| call.run(args).expect(code).all();
    let listed = log("rules list", 0);
    assert!(
        listed.contains("project/call") && listed.contains("project/cycle"),
        "{listed}"
    );
    let explained = log("rules explain project/shared", 0);
    assert!(
        explained.contains("`sluicegate publish` fails without an upload"),
        "{explained}"
    );
    let unknown = log("rules explain project/cal", 2);
    assert!(unknown.contains("did you mean `project/call`?"), "{unknown}");
}

/// Removes the blob of a file at `HEAD` from the clone, so that reading it fails.
fn lose(world: &World, path: &str) {
    let blob = world.git(&["rev-parse", &format!("HEAD:{path}")]);
    let (folder, rest) = blob.split_at(2);
    fs::remove_file(world.work().join(".git/objects").join(folder).join(rest)).unwrap();
}

#[test]
fn base_is_read_only_where_head_has_findings() {
    let world = world_with_files(&[
        ("sales/caller.orch.yaml", &caller_of_targets(&["sales/load"])),
        ("sales/load.orch.yaml", &caller_of_targets(&[])),
        (
            "other.orch.yaml",
            &caller_of_targets(&["sales/load", "sales/load"]),
        ),
    ]);
    for path in ["sales/caller.orch.yaml", "other.orch.yaml"] {
        lose(&world, path);
    }
    let edited = caller_of_targets(&["sales/load"]).replace("Call 0", "Call it");
    world.write("other.orch.yaml", &edited);
    let silent = ["--base", "HEAD", "--changes", "none"];
    assert!(list_project_findings(&check_expecting(&world, 0, &silent)).is_empty());
    fs::remove_file(world.work().join("sales/load.orch.yaml")).unwrap();
    let call = Call::new(&world.work());
    call.run(("check", &silent[..]))
        .expect(7)
        .saying(&["missing from the repository"]);
}

#[test]
fn check_that_is_off_reads_no_unchanged_pipeline() {
    let world = world_with_files(&[
        ("sales/caller.orch.yaml", &caller_of_targets(&["sales/load"])),
        ("sales/load.orch.yaml", &caller_of_targets(&[])),
    ]);
    lose(&world, "sales/caller.orch.yaml");
    fs::remove_file(world.work().join("sales/load.orch.yaml")).unwrap();
    check_expecting(&world, 0, "--base HEAD --changes none --project-checks off");
    Call::new(&world.work())
        .run("check --base HEAD --changes none")
        .expect(7);
}

#[cfg(unix)]
#[test]
fn script_replaced_by_link_is_reported_in_untouched_callers() {
    let runs = "    Run:\n      type: sql-executor\n      parameters:\n        scriptLocation: File\n        fileName: scripts/load.sql\n";
    let caller = caller_of_targets(&[]) + runs;
    let world = world_with_files(&[
        ("sales/caller.orch.yaml", &caller),
        ("scripts/load.sql", "select 1"),
    ]);
    let script = world.work().join("scripts/load.sql");
    fs::remove_file(&script).unwrap();
    std::os::unix::fs::symlink("elsewhere.sql", &script).unwrap();
    let on_disk = list_project_findings(&check_expecting(&world, 1, "--base main"));
    assert_eq!(
        on_disk,
        [
            "project/script error sales/caller.orch.yaml:15 component `Run` names the script `scripts/load.sql`, which is a symbolic link, not a file"
        ]
    );
    world.commit("link");
    assert_eq!(
        list_project_findings(&check_expecting(&world, 1, "--base main")),
        on_disk
    );
}

/// A submodule has no content that the platform could read, so it is no pipeline.
#[test]
fn pipeline_replaced_by_submodule_breaks_the_same_as_deleted_one() {
    let shared = "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: a/load.orch.yaml, \
                  displayName: l, id: load, enabled: true, parameters: {} }\n";
    let world = world_with_files(&[
        ("a/caller.orch.yaml", &caller_of_targets(&["a/load"])),
        ("a/load.orch.yaml", &caller_of_targets(&[])),
        (".platform/shared-pipelines.yaml", shared),
    ]);
    world.git("rm -q a/load.orch.yaml");
    let deletion = world.commit("delete");
    let entry = format!("160000,{deletion},a/load.orch.yaml");
    world.git(&["update-index", "--add", "--cacheinfo", &entry]);
    world.git("commit -q -m submodule");
    world.git("push -q origin change");
    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "PASSED",
        json!([{ "ruleName": "minimum-components", "status": "PASSED" }]),
    ));
    for args in ["", "--all --base main"] {
        let mut problems = Vec::new();
        for head in [&deletion, "HEAD"] {
            let call = platform.call(&world);
            let flags = (
                "review --compat fail --report json=- --branch change --head",
                head,
                args,
            );
            let report = call.run(flags).expect(1).json();
            let findings = list_project_findings(&report);
            assert_eq!(findings.len(), 2, "{findings:?}");
            problems.push((findings, report["compat"]["changes"].clone()));
            assert!(
                !report["notes"].to_string().contains("contains 2 pipelines"),
                "{report:#}"
            );
        }
        assert!(problems[0].1[0].is_object(), "{problems:?}");
        assert_eq!(problems[0], problems[1], "{args}");
    }
    let diff = Call::new(&world.work())
        .run("diff --base main --head HEAD")
        .expect(0);
    diff.logging(&["shared pipelines: 1 break"]);
}

#[test]
fn with_two_merge_bases_no_caller_of_a_lost_variable_is_missed() {
    let sets = "        setScalarVariables:\n        - [day, 1]\n";
    let declaring = |name: &str| format!("{}  variables:\n    {name}: {{}}\n", caller_of_targets(&[]));
    let levels = "project-checks: { argument: error }\n";
    let world = world_with_files(&[
        ("sluicegate.yaml", levels),
        ("caller.orch.yaml", &(caller_of_targets(&["load"]) + sets)),
        ("load.orch.yaml", &declaring("any")),
    ]);
    world.write("load.orch.yaml", declaring("day"));
    world.commit("the change declares it");
    world.git("checkout -q main");
    world.write("other.txt", "x");
    world.commit("main goes on");
    world.git("branch before");
    world.git("merge -q --no-edit change");
    world.git("checkout -q change");
    world.git("merge -q --no-edit before");
    world.write("load.orch.yaml", declaring("any"));
    world.commit("and loses it");
    let bases = world.git("merge-base --all main change");
    assert_eq!(bases.lines().count(), 2);
    let lines = list_project_findings(&check_expecting(&world, 1, "--base main"));
    assert!(
        lines.iter().any(|it| it.contains("caller.orch.yaml")),
        "{lines:?}"
    );
}

#[test]
fn unchanged_caller_is_reported_if_pipeline_loses_variable() {
    let sets = "        setScalarVariables:\n        - [day, 1]\n";
    let declaring = |names: &str| format!("{}  variables:\n{names}", caller_of_targets(&[]));
    let world = world_with_files(&[
        ("sluicegate.yaml", "project-checks: { argument: error }\n"),
        ("caller.orch.yaml", &(caller_of_targets(&["load"]) + sets)),
        ("load.orch.yaml", &declaring("    day: {}\n")),
    ]);
    world.write("load.orch.yaml", declaring("    day: {}\n    hour: {}\n"));
    world.commit("more");
    assert!(list_project_findings(&check_expecting(&world, 0, "")).is_empty());
    world.write("load.orch.yaml", declaring("    hour: {}\n"));
    world.commit("less");
    let lines = list_project_findings(&check_expecting(&world, 1, ""));
    assert!(
        lines.len() == 1 && lines[0].contains("caller.orch.yaml"),
        "{lines:?}"
    );
    // Only `--new-only` gives findings a state.
    for (args, state) in [("", "\"state\":null"), ("--new-only", "\"state\":\"new\"")] {
        let output = Call::new(&world.work())
            .run(("check --report json=-", args))
            .expect(1);
        let report = output.json()["files"].to_string();
        assert_eq!(report.matches(state).count(), 1, "{args}: {report}");
        assert_eq!(report.matches("\"state\":").count(), 1, "{args}: {report}");
    }
}

#[test]
fn review_of_edit_reads_no_pipeline_that_change_cannot_break() {
    let declaring = |day: &str| {
        let variables = format!("  variables:\n    day: {{ metadata: {{ description: {day} }} }}\n");
        caller_of_targets(&[]) + &variables
    };
    let runs = "    Run:\n      type: sql-executor\n      parameters:\n        scriptLocation: File\n        fileName: scripts/load.sql\n";
    let world = world_with_files(&[
        (
            "sales/caller.orch.yaml",
            &(caller_of_targets(&["sales/load"]) + runs),
        ),
        ("sales/load.orch.yaml", &declaring("today")),
        ("scripts/load.sql", "select 1"),
    ]);
    world.write("sales/load.orch.yaml", declaring("yesterday"));
    world.write("scripts/load.sql", "select 2");
    world.commit("edit");
    world.git("push -q origin change");
    lose(&world, "sales/caller.orch.yaml");
    let platform = Platform::new();
    let passed = serde_json::json!([{ "ruleName": "minimum-components", "status": "PASSED" }]);
    platform.reviews(respond_for_each("PASSED", passed));
    let review = "review --changes none --base main";
    platform.call(&world).run(review).expect(0);
}

#[test]
fn project_checks_use_files_that_reports_read() {
    let world = world_with_files(&[
        ("sales/load.orch.yaml", &caller_of_targets(&[])),
        ("sales/old.orch.yaml", &caller_of_targets(&["sales/load"])),
        ("sales/same.orch.yaml", &caller_of_targets(&["sales/load"])),
    ]);
    world.write("sales/load.orch.yaml", caller_of_targets(&["sales/nowhere"]));
    world.write("sales/old.orch.yaml", caller_of_targets(&[]));
    world.write("sales/new.orch.yaml", caller_of_targets(&["sales/load"]));
    world.commit("edit");
    world.git("push -q origin change");
    let platform = Platform::new();
    let passed = serde_json::json!([{ "ruleName": "minimum-components", "status": "PASSED" }]);
    platform.reviews(respond_for_each("PASSED", passed));
    let review = "review --base main --report json=-";
    let report = platform.call(&world).run(review).expect(1).json();
    assert_eq!(
        list_project_findings(&report),
        [
            "project/call error sales/load.orch.yaml:14 component `Call 0` calls the orchestration `sales/nowhere`, \
             which is not in the project"
        ]
    );
    let changes = report["changes"].as_array().unwrap().iter();
    let called = changes.map(|change| {
        let callers = change["callers"].as_array().map_or(0, Vec::len);
        assert_eq!(change["calledBy"].as_u64(), Some(callers as u64));
        (change["path"].as_str().unwrap(), change["callers"].to_string())
    });
    let callers = r#"["sales/new.orch.yaml","sales/same.orch.yaml"]"#;
    assert_eq!(
        called.collect::<Vec<_>>(),
        [
            ("sales/load.orch.yaml", callers.to_owned()),
            ("sales/new.orch.yaml", "null".to_owned()),
            ("sales/old.orch.yaml", "null".to_owned()),
        ]
    );
}

/// After a change to the gate configuration, all pipelines are read, and those that name no files only if a caller sets
/// their variables.
#[test]
fn unknown_variable_of_unchanged_pipeline_without_references_is_found() {
    let sets = "        setScalarVariables:\n        - [day, 1]\n";
    let levels = "project-checks: { argument: error }\n";
    let declaring = orchestration_text(&["Start", "Done"]) + "  variables:\n    day: {}\n";
    for (called, code) in [(orchestration_text(&["Start", "Done"]), 1), (declaring, 0)] {
        let world = world_with_files(&[
            ("sluicegate.yaml", levels),
            ("caller.orch.yaml", &caller_of_targets(&["load"])),
            ("load.orch.yaml", &called),
        ]);
        world.write("sluicegate.yaml", format!("{levels}retries: 1\n"));
        world.write("caller.orch.yaml", caller_of_targets(&["load"]) + sets);
        world.commit("edit");
        let lines = list_project_findings(&check_expecting(&world, code, "--base main"));
        let is_found = lines.iter().any(|line| line.contains("caller.orch.yaml"));
        assert_eq!(is_found, code == 1, "{lines:?}");
    }
}

#[test]
fn content_hidden_by_index_has_no_project_findings() {
    let runs = "    Run:\n      type: sql-executor\n      parameters:\n        scriptLocation: File\n        fileName: scripts/load.sql\n";
    let world = world_with_files(&[
        ("a.orch.yaml", &caller_of_targets(&[])),
        ("b.orch.yaml", &(caller_of_targets(&[]) + runs)),
        ("scripts/load.sql", "select 1"),
    ]);
    world.git("update-index --skip-worktree a.orch.yaml scripts/load.sql");
    world.write("a.orch.yaml", caller_of_targets(&["nowhere"]));
    world.write("scripts/load.sql", "\n");
    let hidden = list_project_findings(&check_expecting(&world, 3, "--all"));
    assert_eq!(hidden, [""; 0]);
    world.git("update-index --no-skip-worktree a.orch.yaml scripts/load.sql");
    let found = list_project_findings(&check_expecting(&world, 1, "--all"));
    for (line, text) in found.iter().zip([
        "project/call error a.orch.yaml",
        "project/script error b.orch.yaml",
    ]) {
        assert!(line.starts_with(text), "{line}");
    }
    assert_eq!(found.len(), 2, "{found:?}");
}

#[test]
fn cycle_through_unchanged_pipeline_is_found() {
    let world = world_with_files(&[
        ("sluicegate.yaml", "project-checks: { cycle: error }\n"),
        ("a.orch.yaml", &caller_of_targets(&[])),
        ("b.orch.yaml", &caller_of_targets(&["a"])),
    ]);
    world.write("a.orch.yaml", caller_of_targets(&["b"]));
    world.commit("edit");
    let lines = list_project_findings(&check_expecting(&world, 1, ""));
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("project/cycle error a.orch.yaml")),
        "{lines:?}"
    );
}

/// After a change to the gate configuration, all pipelines are read, and those that name no files only if they are
/// shared with parameters.
#[test]
fn unknown_parameter_of_unchanged_shared_pipeline_is_found() {
    let levels = "project-checks: { shared: error }\n";
    let share = |parameters: &str| {
        format!(
            "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - {{ pipeline: load.orch.yaml, displayName: l, \
             id: load, enabled: true, parameters: {{ {parameters} }} }}\n"
        )
    };
    let declaring = orchestration_text(&["Start", "Done"]) + "  variables:\n    day: {}\n";
    for (shared, code) in [(orchestration_text(&["Start", "Done"]), 1), (declaring, 0)] {
        let world = world_with_files(&[
            ("sluicegate.yaml", levels),
            (".platform/shared-pipelines.yaml", &share("")),
            ("load.orch.yaml", &shared),
        ]);
        world.write("sluicegate.yaml", format!("{levels}retries: 1\n"));
        world.write(".platform/shared-pipelines.yaml", share("day: { type: TEXT }"));
        world.commit("edit");
        let lines = list_project_findings(&check_expecting(&world, code, "--base main"));
        let is_found = lines
            .iter()
            .any(|line| line.starts_with("project/shared error .platform/"));
        assert_eq!(is_found, code == 1, "{lines:?}");
    }
}

#[test]
fn broken_shared_file_is_reported_only_if_the_run_covers_the_project() {
    let shared = "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: sales/away.orch.yaml, displayName: a, \
                  id: away, enabled: true, parameters: {} }\n";
    let world = world_with_files(&[
        ("sales/a.orch.yaml", &caller_of_targets(&[])),
        (".platform/shared-pipelines.yaml", shared),
    ]);
    let whole = list_project_findings(&check_expecting(&world, 1, "--all"));
    assert_eq!(whole.len(), 1, "{whole:?}");
    for path in ["sales", "sales/a.orch.yaml"] {
        let part = list_project_findings(&check_expecting(&world, 0, ("--all", &[path])));
        assert_eq!(part, [""; 0], "{path}");
    }
}

#[test]
fn script_that_change_empties_is_finding_in_unchanged_pipeline() {
    let caller = format!(
        "{}    Script:\n      type: sql-executor\n      parameters:\n        scriptLocation: File\n        \
         fileName: sql/count.sql\n",
        caller_of_targets(&[])
    );
    let world = world_with_files(&[("main.orch.yaml", &caller), ("sql/count.sql", "select 1;\n")]);
    for (content, finding_count) in [("\n", 1), ("select 2;\n", 0)] {
        world.write("sql/count.sql", content);
        world.commit("edit the script");
        let output = Call::new(&world.work()).run("check --report json=-");
        let findings = list_project_findings(&output.json());
        assert_eq!(findings.len(), finding_count, "{findings:?}");
        assert!(
            findings.iter().all(|finding| finding.contains("main.orch.yaml")),
            "{findings:?}"
        );
    }
}

#[test]
fn change_that_only_deletes_pipelines_reports_it_beside_broken_call() {
    let world = project();
    let caller = "type: orchestration
pipeline:
  components:
    Start: { type: start, transitions: { unconditional: [Call] } }
    Call: { type: run-orchestration, parameters: { orchestrationJob: sub.orch.yaml } }
";
    world.write("caller.orch.yaml", caller);
    world.write("sub.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("sluicegate.yaml", "project-checks: { call: error }\n");
    world.commit("base");
    world.push();
    world.git("checkout -q -b change");
    world.git("rm -q sub.orch.yaml");
    world.commit("delete");
    let call = Call::new(&world.work());
    call.run("check --base origin/main").expect(1).logging(&[
        "project/call",
        "nothing to check: the change deletes 1 pipeline and edits no other selected one;",
        "use --all to select them all",
    ]);
    // A deleted pipeline that the globs skip is not counted.
    call.run("check --base origin/main --exclude sub.orch.yaml --project-checks off")
        .expect(0)
        .logging(&["nothing to check: no selected pipeline changed;"]);
    // A change without a pipeline deletes none.
    world.git("reset -q --hard origin/main");
    world.write("README.md", "text\n");
    world.commit("text");
    call.run("check --base origin/main")
        .expect(0)
        .logging(&["nothing to check: no selected pipeline changed;"]);
}

#[test]
fn shared_pipeline_without_extension_suggests_the_file_with_it() {
    for (path, hint) in [
        ("a/load", "; did you mean `a/load.orch.yaml`?"),
        ("a/clean", "; did you mean `a/clean.tran.yaml`?"),
        (
            "a/other",
            "which is not in the project; publishing fails until this is corrected",
        ),
    ] {
        let world = world_with_files(&[
            ("a/load.orch.yaml", &caller_of_targets(&[])),
            (
                "a/clean.tran.yaml",
                "type: transformation\npipeline:\n  components: {}\n",
            ),
        ]);
        world.write(
            ".platform/shared-pipelines.yaml",
            shared_pipelines_file(&[(path, "load", true)]),
        );
        world.commit("share");
        let lines = list_project_findings(&check_expecting(&world, 1, ""));
        assert!(
            lines.iter().any(|line| line.ends_with(hint)),
            "{path}: {lines:#?}"
        );
        let publish = "publish --prefix p --version-name 1 --compat off --dry-run";
        Platform::new()
            .call(&world)
            .run(publish)
            .expect(2)
            .saying(&[hint.trim_end_matches("; publishing fails until this is corrected")]);
    }
}

#[test]
fn run_without_enabled_rule_has_note_about_it() {
    let note = "No enabled rule applies to the reviewed files (2 pipelines)";
    for (rules, code) in [("rules: []\n", 0), (RULES, 1)] {
        let world = world_with_files(&[
            ("a.orch.yaml", &caller_of_targets(&[])),
            ("b.orch.yaml", "{ ["),
            (".platform/config/pipeline_quality_rules.yaml", rules),
        ]);
        let args = "check --all --report markdown=r.md";
        let output = Call::new(&world.work()).run(args).expect(code);
        assert_eq!(output.all().contains(note), code == 0, "{}", output.all());
        let comment = world.read_text("r.md");
        assert_eq!(
            comment.contains("No enabled rule applies"),
            code == 0,
            "{comment}"
        );
    }
}
