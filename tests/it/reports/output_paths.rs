//! Destinations of outputs: through links, into open files, and never two into the same file.

use crate::support::{Call, World, change, good_pipeline, send_signal};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

/// The path of the standard output of a process, as a link that a run must not replace.
const STANDARD_OUTPUT: &str = "/proc/self/fd/1";

fn project_with_output_folder() -> World {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    fs::create_dir(world.path().join("out")).unwrap();
    world
}

/// Returns the JSON document in the file.
#[track_caller]
fn read_json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn report_to_standard_output_in_file_keeps_link_and_other_output() {
    let world = project_with_output_folder();
    let link = world.path().join("out/stdout");
    symlink(STANDARD_OUTPUT, &link).unwrap();
    for path in [link.to_str().unwrap(), STANDARD_OUTPUT, "/dev/fd/1"] {
        let result_path = world.path().join("out/result");
        let status = Call::new(&world.work())
            .command(format!("check --report sarif={path}"))
            .stdout(File::create(&result_path).unwrap())
            .status()
            .unwrap();
        assert!(status.success());
        let text = fs::read_to_string(&result_path).unwrap();
        assert!(
            text.contains("sarif-2.1.0") && text.contains("Check passed"),
            "{text}"
        );
        assert_eq!(fs::read_link(&link).unwrap(), Path::new(STANDARD_OUTPUT));
    }
}

#[test]
fn link_to_output_file_stays_and_leads_to_new_content() {
    let world = project_with_output_folder();
    let folder = world.path().join("out");
    fs::write(folder.join("old"), "old").unwrap();
    symlink("old", folder.join("report")).unwrap();
    symlink("new", folder.join("result")).unwrap();
    for _ in 0..2 {
        Call::new(&world.work())
            .run("check -o json --report sarif=../out/report --out ../out/result")
            .expect(0);
        assert!(folder.join("report").is_symlink() && folder.join("result").is_symlink());
        assert_eq!(read_json(&folder.join("old"))["version"], "2.1.0");
        assert_eq!(read_json(&folder.join("new"))["schema"], "sluicegate.report/v2");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 4);
    }
}

#[test]
fn two_outputs_to_same_file_are_refused() {
    let world = project_with_output_folder();
    symlink("report", world.path().join("out/link")).unwrap();
    for flags in [
        "--report json=../out/report --out ../out/report",
        "--report json=../out/new --out ../out/new",
        "--report json=../out/report --out ../out/link",
        "--report json=../out/report --report html=../out/link",
    ] {
        fs::write(world.path().join("out/report"), "").unwrap();
        Call::new(&world.work())
            .run(("check", flags))
            .expect(2)
            .saying(&["cannot both be written to"]);
    }
    world.write("sluicegate.yaml", "review: { report: [json=report.json] }\n");
    Call::new(&world.work())
        .run("check --policy head --out report.json")
        .expect(2)
        .saying(&["cannot both be written to"]);
    Call::new(&world.work())
        .run("check --policy head --out result.txt")
        .expect(0);
}

#[test]
fn first_of_two_refused_outputs_is_reported() {
    let world = project_with_output_folder();
    for (first_flag, second_flag) in [
        ("--report json=.git/config", "--report html=b.orch.yaml"),
        ("--report json=b.orch.yaml", "--out .git/config"),
    ] {
        let output = Call::new(&world.work())
            .run(format!("check {first_flag} {second_flag}"))
            .expect(2);
        let is_git_first = first_flag.ends_with(".git/config");
        output.saying(&[if is_git_first {
            ".git/config"
        } else {
            "b.orch.yaml"
        }]);
    }
}

#[test]
fn output_to_file_of_git_or_through_link_to_pipeline_is_refused() {
    let world = project_with_output_folder();
    symlink(
        world.work().join("b.orch.yaml"),
        world.path().join("out/pipeline"),
    )
    .unwrap();
    symlink(world.work().join(".git"), world.path().join("out/git")).unwrap();
    let status = world.git("status");
    for (path, reason) in [
        (".git/config", "git itself uses this path"),
        (".git/refs/new", "git itself uses this path"),
        ("../out/git/HEAD", "git itself uses this path"),
        ("../out/pipeline", "this is an existing pipeline"),
    ] {
        for flag in ["--report json=", "--out="] {
            Call::new(&world.work())
                .run(format!("check {flag}{path}"))
                .expect(2)
                .saying(&[reason]);
        }
    }
    assert_eq!(world.git("status"), status);
    // A hook may write its own file there.
    Call::new(&world.work())
        .run("check --report json=.git/report.json")
        .expect(0);
}

#[test]
fn report_beyond_limit_for_size_of_file_is_an_error() {
    let world = project_with_output_folder();
    let mut command =
        Call::new(&world.work()).command_in_shell("ulimit -f 8", "check --report html=../out/report.html");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("could not write the report html="), "{text}");
    assert_eq!(fs::read_dir(world.path().join("out")).unwrap().count(), 0);
}

#[test]
fn old_report_that_cannot_be_replaced_is_removed() {
    let world = project_with_output_folder();
    let folder = world.path().join("out");
    let args = "check --report junit=../out/j.xml --report json=../out/r.json";
    let call = Call::new(&world.work());
    call.run(args).expect(0);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
    // As on a full disk, no file can get content.
    let output = call
        .command_in_shell("trap '' XFSZ; ulimit -f 0", args)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        log.matches("because it could not be replaced").count(),
        2,
        "{log}"
    );
    // Counterpart: a run that can write replaces the old reports.
    call.run(args).expect(0);
    call.run(args).expect(0);
    assert_eq!(read_json(&folder.join("r.json"))["verdict"], "passed");
}

/// The limit for the size of a file is between the placeholder and the same file with the reason.
#[test]
fn unfinished_report_that_cannot_get_its_reason_stays() {
    let world = project_with_output_folder();
    let report = world.path().join("out/j.xml");
    let revision = "a".repeat(3000);
    let args = format!("check --report junit=../out/j.xml --base {revision}");
    let call = Call::new(&world.work());
    let output = call
        .command_in_shell("trap '' XFSZ; ulimit -f 4", &args)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(7));
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(
        log.contains("could not add the reason of the failure to "),
        "{log}"
    );
    let text = fs::read_to_string(&report).unwrap();
    assert!(
        text.contains("The run did not finish.") && !text.contains(&revision),
        "{text}"
    );
    // Counterpart: without the limit, the report has the reason.
    call.run(&args).expect(7);
    assert!(fs::read_to_string(&report).unwrap().contains(&revision));
}

/// The second report waits for the reader of a pipe, so that the first output is unfinished.
#[test]
fn run_that_a_signal_ends_leaves_no_temporary_file() {
    let world = project_with_output_folder();
    let folder = world.path().join("out");
    let pipe = world.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut child = Call::new(&world.work())
        .command("check --report json=- --report html=../pipe --out ../out/result.json")
        .spawn()
        .unwrap();
    while fs::read_dir(&folder).unwrap().count() == 0 {
        assert!(child.try_wait().unwrap().is_none());
        thread::sleep(Duration::from_millis(5));
    }
    send_signal("TERM", &child.id().to_string());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}
