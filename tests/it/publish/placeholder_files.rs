//! Files whose content does not match their name: Git LFS pointers, encrypted and empty files, unfinished merges.

use crate::support::publishing::caller_of_files;
use crate::support::release::{publish_call, stage, versions};
use crate::support::{Arguments, ProgramOutput, RULES, ServerProcess, World};
use std::fs;
use std::time::SystemTime;

const SCRIPT: &str = "select 1;\n";

/// The pointer of [`SCRIPT`].
const POINTER: &str = "version https://git-lfs.github.com/spec/v1\n\
    oid sha256:4a45092ccf992ea92250053a80b931b787924ba61648f420555511b84f10ab6c\nsize 10\n";

const DEFECTS: [(&str, &[u8]); 4] = [
    ("is a Git LFS pointer, not the file itself", POINTER.as_bytes()),
    ("is encrypted by git-crypt", b"\0GITCRYPT\0\x01\x02"),
    ("is empty", b"\n"),
    (
        "contains the conflict markers of a merge",
        b"select 1;\n<<<<<<< HEAD\nselect 2;\n=======\nselect 3;\n>>>>>>> change\n",
    ),
];

/// Creates a pushed project whose shared pipeline runs the script.
fn commit_script(world: &World, script: &[u8]) {
    world.write(
        "sales/load.orch.yaml",
        caller_of_files("sales/clean", "sql/it.sql"),
    );
    world.write("sales/clean.tran.yaml", "type: transformation\npipeline: {}\n");
    world.write("sql/it.sql", script);
    world.commit("scripts");
    world.push();
}

fn publish_first_version(world: &World, url: &str, args: impl Arguments) -> ProgramOutput {
    let call = crate::support::Call::with_platform(&world.work(), url).variable("SLUICEGATE_PREFIX", "sales");
    call.run(("publish --version-name 1", args))
}

/// Returns the findings of `project/script` in a check of all pipelines.
fn script_findings(world: &World) -> Vec<String> {
    let output = crate::support::Call::new(&world.work()).run("check --all --report json=-");
    let report = output.json();
    let files = report["files"].as_array().unwrap().iter();
    let results = files.flat_map(|file| file["results"].as_array().unwrap());
    let scripts = results.filter(|result| result["rule"] == "project/script");
    scripts.map(ToString::to_string).collect()
}

#[test]
fn script_with_defect_is_finding_and_is_not_published() {
    let (world, server) = stage();
    for (reason, content) in DEFECTS {
        commit_script(&world, content);
        let findings = script_findings(&world);
        assert!(
            findings.len() == 1 && findings[0].contains(reason),
            "{reason}: {findings:?}"
        );
        for args in [&[][..], &["--from", "worktree"], &["--dry-run"]] {
            let output = publish_first_version(&world, &server.url, args);
            assert_eq!(output.code, 2, "{reason} {args:?}: {}", output.all());
            output.saying(&[
                "component `Script` names the script `sql/it.sql`",
                reason,
                "hint: ",
            ]);
        }
    }
    assert_eq!(versions(&world, &server), []);
    commit_script(&world, SCRIPT.as_bytes());
    assert_eq!(script_findings(&world), Vec::<String>::new());
    publish_first_version(&world, &server.url, "").expect(0);
}

#[test]
fn script_with_defect_is_refused_outside_of_shared_pipelines() {
    let (world, server) = stage();
    world.write("other.orch.yaml", caller_of_files("sales/load", "sql/it.sql"));
    commit_script(&world, POINTER.as_bytes());
    world.write(
        "sales/load.orch.yaml",
        crate::support::orchestration_text(&["Start", "Done"]),
    );
    world.commit("unused");
    world.push();
    publish_first_version(&world, &server.url, "").expect(2).saying(&[
        "other.orch.yaml",
        "`git lfs pull`",
        "`--from worktree`",
    ]);
    // Without that pipeline, the script is not part of the version.
    publish_first_version(&world, &server.url, "--exclude other.orch.yaml").expect(0);
}

#[test]
fn pipeline_that_is_pointer_is_named_as_such() {
    let (world, server) = stage();
    let pointer = "is a Git LFS pointer, not the file itself";
    world.write("a.orch.yaml", POINTER);
    world.commit("pointer");
    world.push();
    publish_call(&world, &server)
        .run("publish --version-name 1")
        .expect(2)
        .saying(&["a.orch.yaml", pointer]);
    let output = publish_call(&world, &server).run("check a.orch.yaml");
    assert!(
        output.code != 0 && output.all().contains(pointer),
        "{}",
        output.all()
    );
    world.git("rm -q a.orch.yaml");
    world.write(".platform/shared-pipelines.yaml", POINTER);
    world.commit("pointer of the shared pipelines");
    world.push();
    publish_call(&world, &server)
        .run("publish --version-name 1")
        .expect(2)
        .saying(&[".platform/shared-pipelines.yaml", pointer]);
}

/// Creates a pushed project whose commit contains the pointer of [`SCRIPT`], and whose working tree contains the
/// script: the clean filter of Git LFS stores the pointer of the file on disk.
fn stage_with_lfs_script() -> (World, ServerProcess) {
    let (world, server) = stage();
    let pointer = world.path().join("pointer");
    fs::write(&pointer, POINTER).unwrap();
    let clean = format!("cat > /dev/null; cat '{}'", pointer.display());
    world.git(&["config", "filter.lfs.clean", &clean]);
    world.write(".gitattributes", "*.sql filter=lfs\n");
    commit_script(&world, SCRIPT.as_bytes());
    (world, server)
}

#[test]
fn touched_file_of_pointer_is_published_once_and_verified() {
    let (world, server) = stage_with_lfs_script();
    let file = fs::File::options()
        .write(true)
        .open(world.work().join("sql/it.sql"))
        .unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let publish = |args: &str| {
        publish_call(&world, &server).run(("publish --version-name {next} --from worktree", args))
    };
    let output = publish("--receipt receipt.json").expect(0);
    assert!(!output.all().contains("differs from commit"), "{}", output.all());
    publish_call(&world, &server).run("verify receipt.json").expect(0);
    publish_call(&world, &server)
        .variable("SLUICEGATE_RECEIPT", "receipt.json")
        .run("verify")
        .expect(0);
    publish_call(&world, &server)
        .run("verify")
        .expect(2)
        .saying(&["pass the path of a receipt"]);
    // A path that is passed is never ignored.
    for name in ["a$B.json", "-"] {
        publish_call(&world, &server)
            .run(&["verify", name])
            .expect(2)
            .saying(&[name, "No such file"]);
    }
    for (value, reason) in [("$X", "$X"), ("-", "`-` does not mean standard output here")] {
        publish_call(&world, &server)
            .variable("SLUICEGATE_RECEIPT", value)
            .run("verify")
            .expect(2)
            .saying(&["SLUICEGATE_RECEIPT", reason]);
    }
    let output = publish("").expect(0);
    assert!(output.out.contains("nothing is published"), "{}", output.all());
    // The counterpart: another file than the one in the commit.
    world.write("sql/it.sql", "select 2;\n");
    publish("")
        .expect(2)
        .saying(&["sql/it.sql", "hint: run `git status`"]);
    let receipt = world.work().join("receipt.json");
    let text = fs::read_to_string(&receipt).unwrap();
    fs::write(&receipt, text.replace("\"bytes\": 10,", "\"bytes\": 11,")).unwrap();
    publish_call(&world, &server)
        .run("verify receipt.json")
        .expect(6)
        .saying(&["`sql/it.sql` has different content"]);
}

#[test]
fn file_of_pointer_is_published_from_worktree() {
    let (world, server) = stage_with_lfs_script();
    assert!(
        world
            .git(&["show", "HEAD:sql/it.sql"])
            .starts_with("version https")
    );
    publish_first_version(&world, &server.url, "")
        .expect(2)
        .saying(&["`git lfs pull`"]);
    // Other content of the same size, which the times of the file do not show.
    world.git("config core.trustctime false");
    let path = world.work().join("sql/it.sql");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    let write = |text: &str| {
        fs::write(&path, text).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(time).unwrap();
    };
    write("select 2;\n");
    publish_first_version(&world, &server.url, "--from worktree")
        .expect(2)
        .saying(&["`git lfs pull`"]);
    write(SCRIPT);
    publish_first_version(&world, &server.url, "--from worktree --receipt receipt.json").expect(0);
    let receipt = fs::read_to_string(world.work().join("receipt.json")).unwrap();
    let sent = "4a45092ccf992ea92250053a80b931b787924ba61648f420555511b84f10ab6c";
    assert!(receipt.contains(sent), "{receipt}");
}

#[test]
fn change_that_spoils_script_alone_is_found() {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    commit_script(&world, SCRIPT.as_bytes());
    world.git("remote set-head origin main");
    let check = || {
        let call = crate::support::Call::new(&world.work());
        call.variable("SLUICEGATE_CI", "none").run("check --fail-on warn")
    };
    world.git("checkout -q -b change");
    world.write("sql/it.sql", "select 2;\n");
    world.write("note.txt", "");
    world.commit("harmless");
    let output = check();
    assert!(output.code == 0, "{}", output.all());
    world.write("sql/it.sql", POINTER);
    world.commit("spoiled");
    let output = check();
    assert!(
        output.code == 1 && output.all().contains("which is a Git LFS pointer"),
        "{}",
        output.all()
    );
}

#[test]
fn receipt_of_script_that_moved_to_lfs_with_same_content_is_verified() {
    let (world, server) = stage();
    commit_script(&world, SCRIPT.as_bytes());
    publish_call(&world, &server)
        .run("publish --version-name 1")
        .expect(0);
    let pointer = world.path().join("pointer");
    fs::write(&pointer, POINTER).unwrap();
    let clean = format!("cat > /dev/null; cat '{}'", pointer.display());
    world.git(&["config", "filter.lfs.clean", &clean]);
    world.write(".gitattributes", "*.sql filter=lfs\n");
    world.git("add --renormalize .");
    world.commit("pointer");
    world.push();
    publish_call(&world, &server)
        .run("publish --version-name 2 --from worktree --receipt receipt.json")
        .expect(0);
    let receipt = world.work().join("receipt.json");
    let text = fs::read_to_string(&receipt).unwrap();
    assert!(!text.contains("fileModified"), "{text}");
    publish_call(&world, &server).run("verify receipt.json").expect(0);
}
