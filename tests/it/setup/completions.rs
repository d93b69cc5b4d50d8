//! `sluicegate completions`, and the candidates that its scripts ask for. `tests/shells/run` presses the real key.

use crate::support::{Call, bad_pipeline, project, scratch};
use clap::CommandFactory as _;

const SHELLS: [&str; 5] = ["bash", "elvish", "fish", "powershell", "zsh"];

/// Returns what the program offers for the last of these words. Some shells add a description, which is removed.
pub(super) fn list_candidates(call: &Call, shell: &str, words: &[&str]) -> Vec<String> {
    let index = (words.len() - 1).to_string();
    let call = call
        .clone()
        .variable("SLUICEGATE_COMPLETE", shell)
        .variable("_CLAP_COMPLETE_INDEX", index)
        .variable("_CLAP_IFS", "\n");
    let mut args = vec!["--"];
    args.extend(words);
    let output = call.run(&args[..]).expect(0);
    assert_eq!(output.err, "", "{shell} {words:?}");
    let lines = output.out.lines();
    lines
        .map(|line| match shell {
            "zsh" => line.split(':').next().unwrap_or_default().to_owned(),
            _ => line.split('\t').next().unwrap_or_default().to_owned(),
        })
        .collect()
}

#[test]
fn every_shell_completes_every_command() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path());
    for shell in SHELLS {
        let script = call.run(&["completions", shell]).expect(0).out;
        assert!(
            script.contains("SLUICEGATE_COMPLETE") && script.contains("sluicegate"),
            "{script}"
        );
        assert!(
            !script.contains("target/"),
            "the script names this build: {script}"
        );
        let commands = list_candidates(&call, shell, &["sluicegate", ""]);
        for command in sluicegate::job::cli::Cli::command().get_subcommands() {
            assert!(
                commands.iter().any(|candidate| candidate == command.get_name()),
                "{shell}: {}: {commands:?}",
                command.get_name()
            );
        }
    }
    call.run("completions tcsh").expect(2).saying(&["tcsh", "bash"]);
}

#[test]
fn values_are_offered_where_they_belong() {
    let world = project();
    world.git("branch feature/load");
    world.git("tag v1.2.0");
    let call = Call::new(&world.work());
    call.run("rules new no-python").expect(0);
    for (words, offered, other) in [
        (
            &["rules", "explain", "unus"][..],
            "unused-components",
            "project/call",
        ),
        (
            &["rules", "explain", "project/"],
            "project/call",
            "unused-components",
        ),
        (
            &["rules", "explain", "team/"],
            "team/no-python",
            "unused-components",
        ),
        (&["waivers", "add", "team/"], "team/no-python", "project/call"),
        (&["check", "--report", "ju"], "junit=", "sarif="),
        (&["check", "--ci", "git"], "gitlab", "azure"),
        (&["check", "--fail-on", "w"], "warn", "error"),
        (&["check", "--base", "fea"], "feature/load", "main"),
        (&["review", "--head", "v"], "v1.2.0", "main"),
        (&["diff", "--base", ""], "origin/main", "a.orch.yaml"),
        (&["settings", "review."], "review.fail-on", "publish.prefix"),
        (&["che"], "check", "review"),
    ] {
        for shell in SHELLS {
            let mut line = vec!["sluicegate"];
            line.extend(words);
            let values = list_candidates(&call, shell, &line);
            assert!(
                values.iter().any(|value| value == offered),
                "{shell} {line:?}: {values:?}"
            );
            assert!(
                !values.iter().any(|value| value == other),
                "{shell} {line:?}: {values:?}"
            );
        }
    }
}

/// bash and PowerShell complete file names themselves if a program offers nothing, and quote them as needed.
#[test]
fn files_are_offered_to_shells_that_do_not_know_them() {
    let world = project();
    world.write("reports/My report.json", "{}");
    let call = Call::new(&world.work());
    let offered = list_candidates(&call, "zsh", &["sluicegate", "check", "a."]);
    assert_eq!(offered, ["a.orch.yaml"]);
    let offered = list_candidates(&call, "fish", &["sluicegate", "report", "reports/M"]);
    assert_eq!(offered, ["reports/My report.json"]);
    let offered = list_candidates(&call, "zsh", &["sluicegate", "report", "reports/My\\ r"]);
    assert_eq!(offered, ["reports/My report.json"]);
    let offered = list_candidates(&call, "fish", &["sluicegate", "check", "--report", "json=rep"]);
    assert_eq!(offered, ["json=reports/"]);
    for shell in ["bash", "powershell"] {
        let offered = list_candidates(&call, shell, &["sluicegate", "check", "a."]);
        assert_eq!(offered, [""; 0], "{shell}");
    }
}

/// The names are those of a repository, so they may contain anything that a file name may.
#[test]
fn file_with_control_characters_in_its_name_is_not_offered() {
    let world = project();
    world.write("reports/plain größe.json", "{}");
    for name in [
        "a\u{1b}[31mred.json",
        "two\n--out=x.json",
        "right\u{202e}left.json",
        "c1\u{9b}m.json",
    ] {
        world.write(&format!("reports/{name}"), "{}");
    }
    for shell in ["zsh", "fish", "elvish"] {
        let call = Call::new(&world.work());
        let output = call
            .variable("SLUICEGATE_COMPLETE", shell)
            .variable("_CLAP_COMPLETE_INDEX", "2")
            .variable("_CLAP_IFS", "\n")
            .run(&["--", "sluicegate", "report", "reports/"][..])
            .expect(0);
        assert!(output.out.contains("plain größe.json"), "{shell}: {}", output.out);
        for part in ["red", "out=x", "left", "c1"] {
            assert!(!output.out.contains(part), "{shell}: {:?}", output.out);
        }
    }
}

/// bash inserts a candidate into the line as it is, and runs it with the line.
#[test]
fn branch_with_shell_syntax_in_its_name_is_not_offered() {
    let world = project();
    world.git("branch load-$(id)");
    world.git("branch load;id");
    world.git("branch load-plain");
    for shell in SHELLS {
        let call = Call::new(&world.work());
        let offered = list_candidates(&call, shell, &["sluicegate", "check", "--base", "load"]);
        assert_eq!(offered, ["load-plain"], "{shell}");
    }
}

#[test]
fn values_are_offered_without_messages_if_repository_is_missing_or_broken() {
    let folder = scratch::create_scratch_directory();
    let outside = Call::new(folder.path());
    let offered = list_candidates(&outside, "bash", &["sluicegate", "check", "--base", ""]);
    assert_eq!(offered, ["HEAD"]);
    let world = project();
    world.write("sluicegate-rules.yaml", "rules: [");
    world.write("sluicegate.yaml", "no-such-key: [");
    let call = Call::new(&world.work());
    let offered = list_candidates(&call, "bash", &["sluicegate", "rules", "explain", "unus"]);
    assert_eq!(offered, ["unused-components"]);
    assert_eq!(
        list_candidates(&call, "bash", &["sluicegate", "no-such-command", "x"]),
        [""; 0]
    );
}

/// Whoever sets a variable of the job must not be able to turn a gate into a completion, which passes.
#[test]
fn variable_of_the_scripts_does_not_change_a_usual_call() {
    let world = project();
    world.write("b.orch.yaml", &bad_pipeline());
    let call = Call::new(&world.work()).variable("SLUICEGATE_COMPLETE", "bash");
    for (args, code) in [
        ("check --all", 1),
        ("check --all --", 1),
        ("--", 2),
        ("no-such-command", 2),
    ] {
        call.run(args).expect(code);
    }
    // Without the variable, the words after `--` are no request.
    Call::new(&world.work()).run("-- sluicegate check --f").expect(2);
}
