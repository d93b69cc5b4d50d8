//! `sluicegate rules`.

use crate::support::{Call, RULES_FILE, World, git, orchestration_text, project, scratch};
use serde_json::json;

#[test]
fn list_shows_rules_of_this_rules_file() {
    let world = project();
    let call = Call::new(&world.work());
    let list = call.run("rules list -o json").expect(0).json();
    let here = |id: &str| {
        let rules = list.as_array().unwrap();
        rules.iter().find(|rule| rule["id"] == id).unwrap()["here"].clone()
    };
    assert_eq!(list.as_array().unwrap().len(), 14);
    assert_eq!(here("project/call"), "warn");
    assert_eq!(here("component-naming-convention"), "error");
    assert_eq!(here("maximum-components"), "warn");
    assert_eq!(here("unused-components"), "not in the rules file");
    let text = call.run("rules list").expect(0).out;
    assert!(
        text.contains("start-and-end-components") && text.contains("orchestration: "),
        "{text}"
    );
    let nowhere = scratch::create_scratch_directory();
    let list = Call::new(nowhere.path())
        .run("rules list -o json")
        .expect(0)
        .json();
    assert_eq!(list[0]["here"], json!(null));
    let page = Call::new(nowhere.path())
        .run("rules list --markdown")
        .expect(0)
        .out;
    assert!(page.starts_with("# Rules\n"));
}

#[test]
fn rules_list_reports_other_problems_than_a_missing_repository() {
    let world = project();
    let call = Call::new(&world.work());
    for args in ["rules list --ci bitbucket", "rules explain team/x --ci bitbucket"] {
        let output = call.run(args).expect(7);
        assert!(!output.all().contains("unknown rule"), "{}", output.all());
    }
    call.run("rules list --repo nowhere").expect(7);
    // A bare repository has no files to read rules from.
    Call::new(&world.remote()).run("rules list").expect(0);
    // A rule of the platform needs no repository.
    call.run("rules explain unused-components --ci bitbucket")
        .expect(0);
}

#[test]
fn rules_list_with_unreadable_rules_file_gives_the_reason() {
    let world = project();
    let output = Call::new(&world.work()).run("rules list").expect(0);
    assert_eq!(output.err, "");
    world.write(RULES_FILE, "a: [");
    let output = Call::new(&world.work()).run("rules list").expect(0);
    assert!(
        output.out.contains("unused-components (unknown)"),
        "{}",
        output.out
    );
    output.saying(&["the rules file cannot be read: not YAML", "sluicegate rules lint"]);
}

#[test]
fn problem_of_evaluation_that_reports_name_is_explained() {
    let world = World::new();
    let call = Call::new(&world.work());
    for id in ["document-parse-error", "pipeline-quality-rules"] {
        let page = call.run(["rules", "explain", id]).expect(0).out;
        assert!(page.contains("Why") && page.contains("How to fix it"), "{page}");
        let document = call.run(["rules", "explain", id, "-o", "json"]).expect(0).json();
        assert_eq!(document["id"], id);
    }
}

#[test]
fn rule_is_explained() {
    let world = World::new();
    let call = Call::new(&world.work());
    let page = call.run("rules explain unused-components").expect(0).out;
    for part in [
        "Why",
        "How it is checked",
        "How to configure it",
        "What passes",
        "What fails",
        "enforcementLevel: warn",
    ] {
        assert!(page.contains(part), "{part} is missing: {page}");
    }
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    call.run("rules explain unused-component")
        .expect(2)
        .saying(&["did you mean `unused-components`?"]);
    call.run("rules explain zzz").expect(2).saying(&["rules list"]);
}

#[test]
fn rules_file_is_begun_and_never_overwritten() {
    let world = World::new();
    world.write("a.txt", "x");
    let call = Call::new(&world.work());
    call.run("rules init").expect(2).saying(&["--config-dir"]);
    call.run("rules lint").expect(2).saying(&["rules init"]);
    let output = call.run("rules init --config-dir .platform").expect(0);
    assert!(output.out.contains(RULES_FILE), "{}", output.all());
    let content = std::fs::read_to_string(world.work().join(RULES_FILE)).unwrap();
    call.run("rules lint").expect(0);
    world.write("a.orch.yaml", "type: orchestration\npipeline:\n  components:\n    S: {type: start, transitions: {success: [E]}}\n    E: {type: end-success}\n");
    call.run("check --fail-on warn").expect(0);
    call.run("rules init").expect(2).saying(&["already exists"]);
    assert_eq!(
        std::fs::read_to_string(world.work().join(RULES_FILE)).unwrap(),
        content
    );
    git(&world.work(), "add -A");
}

#[test]
fn broken_rules_file_is_shown_as_compilers_do() {
    let world = project();
    world.write(RULES_FILE, "rules:\n  - id: unused-component\n    enabled: true\n    enforcementLevel: warn\n  - id: copied-variables\n    enabled: true\n    enforcementLevel: \"##[error]\u{1}x\"\n".replace('\u{1}', ""));
    let output = Call::new(&world.work()).run("rules lint").expect(1).out;
    insta::assert_snapshot!(output, @r##"
    error[designer/validator-not-found]: the rules file enables `unused-component`, which is not a known rule
     --> .platform/config/pipeline_quality_rules.yaml:2:9
      |
    2 |   - id: unused-component
      |         ^^^^^^^^^^^^^^^^
      |
      = help: did you mean `unused-components`?

    error[designer/invalid-enforcement-level]: the rules file sets an invalid enforcementLevel for `copied-variables`: write `warn` or `error`
     --> .platform/config/pipeline_quality_rules.yaml:7:23
      |
    7 |     enforcementLevel: "#＃[error]x"
      |                       ^^^^^^^^^^^^^

    .platform/config/pipeline_quality_rules.yaml: 2 errors, 0 warnings
    "##);
    world.write("other.yaml", "rules: [\u{1b}[2J]\n::error::x: [");
    let output = Call::new(world.path())
        .run("rules lint work/other.yaml")
        .expect(1)
        .out;
    assert!(
        !output.contains('\u{1b}') && !output.lines().any(|line| line.starts_with("::")),
        "{output}"
    );
    Call::new(world.path())
        .run("rules lint gone.yaml")
        .expect(2)
        .saying(&["gone.yaml"]);
    Call::new(world.path()).run("rules lint work").expect(2);
}

#[test]
fn without_a_known_folder_the_candidates_are_named_with_what_to_type() {
    let world = World::new();
    let call = Call::new(&world.work());
    world.commit("nothing yet");
    call.run("rules init").expect(2).saying(&[
        "looks like the platform's directory",
        "`sluicegate rules init --config-dir <directory>`",
    ]);
    for path in [
        ".github/workflows/ci.yml",
        ".zeta/other.yml",
        ".acme/deep/other.yaml",
        ".plain/file",
        "x.yaml",
    ] {
        world.write(path, "a: 1\n");
    }
    world.commit("files");
    let output = call.run("rules init").expect(2);
    let output = output.saying(&[
        "hidden directories: .acme, .plain, .zeta",
        "`sluicegate rules init --config-dir .acme`",
    ]);
    assert!(!output.err.contains(".github"), "{}", output.err);
    // `init` prints the same command, and the command works.
    let stdout = call.run("init --host none --dry-run").expect(0).out;
    assert!(
        stdout.contains("`sluicegate rules init --config-dir .acme`"),
        "{stdout}"
    );
    assert!(stdout.contains("candidates: .acme, .plain, .zeta"), "{stdout}");
    call.run("rules init --config-dir .acme").expect(0);
}

#[test]
fn command_that_check_without_rules_names_writes_them() {
    let world = World::new();
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write(".acme/other.yaml", "x: 1\n");
    world.commit("first");
    let call = Call::new(&world.work());
    let log = call.run("check --all").expect(0).all();
    let hint = "`sluicegate rules init --config-dir .acme`";
    assert!(log.contains(hint), "{log}");
    call.run("rules init --config-dir .acme").expect(0);
    call.run("check --all").expect(0);
    // A second directory would be ambiguous.
    call.run("rules init --config-dir .other").expect(2).saying(&[
        "`.acme` already contains the platform's files",
        "config-dir: .other",
    ]);
    assert!(!world.work().join(".other").exists());
    world.write("sluicegate.yaml", "config-dir: .other\n");
    call.run("rules init").expect(0);
    call.run("rules lint").expect(0).saying(&[]);
}

#[test]
fn rules_explain_of_partial_id_suggests_matching_rules() {
    let world = World::new();
    for (id, hint) in [
        ("copied", "did you mean `copied-variables`?"),
        ("Variable", "did you mean `copied-variables`?"),
        (
            "output",
            "did you mean `maximum-outputs` or `end-output-components`?",
        ),
        ("weather", "run `sluicegate rules list` to list all rules"),
    ] {
        let output = Call::new(&world.work())
            .run(format!("rules explain {id}"))
            .expect(2);
        assert!(output.err.contains(hint), "{id}: {}", output.all());
    }
    Call::new(&world.work())
        .run("rules explain copied-variables")
        .expect(0);
}
