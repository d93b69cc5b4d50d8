//! Limits of the system for threads and open files: an error, not a panic.

use crate::support::{Call, good_pipeline, project, scratch};

/// Stacks of this size, in bytes, do not fit into the address space, so that no thread can be started.
#[cfg(target_os = "linux")]
#[test]
fn command_that_cannot_start_its_threads_exits_with_2() {
    let world = project();
    let call = Call::new(&world.work());
    for args in ["check --all", "serve --listen 127.0.0.1:0"] {
        call.clone()
            .variable("RUST_MIN_STACK", "1000000000000000")
            .run(args)
            .expect(2)
            .saying(&[
                "error: could not start the program's threads: ",
                "hint: raise the limit for threads",
            ]);
    }
    call.variable("RUST_MIN_STACK", "4000000")
        .run("check --all")
        .expect(0);
}

/// The number of open files that suffices depends on the machine: each limit gives either the whole result or the
/// error.
#[cfg(target_os = "linux")]
#[test]
fn check_with_too_few_open_files_gives_the_whole_result_or_exits_with_2() {
    let world = project();
    let call = Call::new(&world.work());
    let result = call.run("check --all").expect(0).out;
    for count in [4, 6, 7, 8, 9, 10, 11, 12, 16, 64] {
        let output = call
            .command_in_shell(&format!("ulimit -n {count}"), "check --all")
            .output()
            .unwrap();
        let log = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            assert!(count > 4, "{count}: {log}");
            assert_eq!(String::from_utf8_lossy(&output.stdout), result, "{count}");
        } else {
            assert!(count < 64, "{count}: {log}");
            assert_eq!(output.status.code(), Some(2), "{count}: {log}");
            assert!(log.contains("Too many open files"), "{count}: {log}");
        }
    }
}

/// A partial clone is read through a copy of its git directory.
#[cfg(unix)]
#[test]
fn check_with_full_temporary_directory_names_the_variable() {
    let world = project();
    world.git("config remote.origin.promisor true");
    world.git("config extensions.partialClone origin");
    world.git("config core.repositoryFormatVersion 1");
    let call = Call::new(&world.work());
    let output = call
        .command_in_shell("trap '' XFSZ; ulimit -f 0", "check --all")
        .output()
        .unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(
        log.contains("could not write to the temporary directory "),
        "{log}"
    );
    assert!(log.contains("hint: raise the limit"), "{log}");
    call.run("check --all").expect(0);
}

#[cfg(target_os = "linux")]
#[test]
fn check_without_temporary_directory_names_the_variable() {
    let folder = scratch::create_scratch_directory();
    std::fs::write(folder.path().join("a.orch.yaml"), good_pipeline()).unwrap();
    let call = Call::new(folder.path());
    call.clone()
        .variable("TMPDIR", "/proc")
        .run("check .")
        .expect(2)
        .saying(&[
            "could not create a temporary directory in /proc",
            "hint: set TMPDIR to a directory",
        ]);
    call.run("check .").expect(0);
}
