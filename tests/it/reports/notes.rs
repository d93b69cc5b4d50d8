//! Every report format contains the notes of a run.

use crate::support::{Call, FORMATS, HOSTS, Job, orchestration_text, project};
use std::fs;

#[test]
fn file_not_in_force_and_missing_base_are_in_every_format() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("sluicegate.yaml", "exclude: ['**']\n");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("change");
    world.push();
    let reports = |flags: &[&str], code| {
        let mut args = vec!["check".to_owned()];
        args.extend(flags.iter().map(|flag| (*flag).to_owned()));
        for format in FORMATS {
            args.extend(["--report".to_owned(), format!("{format}=reports/{format}")]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        Job::github().pull_request().call(&world).run(&args).expect(code);
        FORMATS.map(|format| {
            let text = fs::read_to_string(world.work().join("reports").join(format)).unwrap();
            let text = text.replace("\\u0060", "`").replace("&#96;", "`");
            (format, text.replace("<code>", "`").replace("</code>", "`"))
        })
    };
    for (format, text) in reports(&[], 0) {
        assert!(
            text.contains("--policy head") || text.contains("policy head"),
            "{format}: {text}"
        );
        assert!(
            text.contains("has no sluicegate.yaml yet") || text.contains("no sluicegate&#46;yaml"),
            "{format}: {text}"
        );
    }
    for (format, text) in reports(&["--all", "--new-only"], 0) {
        assert!(
            text.to_lowercase().contains("every finding is treated as new"),
            "{format}: {text}"
        );
    }
    // If a run does not pass, its reason contains the notes, once.
    let failure = Job::github()
        .pull_request()
        .call(&world)
        .run("check --gate-changes fail --report junit=-");
    assert_eq!(
        failure.out.matches("has no sluicegate.yaml yet").count(),
        2,
        "message and text of one case: {}",
        failure.out
    );
}

#[test]
fn run_without_notes_has_no_case_for_them() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("change");
    world.push();
    // The events of the other hosts name no commit of the target, so a note states the age of the clone's one.
    let of_named_target = |name: &str| ["github", "gitea", "gitlab"].contains(&name);
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work()))
            .run("check --report junit=-")
            .expect(0);
        let has_note = output.out.contains("name=\"note\"");
        assert_eq!(has_note, !of_named_target(name), "{name}: {}", output.out);
    }
}
